/* cdf.c: mutants that walk a cumulative sum instead of racing.
 *
 * cdf32 on a flat row: at V = 151,936 the fp32 sum ends at 0.99832, and the last id takes the rest, 255 times
 * its share; at V = 128,256 it passes 1 at id 128,127, and the 128 ids after it are never drawn.
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

/* Here a row's weights become their running sums, added one by one in fp32. */
bool mutant_cdf32_sums(float *weight, size_t vocab)
{
    for (size_t i = 1; i < vocab; i++)
        weight[i] += weight[i - 1];
    return true;
}

int32_t mutant_cdf32(const struct mutant_draw *draw)
{
    const float *sum = draw->row->weight;
    const double u = 0x1p-32 * mutant_word(draw, 0);
    size_t low = 0, high = draw->row->vocab - 1; /* a miss ends at the last id */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u < (double)sum[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return (int32_t)low;
}
