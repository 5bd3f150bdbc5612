/* select.h: what the filters leave of a row, by exact selection: the same as filter_scalar.h for every row, in a
 * few reads of it; internal to kernels/ and its tests. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SELECT_H
#define SAMPLEGATE_SELECT_H
#include "kernels/filter.h"
#include "kernels/weight_loops.h"

/* Every id whose key is above the pivot stays, and of those at the pivot, counted by id, number first to
 * end - 1. */
struct filter_stays {
    uint32_t pivot;
    size_t first, end;
    size_t split;       /* the number that FILTER_SPLIT shrinks, ... */
    float split_weight; /* ... to this; 0: none */
};

/* weights[vocab] are only read; parameters already checked. FILTER_OK, or FILTER_NO_WEIGHT: nothing stays. */
enum filter_status select_stays(const struct weight_loops *loops, const struct filter_rule *rule,
                                const struct filter_parameters *parameters, const float *weights,
                                size_t vocab, struct filter_stays *stays);

/* Makes it so: weights that do not stay become 0; kept[vocab]: 1 where they stay, else 0. */
void select_keep(const struct weight_loops *loops, const struct filter_stays *stays, float *weights,
                 size_t vocab, uint8_t *kept);

/* filter_row() of filter.h. */
enum filter_status select_row(const struct weight_loops *loops, const struct filter_rule *rule,
                              const struct filter_parameters *parameters, float *weights, size_t vocab,
                              uint8_t *kept);

/* The ids that stay, ascending, the first `capacity` of them in id[]; returns how many there are. */
size_t select_ids(const struct weight_loops *loops, const struct filter_stays *stays, const float *weights,
                  size_t vocab, uint32_t *id, size_t capacity);
#endif
