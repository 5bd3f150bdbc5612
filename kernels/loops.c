/* loops.c: the inner loops, compiled once for each instruction set with -DISA=baseline, avx2 or avx512.
 *
 * All arithmetic is that of the scalar headers, in loops the compiler vectorises; only Philox is spelled in
 * intrinsics, because gcc makes poor code of a 32 by 32 to 64 bit product. One group is 64 columns: 16 Philox
 * blocks, words first. SPDX-License-Identifier: MIT */
#include "kernels/loops.h"
#include "kernels/exponential.h"
#include "kernels/philox.h"
#include "kernels/seeded.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

#if defined(__AVX512F__) || defined(__AVX2__)
#    include <immintrin.h>
#    ifdef __AVX512F__
typedef __m512i lanes; /* 8 lanes of 64 bits, the low half of each a Philox word */
#        define LANES_SET(x) _mm512_set1_epi64((long long)(x))
#        define LANES_EVEN _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0)
#        define LANES_ADD _mm512_add_epi64
#        define LANES_MULTIPLY _mm512_mul_epu32
#        define LANES_HIGH(x) _mm512_srli_epi64(x, 32)
#        define LANES_XOR(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#        define LANES_JOIN(even, odd) _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, _MM_PERM_CCAA)
#        define LANES_STORE(p, x) _mm512_storeu_si512(p, x)
#    else
typedef __m256i lanes; /* 4 lanes of 64 bits */
#        define LANES_SET(x) _mm256_set1_epi64x((long long)(x))
#        define LANES_EVEN _mm256_set_epi64x(6, 4, 2, 0)
#        define LANES_ADD _mm256_add_epi64
#        define LANES_MULTIPLY _mm256_mul_epu32
#        define LANES_HIGH(x) _mm256_srli_epi64(x, 32)
#        define LANES_XOR(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, c), b)
#        define LANES_JOIN(even, odd) _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa)
#        define LANES_STORE(p, x) _mm256_storeu_si256((__m256i *)(p), x)
#    endif
#    define LANES (sizeof(lanes) / sizeof(uint64_t))

/* One round on words that sit in the low halves; what is in the high halves never reaches a low half. */
static inline void lanes_round(lanes word[4], lanes key0, lanes key1)
{
    const lanes product0 = LANES_MULTIPLY(word[0], LANES_SET(PHILOX_M4x32_0));
    const lanes product1 = LANES_MULTIPLY(word[2], LANES_SET(PHILOX_M4x32_1));
    word[0] = LANES_XOR(LANES_HIGH(product1), word[1], key0);
    word[1] = product1;
    word[2] = LANES_XOR(LANES_HIGH(product0), word[3], key1);
    word[3] = product0;
}

/* words[64] of blocks 16 group .. 16 group + 15 in lane order. Even and odd blocks are kept apart, so that
 * joining the low halves of the two puts block i into lane i. */
static inline void group_words(uint64_t seed, uint64_t position, size_t group, uint32_t words[LOOPS_GROUP])
{
    for (size_t first = 0; first < 16; first += 2 * LANES) {
        const lanes block = LANES_ADD(LANES_EVEN, LANES_SET(16 * group + first));
        const lanes stream = LANES_SET(PHILOX_STREAM_RACE);
        const lanes low = LANES_SET(position & 0xffffffffu), high = LANES_SET(position >> 32);
        lanes even[4] = {block, stream, low, high};
        lanes odd[4] = {LANES_ADD(block, LANES_SET(1)), stream, low, high};
        uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
#    pragma GCC unroll 10
        for (int round = 0; round < 10; round++) {
            lanes_round(even, LANES_SET(key0), LANES_SET(key1));
            lanes_round(odd, LANES_SET(key0), LANES_SET(key1));
            key0 += PHILOX_W32_0;
            key1 += PHILOX_W32_1;
        }
        for (size_t j = 0; j < 4; j++)
            LANES_STORE(words + 16 * j + first, LANES_JOIN(even[j], odd[j]));
    }
}
#else
static inline void group_words(uint64_t seed, uint64_t position, size_t group, uint32_t words[LOOPS_GROUP])
{
    for (size_t i = 0; i < 16; i++) {
        const struct philox_block block =
            philox_block(seed, PHILOX_STREAM_RACE, position, (uint32_t)(16 * group + i));
        for (size_t j = 0; j < 4; j++)
            words[16 * j + i] = block.word[j];
    }
}
#endif

