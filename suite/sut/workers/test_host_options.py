# SPDX-License-Identifier: MIT
"""test_host_options.py: filters, penalties, masks, lists, kept sets and padded rows as a worker of host.py sees them:
python3 test_host_options.py"""
import json
import sys
import unittest

from test_child import Child, doubles, floats, indices, longs, run, sample, unpack

# Prints what each call has, one JSON line on stderr, and answers as option `answer` says.
SHOW = '''
import json

def plain(value):
    if hasattr(value, "row"):
        return [value.row(i) for i in range(value.shape[0])]
    if isinstance(value, (list, memoryview)):
        return [plain(item) for item in value]
    return value

class Worker:
    takes = "logits"
    options = {"answer": ("sets", "tokens", "short", "narrow", "high")}
    capabilities = ("temperature noise seeded top_k top_p min_p penalties logit_bias allowed_mask min_tokens kept_out")

    def __init__(self, options):
        self.answer = options["answer"]

    def reset(self, seed):
        pass

    def sample(self, call):
        print(json.dumps({name: plain(value) for name, value in vars(call).items() if value is not None}), flush=True)
        tokens, vocab = [0] * call.draws, call.values.shape[1]
        if not call.kept or self.answer == "tokens":
            return tokens
        sets = [[d % 2] * vocab for d in call.kept]
        return tokens, {"sets": sets, "short": sets[1:], "narrow": [s[1:] for s in sets], "high": [[2] * vocab] * len(sets)}[self.answer]
'''


def raw(name, dtype, shape, data):
    return (name, dtype, shape, data)


