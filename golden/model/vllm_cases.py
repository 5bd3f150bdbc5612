"""vllm_cases.py: the cases of vLLM 0.5.0: its groups in golden/predicate/path.json and history.json and in golden/defaults/ (what only it
has is in vllm_step_cases.py).

The value on each side of every epsilon and bound; absent, null and wrong types at every endpoint; the article's table of seven
parameters.
"""
import math
from itertools import product

import vllm
from defaults import Refused
from engine_values import encode, encoded, outcome

VERSION = "1"
READINGS = ("article-port", "article-prose", "upstream")
GITHUB = "https://github.com/"
VLLM = GITHUB + "vllm-project/vllm/"
NOTES = {
    "any-group": {
        "bug": "None: a step's passes are decided by any() over all its sequence groups.",
        "effect": "One request with top_p, min_p or a penalty makes every neighbour pay for a sort or a count over the whole vocabulary, and may mask tokens of default rows in half precision.",
        "links": [VLLM + "pull/14301"]},
    "epsilon": {
        "bug": "A condition is tested without its epsilon, on a rounded value, or with the wrong one of < and <=.",
        "effect": "A request just beside a threshold is greedy instead of sampled, or makes the step sort.",
        "links": [VLLM + "pull/890"]},
    "vocabulary": {
        "bug": "top_k is compared with the vocabulary before it is cut down to it.",
        "effect": "A client's top_k = 1000000, meant as off, makes every step sort.",
        "links": [VLLM + "pull/7227"]},
    "greedy-reset": {
        "bug": "A greedy request's filters count, or its penalties do not.",
        "effect": "temperature 0 with top_p 0.5 makes the step sort for nothing; or a greedy answer ignores its repetition_penalty.",
        "links": [VLLM + "pull/890"]},
    "top-k-index": {
        "bug": "top_k is not required to be an integer.",
        "effect": "top_k = 0.5 passes the checks and is an index error that fails the whole step.",
        "links": [VLLM + "pull/7227"]},
    "seed-type": {
        "bug": "The seed is not checked where the request is.",
        "effect": "A seed of the wrong type fails the step of everybody beside it.",
        "links": [VLLM + "pull/7227"]},
    "best-of-type": {
        "bug": "best_of is not required to be an integer.",
        "effect": "n = 1.5 passes the checks and fails the whole step where the row is copied.",
        "links": [VLLM + "blob/v0.5.0/vllm/model_executor/layers/sampler.py"]},
    "demonstration": {
        "bug": "The server behind /generate catches nothing.",
        "effect": "A client's bad value is HTTP 500 there and 400 at the OpenAI endpoints: error budgets and retries count it as the server's.",
        "links": [VLLM + "blob/v0.5.0/vllm/entrypoints/api_server.py"]},
    "endpoint-default": {
        "bug": "An endpoint has a table of defaults of its own.",
        "effect": "The same body is sampled at temperature 0.7 by chat and at 1.0 by completions.",
        "links": [VLLM + "blob/v0.5.0/vllm/entrypoints/openai/protocol.py"]},
    "none": {
        "bug": "Null reaches the engine's object as None.",
        "effect": "Clients that serialise unset fields as null get HTTP 500.",
        "links": [VLLM + "blob/v0.5.0/vllm/entrypoints/openai/protocol.py"]},
    "argument": {
        "bug": "A bound moved, a check in another order, or another sentence.",
        "effect": "A request that one release serves is refused by the next, or the client's error handling no longer knows the text.",
        "links": [VLLM + "pull/16403"]},
    "nan": {
        "bug": "A bound asked from outside (x < 0) lets NaN through.",
        "effect": "NaN reaches the sampler: token 0, or a failed step.",
        "links": [VLLM + "blob/v0.5.0/vllm/sampling_params.py"]},
    "type": {
        "bug": "A value of another type than a number dies in a comparison.",
        "effect": "HTTP 500 for a client's mistake.",
        "links": [VLLM + "blob/v0.5.0/vllm/sampling_params.py"]},
    "per-step": {
        "bug": "Flags outlive the request that raised them.",
        "effect": "A request that has finished keeps its neighbours on the slow passes.",
        "links": [VLLM + "pull/14301"]},
}
V = 32000
SERVER = {"vocab": V}
T, K, P, M, R, F, S = "temperature", "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty"


