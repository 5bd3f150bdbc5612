"""products.py: golden/predicate/products.json and golden/defaults/products.json: full products, kept as the SHA-256 of their lines.

Each case holds the axes; a line of the product is "INDEX INDEX ...: RESULT\n", the last axis running fastest. The C code walks
the same axes and must come to the same hash.
"""
import hashlib
import math
from itertools import product

import defaults
import predicate
import vllm
import vllm_cases
from defaults import Refused
from engine_values import encoded, encoded_server
from files import family_text, write_text

VERSION = "3"
BELOW_EPSILON, BELOW_ONE = math.nextafter(1e-6, 0), math.nextafter(1, 0)
READINGS = ("article-port", "article-prose", "upstream")

SERVERS = [{}, {"switch": "0"}, {"switch": "off"}, {"deterministic": True}, {"device": "cpu"}, {"backend": "pytorch", "switch": "NO"},
           {"deterministic": True, "switch": "false", "backend": "flashinfer"}, {"backend": "ascend"}, {"backend": "ascend", "deterministic": True},
           {"device": "xpu"}, {"draft": True, "deterministic": True}, {"draft": True, "switch": "0"}]
# Each side of every condition: temperature 1e-6, top_k -1, 1 and 2^30, top_p 1, min_p 0; and what verify refuses.
EDGES = [[{}, {"temperature": 0.0}, {"temperature": BELOW_EPSILON}, {"temperature": 1e-6}],
         [{}, {"top_k": 0}, {"top_k": 1}, {"top_k": 2}, {"top_k": 2**30 - 1}, {"top_k": 2**30}, {"top_k": 2**31}],
         [{}, {"top_p": BELOW_ONE}, {"top_p": 0.0}],
         [{}, {"min_p": 5e-324}]]
MATES = [{}, {"temperature": 0.0}, {"temperature": 0.7, "top_k": 1}, {"top_k": 20}, {"top_p": 0.95}, {"min_p": 0.05},
         {"temperature": 0.0, "top_p": 0.5}, {"temperature": 0.0, "min_p": 0.1}, {"top_p": 1.0, "top_k": -1}]

QWEN3 = {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.0}
DEFAULT_SERVERS = [{}, {"generation_config": QWEN3}, {"generation_config": QWEN3, "sampling_defaults": "openai"},
                   {"generation_config": {"top_k": 50, "repetition_penalty": 1.1, "temperature": None}},
                   {"preferred": {"top_k": 40, "temperature": 0.8}},
                   {"generation_config": QWEN3, "preferred": {"top_p": 0.5, "min_p": 0.1, "repetition_penalty": 1.2}}]
CLASS_DEFAULT_SERVERS = [{"generation_config": {"temperature": 0.6}, "transformers": "4"}]
ENDPOINTS = ["chat", "responses", "completions", "generate"]
# Absent, null, explicit zero, explicit default, another value.
STATES = [[{}, {"temperature": None}, {"temperature": 0.0}, {"temperature": 1.0}, {"temperature": 0.7}],
          [{}, {"top_k": None}, {"top_k": 0}, {"top_k": -1}, {"top_k": 20}],
          [{}, {"top_p": None}, {"top_p": 0.0}, {"top_p": 1.0}, {"top_p": 0.9}],
          [{}, {"min_p": None}, {"min_p": 0.0}, {"min_p": 0.05}],
          [{}, {"repetition_penalty": None}, {"repetition_penalty": 1.0}]]

# Every history of four requests, each with a mark of its own in the flags: what is in a batch can be read off.
MARKED = [["Gk--"], ["G-p-"], ["G--m"], ["----"]]


def merged(parts):
    return {key: value for part in parts for key, value in part.items()}


def single(reading, engine, server, endpoint, request):
    """(effective, result): the parameters, and the path of the request alone or its refusal as one text."""
    found = None
    try:
        found = defaults.effective(reading, endpoint, request, server, engine)
        params = defaults.normalize(reading, {key: value for key, (value, _) in found.items()})
        defaults.verify(reading, params, engine)
        return found, told(predicate.path_of_batch(reading, engine, server, [params]))
    except Refused as refused:
        return found, f"{defaults.status_at(endpoint, refused.status) if reading == 'upstream' else refused.status} {refused.text}"


def told(result):
    return " ".join(str(value).lower() for value in result.values())


def path_lines(reading, engine, servers, choices, mates):
    """Every combination of choices as one request, alone (mate 0) and beside each mate, on each server."""
    requests = [merged(parts) for parts in product(*choices)]
    indices = list(product(*[range(len(choice)) for choice in choices]))

    def prepared(request):
        try:
            params = defaults.normalize(reading, {k: v for k, (v, _) in defaults.effective(reading, "generate", request, {}, engine).items()})
            defaults.verify(reading, params, engine)
            return predicate.profile(reading, params)
        except Refused as refused:
            return f"{refused.status} {refused.text}"

    profiles, beside = [prepared(one) for one in requests], [None] + [prepared(one) for one in mates]
    for s, server in enumerate(servers):
        for index, one in zip(indices, profiles):
            for m, mate in enumerate(beside):
                batch = [one] if mate is None else [one, mate]
                bad = [each for each in batch if isinstance(each, str)]
                if bad:
                    result = bad[0]
                else:
                    try:
                        result = told(predicate.path(reading, engine, server, predicate.together(batch)))
                    except Refused as refused:
                        result = f"{refused.status} {refused.text}"
                yield f"{s} {' '.join(map(str, index))} {m}: {result}\n"


