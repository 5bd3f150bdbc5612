"""defaults_cases.py: golden/defaults/effective.json and normalize.json: who sets a sampling parameter, and what is refused.

effective.json: a request body as sent to an endpoint of a server; every parameter with its value and the layer it came from,
then the path the request takes alone, or the error it gets. normalize.json: the parameters as they reach the engine.
"""
import math

import by_hand
import defaults
import predicate
import vllm_cases
from engine_values import encode, encoded, encoded_server, outcome
from files import family_text, write_text

VERSION = "1"
NEW, OLD = "sglang-0.5.20", "sglang-0.5.19"
READINGS = ("article-port", "article-prose", "upstream")
GITHUB = "https://github.com/"
NOTES = {
    "config-merge": {
        "bug": "The model's generation_config fills what the request leaves open, on some endpoints only.",
        "effect": "The same body is filtered on one endpoint and not on another; an upgrade that starts to read the file looks like an ignored temperature.",
        "links": [GITHUB + "sgl-project/sglang/pull/11304", GITHUB + "vllm-project/vllm/issues/15241"]},
    "falsy-zero": {
        "bug": "`x or default`: an explicit 0 counts as not given.",
        "effect": "temperature 0 is sampled; top_p 0 or top_k 0 pass where they should be refused.",
        "links": [GITHUB + "vllm-project/vllm/pull/11164", GITHUB + "FoundationAgents/OpenManus/pull/642"]},
    "explicit-default": {
        "bug": "A value equal to the built-in default counts as not given, so the model's overrides it.",
        "effect": "A client that sends top_p 1 and top_k -1 to stay unfiltered is filtered all the same.",
        "links": [GITHUB + "huggingface/transformers/pull/36881", GITHUB + "huggingface/trl/pull/4647"]},
    "null": {
        "bug": "Null is taken for absent, for a default, or for an error, and each endpoint does another of the three.",
        "effect": "Clients that serialise unset fields as null get the model's values, the neutral ones, or HTTP 400.",
        "links": [GITHUB + "sgl-project/sglang/issues/39096"]},
    "wrong-type": {
        "bug": "A number in a string is converted, refused, or runs into a comparison that fails.",
        "effect": "HTTP 500 for a client's mistake, or a value nobody meant.",
        "links": [GITHUB + "sgl-project/sglang/issues/39096"]},
    "preferred-inert": {
        "bug": "--preferred-sampling-params lies under parameters that the endpoint always sends.",
        "effect": "An operator's top_k = 20 changes nothing on chat and completions, and does on /generate and in part on responses.",
        "links": [GITHUB + "sgl-project/sglang/issues/39096", GITHUB + "sgl-project/sglang/pull/39201", GITHUB + "sgl-project/sglang/pull/15764"]},
    "class-defaults": {
        "bug": "A library's class defaults (top_k 50) come out of a generation_config that does not name them.",
        "effect": "Every plain chat request is filtered with a value no file holds.",
        "links": [GITHUB + "sgl-project/sglang/issues/11574", GITHUB + "sgl-project/sglang/pull/11610"]},
    "repetition-penalty": {
        "bug": "A key is missing from the list of merged keys.",
        "effect": "The model's repetition_penalty is lost: the path is the same, the tokens are not.",
        "links": [GITHUB + "EleutherAI/lm-evaluation-harness/pull/3160"]},
    "responses": {
        "bug": "An endpoint has a table of defaults of its own.",
        "effect": "The same request has temperature 0.7 on /v1/responses and 1.0 elsewhere.",
        "links": [GITHUB + "sgl-project/sglang/pull/15764"]},
    "model-card": {
        "bug": "None: the four settings the model's card recommends.",
        "effect": "Every one has top_k 20, so clients that follow the card are never on the plain path.",
        "links": ["https://huggingface.co/Qwen/Qwen3.5-2B"]},
    "seed-mapping": {
        "bug": "A seed is dropped on the way from an endpoint to the sampler.",
        "effect": "All seeds give the same text in deterministic mode.",
        "links": [GITHUB + "sgl-project/sglang/issues/15481"]},
    "out-of-range": {
        "bug": "A sentinel of one library (top_k 0) is out of range for another.",
        "effect": "A model file that says top_k 0 makes every plain chat request an HTTP 400.",
        "links": [GITHUB + "vllm-project/tpu-inference/issues/1386", GITHUB + "vllm-project/vllm-ascend/pull/5417"]},
    "boundary": {
        "bug": "A threshold is tested on a rounded value, or with the wrong one of < and <=.",
        "effect": "A temperature of 1e-6 is greedy, or a penalty of 2 is refused.",
        "links": [GITHUB + "vllm-project/vllm/pull/890"]},
}
QWEN3 = {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.0}
CARD = {  # https://huggingface.co/Qwen/Qwen3.5-2B, recommended sampling parameters
    "non-thinking-text": {"temperature": 1.0, "top_p": 1.0, "top_k": 20, "min_p": 0.0, "presence_penalty": 2.0, "repetition_penalty": 1.0},
    "non-thinking-vision": {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "min_p": 0.0, "presence_penalty": 1.5, "repetition_penalty": 1.0},
    "thinking-text": {"temperature": 1.0, "top_p": 0.95, "top_k": 20, "min_p": 0.0, "presence_penalty": 1.5, "repetition_penalty": 1.0},
    "thinking-coding": {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.0, "presence_penalty": 0.0, "repetition_penalty": 1.0},
}
FILE, OPENAI = {"generation_config": QWEN3}, {"generation_config": QWEN3, "sampling_defaults": "openai"}
PREFERRED = {"preferred": {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "min_p": 0.02, "repetition_penalty": 1.1}}
ENDPOINTS = ("chat", "responses", "completions", "generate")
FIVE = defaults.PARAMETERS[:5]

