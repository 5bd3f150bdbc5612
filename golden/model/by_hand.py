"""by_hand.py: questions about SGLang answered by hand, for both the model and the C code to be held to.

Each answer is read off the article's sentences or was given by the released wheels; nothing here is computed. There is one
at least for each kind of bug in the notes, so that `golden verify` can ask which side an answer worked by hand takes.
"""
import math

from engine_values import encode, encoded, encoded_server

SOURCE = "by hand: the article's sentences, and answers of the wheels"
NEW, OLD, NEWEST = "sglang-0.5.20", "sglang-0.5.19", "sglang-0.5.23"
ALL = 2**30
FILE = {"generation_config": {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.0}}
DETERMINISTIC = {"deterministic": True}
EMPTY = {"error": "a batch needs at least one request", "status": 0}
NO_VALUES = {"error": "only integer tensors of a single element can be converted to an index", "status": 0}
ASSERTION = {"error": "With sampling seed, multinomial_with_seed will provide wrong results", "status": 0}


def routed(path, seeded=False, backend="flashinfer"):
    return {"path": path, "seeded": seeded, "backend": backend}


def seeded(path, noise=None):
    """The noise goes by token on the deterministic path, by rank on the filtered one."""
    noise = noise or {"deterministic": "token", "filtered": "rank"}.get(path)
    return routed(path, path != "greedy", "pytorch") | ({"noise": noise} if noise else {})


def refused(text, status=400):
    return {"error": text, "status": status}


