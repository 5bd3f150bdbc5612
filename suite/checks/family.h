/* family.h: the families of checks: what a plan's cell of each must say, and what it asks the sampler.
 *
 * To add one: its name in suite/judge/plan.h and plan.c and in golden/schema/plan.schema.json; a row in family.c; a folder
 * suite/checks/<family>/ with script.c and the checks, named in the Makefile (JUDGE); rows.h there, named in registry.c; cells in a plan;
 * and the golden that holds the expectations, its schema and its reader in suite/golden/. */
#ifndef SAMPLEGATE_FAMILY_H
#define SAMPLEGATE_FAMILY_H
#include "suite/judge/plan.h"
#include "suite/judge/script.h"

struct sut;

struct script_input {
    const struct plan *plan; /* its golden_dir is where expectations lie */
    const struct plan_cell *cell;
    const struct sut *sut;
    int stage;
    enum value_kind kind; /* what this sampler is handed, unless a line has a reason for the other */
    const float *values;  /* [vocab] of the cell's table, and their law; NULL if it has none */
    const double *pmf;
};

enum script_start {
    SCRIPT_READY,
    SCRIPT_SKIP,   /* the sampler does not do this: why */
    SCRIPT_TROUBLE /* an expectation cannot be read: why */
};

struct family {
    enum cell_family family;
    /* Build the lines of one stage, the same ones for the same input. NULL: draws are counted. */
    enum script_start (*script)(const struct script_input *input, struct script *script, char *why,
                                size_t why_bytes);
};

/* NULL for a family whose draws are counted. */
const struct family *family_scripted(enum cell_family family);

#endif
