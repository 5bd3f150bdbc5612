/* cuda_select.cuh: top_k, top_p and min_p on a row in device memory, by one block: the cuts of filter_scalar.h.
 *
 * A cut is found digit by digit from the top of the weights' bit patterns, with a histogram of counts or of
 * masses for each; where it falls between ids of equal weight, on by the digits of the ids. All sums are
 * integers. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_SELECT_CUH
#define SAMPLEGATE_CUDA_SELECT_CUH
#include "kernels/cuda_row.cuh"
#include "kernels/filter_scalar.h"

/* Weights above the pivot stay, and at it those of ids first .. last. */
struct cut {
    uint32_t pivot, first, last;
};
#define CUT_OFF                                                                                              \
    {                                                                                                        \
        0, 0, 0xffffffffu                                                                                    \
    }

/* Weights that lie in memory, as filters leave them. */
struct staged_row {
    const void *values;
    int32_t dtype;
    uint32_t vocab;
    int32_t filtered; /* 0: nothing below matters */
    struct cut top_k, top_p;
    float min_p;        /* the least weight that stays */
    uint32_t split;     /* the id that keeps only ... */
    float split_weight; /* ... this; 0: none */

    __device__ float value(uint32_t id) const
    {
        return narrow_value(values, dtype, id);
    }
    __device__ static bool above(const struct cut &cut, uint32_t bits, uint32_t id)
    {
        return bits > cut.pivot || (bits == cut.pivot && id >= cut.first && id <= cut.last);
    }
    /* The weight, or 0 if it has been dropped or cannot be drawn. */
    __device__ float kept(uint32_t id) const
    {
        const float w = value(id);
        const uint32_t bits = kernel_bits(w);
        return kernel_weight_valid(w) && w >= min_p && above(top_k, bits, id) && above(top_p, bits, id)
                   ? w
                   : 0.0f;
    }
    __device__ float weight(uint32_t id) const
    {
        if (!filtered)
            return value(id);
        const float w = kept(id);
        return w > 0 && split_weight > 0 && id == split ? split_weight : w;
    }
};

/* A key of the row, the amount above it and at it. */
struct found {
    uint32_t key;
    uint64_t above, here;
};

#define DIGIT_BINS 2048u
#define DIGIT_GROUP 64u

/* Of a histogram: the bin above which there is at most `most`, and more with it. None: bin 0, all above. */
__device__ static struct found digit_find(const unsigned long long *histogram, uint64_t most)
{
    CUDA_SHARED(uint64_t, group, DIGIT_BINS / DIGIT_GROUP);
    __syncthreads();
    for (uint32_t g = threadIdx.x / WARP; g < DIGIT_BINS / DIGIT_GROUP; g += warps()) {
        const uint32_t bin = g * DIGIT_GROUP + threadIdx.x % WARP;
        const uint64_t units = warp_combine<sum>(histogram[bin] + histogram[bin + WARP]);
        if (threadIdx.x % WARP == 0)
            group[g] = units;
    }
    __syncthreads();
    /* Each thread walks alone: the same steps, at the same time. */
    uint64_t above = 0;
    uint32_t g = DIGIT_BINS / DIGIT_GROUP;
    while (g > 0 && above + group[g - 1] <= most)
        above += group[--g];
    uint32_t bin = g * DIGIT_GROUP;
    while (bin > 0 && above + histogram[bin - 1] <= most)
        above += histogram[--bin];
    return {bin ? bin - 1 : 0, above, bin ? histogram[bin - 1] : 0};
}

/* The key above which there is at most `most`, and more with it; 0 if all is at most that. Amount::of(id, &key):
 * what an id adds at which key, a number of `top` + 11 bits whose lower digits have 10. */
template <class Amount>
__device__ static struct found key_find(const Amount &amount, uint32_t vocab, int top, uint64_t most)
{
    CUDA_SHARED(unsigned long long, histogram, DIGIT_BINS);
    struct found out = {0, 0, 0};
    for (int shift = top; shift >= 0; shift -= 10) {
        if (!DEFECT(DEFECT_NO_BARRIER_BEFORE_WRITE))
            __syncthreads(); /* all have read what was there before */
        for (uint32_t bin = threadIdx.x; bin < DIGIT_BINS; bin += blockDim.x)
            if (shift == top || !DEFECT(DEFECT_HISTOGRAM_NOT_ZERO))
                histogram[bin] = 0;
        __syncthreads();
        for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x) {
            uint32_t key = 0;
            const uint64_t units = amount.of(id, &key);
            if (units && (shift == top || key >> (shift + 10) == out.key))
                atomicAdd(&histogram[key >> shift & (shift == top ? DIGIT_BINS - 1 : 1023u)],
                          (unsigned long long)units);
        }
        const struct found digit = digit_find(histogram, most - out.above);
        out = {out.key << 10 | digit.key, out.above + digit.above, digit.here};
        if (!digit.here) /* only at the first digit: there is no more than `most` */
            return {0, out.above, 0};
    }
    return out;
}

/* Counts or masses, by weight. */
struct amount_of_weight {
    const struct staged_row &row;
    int scale; /* of masses; negative scales exist, so `in_mass` says which */
    bool in_mass;

    __device__ uint64_t units(float weight) const
    {
        return fixed_point_of(weight, scale);
    }
    __device__ uint64_t of(uint32_t id, uint32_t *key) const
    {
        const float w = row.kept(id);
        *key = kernel_bits(w);
        return w > 0 ? (in_mass ? units(w) : 1) : 0;
    }
};