# engine: {id: (flags, server, batch, answer)}; upstream.
PATHS = {
    NEW: {
        "plain": ([], {}, [{}, {"temperature": 0.7}], routed("gumbel")),
        "top-k-one": ([], {}, [{"top_k": 1}], routed("greedy")),
        "empty": (["boundary"], {}, [], EMPTY),
        "temperature-at": (["boundary"], {}, [{"temperature": 1e-6}], routed("gumbel")),
        "temperature-below": (["boundary"], {}, [{"temperature": math.nextafter(1e-6, 0)}], routed("greedy")),
        "top-p-one": (["boundary"], {}, [{"top_p": 1.0}], routed("gumbel")),
        "top-p-below": (["boundary"], {}, [{"top_p": math.nextafter(1, 0)}], routed("filtered")),
        "top-k-all": (["boundary"], {}, [{"top_k": ALL}], routed("gumbel")),
        "top-k-below-all": (["boundary"], {}, [{"top_k": ALL - 1}], routed("filtered")),
        "min-p-zero": (["boundary"], {}, [{"min_p": 0.0}], routed("gumbel")),
        "min-p-tiny": (["boundary"], {}, [{"min_p": 5e-324}], routed("filtered")),
        "one-filtered": (["one-request-decides"], {}, [{}, {"top_k": 20}, {}], routed("filtered")),
        "filtered-first": (["one-request-decides"], {}, [{"top_p": 0.95}, {}], routed("filtered")),
        "one-greedy": (["one-request-decides"], {}, [{}, {"temperature": 0.0}], routed("filtered")),
        "one-sampled": (["one-request-decides"], {}, [{"temperature": 0.0}, {}], routed("filtered")),
        "off": (["switch-spelling"], {"switch": "off"}, [{}], routed("gumbel")),
        "No": (["switch-spelling"], {"switch": "No"}, [{}], routed("multinomial")),
        "deterministic": (["seed-with-filter"], DETERMINISTIC, [{}], seeded("deterministic")),
        "deterministic-greedy": (["seed-with-filter"], DETERMINISTIC, [{"temperature": 0.0}], seeded("greedy")),
        "deterministic-filtered": (["seed-with-filter"], DETERMINISTIC, [{}, {"top_p": 0.95}], seeded("filtered")),
        "deterministic-min-p": (["seed-with-min-p"], DETERMINISTIC, [{}, {"min_p": 0.05}], ASSERTION),
        "top-k-zero": (["not-verified"], {}, [{"top_k": 0}], refused("top_k must be -1 (disable) or at least 1, got 0.")),
        "top-k-below-2-31": (["top-k-overflow"], {}, [{}, {"top_k": 2**31 - 1}], routed("filtered")),
        "seed-2-63": (["seed-overflow"], DETERMINISTIC, [{"sampling_seed": 2**63}, {}], {"error": "a seed does not fit the batch's int64 tensor", "status": 0}),
        "seed-2-63-greedy": (["seed-overflow"], DETERMINISTIC, [{"sampling_seed": 2**63, "temperature": 0.0}],
                             {"error": "a seed does not fit the batch's int64 tensor", "status": 0}),
        "seed-2-63-unused": (["seed-overflow"], {}, [{"sampling_seed": 2**63}, {}], routed("gumbel")),
        "noise-by-rank": (["noise-key"], DETERMINISTIC, [{"top_k": 20}, {}], seeded("filtered")),
        "ascend": (["ascend"], {"backend": "ascend"}, [{}], routed("multinomial", backend="ascend")),
        "ascend-min-p": (["ascend"], DETERMINISTIC | {"backend": "ascend"}, [{"min_p": 0.05}], routed("filtered", True, "ascend") | {"noise": "rank"}),
        "ascend-kernel": (["ascend", "noise-key"], DETERMINISTIC | {"backend": "ascend"}, [{"top_k": 1024}, {"temperature": 0.0}],
                          routed("filtered", True, "ascend") | {"noise": "token"}),
        "ascend-kernel-min-p": (["ascend-min-p"], {"backend": "ascend"}, [{"top_k": 20, "min_p": 0.05}], NO_VALUES),
        "ascend-sorted-min-p": (["ascend-min-p"], {"backend": "ascend"}, [{"top_k": 1025, "min_p": 0.05}], routed("filtered", backend="ascend")),
        "xpu": (["intel-xpu"], {"device": "xpu"}, [{"top_k": 20}], routed("filtered", backend="pytorch")),
        "draft": (["draft-switch"], {"draft": True, "switch": "0"}, [{}], routed("multinomial")),
        "two-top-k": (["bounded-top-k"], {"backend": "pytorch"}, [{"top_k": 20}, {"top_k": 5}], routed("filtered", backend="pytorch")),
        "top-k-2-31": (["top-k-overflow"], {}, [{"top_k": 2**31}, {}], refused("top_k 2147483648 does not fit the batch's int32 tensor", 0)),
    },
    OLD: {
        "plain": (["version"], {}, [{}], routed("multinomial")),
        "filtered": (["version"], {}, [{"top_k": 20}, {}], routed("filtered")),
        "greedy": (["version"], {}, [{"top_k": 1}], routed("greedy")),
        "deterministic": (["version"], DETERMINISTIC, [{}], seeded("deterministic")),
        "switch-1": (["version", "draft-switch"], {"switch": "1"}, [{}], routed("multinomial")),
        "draft": (["version", "draft-switch"], {"draft": True}, [{}], routed("gumbel")),
        "draft-switch-0": (["version", "draft-switch"], {"draft": True, "switch": "0"}, [{}], routed("multinomial")),
    },
    NEWEST: {
        "plain": (["version"], {}, [{}], routed("gumbel")),
        "two-top-k": (["version", "bounded-top-k"], {"backend": "pytorch"}, [{"top_k": 20}, {"top_k": 5}], routed("filtered", backend="pytorch") | {"top_k_bound": 20}),
        "top-k-and-plain": (["version", "bounded-top-k"], {"backend": "pytorch"}, [{"top_k": 20}, {}], routed("filtered", backend="pytorch")),
        "ascend-kernel-min-p": (["version", "ascend-min-p"], {"backend": "ascend"}, [{"top_k": 20, "min_p": 0.05}], NO_VALUES),
        "seeded-top-k": (["version", "bounded-top-k"], DETERMINISTIC, [{"top_k": 20}], seeded("filtered")),
        "seed-2-63": (["version", "seed-overflow"], {}, [{"sampling_seed": 2**63}], refused("sampling_seed must be in [-2**63, 2**63 - 1], got 9223372036854775808.")),
        "xpu": (["version", "intel-xpu"], {"device": "xpu"}, [{"top_k": 20}], routed("filtered", backend="intel_xpu")),
        "intel-xpu-on-cuda": (["version", "intel-xpu"], {"backend": "intel_xpu"}, [{}],
                              {"error": "--sampling-backend intel_xpu requires --device xpu, got --device cuda", "status": 0}),
        "draft": (["version", "draft-switch"], DETERMINISTIC | {"draft": True}, [{}], seeded("deterministic")),
    },
}

