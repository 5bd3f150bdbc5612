/* select.h: what the filters leave of a row, by exact selection: the same as filter_scalar.h for every row, in a
 * few reads of it; internal to kernels/ and its tests. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SELECT_H
#define SAMPLEGATE_SELECT_H
#include "kernels/filter.h"
#include "kernels/weight_loops.h"

/* filter_row() of filter.h on the loops of one instruction set. */
enum filter_status select_row(const struct weight_loops *loops, const struct filter_rule *rule,
                              const struct filter_parameters *parameters, float *weights, size_t vocab,
                              uint8_t *kept);

/* id[vocab]: the ids that filter_row() would keep, ascending; returns how many they are. weights[vocab] are only
 * read; the parameters are already checked. */
size_t select_ids(const struct weight_loops *loops, const struct filter_rule *rule,
                  const struct filter_parameters *parameters, const float *weights, size_t vocab,
                  uint32_t *id);
#endif
