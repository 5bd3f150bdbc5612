/* loops_limits.h: a row prepared for many draws: its live blocks and the limits of their columns; included by
 * loops.c alone. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_LOOPS_LIMITS_H
#define SAMPLEGATE_LOOPS_LIMITS_H
#include "kernels/lanes.h"
#include "kernels/scores.h"

/* A limit of n - 2^31 as an integer: up, so that what is within the fp32 limit is within this; NaN: none. */
static inline int32_t limit_of(float limit)
{
    if (limit >= 0x1p31f - 128)
        return INT32_MAX;
    return limit >= -0x1p31f ? (int32_t)limit + 64 : INT32_MIN;
}

/* Where the limit of a column is: candidates.h. */
static inline size_t limit_place(int hashed, size_t slot, size_t column)
{
    return hashed ? 4 * slot + column
                  : slot / LANES * 4 * LANES + column / 2 * 2 * LANES + slot % LANES * 2 + 1 - column % 2;
}

/* Fill row->block and row->limit, which have room for every block and a step. A column is live if
 * n + 1/2 <= scale * weight for some n, and be it 0, with some room for rounding. */
static void limits(enum sampler_rule rule, const float *weights, double bound, struct candidates *row)
{
    const struct draw draw = {.bound = bound, .best = -HUGE_VAL};
    const float scale = draw_scale(&draw, &scores[rule]);
    const int hashed = score_is_hashed(rule);
    size_t slot = 0;
    for (size_t first = 0; first < row->vocab; first += 4) {
        float weight[4] = {0};
        memcpy(weight, weights + first, (row->vocab - first < 4 ? row->vocab - first : 4) * sizeof *weight);
        int live = 0;
        for (size_t c = 0; c < 4; c++) {
            const int some = kernel_multiply(weight[c], scale) >= 0.25f;
            live |= some;
            row->limit[limit_place(hashed, slot, c)] =
                some ? limit_of(draw_limit(weight[c], scale)) : INT32_MIN;
        }
        row->block[slot] = (uint32_t)(first / 4);
        slot += (size_t)live;
    }
    for (; slot % CANDIDATES_STEP; slot++) {
        row->block[slot] = 0;
        for (size_t c = 0; c < 4; c++)
            row->limit[limit_place(hashed, slot, c)] = INT32_MIN;
    }
    row->slots = slot;
}
#endif