def below(x):
    return math.nextafter(x, -math.inf)


def above(x):
    return math.nextafter(x, math.inf)


E = vllm.EPSILON
PLAIN, GREEDY, SEEDED, BEAM_2 = {}, {T: 0.0}, {"seed": 5}, {"use_beam_search": True, T: 0.0, "best_of": 2}
TABLE = {"temperature": {T: 0.5}, "top-p": {P: 0.9}, "top-k": {K: 50}, "min-p": {M: 0.1}, "presence": {S: 0.5}, "frequency": {F: 0.5},
         "repetition": {R: 1.1}}
# id: (flags, requests)
BATCHES = {
    "empty": ([], []), "table/defaults": ([], [PLAIN]),
    **{f"table/{name}": ([], [one]) for name, one in TABLE.items()},
    **{f"table/{name}-mixed": (["any-group"], [PLAIN, one, GREEDY]) for name, one in TABLE.items()},
    "spelled-out": ([], [{T: 1.0, P: 1.0, K: -1, M: 0.0, S: 0.0, F: 0.0, R: 1.0}]),
    "everything": ([], [{P: 0.9, M: 0.1, R: 1.1}]), "everything-shared-out": (["any-group"], [{P: 0.9}, {M: 0.1}, {R: 1.1}]),
    "temperature-below": (["epsilon"], [{T: below(E)}]), "temperature-epsilon": (["epsilon"], [{T: E}]), "temperature-tiny": (["epsilon"], [{T: 5e-324}]),
    "temperature-minus-zero": (["epsilon"], [{T: -0.0}]), "temperature-false": (["type"], [{T: False}]), "temperature-hot": ([], [{T: 100.0}]),
    "temperature-nan": (["nan"], [{T: float("nan")}]), "temperature-infinite": (["nan"], [{T: float("inf")}]),
    "top-p-below": (["epsilon"], [{P: below(1 - E)}]), "top-p-epsilon": (["epsilon"], [{P: 1 - E}]), "top-p-above": (["epsilon"], [{P: above(1 - E)}]),
    "top-p-below-one": (["epsilon"], [{P: below(1.0)}]), "top-p-float32": (["epsilon"], [{P: 0.9999899864196777}]), "top-p-true": (["type"], [{P: True}]),
    "top-p-tiny": (["epsilon"], [{P: 5e-324}]), "top-k-one": ([], [{K: 1}]), "top-k-vocab-minus-one": (["vocabulary"], [{K: V - 1}]),
    "top-k-vocab": (["vocabulary"], [{K: V}]), "top-k-vocab-plus-one": (["vocabulary"], [{K: V + 1}]), "top-k-large": (["vocabulary"], [{K: 10**6}]),
    "top-k-64-bit": (["vocabulary"], [{K: 2**62}]), "top-k-infinite": (["vocabulary", "nan"], [{K: float("inf")}]),
    "top-k-minus-one-float": (["type"], [{K: -1.0}]), "top-k-half": (["top-k-index"], [PLAIN, {K: 0.5}]),
    "top-k-minus-half": (["top-k-index"], [{K: -0.5}]), "top-k-nan": (["top-k-index", "nan"], [{K: float("nan")}]), "top-k-fraction": (["top-k-index"], [{K: 2.7}]),
    "top-k-true": (["type"], [{K: True}]), "top-k-zero": (["argument"], [{K: 0}]), "top-k-minus-two": (["argument"], [{K: -2}]),
    "min-p-tiny": (["epsilon"], [{M: 5e-324}]), "min-p-epsilon": (["epsilon"], [{M: E}]), "min-p-above": (["epsilon"], [{M: above(E)}]),
    "min-p-below": (["epsilon"], [{M: below(E)}]), "min-p-one": ([], [{M: 1.0}]),
    **{f"{name}-{word}": (["epsilon"], [{key: value}]) for name, key in (("presence", S), ("frequency", F))
       for word, value in (("below", below(E)), ("epsilon", E), ("minus-epsilon", -E), ("minus-below", -below(E)), ("tiny", 5e-324), ("two", 2.0))},
    "repetition-one-plus": (["epsilon"], [{R: 1 + E}]), "repetition-one-plus-below": (["epsilon"], [{R: below(1 + E)}]),
    "repetition-one-minus": (["epsilon"], [{R: 1 - E}]), "repetition-one-minus-below": (["epsilon"], [{R: below(1 - E)}]),
    "repetition-above-one": (["epsilon"], [{R: above(1.0)}]), "repetition-two": ([], [{R: 2.0}]),
    "greedy": ([], [GREEDY]), "greedy-top-p": (["greedy-reset"], [GREEDY | {P: 0.5}]), "greedy-top-k": (["greedy-reset"], [GREEDY | {K: 5}]),
    "greedy-min-p": (["greedy-reset"], [GREEDY | {M: 0.5}]), "greedy-repetition": (["greedy-reset"], [GREEDY | {R: 1.5}]),
    "greedy-presence": (["greedy-reset"], [PLAIN, GREEDY | {S: 1.0}]), "greedy-seed": ([], [GREEDY | SEEDED]), "greedy-all": ([], [GREEDY, GREEDY]),
    "seeded": ([], [SEEDED]), "seed-zero": ([], [{"seed": 0}]), "seed-minus-one": ([], [{"seed": -1}]), "seed-minus-two": ([], [{"seed": -2}]),
    "seed-null": ([], [{"seed": None}]), "seed-text": (["seed-type"], [PLAIN, {"seed": "5"}]), "seed-true": (["seed-type"], [{"seed": True}]),
    "seed-float": (["seed-type"], [{"seed": 5.5}]), "greedy-seed-text": (["seed-type"], [GREEDY | {"seed": "5"}]),
    "beam": ([], [BEAM_2]), "beam-min-p": ([], [BEAM_2 | {M: 0.1}]), "beam-seed": ([], [BEAM_2 | SEEDED]), "beam-penalty": ([], [BEAM_2 | {S: 0.5}]),
    "beam-temperature-epsilon": (["epsilon"], [BEAM_2 | {T: E}]), "beam-temperature-above": (["epsilon"], [BEAM_2 | {T: above(E)}]),
    "beam-top-p-epsilon": (["epsilon"], [BEAM_2 | {P: 1 - E}]), "beam-top-p": (["argument"], [BEAM_2 | {P: 0.9}]),
    "all-types": (["any-group"], [PLAIN, GREEDY, SEEDED, BEAM_2]), "all-types-one-penalised": (["any-group"], [PLAIN, GREEDY, SEEDED | {F: 0.1}, BEAM_2]),
    "sixty-four-one-sorted": (["any-group"], [PLAIN] * 63 + [{P: 0.9}]), "refused-beside-plain": (["argument"], [PLAIN, {P: 0.0}]),
    "seed-before-top-k": (["seed-type", "top-k-index"], [{"seed": "5", K: 0.5}]),
    "best-of-fraction": (["best-of-type"], [PLAIN, {"best_of": 1.5}]), "best-of-nan": (["best-of-type", "nan"], [{"best_of": float("nan")}]),
    "best-of-fraction-beam": (["best-of-type"], [BEAM_2 | {"best_of": 1.5}]), "best-of-nan-greedy": (["best-of-type", "nan"], [GREEDY | {"best_of": float("nan")}]),
    "best-of-true": (["type"], [{"best_of": True}]), "greedy-two": (["argument"], [GREEDY | {"n": 2}]), "best-of": ([], [{"best_of": 4, "n": 2}]),
}
TEXTS = {f"{key.replace('_', '-')}-text": {key: "0.5"} for key in (T, K, P, M, R, F, S)}


