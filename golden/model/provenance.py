"""provenance.py: golden/PROVENANCE.json: where each golden file comes from; a file without an entry here is an error."""
import fnmatch
import json

import boundary_cases
import defaults_cases
import dependence
import determinism
import equivalence
import predicate_cases
import products
import replay
import tokens
import vllm_step_cases
from files import read, write_text
from sums import listed

PYTHON = "3.11 or later, standard library"
SGLANG = ("the published article's code and sentences, and answers of the released wheels of SGLang 0.5.19, 0.5.20 and 0.5.23: "
          "project sglang on PyPI; groups by hand: golden/model/by_hand.py")
MODEL_FILES = "; generation_config of models: " + ", ".join(f"{name} {source}" for name, (source, _) in defaults_cases.MODEL_FILES.items()) + "; others are flagged synthetic-file"
VLLM = ("the published article's code and sentences, and what the released wheel of vLLM 0.5.0 answered or was seen to do: "
        "project vllm on PyPI")
ENTRIES = {
    "equivalence/tables.json": {"kind": "model", "program": "golden/model/equivalence.py", "version": equivalence.VERSION, "python": PYTHON,
                                "source": "exact law of the tables in golden/plans/, 60-digit decimals"},
    "agreement/tokens.json": {"kind": "model", "program": "golden/model/tokens.py", "version": tokens.VERSION, "python": PYTHON,
                              "source": "Philox4x32-10 in integers, logarithms in 60-digit decimals"},
    "predicate/path.json": {"kind": "model", "program": "golden/model/predicate_cases.py", "version": predicate_cases.VERSION, "python": PYTHON,
                            "source": SGLANG + "; " + VLLM},
    **{f"predicate/{check}.json": {"kind": "model", "program": "golden/model/vllm_step_cases.py", "version": vllm_step_cases.VERSION, "python": PYTHON,
                                   "source": VLLM} for check in ("forks", "draw", "rows", "candidates")},
    "defaults/tensors.json": {"kind": "model", "program": "golden/model/vllm_step_cases.py", "version": vllm_step_cases.VERSION, "python": PYTHON, "source": VLLM},
    "predicate/history.json": {"kind": "model", "program": "golden/model/predicate_cases.py", "version": predicate_cases.VERSION, "python": PYTHON,
                               "source": SGLANG + "; " + VLLM + "; every state recomputed from the whole history"},
    "predicate/products.json": {"kind": "model", "program": "golden/model/products.py", "version": products.VERSION, "python": PYTHON,
                                "source": SGLANG + "; " + VLLM + "; hashes of full products"},
    "defaults/effective.json": {"kind": "model", "program": "golden/model/defaults_cases.py", "version": defaults_cases.VERSION, "python": PYTHON,
                                "source": SGLANG + "; " + VLLM + MODEL_FILES},
    "defaults/normalize.json": {"kind": "model", "program": "golden/model/defaults_cases.py", "version": defaults_cases.VERSION, "python": PYTHON,
                                "source": SGLANG + "; " + VLLM},
    "defaults/products.json": {"kind": "model", "program": "golden/model/products.py", "version": products.VERSION, "python": PYTHON,
                               "source": SGLANG + "; " + VLLM + "; hashes of full products"},
    "dependence/match.json": {"kind": "model", "program": "golden/model/dependence.py", "version": dependence.VERSION, "python": PYTHON,
                              "source": "binomial tails in whole numbers over equal probabilities, else in 60-digit decimals"},
    "determinism/tokens.json": {"kind": "model", "program": "golden/model/determinism.py", "version": determinism.VERSION, "python": PYTHON,
                                "source": "rules, filters and hashes from their descriptions, logarithms in 60-digit decimals"},
    "replay/batches.json": {"kind": "model", "program": "golden/model/replay.py", "version": replay.VERSION, "python": PYTHON,
                            "source": "each request alone: penalties, temperature, filters and draw in 60-digit decimals"},
    "boundary/*.json": {"kind": "model", "program": "golden/model/boundary_cases.py", "version": boundary_cases.VERSION, "python": PYTHON,
                        "source": "filters.py and penalties.py: exact rationals, each engine's rule as its source has it"},
    "witness/*.txt": {"kind": "hand", "version": "1", "source": "the hashes under which the wheels are published; what else an engine needs to be asked"},
    "witness/*.json": {"kind": "witness", "program": "ci/witness.sh", "version": "1", "source": "answers of the engine's released wheel, which the file names with its hash"},
    "plans/*.json": {"kind": "hand", "version": "1", "source": "written by hand; draws and epsilons from the planning formulas in stats/"},
    "schema/*.schema.json": {"kind": "hand", "version": "1", "source": "written by hand from the readers' rules"},
    "kat/philox4x32.txt": {"kind": "published", "version": "1.14.0", "source": "Random123, tests/kat_vectors: https://github.com/DEShawResearch/random123"},
    "kat/elementary.txt": {"kind": "recorded", "program": "kernels/test_elementary.c", "version": "1",
                           "source": "output hashes of our own exp, log and Exp(1), which every compiler and instruction set must "
                                     "give; what is right about them the test asks MPFR"},
    "kat/tokens.txt": {"kind": "recorded", "program": "kernels/test_candidates.c", "version": "1",
                       "source": "hashes of token streams, which every compiler, instruction set and number of threads must give; "
                                 "that the tokens are right the test says with every column scored"},
    "kat/seeded.txt": {"kind": "witness", "version": "sglang 0.5.19, 0.5.20, 0.5.23",
                       "source": "hash kernel and sampler of the wheels on CPU (torch 2.15.0); the first two hashes also in "
                                 "https://github.com/sgl-project/sglang/issues/25106 and upstream's tests"},
    "calibration/certificate.json": {"kind": "simulation", "program": "stats/test_certificate_calibration.c", "version": "1",
                                     "source": "laws at the distance that is certified; the file says how many draws and from which seeds"},
    "calibration/match.json": {"kind": "simulation", "program": "stats/test_match_calibration.c", "version": "1",
                               "source": "independent draws; the file says how many and from which seeds"},
    "calibration/statistics.json": {"kind": "simulation", "program": "stats/test_calibration.c", "version": "1",
                                    "source": "simulated multinomial counts under the null hypothesis; the file says how many and from which seed"},
}


def witnesses():
    """{golden file: the wheels that were asked about its cases}"""
    heard = {}
    for path in listed():
        if fnmatch.fnmatchcase(path, "witness/*.json"):
            record = read(path)
            for name in record["cases"]:
                heard.setdefault(name, []).append(f"golden/{path}: {record['wheel']['file']}, SHA-256 {record['wheel']['sha256']}")
    return heard


def write():
    files, heard = {}, witnesses()
    for path in listed():
        if path == "PROVENANCE.json":
            continue
        match = [pattern for pattern in ENTRIES if fnmatch.fnmatchcase(path, pattern)]
        if len(match) != 1:
            raise ValueError(f"golden/{path} has no entry in golden/model/provenance.py: say there where it comes from")
        files[path] = ENTRIES[match[0]] | ({"witness": heard[path]} if path in heard else {})
    write_text("PROVENANCE.json", json.dumps({"schema": "samplegate-provenance-1", "files": files}, indent=2) + "\n")
    return {"files": len(files)}
