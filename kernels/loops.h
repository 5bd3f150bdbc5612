/* loops.h: the inner loops, one table of functions for each instruction set; internal to kernels/ and its
 * tests. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_LOOPS_H
#define SAMPLEGATE_LOOPS_H
#include <stddef.h>
#include <stdint.h>
#include "kernels/candidates.h"
#include "kernels/sampler.h"

struct loops {
    const char *name;
    /* Fill row->slots, block and limit, the arrays with room for (vocab + 3) / 4 + CANDIDATES_STEP blocks. */
    void (*limits)(enum sampler_rule rule, const float *weights, double bound, struct candidates *row);
    /* The best of the columns that the filter passes, for each draw, on top of what the draw has found before;
     * rules race, gumbel, torch-race, seeded, seeded-2025. candidates: all draws of one prepared row. rows:
     * each draw from its own weights[vocab]. whole: one draw, every column scored. */
    void (*candidates)(enum sampler_rule rule, const struct candidates *row, struct draw *draw, size_t draws);
    void (*rows)(enum sampler_rule rule, size_t vocab, struct draw *draw, size_t draws);
    void (*whole)(enum sampler_rule rule, size_t vocab, struct draw *draw);
    /* The column of the largest score from the caller's noise q[vocab], each positive and finite; with
     * torch_with_noise no weight is NaN, with the others one is positive and finite. */
    int32_t (*race_with_noise)(const float *weights, const float *q, size_t vocab);
    int32_t (*gumbel_with_noise)(const float *weights, const float *q, size_t vocab);
    int32_t (*torch_with_noise)(const float *weights, const float *q, size_t vocab);
    /* q[vocab]: the noise of race and gumbel. */
    void (*noise)(uint64_t seed, uint64_t position, size_t vocab, float *q);
    /* Maps over n elements: exponential.h and elementary.h. */
    void (*exponential)(const uint32_t *words, float *q, size_t n);
    void (*torch_exponential)(const uint32_t *words, float *q, size_t n);
    void (*log)(const float *x, float *y, size_t n);
    void (*exp)(const float *x, float *y, size_t n);
};

extern const struct loops loops_baseline, loops_avx2, loops_avx512;

/* The loops of one instruction set; NULL if unknown or if this machine lacks it. */
const struct loops *loops_of(const char *isa);
/* The ones SAMPLEGATE_ISA names, else the best this machine has; NULL as above. Decided at the first call. */
const struct loops *loops_chosen(void);
#endif
