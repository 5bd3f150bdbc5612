"""Each record speaks of the wheel that its pins name, of the published lines, and leaves out no more cases than it did.

What a record answers is held against the goldens by `golden verify`; this holds what it says of itself, offline, and plants
an error in each thing it looks at.
"""
import copy
import json
import pathlib
import re
import unittest

FOLDER = pathlib.Path(__file__).parent
# The published nine lines came with 0.5.20; their function has one caller in each release.
LINES = {"sglang-0.5.19": False, "sglang-0.5.20": True, "sglang-0.5.23": True}
LINES_KEY, CALLS_KEY = "the published lines are in sampling_from_probs_torch", "calls of sampling_from_probs_torch"
# A case that becomes "not asked" is a case believed on fewer words: say so here.
NOT_ASKED = {"sglang-0.5.19": 25, "sglang-0.5.20": 26, "sglang-0.5.23": 25, "vllm-0.5.0": 37}


def problems(engine, record, pins):
    """What is wrong with a record, in words."""
    name, version = engine.rsplit("-", 1)
    told = []
    pinned = re.search(rf"^{re.escape(name)}=={re.escape(version)} --hash=sha256:([0-9a-f]{{64}})$", pins, re.M)
    if not pinned or pinned[1] != record["wheel"]["sha256"]:
        told.append("wheel: not the pinned one")
    if not record["wheel"]["file"].startswith(f"{name}-{version}-"):
        told.append("wheel: of another release")
    if engine in LINES:
        if record["found"].get(LINES_KEY) is not LINES[engine]:
            told.append("found: the published lines")
        if len(record["found"].get(CALLS_KEY, [])) != 1:
            told.append("found: callers")
    if sum("not_asked" in answer for file in record["cases"].values() for answer in file.values()) != NOT_ASKED[engine]:
        told.append("cases: not asked")
    return told


class Records(unittest.TestCase):
    def records(self):
        for engine in NOT_ASKED:
            record = json.loads((FOLDER / f"{engine}.json").read_text())
            yield engine, record, (FOLDER / f"{engine}.txt").read_text()

    def test_every_record_is_known(self):
        self.assertEqual({path.stem for path in FOLDER.glob("*.json")}, set(NOT_ASKED))

    def test_records(self):
        for engine, record, pins in self.records():
            self.assertEqual(problems(engine, record, pins), [], engine)

    def test_planted(self):
        for engine, record, pins in self.records():
            def planted(edit):
                changed = copy.deepcopy(record)
                edit(changed)
                return problems(engine, changed, pins)

            self.assertEqual(planted(lambda r: r["wheel"].update(sha256="0" * 64)), ["wheel: not the pinned one"])
            self.assertEqual(planted(lambda r: r["wheel"].update(file="other-1.whl")), ["wheel: of another release"])
            file = next(iter(record["cases"]))
            asked = next(case for case, answer in record["cases"][file].items() if "not_asked" not in answer)
            self.assertEqual(planted(lambda r: r["cases"][file].update({asked: {"not_asked": "x"}})), ["cases: not asked"])
            if engine in LINES:
                self.assertEqual(planted(lambda r: r["found"].clear()), ["found: the published lines", "found: callers"])
                self.assertEqual(planted(lambda r: r["found"].update({LINES_KEY: not LINES[engine]})), ["found: the published lines"])


if __name__ == "__main__":
    unittest.main()
