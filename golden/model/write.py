"""write.py: regenerate the goldens of the independent model; the same input gives the same bytes.

python3 golden/model/write.py                     everything (four minutes)
python3 golden/model/write.py provenance sums     only these steps, in this order: after a plan or another file was added
"""
import sys

import boundary_cases
import defaults_cases
import dependence
import determinism
import equivalence
import predicate_cases
import products
import provenance
import replay
import sums
import tokens
import vllm_step_cases

STEPS = {"equivalence": equivalence.write, "agreement": tokens.write, "predicate": predicate_cases.write, "defaults": defaults_cases.write,
         "vllm": vllm_step_cases.write, "products": products.write, "boundary": boundary_cases.write, "dependence": dependence.write,
         "determinism": determinism.write, "replay": replay.write,
         "provenance": provenance.write, "sums": sums.write}


def main(names):
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        sys.exit(f"write.py: no step {unknown[0]}; the steps are {' '.join(STEPS)}")
    for name, step in STEPS.items():
        if not names or name in names:
            try:
                written = step()
            except ValueError as error:
                sys.exit(f"write.py: {name}: {error}")
            for what, count in written.items():
                print(name, what, count)


if __name__ == "__main__":
    main(sys.argv[1:])
