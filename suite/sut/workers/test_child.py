# SPDX-License-Identifier: MIT
"""test_child.py: what the tests of this folder share: frames written by hand, and host.py as a child to talk to.

The frames are packed and unpacked apart from host_frame.py, from the text of ../protocol/frame.h."""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
HOST = os.path.join(HERE, "host.py")


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
    """[(metadata, tokens)] of a worker's whole output; with kept: metadata["kept"] is (shape, flags)."""
    answers = []
    while stream:
        length, header = struct.unpack_from("<QQ", stream)
        entries = json.loads(stream[16:16 + header].decode())
        data, token = stream[16 + header:8 + length], None
        assert len(data) + header + 8 == length
        if "token" in entries:
            end = entries["token"]["data_offsets"][1]
            assert entries["token"]["dtype"] == "I32" and entries["token"]["data_offsets"][0] == 0
            token = list(struct.unpack("<%di" % (end // 4), data[:end]))
            assert entries["token"]["shape"] == [len(token)]
            if "kept" in entries:
                assert entries["kept"]["dtype"] == "U8" and entries["kept"]["data_offsets"] == [end, len(data)]
                entries["__metadata__"]["kept"] = entries["kept"]["shape"], list(data[end:])
            else:
                assert end == len(data)
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
