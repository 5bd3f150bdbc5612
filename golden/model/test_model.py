"""test_model.py: the model against published vectors, brute force in fractions, and the laws it should follow.

Run: python3 golden/model/test_model.py (a few seconds)."""
import math
import os
import unittest
from decimal import Decimal
from fractions import Fraction
from itertools import product

import boundary_cases
import by_hand
import defaults
import determinism
import defaults_cases
import dependence
import expectations
import filters
import penalties
import predicate
import predicate_cases
import replay
import seeded
import tokens
import vllm
from digits import fifteen
from files import GOLDEN, without_duplicates
from law import LN2, Law
from philox import CATEGORICAL_STREAM, RACE_STREAM, WORD, philox4x32, words
from request_row import Row, penalised
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


class Engines(unittest.TestCase):
    """Hand-found answers of the published article and of the wheels."""
    QWEN3 = {"generation_config": {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.0}}

    def route(self, reading, endpoint, requests, server, engine="sglang-0.5.20"):
        found = [defaults.effective(reading, endpoint, one, server) for one in requests]
        params = [defaults.normalize(reading, {key: value for key, (value, _) in one.items()}) for one in found]
        for one in params:
            defaults.verify(reading, one)
        return predicate.path_of_batch(reading, engine, server, params)["path"]

    def test_article_examples(self):
        unfiltered = {"top_p": 1.0, "top_k": -1}
        for reading in defaults.KNOWN:
            self.assertEqual(self.route(reading, "chat", [{}], self.QWEN3), "filtered")
            self.assertEqual(self.route(reading, "chat", [unfiltered], self.QWEN3), "gumbel")
            self.assertEqual(self.route(reading, "chat", [unfiltered, unfiltered | {"temperature": 0.0}], self.QWEN3), "filtered")
            self.assertEqual(self.route(reading, "completions", [{}], self.QWEN3), "gumbel")
            self.assertEqual(self.route(reading, "chat", [{"temperature": 0.0}] * 3, self.QWEN3), "greedy")
            self.assertEqual(self.route(reading, "chat", [{}], {"deterministic": True}), "deterministic")

    def test_switch(self):
        self.assertEqual(self.route("upstream", "chat", [{}], {"switch": "No"}), "multinomial")
        self.assertEqual(self.route("upstream", "chat", [{}], {"switch": "off"}), "gumbel")
        self.assertEqual(self.route("upstream", "chat", [{}], {}, "sglang-0.5.19"), "multinomial")

    def test_refusals(self):
        for request, text in (({"top_k": 0}, "top_k must be -1 (disable) or at least 1, got 0."),
                              ({"top_p": 0.0}, "top_p must be in (0, 1], got 0.0."),
                              ({"temperature": -0.5}, "temperature must be a non-negative finite number, got -0.5.")):
            with self.assertRaises(defaults.Refused) as caught:
                self.route("upstream", "generate", [request], {})
            self.assertEqual((caught.exception.status, caught.exception.text), (400, text))

    def test_history(self):
        plain, top_p = frozenset(), frozenset({"top_p"})
        events = [("admit", "a"), ("admit", "b"), ("join",), ("finish", "b"), ("filter",), ("finish", "a"), ("admit", "c"), ("join",), ("filter",)]
        seen = {reading: [predicate.History(reading, {"a": plain, "b": top_p, "c": plain}, events[:n]).state()[1] for n in (3, 5, 8, 9)]
                for reading in defaults.KNOWN}
        self.assertEqual(seen["article-port"], [top_p, plain, plain, plain])
        self.assertEqual(seen["article-prose"], [top_p, top_p, plain, plain])  # a left as it finished, so c starts afresh
        self.assertEqual(seen["upstream"], [top_p, top_p, top_p, top_p])  # a still had a row when c was adopted

    def test_layers(self):
        server = self.QWEN3 | {"preferred": {"top_k": 40, "repetition_penalty": 1.1}}
        for reading, endpoint, layers in (("article-prose", "chat", ["model", "preferred"]), ("upstream", "chat", ["model", "model"]),
                                          ("upstream", "responses", ["model", "model"]), ("upstream", "completions", ["default", "default"]),
                                          ("upstream", "generate", ["default", "preferred"])):
            found = defaults.effective(reading, endpoint, {}, server)
            self.assertEqual([found["temperature"][1], found["top_k"][1]], layers)
        self.assertEqual(defaults.effective("upstream", "responses", {}, {})["temperature"], (0.7, "default"))