# engine: {id: (flags, server, [(act, id or None, request or None, flags and path of the prefill batch, of the running batch)])}
PLAIN, GREEDY = ("----", routed("gumbel")), ("Gk--", routed("greedy"))
TOP_P, MIXED = ("--p-", routed("filtered")), ("-k--", routed("filtered"))
ASCEND_TOKEN, ASCEND_RANK = [("-k--", routed("filtered", True, "ascend") | {"noise": noise}) for noise in ("token", "rank")]
ASCEND_PLAIN = ("----", routed("deterministic", True, "ascend") | {"noise": "token"})
SEEDED_PLAIN, SEEDED_TOP_P = ("----", seeded("deterministic")), ("--p-", seeded("filtered"))
BOUND_50, BOUND_20 = [("-k--", routed("filtered", backend="pytorch") | {"top_k_bound": most}) for most in (50, 20)]
HISTORIES = {NEWEST: {
    "bound-stays": (["bounded-top-k", "sticky-flags"], {"backend": "pytorch"}, [
        ("admit", "a", {"top_k": 50}, BOUND_50, None), ("admit", "b", {"top_k": 20}, BOUND_50, None), ("join", None, None, None, BOUND_50),
        ("finish", "a", None, None, BOUND_50), ("filter", None, None, None, BOUND_50)]),
    "ended-first": (["every-round", "sticky-flags"], {}, [
        ("admit", "a", {"top_p": 0.95}, TOP_P, None), ("join", None, None, None, TOP_P), ("finish", "a", None, None, TOP_P), ("admit", "b", {}, PLAIN, None),
        ("join", None, None, None, PLAIN)]),
}, NEW: {
    "ended-first": (["every-round", "sticky-flags"], {}, [
        ("admit", "a", {"top_p": 0.95}, TOP_P, None), ("join", None, None, None, TOP_P), ("finish", "a", None, None, TOP_P), ("admit", "b", {}, PLAIN, TOP_P),
        ("join", None, None, None, TOP_P)]),
    "mixed-chunk": (["mixed-chunk", "sticky-flags"], {}, [
        ("admit", "a", {"top_p": 0.95}, TOP_P, None), ("admit", "b", {}, TOP_P, None), ("join", None, None, None, TOP_P), ("finish", "a", None, None, TOP_P),
        ("filter", None, None, None, TOP_P), ("admit", "c", {}, PLAIN, TOP_P), ("mix", None, None, TOP_P, None), ("join", None, None, None, TOP_P)]),
    "mixed-chunk-of-ended": (["mixed-chunk"], {}, [
        ("admit", "a", {"top_p": 0.95}, TOP_P, None), ("join", None, None, None, TOP_P), ("finish", "a", None, None, TOP_P), ("admit", "b", {}, PLAIN, TOP_P),
        ("mix", None, None, PLAIN, None), ("join", None, None, None, PLAIN)]),
    "ascend-kernel": (["ascend", "noise-key", "sticky-flags"], DETERMINISTIC | {"backend": "ascend"}, [
        ("admit", "a", {"top_k": 20}, ASCEND_TOKEN, None), ("join", None, None, None, ASCEND_TOKEN), ("admit", "b", {}, ASCEND_PLAIN, ASCEND_TOKEN),
        ("join", None, None, None, ASCEND_RANK), ("finish", "b", None, None, ASCEND_RANK), ("filter", None, None, None, ASCEND_TOKEN)]),
    "sticky": (["sticky-flags"], {}, [
        ("admit", "a", {}, PLAIN, None), ("join", None, None, None, PLAIN), ("admit", "b", {"top_p": 0.95}, TOP_P, PLAIN),
        ("join", None, None, None, TOP_P), ("finish", "b", None, None, TOP_P), ("filter", None, None, None, TOP_P),
        ("finish", "a", None, None, TOP_P), ("filter", None, None, None, None), ("admit", "c", {}, PLAIN, None), ("join", None, None, None, PLAIN)]),
    "greedy-joined": (["greedy-merge", "one-request-decides"], {}, [
        ("admit", "a", {"temperature": 0.0}, GREEDY, None), ("join", None, None, None, GREEDY), ("admit", "b", {}, PLAIN, GREEDY),
        ("join", None, None, None, MIXED), ("finish", "b", None, None, MIXED), ("filter", None, None, None, MIXED)]),
    "prefill-of-two": (["one-request-decides", "sticky-flags"], {}, [
        ("admit", "a", {"top_p": 0.95}, TOP_P, None), ("admit", "b", {}, TOP_P, None), ("join", None, None, None, TOP_P)]),
    "deterministic": (["sticky-flags", "seed-with-filter"], DETERMINISTIC, [
        ("admit", "a", {}, SEEDED_PLAIN, None), ("join", None, None, None, SEEDED_PLAIN), ("admit", "b", {"top_p": 0.95}, SEEDED_TOP_P, SEEDED_PLAIN),
        ("join", None, None, None, SEEDED_TOP_P), ("finish", "b", None, None, SEEDED_TOP_P), ("filter", None, None, None, SEEDED_TOP_P)]),
}}


