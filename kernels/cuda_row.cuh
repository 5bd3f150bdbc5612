/* cuda_row.cuh: a row in device memory: four neighbours at a time, and the weights a rule draws from; for the
 * .cu files. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_ROW_CUH
#define SAMPLEGATE_CUDA_ROW_CUH
#include "kernels/cuda.h"
#include "kernels/cuda_block.cuh"
#include "kernels/cuda_rules.cuh"
#include "kernels/fixed_point.h"
#include "kernels/narrow.h"
#include "kernels/softmax.h"

struct four {
    float x[4];
};

/* Where row `index` begins. */
__device__ static const void *row_start(const struct cuda_draws &call, int64_t index)
{
    const size_t size = call.dtype == NARROW_NOT ? sizeof(float) : sizeof(uint16_t);
    return (const char *)call.values + (size_t)(index * call.row_stride) * size;
}

/* Columns first .. first + 3 (first a multiple of 4); -inf beyond the vocabulary. `whole`: the row begins where
 * four elements can be read at once. */
template <int DTYPE>
__device__ static struct four row_four(const void *row, uint32_t first, uint32_t vocab, bool whole)
{
    struct four out;
    if (whole && first + 4 <= vocab) {
        if constexpr (DTYPE == NARROW_NOT) {
            const float4 raw = ((const float4 *)row)[first / 4];
            out = {{raw.x, raw.y, raw.z, raw.w}};
        } else {
            const uint2 raw = ((const uint2 *)row)[first / 4];
            const uint32_t words[2] = {raw.x, raw.y};
            for (uint32_t j = 0; j < 4; j++) {
                const uint16_t half = (uint16_t)(words[j / 2] >> 16 * (j % 2));
                out.x[j] = DTYPE == NARROW_F16 ? narrow_f16(half) : narrow_bf16(half);
            }
        }
        return out;
    }
    const uint32_t end = DEFECT(DEFECT_TAIL_SKIPPED) ? vocab / 4 * 4 : vocab;
    for (uint32_t j = 0; j < 4; j++)
        out.x[j] = first + j < end ? narrow_value(row, DTYPE, first + j) : minus_infinity();
    return out;
}

template <int DTYPE> __device__ static bool row_whole(const void *row)
{
    return (uintptr_t)row % (DTYPE == NARROW_NOT ? sizeof(float4) : sizeof(uint2)) == 0;
}

/* A row whose weights are read again and again. SOFTMAX: the values are logits and the rule wants
 * probabilities, made anew wherever they are needed. */
template <bool SOFTMAX> struct row_view {
    const void *values;
    int32_t dtype;
    uint32_t vocab;
    float temperature, largest; /* for softmax: the largest of values / temperature */
    uint64_t total;             /* for softmax: the sum of its exponentials */

    __device__ float scaled(uint32_t id) const
    {
        return kernel_divide(narrow_value(values, dtype, id), temperature);
    }

    /* softmax.h's weight before it is divided by the sum. */
    __device__ float exponential(uint32_t id) const
    {
        return elementary_exp(kernel_subtract(scaled(id), largest));
    }

    __device__ float weight(uint32_t id) const
    {
        return SOFTMAX ? softmax_probability(exponential(id), total) : narrow_value(values, dtype, id);
    }

    __device__ void prepare()
    {
        if (!SOFTMAX)
            return;
        uint64_t best = ordered(minus_infinity());
        for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x) {
            const float y = scaled(id);
            if (y > minus_infinity())
                best = larger::of(best, ordered(y));
        }
        largest = ordered_inverse((uint32_t)block_combine<larger>(best));
        total = 0;
        for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x)
            total += fixed_point_of(exponential(id), FIXED_POINT_SUM_BITS);
        total = block_combine<sum>(total);
    }
};
#endif
