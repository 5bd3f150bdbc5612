"""test_planted.py: an error planted in the model reaches a golden, hashes and all, and `golden verify` says whose it is.

Run: python3 golden/model/test_planted.py BUILD/samplegate (errors planted in the C code: suite/checks/test_questions.c)."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLEGATE = ""


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="samplegate-planted-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.golden = os.path.join(self.folder, "golden")
        shutil.copytree(os.path.dirname(HERE), self.golden)

    def change(self, name, old, new):
        path = os.path.join(self.golden, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count(old), 1, f"{name}: {old}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))

    def write(self):
        program = os.path.join(self.golden, "model", "write.py")
        subprocess.run([sys.executable, program, "predicate", "defaults", "sums"], check=True, stdout=subprocess.DEVNULL)

    def verify(self, *words):
        ran = subprocess.run([SAMPLEGATE, "golden", "verify", "--golden", self.golden], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 99 if words else 0, ran.stderr)
        for word in words:
            self.assertIn(word, ran.stderr)

    def planted(self, name, old, new, case):
        self.change("model/" + name, old, new)
        self.write()
        self.verify("golden disagrees: ", case, "worked by hand agree with this build: suspect the golden's model")

    def test_nothing_planted(self):
        self.write()
        self.verify()

    def test_threshold(self):
        self.planted("defaults.py", '0 <= out["temperature"] < GREEDY_BELOW', '0 <= out["temperature"] <= GREEDY_BELOW', "temperature-epsilon: path: ")

    def test_merge(self):
        self.planted("predicate.py", 'if all("greedy" in one', 'if any("greedy" in one', "path: the golden has greedy, this build computes filtered")

    def test_spelling(self):
        self.planted("predicate.py", '("0", "false", "no", "n")', '("0", "false", "n")', "this build computes multinomial")

    def test_layer(self):
        self.planted("defaults.py", 'if endpoint != "completions" and parameter in model', "if parameter in model", "upstream/completions/file: effective.temperature: the golden has model")

    def test_file_that_changed(self):
        with open(os.path.join(self.golden, "predicate", "path.json"), "a", encoding="utf-8") as file:
            file.write(" ")
        self.verify("golden damaged: ", "path.json: its SHA-256 is ")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    SAMPLEGATE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
