"""test_requests.py: the model of what a request changes: seeds, filters, penalties and batches, by hand and by brute force.

Run: python3 golden/model/test_requests.py (a few seconds)."""
import math
import os
import unittest
from decimal import Decimal
from fractions import Fraction

import boundary_cases
import determinism
import filters
import penalties
import replay
import seeded
import tokens
from digits import fifteen
from files import GOLDEN
from law import Law
from philox import RACE_STREAM, words
from request_row import Row, penalised


class Requests(unittest.TestCase):
    HALVES = [Decimal(2) ** -k for k in (1, 2, 3, 4, 5, 6, 7, 7)]

    def test_murmur3(self):
        for text, hashed in ((b"", 0), (b"test", 0xBA6BD213), (b"abcd", 0x43ED676A)):
            words = [int.from_bytes(text[i:i + 4], "little") for i in range(0, len(text), 4)]
            self.assertEqual(seeded.murmur3(words), hashed)

    def test_what_the_wheels_answered(self):
        """golden/kat/seeded.txt: hashes, noise and tokens of SGLang's released wheels, which the model has not seen."""
        rows = {"halves": self.HALVES, "halves-reversed": self.HALVES[::-1], "uniform-8": [Decimal(1) / 8] * 8,
                "uniform-1000": [Decimal("0.001")] * 1000, "uniform-1300": [1 / Decimal(1300)] * 1300}
        checked = 0
        with open(os.path.join(GOLDEN, "kat", "seeded.txt"), encoding="utf-8") as file:
            for word in (text.split("#")[0].split() for text in file):
                if not word or word[1] == "uniform-151936":
                    continue
                checked += 1
                if word[0] == "hash":
                    self.assertEqual(seeded.seeded_hash(int(word[1]) % 2**64, int(word[2]), int(word[3])), int(word[4], 16))
                elif word[0] == "gumbel":
                    self.assertLess(abs(seeded.Seeded.exact(int(word[1], 16)) / Decimal(word[2]) - 1), Decimal("1e-10"))
                elif word[0] == "tokens":
                    columns = seeded.Columns(seeded.Seeded, rows[word[1]])
                    for k, token in enumerate(word[4:]):
                        self.assertEqual(columns.argmax(int(word[2]) % 2**64, int(word[3]) + k)[0], int(token))
                else:  # by rank: heaviest first, and what top_k and top_p leave
                    self.assertEqual(word[1], "halves-reversed")
                    left = 8 if word[4] == "-1" else int(word[4])
                    columns = seeded.Columns(seeded.Seeded, self.HALVES[:left] + [Decimal(0)] * (8 - left))
                    for k, token in enumerate(word[6:]):
                        rank = columns.argmax(int(word[2]) % 2**64, int(word[3]) + k)[0]
                        self.assertEqual((7, 6, 5, 4, 3, 2, 0, 1)[rank], int(token))
        self.assertGreater(checked, 30)

    def test_seeded_2025_by_brute_force(self):
        """Against double arithmetic on the published lines, where nothing is near."""
        p = [0.5, 0.25, 0.125, 0.125]
        columns = seeded.Columns(seeded.Seeded2025, [Decimal(x) for x in p])
        for position in range(200):
            step = (11 * 19349663 ^ position * 73856093) % 2**64
            u = [((step * 8589934591 ^ c * 479001599) % 2**64) % 2**24 / 2**24 for c in range(4)]
            score = [-math.log(-math.log(x + 1e-9) + 1e-9) + math.log(q + 1e-9) for x, q in zip(u, p)]
            if sorted(score)[-1] - sorted(score)[-2] > 1e-3:
                self.assertEqual(columns.argmax(11, position)[0], score.index(max(score)))

    def test_rules_follow_the_filtered_law(self):
        row = Row([1993, 710, 0, -3000, 0], {"top_k": 3})  # .70, .20, .10 of ids 0, 1, 2: the lowest of the two equal ones
        self.assertEqual(row.kept, {0, 1, 2})
        for rule, noise in (("categorical", "id"), ("race", "id"), ("torch-race", "id"), ("seeded", "id"), ("seeded", "rank")):
            drawn = [row.draw(rule, noise, 6, k)[0] for k in range(2000)]
            chi_square = sum((drawn.count(i) - 2000 * float(row.left.of_id(i))) ** 2 / (2000 * float(row.left.of_id(i))) for i in range(3))
            self.assertLess(chi_square, 18.5)  # 2 degrees of freedom, 1e-4; the seeds are fixed

    def test_filters_by_hand(self):
        quarters = [2048, 2048, 0, 2048, None, 2048]  # 1/4 each but for e^-2
        for request, kept in (({}, {0, 1, 2, 3, 5}), ({"top_k": 2}, {0, 1}), ({"top_p": 0.3}, {0, 1}), ({"min_p": 0.5}, {0, 1, 3, 5}),
                              ({"top_k": 3, "top_p": 0.9, "min_p": 0.5}, {0, 1, 3}), ({"min_p": 0.5, "temperature": 4}, {0, 1, 2, 3, 5}),
                              ({"top_p": 0.999}, {0, 1, 2, 3, 5}), ({"top_k": 1}, {0})):
            self.assertEqual(Row(quarters, request).kept, kept)
        with self.assertRaises(ValueError):
            Row([0, 0], {"top_p": 0.5})  # the mass before id 1 is p: which side fp32 falls on is another matter
        with self.assertRaises(ValueError):
            Row([0, -710], {"min_p": 0.4999})  # e^(-710/1024) = 0.4998939

    def test_penalties_by_hand(self):
        units = [1024, -1024, None, 2048, 0]
        asked = {"repetition_penalty": 2, "frequency_penalty": 0.5, "presence_penalty": 0.25, "prompt": (3,), "output": (0, 0, 1, 2)}
        # 1 - 2/2 - 1/4 = -1/4, doubled; -1 - 1/2 - 1/4 doubled; in the prompt only: halved
        self.assertEqual(penalised(units, asked), [-512, -3584, None, 1024, 0])

    def test_ties_are_ties(self):
        for seed, position, _ in determinism.TIE_RUNS:
            noise = words(seed, position, 32768, RACE_STREAM)
            best = max(noise)  # the least q
            self.assertEqual(noise.count(best), 2)
            self.assertEqual(tokens.race_token(Law([0] * 32768, 1), tokens.RaceNoise, seed, position)[0], noise.index(best))

    def test_batches_hold_the_same_requests(self):
        orders = replay.batches(replay.REQUESTS)
        self.assertEqual({tuple(sorted(orders[how])) for how in ("permuted", "joined")}, {tuple(orders["listed"])})
        self.assertEqual([len(orders[how]) for how in ("filtered", "doubled", "alone")], [24, 36, 1])


