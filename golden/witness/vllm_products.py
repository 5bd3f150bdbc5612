"""vllm_products.py: vLLM 0.5.0's answers to the full products in golden/{predicate,defaults}/products.json: the SHA-256 of their lines.

Every line is asked: 100,800 batches, each a step that runs, 23,040 bodies sent, 14,232 places in the lives of three requests.
"""
import hashlib
from itertools import product

import vllm_step
import vllm_values
from vllm_defaults import made_of
from vllm_lives import Life, letters
from vllm_predicate import alone

# A request for each set of flags.
OF_LETTER = {"P": {"presence_penalty": 0.5}, "k": {"top_p": 0.9}, "m": {"min_p": 0.1}, "G": {"temperature": 0.0}, "R": {}, "S": {"seed": 5},
             "B": {"use_beam_search": True, "temperature": 0.0, "best_of": 2}}
VOCABULARY = 64  # of the lives: their flags do not depend on it


def merged(parts):
    return {key: value for part in parts for key, value in part.items()}


def in_words(answer):
    return f"{answer['status']} {answer['error']}" if "error" in answer else " ".join(answer.values())


def requests_of(case):
    """(indices as text, request), the last axis running fastest."""
    axes = [[vllm_values.decoded(one) for one in axis] for axis in case["choices"]]
    for index in product(*[range(len(axis)) for axis in axes]):
        yield " ".join(map(str, index)), merged(axis[i] for axis, i in zip(axes, index))


def path_lines(case):
    requests = list(requests_of(case))
    for s, server in enumerate(case["servers"]):
        vocab = server["vocab"]

        def prepared(request):
            made, refused = made_of(request)
            refused = refused or alone(made, vocab)
            return made, refused and in_words(refused)

        mates = [prepared(vllm_values.decoded(mate)) for mate in case["mates"]]
        for index, request in requests:
            one = prepared(request)
            for m, batch in enumerate([[one]] + [[one, mate] for mate in mates]):
                bad = [text for _, text in batch if text]
                told = bad[0] if bad else in_words(vllm_step.told(vllm_step.run([made for made, _ in batch], vocab)[0]))
                yield f"{s} {index} {m}: {told}\n"


def request_lines(case, of_body):
    for s, server in enumerate(case["servers"]):
        for e, endpoint in enumerate(case["endpoints"]):
            for index, request in requests_of(case):
                found, answer = of_body(endpoint, server["vocab"], request)
                told = "".join(f"{key}={value}/{layer} " for key, (value, layer) in (found or {}).items())
                yield f"{s} {e} {index}: {told}{in_words(answer)}\n"


class Walk:
    """A history so far, and the moves that may come next."""

    def __init__(self, kinds):
        self.kinds, self.events, self.joined, self.finished, self.unfiltered = kinds, [], set(), set(), set()

    def copied(self):
        one = Walk(self.kinds)
        one.events, one.joined, one.finished, one.unfiltered = list(self.events), set(self.joined), set(self.finished), set(self.unfiltered)
        return one

    def admitted(self):
        return [event for event in self.events if event[0] == "admit"]

    def waiting(self):
        return set(range(len(self.admitted()))) - self.joined

    def moves(self):
        count = len(self.admitted())
        found = [("admit", count, kind) for kind in self.kinds[count]] if count < len(self.kinds) else []
        found += [("join",)] if self.waiting() else []
        found += [("finish", one) for one in range(count) if one not in self.finished]
        return found + ([("filter",)] if self.unfiltered else [])

    def after(self, move):
        one = self.copied()
        one.events.append(move)
        if move[0] == "join":
            one.joined |= self.waiting()
        elif move[0] == "finish":
            one.finished.add(move[1])
            one.unfiltered |= {move[1]} & self.joined
        elif move[0] == "filter":
            one.unfiltered = set()
        return one


def lived(events):
    """Flags of the prompts' and of the running requests' next step."""
    life = Life(VOCABULARY)
    for do, *what in events:
        if do == "admit":
            made, refused = made_of(merged(OF_LETTER[letter] for letter in what[1] if letter != "-"))
            assert not refused
            life.admit(str(what[0]), made)
        elif do == "join":
            life.join()
        elif do == "finish":
            life.finish(str(what[0]))
        else:
            life.scheduler.free_finished_seq_groups()
    return [letters(prepared, VOCABULARY) if prepared else "none" for prepared in life.next_steps()]


def history_lines(case):
    def walk(history):
        for move in history.moves():
            after = history.after(move)
            yield f"{len(history.events)} {' '.join(map(str, move))}: {' '.join(lived(after.events))}\n"
            yield from walk(after)

    yield from walk(Walk(case["kinds"]))


class Products:
    def __init__(self, of_body):
        self.of_body = of_body

    def __call__(self, _, case):
        lines = history_lines(case) if "kinds" in case else request_lines(case, self.of_body) if "endpoints" in case else path_lines(case)
        hashed, count = hashlib.sha256(), 0
        for line in lines:
            hashed.update(line.encode())
            count += 1
        return {"lines": count, "sha256": hashed.hexdigest()}