/* Ids of one weight, by id; highest keys first. */
struct amount_at_pivot {
    const struct staged_row &row;
    uint32_t pivot;
    bool lowest;

    __device__ uint64_t of(uint32_t id, uint32_t *key) const
    {
        *key = lowest ? FIXED_POINT_VOCAB_MAX - 1 - id : id;
        return kernel_bits(row.kept(id)) == pivot;
    }
};
#define AMOUNT_WEIGHT_TOP 20 /* 31 bits: 11, 10, 10 */
#define AMOUNT_ID_TOP 10     /* 20 bits: 10, 10 */

/* The id of the n-th at the pivot, in the order in which they stay. */
__device__ static uint32_t id_find(const struct staged_row &row, uint32_t pivot, uint64_t n, bool lowest)
{
    const struct amount_at_pivot amount = {row, pivot, lowest};
    const uint32_t key = key_find(amount, row.vocab, AMOUNT_ID_TOP, n - 1).key;
    return lowest ? FIXED_POINT_VOCAB_MAX - 1 - key : key;
}

/* `stay` of the `count` ids at the pivot. */
__device__ static struct cut cut_of(const struct staged_row &row, uint32_t pivot, uint64_t stay,
                                    uint64_t count, enum filter_ties ties)
{
    if (ties == FILTER_TIES_ALL || stay >= count || DEFECT(DEFECT_TIES_ALL))
        return {pivot, 0, 0xffffffffu};
    if (ties == FILTER_TIES_LOWEST)
        return {pivot, 0, id_find(row, pivot, stay, true)};
    return {pivot, id_find(row, pivot, stay, false), 0xffffffffu};
}

__device__ static struct cut cut_top_k(const struct staged_row &row, uint64_t k, enum filter_ties ties)
{
    const struct amount_of_weight count = {row, 0, false};
    const struct found found = key_find(count, row.vocab, AMOUNT_WEIGHT_TOP, k - 1);
    return cut_of(row, found.key, k - found.above, found.here, ties);
}

/* Also the id that FILTER_SPLIT shrinks. */
__device__ static struct cut cut_top_p(const struct staged_row &row, double p, int scale,
                                       const struct filter_rule &rule, uint32_t *split, float *split_weight)
{
    const struct amount_of_weight mass = {row, scale, true};
    uint64_t total = 0;
    for (uint32_t id = threadIdx.x; id < row.vocab; id += blockDim.x)
        total += mass.units(row.kept(id));
    total = block_combine<sum>(total);
    const uint64_t most = filter_most(p, total, rule.boundary) - (DEFECT(DEFECT_BOUNDARY) ? 1 : 0);
    const struct found found = key_find(mass, row.vocab, AMOUNT_WEIGHT_TOP, most);
    const struct filter_view view = {nullptr, nullptr, row.vocab, scale};
    const struct filter_cut cut =
        filter_top_p_at(&view, found.key, found.above, most, rule.top_p_ties, rule.boundary);
    const uint64_t count = found.here / fixed_point_of(kernel_float(found.key), scale);
    if (cut.last_units) {
        const uint64_t last = cut.at_pivot < count ? cut.at_pivot : count;
        *split = id_find(row, found.key, last, rule.top_p_ties == FILTER_TIES_LOWEST);
        *split_weight = filter_weight_of(cut.last_units, scale);
    }
    return cut_of(row, found.key, cut.at_pivot, count, rule.top_p_ties);
}

/* filter_row() of filter.h on a row whose weights lie in memory; the parameters are good. False: no weight is
 * positive and finite. */
__device__ static bool filters_apply(struct staged_row *row, const struct filter_rule &rule,
                                     const struct filter_parameters &parameters)
{
    row->filtered = 1;
    row->top_k = CUT_OFF;
    row->top_p = CUT_OFF;
    row->min_p = row->split_weight = 0;
    uint64_t largest = 0;
    for (uint32_t id = threadIdx.x; id < row->vocab; id += blockDim.x)
        largest = larger::of(largest, kernel_bits(row->kept(id)));
    largest = block_combine<larger>(largest);
    if (!largest)
        return false;
    const float heaviest = kernel_float((uint32_t)largest);
    const float threshold = kernel_multiply((float)parameters.min_p, heaviest);
    const int scale = fixed_point_scale(heaviest, FIXED_POINT_CDF_BITS);
    const bool with_k = parameters.top_k > 0 && (uint64_t)parameters.top_k < row->vocab;
    const bool with_p = parameters.top_p < 1;
    if (rule.min_p_first)
        row->min_p = threshold;
    struct cut top_k = CUT_OFF, top_p = CUT_OFF;
    if (with_p && rule.order == FILTER_TOP_P_FIRST)
        row->top_p = top_p = cut_top_p(*row, parameters.top_p, scale, rule, &row->split, &row->split_weight);
    if (with_k)
        top_k = cut_top_k(*row, (uint64_t)parameters.top_k, rule.top_k_ties);
    if (rule.order == FILTER_TOP_K_FIRST)
        row->top_k = top_k;
    if (with_p && rule.order != FILTER_TOP_P_FIRST)
        top_p = cut_top_p(*row, parameters.top_p, scale, rule, &row->split, &row->split_weight);
    row->top_k = top_k;
    row->top_p = top_p;
    row->min_p = threshold;
    return true;
}
#endif
