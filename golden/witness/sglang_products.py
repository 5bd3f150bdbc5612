"""sglang_products.py: the full products of golden/predicate/products.json and golden/defaults/products.json, asked line by line.

A line is "INDEX INDEX ...: RESULT\\n", the last axis running fastest; the order and the form of the lines are the goldens'.
"""
import hashlib
from itertools import product

import sglang_batch
import sglang_body
import sglang_step
import values
from sglang_body import Refused


def words(result):
    return " ".join(str(value).lower() for value in result.values())


def refused_line(refused):
    return f"{refused.status} {refused.text}"


def requests_of(choices):
    """(indices, request) of every combination."""
    for index in product(*[range(len(axis)) for axis in choices]):
        request = {}
        for axis, place in zip(choices, index):
            request |= values.read_all(axis[place])
        yield index, request


def path_lines(case):
    def prepared(body):
        try:
            return sglang_body.send("generate", body, {})[1]
        except Refused as refused:
            return refused

    asked = [(index, prepared(body)) for index, body in requests_of(case["choices"])]
    mates = [None] + [prepared(values.read_all(mate)) for mate in case["mates"]]
    for s, server in enumerate(case["servers"]):
        for index, one in asked:
            for m, mate in enumerate(mates):
                yield f"{s} {' '.join(map(str, index))} {m}: {path_of(server, [one] if mate is None else [one, mate])}\n"


def path_of(server, batch):
    for one in batch:
        if isinstance(one, Refused):
            return refused_line(one)
    try:
        sglang_step.install(server)
        for params in batch:  # the first request that no tensor holds is named, though one of its mates may lead the batch
            refused = sglang_step.does_not_fit([params]) if params.top_k > 2**31 - 1 else None
            if refused:
                raise refused
        requests = [sglang_step.request(str(k), params) for k, params in enumerate(batch)]
        return words(sglang_step.step(server, sglang_step.batch_of(requests).sampling_info))
    except Refused as refused:
        return refused_line(refused)


def request_lines(case):
    for s, server in enumerate(case["servers"]):
        for e, endpoint in enumerate(case["endpoints"]):
            for index, request in requests_of(case["choices"]):
                effective, result = None, None
                try:
                    effective, params = sglang_body.send(endpoint, request, server)
                    result = path_of(server, [params])
                except Refused as refused:
                    effective, result = refused.effective, refused_line(refused)
                said = "" if effective is None else "".join(f"{key}={value}/{layer} " for key, (value, layer) in effective.items())
                yield f"{s} {e} {' '.join(map(str, index))}: {said}{result}\n"


def history_lines(case):
    kinds, mixes = case["kinds"], case.get("mixes", False)
    sglang_step.install({})

    def walk(life, depth, requests, stages):
        """stages: of each request admitted: "waiting", "joined", or ended in either: "ended waiting", "ended", then "gone"."""
        moves = [("admit", len(requests), kind) for kind in kinds[len(requests)]] if len(requests) < len(kinds) else []
        prefill, running = life.prefill is not None and not life.prefill.is_empty(), not life.running.is_empty()
        moves += [("join",)] if prefill else []
        moves += [("finish", k) for k, stage in enumerate(stages) if stage == "live"]
        moves += [("filter",)] if any(one.rid in ended(requests, stages) for one in life.running.reqs) else []
        moves += [("mix",)] if mixes and prefill and running else []
        for move in moves:
            after, now, then = life.copied(), list(requests), list(stages)
            for one, stage in zip(requests, stages):
                sglang_batch.finish(one, stage == "ended")
            if move[0] == "admit":
                now.append(sglang_batch.marked_request(move[1], move[2]))
                then.append("live")
                after.admit(now[-1])
            elif move[0] == "finish":
                then[move[1]] = "ended"
            else:
                getattr(after, move[0])()
            shown = ["none" if batch is None or batch.is_empty() else sglang_batch.letters(batch) for batch in (after.prefill, after.running)]
            yield f"{depth} {' '.join(map(str, move))}: {' '.join(shown)}\n"
            yield from walk(after, depth + 1, now, then)

    yield from walk(sglang_batch.Life(), 0, [], [])


def ended(requests, stages):
    return {one.rid for one, stage in zip(requests, stages) if stage == "ended"}


def digest(lines):
    hashed, count = hashlib.sha256(), 0
    for line in lines:
        hashed.update(line.encode())
        count += 1
    return {"lines": count, "sha256": hashed.hexdigest()}


def ask(case):
    if "kinds" in case:
        return digest(history_lines(case))
    return digest(request_lines(case) if "endpoints" in case else path_lines(case))
