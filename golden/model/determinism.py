"""determinism.py: golden/determinism/tokens.json: the tokens of each rule as a function of (seed, position, row, request).

A case is one row under one request, drawn in runs of consecutive positions; null is a token too near to call. `bound` is the
gap below which that is so, as in tokens.py: nats, for categorical a distance in u. Further, with E = 2^-23: the scores of
seeded are fp32 logarithms below 16, so an ulp (2 E a nat: 1e-6) and 3 E of p, for two ids; those of seeded-2025 are below 32,
like gumbel's. Away from temperature 1 the range of x / T (ln 257 / 0.7) adds 2.9e-6.
`sha256` is that of the lines "SEED POSITION TOKEN\\n" of all tokens of a case that are called, in order.
"""
import hashlib
from decimal import Decimal

from files import family_text, write_text
from request_row import OFF, Row
from tables import units_of

VERSION = "1"
GITHUB = "https://github.com/"
NOTES = {
    "seed-width": {
        "bug": "A seed is cut to 32 bits, its sign is lost, or a special value (0, -1, the largest) stands for 'no seed'.",
        "effect": "Requests that should differ give the same text; a user's seed is silently random.",
        "links": [GITHUB + "NVIDIA/TensorRT-LLM/issues/1000", GITHUB + "tenstorrent/tt-metal/issues/44661"]},
    "position-width": {
        "bug": "The position is left out, restarts, or is cut to fewer bits than the rule says.",
        "effect": "A text repeats its own noise: every step draws alike.",
        "links": [GITHUB + "NVIDIA/TensorRT-Edge-LLM/pull/212"]},
    "noise-key": {
        "bug": "Noise is keyed by the place in a sorted or compacted row where the rule keys it by id, or the other way round.",
        "effect": "A seeded request gives another text as soon as filters, its own or a neighbour's, are on.",
        "links": [GITHUB + "sgl-project/sglang/pull/35697"]},
    "hash-quality": {
        "bug": "The first form of the seeded rule: noise of a linear hash, whose rows differ by one constant.",
        "effect": "Its tokens are reproducible and do not follow the law; they are here so that the rule can be told by them.",
        "links": [GITHUB + "sgl-project/sglang/issues/10938", GITHUB + "sgl-project/sglang/pull/10678"]},
    "ties": {
        "bug": "Among equal ids, or equal scores, another one goes first.",
        "effect": "Two paths, or two builds, give different text from one seed.",
        "links": [GITHUB + "vllm-project/vllm/pull/50979"]},
}
TABLES = {table["name"]: table for table in (
    {"name": "peaked-3", "kind": "list", "logits": [1993, 710, 0]},
    {"name": "uniform-20", "kind": "flat", "vocab": 20},
    {"name": "ties-20", "kind": "list", "logits": [512, 2048, 2048, 0, 2048, 1024] + [0] * 8 + [1024, 1024, 512, 2048, 0, 512]},
    {"name": "zipf-257", "kind": "zipf", "vocab": 257},
    {"name": "masked-257", "kind": "zipf", "vocab": 257, "masked": {"every": 5, "first": 0}},
    {"name": "flat-32768", "kind": "flat", "vocab": 32768},
)}
REQUESTS = [
    ("peaked-3", {}), ("uniform-20", {}), ("ties-20", {}), ("zipf-257", {}), ("masked-257", {}),
    ("zipf-257", {"temperature": 0.7}), ("ties-20", {"top_k": 3}), ("masked-257", {"top_k": 9, "temperature": 1.3}),
    ("zipf-257", {"top_p": 0.6}), ("uniform-20", {"top_p": 0.77}), ("ties-20", {"min_p": 0.3}),
    ("zipf-257", {"temperature": 1.3, "top_k": 40, "top_p": 0.9, "min_p": 0.02}),
]
RULES = [("greedy", "id"), ("categorical", "id"), ("race", "id"), ("gumbel", "id"), ("torch-race", "id"), ("seeded", "id"),
         ("seeded", "rank"), ("seeded-2025", "id")]
SEEDS = [0, -1, 2**63 - 1, -(2**63), 42, 42 + 2**32, 20260801, 20260801 + 2**32]
RUNS = [(seed, first, 16) for seed in SEEDS for first in (0, 2**31 - 8, 2**32 - 4)]  # 2^31 and 2^32 + 5 are inside
# Where the two best words of noise of a flat row are one word: found by trying the positions of this seed, one in 60,000.
TIES = "flat-32768"
TIE_RUNS = [(38117, position, 1) for position in (49988, 74428, 176161)]
TIE_RULES = ("race", "gumbel")
BOUND = {"greedy": ("0", "0"), "categorical": ("1e-06", "4e-06"), "race": ("4e-06", "1e-05"), "gumbel": ("2e-05", "4e-05"),
         "torch-race": ("4e-06", "1e-05"), "seeded": ("1e-05", "2e-05"), "seeded-2025": ("2e-05", "4e-05")}


def flags(rule, noise, table, request):
    found = ["seed-width", "position-width"]
    if noise == "rank" or set(request) - {"temperature"}:
        found.append("noise-key")
    if rule == "seeded-2025":
        found.append("hash-quality")
    if table in ("ties-20", "uniform-20", TIES):
        found.append("ties")
    return found


def case(rule, noise, table, request):
    row, bound = Row(units_of(TABLES[table]), request), BOUND[rule]["temperature" in request]
    runs, digest, left_out = [], hashlib.sha256(), 0
    for seed, first, length in TIE_RUNS if table == TIES else RUNS[:1] if rule == "greedy" else RUNS:
        tokens = []
        for position in range(first, first + length):
            token, gap = row.draw(rule, noise, seed, position)
            tokens.append(token if gap > Decimal(bound) else None)
            if tokens[-1] is not None:
                digest.update(f"{seed} {position} {token}\n".encode())
        left_out += tokens.count(None)
        runs.append({"seed": str(seed), "position": str(first), "tokens": tokens})
    name = "+".join([f"{rule}-by-rank" if noise == "rank" else rule] + [f"{key}={value}" for key, value in request.items()])
    filters = {key: request.get(key, OFF[key]) for key in ("temperature", "top_k", "top_p", "min_p")}
    return {"id": f"{table}/{name}", "flags": flags(rule, noise, table, request), "table": TABLES[table], **filters, "bound": bound,
            "left_out": left_out, "runs": runs, "sha256": digest.hexdigest()}


def write():
    groups = [{"source": "golden/model/determinism.py", "version": VERSION, "rule": rule, "noise": noise,
               "cases": [case(rule, noise, table, request) for table, request in REQUESTS + ([(TIES, {})] if rule in TIE_RULES else [])]}
              for rule, noise in RULES]
    write_text("determinism/tokens.json", family_text("determinism", "tokens", NOTES, groups))
    return {f"{g['rule']} by {g['noise']}": f"{sum(len(run['tokens']) for c in g['cases'] for run in c['runs'])} tokens, "
            f"{sum(c['left_out'] for c in g['cases'])} left out" for g in groups}