def constructed(reading, endpoint, request):
    found = vllm.effective(reading, endpoint, request)
    return vllm.construct_at(reading, endpoint, {key: value for key, (value, _) in found.items()})


def path_case(identity, flags, reading, server, batch):
    def compute():
        made, profiles = [], []
        for one in batch:  # a request that is refused is named first
            made.append(constructed(reading, "generate", one))
            profiles.append(vllm.profile(reading, server, made[-1]))
        return vllm.path_of_batch(reading, server, made)

    return {"id": f"{reading}/{vllm.ENGINE}/{identity}", "flags": flags, "server": server, "batch": [encoded(one) for one in batch]} | outcome(compute)


def path_cases(reading):
    batches = dict(BATCHES)
    if reading != "upstream":  # what the constructor would refuse or rewrite, the article takes
        batches |= {name: (["type"], [one]) for name, one in TEXTS.items()}
    for name, (flags, batch) in batches.items():
        yield path_case(name, flags, reading, SERVER, batch)
    yield path_case("no-vocabulary", ["vocabulary"], reading, {}, [PLAIN])
    for vocab in (50, 51, 151936):
        yield path_case(f"top-k-50-of-{vocab}", ["vocabulary"], reading, {"vocab": vocab}, [{K: 50}])


A, J, D, X = "admit", "join", "finish", "filter"
HISTORIES = {
    "plain-alone": ([], [(A, "a", PLAIN), (J,), (D, "a"), (X,)]),
    "forgotten-at-once": (["per-step"], [(A, "a", PLAIN), (J,), (A, "b", {P: 0.9}), (J,), (D, "b"), (A, "c", GREEDY), (X,), (J,)]),
    "finished-at-prefill": (["per-step"], [(A, "a", {R: 1.1}), (A, "b", PLAIN), (D, "a"), (J,)]),
    "finished-at-prefill-alone": (["per-step"], [(A, "a", PLAIN), (J,), (A, "b", {M: 0.1}), (D, "b"), (J,)]),
    "prompts-have-their-own": (["per-step", "any-group"], [(A, "a", {P: 0.9}), (J,), (A, "b", SEEDED), (J,)]),
    "types-come-and-go": (["per-step"], [(A, "a", GREEDY), (A, "b", BEAM_2), (J,), (D, "b"), (A, "c", SEEDED | {S: 1.0}), (J,), (D, "a"), (X,)]),
    "two-lives": (["per-step"], [(A, "a", {K: 5}), (J,), (D, "a"), (X,), (A, "b", PLAIN), (J,)]),
}


