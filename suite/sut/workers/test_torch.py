# SPDX-License-Identifier: MIT
"""test_torch.py: torch.py run by host.py, where this Python, or Debian's, has torch; elsewhere it says that it was skipped:
python3 test_torch.py"""
import math
import os
import struct
import subprocess
import sys
import unittest

from test_child import PMF, PMF_VALUES, Child, doubles, floats, hello, indices, longs, run, sample


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
