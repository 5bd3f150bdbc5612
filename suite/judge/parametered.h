/* parametered.h: cells whose rows are drawn under filters, penalties, biases or bans: can this sampler, and what is the law? */
#ifndef SAMPLEGATE_PARAMETERED_H
#define SAMPLEGATE_PARAMETERED_H
#include "suite/judge/session.h"

/* True, with why, if the sampler lacks a capability. Chooses what is handed over: edits need logits. */
bool parametered_skip(struct cell_result *result, const struct sut *sut, char *why, size_t why_bytes);

/* With the values in place: the law under the rules that the sampler's contract names, or under all where it
 * names none and all agree; else the cell is skipped, and so where a row rounded to 16 bits has a cut too near
 * for fp32 to decide (law_decided). -1, exit 2: the row has one as it is, or no id is left. */
int parametered_prepare(struct cell_result *result, const struct sut *sut, struct trouble *trouble);
#endif
