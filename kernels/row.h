/* row.h: what is prepared once for a row, internal to kernels/, its tests and `golden verify`.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ROW_H
#define SAMPLEGATE_ROW_H
#include "kernels/loops.h"
#include "kernels/sampler.h"

#define ROW_TOKEN_OPEN (-2) /* the token depends on the noise */

struct sampler_row {
    const struct loops *loops;
    enum sampler_rule rule;
    size_t vocab;
    int32_t
        token; /* the only possible token (greedy, an invalid row, a NaN for torch-race), or ROW_TOKEN_OPEN */
    float *weights; /* [vocab] probabilities as the scalar rules take them */
    float
        *columns; /* [vocab] the same by noise column, where that differs: by rank, or with e (seeded-2025) */
    double mass;  /* draws.h */
    uint32_t *ids; /* [vocab] rank to id, where the noise goes by rank */
    uint64_t *cdf; /* [vocab] inclusive, for categorical; what a rule does not use is NULL */
};

/* sampler_row_make and sampler_row_new on the loops of one instruction set (NULL: SAMPLER_BAD_ISA). */
struct sampler_row *row_make(const struct loops *loops, enum sampler_rule rule, enum sampler_values kind,
                             const float *values, size_t vocab, const struct sampler_parameters *parameters,
                             enum sampler_status *status);
struct sampler_row *row_new(const struct loops *loops, enum sampler_rule rule, enum sampler_values kind,
                            const float *values, size_t vocab, double temperature);

/* row_weights.c: fill row->weights (allocated) from the values: penalties, temperature, softmax, filters; and
 * row->ids if asked for. *empty: filters ran and found no weight. */
enum sampler_status row_weights(struct sampler_row *row, enum sampler_values kind, const float *values,
                                const struct sampler_parameters *parameters, int *empty);
#endif
