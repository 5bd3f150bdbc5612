/* cases.h: which cases of a golden of family boundary a sampler is asked, as what, and where their draws are.
 *
 * A sampler is held to the rule that its contract names ("filters"; for penalties.json "penalties"). Without one it is
 * asked only the cases on which all rules agree. Rows of one length go into one message, so that a batch mixes cases; what
 * must be refused, and what may be, is a message of its own. */
#ifndef SAMPLEGATE_BOUNDARY_CASES_H
#define SAMPLEGATE_BOUNDARY_CASES_H
#include "suite/checks/family.h"
#include "suite/golden/boundary_case.h"
#include "suite/judge/worker.h"

#define BOUNDARY_DRAWS 1024 /* of each case in stage one, twice as many in stage two */
#define BOUNDARY_DRAWS_ALONE 8

/* One case that is asked. */
struct boundary_ask {
    struct boundary_case of; /* its values as they are handed over */
    struct boundary_answer expect;
    char line[48];    /* the name of its message */
    size_t row, rows; /* of that message: draw d is its own where d % rows == row */
    size_t draws;     /* its own */
};

struct boundary_asks {
    struct json_file file;
    struct boundary_ask *ask;
    size_t count;
};

/* Read golden/boundary/CELL.json and choose. Owned: boundary_asks_free, also after a failure. */
int boundary_asks_open(struct boundary_asks *asks, const char *golden_dir, const char *cell,
                       const struct sut *sut, int stage, struct trouble *trouble);
void boundary_asks_free(struct boundary_asks *asks);

enum script_start boundary_script(const struct script_input *input, struct script *script, char *why,
                                  size_t why_bytes);
#endif
