/* witness.h: what engines' released wheels answered to the golden cases, held against the goldens. Internal to suite/golden/.
 *
 * golden/witness/README.md says how a record comes about and what is in it; nothing is asked here. */
#ifndef SAMPLEGATE_GOLDEN_WITNESS_H
#define SAMPLEGATE_GOLDEN_WITNESS_H
#include "suite/golden/outcome.h"

/* Hold every answer of DIRECTORY/witness/ENGINE.json against its case, and find every case of that engine's release in the
 * record. `outcome` counts the answers, and in left_out the cases that could not be asked. Returns 0, or -1 with one kind of
 * trouble: damaged is a record that cannot be read or lacks a case, disagrees an answer that differs. */
int golden_witness(const char *directory, const char *engine, struct golden_outcome *outcome);
#endif