def default_lines(reading, engine, servers, endpoints, choices):
    for s, server in enumerate(servers):
        for e, endpoint in enumerate(endpoints):
            for index in product(*[range(len(choice)) for choice in choices]):
                request = merged(choice[i] for choice, i in zip(choices, index))
                found, result = single(reading, engine, server, endpoint, request)
                params = "" if found is None else "".join(f"{key}={value}/{layer} " for key, (value, layer) in found.items())
                yield f"{s} {e} {' '.join(map(str, index))}: {params}{result}\n"


def remembered(reading, mixes=False, every_round=False):
    """A batch's state as predicate.History, or MixedHistory, has it."""
    return lambda profiles, events: (predicate.MixedHistory(profiles, events, every_round) if mixes else predicate.History(reading, profiles, events)).state()


def history_lines(state, choices, letters=predicate.letters, of_letters=predicate.of_letters, mixes=False, every_round=False):
    """Every history, as a tree walked depth first: at each place admit the next request (in each kind), join, finish, filter."""
    count, events, profiles, finished = len(choices), [], {}, set()

    def told_by(events):
        return predicate.MixedHistory(profiles, events, every_round) if mixes else predicate.History("upstream", profiles, events)

    def walk(history):
        now, admitted = len(events), len(profiles)
        waiting = bool(history.there()[0])
        moves = [("admit", admitted, kind) for kind in choices[admitted]] if admitted < count else []
        moves += [("join",)] if waiting else []
        moves += [("finish", one) for one in range(admitted) if one not in finished]
        rows = history.there()
        marked = any(one in finished for one in rows[1]) if mixes else any(history.is_marked(one, now) for one in range(admitted))
        moves += [("filter",)] if marked else []
        moves += [("mix",)] if mixes and rows[0] and rows[1] else []
        for move in moves:
            events.append(move[:2])
            if move[0] == "admit":
                profiles[admitted] = of_letters(move[2])
            elif move[0] == "finish":
                finished.add(move[1])
            shown = ["none" if flags is None else letters(flags) for flags in state(profiles, events)]
            yield f"{now} {' '.join(map(str, move))}: {' '.join(shown)}\n"
            yield from walk(told_by(events))
            events.pop()
            if move[0] == "admit":
                del profiles[admitted]
            elif move[0] == "finish":
                finished.remove(move[1])

    yield from walk(told_by(events))


def digest(lines):
    hashed, count = hashlib.sha256(), 0
    for line in lines:
        hashed.update(line.encode())
        count += 1
    return {"lines": count, "sha256": hashed.hexdigest()}


def encoded_choices(choices):
    return [[encoded(each) for each in choice] for choice in choices]


def group(reading, engine, cases):
    return {"source": "golden/model/products.py", "version": VERSION, "engine": engine, "as": reading, "cases": cases}


def predicate_groups():
    groups = []
    for reading, engine in [(reading, "sglang-0.5.20") for reading in READINGS] + [("upstream", "sglang-0.5.19"), ("upstream", "sglang-0.5.23")]:
        cases = [{"id": f"paths/{reading}/{engine}", "servers": SERVERS, "choices": encoded_choices(EDGES), "mates": [encoded(m) for m in MATES]}
                 | digest(path_lines(reading, engine, SERVERS, EDGES, MATES))]
        if engine == "sglang-0.5.20":
            cases.append({"id": f"histories/{reading}", "kinds": MARKED} | digest(history_lines(remembered(reading), MARKED)))
        if reading == "upstream":
            cases.append({"id": f"mixed/{engine}", "kinds": MARKED[:3], "mixes": True} | digest(history_lines(remembered(reading, True, engine == "sglang-0.5.23"), MARKED[:3], mixes=True, every_round=engine == "sglang-0.5.23")))
        groups.append(group(reading, engine, cases))
    return groups + [group(reading, vllm.ENGINE, vllm_paths(reading) + vllm_histories(reading)) for reading in READINGS]


def vllm_paths(reading):
    return [{"id": f"paths/{reading}/{vllm.ENGINE}", "servers": vllm_cases.PRODUCT_SERVERS, "choices": encoded_choices(vllm_cases.EDGES),
             "mates": [encoded(mate) for mate in vllm_cases.MATES]} | digest(vllm_cases.path_lines(reading))]


def vllm_histories(reading):
    return [{"id": f"histories/{reading}/{vllm.ENGINE}", "kinds": vllm_cases.KINDS}
            | digest(history_lines(vllm.states, vllm_cases.KINDS, vllm.letters, vllm.of_letters))]


def defaults_groups():
    asked = [(reading, "sglang-0.5.20") for reading in READINGS] + [("upstream", "sglang-0.5.19"), ("upstream", "sglang-0.5.23")]
    return [group(reading, engine,
                  [{"id": f"{name}/{reading}/{engine}", "endpoints": ENDPOINTS, "servers": [encoded_server(s) for s in servers],
                    "choices": encoded_choices(STATES)} | digest(default_lines(reading, engine, servers, ENDPOINTS, STATES))
                   for name, servers in (("requests", DEFAULT_SERVERS), ("class-defaults", CLASS_DEFAULT_SERVERS))])
            for reading, engine in asked] + \
        [group(reading, vllm.ENGINE,
               [{"id": f"requests/{reading}/{vllm.ENGINE}", "endpoints": vllm_cases.ENDPOINTS, "servers": vllm_cases.PRODUCT_SERVERS[:1],
                 "choices": encoded_choices(vllm_cases.STATES)} | digest(vllm_cases.request_lines(reading))]) for reading in READINGS]


def write():
    written = {}
    for family, groups in (("predicate", predicate_groups()), ("defaults", defaults_groups())):
        write_text(f"{family}/products.json", family_text(family, "products", {}, groups))
        written |= {case["id"]: case["lines"] for one in groups for case in one["cases"]}
    return written
