# SPDX-License-Identifier: MIT
"""test_torch.py: torch.py run by host.py, where this Python, or Debian's, has torch; elsewhere it says that it was skipped:
python3 test_torch.py"""
import json
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
        bad = [sample(kind="logits", arrays=[doubles("temperature", t)]) for t in (0, -1, 1e-60, float("nan"), float("inf"))]
        (answer, _), (_, token), *refused = self.torch(["rule=race", "takes=logits"], hello(), frame, *bad)
        self.assertEqual([answer["message"] for answer, _ in refused], ["error"] * len(bad))
        self.assertEqual([answer[key] for key in ("name", "dtype", "takes", "capabilities", "device")],
                         ["torch-race", "f32", "logits", "temperature noise top_k top_p min_p kept_out", "cpu"])
        self.assertEqual(answer["version"], answer["version:torch"])
        self.assertRegex(answer["file:torch/version.py"], "^[0-9a-f]{64}$")
        self.assertEqual(token, expected)

    def test_half_precision(self):
        for dtype, half in (("F16", 0x3800), ("BF16", 0x3f00)):  # a half in either
            values = ("values", dtype, [2, 3], struct.pack("<6H", half, 0, half, 0, half, 0))
            (_, token), = self.torch(["dtype=" + dtype.lower()], sample(200, 8, values=values, arrays=[indices(*[0, 1] * 100)]))
            self.assertEqual((set(token[::2]), set(token[1::2])), ({0, 2}, {1}))

    # Tokens of SGLang 0.5.20's own multinomial_with_seed, run from its wheel; positions 0 to 11.
    HALVES = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 128]
    SIMPLE = {42: "010001400012", 0: "010205000001", -1: "110000040001", (1 << 32) + 42: "212014104012"}
    REVERSED = {"simple": "757567477754", "whole": "767776377765", "top_k 3": "767776677765"}

    def seeded_frame(self, row, seed, *arrays, **changed):
        values = ("values", "F32", [1, len(row)], floats(row))
        return sample(12, 5, values=values, arrays=[longs("seeds", *[seed] * 12), longs("positions", *range(12)), *arrays], **changed)

    def test_seeded(self):
        padded, reverse = self.HALVES + [9, 9], self.HALVES[::-1]
        one_filtered = longs("top_k", *[3 if d == 7 else -1 for d in range(12)])
        frames = [self.seeded_frame(self.HALVES, seed) for seed in self.SIMPLE]
        frames += [self.seeded_frame(padded, 42, columns="8"), self.seeded_frame(self.HALVES, 42, one_filtered),
                   sample(12, 5, 42, values=("values", "F32", [1, 8], floats(self.HALVES))),
                   self.seeded_frame(reverse, 42), hello()]
        *answers, (answer, _) = self.torch(["rule=seeded"], *frames)
        tokens = ["".join(map(str, token)) for _, token in answers]
        # Padding, a filtered neighbour and the seed of the chunk in the place of the draws' own: all as seed 42 says.
        self.assertEqual(tokens, list(self.SIMPLE.values()) + [self.SIMPLE[42]] * 3 + [self.REVERSED["simple"]])
        self.assertEqual((answer["capabilities"], json.loads(answer["contract"])),
                         ("seeded top_k top_p min_p kept_out", {"rule": "seeded", "bitwise": "same device", "rng_keying": "seed, position, column",
                                                           "filters": "sglang-pytorch"}))

    def test_seeded_by_rank(self):
        reverse, k3, p75 = self.HALVES[::-1], longs("top_k", 3), doubles("top_p", .75)
        frames = [self.seeded_frame(reverse, 42), self.seeded_frame(reverse, 42, longs("top_k", 8)), self.seeded_frame(reverse, 42, k3),
                  self.seeded_frame(reverse, 42, k3, p75), self.seeded_frame(reverse, 42, doubles("min_p", .1))]
        *answers, (refused, _) = self.torch(["rule=seeded", "noise=rank"], *frames)
        expected = [self.REVERSED[name] for name in ("simple", "whole", "top_k 3", "top_k 3")]
        self.assertEqual(["".join(map(str, token)) for _, token in answers], expected)
        self.assertEqual((refused["message"], refused["text"]), ("unsupported", "no min_p with noise=rank: SGLang refuses it with a seed"))

    def test_filters(self):
        # Ranks: id 2 (1/2), id 0 (1/4), then the ties 1 and 4 (1/8 each); id 3 has nothing.
        row = [1 / 4, 1 / 8, 1 / 2, 0, 1 / 8]
        values = ("values", "F32", [1, 5], floats(row))
        k, p, m = (lambda x: longs("top_k", x)), (lambda x: doubles("top_p", x)), (lambda x: doubles("min_p", x))
        kept = [([k(-1)], "11101"), ([k(9)], "11101"), ([k(3)], "11100"), ([k(1)], "00100"), ([p(.5)], "10100"), ([p(.4)], "00100"),
                ([p(.75)], "11100"), ([p(.8)], "11100"), ([m(.5)], "10100"), ([m(.25)], "11101"), ([k(2), p(.9)], "10100"),
                ([k(3), m(.3)], "10100"), ([p(1e-9)], "00100")]
        bad = [k(0), k(-2), p(0), p(1.5), p(float("nan")), m(-.1), m(2)]
        frames = [sample(40, 16, values=values, arrays=arrays, kept="1") for arrays, _ in kept]
        frames += [sample(values=values, arrays=[array]) for array in bad] + [sample(20000, 500, values=values, arrays=[k(2)])]
        answers = self.torch(["rule=race"], *frames)
        for (answer, token), (_, ids) in zip(answers, kept):
            self.assertEqual(answer["kept"], ([1, 5], list(map(int, ids))))
            self.assertLessEqual(set(token), {id for id, flag in enumerate(ids) if flag == "1"})
        self.assertEqual([answer["message"] for answer, _ in answers[len(kept):-1]], ["error"] * len(bad))
        self.assert_frequencies(answers[-1][1], 20000, [1 / 3, 0, 2 / 3, 0, 0])

    def test_a_bad_option(self):
        self.assertEqual(run(["torch", "noise=rank"], hello(), PYTHON)[:2], (2, b""))
        status, output, errors = run(["torch", "threads=0"], hello(), PYTHON)
        self.assertEqual((status, output), (2, b""))
        self.assertIn("host.py: option threads=0", errors)


if __name__ == "__main__":
    unittest.main()