def parameters(whole=-1, /, **said):
    """The built-in values, with `whole` for top_k, and those said by another layer: (value, layer)."""
    built_in = {"temperature": 1.0, "top_k": whole, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0, "frequency_penalty": 0.0,
                "presence_penalty": 0.0, "seed": None}
    return {key: (value, "default") for key, value in built_in.items()} | said


MODEL = {"temperature": (0.6, "model"), "top_k": (20, "model"), "top_p": (0.95, "model"), "min_p": (0.0, "model")}
# engine: {endpoint: {id: (flags, server, request, parameters or None, answer)}}; upstream.
EFFECTIVE = {OLD: {
    "completions": {
        "plain": ([], {}, {}, parameters(), {"path": "multinomial"}),
    },
    "generate": {
        "ebnf-full-assistant": (["unknown-member"], {}, {"ebnf_full_assistant": True}, parameters(ALL), refused("Unexpected keyword argument 'ebnf_full_assistant'", 500)),
    },
}, NEWEST: {
    "chat": {
        "seed-2-63": (["seed-mapping"], {}, {"seed": 2**63}, parameters(seed=(2**63, "request")),
                      refused("sampling_seed must be in [-2**63, 2**63 - 1], got 9223372036854775808.")),
    },
    "generate": {
        "text": (["strict-schema", "wrong-type"], {}, {"temperature": "0.5"}, None, refused('invalid type: string "0.5", expected f64')),
        "true": (["strict-schema", "wrong-type"], {}, {"min_p": True}, None, refused("invalid type: boolean `true`, expected f64")),
        "top-k-float": (["strict-schema", "wrong-type"], {}, {"top_k": 20.0}, None, refused("invalid type: floating point `20.0`, expected i64")),
        "unknown": (["strict-schema", "unknown-member"], {}, {"unknown_key": 1}, None, refused("unknown field `unknown_key`")),
        "normalized": (["already-normalized"], {}, {"is_normalized": True}, None, refused("unknown field `is_normalized`")),
        "null": (["null"], {}, {"top_k": None}, parameters(top_k=(None, "request")), {"path": "gumbel"}),
    },
}, NEW: {
    "chat": {
        "unknown": (["unknown-member"], {}, {"unknown_key": 1}, parameters(), {"path": "gumbel"}),
        "max-tokens": (["length"], {}, {"max_tokens": -5, "max_completion_tokens": 3}, parameters(), {"path": "gumbel"}),
        "max-tokens-negative": (["length"], {}, {"max_tokens": -1}, parameters(), refused("max_new_tokens must be at least 0, got -1.")),
        "temperature-first": (["length"], {}, {"min_tokens": -1, "temperature": -1.0}, parameters(temperature=(-1.0, "request")),
                              refused("temperature must be a non-negative finite number, got -1.0.")),
        "grammars": (["stops-and-grammars"], {}, {"regex": "a", "ebnf": "b"}, parameters(), refused("Only one of json_schema, regex, ebnf, or structural_tag can be set.")),
        "grammar-and-schema": (["stops-and-grammars"], {}, {"regex": "a", "json_schema": "{}"}, parameters(), {"path": "gumbel"}),
        "file-text": (["wrong-type", "status"], {"generation_config": {"top_p": "0.6"}}, {}, parameters(top_p=("0.6", "model")),
                      refused("top_p must be a number, is a string", 500)),
        "class-defaults": (["class-defaults"], {"generation_config": {"temperature": 0.6, "top_p": 0.9}, "transformers": "4"}, {},
                           parameters(temperature=(0.6, "model"), top_p=(0.9, "model"), top_k=(50, "model"), repetition_penalty=(1.0, "model")), {"path": "filtered"}),
        "no-class-defaults": (["class-defaults"], {"generation_config": {"temperature": 0.6, "top_p": 0.9}}, {},
                              parameters(temperature=(0.6, "model"), top_p=(0.9, "model")), {"path": "filtered"}),
        "empty": ([], {}, {}, parameters(), {"path": "gumbel"}),
        "file": (["config-merge"], FILE, {}, parameters(**MODEL), {"path": "filtered"}),
        "over-file": (["config-merge"], FILE, {"temperature": 0.3, "top_k": 7},
                      parameters(**MODEL | {"temperature": (0.3, "request"), "top_k": (7, "request")}), {"path": "filtered"}),
        "openai": (["config-merge"], FILE | {"sampling_defaults": "openai"}, {}, parameters(), {"path": "gumbel"}),
        "zero": (["falsy-zero"], FILE, {"temperature": 0.0}, parameters(**MODEL | {"temperature": (0.0, "request")}), {"path": "greedy"}),
        "unfiltered": (["explicit-default"], FILE, {"top_p": 1.0, "top_k": -1},
                       parameters(**MODEL | {"top_p": (1.0, "request"), "top_k": (-1, "request")}), {"path": "gumbel"}),
        "all-defaults": (["explicit-default"], FILE, {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0},
                         parameters(temperature=(1.0, "request"), top_p=(1.0, "request"), top_k=(-1, "request"), min_p=(0.0, "request")), {"path": "gumbel"}),
        "null": (["null"], FILE, {"top_k": None}, parameters(**MODEL), {"path": "filtered"}),
        "text": (["wrong-type"], FILE, {"temperature": "0.5"}, parameters(**MODEL | {"temperature": (0.5, "request")}), {"path": "filtered"}),
        "array": (["wrong-type"], FILE, {"temperature": []}, None, refused("temperature must be a number, is an array")),
        "preferred": (["preferred-inert"], {"preferred": {"top_k": 40}}, {}, parameters(), {"path": "gumbel"}),
        "top-k-50": (["class-defaults", "synthetic-file"], {"generation_config": {"top_k": 50}}, {}, parameters(top_k=(50, "model")), {"path": "filtered"}),
        "repetition": (["repetition-penalty"], {"generation_config": {"repetition_penalty": 1.05}}, {}, parameters(repetition_penalty=(1.05, "model")), {"path": "gumbel"}),
        "card": (["model-card"], {}, {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "min_p": 0.0, "presence_penalty": 1.5, "repetition_penalty": 1.0},
                 parameters(temperature=(0.7, "request"), top_p=(0.8, "request"), min_p=(0.0, "request"), presence_penalty=(1.5, "request"),
                            repetition_penalty=(1.0, "request"), top_k=(20, "request")), {"path": "filtered"}),
        "seed": (["seed-mapping"], {}, {"seed": 5}, parameters(seed=(5, "request")), {"path": "gumbel"}),
        "top-k-zero": (["out-of-range"], {}, {"top_k": 0}, parameters(top_k=(0, "request")), refused("top_k must be -1 (disable) or at least 1, got 0.")),
    },
    "responses": {
        "file-text": (["wrong-type", "status"], {"generation_config": {"top_p": "0.6"}}, {}, parameters(ALL, temperature=(0.7, "default"), top_p=("0.6", "model")),
                      refused("top_p must be a number, is a string")),
        "max-output-one": (["length"], {}, {"max_output_tokens": 1}, parameters(ALL, temperature=(0.7, "default")), refused("max_new_tokens must be at least 0, got -1.")),
        "stops-33": (["stops-and-grammars"], {}, {"stop": ["a"] * 33}, parameters(ALL, temperature=(0.7, "default")), refused("at most 32 stop strings are allowed, got 33")),
        "empty": (["responses"], {}, {}, parameters(ALL, temperature=(0.7, "default")), {"path": "gumbel"}),
        "file": (["responses", "config-merge"], FILE, {}, parameters(**MODEL), {"path": "filtered"}),
        "preferred": (["preferred-inert"], {"preferred": {"top_k": 40, "temperature": 0.5}}, {},
                      parameters(temperature=(0.7, "default"), top_k=(40, "preferred")), {"path": "filtered"}),
        "seed": (["seed-mapping"], {}, {"seed": 5}, parameters(ALL, temperature=(0.7, "default")), {"path": "gumbel"}),
    },
    "completions": {
        "file": (["config-merge"], FILE, {}, parameters(), {"path": "gumbel"}),
        "null": (["null"], {}, {"top_k": None}, None, refused("top_k must be an integer, is null")),
        "seed": (["seed-mapping"], {}, {"seed": 5}, parameters(seed=(5, "request")), {"path": "gumbel"}),
    },
    "generate": {
        "unknown": (["unknown-member"], {}, {"unknown_key": 1}, parameters(ALL), refused("Unexpected keyword argument 'unknown_key'", 500)),
        "top-k-float": (["strict-schema"], {}, {"top_k": 20.0}, parameters(top_k=(20.0, "request")), {"path": "filtered"}),
        "normalized": (["already-normalized"], {}, {"is_normalized": True, "temperature": 0.0}, parameters(ALL, temperature=(0.0, "request")), {"path": "gumbel"}),
        "min-new-tokens": (["length"], {}, {"min_new_tokens": -1}, parameters(ALL), refused("min_new_tokens must be in [0, max_new_tokens], got -1.")),
        "max-new-text": (["length", "wrong-type"], {}, {"max_new_tokens": "5"}, None, refused("max_new_tokens must be a number, is a string", 500)),
        "beam-width": (["stops-and-grammars"], {}, {"beam_width": 0}, parameters(ALL), refused("beam_width must be at least 1, got 0.")),
        "stops-33": (["stops-and-grammars"], {}, {"stop": ["a"] * 33}, parameters(ALL), refused("at most 32 stop strings are allowed, got 33")),
        "n-null": (["null"], {}, {"n": None}, None, refused("'>' not supported between instances of 'NoneType' and 'int'", 500)),
        "file": (["config-merge"], FILE, {}, parameters(ALL), {"path": "gumbel"}),
        "null": (["null"], {}, {"top_k": None}, parameters(top_k=(None, "request")), {"path": "gumbel"}),
        "text": (["wrong-type"], {}, {"temperature": "0.5"}, parameters(ALL, temperature=("0.5", "request")), refused("temperature must be a number, is a string", 500)),
        "preferred": (["preferred-inert"], {"preferred": {"top_k": 40}}, {}, parameters(top_k=(40, "preferred")), {"path": "filtered"}),
        "seed": (["seed-mapping"], {}, {"seed": 5}, parameters(ALL, seed=(5, "request")), {"path": "gumbel"}),
    },
}}

