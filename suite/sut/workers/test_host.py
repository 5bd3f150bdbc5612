# SPDX-License-Identifier: MIT
"""test_host.py: runs host.py as a child and talks to it in frames: python3 test_host.py"""
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import unittest

from test_child import HERE, HOST, PMF, PMF_VALUES, Child, doubles, floats, hello, indices, longs, run, sample, unpack, pack

EXAMPLE = os.path.join(HERE, "..", "examples", "sampler.py")

TOY = '''
import os, sys
print("a library that prints while it is imported")

class Worker:
    name, version, device, takes = "toy", "7", "cpu", "logits probabilities"
    capabilities = "temperature noise seeded"
    contract = '{"rng": "none"}'
    options = {"mode": ("slices", "noise", "seeds", "raise", "refuse", "short", "float", "row", "degrees"),
               "dtype": ("f32", "f16", "bf16"), "word": "free"}

    def __init__(self, options):
        if options["word"] == "bad":
            raise ValueError("the word is bad")
        self.options, self.dtype, self.versions = options, options["dtype"], {"library": "1.2"}

    def reset(self, seed):
        self.seed, self.calls = seed, 0

    def sample(self, call):
        print("chatter")
        assert sys.stdin.read() == ""
        self.calls += 1
        mode, n = self.options["mode"], call.draws
        assert len(call.row_index) == n and self.calls > 0
        if mode == "slices":
            return [1000000 * (self.seed % 1000) + 1000 * self.calls + 10 * n + r for r in call.row_index]
        if mode == "noise":
            rows = [call.noise.row(d) for d in range(n)]
            return [row.index(max(row)) for row in rows]
        if mode == "seeds":
            return [s * 100 + p for s, p in zip(call.seeds, call.positions)]
        if mode == "degrees":
            return [-1 if call.temperature is None else int(t * 100) for t in call.temperature or [0] * n]
        if mode == "row":
            return [int(call.values.row(r)[0] * 64) for r in call.row_index]
        if mode == "raise":
            raise RuntimeError("it broke: \\u00e9 \\udc80")
        if mode == "refuse":
            raise NotImplementedError("not today")
        return [0] * (n - 1) if mode == "short" else [0.5] * n
'''


class ToyChild(Child):
    def setUp(self):
        super().setUp()
        self.toy = self.file("toy.py", TOY)


