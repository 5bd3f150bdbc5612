"""predicate_cases.py: golden/predicate/path.json and history.json: the value on each side of every condition, and short histories.

path.json: a case's batch is sent to /generate, whose absent fields are neutral. history.json: events as the scheduler does them;
after each, the flags and the path of the prefill batch and of the running batch, null where it has no rows.
"""
import math

import by_hand
import defaults
import predicate
import vllm_cases
from engine_values import encoded, encoded_server, outcome
from files import family_text, write_text

VERSION = "3"
NEW, OLD, NEWEST = "sglang-0.5.20", "sglang-0.5.19", "sglang-0.5.23"
GITHUB = "https://github.com/"
NOTES = {
    "one-request-decides": {
        "bug": "The path is chosen for the whole batch by any() over its requests.",
        "effect": "One request with top_k, top_p, min_p or temperature 0 takes every neighbour off the fast path; a benchmark on uniform traffic does not show it.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117", GITHUB + "sgl-project/sglang/pull/29795"]},
    "sticky-flags": {
        "bug": "Flags of a batch are joined when requests arrive and not recomputed when they leave.",
        "effect": "A request that has finished keeps its neighbours on the filtered path until the running batch has no rows when the next prefill is adopted.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117", GITHUB + "sgl-project/sglang/pull/29795"]},
    "greedy-merge": {
        "bug": "is_all_greedy is ORed, or kept from one side, when batches are merged.",
        "effect": "Sampled requests get the argmax, or greedy ones are sampled.",
        "links": [GITHUB + "sgl-project/sglang/pull/6055"]},
    "boundary": {
        "bug": "A condition is tested on a rounded value, or with the wrong one of < and <=.",
        "effect": "A request just beside a threshold is greedy instead of sampled, or loses the fast path, and no average shows it.",
        "links": [GITHUB + "vllm-project/vllm/pull/890"]},
    "switch-spelling": {
        "bug": "The switch's value is not one of the accepted spellings, and the default is used with only a warning.",
        "effect": "An A/B run with SGLANG_OPT_USE_GUMBEL_SAMPLE=off measures the new code twice.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117"]},
    "seed-with-filter": {
        "bug": "The article's text puts a deterministic server on the seeded path; upstream a filtered batch stays in the filtered sampler, seeded by rank.",
        "effect": "A seeded request draws another token when a neighbour is filtered.",
        "links": [GITHUB + "sgl-project/sglang/pull/35697"]},
    "seed-with-min-p": {
        "bug": "min_p and a seed together are an assertion in the pytorch backend.",
        "effect": "One request with min_p fails the whole step on a deterministic server.",
        "links": [GITHUB + "sgl-project/sglang/issues/33695", GITHUB + "sgl-project/sglang/pull/33699"]},
    "not-verified": {
        "bug": "The article's code takes top_k = 0 or -5 for greedy; the engine refuses the request.",
        "effect": "A route computed with the article's code says greedy for requests that get HTTP 400.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117"]},
    "top-k-overflow": {
        "bug": "top_k has no upper bound, and the batch keeps it in 32 bits.",
        "effect": "One request with top_k of 2^31 or more fails the step for all its neighbours.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117"]},
    "noise-key": {
        "bug": "The noise of a seeded draw is made for the token's rank in the sorted row on the filtered path, and for its id elsewhere.",
        "effect": "Same seed, same prompt, another token, because a neighbour asked for top_p; ascend's kernel, which leaves ids in place, differs again.",
        "links": [GITHUB + "sgl-project/sglang/pull/35697"]},
    "seed-overflow": {
        "bug": "A seed that int64 does not hold is found out when the batch is built, not when the request is checked (until 0.5.23).",
        "effect": "One request's seed fails the step for all its neighbours on a deterministic server, and nothing happens on others.",
        "links": [GITHUB + "sgl-project/sglang/issues/15481"]},
    "ascend": {
        "bug": "A backend with a sampler of its own is left out when the draw is changed, and kept when deterministic inference forces another.",
        "effect": "The same release draws by multinomial there, and min_p with a seed is drawn where pytorch fails.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117", GITHUB + "sgl-project/sglang/issues/33695"]},
    "ascend-min-p": {
        "bug": "Behind the kernel that filters by top_k and top_p, min_p is multiplied with the pair that torch's max() returns.",
        "effect": "One request with min_p fails the step for all its neighbours if every one has a top_k from 1 to 1024; with another top_k among them it does not.",
        "links": []},
    "every-round": {
        "bug": "None: until 0.5.20 ended rows leave the running batch before a decode step; 0.5.23 drops them in every round of the scheduler.",
        "effect": "A prefill batch that follows the end of all running requests starts afresh, where it used to inherit their flags.",
        "links": []},
    "intel-xpu": {
        "bug": "A device has no backend of its own until 0.5.23; there the backend is refused on any other device.",
        "effect": "An upgrade moves filtered traffic from sorting in pytorch to fused kernels.",
        "links": []},
    "draft-switch": {
        "bug": "One switch turns two samplers: in 0.5.19 the draft's alone, from 0.5.20 the main one's too; 0.5.23 draws drafts from seeds if deterministic.",
        "effect": "An A/B run with the switch measures both at once under speculative decoding, and on 0.5.19 changes no main token.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117"]},
    "bounded-top-k": {
        "bug": "None: from 0.5.23 a batch in which every request has a finite top_k sorts no more tokens than the largest, also after that request has left.",
        "effect": "Unseeded tokens of the pytorch backend change with the upgrade, and with who else is in the batch.",
        "links": []},
    "mixed-chunk": {
        "bug": "With mixed chunks the running batch is merged into the new prefill batch, its flags with it.",
        "effect": "Starting afresh needs a batch without rows, and a prefill that carries the old rows along is none: stale flags travel on.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117"]},
    "version": {
        "bug": "None: the releases differ in the draw of the plain case, and in nothing else of the path's name.",
        "effect": "An upgrade from 0.5.19 to 0.5.20 changes the plain path from multinomial to gumbel.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117"]},
}
BELOW_EPSILON, BELOW_ONE, TINY = math.nextafter(1e-6, 0), math.nextafter(1, 0), 5e-324

