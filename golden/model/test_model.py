"""test_model.py: the model of laws and draws against published vectors, brute force in fractions, and the laws it should follow.

Run: python3 golden/model/test_model.py (a few seconds)."""
import math
import os
import unittest
from decimal import Decimal
from fractions import Fraction
from itertools import product

import dependence
import expectations
import tokens
from digits import fifteen
from files import GOLDEN, without_duplicates
from law import LN2, Law
from philox import CATEGORICAL_STREAM, RACE_STREAM, WORD, philox4x32, words
from tables import logits_sha256, units_of, zipf_unit


class Philox(unittest.TestCase):
    # Random123's kat_vectors, "philox4x32 10": counter, key, output.
    KNOWN = [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((WORD, WORD, WORD, WORD), (WORD, WORD), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    ]

    def test_known_answers(self):
        for counter, key, output in self.KNOWN:
            self.assertEqual(philox4x32(counter, key), output)

    def test_layout(self):
        seed, position = 0x0123456789ABCDEF, 0xFEDCBA9876543210
        out = words(seed, position, 11, RACE_STREAM)
        self.assertEqual(len(out), 11)
        block = philox4x32((2, 0, 0x76543210, 0xFEDCBA98), (0x89ABCDEF, 0x01234567))
        self.assertEqual(out[8:], list(block[:3]))
        block = philox4x32((0, 1, 0x76543210, 0xFEDCBA98), (0x89ABCDEF, 0x01234567))
        self.assertEqual(words(seed, position, 2, CATEGORICAL_STREAM), list(block[:2]))


class Tables(unittest.TestCase):
    def test_formulas(self):
        self.assertEqual(units_of({"name": "t", "kind": "list", "logits": [3, -1]}), [3, -1])
        self.assertEqual(units_of({"name": "t", "kind": "head", "vocab": 4, "head": 2, "gap": 9}), [0, 0, 9, 0])
        self.assertEqual(units_of({"name": "t", "kind": "flat", "vocab": 5, "masked": {"every": 2, "first": 1}}), [0, None, 0, None, 0])
        # ln 2 = 0.693147..., ln 10 = 2.302585...: 709.78 and 2357.85 units
        self.assertEqual([zipf_unit(1), zipf_unit(2), zipf_unit(10)], [0, -710, -2358])

    def test_zipf_against_doubles(self):
        for rank in range(1, 3000):
            self.assertEqual(zipf_unit(rank), round(-1024 * math.log(rank)))

    def test_normal_moments(self):
        units = units_of({"name": "t", "kind": "normal", "vocab": 10000, "sigma": 3})
        mean = sum(units) / 10000 / 1024
        deviation = math.sqrt(sum((u / 1024 - mean) ** 2 for u in units) / 10000)
        self.assertLess(abs(mean), 0.15)  # five standard errors
        self.assertLess(abs(deviation - 3), 0.11)

    def test_normal_floors(self):
        six = philox4x32((7, 2, 0, 0), (0, 0)) + philox4x32((7, 2, 1, 0), (0, 0))[:2]
        expected = math.floor(Fraction(2 * (sum((w >> 16) + (w & 0xFFFF) for w in six) - 393210), 64))
        self.assertEqual(units_of({"name": "t", "kind": "normal", "vocab": 8, "sigma": 2})[7], expected)

    def test_unknown_key_fails(self):
        with self.assertRaises(ValueError):
            units_of({"name": "t", "kind": "flat", "vocab": 4, "sigma": 1})

    def test_duplicate_key_fails(self):
        with self.assertRaises(ValueError):
            without_duplicates([("a", 1), ("a", 1)])

    def test_sha256_bytes(self):
        # printf '\0\0\200\277\0\0\200\377' | sha256sum: -1.0f and -inf, little-endian
        self.assertEqual(logits_sha256([-1024, None]), "07ff83fbedfa2d16913001e0a6de85a1f0ff491e83f635b02e4962c6f09b8fd9")


class Laws(unittest.TestCase):
    def test_small_law_by_hand(self):
        law = Law([1024, 0, None], 0.5)
        self.assertAlmostEqual(float(law.of_id(0)), 1 / (1 + math.exp(-2)), places=15)
        self.assertEqual(law.of_id(2), 0)
        self.assertLess(abs(sum(law.of_id(i) for i in range(3)) - 1), Decimal("1e-55"))

    def test_octaves_partition_the_law(self):
        masked = {"name": "t", "kind": "zipf", "vocab": 700, "masked": {"every": 3, "first": 1}}
        for table in (masked, {"name": "t", "kind": "normal", "vocab": 700, "sigma": 3}):
            law = Law(units_of(table), 0.7)
            octaves = expectations.octaves(law)
            self.assertEqual(sum(o["ids"] for o in octaves), sum(unit is not None for unit in law.units))
            self.assertLess(abs(sum(Decimal(o["mass"]) for o in octaves) - 1), Decimal("1e-13"))
            for o in octaves:
                weights = [math.exp((unit - law.top) / 1024 / 0.7) for unit in law.units if unit is not None]
                self.assertEqual(sum(2.0 ** -(o["octave"] + 1) < w <= 2.0 ** -o["octave"] for w in weights), o["ids"])

    def test_edge_of_an_octave_fails(self):
        law = Law([0, -1024], 1)
        law.nats_from_top = lambda unit: Decimal(0) if unit == 0 else -LN2
        with self.assertRaises(ValueError):
            expectations.octaves(law)

    def test_norms_by_hand(self):
        law = Law([0] * 8, 1)
        self.assertEqual(fifteen(expectations.sum_of_squares(law)), "1.25000000000000e-01")
        self.assertEqual(fifteen(expectations.two_thirds_norm(law)), fifteen(Decimal(8).sqrt()))

    def test_total_variation_by_enumeration(self):
        # Every sequence of n draws from three ids, in fractions.
        for weights, n in product(((3, 2, 1), (18, 1, 1), (1, 1, 2)), (1, 2, 5)):
            with self.subTest(weights=weights, n=n):
                p = [Fraction(w, sum(weights)) for w in weights]
                mean = Fraction(0)
                for draws in product(range(3), repeat=n):
                    weight = math.prod(p[i] for i in draws)
                    mean += weight * sum(abs(Fraction(draws.count(i), n) - p[i]) for i in range(3)) / 2
                closed = sum(expectations.mean_absolute_deviation(n, Decimal(q.numerator) / q.denominator) for q in p) / (2 * n)
                self.assertLess(abs(closed - Decimal(mean.numerator) / mean.denominator), Decimal("1e-50"))

    def test_total_variation_at_scale(self):
        # sqrt(2 p q / (pi n)) is the normal limit of E|X/n - p|.
        value = float(expectations.expected_total_variation(Law([0] * 20, 1), 200_000))
        self.assertLess(abs(value / (10 * math.sqrt(2 * 0.05 * 0.95 / (math.pi * 200_000))) - 1), 1e-3)

    def test_fifteen_digits(self):
        written = [fifteen(value) for value in (Decimal(1) / 3, 0, Decimal(2) ** 400)]
        self.assertEqual(written, ["3.33333333333333e-01", "0.00000000000000e+00", "2.58224987808691e+120"])


class Tokens(unittest.TestCase):
    def test_noise_ends(self):
        self.assertEqual(tokens.torch_uniform(0), 2.0**-33)
        self.assertEqual([tokens.torch_uniform(w) for w in (WORD, WORD - 126)], [1.0, 1.0])
        self.assertEqual(tokens.TorchNoise.exact(WORD), Decimal(2) ** -24)
        self.assertEqual(fifteen(tokens.RaceNoise.exact(0)), fifteen(33 * LN2))
        self.assertLess(abs(tokens.RaceNoise.exact(WORD) * 2**33 - 1), Decimal("1e-9"))

    def test_noise_is_exponential(self):
        sample = words(1, 2, 20000, RACE_STREAM)
        for noise in (tokens.RaceNoise, tokens.TorchNoise):
            q = [noise.rough(w) for w in sample]
            self.assertLess(abs(sum(q) / 20000 - 1), 0.036)  # five standard errors
            self.assertLess(abs(sum(x > math.log(2) for x in q) / 20000 - 0.5), 0.018)

    def test_rough_noise_is_near_exact(self):
        for noise in (tokens.RaceNoise, tokens.TorchNoise):
            for w in (0, 1, 12345, 2**31, WORD - 300, WORD - 1, WORD):
                self.assertLess(abs(math.log(noise.rough(w)) - float(noise.exact(w).ln())), 1e-12)

    def test_race_by_brute_force(self):
        law = Law(units_of({"name": "t", "kind": "zipf", "vocab": 37, "masked": {"every": 5, "first": 0}}), 0.7)
        for noise in (tokens.RaceNoise, tokens.TorchNoise):
            for position in range(40):
                ratio = [law.of_id(i) / noise.exact(w) for i, w in enumerate(words(9, position, 37, RACE_STREAM))]
                self.assertEqual(tokens.race_token(law, noise, 9, position)[0], ratio.index(max(ratio)))

    def test_tie_goes_to_the_lowest_id(self):
        law = Law([0] * 151936, 1)
        token, gap = tokens.race_token(law, tokens.TorchNoise, tokens.TIE_SEED, tokens.TIE_POSITIONS[0])
        keys = [tokens.TorchNoise.key(w) for w in words(tokens.TIE_SEED, tokens.TIE_POSITIONS[0], 151936, RACE_STREAM)]
        self.assertEqual(keys.count(max(keys)), 2)
        self.assertEqual(token, keys.index(max(keys)))
        self.assertGreater(gap, Decimal("1e-6"))

    def test_categorical_by_fractions(self):
        law = Law([0, None, 0, 0, None], 1)
        cdf = law.cdf()
        for position in range(300):
            low, high = words(5, position, 2, CATEGORICAL_STREAM)
            u = Fraction(low + 2**32 * high, 2**64)
            self.assertEqual(tokens.categorical_token(law, cdf, 5, position)[0], (0, 2, 3)[int(3 * u)])

    def test_rules_follow_the_law(self):
        law = Law([1993, 710, 0], 1)  # .70, .20, .10
        cdf = law.cdf()
        for draw in (lambda k: tokens.race_token(law, tokens.RaceNoise, 3, k), lambda k: tokens.race_token(law, tokens.TorchNoise, 4, k),
                     lambda k: tokens.categorical_token(law, cdf, 5, k)):
            drawn = [draw(k)[0] for k in range(3000)]
            chi_square = sum((drawn.count(i) - 3000 * float(law.of_id(i))) ** 2 / (3000 * float(law.of_id(i))) for i in range(3))
            self.assertLess(chi_square, 18.5)  # 2 degrees of freedom, 1e-4; the seeds are fixed

    def test_a_thousand_cases_a_rule(self):
        self.assertEqual(sum(count for _, _, count in tokens.CASES), 1000)

    def test_edges_are_used(self):
        pairs = [tokens.seed_and_position("x", k) for k in range(24)]
        self.assertEqual([set(tokens.EDGES) - {pair[side] for pair in pairs} for side in (0, 1)], [set(), set()])


class Vectors(unittest.TestCase):
    def test_published_file(self):
        """The lines of golden/kat/philox4x32.txt: ten hexadecimal words, counter, key and output; # opens a comment."""
        path = os.path.join(GOLDEN, "kat", "philox4x32.txt")
        if not os.path.exists(path):
            self.skipTest("golden/kat/philox4x32.txt is not there")
        checked = 0
        with open(path, encoding="utf-8") as file:
            for text in file:
                value = [int(word, 16) for word in text.split("#")[0].split()]
                if value:
                    self.assertEqual(len(value), 10)
                    self.assertEqual(philox4x32(tuple(value[:4]), tuple(value[4:6])), tuple(value[6:]))
                    checked += 1
        self.assertGreater(checked, 0)


class Dependence(unittest.TestCase):
    def test_every_outcome(self):
        """Three pairs of every two draws from a law in whole numbers."""
        for weights in ([1, 1, 1], [2, 1]):
            total = sum(weights)
            chances = [0] * 4
            for draws in product(range(len(weights)), repeat=6):
                equal = sum(draws[2 * k] == draws[2 * k + 1] for k in range(3))
                chances[equal] += Fraction(math.prod(weights[i] for i in draws), total**6)
            mass, scale = dependence.tails(3, Fraction(sum(w * w for w in weights), total**2))
            self.assertEqual([scale(m) for m in mass], chances)
            for level in (Fraction(1, 10), Fraction(1, 3), Fraction(9, 10)):
                sums = [sum(chances[:k + 1]) for k in range(4)]
                allowed = [k for k in range(4) if sums[k] <= level]
                self.assertEqual(dependence.critical(mass, scale, level), (allowed[-1], sums[allowed[-1]]) if allowed else (-1, 0))

    def test_probability(self):
        self.assertEqual(dependence.probability(Law([0, None, 0, 0], 1)), Fraction(1, 3))
        self.assertAlmostEqual(float(dependence.probability(Law([0, -710], 1))), 5 / 9, places=3)

    def test_a_tail_on_its_level_is_refused(self):
        with self.assertRaises(ValueError):
            dependence.far(Fraction(1, 4), Fraction(1, 4))


if __name__ == "__main__":
    unittest.main()