class ByHand(unittest.TestCase):
    """The model on every question that was answered by hand."""

    def agree(self, worked, modelled):
        for case in worked:
            told, own = ({key: value for key, value in one.items() if key not in ("id", "flags")} for one in (case, modelled[case["id"]]))
            self.assertEqual(told, own, case["id"])

    def test_paths(self):
        for engine, cases in by_hand.PATHS.items():
            self.agree(by_hand.path_cases(engine), {f"by-hand/{engine}/{name}": predicate_cases.path_case(name, flags, "upstream", engine, server, batch)
                                                    for name, (flags, server, batch, _) in cases.items()})

    def test_histories(self):
        modelled = {}
        for engine, name, (flags, server, events) in [(engine, *case) for engine, cases in by_hand.HISTORIES.items() for case in cases.items()]:
            asked = [tuple(word for word in event[:3] if word is not None) for event in events]
            modelled[f"by-hand/{engine}/{name}"] = predicate_cases.history_case(name, flags, "upstream", engine, server, asked)
        for engine in by_hand.HISTORIES:
            self.agree(by_hand.history_cases(engine), modelled)

    def test_effective(self):
        for engine, endpoint, cases in [(engine, *one) for engine, endpoints in by_hand.EFFECTIVE.items() for one in endpoints.items()]:
            self.agree(by_hand.effective_cases(endpoint, engine), {
                f"by-hand/{engine}/{endpoint}/{name}": defaults_cases.effective_case(name, flags, "upstream", engine, endpoint, server, request)
                for name, (flags, server, request, *_) in cases.items()})

    def test_normalize(self):
        self.agree(by_hand.normalize_cases(), {f"by-hand/{name}": defaults_cases.normalize_case(name, flags, "upstream", by_hand.NEW, changes)
                                               for name, (flags, changes, _) in by_hand.NORMALIZE.items()})

    def test_every_bug_has_one(self):
        for notes, worked in ((predicate_cases.NOTES, [*by_hand.PATHS.values(), *by_hand.HISTORIES.values()]),
                              (defaults_cases.NOTES, [*(cases for one in by_hand.EFFECTIVE.values() for cases in one.values()), by_hand.NORMALIZE])):
            seen = {flag for cases in worked for flags, *_ in cases.values() for flag in flags}
            self.assertEqual(set(notes) - seen, set())


class Vllm(unittest.TestCase):
    SERVER = {"vocab": 32000}

    def flags(self, reading, request, endpoint="completions"):
        found = vllm.effective(reading, endpoint, request)
        return vllm.profile(reading, self.SERVER, vllm.construct(reading, {key: value for key, (value, _) in found.items()}))

    def test_article_table(self):
        table = {"temperature": (0.5, set()), "top_p": (0.9, {"top_p_top_k"}), "top_k": (50, {"top_p_top_k"}), "min_p": (0.1, {"min_p"}),
                 "presence_penalty": (0.5, {"penalties"}), "frequency_penalty": (0.5, {"penalties"}), "repetition_penalty": (1.1, {"penalties"})}
        for reading in ("article-port", "article-prose", "upstream"):
            self.assertEqual(self.flags(reading, {}), {"random"})
            for key, (value, raised) in table.items():
                self.assertEqual(self.flags(reading, {key: value}), raised | {"random"}, key)

    def test_readings_differ(self):
        for request, cuts in (({"top_k": 32001}, (True, True, False)), ({"top_k": 32000}, (False, True, False)),
                              ({"temperature": 0.0, "top_p": 0.5}, (True, True, False)), ({"top_p": 0.999995}, (False, True, False))):
            for reading, cut in zip(("article-port", "article-prose", "upstream"), cuts):
                self.assertEqual("top_p_top_k" in self.flags(reading, request), cut, (reading, request))

    def test_what_the_wheel_answered(self):
        for request, status, text in (
                ({"n": 2, "temperature": 0.0}, 400, "best_of must be 1 when using greedy sampling.Got 2."),
                ({"truncate_prompt_tokens": 0}, 400, "truncate_prompt_tokens must be >= 1, got 0"),
                ({"temperature": None}, 500, "'<' not supported between instances of 'NoneType' and 'float'"),
                ({"top_p": "1"}, 500, "'<' not supported between instances of 'float' and 'str'"),
                ({"use_beam_search": True, "best_of": 2}, 400, "temperature must be 0 when using beam search.")):
            with self.assertRaises(defaults.Refused) as caught:
                self.flags("upstream", request, "generate")
            self.assertEqual((caught.exception.status, caught.exception.text), (status, text))

    def test_rows(self):
        groups = [(False, 0, [("a", "")]), (True, 0, [("b", "")]), (True, 2, [("c", "")])]
        none = ([], [])
        self.assertEqual(vllm.rows(False, groups), [("b", ""), none, none, ("c", ""), none])
        self.assertEqual(vllm.rows(True, groups), [("a", ""), ("b", ""), none, none, ("c", "")])
        self.assertIsNone(vllm.rows(False, groups[:1]))

    def test_half_precision(self):
        self.assertEqual([vllm.as_brain(x) for x in (0.9, 0.95, 0.99, 0.999)], [0.8984375, 0.94921875, 0.98828125, 1.0])
        self.assertEqual([vllm.as_half(x) for x in (0.9, 0.999, 65519.0, 65520.0)], [0.89990234375, 0.9990234375, 65504.0, math.inf])


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
