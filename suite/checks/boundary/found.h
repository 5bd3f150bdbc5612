/* found.h: what the checks of family boundary share: the asks with their answered messages, and one violation a check. */
#ifndef SAMPLEGATE_BOUNDARY_FOUND_H
#define SAMPLEGATE_BOUNDARY_FOUND_H
#include "suite/checks/boundary/cases.h"
#include "suite/checks/check.h"

/* The asks of this input; none, and the evidence says so, where the golden, which the script was made from, is gone. */
void boundary_found_open(struct boundary_asks *asks, const struct check_input *in, struct evidence *evidence);
/* The message of an ask. */
const struct script_line *boundary_line(const struct check_input *in, const struct boundary_ask *ask);
bool boundary_keeps(const struct boundary_answer *expect, int32_t token);

/* Statistic `name` of the check: what is impossible in a correct sampler, and how often it was seen. */
struct boundary_violation {
    size_t cases;
    char first[160];
};
__attribute__((format(printf, 3, 4))) void
boundary_note(struct boundary_violation *violation, const struct boundary_ask *ask, const char *format, ...);
void boundary_tell(struct evidence *evidence, const struct check *check, const char *name,
                   const struct boundary_violation *violation);
#endif
