"""test_engines.py: the model of engines against what was answered by hand, by the published articles and by the wheels.

Run: python3 golden/model/test_engines.py (a few seconds)."""
import math
import unittest

import by_hand
import defaults
import defaults_cases
import predicate
import predicate_cases
import vllm


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
        return vllm.profile(reading, self.SERVER, vllm.construct_at(reading, endpoint, {key: value for key, (value, _) in found.items()}))

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
        for request, status, text in (  # of the OpenAI server: /generate's answers 500 to everything
                ({"n": 2, "temperature": 0.0}, 400, "best_of must be 1 when using greedy sampling.Got 2."),
                ({"temperature": None}, 500, "'<' not supported between instances of 'NoneType' and 'float'"),
                ({"use_beam_search": True, "best_of": 2}, 400, "temperature must be 0 when using beam search.")):
            for endpoint, its in (("completions", status), ("generate", 500)):
                with self.assertRaises(defaults.Refused) as caught:
                    self.flags("upstream", request, endpoint)
                self.assertEqual((caught.exception.status, caught.exception.text), (its, text))

    def test_what_a_step_dies_of(self):
        for request, text in (({"seed": "5", "top_k": 0.5, "n": 1.5}, "manual_seed expected a long, but got str"),
                              ({"top_k": 0.5, "n": 1.5}, "top_k 0.5 is no index into the sorted row"), ({"n": 1.5}, "best_of 1.5 is no number of sequences")):
            with self.assertRaises(defaults.Refused) as caught:
                self.flags("upstream", request, "generate")
            self.assertEqual((caught.exception.status, caught.exception.text), (0, text))
        self.assertEqual(self.flags("upstream", {"best_of": math.nan, "temperature": 0.0}, "generate"), {"greedy"})

    def test_rows(self):
        groups = [(False, 0, [("a", "")]), (True, 0, [("b", "")]), (True, 2, [("c", "")])]
        none = ([], [])
        self.assertEqual(vllm.rows(False, groups), [("b", ""), none, none, ("c", ""), none])
        self.assertEqual(vllm.rows(True, groups), [("a", ""), ("b", ""), none, none, ("c", "")])
        self.assertIsNone(vllm.rows(False, groups[:1]))

    def test_half_precision(self):
        self.assertEqual([vllm.as_brain(x) for x in (0.9, 0.95, 0.99, 0.999)], [0.8984375, 0.94921875, 0.98828125, 1.0])
        self.assertEqual([vllm.as_half(x) for x in (0.9, 0.999, 65519.0, 65520.0)], [0.89990234375, 0.9990234375, 65504.0, math.inf])


if __name__ == "__main__":
    unittest.main()
