/* cuda_rules.cuh: what each rule makes of one id: its score, and a bound that rejects most ids without one.
 *
 * The scores are those of rules.h and seeded.h as integers of the same order (0: never the token). An id
 * whose noise is q scores about p / q, and q is at least some v that costs one conversion of its random word:
 * so nearly every id is seen to lose against a score already found. C++, after launch.h.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_RULES_CUH
#define SAMPLEGATE_CUDA_RULES_CUH
#include "kernels/exponential.h"
#include "kernels/philox.h"
#include "kernels/rules.h"
#include "kernels/seeded.h"

/* A float as an integer in the same order; both zeros are one. Not for NaN; never 0. */
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

__device__ static double ordered_double_inverse(uint64_t order)
{
    return kernel_double_of(order ^ (order >> 63 ? (uint64_t)1 << 63 : ~(uint64_t)0));
}

/* The score of a NaN where it beats everything. */
#define SCORE_NAN UINT64_C(0xffffffff)

__device__ static float minus_infinity()
{
    return kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
}

/* The noise of a draw. */
struct noise_key {
    uint64_t seed, position;
    uint32_t start; /* of the rule's hash */
};

/* 2^-32 times the ratio p / q below which an id certainly loses against a score whose ratio is at least
 * `ratio`; -inf (nothing is rejected) where rounding could be more than the 2^-10 that is given away. */
__device__ static float bound_of_ratio(float ratio)
{
    const float most = ratio < 0x1p127f ? ratio : 0x1p127f;
    const float slack = DEFECT(DEFECT_FILTER_NO_SLACK) ? 0x1.4p-32f : 0x1.ff8p-33f;
    return ratio >= 0x1p-60f ? kernel_multiply(most, slack) : minus_infinity();
}

/* The same of a score log p - log q. */
__device__ static float bound_of_log(float score)
{
    return score > -40.0f ? bound_of_ratio(elementary_exp(score < 80.0f ? score : 80.0f)) : minus_infinity();
}

/* The words of columns first .. first + 3. */
struct from_philox {
    __device__ static uint32_t start(uint64_t, uint64_t)
    {
        return 0;
    }
    __device__ static struct philox_block words(const struct noise_key &key, uint32_t first)
    {
        return philox_block(key.seed, PHILOX_STREAM_RACE, key.position, first / 4);
    }
};

struct from_hash {
    __device__ static uint32_t start(uint64_t seed, uint64_t position)
    {
        return seeded_hash_start(seed, position);
    }
    __device__ static struct philox_block words(const struct noise_key &key, uint32_t first)
    {
        struct philox_block block;
        for (uint32_t j = 0; j < 4; j++)
            block.word[j] = seeded_hash_column(key.start, first + j);
        return block;
    }
};

/* The rules. score: of a weight and its noise. scaled_noise: 2^32 v of a word. bound: of a score, for
 * probabilities. minus_log: - log q of a word, in fp32, for near scores of logits. */
struct greedy_logits {
    static const bool noisy = false, cumulative = false;
    __device__ static uint64_t score(float logit)
    {
        return logit > minus_infinity() ? ordered(logit) : 0;
    }
};

struct greedy_weights {
    static const bool noisy = false, cumulative = false;
    __device__ static uint64_t score(float weight)
    {
        return kernel_weight_valid(weight) ? ordered(weight) : 0;
    }
};

struct race : from_philox {
    static const bool noisy = true, cumulative = false, filtered = true, odd_word = false, takes_nan = false,
                      given = true;
    __device__ static uint64_t score(float weight, float q)
    {
        const float ratio = kernel_divide(weight, q);
        return kernel_weight_valid(weight) && ratio > -1.0f ? ordered(ratio) : 0;
    }
    __device__ static uint64_t score_of_word(float weight, uint32_t word)
    {
        return score(weight, exponential_of_word(word));
    }
    /* q = -ln(1 - v) >= v, v = (2^32 - 1 - word + 1/2) 2^-32. */
    __device__ static float scaled_noise(uint32_t word)
    {
        return (float)~word;
    }
    __device__ static float bound(uint64_t score)
    {
        return bound_of_ratio(ordered_inverse((uint32_t)score));
    }
    __device__ static float minus_log(uint32_t word)
    {
        return -elementary_log(exponential_of_word(word));
    }
};

