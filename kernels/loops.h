/* loops.h: the inner loops, one table of functions for each instruction set; internal to kernels/ and its
 * tests.
 *
 * Rows are kept in groups of 64 columns in lane order: column 64 g + 4 i + j is at 64 g + 16 j + i, because
 * lane i of word j belongs to Philox block 16 g + i. Columns beyond the vocabulary hold a value that never
 * wins. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_LOOPS_H
#define SAMPLEGATE_LOOPS_H
#include <stddef.h>
#include <stdint.h>

#define LOOPS_GROUP 64

/* Place of a column in lane order. */
static inline size_t loops_place(size_t column)
{
    return column / LOOPS_GROUP * LOOPS_GROUP + column % 4 * 16 + column % LOOPS_GROUP / 4;
}

struct loops {
    const char *name;
    /* The column of the largest score, lowest on ties. scores are weights (race, torch_race) or log weights
     * (gumbel) in lane order, none of them NaN; a column that must not win holds a negative weight, or -inf.
     */
    int32_t (*race)(const float *scores, size_t groups, uint64_t seed, uint64_t position);
    int32_t (*gumbel)(const float *scores, size_t groups, uint64_t seed, uint64_t position);
    int32_t (*torch_race)(const float *scores, size_t groups, uint64_t seed, uint64_t position);
    /* The same keyed by a hash (seeded.h); logs in lane order, none NaN, -inf where a column must not win. */
    int32_t (*seeded)(const double *logs, size_t groups, uint64_t seed, uint64_t position);
    int32_t (*seeded_2025)(const float *logs, size_t groups, uint64_t seed, uint64_t position);
    /* The same as race and gumbel from the caller's noise q[vocab], in column order, each positive and
     * finite. */
    int32_t (*race_with_noise)(const float *scores, const float *q, size_t vocab);
    int32_t (*gumbel_with_noise)(const float *scores, const float *q, size_t vocab);
    /* q[vocab] in column order: the noise of race and gumbel. */
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
