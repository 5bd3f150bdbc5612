/* cuda_exact.cuh: one block draws one token from any weights, reading them as often as the rule needs; for
 * the .cu files. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_EXACT_CUH
#define SAMPLEGATE_CUDA_EXACT_CUH
#include "kernels/cuda_row.cuh"

__device__ static int32_t winner_token(const struct winner &best)
{
    return best.score ? (int32_t)best.id : SAMPLER_INVALID_ROW;
}

/* A draw's noise: its own, or the caller's. */
struct draw_noise {
    struct noise_key key;
    const float *given; /* [vocab] or NULL */
};

template <class Rule, class Row> __device__ static struct winner argmax(const Row &row)
{
    struct winner best = winner_none();
    for (uint32_t id = threadIdx.x; id < row.vocab; id += blockDim.x)
        winner_add(&best, Rule::score(row.weight(id)), id);
    return block_winner(best);
}

template <class Rule, class Row> __device__ static struct winner argmax_given(const Row &row, const float *q)
{
    struct winner best = winner_none();
    for (uint32_t id = threadIdx.x; id < row.vocab; id += blockDim.x)
        winner_add(&best, Rule::score(row.weight(id), q[id]), id);
    return block_winner(best);
}

template <class Rule, class Row>
__device__ static struct winner argmax_noisy(const Row &row, const struct noise_key &key)
{
    struct winner best = winner_none();
    for (uint32_t first = 4 * threadIdx.x; first < row.vocab; first += 4 * blockDim.x) {
        const struct philox_block block = Rule::words(key, first);
        for (uint32_t j = 0; j < 4 && first + j < row.vocab; j++)
            winner_add(&best, Rule::score_of_word(row.weight(first + j), block.word[j]), first + j);
    }
    return block_winner(best);
}

/* The masses of `parts` neighbouring ranges of `width` ids from `low` on, a warp each, in part[]. */
#define CDF_PARTS 64u
template <class Row>
__device__ static void masses(const Row &row, uint32_t low, uint32_t width, int scale, uint64_t *part)
{
    const uint32_t step = (width + CDF_PARTS - 1) / CDF_PARTS;
    if (!DEFECT(DEFECT_NO_BARRIER_BEFORE_WRITE))
        __syncthreads(); /* all have read what was there before */
    for (uint32_t p = threadIdx.x / WARP; p < CDF_PARTS; p += warps()) {
        const uint32_t start = p * step < width ? p * step : width;
        const uint32_t end = start + step < width ? start + step : width;
        uint64_t units = 0;
        for (uint32_t i = start + threadIdx.x % WARP; i < end; i += WARP)
            units += fixed_point_of(row.weight(low + i), scale);
        units = warp_combine<sum>(units);
        if (threadIdx.x % WARP == 0)
            part[p] = units;
    }
    __syncthreads();
}

/* The first id whose inclusive CDF exceeds the target: of 64 ranges the one that holds it, then of 64
 * within that, until one id is left. */
template <class Row> __device__ static int32_t categorical(const Row &row, uint64_t uniform)
{
    CUDA_SHARED(uint64_t, part, CDF_PARTS);
    const struct winner heaviest = argmax<greedy_weights>(row);
    if (!heaviest.score)
        return SAMPLER_INVALID_ROW;
    const int scale = fixed_point_scale(ordered_inverse((uint32_t)heaviest.score), FIXED_POINT_CDF_BITS);
    uint32_t low = 0, width = row.vocab;
    uint64_t target = 0;
    for (bool first = true; first || width > 1; first = false) {
        masses(row, low, width, scale, part);
        if (first) {
            uint64_t total = 0;
            for (uint32_t p = 0; p < CDF_PARTS; p++)
                total += part[p];
            target = fixed_point_multiply_high(uniform, total);
        }
        const uint32_t step = (width + CDF_PARTS - 1) / CDF_PARTS;
        uint32_t p = 0; /* each thread walks alone: the same steps, at the same time */
        while (p < (width - 1) / step && target >= part[p])
            target -= part[p++];
        low += p * step;
        width = width - p * step < step ? width - p * step : step;
    }
    return (int32_t)low;
}

/* The token of a draw, in every thread. */
template <class Rule, class Row>
__device__ static int32_t token_exact(const Row &row, const struct draw_noise &noise)
{
    if constexpr (Rule::cumulative) {
        const struct philox_block block =
            philox_block(noise.key.seed, PHILOX_STREAM_CATEGORICAL, noise.key.position, 0);
        return categorical(row, block.word[0] | (uint64_t)block.word[1] << 32);
    } else if constexpr (!Rule::noisy) {
        return winner_token(argmax<Rule>(row));
    } else {
        if constexpr (Rule::given)
            if (noise.given)
                return winner_token(argmax_given<Rule>(row, noise.given));
        return winner_token(argmax_noisy<Rule>(row, noise.key));
    }
}
#endif