# id: (flags, server, request): sent to every endpoint, in every reading.
EVERYWHERE = {
    "no-file": ([], {}, {}),
    "file": (["config-merge"], FILE, {}),
    "file-openai": (["config-merge"], OPENAI, {}),
    "file-empty": (["config-merge"], {"generation_config": {}}, {}),
    "file-nulls": (["config-merge"], {"generation_config": {"top_k": None, "temperature": 0.6, "top_p": None}}, {}),
    "file-repetition": (["repetition-penalty"], {"generation_config": {"repetition_penalty": 1.05}}, {}),
    "file-top-k-50": (["class-defaults"], {"generation_config": {"repetition_penalty": 1.0, "temperature": 0.6, "top_k": 50, "top_p": 0.9}}, {}),
    "file-top-k-zero": (["out-of-range"], {"generation_config": {"top_k": 0}}, {}),
    "file-text": (["wrong-type"], {"generation_config": {"temperature": "0.6"}}, {}),
    "request-over-file": (["config-merge"], FILE, {"temperature": 0.3, "top_k": 7}),
    "unfiltered-over-file": (["explicit-default"], FILE, {"top_p": 1.0, "top_k": -1}),
    "all-defaults-over-file": (["explicit-default"], FILE, {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0}),
    "temperature-zero-over-file": (["falsy-zero"], FILE, {"temperature": 0.0}),
    "min-p-zero-over-file": (["falsy-zero"], {"generation_config": {"min_p": 0.1}}, {"min_p": 0.0}),
    "top-k-zero": (["falsy-zero", "out-of-range"], FILE, {"top_k": 0}),
    "top-p-zero": (["falsy-zero", "out-of-range"], FILE, {"top_p": 0.0}),
    "preferred": (["preferred-inert"], PREFERRED, {}),
    "preferred-and-file": (["preferred-inert", "config-merge"], FILE | PREFERRED, {}),
    "preferred-under-request": (["preferred-inert"], PREFERRED, {"top_k": 5, "top_p": 0.7}),
    "preferred-zero": (["preferred-inert", "falsy-zero"], {"preferred": {"temperature": 0.0}}, {}),
    "preferred-null": (["preferred-inert", "null"], {"preferred": {"top_k": None, "min_p": 0.1}}, {}),
    "all-set": ([], FILE | PREFERRED, {"temperature": 0.5, "top_k": 3, "top_p": 0.5, "min_p": 0.25, "repetition_penalty": 1.5}),
} | {f"null/{key}": (["null"], {"generation_config": QWEN3 | {"repetition_penalty": 1.05}} | PREFERRED, {key: None}) for key in FIVE} \
  | {f"card/{name}": (["model-card"], {}, setting) for name, setting in CARD.items()} \
  | {f"card/{name}/file": (["model-card"], FILE, setting) for name, setting in CARD.items() if name == "non-thinking-text"}

