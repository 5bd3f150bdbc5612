"""tokens.py: golden/agreement/tokens.json: the token that exact arithmetic draws for a (rule, table, seed, position).

The noise words are integers; logarithms, exponentials and sums have 60 digits. Doubles only pick candidates: an id whose
score lies 10^-3 nats below the best cannot win, and doubles err by less than 10^-12 there.

A case is left out where the exact gap between the two best is within what fp32 arithmetic may move (the group's `bound`),
so that the golden holds only tokens on which every correct fp32 implementation agrees. E = 2^-23, one ulp at most:
  p       2 E for exp, E/2 for the division by the sum (the sum's own error is common to all ids)
  x / T   3 E/2 times the range of x: T, the division and the subtraction of the maximum each round once (exact at T = 1)
  q       3 E (a logarithm from 32 bits; torch-race: of the given fp32 u)
  p / q   E/2, so race and torch-race have 6 E an id, 12 E for two: 1.5e-6
  gumbel  scores are below 32, where an ulp is 2^-19: one for log p, one for g, half for their sum, twice: 1e-5 more
  CDF     a relative error e of each p moves a step C by at most 2 e C (1 - C) <= e/2: 1.5e-7; V = 151,936 masses rounded to
          a fixed point of 2^-40 of the heaviest add less than 1e-7
and each is taken at least 1.8 times over. Equal logits with equal noise are no near tie: both sides are bit-equal on every
machine and the lowest id must win (torch-race on flat rows does this).
"""
import hashlib
import math
import struct
from bisect import bisect_right
from decimal import Decimal
from functools import lru_cache

from files import family_text, plans, write_text
from law import Law
from philox import CATEGORICAL_STREAM, RACE_STREAM, words
from tables import units_of

VERSION = "1"
GITHUB = "https://github.com/"
NOTES = {
    "noise-layout": {
        "bug": "A column's noise depends on the grid, batch, shard or neighbour and not on (seed, position, column) alone.",
        "effect": "The same request gives other tokens on another GPU, at another batch size, or beside another request.",
        "links": [GITHUB + "pytorch/pytorch/issues/196613", GITHUB + "pytorch/pytorch/issues/194676", GITHUB + "vllm-project/vllm/issues/51226"]},
    "seed-width": {
        "bug": "A 64-bit seed or position is cut to 32 bits, taken as signed, or its halves are swapped.",
        "effect": "Requests that should differ share their noise: seeds 1 and 2^32 + 1 give the same text.",
        "links": [GITHUB + "NVIDIA/TensorRT-Edge-LLM/pull/212", GITHUB + "tenstorrent/tt-metal/issues/44661"]},
    "tie-rule": {
        "bug": "The highest id, or whichever thread came last, wins a tie.",
        "effect": "Greedy answers differ between paths; on the 2^-24 grid one draw in two hundred of a flat row depends on it.",
        "links": [GITHUB + "ohdearquant/lattice/issues/280", GITHUB + "NVIDIA/TensorRT-Model-Connect/pull/1157"]},
    "noise-ends": {
        "bug": "The map from a word to noise gives 0 or infinity at its ends, or loses the small values that decide rare tokens.",
        "effect": "Impossible tokens, or rare tokens that never come.",
        "links": [GITHUB + "flashinfer-ai/flashinfer/pull/2438", GITHUB + "pytorch/pytorch/issues/2561", GITHUB + "vllm-project/vllm/pull/45996"]},
    "near-tie": {
        "bug": "None: two correct fp32 implementations may differ where the two best are closer than the rounding of either.",
        "effect": "Such cases are left out and counted. `bound` is the gap below which that happens: nats for race, gumbel and torch-race, probability (distance of u from the nearest CDF step) for categorical.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117"]},
}

# (table, temperature, cases of each rule): 1,000 in all.
CASES = [("tie-2", 1, 125), ("peaked-3", 1, 125), ("uniform-20", 1, 125), ("zipf-257", 1, 150), ("zipf-1000", 1, 100),
         ("one-hot-1000", 1, 100), ("masked-1000", 1, 100), ("zipf-257", 0.7, 125), ("zipf-50257", 1, 25), ("normal-151936", 1, 25)]
# Rows of flat-151936 whose two best noises coincide on torch's grid, found by trying positions 0 .. 1393 of this seed.
TIE_TABLE, TIE_SEED, TIE_POSITIONS = "flat-151936", 38117, [63, 332, 404, 567, 934, 961, 1234, 1393]
# Largest range of |x / T| in CASES away from T = 1: ln(257) / 0.7 = 7.9 nats, so 3 E/2 * 7.9 * 2 = 2.9e-6 more.
BOUND = {("race", 1): "4e-06", ("race", 0.7): "1e-05", ("torch-race", 1): "4e-06", ("torch-race", 0.7): "1e-05",
         ("gumbel", 1): "2e-05", ("gumbel", 0.7): "4e-05", ("categorical", 1): "1e-06", ("categorical", 0.7): "4e-06"}
EDGES = [0, 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
CANDIDATE_NATS = 1e-3


def seed_and_position(identity, number):
    """The edges of 64 bits first, alone and in pairs; then the first 16 bytes of SHA-256 of the case's id, big-endian."""
    digest = hashlib.sha256(identity.encode()).digest()
    seed, position = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:16], "big")
    if number < 8 or 16 <= number < 24:
        seed = EDGES[number % 8]
    if 8 <= number < 16:
        position = EDGES[number % 8]
    if 16 <= number < 24:
        position = EDGES[7 - number % 8]
    return seed, position


