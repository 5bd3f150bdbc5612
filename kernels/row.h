/* row.h: what is prepared once for a row, internal to kernels/ and its tests.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ROW_H
#define SAMPLEGATE_ROW_H
#include "kernels/loops.h"
#include "kernels/sampler.h"

#define ROW_TOKEN_OPEN (-2) /* the token depends on the noise */

struct sampler_row {
    const struct loops *loops;
    enum sampler_rule rule;
    size_t vocab, groups;
    int32_t
        token; /* the only possible token (greedy, an invalid row, a NaN for torch-race), or ROW_TOKEN_OPEN */
    float *weights; /* [vocab] probabilities as the scalar rules take them */
    float *scores;  /* [groups * LOOPS_GROUP] in lane order for race, gumbel, torch-race, seeded-2025 */
    double *logs;   /* [groups * LOOPS_GROUP] in lane order for seeded */
    uint64_t *cdf;  /* [vocab] inclusive, for categorical; what a rule does not use is NULL */
};

/* sampler_row_new on the loops of one instruction set. */
struct sampler_row *row_new(const struct loops *loops, enum sampler_rule rule, enum sampler_values kind,
                            const float *values, size_t vocab, double temperature);
#endif
