"""defaults_cases.py: golden/defaults/effective.json and normalize.json: who sets a sampling parameter, and what is refused.

effective.json: a request body as sent to an endpoint of a server; every parameter with its value and the layer it came from,
then the path the request takes alone, or the error it gets. normalize.json: the parameters as they reach the engine.
"""
import math

import body as bodies
import by_hand
import defaults
import predicate
import vllm_cases
from engine_values import encode, encoded, encoded_server, outcome
from files import family_text, write_text

VERSION = "3"
NEW, OLD, NEWEST = "sglang-0.5.20", "sglang-0.5.19", "sglang-0.5.23"
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
    "strict-schema": {
        "bug": "0.5.23 puts a schema before /generate; until then a wrong type ran into a comparison, or through.",
        "effect": "What was HTTP 500, or was taken, is HTTP 400: booleans, 20.0 for top_k, numbers in strings, unknown members.",
        "links": [GITHUB + "sgl-project/sglang/issues/39096"]},
    "unknown-member": {
        "bug": "A member that nobody knows is dropped on one endpoint and an error on another.",
        "effect": "/generate answers a misspelt or foreign member (seed, max_tokens) with HTTP 500 until 0.5.23 and 400 from then on; elsewhere it has no effect.",
        "links": []},
    "already-normalized": {
        "bug": "A field that the engine sets for itself can be set by a client (until 0.5.23).",
        "effect": "temperature 0 stays 0 and is divided by; -1 and null are refused where they are usual.",
        "links": []},
    "length": {
        "bug": "Bounds on lengths are checked under another name than the client sent, or for a value the endpoint had changed.",
        "effect": "max_output_tokens 1 is refused as max_new_tokens -1.",
        "links": []},
    "stops-and-grammars": {
        "bug": "Limits on stops, grammars and logit_bias hold for the members that an endpoint passes on, and for no others.",
        "effect": "A body is HTTP 400 on one endpoint and is taken on another, part of it dropped.",
        "links": []},
    "status": {
        "bug": "The same failed comparison is a server error on one endpoint and the client's on another.",
        "effect": "A string in the model's file is HTTP 500 on chat and 400 on responses.",
        "links": []},
    "synthetic-file": {
        "bug": "None: no model is known to ship this generation_config; it is made for the edge that it shows.",
        "effect": "None of its own.",
        "links": []},
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
# The five keys of files that real models ship, as facts: name: (public source at a commit, or where it is told; what it says). Qwen3.5-2B ships none.
MODEL_FILES = {
    "qwen3": ("https://qwen.readthedocs.io/en/stable/getting_started/quickstart.html", QWEN3),
    "llama-3.2-1b": (GITHUB + "sgl-project/sglang/pull/11610", {"temperature": 0.6, "top_p": 0.9}),
    "reflection-llama-3.1-70b": (GITHUB + "MiMiGame-1/Reflection-Llama-3.1-70B/blob/276a4a0a0a11bf9aec9be8d1196f0cd3e7ed482c/generation_config.json",
                                 {"temperature": 0.7, "top_p": 0.95}),
    "llama-2-7b": (GITHUB + "HamZil/Llama-2-7b-hf/blob/7b98be05b7ae501a207aadd47370757a5fd0a3e7/generation_config.json", {"temperature": 0.9, "top_p": 0.6}),
    "atom-7b": (GITHUB + "HuengchI/Atom-7B/blob/cb7ca9691a562686eaade86999c43750bc978c1a/generation_config.json", {}),
    "sakura-14b-qwen2.5": (GITHUB + "1235357/Backup_hf_sakura-14b-qwen2.5-v1.0-q6k/blob/aaa4eb12fd03690378331dc4de618c75b5e9bdba/generation_config.json",
                           {"repetition_penalty": 1.05, "temperature": 0.1, "top_k": 30, "top_p": 0.3}),
}
LLAMA = MODEL_FILES["llama-3.2-1b"][1]
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
    "llama-3.2-1b/transformers-4": (["class-defaults"], {"generation_config": LLAMA, "transformers": "4"}, {}),
    "transformers-4-empty-file": (["class-defaults"], {"generation_config": {}, "transformers": "4"}, {}),
    "transformers-4-no-file": (["class-defaults"], {"transformers": "4"}, {}),
    "transformers-4-null": (["class-defaults", "null"], {"generation_config": {"top_k": None}, "transformers": "4"}, {}),
    "transformers-4-openai": (["class-defaults"], {"generation_config": {}, "transformers": "4", "sampling_defaults": "openai"}, {}),
    "transformers-4-over": (["class-defaults", "explicit-default"], {"generation_config": {}, "transformers": "4"}, {"top_k": -1}),
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
} | {f"model/{name}": (["config-merge"], {"generation_config": values}, {}) for name, (_, values) in MODEL_FILES.items()} \
  | {f"null/{key}": (["null"], {"generation_config": QWEN3 | {"repetition_penalty": 1.05}} | PREFERRED, {key: None}) for key in FIVE} \
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
    "seed-2-63": (["seed-mapping", "out-of-range"], {}, {"seed": 2**63}),
    "seed-fraction": (["seed-mapping", "wrong-type"], {}, {"seed": 1.5}), "seed-text": (["seed-mapping", "wrong-type"], {}, {"seed": "5"}),
    "seed-true": (["seed-mapping", "wrong-type"], {}, {"seed": True}), "seed-preferred-text": (["seed-mapping", "wrong-type"], {"preferred": {"sampling_seed": "5"}}, {}),
    "top-k-2-63": (["out-of-range"], {}, {"top_k": 2**63}), "top-k-2-31": (["out-of-range"], {}, {"top_k": 2**31}),
    "file-top-p-text": (["wrong-type", "status"], {"generation_config": {"top_p": "0.9"}}, {}),
    "preferred-text": (["wrong-type", "status", "preferred-inert"], {"preferred": {"min_p": "0.1"}}, {}),
}
VOCAB = {"vocab": 1000}
# Members that no path depends on, upstream. id: (flags, server, body)
BODIES = {name: (flags, {}, body) for name, flags, body in (
    ("unknown", ["unknown-member"], {"unknown_key": 1}), ("unknown-and-bad-temperature", ["unknown-member"], {"unknown_key": 1, "temperature": -1.0}),
    ("max-new-negative", ["length"], {"max_new_tokens": -1}), ("max-new-null", ["length", "null"], {"max_new_tokens": None}),
    ("max-new-zero", ["length", "falsy-zero"], {"max_new_tokens": 0}), ("max-new-text", ["length", "wrong-type", "strict-schema"], {"max_new_tokens": "5"}),
    ("max-new-text-and-unknown", ["length", "wrong-type", "unknown-member"], {"max_new_tokens": "5", "unknown_key": 1}),
    ("unknown-before-text", ["unknown-member", "wrong-type", "strict-schema"], {"unknown_key": 1, "temperature": "x"}),
    ("text-before-unknown", ["unknown-member", "wrong-type", "strict-schema"], {"temperature": "x", "unknown_key": 1}),
    ("true-before-text", ["wrong-type", "strict-schema"], {"n": True, "top_p": "x"}), ("text-before-true", ["wrong-type", "strict-schema"], {"top_p": "x", "n": True}),
    ("max-new-true", ["length", "wrong-type", "strict-schema"], {"max_new_tokens": True}), ("n-null-before-max-new", ["null", "wrong-type"], {"n": None, "max_new_tokens": "5"}),
    ("max-new-fraction", ["length", "wrong-type", "strict-schema"], {"max_new_tokens": 1.5}), ("min-new-negative", ["length"], {"min_new_tokens": -1}),
    ("min-new-above-default", ["length", "boundary"], {"min_new_tokens": 129}), ("min-new-at-default", ["length", "boundary"], {"min_new_tokens": 128}),
    ("min-new-above-max", ["length"], {"min_new_tokens": 5, "max_new_tokens": 3}), ("min-new-without-max", ["length", "null"], {"min_new_tokens": 500, "max_new_tokens": None}),
    ("min-new-null", ["length", "null"], {"min_new_tokens": None}), ("max-tokens-negative", ["length", "unknown-member"], {"max_tokens": -1}),
    ("max-tokens-zero", ["length", "unknown-member"], {"max_tokens": 0}), ("max-tokens-null", ["length", "null", "unknown-member"], {"max_tokens": None}),
    ("max-tokens-text", ["length", "unknown-member"], {"max_tokens": "5"}), ("max-completion-negative", ["length", "unknown-member"], {"max_completion_tokens": -5}),
    ("max-completion-over-max", ["length", "unknown-member"], {"max_tokens": -5, "max_completion_tokens": 3}),
    ("max-completion-null", ["length", "null", "unknown-member"], {"max_completion_tokens": None, "max_tokens": -7}),
    ("max-output-one", ["length", "unknown-member"], {"max_output_tokens": 1}), ("max-output-two", ["length", "unknown-member"], {"max_output_tokens": 2}),
    ("min-tokens-negative", ["length", "unknown-member"], {"min_tokens": -1}), ("min-tokens-null", ["length", "null", "unknown-member"], {"min_tokens": None}),
    ("min-tokens-above-max", ["length", "unknown-member"], {"min_tokens": 20, "max_tokens": 3}), ("min-tokens-17", ["length", "boundary", "unknown-member"], {"min_tokens": 17}),
    ("temperature-before-length", ["length"], {"min_new_tokens": -1, "min_tokens": -1, "temperature": -1.0}),
    ("n-null", ["null", "wrong-type"], {"n": None}), ("n-zero", ["falsy-zero"], {"n": 0}), ("n-text", ["wrong-type", "strict-schema"], {"n": "2x"}),
    ("beam-width-zero", ["stops-and-grammars"], {"beam_width": 0}), ("beam-width-null", ["stops-and-grammars", "null"], {"beam_width": None}),
    ("beam-width-before-temperature", ["stops-and-grammars"], {"beam_width": 0, "temperature": -1.0}),
    ("bias-word", ["stops-and-grammars"], {"logit_bias": {"x": 1.0}}), ("bias-unchecked", ["stops-and-grammars"], {"logit_bias": {"1000": 1.0}}),
    ("two-grammars", ["stops-and-grammars"], {"regex": "a", "ebnf": "b"}), ("grammar-and-schema", ["stops-and-grammars"], {"regex": "a", "json_schema": "{}"}),
    ("grammar-empty", ["stops-and-grammars", "falsy-zero"], {"regex": "", "json_schema": "{}"}), ("tag-and-grammar", ["stops-and-grammars"], {"structural_tag": "a", "regex": "b"}),
    ("stops-32", ["stops-and-grammars", "boundary"], {"stop": ["a"] * 32}), ("stops-33", ["stops-and-grammars", "boundary"], {"stop": ["a"] * 33}),
    ("stop-text", ["stops-and-grammars"], {"stop": "a"}), ("stop-null", ["stops-and-grammars", "null"], {"stop": None}),
    ("stop-regex-33", ["stops-and-grammars", "boundary"], {"stop_regex": ["a"] * 33}), ("stop-regex-256", ["stops-and-grammars", "boundary"], {"stop_regex": "a" * 256}),
    ("stop-regex-257", ["stops-and-grammars", "boundary"], {"stop_regex": ["a", "a" * 257]}), ("stops-before-temperature", ["stops-and-grammars"], {"stop": ["a"] * 33, "temperature": -1.0}),
    ("normalized", ["already-normalized"], {"is_normalized": True}), ("normalized-temperature-zero", ["already-normalized"], {"is_normalized": True, "temperature": 0.0}),
    ("normalized-top-k-off", ["already-normalized"], {"is_normalized": True, "top_k": -1}), ("normalized-null", ["already-normalized", "null"], {"is_normalized": True, "top_p": None}),
    ("not-normalized", ["already-normalized"], {"is_normalized": False, "temperature": 0.0}),
    ("ebnf-full-assistant", ["unknown-member"], {"ebnf_full_assistant": True}), ("watermark", ["unknown-member", "null"], {"watermark": None}),
)} | {f"bias-{key}": (["stops-and-grammars", "boundary"], VOCAB, {"logit_bias": {key: 1.0}}) for key in ("-1", "0", "999", "1000")}


