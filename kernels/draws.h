/* draws.h: draws by the rules whose noise belongs to columns, exact whatever the row: bounds for the filter of
 * candidates.h, and what to do where it finds too little. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_DRAWS_H
#define SAMPLEGATE_DRAWS_H
#include "kernels/loops.h"

/* A row for loops->candidates. 0, or -1 without memory. */
int candidates_make(struct candidates *row, const struct loops *loops, enum sampler_rule rule,
                    const float *weights, size_t vocab, double bound);
void candidates_free(struct candidates *row);

/* token and best of draw[draws], from seed and position, all of the same row weights[vocab]. mass: the sum of its
 * positive finite weights, roughly: bounds come from it, tokens do not; 0 if it has none. Rule torch-race: without a NaN. Allocates for many draws; without memory it
 * is only slower. */
void draws_of_row(const struct loops *loops, enum sampler_rule rule, const float *weights, size_t vocab,
                  double mass, struct draw *draw, size_t draws);

/* The same from seed, position and weights of each; masses are taken to be about 1 unless that proves wrong. */
void draws_of_rows(const struct loops *loops, enum sampler_rule rule, size_t vocab, struct draw *draw,
                   size_t draws);

/* sampler_draw_rows on the loops of one instruction set. */
void draws_call(const struct loops *loops, enum sampler_rule rule, const float *probabilities, size_t rows,
                size_t vocab, size_t row_stride, uint64_t seed, uint64_t first_position, int32_t *token);
#endif