/* Column of a lane within its group. */
static inline uint32_t lane_column(uint32_t lane)
{
    return lane % 16 * 4 + lane / 16;
}

/* The running best of each lane and the group it came from. */
struct lead {
    float score[LOOPS_GROUP];
    uint32_t group[LOOPS_GROUP];
};

static inline void lead_start(struct lead *lead)
{
    for (size_t l = 0; l < LOOPS_GROUP; l++) {
        lead->score[l] = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
        lead->group[l] = 0;
    }
}

static inline void lead_take(struct lead *lead, const float score[LOOPS_GROUP], size_t group)
{
    for (size_t l = 0; l < LOOPS_GROUP; l++) {
        const uint32_t larger = kernel_mask(score[l] > lead->score[l]);
        lead->score[l] =
            kernel_float(kernel_select(larger, kernel_bits(score[l]), kernel_bits(lead->score[l])));
        lead->group[l] = kernel_select(larger, (uint32_t)group, lead->group[l]);
    }
}

/* Largest score, then lowest column: halve the lanes until one is left. */
static inline int32_t lead_column(struct lead *lead)
{
    for (uint32_t l = 0; l < LOOPS_GROUP; l++)
        lead->group[l] = lead->group[l] * LOOPS_GROUP + lane_column(l); /* now a column */
#pragma GCC unroll 6
    for (size_t half = LOOPS_GROUP / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++) {
            const float a = lead->score[l], b = lead->score[l + half];
            const uint32_t first = lead->group[l], second = lead->group[l + half];
            const uint32_t other = kernel_mask(b > a) | (kernel_mask(b == a) & kernel_mask(second < first));
            lead->score[l] = kernel_float(kernel_select(other, kernel_bits(b), kernel_bits(a)));
            lead->group[l] = kernel_select(other, second, first);
        }
    return (int32_t)lead->group[0];
}

static inline float race_noise(uint32_t word)
{
    return exponential_of_word(word);
}

static inline float torch_noise(uint32_t word)
{
    return torch_exponential_of_word(word);
}

static inline float race_score(float weight, float q)
{
    return kernel_divide(weight, q);
}

static inline float gumbel_score(float log_weight, float q)
{
    return kernel_subtract(log_weight, elementary_log_normal(q));
}

/* Callers' noise may be denormal. */
static inline float gumbel_score_any(float log_weight, float q)
{
    return kernel_subtract(log_weight, elementary_log(q));
}

#define DRAW(name, noise_of, score_of)                                                                       \
    static int32_t name(const float *scores, size_t groups, uint64_t seed, uint64_t position)                \
    {                                                                                                        \
        struct lead lead;                                                                                    \
        lead_start(&lead);                                                                                   \
        for (size_t group = 0; group < groups; group++) {                                                    \
            uint32_t words[LOOPS_GROUP];                                                                     \
            float score[LOOPS_GROUP];                                                                        \
            group_words(seed, position, group, words);                                                       \
            for (size_t l = 0; l < LOOPS_GROUP; l++)                                                         \
                score[l] = score_of(scores[group * LOOPS_GROUP + l], noise_of(words[l]));                    \
            lead_take(&lead, score, group);                                                                  \
        }                                                                                                    \
        return lead_column(&lead);                                                                           \
    }
DRAW(race, race_noise, race_score)
DRAW(gumbel, race_noise, gumbel_score)
DRAW(torch_race, torch_noise, race_score)

static int32_t seeded(const double *logs, size_t groups, uint64_t seed, uint64_t position)
{
    const uint32_t start = seeded_hash_start(seed, position);
    double best[LOOPS_GROUP];
    uint64_t where[LOOPS_GROUP];
    for (uint32_t l = 0; l < LOOPS_GROUP; l++) {
        best[l] = (double)kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
        where[l] = lane_column(l);
    }
    for (size_t group = 0; group < groups; group++) {
        uint32_t hash[LOOPS_GROUP];
        double score[LOOPS_GROUP];
        for (uint32_t l = 0; l < LOOPS_GROUP; l++)
            hash[l] = seeded_hash_column(start, (uint32_t)(group * LOOPS_GROUP) + lane_column(l));
        for (size_t l = 0; l < LOOPS_GROUP; l++)
            score[l] = kernel_double_add(logs[group * LOOPS_GROUP + l], seeded_gumbel(hash[l]));
        for (size_t l = 0; l < LOOPS_GROUP; l++) {
            const uint64_t larger = kernel_double_mask(score[l] > best[l]);
            const uint64_t column = group * LOOPS_GROUP + lane_column((uint32_t)l);
            best[l] = kernel_double_of(
                kernel_double_select(larger, kernel_double_bits(score[l]), kernel_double_bits(best[l])));
            where[l] = kernel_double_select(larger, column, where[l]);
        }
    }
    size_t first = 0;
    for (size_t l = 1; l < LOOPS_GROUP; l++)
        if (best[l] > best[first] || (best[l] == best[first] && where[l] < where[first]))
            first = l;
    return (int32_t)where[first];
}