def history_case(identity, flags, reading, events):
    profiles, done, shown = {}, [], []
    for event in events:
        if event[0] == A:
            profiles[event[1]] = vllm.profile(reading, SERVER, constructed(reading, "generate", event[2]))
        done.append(event[:2])
        step = {"do": event[0]} | ({"id": event[1]} if len(event) > 1 else {}) | ({"request": encoded(event[2])} if len(event) > 2 else {})
        for name, state in zip(("prefill", "running"), vllm.states(profiles, done)):
            step[name] = None if state is None else {"flags": vllm.letters(state)} | vllm.path(reading, state)
        shown.append(step)
    return {"id": f"{reading}/{vllm.ENGINE}/{identity}", "flags": flags, "server": SERVER, "events": shown}


# id: (flags, changes): sent to every endpoint and, laid over the object's own defaults, to its constructor.
WRONG = {"text": "1", "word": "x", "null": None, "true": True, "false": False, "array": [], "object": {}, "nan": float("nan")}
ARGUMENTS = {
    "defaults": ([], {}), "all-default": ([], {key: value for key, value in vllm.OBJECT.items() if value is not None and key != "detokenize"}),
    "n-zero": (["argument"], {"n": 0}), "n-two": ([], {"n": 2}), "n-two-greedy": (["argument"], GREEDY | {"n": 2}), "best-of-four": ([], {"best_of": 4}),
    "best-of-below-n": (["argument"], {"n": 3, "best_of": 2}), "best-of-zero": (["argument"], {"best_of": 0}), "best-of-four-greedy": (["argument"], GREEDY | {"best_of": 4}),
    "best-of-at-epsilon": (["epsilon"], {T: E, "best_of": 2}), "best-of-below-epsilon": (["epsilon"], {T: below(E), "best_of": 2}),
    **{f"{name}-{word}": (["argument"], {key: value}) for name, key in (("presence", S), ("frequency", F))
       for word, value in (("low", -2.0), ("below", below(-2.0)), ("high", 2.0), ("above", above(2.0)))},
    "repetition-zero": (["argument"], {R: 0.0}), "repetition-tiny": ([], {R: 5e-324}), "repetition-two": ([], {R: 2.0}), "repetition-above": (["argument"], {R: above(2.0)}),
    "temperature-zero": (["greedy-reset"], GREEDY), "temperature-negative": (["argument"], {T: -5e-324}), "temperature-minus-one": (["argument"], {T: -1.0}),
    "temperature-below": (["epsilon"], {T: below(E)}), "temperature-epsilon": (["epsilon"], {T: E}), "temperature-infinite": (["nan"], {T: float("inf")}),
    "greedy-resets": (["greedy-reset"], GREEDY | {P: 0.5, K: 5, M: 0.5}), "greedy-keeps": (["greedy-reset"], GREEDY | {S: 1.0, F: 1.0, R: 1.5, "seed": 3}),
    "greedy-bad-top-p": (["greedy-reset"], GREEDY | {P: 5.0}), "top-p-zero": (["argument"], {P: 0.0}), "top-p-tiny": ([], {P: 5e-324}), "top-p-above": (["argument"], {P: above(1.0)}),
    "top-k-zero": (["argument"], {K: 0}), "top-k-minus-two": (["argument"], {K: -2}), "top-k-one": ([], {K: 1}), "top-k-large": (["vocabulary"], {K: 2**62}),
    "min-p-negative": (["argument"], {M: -5e-324}), "min-p-one": ([], {M: 1.0}), "min-p-above": (["argument"], {M: above(1.0)}),
    "max-tokens-zero": (["argument"], {"max_tokens": 0}), "max-tokens-one": ([], {"max_tokens": 1}), "max-tokens-null": ([], {"max_tokens": None}),
    "min-tokens-negative": (["argument"], {"min_tokens": -1}), "min-tokens-at-most": ([], {"min_tokens": 16, "max_tokens": 16}),
    "min-tokens-above-most": (["argument"], {"min_tokens": 17, "max_tokens": 16}), "min-tokens-unbounded": ([], {"min_tokens": 999, "max_tokens": None}),
    "logprobs-negative": (["argument"], {"logprobs": -1}), "logprobs-zero": ([], {"logprobs": 0}), "prompt-logprobs-negative": (["argument"], {"prompt_logprobs": -1}),
    "truncate-zero": (["argument"], {"truncate_prompt_tokens": 0}), "truncate-one": ([], {"truncate_prompt_tokens": 1}),
    "stop": ([], {"stop": "\n"}), "stop-empty": (["argument"], {"stop": ""}), "stop-list": ([], {"stop": []}), "stop-without-text": (["argument"], {"stop": "x", "detokenize": False}),
    "seed-minus-one": ([], {"seed": -1}), "seed-64-bit": ([], {"seed": 2**63 - 1}), "seed-low": ([], {"seed": -2**63}),
    "beam": ([], BEAM_2), "beam-one": (["argument"], BEAM_2 | {"best_of": 1}), "beam-of-n": ([], {"use_beam_search": True, T: 0.0, "n": 3}),
    "beam-temperature-epsilon": (["epsilon"], BEAM_2 | {T: E}), "beam-temperature-above": (["epsilon"], BEAM_2 | {T: above(E)}),
    "beam-default-temperature": (["argument", "endpoint-default"], {"use_beam_search": True, "best_of": 2}),
    "beam-top-p-epsilon": (["epsilon"], BEAM_2 | {P: 1 - E}), "beam-top-p-below": (["epsilon"], BEAM_2 | {P: below(1 - E)}), "beam-top-k": (["argument"], BEAM_2 | {K: 5}),
    "beam-keeps": (["greedy-reset"], BEAM_2 | {M: 0.1, S: 0.5, "seed": 3, "length_penalty": 2.0}),
    "beam-early-true": ([], BEAM_2 | {"early_stopping": True}), "beam-early-never": ([], BEAM_2 | {"early_stopping": "never"}),
    "beam-early-other": (["argument"], BEAM_2 | {"early_stopping": "always"}), "beam-early-one": (["type"], BEAM_2 | {"early_stopping": 1}),
    "beam-early-two": (["type"], BEAM_2 | {"early_stopping": 2}), "beam-early-null": (["none"], BEAM_2 | {"early_stopping": None}),
    "early-true": (["argument"], {"early_stopping": True}), "early-zero": (["type"], {"early_stopping": 0}),
    "length-above": (["epsilon"], {"length_penalty": above(1 + E)}), "length-high": (["epsilon"], {"length_penalty": 1 + E}),
    "length-low": (["epsilon"], {"length_penalty": 1 - E}), "length-below": (["epsilon"], {"length_penalty": below(1 - E)}), "length-two": (["argument"], {"length_penalty": 2.0}),
    "first-is-n": (["argument"], {"n": 0, S: 9.0}), "presence-before-frequency": (["argument"], {S: 9.0, F: 9.0}), "temperature-before-top-p": (["argument"], {T: -1.0, P: 0.0}),
    "top-p-before-top-k": (["argument"], {P: 0.0, K: 0}), "top-k-before-min-p": (["argument"], {K: 0, M: 9.0}), "beam-after-arguments": (["argument"], BEAM_2 | {P: 0.5, "stop": ""}),
    "early-before-length": (["argument"], {"early_stopping": True, "length_penalty": 2.0}), "top-k-half": (["top-k-index"], {K: 0.5}), "top-k-minus-half": (["top-k-index"], {K: -0.5}),
    "n-fraction": (["type"], {"n": 1.5}), "seed-text": (["seed-type"], {"seed": "5"}), "seed-fraction": (["seed-type"], {"seed": 5.5}),
}
ARGUMENTS |= {f"wrong/{key.replace('_', '-')}-{word}": (["none"] if value is None else ["nan"] if value != value else ["type"], {key: value})
              for key in vllm.PARAMETERS for word, value in WRONG.items()}