PLAIN, GREEDY, TOP_K, TOP_P, MIN_P = {}, {"temperature": 0.0}, {"top_k": 20}, {"top_p": 0.95}, {"min_p": 0.05}
# id: (flags, requests). Neutral fields are left out.
BATCHES = {
    "empty": (["boundary"], []),
    "plain": ([], [PLAIN]),
    "plain-warm": ([], [{"temperature": 0.7}, {"temperature": 1.5}]),
    "all-fields-neutral": ([], [{"temperature": 1.0, "top_k": -1, "top_p": 1.0, "min_p": 0.0}]),
    "greedy": ([], [GREEDY]),
    "greedy-by-top-k": ([], [{"temperature": 0.7, "top_k": 1}]),
    "greedy-all": ([], [GREEDY, {"top_k": 1}, GREEDY]),
    "greedy-with-top-p": (["boundary"], [{"temperature": 0.0, "top_p": 0.5}]),
    "greedy-with-min-p": (["boundary"], [{"temperature": 0.0, "min_p": 0.5}]),
    "greedy-over-top-k": (["boundary"], [{"temperature": 0.0, "top_k": 20}]),
    "top-k": ([], [TOP_K]),
    "top-p": ([], [TOP_P]),
    "min-p": ([], [MIN_P]),
    "temperature-below-epsilon": (["boundary"], [{"temperature": BELOW_EPSILON}]),
    "temperature-epsilon": (["boundary"], [{"temperature": 1e-6}]),
    "temperature-minus-zero": (["boundary"], [{"temperature": -0.0}]),
    "temperature-tiny": (["boundary"], [{"temperature": TINY}]),
    "temperature-negative": (["boundary"], [{"temperature": -1e-9}]),
    "top-p-below-one": (["boundary"], [{"top_p": BELOW_ONE}]),
    "top-p-one": (["boundary"], [{"top_p": 1.0}]),
    "top-p-rounds-to-one": (["boundary"], [{"top_p": 0.9999999999}]),
    "top-p-zero": (["boundary", "not-verified"], [{"top_p": 0.0}]),
    "top-k-two": (["boundary"], [{"top_k": 2}]),
    "top-k-vocab": (["boundary"], [{"top_k": 151936}]),
    "top-k-all-minus-one": (["boundary"], [{"top_k": 2**30 - 1}]),
    "top-k-all": (["boundary"], [{"top_k": 2**30}]),
    "top-k-all-plus-one": (["boundary"], [{"top_k": 2**30 + 1}]),
    "top-k-int32-max": (["boundary"], [{"top_k": 2**31 - 1}]),
    "top-k-int32-overflow": (["top-k-overflow"], [PLAIN, {"top_k": 2**31}]),
    "top-k-zero": (["not-verified", "boundary"], [{"top_k": 0}]),
    "top-k-minus-five": (["not-verified"], [{"top_k": -5}]),
    "min-p-tiny": (["boundary"], [{"min_p": TINY}]),
    "min-p-float32-zero": (["boundary"], [{"min_p": 1e-50}]),
    "min-p-one": (["boundary"], [{"min_p": 1.0}]),
    "plain-and-greedy": (["one-request-decides"], [PLAIN, GREEDY]),
    "greedy-and-plain": (["one-request-decides"], [GREEDY, PLAIN]),
    "plain-and-top-k": (["one-request-decides"], [PLAIN, PLAIN, TOP_K]),
    "plain-and-top-p": (["one-request-decides"], [TOP_P, PLAIN]),
    "plain-and-min-p": (["one-request-decides"], [PLAIN, MIN_P, PLAIN]),
    "greedy-and-top-p": (["one-request-decides"], [GREEDY, TOP_P]),
    "thirty-two-one-filtered": (["one-request-decides"], [PLAIN] * 31 + [TOP_K]),
}
# Upstream only: what the article's code has no words for.
BEYOND = 2**63
UPSTREAM_BATCHES = {
    "top-k-2-63": (["top-k-overflow"], [{"top_k": BEYOND}]),
    "top-k-fraction": (["boundary"], [{"top_k": 20.5}]),
    "top-k-below-two": (["boundary"], [{"top_k": 1.5}, {"top_k": 1}]),
    "seed-unused": (["seed-overflow"], [{"sampling_seed": BEYOND}, PLAIN]),
    "seed-text-unused": (["seed-overflow"], [{"sampling_seed": "5"}]),
    "seed-fraction-unused": (["seed-overflow"], [{"sampling_seed": 1.5}]),
    "two-top-k": (["bounded-top-k"], [TOP_K, {"top_k": 5}]),
    "top-k-and-greedy": (["bounded-top-k"], [TOP_K, GREEDY]),
    "top-k-and-top-p": (["bounded-top-k"], [TOP_K, TOP_P]),
    "two-top-k-large": (["bounded-top-k", "noise-key"], [TOP_K, {"top_k": 1025}]),
}
ASCEND_BATCHES = {
    "top-k-and-min-p": (["ascend-min-p"], [{"top_k": 20, "min_p": 0.05}]),
    "top-k-beside-min-p": (["ascend-min-p"], [TOP_K, {"top_k": 1, "min_p": 0.05}]),
    "greedy-beside-min-p": (["ascend-min-p"], [GREEDY, {"top_k": 1024, "min_p": 0.05}]),
    "all-greedy-and-min-p": (["ascend-min-p", "boundary"], [GREEDY, {"top_k": 1, "min_p": 0.05}]),
    "top-k-1025-and-min-p": (["ascend-min-p", "boundary"], [{"top_k": 1025, "min_p": 0.05}]),
    "top-k-and-min-p-beside-plain": (["ascend-min-p"], [{"top_k": 20, "min_p": 0.05}, PLAIN]),
}
SEEDED_BATCHES = {
    "seed-beyond": (["seed-overflow"], [{"sampling_seed": BEYOND}, PLAIN]),
    "seed-beyond-greedy": (["seed-overflow"], [{"sampling_seed": BEYOND} | GREEDY]),
    "seed-text": (["seed-overflow"], [{"sampling_seed": "5"}]),
    "seed-fraction": (["seed-overflow"], [{"sampling_seed": 1.5}]),
    "seed-highest": (["seed-overflow"], [{"sampling_seed": 2**63 - 1}, {"sampling_seed": -2**63}]),
    "top-k-1024": (["noise-key", "boundary"], [{"top_k": 1024}, GREEDY]),
    "top-k-1025": (["noise-key", "boundary"], [{"top_k": 1025}, GREEDY]),
    "top-k-and-plain": (["noise-key"], [TOP_K, PLAIN]),
}
ON_SERVERS = ("plain", "greedy", "greedy-all", "top-k", "top-p", "min-p", "plain-and-greedy", "plain-and-top-k", "plain-and-min-p")
# id: (flags, server).
SERVERS = {
    "switch-0": ([], {"switch": "0"}),
    "deterministic": (["seed-with-filter"], {"deterministic": True}),
    "deterministic-switch-0": (["seed-with-filter"], {"deterministic": True, "switch": "0"}),
    "cpu": ([], {"device": "cpu"}),
    "cpu-flashinfer": ([], {"device": "cpu", "backend": "flashinfer"}),
    "pytorch": ([], {"backend": "pytorch"}),
    "deterministic-flashinfer": (["seed-with-filter"], {"deterministic": True, "backend": "flashinfer"}),
}
UPSTREAM_SERVERS = {
    "ascend": (["ascend"], {"backend": "ascend"}),
    "ascend-deterministic": (["ascend", "noise-key"], {"backend": "ascend", "deterministic": True}),
    "ascend-cpu": (["ascend"], {"backend": "ascend", "device": "cpu"}),
    "xpu": (["intel-xpu"], {"device": "xpu"}),
    "xpu-pytorch": (["intel-xpu", "bounded-top-k"], {"device": "xpu", "backend": "pytorch"}),
    "xpu-deterministic": (["intel-xpu"], {"device": "xpu", "deterministic": True}),
    "draft": (["draft-switch"], {"draft": True}),
    "draft-switch-0": (["draft-switch"], {"draft": True, "switch": "0"}),
    "draft-switch-off": (["draft-switch", "switch-spelling"], {"draft": True, "switch": "off"}),
    "draft-deterministic": (["draft-switch"], {"draft": True, "deterministic": True, "switch": "0"}),
}
SPELLINGS = ("1", "true", "True", "yes", "Y", "0", "false", "FALSE", "no", "No", "n", "", " 0", "0 ", "off", "on", "f", "2", "None")


