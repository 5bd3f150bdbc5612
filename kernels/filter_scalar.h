/* filter_scalar.h: where a filter cuts a row: integers only, no sort, no memory, in the common subset of host
 * and device.
 *
 * Positive floats are ordered as their bit patterns are, so a cut is a pattern (the pivot) and how many of
 * the ids of just that weight stay. The pivot is found by bisection over patterns; each step counts ids, or
 * adds their masses, in integers: any order gives the same. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_FILTER_SCALAR_H
#define SAMPLEGATE_FILTER_SCALAR_H
#include "kernels/arithmetic_double.h"
#include "kernels/filter.h"
#include "kernels/fixed_point.h"

/* A row under filters: kept[i] is FILTER_KEPT, FILTER_KEPT | FILTER_DROPPING, or 0. */
#define FILTER_KEPT 1u
#define FILTER_DROPPING 2u /* to be dropped at the end of a step, still counted within it */

struct filter_view {
    const float *weights;
    const uint8_t *kept;
    size_t vocab;
    int scale; /* of the masses: fixed_point_scale of the largest weight */
};

/* Ids above the pivot stay, and `at_pivot` of those at it. */
struct filter_cut {
    uint32_t pivot;
    uint64_t at_pivot;
    uint64_t last_units; /* mass left to the last of those; 0: its own */
    enum filter_ties ties;
};

/* Number of kept ids whose pattern is above `bits`. */
static inline KERNEL_HD uint64_t filter_count_above(const struct filter_view *view, uint32_t bits)
{
    uint64_t count = 0;
    for (size_t i = 0; i < view->vocab; i++)
        count += (view->kept[i] != 0) & (kernel_bits(view->weights[i]) > bits);
    return count;
}

/* Mass of the kept ids whose pattern is above `bits`. */
static inline KERNEL_HD uint64_t filter_mass_above(const struct filter_view *view, uint32_t bits)
{
    uint64_t mass = 0;
    for (size_t i = 0; i < view->vocab; i++)
        if (view->kept[i] && kernel_bits(view->weights[i]) > bits)
            mass += fixed_point_of(view->weights[i], view->scale);
    return mass;
}

/* The least pattern above which no more than `most` lies, in ids or in mass. Below it there is more, so it is
 * the pattern of some kept id, or 0. */
static inline KERNEL_HD uint32_t filter_pivot(const struct filter_view *view, int in_mass, uint64_t most)
{
    uint32_t low = 0, high = KERNEL_INFINITY_BITS;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint64_t above = in_mass ? filter_mass_above(view, middle) : filter_count_above(view, middle);
        if (above <= most)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* k at least 1. */
static inline KERNEL_HD struct filter_cut filter_top_k(const struct filter_view *view, uint64_t k,
                                                       enum filter_ties ties)
{
    struct filter_cut cut = {0, 0, 0, ties};
    cut.pivot = filter_pivot(view, 0, k - 1);
    cut.at_pivot = ties == FILTER_TIES_ALL ? view->vocab : k - filter_count_above(view, cut.pivot);
    return cut;
}

/* floor(p * total), exactly, for 0 < p < 1; *inexact: there was a fraction. */
static inline KERNEL_HD uint64_t filter_share(double p, uint64_t total, int *inexact)
{
    const uint64_t bits = kernel_double_bits(p), exponent = bits >> 52;
    const uint64_t fraction = bits & UINT64_C(0x000fffffffffffff);
    const uint64_t significand = exponent ? fraction | UINT64_C(0x0010000000000000) : fraction;
    const int shift =
        1075 - (exponent ? (int)exponent : 1); /* p = significand * 2^-shift, shift at least 53 */
    const uint64_t high = fixed_point_multiply_high(significand, total), low = significand * total;
    if (shift < 64) {
        *inexact = (low & ((UINT64_C(1) << shift) - 1)) != 0;
        return high << (64 - shift) | low >> shift;
    }
    if (shift == 64) {
        *inexact = low != 0;
        return high;
    }
    if (shift < 128) {
        *inexact = low != 0 || (high & ((UINT64_C(1) << (shift - 64)) - 1)) != 0;
        return high >> (shift - 64);
    }
    *inexact = low != 0 || high != 0;
    return 0;
}

/* 0 < p < 1. The first id always stays: the mass above it is 0. */
static inline KERNEL_HD struct filter_cut filter_top_p(const struct filter_view *view, double p,
                                                       enum filter_ties ties, enum filter_boundary boundary)
{
    struct filter_cut cut = {0, 0, 0, ties};
    int inexact;
    const uint64_t share = filter_share(p, filter_mass_above(view, 0), &inexact);
    /* The largest mass that may lie above an id that stays. */
    const uint64_t most = boundary == FILTER_AT_MOST || inexact ? share : share - 1;
    cut.pivot = filter_pivot(view, 1, most);
    if (ties == FILTER_TIES_ALL) {
        cut.at_pivot = view->vocab;
        return cut;
    }
    const uint64_t above = filter_mass_above(view, cut.pivot);
    const uint64_t units = fixed_point_of(kernel_float(cut.pivot), view->scale);
    cut.at_pivot = (most - above) / units + 1;
    const uint64_t left = most + 1 - above - (cut.at_pivot - 1) * units;
    if (boundary == FILTER_SPLIT && left < units)
        cut.last_units = left;
    return cut;
}

/* units * 2^-scale, rounded once; units below 2^53. */
static inline KERNEL_HD float filter_weight_of(uint64_t units, int scale)
{
    const double unit = kernel_double_of((uint64_t)(1023 - scale) << 52);
    return (float)kernel_double_multiply((double)units, unit);
}
#endif
