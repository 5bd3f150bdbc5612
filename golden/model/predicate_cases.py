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

VERSION = "1"
NEW, OLD = "sglang-0.5.20", "sglang-0.5.19"
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
    "version": {
        "bug": "None: the releases differ in the draw of the plain case, and in nothing else of the path.",
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
SPELLINGS = ("1", "true", "True", "yes", "Y", "0", "false", "FALSE", "no", "No", "n", "", " 0", "0 ", "off", "on", "f", "2", "None")


def path_case(identity, flags, reading, engine, server, batch):
    def compute():
        requests = []
        for one in batch:
            found = defaults.effective(reading, "generate", one, {})
            params = defaults.normalize(reading, {key: value for key, (value, _) in found.items()})
            defaults.verify(reading, params)
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


def old_cases():
    """0.5.19: the same batches; only the plain case may differ, whatever the switch says."""
    for name in ON_SERVERS + ("plain-warm", "empty"):
        yield path_case(name, ["version"], "upstream", OLD, {}, BATCHES[name][1])
    for server in ("switch-0", "deterministic"):
        yield from (path_case(f"{name}@{server}", ["version"], "upstream", OLD, SERVERS[server][1], BATCHES[name][1]) for name in ON_SERVERS)
    yield path_case("plain@switch-1", ["version", "switch-spelling"], "upstream", OLD, {"switch": "1"}, [PLAIN])


A, J, F, X = "admit", "join", "finish", "filter"
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


def history_case(identity, flags, reading, engine, server, events):
    profiles, done, shown = {}, [], []
    for event in events:
        if event[0] == A:
            params = defaults.effective(reading, "generate", event[2], {})
            profiles[event[1]] = predicate.profile(reading, defaults.normalize(reading, {key: value for key, (value, _) in params.items()}))
        done.append(event[:2])
        step = {"do": event[0]} | ({"id": event[1]} if len(event) > 1 else {}) | ({"request": encoded(event[2])} if len(event) > 2 else {})
        for name, state in zip(("prefill", "running"), predicate.History(reading, profiles, done).state()):
            told = None
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


def group(reading, engine, cases):
    return {"source": "golden/model/predicate_cases.py", "version": VERSION, "engine": engine, "as": reading, "cases": list(cases)}


def tally(check, groups):
    return {f"{check} {'by hand' if one['source'] == by_hand.SOURCE else one['as']} {one['engine']}": len(one["cases"]) for one in groups}


def write():
    readings = ("article-port", "article-prose", "upstream")
    paths = [group(reading, NEW, path_cases(reading, NEW)) for reading in readings] + [group("upstream", OLD, old_cases())]
    paths += [by_hand.group(engine, by_hand.path_cases(engine)) for engine in (NEW, OLD)]
    histories = [group(reading, NEW, history_cases(reading, NEW)) for reading in readings] + [group("upstream", OLD, history_cases("upstream", OLD))]
    histories.append(by_hand.group(NEW, by_hand.history_cases()))
    paths += vllm_cases.path_groups()
    histories += vllm_cases.history_groups()
    notes = NOTES | vllm_cases.NOTES
    write_text("predicate/path.json", family_text("predicate", "path", notes, paths))
    write_text("predicate/history.json", family_text("predicate", "history", notes, histories))
    return tally("path", paths) | tally("history", histories)