WRONG = {
    "temperature-text": {"temperature": "0.5"}, "temperature-word": {"temperature": "warm"}, "temperature-true": {"temperature": True},
    "temperature-false": {"temperature": False}, "temperature-array": {"temperature": []}, "temperature-object": {"temperature": {}},
    "temperature-spaced": {"temperature": " 0.5 "}, "temperature-hexadecimal": {"temperature": "0x1p-1"}, "top-k-float": {"top_k": 20.0},
    "top-k-fraction": {"top_k": 20.5}, "top-k-text": {"top_k": "20"}, "top-k-text-fraction": {"top_k": "20.5"}, "top-k-text-point": {"top_k": "20.0"},
    "top-k-true": {"top_k": True}, "top-k-false": {"top_k": False}, "top-k-array": {"top_k": [20]}, "top-p-text": {"top_p": "0.9"},
    "top-p-word": {"top_p": "all"}, "top-p-integer": {"top_p": 1}, "min-p-text": {"min_p": "0.1"}, "min-p-true": {"min_p": True},
    "repetition-text": {"repetition_penalty": "1.1"}, "repetition-array": {"repetition_penalty": [1.1]},
}
# Upstream only: parameters the article does not speak of.
SEEDED = {"preferred": {"sampling_seed": 7, "presence_penalty": 0.5}}
MORE = {
    "seed": (["seed-mapping"], {}, {"seed": 5}), "seed-null": (["seed-mapping", "null"], {}, {"seed": None}),
    "seed-preferred": (["seed-mapping", "preferred-inert"], SEEDED, {}), "seed-over-preferred": (["seed-mapping"], SEEDED, {"seed": 5}),
    "seed-64-bit": (["seed-mapping"], {}, {"seed": 2**63 - 1}), "seed-negative": (["seed-mapping"], {}, {"seed": -2**63}),
    "frequency-null": (["null"], {}, {"frequency_penalty": None}), "presence-null": (["null"], SEEDED, {"presence_penalty": None}),
    "penalties": ([], {}, {"frequency_penalty": -2.0, "presence_penalty": 2.0}),
    "presence-too-high": (["out-of-range"], {}, {"presence_penalty": 2.5}), "min-p-too-high": (["out-of-range"], {}, {"min_p": 1.5}),
    "temperature-negative": (["out-of-range"], {}, {"temperature": -0.5}), "temperature-negative-integer": (["out-of-range"], {}, {"temperature": -1}),
    "repetition-zero": (["out-of-range", "falsy-zero"], {}, {"repetition_penalty": 0.0}),
}


def prefix(reading, engine):
    return reading if engine == NEW else f"{reading}/{engine}"


def effective_case(identity, flags, reading, engine, endpoint, server, request):
    """The body's seed is named as the endpoint names it; an endpoint without one drops it."""
    body = {("sampling_seed" if key == "seed" and endpoint == "generate" else key): value for key, value in request.items()}
    case = {"id": f"{prefix(reading, engine)}/{endpoint}/{identity}", "flags": flags, "server": encoded_server(server), "request": encoded(body)}

    def route():
        found = defaults.effective(reading, endpoint, body, server)
        case["effective"] = {key: [encode(key, value), layer] for key, (value, layer) in found.items()}
        params = defaults.normalize(reading, {key: value for key, (value, _) in found.items()})
        defaults.verify(reading, params)
        return {"path": predicate.path_of_batch(reading, engine, server, [params])["path"]}

    return case | outcome(route) | ({"effective": case["effective"]} if "effective" in case else {})


