# SPDX-License-Identifier: MIT
"""test_host_ask.py: questions as a worker of host.py sees them, and its answers on the wire: python3 test_host_ask.py"""
import json
import unittest

from test_child import Child, pack, run, unpack

# Answers with what it was asked, or as the question's "batch" says.
ECHO = '''
class Worker:
    takes = ""
    capabilities = "route"

    def __init__(self, options):
        pass

    def ask(self, question):
        if question["batch"] == "not here":
            raise NotImplementedError("no such batch")
        if question["batch"] == "oops":
            raise IndexError("beyond the end")
        return {"types": [type(value).__name__ for value in question["batch"]], "batch": question["batch"]}
'''
HELLO = pack({"message": "hello", "protocol": "1"})


def ask(*questions):
    text = questions[0] if questions and isinstance(questions[0], str) else json.dumps(questions)
    return pack({"message": "ask", "cell": "c", "stage": "1", "chunk": "0", "question": text})


class Ask(Child):
    def setUp(self):
        super().setUp()
        self.echo = self.file("echo.py", ECHO)

    def answer(self, frame):
        status, output, errors = run([self.echo], frame)
        self.assertEqual(status, 0, errors)
        (answer, _), = unpack(output)
        self.assertEqual([answer[key] for key in ("cell", "stage", "chunk")], ["c", "1", "0"])
        return answer

    def test_numbers_are_pythons_own(self):
        batch = [20, 0.5, {"integer": "9223372036854775807"}, {"float": "0x1p-3"}, {"float": "nan"}, {"float": "-inf"}, None, True, "1", {}, []]
        answer = self.answer(ask({"ask": "path", "batch": batch}, {"ask": "history", "batch": [{"top_k": {"integer": "5"}}]}))
        self.assertEqual(answer["message"], "answer")
        first, second = json.loads(answer["text"])
        self.assertEqual(first["types"], ["int", "float", "int", "float", "float", "float", "NoneType", "bool", "str", "dict", "list"])
        self.assertEqual(first["batch"], [20, 0.5, {"integer": "9223372036854775807"}, 0.125, {"float": "nan"}, {"float": "-inf"}, None, True, "1", {}, []])
        self.assertEqual(second["batch"], [{"top_k": 5}])

    def test_what_it_does_not_answer(self):
        for frame, message, text in ((ask({"ask": "path", "batch": "not here"}), "unsupported", "no such batch"),
                                     (ask({"ask": "path", "batch": "oops"}), "error", "IndexError: beyond the end"),
                                     (ask({"ask": "effective", "batch": []}), "unsupported", "no resolve"),
                                     (ask({"ask": "weather", "batch": []}), "unsupported", "no question of this kind"),
                                     (ask("[1]"), "error", "questions that cannot be read"),
                                     (ask("[{"), "error", "questions that cannot be read"),
                                     (pack({"message": "ask", "cell": "c", "stage": "1", "chunk": "0"}), "error", "questions that cannot be read")):
            answer = self.answer(frame)
            self.assertEqual(answer["message"], message)
            self.assertIn(text, answer["text"])

    def test_a_worker_that_draws_nothing(self):
        status, output, errors = run([self.echo], HELLO)
        self.assertEqual((status, unpack(output)[0][0]["takes"]), (0, ""), errors)
        for change, why in ((("\"route\"", "\"\""), "known are logits"), (("def ask", "def asked"), "it has no method ask")):
            status, output, errors = run([self.file("other.py", ECHO.replace(*change))], HELLO)
            self.assertEqual((status, output), (2, b""))
            self.assertIn(why, errors)


if __name__ == "__main__":
    unittest.main()