def path_case(identity, flags, reading, engine, server, batch):
    def compute():
        requests = []
        for one in batch:
            found = defaults.effective(reading, "generate", one, {}, engine)
            params = defaults.normalize(reading, {key: value for key, (value, _) in found.items()})
            defaults.verify(reading, params, engine)
            requests.append(params)
        return predicate.path_of_batch(reading, engine, server, requests)

    result = outcome(compute)
    if result.get("error") == predicate.SEEDED_MIN_P:
        flags = flags + ["seed-with-min-p"]
    return {"id": f"{reading}/{engine}/{identity}", "flags": flags, "server": server, "batch": [encoded(one) for one in batch]} | result


def path_cases(reading, engine):
    yield from (path_case(name, flags, reading, engine, {}, batch) for name, (flags, batch) in BATCHES.items())
    if reading == "article-port":  # its code knows one server option
        yield from (path_case(f"{name}@deterministic", SERVERS["deterministic"][0], reading, engine, {"deterministic": True}, BATCHES[name][1])
                    for name in ON_SERVERS)
        wrong = {"top-k-text": {"top_k": "20"}, "min-p-text": {"min_p": "0.1"}, "temperature-text": {"temperature": "0"}, "top-p-text": {"top_p": "1.0"}}
        yield from (path_case(name, ["not-verified"], reading, engine, {}, [one]) for name, one in wrong.items())
        return
    for server, (flags, options) in SERVERS.items():
        if reading == "upstream" or "device" not in options and "backend" not in options:
            yield from (path_case(f"{name}@{server}", flags, reading, engine, options, BATCHES[name][1]) for name in ON_SERVERS)
    yield from (path_case(f"switch/{spelling!r}", ["switch-spelling"], reading, engine, {"switch": spelling}, [PLAIN]) for spelling in SPELLINGS)