class Options(Child):
    def setUp(self):
        super().setUp()
        self.show = self.file("show.py", SHOW)

    def calls(self, frame, *words):
        """The answer, and what each call had."""
        status, output, errors = run([self.show, *words], frame)
        self.assertEqual(status, 0, errors)
        (answer, _), = unpack(output)
        return answer, [json.loads(line) for line in errors.splitlines() if line.startswith("{")]

    def test_every_array_is_cut_like_the_draws(self):
        values = raw("values", "F32", [2, 2], floats([1, 2, 3, 4]))
        arrays = [indices(1, 0, 1), doubles("temperature", .5), longs("top_k", 1, 2, -1), doubles("top_p", .5, .75, 1),
                  doubles("min_p", 0, 0, .25), doubles("repetition_penalty", 2), doubles("frequency_penalty", 1, 0, 3),
                  doubles("presence_penalty", 0, .5, 0), longs("min_tokens", 4), longs("prompt_tokens", 1, 0, 1),
                  longs("prompt_offsets", 0, 1, 1, 3), longs("output_tokens", 7), longs("output_offsets", 0, 0, 1, 1),
                  longs("stop_ids", 0, 1), longs("stop_offsets", 0, 0, 0, 2),
                  raw("logit_bias", "F32", [2, 2], floats([0, 1, 2, 3])), raw("allowed", "U8", [2, 2], b"\1\0\1\1")]
        answer, seen = self.calls(sample(3, 2, kind="logits", values=values, arrays=arrays))
        self.assertEqual(answer["message"], "tokens", answer)
        both = {"kind": "logits", "values": [[1, 2], [3, 4]], "logit_bias": [[0, 1], [2, 3]], "allowed": [[1, 0], [1, 1]]}
        self.assertEqual(seen, [
            dict(both, draws=2, row_index=[1, 0], temperature=[.5, .5], top_k=[1, 2], top_p=[.5, .75], min_p=[0, 0],
                 repetition_penalty=[2, 2], frequency_penalty=[1, 0], presence_penalty=[0, .5], min_tokens=[4, 4],
                 prompt_tokens=[[1], []], output_tokens=[[], [7]], stop_ids=[[], []]),
            dict(both, draws=1, row_index=[1], temperature=[.5], top_k=[-1], top_p=[1], min_p=[.25], repetition_penalty=[2],
                 frequency_penalty=[3], presence_penalty=[0], min_tokens=[4], prompt_tokens=[[0, 1]], output_tokens=[[]],
                 stop_ids=[[0, 1]])])

    def test_what_asks_for_nothing_is_not_there(self):
        off = [longs("top_k", -1, -1), doubles("top_p", 1), doubles("min_p", 0), doubles("repetition_penalty", 1, 1),
               doubles("frequency_penalty", 0), doubles("presence_penalty", 0), longs("min_tokens", 0), doubles("temperature", 1)]
        bare = self.file("bare.py", SHOW.replace("capabilities = (", "capabilities = '' and ("))
        status, output, errors = run([bare], sample(2, 2, kind="logits", arrays=off))
        self.assertEqual(unpack(output)[0][0]["message"], "tokens", (output, errors))
        self.assertEqual(sorted(json.loads(errors)), ["draws", "kind", "row_index", "values"])

    def test_every_option_needs_its_word(self):
        words = {"top_k": longs("top_k", 1), "top_p": doubles("top_p", .5), "min_p": doubles("min_p", .5),
                 "min_tokens": longs("min_tokens", 1), "logit_bias": raw("logit_bias", "F32", [3, 2], bytes(24)),
                 "allowed_mask": raw("allowed", "U8", [3, 2], bytes(6))}
        cases = list(words.items())
        cases += [("penalties", doubles(kind + "_penalty", .5)) for kind in ("repetition", "frequency", "presence")]
        bare = self.file("bare.py", SHOW.replace("capabilities = (", "capabilities = '' and ("))
        frames = [sample(kind="logits", arrays=[array]) for _, array in cases] + [sample(kind="logits", kept="1")]
        answers = self.talk([bare], *frames)
        self.assertEqual([(answer["message"], answer["text"]) for answer, _ in answers],
                         [("unsupported", "no " + word) for word, _ in cases] + [("unsupported", "no kept_out")])
        nan = sample(kind="logits", arrays=[doubles("top_p", float("nan"))])  # not a number is not "off"
        self.assertEqual(self.talk([bare], nan)[0][0]["text"], "no top_p")

    def test_kept_sets_of_the_first_draw_of_each_row(self):
        frame = sample(5, 2, kind="logits", kept="1", arrays=[indices(2, 0, 0, 2, 2)])
        answer, seen = self.calls(frame)
        self.assertEqual([call["kept"] for call in seen], [[0, 1], [], []])
        self.assertEqual(answer["kept"], ([3, 2], [1, 1, 0, 0, 0, 0]))  # draw 1 is the first of row 0; row 1 has none
        self.assertEqual(self.calls(sample(2, 2, kind="logits", arrays=[indices(0, 1)]))[1][0].get("kept"), None)
        for mode, said in (("tokens", "must return (tokens, kept)"), ("short", "as 2 sets of 2 flags"),
                           ("narrow", "as 2 sets of 2 flags"), ("high", "0 or 1")):
            answer, _ = self.calls(frame, "answer=" + mode)
            self.assertEqual(answer["message"], "error")
            self.assertIn(said, answer["text"])

    def test_padded_rows(self):
        # 1.5 and -0.25 in fp16 and bf16; 9 would be read where a row's stride is not respected.
        for dtype, data in (("F32", floats([1.5, 9, 9, -.25, 9, 9])), ("F16", bytes.fromhex("003e ffff ffff 00b4 ffff ffff")),
                            ("BF16", bytes.fromhex("c03f ffff ffff 80be ffff ffff"))):
            half = self.file("half.py", SHOW.replace('takes = "logits"', 'takes, dtype = "logits", "%s"' % dtype.lower()))
            values = raw("values", dtype, [2, 3], data)
            status, output, errors = run([half], sample(2, 2, kind="logits", values=values, columns="1", kept="1",
                                                        arrays=[indices(0, 1), raw("logit_bias", "F32", [2, 1], bytes(8))]))
            self.assertEqual(json.loads(errors)["values"], [[1.5], [-.25]])
            self.assertEqual(unpack(output)[0][0]["kept"], ([2, 1], [0, 1]))

    def test_senseless_arrays_are_errors(self):
        ids = longs("prompt_tokens", 1, 0)
        bad = [[longs("top_p", 1)], [doubles("top_k", 1)], [longs("top_k", 1, 1, 1)], [ids], [longs("prompt_offsets", 0, 1, 2)],
               [ids, longs("prompt_offsets", 0, 1)], [ids, longs("prompt_offsets", 0, 2, 1)], [ids, longs("prompt_offsets", -1, 1, 2)],
               [ids, longs("prompt_offsets", 0, 1, 3)], [doubles("stop_ids", 1), longs("stop_offsets", 0, 0, 1)],
               [raw("logit_bias", "F32", [2, 2], bytes(16))], [raw("allowed", "F32", [3, 2], bytes(24))]]
        answers = self.talk([self.show], *[sample(2, 2, kind="logits", arrays=arrays) for arrays in bad])
        self.assertEqual([(answer["message"], number) for number, (answer, _) in enumerate(answers)],
                         [("error", number) for number in range(len(bad))])


if __name__ == "__main__":
    unittest.main()