class Filters(unittest.TestCase):
    """Worked by hand: weights, p, then the kept ids as vLLM and HF, llama.cpp, TensorRT-LLM's torch and FlashInfer have them, and
    the masses of TensorRT-LLM's C++."""
    F = Fraction
    HAND = [
        ((F(1, 2), F(1, 4), F(1, 4)), F(1, 2), {0}, {0}, {0, 1}, {0}, {0: F(1)}),
        ((F(1, 4),) * 4, F(1, 2), {2, 3}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0: F(1, 2), 1: F(1, 2)}),
        ((F(1, 4),) * 4, F(1, 100), {3}, {0}, {0}, {0, 1, 2, 3}, {0: F(1)}),
        ((F(1, 2), F(1, 4), F(1, 8), F(1, 8)), F(3, 4), {0, 1}, {0, 1}, {0, 1, 2}, {0, 1}, {0: F(2, 3), 1: F(1, 3)}),
        ((F(1, 2), F(1, 4), F(1, 8), F(1, 8)), F(5, 8), {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0: F(4, 5), 1: F(1, 5)}),
        ((F(2, 5), F(3, 10), F(3, 10)), F(1, 2), {0, 2}, {0, 1}, {0, 1}, {0, 1, 2}, {0: F(4, 5), 1: F(1, 5)}),
    ]

    def left(self, engine, weights, **parameters):
        return filters.filtered(engine, dict(enumerate(weights)), parameters)[0]

    def test_nucleus_by_hand(self):
        for weights, p, vllm, llama, torch, flashinfer, cpp in self.HAND:
            for engines, kept in ((("vllm-0.5.0", "vllm-v1", "hf-transformers"), vllm), (("llama.cpp",), llama),
                                  (("tensorrt-llm-torch", "sglang-pytorch"), torch),
                                  (("flashinfer-joint", "flashinfer-top-k-first"), flashinfer)):
                for engine in engines:
                    self.assertEqual(set(self.left(engine, weights, top_p=p)), kept, (engine, weights, p))
            self.assertEqual(self.left("tensorrt-llm-cpp", weights, top_p=p), cpp)

    def test_order_by_hand(self):
        row = [Fraction(w, 100) for w in (40, 20, 12, 8)] + [Fraction(1, 100)] * 20
        p, m = Fraction(89, 100), Fraction(1, 10)
        self.assertEqual(set(self.left("vllm-0.5.0", row, top_p=p, min_p=m)), {0, 1, 2, 3})
        self.assertEqual(set(self.left("vllm-v1", row, top_p=p, min_p=m)), {0, 1, 2})
        row = [Fraction(w, 100) for w in (35, 25, 20, 5)] + [Fraction(3, 100)] * 5
        self.assertEqual(set(self.left("flashinfer-joint", row, top_k=4, top_p=Fraction(82, 100))), {0, 1, 2, 3})
        self.assertEqual(set(self.left("flashinfer-top-k-first", row, top_k=4, top_p=Fraction(82, 100))), {0, 1, 2})

    def test_nothing_asked(self):
        for engine in filters.ENGINES:
            self.assertEqual(self.left(engine, [Fraction(3), Fraction(1)]), {0: Fraction(3, 4), 1: Fraction(1, 4)})

    def test_penalties_by_hand(self):
        asked = {"presence_penalty": 1, "repetition_penalty": Fraction(6, 5), "output": [0]}
        for engine, expected in (("vllm-v1", Fraction(4, 3)), ("tensorrt-llm-cpp", Fraction(7, 3)), ("sglang", Fraction(5, 3))):
            self.assertEqual(penalties.edited(engine, [Fraction(2)], asked, Fraction(1, 2)), [expected])
        self.assertEqual([fifteen(mass) for mass in penalties.law([Fraction(1), None, Fraction(0)])],
                         ["7.31058578630005e-01", "0.00000000000000e+00", "2.68941421369995e-01"])

    def test_refused(self):
        for parameters, name in (({"top_k": 0}, "top_k"), ({"top_p": 0}, "top_p"), ({"top_p": float("nan")}, "top_p"), ({"min_p": -1}, "min_p"),
                                 ({"min_p": float("nan")}, "min_p"), ({"top_k": 1, "top_p": 2, "min_p": 1}, None)):
            self.assertEqual(filters.refused(parameters), name)
        self.assertEqual(penalties.refused({"repetition_penalty": float("nan")}, 3), "repetition_penalty")
        self.assertEqual(penalties.refused({"output": [3]}, 3), "output")
        self.assertIsNone(penalties.refused({"frequency_penalty": -2, "output": [2]}, 3))

    def test_too_near(self):
        case = boundary_cases.row("near", "", 2**24, [2**23 + 1, 2**23 - 1], top_p=0.5)
        with self.assertRaises(ValueError):
            boundary_cases.filtered(case, "vllm-v1")


if __name__ == "__main__":
    unittest.main()