def upstream_cases(engine):
    """What a release does, and where no other reading has words for it; the same batches for all three."""
    for case in path_cases("upstream", engine):
        yield case | ({} if engine == NEW else {"flags": case["flags"] + ["version"] * ("version" not in case["flags"])})
    yield from (path_case(name, flags, "upstream", engine, {}, batch) for name, (flags, batch) in UPSTREAM_BATCHES.items())
    yield from (path_case(f"{name}@pytorch", flags, "upstream", engine, {"backend": "pytorch"}, batch) for name, (flags, batch) in UPSTREAM_BATCHES.items()
                if "bounded-top-k" in flags)
    for server, (flags, options) in UPSTREAM_SERVERS.items():
        yield from (path_case(f"{name}@{server}", flags, "upstream", engine, options, BATCHES[name][1]) for name in ON_SERVERS)
    for server in ("deterministic", "ascend-deterministic"):
        options = (SERVERS | UPSTREAM_SERVERS)[server][1]
        yield from (path_case(f"{name}@{server}", flags, "upstream", engine, options, batch) for name, (flags, batch) in SEEDED_BATCHES.items())
    for server in ("ascend", "ascend-deterministic"):
        options = UPSTREAM_SERVERS[server][1]
        yield from (path_case(f"{name}@{server}", flags, "upstream", engine, options, batch) for name, (flags, batch) in ASCEND_BATCHES.items())
    if engine == NEWEST:
        yield from (path_case(f"plain@intel-xpu-on-{device}", ["intel-xpu"], "upstream", engine, {"device": device, "backend": "intel_xpu"}, [PLAIN])
                    for device in ("cuda", "cpu", "xpu"))


