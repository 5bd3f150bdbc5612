# SPDX-License-Identifier: MIT
"""test_host_time.py: host.py times what it says it times, and no worker need know of it: python3 test_host_time.py"""
import struct
import unittest

from test_child import Child, floats, indices, pack, run, unpack  # noqa: F401 (unpack reads tokens only)
from test_torch import PYTHON

TOY = '''
import time

class Worker:
    takes = "probabilities logits"
    options = {"mode": ("plain", "prepared", "queue", "refuse", "short")}

    def __init__(self, options):
        self.mode, self.log = options["mode"], []
        if self.mode == "queue":
            self.wait = lambda: time.sleep(.002)
        if self.mode in ("prepared", "queue"):
            self.times, self.prepared, self.tokens = "fast slow", self._prepared, lambda token: [token % 5] * 2

    def reset(self, seed):
        self.calls, self.before = seed, 0

    def sample(self, call):
        self.calls += 1
        if self.mode == "refuse":
            raise NotImplementedError("not today")
        time.sleep(.001)
        return [self.calls % 5] * (call.draws - (self.mode == "short"))

    def _prepared(self, call, rule):
        def step():
            self.calls += 1
            assert self.before == self.calls - self.first, (self.before, self.calls)
            time.sleep({"fast": .001, "slow": .003, None: .001}[rule])
            return self.calls
        def before():
            time.sleep(.005)  # not timed
            self.before += 1
        self.first = self.calls
        return step, before
'''
VALUES = ("values", "F32", [2, 5], floats([.2] * 10))


def timed(rows=True, **changed):
    metadata = {"message": "time", "cell": "c", "chunk": "4", "warmup": "2", "calls": "6", "fill": "3"}
    if rows:
        metadata.update(draws="2", batch="2", seed="11", kind="probabilities")
    metadata.update(changed)
    return pack(metadata, [VALUES, indices(1, 0)] if rows else [])


def arrays(stream):
    """[(metadata, {name: numbers})]"""
    answers = []
    while stream:
        length, header = struct.unpack_from("<QQ", stream)
        entries = __import__("json").loads(stream[16:16 + header])
        metadata, data = entries.pop("__metadata__"), stream[16 + header:8 + length]
        numbers = {}
        for name, entry in entries.items():
            begin, end = entry["data_offsets"]
            code = {"I64": "q", "I32": "i"}[entry["dtype"]]
            numbers[name] = list(struct.unpack("<%d%s" % (entry["shape"][0], code), data[begin:end]))
        answers.append((metadata, numbers))
        stream = stream[8 + length:]
    return answers


class Times(Child):
    def setUp(self):
        super().setUp()
        self.toy = self.file("toy.py", TOY)

    def ask(self, words, *frames, **more):
        status, output, errors = run(words, b"".join(frames), **more)
        self.assertEqual(status, 0, errors)
        return arrays(output)

    def test_a_worker_that_knows_nothing_of_it(self):
        (said, got), (_, again) = self.ask([self.toy], timed(), timed(rows=False))
        self.assertEqual(said, {"message": "times", "cell": "c", "batch": "2", "chunk": "4", "queue": "none"})
        self.assertEqual(sorted(got), ["cpu_ns", "host_ns", "token"])
        self.assertEqual(got["token"], [(11 + 8) % 5] * 2)  # two warm-up calls, six timed
        self.assertEqual(again["token"], got["token"])      # reset, the same rows
        for name in ("host_ns", "cpu_ns"):
            self.assertEqual(len(got[name]), 6)
        self.assertTrue(all(1000000 <= t for t in got["host_ns"]), got)
        self.assertTrue(all(0 <= t < 1000000 for t in got["cpu_ns"]), got)  # it slept

    def test_a_worker_that_prepares(self):
        (_, fast), (said, slow), (refused, _) = self.ask(
            [self.toy, "mode=prepared"], timed(), timed(rows=False, rule="slow"), timed(rows=False, rule="bold"))
        self.assertEqual(said["rule"], "slow")
        self.assertEqual(slow["token"], [(11 + 8) % 5] * 2)
        self.assertTrue(all(1000000 <= t for t in fast["host_ns"]))
        self.assertLess(min(fast["host_ns"]), 5000000)  # what goes before is not in it
        self.assertTrue(all(3000000 <= t for t in slow["host_ns"]))
        self.assertEqual(refused["message"], "unsupported")
        self.assertIn("no rule 'bold'; known are fast slow", refused["text"])

    def test_calls_that_queue(self):
        (said, got), = self.ask([self.toy, "mode=queue"], timed())
        self.assertEqual(said["queue"], "device")
        self.assertEqual(sorted(got), ["cpu_ns", "host_full_ns", "host_ns", "sync_ns", "token"])
        self.assertEqual(got["token"], [(11 + 2 + 6 + 3 + 6) % 5] * 2)
        for host, sync in zip(got["host_ns"], got["sync_ns"]):
            self.assertGreaterEqual(sync, host + 2000000)  # its wait
        self.assertEqual(len(got["host_full_ns"]), 6)

    def test_refusals(self):
        for words, frame, kind, text in (
                ([self.toy], timed(rows=False), "error", "no rows"),
                ([self.toy], timed(calls="0"), "error", "calls is '0'"),
                ([self.toy], timed(batch="1"), "error", "batch must be draws"),
                ([self.toy], timed(kept="1"), "error", "kept is not asked for"),
                ([self.toy, "mode=refuse"], timed(), "unsupported", "not today"),
                ([self.toy, "mode=short"], timed(), "error", "returned 1 tokens for 2 draws")):
            (said, got), = self.ask(words, frame)
            self.assertEqual((said["message"], got), (kind, {}))
            self.assertIn(text, said["text"])

    def test_arrays_without_rows(self):
        frame = pack({"message": "time", "cell": "c", "warmup": "0", "calls": "1", "fill": "0"}, [indices(1, 0)])
        _, (said, _) = self.ask([self.toy], timed(), frame)
        self.assertIn("arrays come with values, or not at all", said["text"])

    @unittest.skipUnless(PYTHON, "no torch here")
    def test_torch(self):
        frames = [timed(calls="2")] + [timed(rows=False, calls="2", rule=rule) for rule in ("multinomial", "race", "gumbel", "seeded")]
        answers = self.ask(["torch", "rule=race"], *frames, python=PYTHON)
        for said, got in answers:
            self.assertEqual((said["message"], said.get("queue")), ("times", "none"), said)
            self.assertTrue(all(0 <= token < 5 for token in got["token"]))
        self.assertEqual(answers[1][1]["token"], answers[2][1]["token"])  # one generator call, the same noise
        (said, got), = self.ask(["torch", "takes=logits"], timed(kind="logits", calls="2"), python=PYTHON)
        self.assertEqual(said["message"], "times", said)


if __name__ == "__main__":
    unittest.main()
