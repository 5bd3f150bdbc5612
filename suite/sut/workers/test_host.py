# SPDX-License-Identifier: MIT
"""test_host.py: runs host.py as a child and talks to it in frames written here by hand: python3 test_host.py

The frames are packed and unpacked apart from host.py, from the text of ../protocol/frame.h. The tests of torch.py run
where this Python, or Debian's, has torch; elsewhere they say that they were skipped.
"""
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
HOST = os.path.join(HERE, "host.py")
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


def pack(metadata, arrays=()):
    """One frame; arrays: (name, dtype, shape, bytes)."""
    header, data = {"__metadata__": metadata}, b""
    for name, dtype, shape, content in arrays:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    document = struct.pack("<Q", len(text)) + text + data
    return struct.pack("<Q", len(document)) + document


def unpack(stream):
    """[(metadata, tokens)] of a worker's whole output."""
    answers = []
    while stream:
        length, header = struct.unpack_from("<QQ", stream)
        entries = json.loads(stream[16:16 + header].decode())
        data, token = stream[16 + header:8 + length], None
        assert len(data) + header + 8 == length
        if "token" in entries:
            assert entries["token"]["dtype"] == "I32" and entries["token"]["data_offsets"] == [0, len(data)]
            token = list(struct.unpack("<%di" % (len(data) // 4), data))
            assert entries["token"]["shape"] == [len(token)]
        answers.append((entries["__metadata__"], token))
        stream = stream[8 + length:]
    return answers


def run(words, stream, python=sys.executable):
    child = subprocess.run([python, HOST] + words, input=stream, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return child.returncode, child.stdout, child.stderr.decode()


def floats(values):
    return struct.pack("<%df" % len(values), *values)


def hello():
    return pack({"message": "hello", "protocol": "1", "plan": "p", "plan_sha256": "ab"})


def sample(draws=1, batch=1, seed=1, kind="probabilities", values=None, arrays=(), **changed):
    metadata = {"message": "sample", "cell": "c", "stage": "1", "batch": str(batch), "chunk": "5", "draws": str(draws),
                "seed": str(seed), "kind": kind}
    metadata.update(changed)
    values = values or ("values", "F32", [3, 2], floats([.5, .5, 1, 0, 0, 1]))
    return pack(metadata, [values] + list(arrays))


def indices(*rows):
    return ("row_index", "I32", [len(rows)], struct.pack("<%di" % len(rows), *rows))


def doubles(name, *values):
    return (name, "F64", [len(values)], struct.pack("<%dd" % len(values), *values))


def longs(name, *values):
    return (name, "I64", [len(values)], struct.pack("<%dq" % len(values), *values))


PMF = [0, .5, 0, .25, .125, .125, 0]
PMF_VALUES = ("values", "F32", [1, len(PMF)], floats(PMF))


class Child(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.toy = self.file("toy.py", TOY)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def talk(self, words, *frames, python=sys.executable):
        status, output, errors = run(words, b"".join(frames), python)
        self.assertEqual(status, 0, errors)
        return unpack(output)

    def assert_frequencies(self, token, draws, pmf):
        """Five standard deviations; the seeds of these tests are fixed."""
        self.assertEqual(len(token), draws)
        for id, p in enumerate(pmf):
            self.assertLessEqual(abs(token.count(id) - draws * p), 5 * math.sqrt(draws * p * (1 - p)), (id, p))

    def refused(self, words, stream, *said):
        status, output, errors = run(words, stream)
        self.assertEqual((status, output), (2, b""), errors)
        lines = [line for line in errors.splitlines() if line.startswith("host.py: ")]
        self.assertEqual(len(lines), 1, errors)
        self.assertNotIn("Traceback", errors)
        for word in said:
            self.assertIn(word, lines[0])


class Messages(Child):
    def test_hello_names_everything(self):
        (answer, token), = self.talk([self.toy, "word=x"], hello())
        self.assertIsNone(token)
        digest = {}
        for label, path in (("toy.py", self.toy), ("host.py", HOST)):
            with open(path, "rb") as file:
                digest["file:" + label] = hashlib.sha256(file.read()).hexdigest()
        expected = {"message": "hello", "protocol": "1", "plan": "p", "plan_sha256": "ab", "name": "toy", "version": "7",
                    "device": "cpu", "takes": "logits probabilities", "dtype": "f32",
                    "capabilities": "temperature noise seeded", "contract": '{"rng": "none"}', "version:library": "1.2",
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
        top_k = longs("top_k", 1)
        bare = self.file("bare.py", "class Worker:\n    def __init__(self, options): pass\n"
                                    "    def reset(self, seed): pass\n    def sample(self, call): return [0] * call.draws\n")
        frames = [sample(kind="logits"), sample(arrays=[noise]), sample(arrays=[doubles("temperature", .5)]),
                  sample(arrays=[longs("seeds", 1), longs("positions", 1)]), sample(arrays=[top_k]), sample(arrays=[doubles("temperature", 1)])]
        answers = [(answer["message"], answer.get("text")) for answer, _ in self.talk([bare], *frames)]
        said = ["takes probabilities, not logits", "no noise", "no temperature", "no seeded", "this host knows no array top_k"]
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
                  sample((1 << 28) + 1), sample(1, (1 << 28) + 1)]
        for frame in frames:
            (answer, _), = self.talk([self.toy], frame)
            self.assertEqual(answer["message"], "error", answer)


class Refusals(Child):
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


def python_with_torch():
    for python in (os.environ.get("SAMPLEGATE_TORCH_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and os.path.exists(python):
            child = subprocess.run([python, "-c", "import torch; torch.multinomial"], cwd=os.sep,  # where no torch.py is ours
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if child.returncode == 0:
                return python
    return None


PYTHON = python_with_torch()


@unittest.skipUnless(PYTHON, "no torch in %s nor in /usr/bin/python3" % sys.executable)
class Torch(Child):
    """Few children, since torch takes seconds to import: one for each rule, with all its frames."""

    def torch(self, words, *frames):
        return self.talk(["torch"] + words, *frames, python=PYTHON)

    def test_rules(self):
        zipf = [1 / (id + 1) for id in range(5000)]
        wide = ("values", "F32", [1, 5000], floats([weight / sum(zipf) for weight in zipf]))
        # race: p / q; a weight of zero never wins, not even on noise of zero.
        q, p = [.5, .25, 2, 1e-3, .8, .1, 0, 1, 1, 3, 2, 1], [.25, .75, 0]
        noise, narrow = ("noise", "F32", [4, 3], floats(q)), ("values", "F32", [1, 3], floats(p))
        expected = [max((0, 1, 2), key=lambda i: p[i] / max(q[3 * d + i], 1e-38)) for d in range(4)]
        dead = ("values", "F32", [1, 2], floats([0, 0]))
        frames = [sample(20000, 32, 38117, values=PMF_VALUES)]
        frames += [sample(70, batch, seed, values=wide) for seed, batch in enumerate((1, 8, 32))]
        frames += [sample(4, 3, values=narrow, arrays=[noise]), sample(values=dead), sample(arrays=[doubles("temperature", .5)])]
        answers = {rule: self.torch(["rule=" + rule], *frames) for rule in ("multinomial", "race", "gumbel")}
        for answer in answers.values():
            self.assert_frequencies(answer[0][1], 20000, PMF)
            self.assertEqual((answer[6][0]["message"], answer[6][0]["text"]), ("unsupported", "no temperature"))
        # The published upgrade changes no token: both rules make the same generator call.
        self.assertEqual(answers["multinomial"][:4], answers["race"][:4])
        self.assertGreater(len(set(answers["race"][1][1])), 20)
        self.assertEqual([answers[rule][4][1] for rule in ("race", "gumbel")], [expected] * 2)
        self.assertEqual(answers["multinomial"][4][0]["text"], "no noise")
        # A row without weight: the old rule raises, the new one answers 0.
        self.assertEqual((answers["multinomial"][5][0]["message"], answers["race"][5][1]), ("error", [0]))

    def test_logits_and_temperature(self):
        logits, degrees, q = [0, 1, 2], [.1, 1, 10], [1, 1, 3.5]
        values, noise = ("values", "F32", [1, 3], floats(logits)), ("noise", "F32", [3, 3], floats(q * 3))
        frame = sample(3, 2, kind="logits", values=values, arrays=[noise, doubles("temperature", *degrees)])
        expected = [max((0, 1, 2), key=lambda i: math.exp(logits[i] / t) / q[i]) for t in degrees]
        self.assertEqual(set(expected), {1, 2})
        (answer, _), (_, token) = self.torch(["rule=race", "takes=logits"], hello(), frame)
        self.assertEqual([answer[key] for key in ("name", "dtype", "takes", "capabilities", "device")],
                         ["torch-race", "f32", "logits", "temperature noise", "cpu"])
        self.assertEqual(answer["version"], answer["version:torch"])
        self.assertRegex(answer["file:torch/version.py"], "^[0-9a-f]{64}$")
        self.assertEqual(token, expected)

    def test_half_precision(self):
        for dtype, half in (("F16", 0x3800), ("BF16", 0x3f00)):  # a half in either
            values = ("values", dtype, [2, 3], struct.pack("<6H", half, 0, half, 0, half, 0))
            (_, token), = self.torch(["dtype=" + dtype.lower()], sample(200, 8, values=values, arrays=[indices(*[0, 1] * 100)]))
            self.assertEqual((set(token[::2]), set(token[1::2])), ({0, 2}, {1}))

    def test_a_bad_option(self):
        status, output, errors = run(["torch", "threads=0"], hello(), PYTHON)
        self.assertEqual((status, output), (2, b""))
        self.assertIn("host.py: option threads=0", errors)


if __name__ == "__main__":
    unittest.main()