# {id: (flags, changes to the neutral parameters, what they become or a refusal)}; upstream.
NORMALIZE = {
    "off": ([], {"top_k": -1}, {"top_k": ALL}),
    "zero": (["falsy-zero", "boundary"], {"temperature": 0.0}, {"temperature": 1.0, "top_k": 1}),
    "below": (["boundary"], {"temperature": math.nextafter(1e-6, 0)}, {"temperature": 1.0, "top_k": 1}),
    "at": (["boundary"], {"temperature": 1e-6}, {"temperature": 1e-6}),
    "presence-two": (["out-of-range"], {"presence_penalty": 2.0}, {"presence_penalty": 2.0}),
    "presence-above": (["out-of-range"], {"presence_penalty": 2.5}, refused("presence_penalty must be in [-2, 2], got 2.5.")),
    "top-k-zero": (["out-of-range"], {"top_k": 0}, refused("top_k must be -1 (disable) or at least 1, got 0.")),
    "top-p-zero": (["out-of-range"], {"top_p": 0.0}, refused("top_p must be in (0, 1], got 0.0.")),
    "top-p-null": (["null"], {"top_p": None}, {"top_p": 1.0}),
    "top-p-text": (["wrong-type"], {"top_p": "1"}, refused("top_p must be a number, is a string", 500)),
}