def to_fp32(value):
    """Round a double to fp32, nearest even."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def torch_uniform(word):
    """curand_uniform in fp32: the word rounded to fp32, times 2^-32 (exact), plus 2^-33. Doubles hold both sums exactly."""
    return to_fp32(to_fp32(float(word)) * 2.0**-32 + 2.0**-33)


class RaceNoise:
    """q = -ln((word + 1/2) / 2^32); two words are the same noise only if they are equal."""

    @staticmethod
    def key(word):
        return word

    @staticmethod
    def rough(word):
        return -math.log((word + 0.5) * 2.0**-32)

    @staticmethod
    @lru_cache(1 << 16)
    def exact(word):
        return -((Decimal(word) + Decimal("0.5")) / 2**32).ln()


class TorchNoise:
    """PyTorch's exponential_ on CUDA: q = -ln(u), and 2^-24 where u >= 1 - 2^-24."""

    @staticmethod
    def key(word):
        return min(torch_uniform(word), 1 - 2.0**-24)

    @staticmethod
    def rough(word):
        u = torch_uniform(word)
        return 2.0**-24 if u >= 1 - 2.0**-24 else -math.log(u)

    @staticmethod
    @lru_cache(1 << 16)
    def exact(word):
        u = torch_uniform(word)
        return Decimal(2.0**-24) if u >= 1 - 2.0**-24 else -Decimal(u).ln()


def race_token(law, noise, seed, position):
    """(token, gap in nats): argmax of x / T - ln q, which orders ids as p / q and as ln p + g do. Infinite gap: one live id."""
    word = words(seed, position, len(law.units), RACE_STREAM)
    scale = 1 / (1024 * float(law.temperature))
    rough = [-math.inf if unit is None else float(unit) * scale - math.log(noise.rough(w)) for unit, w in zip(law.units, word)]
    near = max(rough) - CANDIDATE_NATS
    scores = {}  # (logit, noise) -> (exact score, lowest id): equal pairs are one score, exactly
    for i, score in enumerate(rough):
        pair = (law.units[i], noise.key(word[i]))
        if score >= near and pair not in scores:
            scores[pair] = (law.nats_from_top(law.units[i]) - noise.exact(word[i]).ln(), i)
    best = sorted(scores.values(), key=lambda entry: (-entry[0], entry[1]))
    gap = best[0][0] - best[1][0] if len(best) > 1 else Decimal("Infinity")
    return best[0][1], gap


def categorical_token(law, cdf, seed, position):
    """(token, distance of u from the nearest step between two live ids): the first id whose inclusive CDF exceeds u."""
    low, high = words(seed, position, 2, CATEGORICAL_STREAM)
    u = Decimal(low + (high << 32)) / 2**64
    last = max(i for i, unit in enumerate(law.units) if unit is not None)
    token = min(bisect_right(cdf, u), last)
    gaps = [Decimal("Infinity")]
    if token > 0 and cdf[token - 1] > 0:
        gaps.append(u - cdf[token - 1])
    if token < last:
        gaps.append(cdf[token] - u)
    return token, min(gaps)


def group(rule, table, temperature, count):
    law = Law(units_of(table), temperature)
    if rule == "categorical":
        cdf = law.cdf()
        draw = lambda seed, position: categorical_token(law, cdf, seed, position)
    else:
        noise = TorchNoise if rule == "torch-race" else RaceNoise
        draw = lambda seed, position: race_token(law, noise, seed, position)
    name = table["name"] if temperature == 1 else f"{table['name']}@{temperature}"
    bound, cases, number = Decimal(BOUND[rule, temperature]), [], 0
    while len(cases) < count:
        identity = f"{rule}/{name}/{number}"
        seed, position = seed_and_position(identity, number)
        token, gap = draw(seed, position)
        if gap > bound:
            cases.append({"id": identity, "seed": str(seed), "position": str(position), "token": token})
        number += 1
    return head(rule, table, temperature, BOUND[rule, temperature], number - count, cases)


def ties(table):
    law, cases = Law(units_of(table), 1), []
    for position in TIE_POSITIONS:
        token, gap = race_token(law, TorchNoise, TIE_SEED, position)
        if gap <= Decimal(BOUND["torch-race", 1]):
            raise ValueError(f"position {position} is a near tie")
        cases.append({"id": f"torch-race/{table['name']}/tie-{position}", "seed": str(TIE_SEED), "position": str(position), "token": token})
    return head("torch-race", table, 1, BOUND["torch-race", 1], 0, cases)


def head(rule, table, temperature, bound, left_out, cases):
    return {"source": "golden/model/tokens.py", "version": VERSION, "rule": rule, "table": table, "temperature": temperature,
            "bound": bound, "left_out": left_out, "cases": cases}


def greedy(table):
    """The lowest id of the largest logit; no noise, so nothing is near."""
    units = units_of(table)
    largest = max(unit for unit in units if unit is not None)
    case = {"id": f"greedy/{table['name']}/0", "seed": "0", "position": "0", "token": units.index(largest)}
    return head("greedy", table, 1, "0", 0, [case])


def write():
    tables = {table["name"]: table for _, plan in plans() for table in plan["tables"]}
    groups = [greedy(table) for table in tables.values()]
    for rule in ("categorical", "race", "gumbel", "torch-race"):
        groups += [group(rule, tables[name], temperature, count) for name, temperature, count in CASES]
    groups.append(ties(tables[TIE_TABLE]))
    write_text("agreement/tokens.json", family_text("agreement", "tokens", NOTES, groups))
    return {f"{g['rule']} {g['table']['name']} T={g['temperature']}": f"{len(g['cases'])} cases, {g['left_out']} left out" for g in groups}
