/* weight_loops.c: loops over one row's weights, compiled once for each instruction set with -DISA=baseline,
 * avx2 or avx512.
 *
 * Written with the vector types of gcc and clang: 64 bytes at a time, cut to what the machine has. A weight as
 * an integer of units of 2^-scale (fixed_point_of) is made in double arithmetic, all of it exact: the weight
 * times 2^scale has 24 bits; 2^-30 turns halves up and moves nothing else, because a value just below a half is
 * at least 2^-25 below it; adding 2^52 rounds to an integer. SPDX-License-Identifier: MIT */
#include "kernels/weight_loops.h"
#include "kernels/arithmetic_double.h"
#include "kernels/softmax.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

typedef int32_t ints __attribute__((vector_size(64), aligned(4), may_alias));
typedef float floats __attribute__((vector_size(64), aligned(4), may_alias));
typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t eight_ints __attribute__((vector_size(32), aligned(4), may_alias));
typedef double doubles __attribute__((vector_size(64)));
typedef int64_t longs __attribute__((vector_size(64)));
typedef uint64_t unsigned_longs __attribute__((vector_size(64)));
#define LANES 16

/* As signed integers, negative weights lie below 0 and what is infinite or NaN from here up. */
#define END ((int32_t)KERNEL_INFINITY_BITS)

static inline uint32_t key_of(float weight)
{
    return kernel_weight_valid(weight) ? kernel_bits(weight) : 0;
}

static void largest(const float *weights, size_t vocab, float *out)
{
    for (; vocab >= WEIGHT_TILE; weights += WEIGHT_TILE, vocab -= WEIGHT_TILE, out += WEIGHT_COLUMNS) {
        ints lead[4] = {{0}, {0}, {0}, {0}};
        for (size_t row = 0; row < WEIGHT_TILE; row += WEIGHT_COLUMNS)
            for (size_t v = 0; v < 4; v++) {
                const ints key = *(const ints *)(weights + row + v * LANES);
                const ints larger = (key > lead[v]) & (key < END);
                lead[v] = (key & larger) | (lead[v] & ~larger);
            }
        memcpy(out, lead, sizeof lead);
    }
    if (vocab)
        memset(out, 0, WEIGHT_COLUMNS * sizeof *out);
    for (size_t i = 0; i < vocab; i++) {
        if (kernel_weight_valid(weights[i]) && weights[i] > out[i % WEIGHT_COLUMNS])
            out[i % WEIGHT_COLUMNS] = weights[i];
    }
}

/* The low 52 bits of the result are the units of each weight; those above are the same for all. */
#define ROUNDED(eight, unit) ((__builtin_convertvector(eight, doubles) * (unit) + 0x1p-30) + 0x1p52)
#define UNITS_BITS UINT64_C(0x000fffffffffffff)

static inline double unit_of(int scale)
{
    return kernel_double_of((uint64_t)(1023 + scale) << 52);
}

static uint64_t mass(const float *weights, size_t vocab, int scale, uint32_t low)
{
    const double unit = unit_of(scale);
    unsigned_longs sum[2] = {{0}, {0}};
    size_t i = 0;
    for (; i + LANES <= vocab; i += LANES)
        for (size_t half = 0; half < 2; half++) {
            const eight_ints key = *(const eight_ints *)(weights + i + 8 * half);
            const eight_ints within = (key > (int32_t)low) & (key < END);
            const doubles rounded = ROUNDED((eight_floats)(key & within), unit);
            sum[half] += (unsigned_longs)rounded;
        }
    uint64_t total = 0;
    for (size_t l = 0; l < 8; l++)
        total += sum[0][l] + sum[1][l];
    total -= (uint64_t)i * kernel_double_bits(0x1p52); /* modulo 2^64 */
    for (; i < vocab; i++)
        if (key_of(weights[i]) > low)
            total += fixed_point_of(weights[i], scale);
    return total;
}

/* Bit i: low < key of weights[i] <= high, for 64 weights. */
#if defined(__AVX512F__) || defined(__AVX2__)
#    include <immintrin.h>
#endif
static inline uint64_t within_of(const float *weights, int32_t low, int32_t high)
{
    uint64_t within = 0;
#ifdef __AVX512F__
    for (size_t v = 0; v < 4; v++) {
        const __m512i key = _mm512_loadu_si512(weights + v * LANES);
        const __mmask16 above = _mm512_cmpgt_epi32_mask(key, _mm512_set1_epi32(low));
        const __mmask16 both = _mm512_mask_cmple_epi32_mask(above, key, _mm512_set1_epi32(high));
        within |= (uint64_t)both << (v * LANES);
    }
#elif defined(__AVX2__)
    for (size_t v = 0; v < 8; v++) {
        const __m256i key = _mm256_loadu_si256((const __m256i *)(weights + v * 8));
        const __m256i above = _mm256_cmpgt_epi32(key, _mm256_set1_epi32(low));
        const __m256i beyond = _mm256_cmpgt_epi32(key, _mm256_set1_epi32(high));
        const __m256i both = _mm256_andnot_si256(beyond, above);
        within |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(both)) << (v * 8);
    }
#else
    for (size_t i = 0; i < 64; i++) {
        const int32_t key = (int32_t)kernel_bits(weights[i]);
        within |= (uint64_t)((key > low) & (key <= high)) << i;
    }
#endif
    return within;
}