OF_ARTICLE = ("defaults", "n-two", "best-of-four", "temperature-zero", "temperature-negative", "greedy-resets", "top-p-zero", "top-k-zero", "top-k-large",
              "best-of-four-greedy", "seed-minus-one", "beam", "beam-default-temperature", "wrong/temperature-null", "wrong/top-k-text", "wrong/seed-null")


def arguments(reading):
    return {name: ARGUMENTS[name] for name in OF_ARTICLE} if reading != "upstream" else ARGUMENTS


def effective_case(identity, flags, reading, endpoint, request):
    case = {"id": f"{reading}/{vllm.ENGINE}/{endpoint}/{identity}", "flags": flags, "server": SERVER, "request": encoded(request)}
    found = {}

    def route():
        found.update(vllm.effective(reading, endpoint, request))
        made = vllm.construct_at(reading, endpoint, {key: value for key, (value, _) in found.items()})
        return vllm.path_of_batch(reading, SERVER, [made])

    result = outcome(route)
    told = {key: [encode(key, value), layer] for key, (value, layer) in found.items()}
    return case | ({"effective": told} if found else {}) | result


def effective_cases(reading, endpoint):
    if endpoint == "responses":
        yield effective_case("defaults", ["endpoint-default"], reading, endpoint, {})
        return
    for name, (flags, request) in arguments(reading).items():
        # of a key that the endpoint lacks, its schema says more than is told here
        if not set(request) & set(vllm.ABSENT[endpoint]):
            more = ["endpoint-default"] * (not request) + ["demonstration"] * (reading == "upstream" and endpoint == "generate" and "argument" in flags)
            yield effective_case(name, flags + more, reading, endpoint, request)


