/* filter_scalar.h: the definition of the filters: where each cuts a row, and what a rule leaves of it; integers
 * only, no sort, no memory, in the common subset of host and device. select.h gives the same, faster.
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

/* The largest mass that may lie above an id that stays, for 0 < p < 1; less than the total. */
static inline KERNEL_HD uint64_t filter_most(double p, uint64_t total, enum filter_boundary boundary)
{
    int inexact;
    const uint64_t share = filter_share(p, total, &inexact);
    return boundary == FILTER_AT_MOST || inexact ? share : share - 1;
}

/* How many ids at the pivot stay, and what is left to the last of them, with `above` over the pivot. */
static inline KERNEL_HD struct filter_cut filter_top_p_at(const struct filter_view *view, uint32_t pivot,
                                                          uint64_t above, uint64_t most,
                                                          enum filter_ties ties,
                                                          enum filter_boundary boundary)
{
    struct filter_cut cut = {pivot, view->vocab, 0, ties};
    if (ties == FILTER_TIES_ALL)
        return cut;
    const uint64_t units = fixed_point_of(kernel_float(pivot), view->scale);
    cut.at_pivot = (most - above) / units + 1;
    const uint64_t left = most + 1 - above - (cut.at_pivot - 1) * units;
    if (boundary == FILTER_SPLIT && left < units)
        cut.last_units = left;
    return cut;
}

/* 0 < p < 1. The first id always stays: the mass above it is 0. */
static inline KERNEL_HD struct filter_cut filter_top_p(const struct filter_view *view, double p,
                                                       enum filter_ties ties, enum filter_boundary boundary)
{
    const uint64_t most = filter_most(p, filter_mass_above(view, 0), boundary);
    const uint32_t pivot = filter_pivot(view, 1, most);
    const uint64_t above = ties == FILTER_TIES_ALL ? 0 : filter_mass_above(view, pivot);
    return filter_top_p_at(view, pivot, above, most, ties, boundary);
}

/* units * 2^-scale, rounded once; units below 2^53. */
static inline KERNEL_HD float filter_weight_of(uint64_t units, int scale)
{
    const double unit = kernel_double_of((uint64_t)(1023 - scale) << 52);
    return (float)kernel_double_multiply((double)units, unit);
}

/* A row in work: the view's arrays, to be changed. */
struct filter_work {
    struct filter_view view;
    float *weights;
    uint8_t *kept;
    size_t split;       /* the id that FILTER_SPLIT shrinks at the end, ... */
    float split_weight; /* ... to this; 0: none */
};

/* Mark what a cut drops. Ids at the pivot are counted among all that the step began with. */
static inline KERNEL_HD void filter_cut_mark(struct filter_work *work, const struct filter_cut *cut)
{
    uint64_t seen = 0;
    size_t last = 0;
    for (size_t step = 0; step < work->view.vocab; step++) {
        const size_t i = cut->ties == FILTER_TIES_HIGHEST ? work->view.vocab - 1 - step : step;
        const uint32_t bits = kernel_bits(work->weights[i]);
        if (!work->kept[i] || bits > cut->pivot)
            continue;
        if (bits < cut->pivot || seen == cut->at_pivot) {
            work->kept[i] |= FILTER_DROPPING;
            continue;
        }
        seen++;
        last = i;
    }
    if (cut->last_units) {
        work->split = last;
        work->split_weight = filter_weight_of(cut->last_units, work->view.scale);
    }
}

static inline KERNEL_HD void filter_drop_marked(const struct filter_work *work)
{
    for (size_t i = 0; i < work->view.vocab; i++)
        if (work->kept[i] & FILTER_DROPPING)
            work->kept[i] = 0;
}

static inline KERNEL_HD void filter_min_p_apply(const struct filter_work *work, double min_p, float largest)
{
    const float threshold = kernel_multiply((float)min_p, largest);
    for (size_t i = 0; i < work->view.vocab; i++)
        if (!(work->weights[i] >= threshold))
            work->kept[i] = 0;
}

/* top_k and top_p; a joint step finds both cuts before it drops anything. */
static inline KERNEL_HD void filter_cuts_apply(const struct filter_rule *rule,
                                               const struct filter_parameters *parameters,
                                               struct filter_work *work)
{
    const int with_k = parameters->top_k > 0 && (uint64_t)parameters->top_k < work->view.vocab;
    const int with_p = parameters->top_p < 1;
    struct filter_cut k = {0, 0, 0, FILTER_TIES_ALL}, p = k;
    if (with_p && rule->order == FILTER_TOP_P_FIRST) {
        p = filter_top_p(&work->view, parameters->top_p, rule->top_p_ties, rule->boundary);
        filter_cut_mark(work, &p);
        filter_drop_marked(work);
    }
    if (with_k)
        k = filter_top_k(&work->view, (uint64_t)parameters->top_k, rule->top_k_ties);
    if (with_p && rule->order == FILTER_JOINT)
        p = filter_top_p(&work->view, parameters->top_p, rule->top_p_ties, rule->boundary);
    if (with_k)
        filter_cut_mark(work, &k);
    if (with_p && rule->order == FILTER_JOINT)
        filter_cut_mark(work, &p);
    filter_drop_marked(work);
    if (with_p && rule->order == FILTER_TOP_K_FIRST) {
        p = filter_top_p(&work->view, parameters->top_p, rule->top_p_ties, rule->boundary);
        filter_cut_mark(work, &p);
        filter_drop_marked(work);
    }
}

/* filter_row() of filter.h, the parameters already checked. */
static inline KERNEL_HD enum filter_status filter_row_scalar(const struct filter_rule *rule,
                                                             const struct filter_parameters *parameters,
                                                             float *weights, size_t vocab, uint8_t *kept)
{
    float largest = 0;
    for (size_t i = 0; i < vocab; i++) {
        kept[i] = kernel_weight_valid(weights[i]) ? FILTER_KEPT : 0;
        if (kept[i] && weights[i] > largest)
            largest = weights[i];
    }
    if (largest > 0) {
        struct filter_work work = {
            {weights, kept, vocab, fixed_point_scale(largest, FIXED_POINT_CDF_BITS)}, weights, kept, 0, 0};
        if (rule->min_p_first)
            filter_min_p_apply(&work, parameters->min_p, largest);
        filter_cuts_apply(rule, parameters, &work);
        if (!rule->min_p_first)
            filter_min_p_apply(&work, parameters->min_p, largest);
        if (work.split_weight > 0)
            weights[work.split] = work.split_weight;
    }
    for (size_t i = 0; i < vocab; i++)
        if (!kept[i])
            weights[i] = 0;
    return largest > 0 ? FILTER_OK : FILTER_NO_WEIGHT;
}
#endif
