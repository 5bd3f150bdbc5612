/* cuda_block.cuh: what the threads of a block find together: a sum, a largest, a winner; for the .cu files.
 *
 * Every sum is an integer and a winner is the largest (score, lowest id), a total order: in which order
 * threads and blocks come cannot matter. After launch.h. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_BLOCK_CUH
#define SAMPLEGATE_CUDA_BLOCK_CUH
#include <stdint.h>
#include "kernels/cuda_defect.h"

#define WARP 32u
#define WARPS_MAX 32u
#define ALL_LANES 0xffffffffu

struct larger {
    __device__ static uint64_t of(uint64_t a, uint64_t b)
    {
        return a > b ? a : b;
    }
};

struct sum {
    __device__ static uint64_t of(uint64_t a, uint64_t b)
    {
        return a + b;
    }
};

/* How many threads share so many columns: a warp for 128 of them, up to `most` warps. */
static inline uint32_t cuda_threads(uint32_t columns, uint32_t most)
{
    const uint32_t wanted = columns ? (columns + 127) / 128 : 1;
    return WARP * (wanted < most ? wanted : most);
}

__device__ static uint32_t warps()
{
    return blockDim.x / WARP;
}

template <class Combine> __device__ static uint64_t warp_combine(uint64_t value)
{
    for (uint32_t bits = WARP / 2; bits > 0; bits /= 2)
        value = Combine::of(value, __shfl_xor_sync(ALL_LANES, value, bits));
    return value;
}

/* The values of all threads combined, in every thread. */
template <class Combine> __device__ static uint64_t block_combine(uint64_t value)
{
    CUDA_SHARED(uint64_t, partial, WARPS_MAX);
    value = warp_combine<Combine>(value);
    if (!DEFECT(DEFECT_NO_BARRIER_BEFORE_WRITE))
        __syncthreads(); /* all have read what was there before */
    if (threadIdx.x % WARP == 0)
        partial[threadIdx.x / WARP + (DEFECT(DEFECT_SHORT_ARRAY) ? WARPS_MAX - 1 : 0)] = value;
    if (!DEFECT(DEFECT_NO_BARRIER_AFTER_WRITE))
        __syncthreads();
    value = partial[0];
    for (uint32_t warp = 1; warp < warps(); warp++)
        value = Combine::of(value, partial[warp]);
    return value;
}

/* The best id so far. */
struct winner {
    uint64_t score;  /* in integers of the same order; 0: there is none */
    uint32_t id;     /* of equal scores the lowest */
    uint32_t second; /* the best score but one, where scores are near ones: they fit 32 bits; 0: none */
};
#define SECOND_ODD 0xffffffffu /* there was a value that near scores say nothing about */

__device__ static struct winner winner_none()
{
    return {0, 0xffffffffu, 0};
}

__device__ static struct winner winner_of(const struct winner &a, const struct winner &b)
{
    const bool first = a.score > b.score || (a.score == b.score && a.id <= b.id);
    const uint32_t loser = (uint32_t)(first ? b.score : a.score);
    const uint32_t second = a.second > b.second ? a.second : b.second;
    return {first ? a.score : b.score, first ? a.id : b.id, loser > second ? loser : second};
}

__device__ static void winner_add(struct winner *best, uint64_t score, uint32_t id)
{
    *best = winner_of(*best, {score, score ? id : 0xffffffffu, 0});
}

/* The winner of all threads, in every thread. */
__device__ static struct winner block_winner(struct winner best)
{
    CUDA_SHARED(struct winner, partial, WARPS_MAX);
    for (uint32_t bits = WARP / 2; bits > 0; bits /= 2) {
        const uint64_t score = __shfl_xor_sync(ALL_LANES, best.score, bits);
        const uint64_t rest = __shfl_xor_sync(ALL_LANES, (uint64_t)best.id << 32 | best.second, bits);
        best = winner_of(best, {score, (uint32_t)(rest >> 32), (uint32_t)rest});
    }
    if (!DEFECT(DEFECT_NO_BARRIER_BEFORE_WRITE))
        __syncthreads(); /* all have read what was there before */
    if (threadIdx.x % WARP == 0)
        partial[threadIdx.x / WARP] = best;
    if (!DEFECT(DEFECT_NO_BARRIER_AFTER_WRITE))
        __syncthreads();
    best = partial[0];
    for (uint32_t warp = 1; warp < warps(); warp++)
        best = winner_of(best, partial[warp]);
    return best;
}
#endif