def normalize_case(identity, flags, reading, changes):
    own = {key: vllm.OBJECT[key] for key in (vllm.PARAMETERS if reading == "upstream" else vllm.IN_ARTICLE)} | changes
    return {"id": f"{reading}/{vllm.ENGINE}/{identity}", "flags": flags, "params": encoded(own)} | \
        outcome(lambda: {"normalized": encoded(vllm.construct(reading, own))})


def normalize_cases(reading):
    return [normalize_case(name, flags, reading, changes) for name, (flags, changes) in arguments(reading).items()]


def group(reading, cases, more=None):
    return {"source": "golden/model/vllm_cases.py", "version": VERSION, "engine": vllm.ENGINE, "as": reading} | (more or {}) | {"cases": list(cases)}


def path_groups():
    return [group(reading, path_cases(reading)) for reading in READINGS]


def history_groups():
    return [group(reading, (history_case(name, flags, reading, events) for name, (flags, events) in HISTORIES.items())) for reading in READINGS]


def effective_groups():
    return [group(reading, effective_cases(reading, endpoint), {"endpoint": endpoint}) for reading in READINGS
            for endpoint in ("chat", "responses", "completions", "generate")]


def normalize_groups():
    return [group(reading, normalize_cases(reading)) for reading in READINGS]