A, J, F, X, M = "admit", "join", "finish", "filter", "mix"
# id: (flags, events); an admitted request is (A, id, parameters).
HISTORIES = {
    "plain-alone": ([], [(A, "a", PLAIN), (J,), (F, "a"), (X,)]),
    "sticky-top-p": (["sticky-flags"], [(A, "a", PLAIN), (J,), (A, "b", TOP_P), (J,), (F, "b"), (X,), (F, "a"), (X,)]),
    "sticky-until-drained": (["sticky-flags"], [(A, "a", TOP_K), (A, "b", PLAIN), (J,), (F, "a"), (X,), (A, "c", PLAIN), (J,), (F, "b"), (X,),
                                                (F, "c"), (X,), (A, "d", PLAIN), (J,)]),
    "sticky-min-p": (["sticky-flags"], [(A, "a", MIN_P), (A, "b", PLAIN), (J,), (F, "a"), (X,)]),
    "greedy-stays-filtered": (["sticky-flags", "greedy-merge"], [(A, "a", GREEDY), (J,), (A, "b", PLAIN), (J,), (F, "b"), (X,)]),
    "greedy-joined-by-greedy": (["greedy-merge"], [(A, "a", GREEDY), (J,), (A, "b", {"top_k": 1}), (J,)]),
    "greedy-joined-by-plain": (["greedy-merge", "one-request-decides"], [(A, "a", GREEDY), (J,), (A, "b", PLAIN), (J,)]),
    "plain-joined-by-greedy": (["greedy-merge", "one-request-decides"], [(A, "a", PLAIN), (J,), (A, "b", GREEDY), (J,), (F, "b"), (X,)]),
    "order-does-not-matter": (["greedy-merge"], [(A, "a", TOP_P), (J,), (A, "b", GREEDY), (J,), (A, "c", MIN_P), (J,)]),
    "finished-at-prefill-with-mate": (["sticky-flags"], [(A, "a", GREEDY), (A, "b", PLAIN), (F, "a"), (J,)]),
    "finished-at-prefill-alone": (["sticky-flags"], [(A, "a", PLAIN), (J,), (A, "b", GREEDY), (F, "b"), (J,)]),
    "prefill-has-its-own-flags": ([], [(A, "a", TOP_P), (J,), (A, "b", PLAIN), (J,)]),
    "finished-but-not-filtered": (["sticky-flags"], [(A, "a", TOP_P), (J,), (F, "a"), (A, "b", PLAIN), (J,), (X,)]),
    "filtered-before-join": (["sticky-flags"], [(A, "a", TOP_P), (J,), (F, "a"), (A, "b", PLAIN), (X,), (J,)]),
    "prefill-all-finished-is-dropped": ([], [(A, "a", TOP_P), (F, "a"), (J,), (A, "b", PLAIN), (J,)]),
    "three-needs": (["sticky-flags"], [(A, "a", TOP_K), (A, "b", TOP_P), (J,), (A, "c", MIN_P), (J,), (F, "b"), (F, "c"), (X,), (F, "a"), (X,)]),
    "two-lives": (["sticky-flags"], [(A, "a", TOP_K), (J,), (F, "a"), (X,), (A, "b", GREEDY), (J,), (F, "b"), (X,), (A, "c", PLAIN), (J,)]),
    "health-check": (["sticky-flags", "one-request-decides"], [(A, "a", PLAIN), (J,), (A, "probe", GREEDY), (A, "b", PLAIN), (F, "probe"), (J,), (F, "b"), (X,)]),
}