def prefix(reading, engine):
    return reading if engine == NEW else f"{reading}/{engine}"


def effective_case(identity, flags, reading, engine, endpoint, server, request):
    """The body's seed is named as the endpoint names it; an endpoint without one drops it."""
    body = {("sampling_seed" if key == "seed" and endpoint == "generate" else key): value for key, value in request.items()}
    if "generation_config" in server and server["generation_config"] not in [values for _, values in MODEL_FILES.values()]:
        flags = flags + ["synthetic-file"]
    case = {"id": f"{prefix(reading, engine)}/{endpoint}/{identity}", "flags": flags, "server": encoded_server(server), "request": encoded(body)}

    def route():
        fields = {key: value for key, value in body.items() if reading == "upstream"}
        if reading == "upstream":
            bodies.before_resolve(engine, endpoint, fields)
        found = defaults.effective(reading, endpoint, body, server, engine)
        case["effective"] = {key: [encode(key, value), layer] for key, (value, layer) in found.items()}
        params = {key: value for key, (value, _) in found.items()}
        if not (fields and bodies.before_normalize(engine, endpoint, fields)):
            params = defaults.normalize(reading, params)
        bodies.before_verify(endpoint, fields)
        defaults.verify(reading, params, engine)
        bodies.after_verify(endpoint, fields, server.get("vocab"))
        return {"path": predicate.path_of_batch(reading, engine, server, [params])["path"]}

    result = outcome(route)
    if "status" in result:
        result["status"] = defaults.status_at(endpoint, result["status"]) if reading == "upstream" else result["status"]
    return case | result | ({"effective": case["effective"]} if "effective" in case else {})


