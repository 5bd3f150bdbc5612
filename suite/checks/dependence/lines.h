/* lines.h: what a dependence cell asks: four lines of draws from one row, in an order that the checks know.
 *
 * calls-32, calls-8   unseeded, 32 or 8 rows a call; draws in the order they were made
 * positions           step t, lane l: seed s + l at position p + t (t varies slowest)
 * seeds               step t, lane l: seed s + 2 + t at position p + l: no draw is asked for twice
 *
 * In the plan's first dependence cell the unseeded lines are the first that their processes hear: a stream that begins
 * at the same place in each would show. (Once a plan, since starting a process can take seconds.)
 *
 * The seeded lines are asked of samplers that take seeds, 32 rows a call. A sampler that does not gets its share of draws
 * in the first two. s and p are new in each stage: s below 2^31, p below 2^16, as users' are. */
#ifndef SAMPLEGATE_DEPENDENCE_LINES_H
#define SAMPLEGATE_DEPENDENCE_LINES_H
#include "suite/checks/check.h"
#include "suite/checks/family.h"

#define DEPENDENCE_ROWS 32    /* of a call */
#define DEPENDENCE_ROWS_FEW 8 /* of a call of the second line */
#define DEPENDENCE_LANES 2    /* of the seeded lines */

enum script_start dependence_script(const struct script_input *input, struct script *script, char *why,
                                    size_t why_bytes);

/* The answered line of this name, NULL if it was not asked, or its tokens are no ids: then a violation is added. */
const struct script_line *dependence_line(const struct check *check, const struct check_input *input,
                                          const char *name, struct evidence *evidence);
/* Both tails of a match statistic: "NAME/upper" and "NAME/lower". `words`: what the pairs are, as in "draws": "draws 5
 * apart", "rows of a batch 3 and 7". */
void dependence_add(const struct check *check, const struct match *match, const char *name, const char *words,
                    struct evidence *evidence);
/* A lane of a line's tokens: [draws / DEPENDENCE_LANES]; owned by the caller (free). */
int32_t *dependence_lane(const struct script_line *line, size_t lane);
#endif