class Messages(ToyChild):
    def test_hello_names_everything(self):
        (answer, token), = self.talk([self.toy, "word=x"], hello())
        self.assertIsNone(token)
        digest = {}
        hosts = [(name, os.path.join(HERE, name)) for name in ("host.py", "host_ask.py", "host_call.py", "host_frame.py", "host_time.py")]
        for label, path in [("toy.py", self.toy)] + hosts:
            with open(path, "rb") as file:
                digest["file:" + label] = hashlib.sha256(file.read()).hexdigest()
        expected = {"message": "hello", "protocol": "1", "plan": "p", "plan_sha256": "ab", "name": "toy", "version": "7",
                    "device": "cpu", "takes": "logits probabilities", "dtype": "f32",
                    "capabilities": "temperature noise seeded", "contract": '{"rng": "none"}', "times": "own", "version:library": "1.2",
                    "version:python": sys.version.split()[0]}
        self.assertEqual(answer, dict(expected, **digest))

    def test_a_chunk_is_cut_into_batches(self):
        (answer, token), = self.talk([self.toy], sample(5, 2, 123, arrays=[indices(2, 0, 1, 2, 1)]))
        self.assertEqual(answer, {"message": "tokens", "cell": "c", "stage": "1", "batch": "2", "chunk": "5"})
        self.assertEqual(token, [123001022, 123001020, 123002021, 123002022, 123003011])

    def test_every_chunk_starts_afresh(self):
        chunk = sample(3, 4, 9)
        answers = self.talk([self.toy], hello(), chunk, sample(1, 1, 8), chunk)
        self.assertEqual([token for _, token in answers[1:]], [[9001030] * 3, [8001010], [9001030] * 3])

    def test_noise_is_cut_like_the_draws(self):
        noise = ("noise", "F32", [3, 2], floats([1, 2, 4, 3, 5, 6]))
        self.assertEqual(self.talk([self.toy, "mode=noise"], sample(3, 2, arrays=[noise]))[0][1], [1, 0, 1])

    def test_seeds_and_positions_are_cut_like_the_draws(self):
        arrays = [longs("seeds", 3, 2, 1), longs("positions", 7, 8, 9)]
        self.assertEqual(self.talk([self.toy, "mode=seeds"], sample(3, 2, arrays=arrays))[0][1], [307, 208, 109])

    def test_temperature_of_one_or_of_each_draw(self):
        each, one = doubles("temperature", .5, 1, 2), doubles("temperature", .25)
        answers = self.talk([self.toy, "mode=degrees"], sample(3, 2, arrays=[each]), sample(3, 2, arrays=[one]), sample(3, 2))
        self.assertEqual([token for _, token in answers], [[50, 100, 200], [25] * 3, [-1] * 3])

    def test_half_precision_rows(self):
        # 1.5 and -0.25: fp16 3e00 b400, bf16 3fc0 be80
        for dtype, halves in (("F16", (0x3e00, 0xb400)), ("BF16", (0x3fc0, 0xbe80))):
            values = ("values", dtype, [2, 1], struct.pack("<2H", *halves))
            words = [self.toy, "mode=row", "dtype=" + dtype.lower()]
            self.assertEqual(self.talk(words, sample(2, 2, values=values, arrays=[indices(0, 1)]))[0][1], [96, -16])

    def test_an_exception_is_an_error_and_the_worker_lives(self):
        status, output, errors = run([self.toy, "mode=raise"], sample() + hello())
        (answer, token), (again, _) = unpack(output)
        self.assertEqual((status, answer["message"], answer["chunk"], again["message"]), (0, "error", "5", "hello"))
        self.assertEqual((answer["text"], token), ("RuntimeError: it broke: \u00e9 ?", None))
        self.assertIn("Traceback", errors)

    def test_wrong_answers_are_errors(self):
        for mode, said in (("short", "1 tokens for 2 draws"), ("float", "TypeError")):
            (answer, _), = self.talk([self.toy, "mode=" + mode], sample(2, 2))
            self.assertEqual(answer["message"], "error")
            self.assertIn(said, answer["text"])

    def test_what_is_not_there_is_unsupported(self):
        noise = ("noise", "F32", [1, 2], floats([1, 1]))
        odd = longs("typical_p", 1)
        bare = self.file("bare.py", "class Worker:\n    def __init__(self, options): pass\n"
                                    "    def reset(self, seed): pass\n    def sample(self, call): return [0] * call.draws\n")
        frames = [sample(kind="logits"), sample(arrays=[noise]), sample(arrays=[doubles("temperature", .5)]),
                  sample(arrays=[longs("seeds", 1), longs("positions", 1)]), sample(arrays=[odd]), sample(arrays=[doubles("temperature", 1)])]
        answers = [(answer["message"], answer.get("text")) for answer, _ in self.talk([bare], *frames)]
        said = ["takes probabilities, not logits", "no noise", "no temperature", "no seeded", "this host knows no array typical_p"]
        self.assertEqual(answers, [("unsupported", text) for text in said] + [("tokens", None)])
        (answer, _), = self.talk([self.toy, "mode=refuse"], sample())
        self.assertEqual((answer["message"], answer["text"], answer["cell"]), ("unsupported", "not today", "c"))

    def test_senseless_messages_are_errors(self):
        half = ("values", "F16", [1, 2], b"\0" * 4)
        empty = ("values", "F32", [1, 0], b"")
        frames = [sample(0), sample(1, 0), sample(1, 1, -1), sample(1, 1, 1 << 64), sample(kind="odds"), sample(draws_="1", draws="x"),
                  sample(values=half), sample(values=empty), sample(2, arrays=[indices(0)]), sample(1, arrays=[indices(3)]),
                  sample(1, arrays=[indices(-1)]), sample(3, arrays=[doubles("temperature", 1, 2)]),
                  sample(1, arrays=[("noise", "F32", [1, 3], b"\0" * 12)]), pack({"message": "sample", "draws": "1", "batch": "1"}),
                  sample(1, arrays=[longs("seeds", 1)]), sample(1, arrays=[longs("positions", 1)]), sample(draws_="1", draws="01"),
                  sample(1, arrays=[("noise", "F32", [1, 2], floats([1, 1])), longs("seeds", 1), longs("positions", 1)]),
                  sample((1 << 28) + 1), sample(1, (1 << 28) + 1), sample(columns="0"), sample(columns="3"), sample(kept="yes")]
        answers = self.talk([self.toy], *frames)
        self.assertEqual([(answer["message"], number) for number, (answer, _) in enumerate(answers)],
                         [("error", number) for number in range(len(frames))])