/* The same for the ids from `first` on, of which there may be fewer than 64. */
static inline uint64_t within_at(const float *weights, size_t vocab, size_t first, uint32_t low,
                                 uint32_t high)
{
    if (vocab - first >= 64)
        return within_of(weights + first, (int32_t)low, (int32_t)high);
    uint64_t within = 0;
    for (size_t i = first; i < vocab; i++) {
        const uint32_t key = key_of(weights[i]);
        within |= (uint64_t)((key > low) & (key <= high)) << (i - first);
    }
    return within;
}

static size_t find(const float *weights, size_t vocab, uint32_t low, uint32_t high, uint32_t *id,
                   size_t capacity)
{
    size_t count = 0;
    for (size_t first = 0; first < vocab; first += 64) {
        uint64_t within = within_at(weights, vocab, first, low, high);
        if (count >= capacity) {
            count += (size_t)__builtin_popcountll(within);
            continue;
        }
        for (; within; within &= within - 1, count++)
            if (count < capacity)
                id[count] = (uint32_t)(first + (size_t)__builtin_ctzll(within));
    }
    return count;
}

/* All 64 weights at once pay off where most are within: units and bins by vectors, then 64 additions. */
static void histogram_dense(const float *weights, uint32_t low, uint32_t high, int shift, int in_mass,
                            double unit, uint64_t *bin)
{
    uint64_t units[64];
    uint32_t index[64];
    for (size_t i = 0; i < 64; i++) {
        const uint32_t key = kernel_bits(weights[i]);
        const uint32_t within = kernel_mask((int32_t)key > (int32_t)low) & kernel_mask(key <= high);
        const float weight = kernel_float(key & within);
        const uint64_t mass_units =
            kernel_double_bits(((double)weight * unit + 0x1p-30) + 0x1p52) & UNITS_BITS;
        index[i] = ((key - low - 1) & within) >> shift;
        units[i] = in_mass ? mass_units : within & 1;
    }
    for (size_t i = 0; i < 64; i++)
        bin[index[i]] += units[i];
}

static void histogram(const float *weights, size_t vocab, uint32_t low, uint32_t high, int shift, int in_mass,
                      int scale, uint64_t *bin)
{
    const double unit = unit_of(scale);
    for (size_t first = 0; first < vocab; first += 64) {
        uint64_t within = within_at(weights, vocab, first, low, high);
        if (vocab - first >= 64 && __builtin_popcountll(within) >= 24) {
            histogram_dense(weights + first, low, high, shift, in_mass, unit, bin);
            continue;
        }
        for (; within; within &= within - 1) {
            const float weight = weights[first + (size_t)__builtin_ctzll(within)];
            bin[(kernel_bits(weight) - low - 1) >> shift] += in_mass ? fixed_point_of(weight, scale) : 1;
        }
    }
}

static void keep(float *restrict weights, size_t vocab, uint32_t low, uint8_t *restrict kept)
{
    for (size_t i = 0; i < vocab; i++) {
        const int32_t key = (int32_t)kernel_bits(weights[i]);
        const uint32_t within = kernel_mask((key > (int32_t)low) & (key < END));
        weights[i] = kernel_float((uint32_t)key & within);
        kept[i] = (uint8_t)(within & 1);
    }
}

/* The largest value, NaN passed over; -inf if there is none. The sign of a zero does not matter to its caller. */
static float largest_value(const float *values, size_t vocab)
{
    const float start = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    floats lead[2];
    float out = start;
    size_t i = 0;
    for (size_t l = 0; l < LANES; l++)
        lead[0][l] = lead[1][l] = start;
    for (; i + 2 * LANES <= vocab; i += 2 * LANES)
        for (size_t v = 0; v < 2; v++) {
            const floats value = *(const floats *)(values + i + v * LANES);
            const ints larger = value > lead[v];
            lead[v] = (floats)(((ints)value & larger) | ((ints)lead[v] & ~larger));
        }
    for (size_t l = 0; l < LANES; l++)
        for (size_t v = 0; v < 2; v++)
            out = lead[v][l] > out ? lead[v][l] : out;
    for (; i < vocab; i++)
        out = values[i] > out ? values[i] : out;
    return out;
}

static void softmax_by_vectors(const float *restrict logits, size_t vocab, float temperature,
                               float *restrict probability)
{
    const float *scaled = logits;
    if (temperature != 1.0f) { /* dividing by 1 changes nothing but signalling NaNs, which end as NaN */
        for (size_t i = 0; i < vocab; i++)
            probability[i] = kernel_divide(logits[i], temperature);
        scaled = probability;
    }
    const float top = largest_value(scaled, vocab);
    for (size_t i = 0; i < vocab; i++)
        probability[i] = elementary_exp(kernel_subtract(scaled[i], top));
    const uint64_t sum = mass(probability, vocab, FIXED_POINT_SUM_BITS, 0);
    const float divisor = kernel_multiply((float)sum, 0x1p-43f);
    for (size_t i = 0; i < vocab; i++) {
        const uint32_t nan =
            kernel_mask(sum == 0) | kernel_mask(kernel_bits(probability[i]) == KERNEL_NAN_BITS);
        const uint32_t quotient = kernel_bits(kernel_divide(probability[i], divisor));
        probability[i] = kernel_float(kernel_select(nan, KERNEL_NAN_BITS, quotient));
    }
}

const struct weight_loops PASTE(weight_loops_, ISA) = {
    TEXT(ISA), softmax_by_vectors, largest, mass, find, histogram, keep,
};
