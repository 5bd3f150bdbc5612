# SPDX-License-Identifier: MIT
"""test_vllm_stages.py: vLLM 0.5.0's stages where plan card does not look: greedy rows, forks, other dtypes, refusals. Skipped
where no torch is: python3 test_vllm_stages.py"""
import struct
import unittest

from test_child import Child, doubles, floats, indices, longs, pack, run, sample
from test_host_time import arrays
from test_torch import PYTHON

LOGITS = [0, 3, 1, 2, 3, -9, 2.5, 0, 1, 1]
ROWS = ("values", "F32", [2, 5], floats(LOGITS))


@unittest.skipUnless(PYTHON, "no torch here")
class Stages(Child):
    def draw(self, draws, *more, words=(), values=ROWS, **changed):
        (answer, token), = self.talk(["vllm_stages", *words], sample(draws, draws, kind="logits", values=values, arrays=list(more), **changed),
                                     python=PYTHON)
        return answer, token

    def test_greedy_rows_ignore_filters_but_not_penalties(self):
        cold, index = doubles("temperature", 0, 0), indices(0, 1)
        filters = [index, cold, doubles("min_p", 1, 0), longs("top_k", 2, -1)]
        counts = [index, cold, doubles("frequency_penalty", 2, 0), longs("output_tokens", 1, 1), longs("output_offsets", 0, 2, 2)]
        answers = self.talk(["vllm_stages"], *[sample(2, 2, kind="logits", values=ROWS, arrays=more) for more in (filters, counts)],
                            python=PYTHON)
        self.assertEqual([token for _, token in answers], [[1, 1], [4, 1]])  # 3 - 2 * 2 loses against id 4's 3

    def test_one_row_of_the_top(self):
        _, token = self.draw(40, indices(*[1] * 40), longs("top_k", *[1] * 40))
        self.assertEqual(set(token), {1})

    def test_half_precision(self):
        for dtype, bits in (("bf16", [int.from_bytes(struct.pack("<f", x)[2:], "little") for x in LOGITS]),
                            ("f16", [int.from_bytes(struct.pack("<e", x), "little") for x in LOGITS])):
            values = ("values", dtype.upper(), [2, 5], struct.pack("<10H", *bits))
            answer, token = self.draw(2, indices(0, 1), doubles("temperature", 0, 0), words=["dtype=" + dtype], values=values)
            if answer["message"] == "error":  # torch 1.13 has no float16 softmax on a CPU
                self.assertIn("not implemented for 'Half'", answer["text"])
            else:
                self.assertEqual(token, [1, 1])

    def test_refusals(self):
        asked = ([doubles("temperature", -1)], [doubles("top_p", 0)], [longs("top_k", 0)], [doubles("repetition_penalty", 2.5)],
                 [doubles("presence_penalty", .5), longs("output_tokens", 5), longs("output_offsets", 0, 1)])
        frames = [sample(1, kind="logits", values=ROWS, arrays=more) for more in asked]
        for answer, token in self.talk(["vllm_stages"], *frames, python=PYTHON):
            self.assertEqual((answer["message"], token), ("error", None))
            self.assertTrue("refuses" in answer["text"] or "outside the vocabulary" in answer["text"])

    def test_forks_of_a_prompt_are_timed_as_one_row(self):
        frames = [pack({"message": "time", "cell": "c", "warmup": "1", "calls": "2", "fill": "0", "draws": "6", "batch": "6", "seed": "3",
                        "kind": "logits"}, [ROWS, indices(*order)]) for order in ((0, 0, 0, 1, 1, 1), (0, 1, 0, 1, 0, 1))]
        status, output, errors = run(["vllm_stages"], b"".join(frames), python=PYTHON)
        for said, got in arrays(output):
            self.assertEqual(said["message"], "times", errors)
            self.assertEqual(len(got["token"]), 6)
            self.assertTrue(all(0 <= token < 5 for token in got["token"]))


if __name__ == "__main__":
    unittest.main()