struct gumbel : race {
    __device__ static uint64_t score(float weight, float q)
    {
        const float difference = kernel_subtract(elementary_log(weight), elementary_log(q));
        return kernel_weight_valid(weight) && difference > minus_infinity() ? ordered(difference) : 0;
    }
    __device__ static uint64_t score_of_word(float weight, uint32_t word)
    {
        return score(weight, exponential_of_word(word));
    }
    __device__ static float bound(uint64_t score)
    {
        return bound_of_log(ordered_inverse((uint32_t)score));
    }
};

struct torch_race : race {
    static const bool takes_nan = true;
    __device__ static uint64_t score(float weight, float q)
    {
        const float ratio = kernel_divide(weight, q);
        return ratio != ratio ? SCORE_NAN : ordered(ratio);
    }
    __device__ static uint64_t score_of_word(float weight, uint32_t word)
    {
        return score(weight, torch_exponential_of_word(word));
    }
    /* u is rounded to 24 bits: 1 - u is down by 2^-25 at most; and q >= 2^-24. */
    __device__ static float scaled_noise(uint32_t word)
    {
        const float least = kernel_subtract((float)~word, 128.0f);
        return least > 256.0f ? least : 256.0f;
    }
    __device__ static float minus_log(uint32_t word)
    {
        return -elementary_log(torch_exponential_of_word(word));
    }
};

struct seeded : from_hash {
    static const bool noisy = true, cumulative = false, filtered = true, takes_nan = false, given = false;
    /* Hash 0 has noise -log DBL_MAX: so little that a weight which underflows beside the heaviest may win. */
    static const bool odd_word = true;
    __device__ static uint64_t score_of_word(float weight, uint32_t hash)
    {
        const double score = kernel_double_add(seeded_log(weight), seeded_gumbel(hash));
        return score > (double)minus_infinity() ? ordered_double(score) : 0;
    }
    /* -log u >= 1 - u, u = hash / (2^32 - 1), and at least 2^-32. */
    __device__ static float scaled_noise(uint32_t hash)
    {
        const float least = (float)~hash;
        return least > 1.0f ? least : 1.0f;
    }
    __device__ static float bound(uint64_t score)
    {
        return score ? bound_of_log((float)ordered_double_inverse(score)) : minus_infinity();
    }
    __device__ static float minus_log(uint32_t hash)
    {
        return (float)seeded_gumbel(hash);
    }
};

/* An id of probability 0 competes, so nothing is rejected unseen. */
struct seeded_2025 {
    static const bool noisy = true, cumulative = false, filtered = false, odd_word = false, takes_nan = true,
                      given = false;
    __device__ static uint32_t start(uint64_t seed, uint64_t position)
    {
        return seeded_2025_start(seed, position);
    }
    /* The uniforms, as bits. */
    __device__ static struct philox_block words(const struct noise_key &key, uint32_t first)
    {
        struct philox_block block;
        for (uint32_t j = 0; j < 4; j++)
            block.word[j] = kernel_bits(seeded_2025_uniform(key.start, first + j));
        return block;
    }
    __device__ static uint64_t score_of_word(float weight, uint32_t uniform)
    {
        const float score = kernel_add(seeded_2025_gumbel(kernel_float(uniform)), seeded_2025_log(weight));
        return score != score ? SCORE_NAN : ordered(score);
    }
};

struct inverse_cdf {
    static const bool noisy = true, cumulative = true, given = false;
};
#endif