# Upstream only. id: (flags, server, events).
MIXED = {
    "mixed-chunk-carries-flags": (["mixed-chunk", "sticky-flags"], {}, [(A, "a", TOP_P), (A, "b", PLAIN), (J,), (F, "a"), (X,), (A, "c", PLAIN), (M,), (J,), (F, "b"), (X,)]),
    "mixed-chunk-drops-ended": (["mixed-chunk"], {}, [(A, "a", TOP_P), (J,), (F, "a"), (A, "b", PLAIN), (M,), (J,)]),
    "mixed-chunk-ended-beside-live": (["mixed-chunk", "sticky-flags"], {}, [(A, "a", TOP_P), (A, "b", PLAIN), (J,), (F, "a"), (A, "c", PLAIN), (M,), (J,)]),
    "mixed-chunk-without-prefill": (["mixed-chunk"], {}, [(A, "a", TOP_P), (J,), (M,), (F, "a"), (X,), (A, "b", PLAIN), (M,), (J,)]),
    "mixed-chunk-greedy": (["mixed-chunk", "greedy-merge"], {}, [(A, "a", GREEDY), (J,), (A, "b", PLAIN), (M,), (J,), (F, "b"), (X,)]),
    "mixed-chunk-finishes-in-it": (["mixed-chunk", "sticky-flags"], {}, [(A, "a", PLAIN), (J,), (A, "b", MIN_P), (M,), (F, "b"), (J,), (A, "c", PLAIN), (J,)]),
    "mixed-chunk-twice": (["mixed-chunk", "sticky-flags"], {}, [(A, "a", TOP_K), (J,), (A, "b", PLAIN), (M,), (J,), (F, "a"), (X,), (A, "c", PLAIN), (M,), (J,), (F, "b"), (X,)]),
    "bound-stays": (["bounded-top-k", "sticky-flags"], {"backend": "pytorch"}, [(A, "a", {"top_k": 50}), (A, "b", TOP_K), (J,), (F, "a"), (X,), (A, "c", {"top_k": 5}), (J,)]),
    "bound-lost": (["bounded-top-k", "sticky-flags"], {"backend": "pytorch"}, [(A, "a", TOP_K), (J,), (A, "b", PLAIN), (J,), (F, "b"), (X,)]),
    "bound-through-mixed-chunk": (["bounded-top-k", "mixed-chunk"], {"backend": "pytorch"}, [(A, "a", TOP_K), (J,), (A, "b", {"top_k": 7}), (M,), (J,), (F, "a"), (X,)]),
    "ascend-kernel": (["ascend", "noise-key", "sticky-flags"], {"backend": "ascend", "deterministic": True},
                      [(A, "a", TOP_K), (J,), (A, "b", PLAIN), (J,), (F, "b"), (X,), (A, "c", {"top_k": 2000}), (J,), (F, "c"), (X,)]),
    "ascend-min-p-stays": (["ascend-min-p", "sticky-flags"], {"backend": "ascend"},
                           [(A, "a", {"top_k": 20, "min_p": 0.05}), (A, "b", TOP_K), (A, "c", PLAIN), (J,), (F, "a"), (X,), (F, "c"), (X,)]),
    "ended-before-a-prefill": (["every-round", "sticky-flags"], {}, [(A, "a", TOP_P), (A, "b", MIN_P), (J,), (F, "a"), (F, "b"), (A, "c", PLAIN), (J,), (X,)]),
    "ended-after-a-prefill": (["every-round", "sticky-flags"], {}, [(A, "a", TOP_P), (J,), (A, "b", PLAIN), (F, "a"), (J,), (A, "c", PLAIN), (J,), (F, "b"), (F, "c"), (X,)]),
    "ended-beside-a-prefill-that-ended": (["every-round", "sticky-flags"], {}, [(A, "a", TOP_P), (J,), (A, "b", MIN_P), (F, "a"), (F, "b"), (J,), (A, "c", PLAIN), (J,)]),
}