static int32_t seeded_2025(const float *logs, size_t groups, uint64_t seed, uint64_t position)
{
    const uint32_t start = seeded_2025_start(seed, position);
    struct lead lead;
    lead_start(&lead);
    for (size_t group = 0; group < groups; group++) {
        float score[LOOPS_GROUP];
        for (uint32_t l = 0; l < LOOPS_GROUP; l++) {
            const float u = seeded_2025_uniform(start, (uint32_t)(group * LOOPS_GROUP) + lane_column(l));
            score[l] = kernel_add(seeded_2025_gumbel(u), logs[group * LOOPS_GROUP + l]);
        }
        lead_take(&lead, score, group);
    }
    return lead_column(&lead);
}

#define DRAW_WITH_NOISE(name, score_of)                                                                      \
    static int32_t name(const float *scores, const float *q, size_t vocab)                                   \
    {                                                                                                        \
        struct lead lead;                                                                                    \
        lead_start(&lead);                                                                                   \
        for (size_t group = 0; group * LOOPS_GROUP < vocab; group++) {                                       \
            float noise[LOOPS_GROUP], score[LOOPS_GROUP];                                                    \
            lane_order(q + group * LOOPS_GROUP, vocab - group * LOOPS_GROUP, noise);                         \
            for (size_t l = 0; l < LOOPS_GROUP; l++)                                                         \
                score[l] = score_of(scores[group * LOOPS_GROUP + l], noise[l]);                              \
            lead_take(&lead, score, group);                                                                  \
        }                                                                                                    \
        return lead_column(&lead);                                                                           \
    }

/* A group of the caller's noise in lane order; columns beyond `left` get 1. */
static inline void lane_order(const float *q, size_t left, float noise[LOOPS_GROUP])
{
    if (left >= LOOPS_GROUP) {
        for (size_t i = 0; i < 16; i++)
            for (size_t j = 0; j < 4; j++)
                noise[16 * j + i] = q[4 * i + j];
        return;
    }
    for (size_t column = 0; column < LOOPS_GROUP; column++)
        noise[loops_place(column)] = column < left ? q[column] : 1.0f;
}
DRAW_WITH_NOISE(race_with_noise, race_score)
DRAW_WITH_NOISE(gumbel_with_noise, gumbel_score_any)

static void noise(uint64_t seed, uint64_t position, size_t vocab, float *q)
{
    for (size_t group = 0; group * LOOPS_GROUP < vocab; group++) {
        uint32_t words[LOOPS_GROUP];
        float lane[LOOPS_GROUP];
        group_words(seed, position, group, words);
        for (size_t l = 0; l < LOOPS_GROUP; l++)
            lane[l] = exponential_of_word(words[l]);
        const size_t left = vocab - group * LOOPS_GROUP;
        for (size_t column = 0; column < LOOPS_GROUP && column < left; column++)
            q[group * LOOPS_GROUP + column] = lane[loops_place(column)];
    }
}

#define MAP(name, from, function)                                                                            \
    static void name(const from *restrict x, float *restrict y, size_t n)                                    \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++)                                                                       \
            y[i] = function(x[i]);                                                                           \
    }
MAP(exponential, uint32_t, exponential_of_word)
MAP(torch_exponential, uint32_t, torch_exponential_of_word)
MAP(log_map, float, elementary_log)
MAP(exp_map, float, elementary_exp)

const struct loops PASTE(loops_, ISA) = {
    TEXT(ISA),         race,  gumbel,      torch_race,        seeded,  seeded_2025, race_with_noise,
    gumbel_with_noise, noise, exponential, torch_exponential, log_map, exp_map,
};
