/* seeded.h: hash-keyed Gumbel-max, as SGLang's deterministic inference draws: the token is a function of
 * (seed, position, column) through a hash instead of a generator.
 *
 * seeded:      SGLang 0.5.19 to 0.5.23 (sampler.py, multinomial_with_seed): u = double(h) / (2^32 - 1) with h
 *              MurmurHash3 x86_32 (initial value 0) of four words: seed low, seed high, position, column;
 *              l = log u clamped to [-DBL_MAX, -2^-32]; score = log p - log(-l), p's log in fp32.
 * seeded-2025: its first form (September 2025, PR 10678): a linear hash, cut to 24 bits, and fp32:
 *              -log(-log(u + e) + e) + log(p + e), e = 1e-9. An id of probability 0 competes with log e.
 * Seeds are 64 bits, positions and columns are cut to 32 (seeded) or multiplied modulo 2^64 (seeded-2025).
 * The logarithms are our own, so a token may differ from an engine's where two scores differ by an ulp or so.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SEEDED_H
#define SAMPLEGATE_SEEDED_H
#include <stddef.h>
#include "kernels/elementary.h"
#include "kernels/elementary_double.h"

static inline KERNEL_HD uint32_t seeded_rotate(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

/* What a word brings to the hash, and the hash with it. */
static inline KERNEL_HD uint32_t seeded_spread(uint32_t word)
{
    return seeded_rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
}

static inline KERNEL_HD uint32_t seeded_mix(uint32_t hash, uint32_t spread)
{
    return seeded_rotate(hash ^ spread, 13) * 5u + 0xe6546b64u;
}

/* The part of the hash that all columns of a draw share. */
static inline KERNEL_HD uint32_t seeded_hash_start(uint64_t seed, uint64_t position)
{
    const uint32_t hash =
        seeded_mix(seeded_mix(0, seeded_spread((uint32_t)seed)), seeded_spread((uint32_t)(seed >> 32)));
    return seeded_mix(hash, seeded_spread((uint32_t)position));
}

/* The hash of a column, from its seeded_spread. */
static inline KERNEL_HD uint32_t seeded_hash_finish(uint32_t start, uint32_t spread)
{
    uint32_t hash = seeded_mix(start, spread) ^ 16u; /* the length in bytes */
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

static inline KERNEL_HD uint32_t seeded_hash_column(uint32_t start, uint32_t column)
{
    return seeded_hash_finish(start, seeded_spread(column));
}

static inline KERNEL_HD uint32_t seeded_hash(uint64_t seed, uint64_t position, uint32_t column)
{
    return seeded_hash_column(seeded_hash_start(seed, position), column);
}

/* The Gumbel noise of a hash: -log(-l), in [-709.79, 22.19]. */
static inline KERNEL_HD double seeded_gumbel(uint32_t hash)
{
    const uint64_t zero = kernel_double_mask(hash == 0), last = kernel_double_mask(hash == UINT32_MAX);
    const double u = kernel_double_divide(kernel_double_of_word(hash), 4294967295.0);
    /* log of 0 and of 1 are the only ones that the clamps change; the argument stays normal for both. */
    const double some =
        kernel_double_of(kernel_double_select(zero, UINT64_C(0x3fe0000000000000), kernel_double_bits(u)));
    uint64_t minus_l = kernel_double_bits(elementary_double_log_normal(some)) ^ UINT64_C(1) << 63;
    minus_l = kernel_double_select(zero, UINT64_C(0x7fefffffffffffff), minus_l); /* DBL_MAX */
    minus_l = kernel_double_select(last, UINT64_C(0x3df0000000000000), minus_l); /* 2^-32 */
    return -elementary_double_log_normal(kernel_double_of(minus_l));
}

/* The log of a weight as the rule adds it; -inf for a weight that must not be drawn. */
static inline KERNEL_HD double seeded_log(float weight)
{
    const float minus_infinity = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    return (double)(kernel_weight_valid(weight) ? elementary_log(weight) : minus_infinity);
}

/* The same as SGLang's filtered path takes it: in double. */
static inline KERNEL_HD double seeded_log_double(float weight)
{
    const float minus_infinity = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    return kernel_weight_valid(weight) ? elementary_double_log((double)weight) : (double)minus_infinity;
}

/* argmax of logs[column] + noise; -inf never wins, and -1 is the answer where nothing else is there. */
static inline KERNEL_HD int32_t rule_seeded(const double *logs, size_t columns, uint64_t seed,
                                            uint64_t position)
{
    const uint32_t start = seeded_hash_start(seed, position);
    int32_t column = -1;
    double best = (double)kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    for (size_t i = 0; i < columns; i++) {
        const double score =
            kernel_double_add(logs[i], seeded_gumbel(seeded_hash_column(start, (uint32_t)i)));
        if (score > best) {
            best = score;
            column = (int32_t)i;
        }
    }
    return column;
}

/* The factor of the column in the linear hash; what it meets is the same for all columns. */
static inline KERNEL_HD uint32_t seeded_2025_start(uint64_t seed, uint64_t position)
{
    const uint64_t step = seed * UINT64_C(19349663) ^ position * UINT64_C(73856093);
    return (uint32_t)(step * UINT64_C(8589934591)); /* only 24 bits are used */
}

static inline KERNEL_HD uint32_t seeded_2025_spread(uint32_t column)
{
    return column * 479001599u;
}

/* 24 bits. */
static inline KERNEL_HD uint32_t seeded_2025_finish(uint32_t start, uint32_t spread)
{
    return (start ^ spread) & 0xffffffu;
}

/* u in [0, 1), a multiple of 2^-24. */
static inline KERNEL_HD float seeded_2025_uniform(uint32_t start, uint32_t column)
{
    return kernel_multiply((float)(int32_t)seeded_2025_finish(start, seeded_2025_spread(column)), 0x1p-24f);
}

#define SEEDED_2025_EPSILON 1e-9f

static inline KERNEL_HD float seeded_2025_gumbel(float u)
{
    const float l = elementary_log_normal(kernel_add(u, SEEDED_2025_EPSILON));
    return -elementary_log_normal(kernel_subtract(SEEDED_2025_EPSILON, l));
}

/* log(p + e); NaN for a negative or NaN p. */
static inline KERNEL_HD float seeded_2025_log(float weight)
{
    return elementary_log(kernel_add(weight, SEEDED_2025_EPSILON));
}

/* As torch's argmax over the published line: the first NaN beats everything, else the first of the largest.
 * logs[column] are seeded_2025_log of weights. */
static inline KERNEL_HD int32_t rule_seeded_2025(const float *logs, size_t columns, uint64_t seed,
                                                 uint64_t position)
{
    const uint32_t start = seeded_2025_start(seed, position);
    int32_t column = 0;
    float best = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    for (size_t i = 0; i < columns; i++) {
        const float score = kernel_add(seeded_2025_gumbel(seeded_2025_uniform(start, (uint32_t)i)), logs[i]);
        if (score != score)
            return (int32_t)i;
        if (score > best) {
            best = score;
            column = (int32_t)i;
        }
    }
    return column;
}
#endif