def effective_cases(reading, engine, endpoint):
    everywhere = dict(EVERYWHERE) | {f"wrong/{name}": (["wrong-type"], FILE, request) for name, request in WRONG.items()}
    if reading == "upstream":
        everywhere |= MORE
    for name, (flags, server, request) in everywhere.items():
        if reading == "article-port":  # its code has no such keys
            server = {key: value for key, value in server.items() if key != "preferred"}
        known = set(defaults.KNOWN[reading])
        if name.startswith("card/"):
            request = {key: value for key, value in request.items() if key in known}
        if set(request) <= known and not (reading == "article-port" and name.startswith("preferred")):
            yield effective_case(name, flags, reading, engine, endpoint, server, request)


T, K = "temperature", "top_k"
NORMALIZE = {  # id: (flags, parameters beyond the neutral ones): in every reading
    "neutral": ([], {}), "top-k-off": ([], {K: -1}), "top-k-20": ([], {K: 20}), "top-k-one": ([], {K: 1}), "temperature-zero": (["falsy-zero"], {T: 0.0}),
    "temperature-zero-top-k": (["boundary"], {T: 0.0, K: 20}), "temperature-zero-bad-top-k": (["boundary"], {T: 0.0, K: -7}),
    "temperature-zero-keeps-top-p": (["boundary"], {T: 0.0, "top_p": 0.5, "min_p": 0.1}), "temperature-integer-zero": (["boundary"], {T: 0}),
    "temperature-minus-zero": (["boundary"], {T: -0.0}), "temperature-tiny": (["boundary"], {T: 5e-324}),
    "temperature-below": (["boundary"], {T: math.nextafter(1e-6, 0)}), "temperature-at": (["boundary"], {T: 1e-6}),
    "temperature-above": (["boundary"], {T: math.nextafter(1e-6, 1)}), "temperature-float32": (["boundary"], {T: 9.999999974752427e-07}),
    "temperature-negative": (["out-of-range"], {T: -1e-9}), "temperature-nan": (["out-of-range"], {T: float("nan")}),
    "temperature-infinite": (["out-of-range"], {T: float("inf")}), "temperature-huge": ([], {T: 1e300}), "top-k-zero": (["out-of-range"], {K: 0}),
    "top-k-minus-two": (["out-of-range"], {K: -2}), "top-k-minus-one-float": (["boundary"], {K: -1.0}), "top-k-all": (["boundary"], {K: 2**30}),
    "top-k-all-plus-one": (["boundary"], {K: 2**30 + 1}), "top-k-64-bit": (["boundary"], {K: 2**62}), "top-k-fraction": (["wrong-type"], {K: 20.5}),
    "top-k-half": (["wrong-type", "out-of-range"], {K: 0.5}), "temperature-text": (["wrong-type"], {T: "0"}), "temperature-null": (["null"], {T: None}),
    "temperature-array": (["wrong-type"], {T: []}), "temperature-true": (["wrong-type"], {T: True}), "temperature-false": (["wrong-type"], {T: False}),
    "top-k-text": (["wrong-type"], {K: "-1"}), "top-k-null": (["null"], {K: None}), "top-k-false": (["wrong-type"], {K: False}),
    "top-k-nan": (["wrong-type"], {K: float("nan")}), "top-k-infinite": (["wrong-type"], {K: float("inf")}),
}
VERIFY = {  # upstream only
    "top-p-zero": {"top_p": 0.0}, "top-p-tiny": {"top_p": 5e-324}, "top-p-one": {"top_p": 1.0}, "top-p-above": {"top_p": 1.0000000000000002},
    "top-p-integer": {"top_p": 2}, "top-p-null": {"top_p": None}, "top-p-text": {"top_p": "1"}, "top-p-nan": {"top_p": float("nan")},
    "min-p-negative": {"min_p": -5e-324}, "min-p-one": {"min_p": 1.0}, "min-p-above": {"min_p": 1.0000000000000002}, "min-p-null": {"min_p": None},
    "min-p-text": {"min_p": "0"}, "frequency-low": {"frequency_penalty": -2.0}, "frequency-below": {"frequency_penalty": -2.0000000000000004},
    "frequency-high": {"frequency_penalty": 2.0}, "frequency-null": {"frequency_penalty": None}, "presence-above": {"presence_penalty": 2.0000000000000004},
    "presence-text": {"presence_penalty": "1"}, "presence-null": {"presence_penalty": None}, "repetition-zero": {"repetition_penalty": 0.0},
    "repetition-tiny": {"repetition_penalty": 5e-324}, "repetition-two": {"repetition_penalty": 2.0}, "repetition-above": {"repetition_penalty": 2.5},
    "repetition-null": {"repetition_penalty": None}, "first-error-is-temperature": {T: -1.0, "top_p": 0.0, K: 0}, "top-p-before-min-p": {"top_p": 0.0, "min_p": 2.0},
    "min-p-before-top-k": {"min_p": 2.0, K: 0}, "top-k-before-frequency": {K: 0, "frequency_penalty": 3.0},
    "temperature-1e16": {T: -1e16}, "temperature-1e15": {T: -123456789012345680.0}, "temperature-small": {T: -0.00001}, "temperature-0.0001": {T: -0.0001},
    "temperature-third": {T: -1 / 3}, "top-k-minus-64-bit": {K: -2**63}, "top-p-false": {"top_p": False}, "seed": {"seed": 3},
}


