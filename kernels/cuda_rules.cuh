/* cuda_rules.cuh: what each rule makes of one id: an integer whose largest value is the token's; for cuda.cu.
 *
 * The scores are those of rules.h and seeded.h; C++, after launch.h. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_RULES_CUH
#define SAMPLEGATE_CUDA_RULES_CUH
#include "kernels/exponential.h"
#include "kernels/rules.h"
#include "kernels/sampler.h"
#include "kernels/seeded.h"

/* A float as an integer in the same order; both zeros are one. Not for NaN. */
__device__ static uint32_t ordered(float x)
{
    const uint32_t bits = kernel_bits(kernel_add(x, 0.0f));
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

__device__ static float ordered_inverse(uint32_t order)
{
    return kernel_float(order ^ (order >> 31 ? 0x80000000u : 0xffffffffu));
}

__device__ static uint64_t ordered_double(double x)
{
    const uint64_t bits = kernel_double_bits(kernel_double_add(x, 0.0));
    return bits ^ (bits >> 63 ? ~(uint64_t)0 : (uint64_t)1 << 63);
}

/* A candidate token: the largest is the largest score's, of equal scores the lowest id's. 0: no candidate. */
__device__ static uint64_t candidate(uint32_t score, uint32_t id)
{
    return (uint64_t)score << 32 | (0xffffffffu - id);
}

__device__ static int32_t candidate_token(uint64_t key)
{
    return key ? (int32_t)(0xffffffffu - (uint32_t)key) : SAMPLER_INVALID_ROW;
}

__device__ static float minus_infinity()
{
    return kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
}

/* The rules: how a token is found, and the candidate that one id is, as in rules.h and seeded.h. */
enum draws_by { BEST_WEIGHT, BEST_WITH_NOISE, BEST_WITH_HASH, BEST_DOUBLE_WITH_HASH, CDF };

struct greedy_logits {
    static const enum draws_by by = BEST_WEIGHT;
    __device__ static uint64_t of(float logit, float, uint32_t id)
    {
        return logit > minus_infinity() ? candidate(ordered(logit), id) : 0;
    }
};

struct greedy_weights {
    static const enum draws_by by = BEST_WEIGHT;
    __device__ static uint64_t of(float weight, float, uint32_t id)
    {
        return kernel_weight_valid(weight) ? candidate(ordered(weight), id) : 0;
    }
};

struct race {
    static const enum draws_by by = BEST_WITH_NOISE;
    __device__ static float noise(uint32_t word)
    {
        return exponential_of_word(word);
    }
    __device__ static uint64_t of(float weight, float q, uint32_t id)
    {
        const float score = kernel_divide(weight, q);
        return kernel_weight_valid(weight) && score > -1.0f ? candidate(ordered(score), id) : 0;
    }
};

struct gumbel {
    static const enum draws_by by = BEST_WITH_NOISE;
    __device__ static float noise(uint32_t word)
    {
        return exponential_of_word(word);
    }
    __device__ static uint64_t of(float weight, float q, uint32_t id)
    {
        const float score = kernel_subtract(elementary_log(weight), elementary_log(q));
        return kernel_weight_valid(weight) && score > minus_infinity() ? candidate(ordered(score), id) : 0;
    }
};

struct torch_race {
    static const enum draws_by by = BEST_WITH_NOISE;
    __device__ static float noise(uint32_t word)
    {
        return torch_exponential_of_word(word);
    }
    __device__ static uint64_t of(float weight, float q, uint32_t id)
    {
        const float score = kernel_divide(weight, q);
        return candidate(score != score ? 0xffffffffu : ordered(score), id);
    }
};

struct seeded {
    static const enum draws_by by = BEST_DOUBLE_WITH_HASH;
    __device__ static uint32_t start(uint64_t seed, uint64_t position)
    {
        return seeded_hash_start(seed, position);
    }
    /* A score alone, without its id; 0: no candidate. */
    __device__ static uint64_t of(float weight, uint32_t start, uint32_t id)
    {
        const double score =
            kernel_double_add(seeded_log(weight), seeded_gumbel(seeded_hash_column(start, id)));
        return score > (double)minus_infinity() ? ordered_double(score) : 0;
    }
};

struct seeded_2025 {
    static const enum draws_by by = BEST_WITH_HASH;
    __device__ static uint32_t start(uint64_t seed, uint64_t position)
    {
        return seeded_2025_start(seed, position);
    }
    __device__ static uint64_t of(float weight, uint32_t start, uint32_t id)
    {
        const float score =
            kernel_add(seeded_2025_gumbel(seeded_2025_uniform(start, id)), seeded_2025_log(weight));
        return candidate(score != score ? 0xffffffffu : ordered(score), id);
    }
};

struct inverse_cdf {
    static const enum draws_by by = CDF;
};
#endif