def path_cases(engine):
    for name, (flags, server, batch, answer) in PATHS[engine].items():
        yield {"id": f"by-hand/{engine}/{name}", "flags": flags, "server": server, "batch": [encoded(one) for one in batch]} | answer


def history_cases(engine):
    for name, (flags, server, events) in HISTORIES[engine].items():
        told = []
        for act, who, request, *states in events:
            step = {"do": act} | ({"id": who} if who else {}) | ({"request": encoded(request)} if request is not None else {})
            told.append(step | {place: state and {"flags": state[0]} | state[1] for place, state in zip(("prefill", "running"), states)})
        yield {"id": f"by-hand/{engine}/{name}", "flags": flags, "server": server, "events": told}


def effective_cases(endpoint, engine):
    for name, (flags, server, request, found, answer) in EFFECTIVE[engine][endpoint].items():
        body = {("sampling_seed" if key == "seed" and endpoint == "generate" else key): value for key, value in request.items()}
        case = {"id": f"by-hand/{engine}/{endpoint}/{name}", "flags": flags, "server": encoded_server(server), "request": encoded(body)}
        yield case | answer | ({"effective": {key: [encode(key, value), layer] for key, (value, layer) in found.items()}} if found else {})


def normalize_cases():
    neutral = {key: value for key, (value, _) in parameters(ALL).items()}
    for name, (flags, changes, answer) in NORMALIZE.items():
        told = answer if "error" in answer else {"normalized": encoded(neutral | changes | answer)}
        yield {"id": f"by-hand/{name}", "flags": flags, "params": encoded(neutral | changes)} | told


def group(engine, cases, endpoint=None):
    return {"source": SOURCE, "version": "1", "engine": engine, "as": "upstream"} | ({"endpoint": endpoint} if endpoint else {}) | {"cases": list(cases)}