def effective_cases(reading, engine, endpoint):
    everywhere = dict(EVERYWHERE) | {f"wrong/{name}": (["wrong-type"], FILE, request) for name, request in WRONG.items()}
    if reading == "upstream":
        everywhere |= MORE | {f"body/{name}": told for name, told in BODIES.items()}
    for name, (flags, server, request) in everywhere.items():
        if reading == "article-port":  # its code has no such keys
            server = {key: value for key, value in server.items() if key != "preferred"}
        known = set(defaults.KNOWN[reading])
        if name.startswith("card/"):
            request = {key: value for key, value in request.items() if key in known}
        if set(request) - set(bodies.FIELDS) <= known and not (reading == "article-port" and name.startswith("preferred")):
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
    "seed-highest": {"seed": 2**63 - 1}, "seed-lowest": {"seed": -2**63}, "seed-2-63": {"seed": 2**63}, "seed-fraction": {"seed": 1.5}, "seed-text": {"seed": "5"},
    "seed-true": {"seed": True}, "seed-null": {"seed": None}, "repetition-before-seed": {"repetition_penalty": 0.0, "seed": 1.5},
}


def normalize_case(identity, flags, reading, engine, changes):
    params = {key: defaults.OBJECT[key] for key in defaults.KNOWN[reading]} | changes

    def compute():
        normalized = defaults.normalize(reading, params)
        defaults.verify(reading, normalized, engine)
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
    asked = [(reading, NEW, endpoint) for reading in READINGS for endpoint in ENDPOINTS]
    asked += [("upstream", engine, endpoint) for engine in (OLD, NEWEST) for endpoint in ENDPOINTS]
    effective = [group(reading, engine, effective_cases(reading, engine, endpoint), {"endpoint": endpoint}) for reading, engine, endpoint in asked]
    effective += [by_hand.group(engine, by_hand.effective_cases(endpoint, engine), endpoint) for engine in by_hand.EFFECTIVE for endpoint in by_hand.EFFECTIVE[engine]]
    normalized = [group(reading, NEW, normalize_cases(reading, NEW), {}) for reading in READINGS] + [group("upstream", engine, normalize_cases("upstream", engine), {}) for engine in (OLD, NEWEST)]
    normalized.append(by_hand.group(NEW, by_hand.normalize_cases()))
    effective += vllm_cases.effective_groups()
    normalized += vllm_cases.normalize_groups()
    notes = NOTES | vllm_cases.NOTES
    write_text("defaults/effective.json", family_text("defaults", "effective", notes, effective))
    write_text("defaults/normalize.json", family_text("defaults", "normalize", notes, normalized))
    return tally("effective", effective) | tally("normalize", normalized)