# Full products: see products.py.
PRODUCT_SERVERS = [SERVER, {"vocab": 50}]
EDGES = [[{}, {T: 0.0}, {T: below(E)}, {T: E}], [{}, {K: 0}, {K: 0.5}, {K: 49}, {K: 50}, {K: 51}, {K: V + 1}],
         [{}, {P: below(1 - E)}, {P: 1 - E}, {P: 0.0}], [{}, {M: E}, {M: above(E)}], [{}, {S: E}, {S: below(E)}, {R: 1 + E}, {R: 1 - E}],
         [{}, {"seed": 7}], [{}, {"best_of": 2}, {"best_of": 2, "use_beam_search": True}]]
MATES = [GREEDY, SEEDED | {P: 0.9}, BEAM_2 | {M: 0.1}, {F: 0.5}]
STATES = [[{}, {T: None}, {T: 0.0}, {T: 0.7}], [{}, {K: None}, {K: -1}, {K: 0}, {K: 20}], [{}, {P: None}, {P: 1.0}, {P: 0.9}], [{}, {"n": None}, {"n": 2}, {"n": "2"}],
          [{}, {"best_of": None}, {"best_of": 2}], [{}, {"use_beam_search": True}, {"use_beam_search": "yes"}], [{}, {"early_stopping": True}]]
ENDPOINTS = ["chat", "responses", "completions", "generate"]
KINDS = [["P--G---", "-k---S-"], ["-k--R--", "--m---B"], ["---G---"]]


def merged(parts):
    return {key: value for part in parts for key, value in part.items()}


def told(result):
    return " ".join(str(value) for value in result.values())


def path_lines(reading):
    indices = list(product(*[range(len(axis)) for axis in EDGES]))
    requests = [merged(axis[i] for axis, i in zip(EDGES, index)) for index in indices]
    for s, server in enumerate(PRODUCT_SERVERS):
        def prepared(request):
            try:
                return vllm.profile(reading, server, constructed(reading, "generate", request))
            except Refused as refused:
                return f"{refused.status} {refused.text}"

        beside = [None] + [prepared(mate) for mate in MATES]
        for index, request in zip(indices, requests):
            one = prepared(request)
            for m, mate in enumerate(beside):
                batch = [one] if mate is None else [one, mate]
                bad = [each for each in batch if isinstance(each, str)]
                result = bad[0] if bad else told(vllm.path(reading, frozenset().union(*batch)))
                yield f"{s} {' '.join(map(str, index))} {m}: {result}\n"


def request_lines(reading):
    for s, server in enumerate(PRODUCT_SERVERS[:1]):
        for e, endpoint in enumerate(ENDPOINTS):
            for index in product(*[range(len(axis)) for axis in STATES]):
                request, found = merged(axis[i] for axis, i in zip(STATES, index)), {}
                try:
                    found = vllm.effective(reading, endpoint, request)
                    made = vllm.construct_at(reading, endpoint, {key: value for key, (value, _) in found.items()})
                    result = told(vllm.path_of_batch(reading, server, [made]))
                except Refused as refused:
                    result = f"{refused.status} {refused.text}"
                params = "".join(f"{key}={value}/{layer} " for key, (value, layer) in found.items())
                yield f"{s} {e} {' '.join(map(str, index))}: {params}{result}\n"
