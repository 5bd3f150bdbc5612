"""replay.py: golden/replay/batches.json: mixed batches, and the token of each of their rows, which is its solo token.

A group is a rule and a list of requests: a row of one of four tables of 257 ids under parameters of its own, a seed and a
position. A case is a batch: which requests, in which order, and their tokens. The batches hold the same requests as listed,
permuted, joined from two, thinned by every third, doubled, and alone.
`bound` is the gap (nats, for categorical a distance in u) within which a request is left out: 1e-4, since penalties and
temperatures round a few more times than determinism.py counts.
"""
import hashlib
from decimal import Decimal

from files import family_text, write_text
from request_row import OFF, Row
from tables import units_of

VERSION = "1"
GITHUB = "https://github.com/"
NOTES = {
    "seed-map": {
        "bug": "The seed of a row is that of the first row, of its slot, or of the row that stood there before.",
        "effect": "A user's seeded request gives another text when somebody else's request ends or joins.",
        "links": [GITHUB + "flashinfer-ai/flashinfer/pull/4861", GITHUB + "NVIDIA/TensorRT-LLM/pull/1742",
                  GITHUB + "tenstorrent/tt-metal/issues/46350"]},
    "parameter-leak": {
        "bug": "A row is sampled with the temperature, filter or penalty of a neighbour, or of the last request.",
        "effect": "One user's settings decide another user's text.",
        "links": [GITHUB + "vllm-project/vllm/pull/14301", GITHUB + "EvolvingLMMs-Lab/lmms-eval/issues/1325",
                  GITHUB + "sgl-project/sglang/pull/1001"]},
    "row-map": {
        "bug": "A row takes the sorted order, or the mask, of another row, or answers a rank in place of an id.",
        "effect": "Tokens that the row's own filter excludes.",
        "links": [GITHUB + "Blaizzy/mlx-vlm/pull/1094", GITHUB + "vllm-project/vllm-ascend/pull/16430"]},
}
TABLES = [{"name": "zipf-257", "kind": "zipf", "vocab": 257}, {"name": "normal-257", "kind": "normal", "vocab": 257, "sigma": 2},
          {"name": "masked-257", "kind": "zipf", "vocab": 257, "masked": {"every": 5, "first": 0}},
          {"name": "flat-257", "kind": "flat", "vocab": 257}]
REQUESTS = 36
BOUND = "1e-04"
CHOICES = {"temperature": [1, 1, 0.5, 0.7, 1.3, 2], "top_k": [-1, -1, 1, 5, 40], "top_p": [1, 1, 0.52, 0.9], "min_p": [0, 0, 0, 0.07]}
PENALTIES = {"repetition_penalty": [1, 1.3], "frequency_penalty": [0, 0.4], "presence_penalty": [0, 0.6]}
RULES = [("greedy", "id"), ("categorical", "id"), ("race", "id"), ("gumbel", "id"), ("torch-race", "id"), ("seeded", "id"),
         ("seeded", "rank"), ("seeded-2025", "id")]


def request(number):
    """Chosen by the bytes of SHA-256 of its number; one in three has penalties."""
    byte = hashlib.sha256(f"replay/{number}".encode()).digest()
    choices = CHOICES | (PENALTIES if byte[0] % 3 == 0 else {})
    chosen = {key: values[byte[1 + k] % len(values)] for k, (key, values) in enumerate(choices.items())}
    if byte[0] % 3 == 0:
        chosen |= {"prompt": [b % 257 for b in byte[8:12]], "output": [b % 8 for b in byte[12:12 + number % 7]]}
    seed, position = int.from_bytes(byte[16:24], "big", signed=True), int.from_bytes(byte[24:27], "big")
    return {"table": number % 4, **(OFF | chosen), "seed": seed, "position": position}


def batches(count):
    """Name to the order of requests."""
    everyone = list(range(count))
    return {"listed": everyone, "permuted": [(11 * k + 5) % count for k in everyone], "joined": everyone[count // 2:] + everyone[:count // 2],
            "filtered": [k for k in everyone if k % 3 != 1], "doubled": [k // 2 for k in everyone], "alone": [count // 2]}


def group(rule, noise):
    requests, tokens, number, left_out = [], [], 0, 0
    while len(requests) < REQUESTS:
        asked = request(number)
        number += 1
        try:
            token, gap = Row(units_of(TABLES[asked["table"]]), asked).draw(rule, noise, asked["seed"], asked["position"])
        except ValueError:  # the request lies on a cut
            left_out += 1
            continue
        if gap <= Decimal(BOUND):
            left_out += 1
            continue
        requests.append(asked | {"prompt": list(asked["prompt"]), "output": list(asked["output"]), "seed": str(asked["seed"]),
                                 "position": str(asked["position"])})
        tokens.append(token)
    name = f"{rule}-by-rank" if noise == "rank" else rule
    cases = [{"id": f"{name}/{how}", "flags": list(NOTES), "requests": order, "tokens": [tokens[k] for k in order]}
             for how, order in batches(REQUESTS).items()]
    return {"source": "golden/model/replay.py", "version": VERSION, "rule": rule, "noise": noise, "bound": BOUND, "left_out": left_out,
            "tables": TABLES, "requests": requests, "cases": cases}


def write():
    groups = [group(rule, noise) for rule, noise in RULES]
    write_text("replay/batches.json", family_text("replay", "batches", NOTES, groups))
    return {f"{g['rule']} by {g['noise']}": f"{len(g['cases'])} batches of {len(g['requests'])} requests, {g['left_out']} left out"
            for g in groups}