def history_case(identity, flags, reading, engine, server, events):
    profiles, done, shown = {}, [], []
    for event in events:
        if event[0] == A:
            params = defaults.effective(reading, "generate", event[2], {}, engine)
            profiles[event[1]] = predicate.profile(reading, defaults.normalize(reading, {key: value for key, (value, _) in params.items()}))
        done.append(event[:2])
        step = {"do": event[0]} | ({"id": event[1]} if len(event) > 1 else {}) | ({"request": encoded(event[2])} if len(event) > 2 else {})
        mixed = reading == "upstream" and (engine == NEWEST or any(one[0] == M for one in done))
        history = predicate.MixedHistory(profiles, done, engine == NEWEST) if mixed else predicate.History(reading, profiles, done)
        for name, state, rows in zip(("prefill", "running"), history.state(), history.there()):
            told = None
            if state is not None and engine != NEWEST:  # the bound is looked for in the rows
                state = predicate.bounded_by(state, [profiles[one] for one in rows])
            if state is not None:
                told = {"flags": predicate.letters(state)} | outcome(lambda: predicate.path(reading, engine, server, state))
            step[name] = told
        shown.append(step)
    name = f"{reading}/{identity}" if engine == NEW else f"{reading}/{engine}/{identity}"
    return {"id": name, "flags": flags, "server": server, "events": shown}


def history_cases(reading, engine):
    yield from (history_case(name, flags, reading, engine, {}, events) for name, (flags, events) in HISTORIES.items())
    for name in ("sticky-top-p", "greedy-stays-filtered", "sticky-min-p"):
        flags, events = HISTORIES[name]
        yield history_case(f"{name}@deterministic", flags + ["seed-with-filter"], reading, engine, {"deterministic": True}, events)
    if reading == "upstream":
        yield from (history_case(name, flags, reading, engine, server, events) for name, (flags, server, events) in MIXED.items())


def group(reading, engine, cases):
    return {"source": "golden/model/predicate_cases.py", "version": VERSION, "engine": engine, "as": reading, "cases": list(cases)}


def tally(check, groups):
    return {f"{check} {'by hand' if one['source'] == by_hand.SOURCE else one['as']} {one['engine']}": len(one["cases"]) for one in groups}


def write():
    readings = ("article-port", "article-prose", "upstream")
    paths = [group(reading, NEW, path_cases(reading, NEW)) for reading in readings[:2]]
    paths += [group("upstream", engine, upstream_cases(engine)) for engine in (NEW, OLD, NEWEST)]
    paths += [by_hand.group(engine, by_hand.path_cases(engine)) for engine in (NEW, OLD, NEWEST)]
    histories = [group(reading, NEW, history_cases(reading, NEW)) for reading in readings]
    histories += [group("upstream", engine, history_cases("upstream", engine)) for engine in (OLD, NEWEST)]
    histories += [by_hand.group(engine, by_hand.history_cases(engine)) for engine in (NEW, NEWEST)]
    paths += vllm_cases.path_groups()
    histories += vllm_cases.history_groups()
    notes = NOTES | vllm_cases.NOTES
    write_text("predicate/path.json", family_text("predicate", "path", notes, paths))
    write_text("predicate/history.json", family_text("predicate", "history", notes, histories))
    return tally("path", paths) | tally("history", histories)