def normalize_case(identity, flags, reading, engine, changes):
    params = {key: defaults.OBJECT[key] for key in defaults.KNOWN[reading]} | changes

    def compute():
        normalized = defaults.normalize(reading, params)
        defaults.verify(reading, normalized)
        return {"normalized": encoded(normalized)}

    return {"id": f"{prefix(reading, engine)}/{identity}", "flags": flags, "params": encoded(params)} | outcome(compute)


def normalize_cases(reading, engine):
    yield from (normalize_case(name, flags, reading, engine, changes) for name, (flags, changes) in NORMALIZE.items())
    if reading == "upstream":
        for name, changes in VERIFY.items():
            flag = "null" if None in changes.values() else "wrong-type" if any(isinstance(v, str) for v in changes.values()) else "out-of-range"
            yield normalize_case(f"verify/{name}", [flag], reading, engine, changes)


def group(reading, engine, cases, more):
    return {"source": "golden/model/defaults_cases.py", "version": VERSION, "engine": engine, "as": reading} | more | {"cases": list(cases)}


def tally(check, groups):
    return {f"{check} {'by hand' if one['source'] == by_hand.SOURCE else one['as']} {one['engine']} {one.get('endpoint', '')}".rstrip(): len(one["cases"])
            for one in groups}


def write():
    """0.5.19 differs in the plain path only: the two endpoints that share no code are enough."""
    asked = [(reading, NEW, endpoint) for reading in READINGS for endpoint in ENDPOINTS] + [("upstream", OLD, "chat"), ("upstream", OLD, "generate")]
    effective = [group(reading, engine, effective_cases(reading, engine, endpoint), {"endpoint": endpoint}) for reading, engine, endpoint in asked]
    effective += [by_hand.group(NEW, by_hand.effective_cases(endpoint), endpoint) for endpoint in ENDPOINTS]
    normalized = [group(reading, NEW, normalize_cases(reading, NEW), {}) for reading in READINGS] + [group("upstream", OLD, normalize_cases("upstream", OLD), {})]
    normalized.append(by_hand.group(NEW, by_hand.normalize_cases()))
    effective += vllm_cases.effective_groups()
    normalized += vllm_cases.normalize_groups()
    notes = NOTES | vllm_cases.NOTES
    write_text("defaults/effective.json", family_text("defaults", "effective", notes, effective))
    write_text("defaults/normalize.json", family_text("defaults", "normalize", notes, normalized))
    return tally("effective", effective) | tally("normalize", normalized)