class Refusals(ToyChild):
    def test_usage(self):
        self.refused([], b"", "usage", "torch")
        self.refused(["no-such-engine"], b"", "no-such-engine", "torch")
        self.refused(["host"], b"", "known are")
        self.refused([self.toy + ".py"], b"", "no file")

    def test_options(self):
        self.refused([self.toy, "colour=red"], hello(), "colour", "dtype, mode, word")
        self.refused([self.toy, "mode=odd"], hello(), "mode=odd", "slices")
        self.refused([self.toy, "mode"], hello(), "'mode'")
        self.refused([self.toy, "word=a", "word=b"], hello(), "twice")
        self.refused([self.toy, "word=bad"], hello(), "the word is bad")

    def test_modules(self):
        lacking = self.file("lacking.py", 'INSTALL = "ask a friend"\nimport a_package_nobody_has\n')
        self.refused([lacking], hello(), "a_package_nobody_has", "ask a friend")
        self.refused([self.file("empty.py", "")], hello(), "no class Worker")
        for line in ('takes = "odds"', 'dtype = "f8"', 'capabilities = "flight"', "versions = 3"):
            text = "class Worker:\n    %s\n    def __init__(self, options): pass\n" % line
            self.refused([self.file("wrong.py", text)], hello(), line.split()[0])

    def test_a_worker_that_breaks_on_the_way_up(self):
        for text in ("class Worker:\n    def __init__(self, options): return 1 / 0\n", "def broken(:\n"):
            status, output, errors = run([self.file("wrong.py", text)], hello())
            self.assertEqual((status, output), (2, b""), errors)
            self.assertIn("Traceback", errors)
            self.assertRegex(errors.splitlines()[-1], "^host.py: .*wrong.py cannot start: (ZeroDivision|Syntax)Error")
        text = "class Worker:\n    files = {'a': '/no/such/file'}\n    def __init__(self, options): pass\n"
        self.refused([self.file("wrong.py", text)], hello(), "/no/such/file")

    def test_broken_frames(self):
        good = hello()
        entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}

        def document(header, data):
            text = header if isinstance(header, bytes) else json.dumps(header).encode()
            return struct.pack("<QQ", 8 + len(text) + len(data), len(text)) + text + data

        def arrays(data=b"\0" * 8, **changed):
            return document({"__metadata__": {"message": "hello"}, "x": dict(entry, **changed)}, data)

        broken = [good[:3], good[:-1], good + b"\1", struct.pack("<Q", 4) + b"\0" * 4, struct.pack("<Q", 1 << 40),
                  struct.pack("<QQ", 8, 99), document(b"{", b""), document(b"[]", b""), document(b"\xff", b""), document({}, b""),
                  document({"__metadata__": {"message": 1}}, b""), document(b'{"__metadata__":{},"__metadata__":{}}', b""),
                  arrays(b"\0" * 7), arrays(b"\0" * 9), arrays(dtype="F128"), arrays(shape=[3]), arrays(shape=[-2]),
                  arrays(shape=[2.0]), arrays(data_offsets=[1, 9]), arrays(data_offsets=[0]), arrays(shape=None),
                  pack({"message": "dance"}), pack({"message": "hello", "protocol": "2"}), document(b"[" * 100000, b"")]
        for stream in broken:
            status, _, errors = run([self.toy], stream)
            self.assertEqual(status, 2, (stream[:80], errors))
            self.assertEqual(errors.count("host.py: "), 1, errors)
            self.assertNotIn("Traceback", errors)

    def test_a_judge_that_goes_away(self):
        child = subprocess.Popen([sys.executable, HOST, self.toy], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.close()
        _, errors = child.communicate(hello())
        self.assertEqual((child.returncode, errors.count(b"Traceback")), (1, 0))


class Examples(Child):
    """What users copy is right in its frequencies, and never draws an id of probability zero."""

    def judge(self, words):
        (answer, token), = self.talk(words, sample(20000, 32, 38117, values=PMF_VALUES))
        self.assertEqual(answer["message"], "tokens", answer)
        self.assert_frequencies(token, 20000, PMF)

    def test_the_example(self):
        self.judge([EXAMPLE])

    def test_the_worker_in_the_docstring(self):
        with open(HOST) as file:
            text = file.read()
        block = text[text.index("    import random\n"):text.index("Attributes a worker may add")]
        self.judge([self.file("stranger.py", re.sub("(?m)^    ", "", block)), "sign=-1"])


if __name__ == "__main__":
    unittest.main()
