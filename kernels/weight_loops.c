/* weight_loops.c: loops over one row's weights, compiled once for each instruction set with -DISA=baseline,
 * avx2 or avx512.
 *
 * The vector types of gcc and clang, as wide as the machine's; intrinsics where these have no words. A weight as
 * an integer of units of 2^-scale (fixed_point_of) is made in double arithmetic, all of it exact: the weight
 * times 2^scale has 24 bits; 2^-30 turns halves up and moves nothing else, because a value just below a half is
 * at least 2^-25 below it; adding to 2^52 rounds to an integer. SPDX-License-Identifier: MIT */
#include "kernels/weight_loops.h"
#include "kernels/arithmetic_double.h"
#include "kernels/softmax.h"
#if defined(__AVX512F__) || defined(__AVX2__)
#    include <immintrin.h>
#endif

#ifndef HALVES_UP
#    define HALVES_UP 0x1p-30
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

#if defined(__AVX512F__)
#    define BYTES 64
#elif defined(__AVX2__)
#    define BYTES 32
#else
#    define BYTES 16
#endif
#define LANES (BYTES / 4)
typedef int32_t ints __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef uint32_t unsigned_ints __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef float floats __attribute__((vector_size(BYTES), aligned(4), may_alias));

/* As signed integers, negative weights lie below 0 and what is infinite or NaN from here up. */
#define END ((int32_t)KERNEL_INFINITY_BITS)

static inline uint32_t key_of(float weight)
{
    return kernel_weight_valid(weight) ? kernel_bits(weight) : 0;
}

static inline ints ints_max(ints a, ints b)
{
#if defined(__AVX512F__)
    return (ints)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (ints)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    return (a & (a > b)) | (b & ~(a > b));
#endif
}

/* What does not fill a tile. */
static void columns_rest(const float *weights, size_t vocab, float *largest, struct weight_summary *summary)
{
    memset(largest, 0, WEIGHT_COLUMNS * sizeof *largest);
    for (size_t i = 0; i < vocab; i++)
        if (kernel_weight_valid(weights[i])) {
            summary->sum += (double)weights[i];
            if (weights[i] > largest[i % WEIGHT_COLUMNS])
                largest[i % WEIGHT_COLUMNS] = weights[i];
        }
    for (size_t c = 0; c < WEIGHT_COLUMNS; c++)
        if (largest[c] > summary->largest)
            summary->largest = largest[c];
}

static struct weight_summary columns(const float *weights, size_t vocab, float *largest)
{
    struct weight_summary summary = {0, 0};
    double sums[WEIGHT_COLUMNS] = {0};
    ints top = {0};
    float of_top[LANES];
    for (; vocab >= WEIGHT_TILE; weights += WEIGHT_TILE, vocab -= WEIGHT_TILE, largest += WEIGHT_COLUMNS) {
        ints lead[WEIGHT_COLUMNS / LANES];
        floats sum[WEIGHT_COLUMNS / LANES];
        float part[WEIGHT_COLUMNS];
        memset(lead, 0, sizeof lead);
        memset(sum, 0, sizeof sum);
        for (size_t row = 0; row < WEIGHT_TILE; row += WEIGHT_COLUMNS)
            for (size_t v = 0; v < WEIGHT_COLUMNS / LANES; v++) {
                ints key = *(const ints *)(weights + row + v * LANES);
                key &= (unsigned_ints)key < KERNEL_INFINITY_BITS; /* negative ones are large as unsigned */
                lead[v] = ints_max(lead[v], key);
                sum[v] += (floats)key;
            }
        memcpy(largest, lead, sizeof lead);
        memcpy(part, sum, sizeof sum);
        for (size_t v = 0; v < WEIGHT_COLUMNS / LANES; v++)
            top = ints_max(top, lead[v]);
        for (size_t c = 0; c < WEIGHT_COLUMNS; c++)
            sums[c] += (double)part[c];
    }
    memcpy(of_top, &top, sizeof top);
    for (size_t l = 0; l < LANES; l++)
        if (of_top[l] > summary.largest)
            summary.largest = of_top[l];
    for (size_t c = 0; c < WEIGHT_COLUMNS; c++)
        summary.sum += sums[c];
    if (vocab)
        columns_rest(weights, vocab, largest, &summary);
    return summary;
}

static inline double unit_of(int scale)
{
    return kernel_double_of((uint64_t)(1023 + scale) << 52);
}

/* Sums of units as doubles in [2^52, 2^53): a weight is below 2^44, so 128 additions are always exact. Each adds
 * `weight * unit + HALVES_UP`, rounded to an integer by the addition itself; it is never a tie. */
#define SUM_START 0x1p52
#define SUM_STEPS 128
#define SUMS 4 /* chains of additions */
#if defined(__AVX512F__)
typedef __m512d sums;
#    define SUM_SET _mm512_set1_pd
static inline sums sum_add(sums sum, const float *weights, int32_t low, sums unit)
{
    const __m256i key = _mm256_loadu_si256((const __m256i *)weights);
    const __mmask8 above = _mm256_cmpgt_epi32_mask(key, _mm256_set1_epi32(low));
    const __mmask8 within = _mm256_mask_cmplt_epi32_mask(above, key, _mm256_set1_epi32(END));
    const sums weight = _mm512_maskz_cvtps_pd(within, _mm256_castsi256_ps(key));
    return _mm512_add_pd(sum, _mm512_fmadd_pd(weight, unit, _mm512_set1_pd(HALVES_UP)));
}
#elif defined(__AVX2__)
typedef __m256d sums;
#    define SUM_SET _mm256_set1_pd
static inline sums sum_add(sums sum, const float *weights, int32_t low, sums unit)
{
    const __m128i key = _mm_loadu_si128((const __m128i *)weights);
    const __m128i above = _mm_and_si128(key, _mm_cmpgt_epi32(key, _mm_set1_epi32(low)));
    const __m128i within = _mm_and_si128(above, _mm_cmpgt_epi32(_mm_set1_epi32(END), key));
    const sums weight = _mm256_cvtps_pd(_mm_castsi128_ps(within));
    return _mm256_add_pd(sum, _mm256_fmadd_pd(weight, unit, _mm256_set1_pd(HALVES_UP)));
}
#else
typedef double sums;
#    define SUM_SET(x) (x)
static inline sums sum_add(sums sum, const float *weights, int32_t low, sums unit)
{
    const int32_t key = (int32_t)kernel_bits(*weights);
    const uint32_t within = kernel_mask((key > low) & (key < END));
    return sum + ((double)kernel_float((uint32_t)key & within) * unit + HALVES_UP);
}
#endif
#define SUM_LANES (sizeof(sums) / sizeof(double))

static uint64_t mass(const float *weights, size_t vocab, int scale, uint32_t low)
{
    const sums unit = SUM_SET(unit_of(scale));
    uint64_t total = 0;
    size_t i = 0;
    while (vocab - i >= SUMS * SUM_LANES) {
        double part[SUMS * SUM_LANES];
        sums sum[SUMS];
        for (size_t c = 0; c < SUMS; c++)
            sum[c] = SUM_SET(SUM_START);
        for (int step = 0; step < SUM_STEPS && vocab - i >= SUMS * SUM_LANES; step++)
            for (size_t c = 0; c < SUMS; c++, i += SUM_LANES)
                sum[c] = sum_add(sum[c], weights + i, (int32_t)low, unit);
        memcpy(part, sum, sizeof sum);
        for (size_t l = 0; l < SUMS * SUM_LANES; l++)
            total += (uint64_t)(part[l] - SUM_START);
    }
    for (; i < vocab; i++)
        if (key_of(weights[i]) > low)
            total += fixed_point_of(weights[i], scale);
    return total;
}

/* Bit i: low < key of weights[i] <= high, for 64 weights. */
static inline uint64_t within_of(const float *weights, int32_t low, int32_t high)
{
    uint64_t within = 0;
#ifdef __AVX512F__
    for (size_t v = 0; v < 4; v++) {
        const __m512i key = _mm512_loadu_si512(weights + v * 16);
        const __mmask16 above = _mm512_cmpgt_epi32_mask(key, _mm512_set1_epi32(low));
        const __mmask16 both = _mm512_mask_cmple_epi32_mask(above, key, _mm512_set1_epi32(high));
        within |= (uint64_t)both << (v * 16);
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
            kernel_double_bits(((double)weight * unit + HALVES_UP) + 0x1p52) & 0x000fffffffffffff;
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
    uint64_t sum = 0;
    for (size_t first = 0; first < vocab; first += 2048) { /* the first cache holds a part */
        const size_t end = vocab - first < 2048 ? vocab : first + 2048;
        for (size_t i = first; i < end; i++)
            probability[i] = elementary_exp(kernel_subtract(scaled[i], top));
        sum += mass(probability + first, end - first, FIXED_POINT_SUM_BITS, 0);
    }
    const float divisor = kernel_multiply((float)sum, 0x1p-43f);
    for (size_t i = 0; i < vocab; i++) {
        const uint32_t nan =
            kernel_mask(sum == 0) | kernel_mask(kernel_bits(probability[i]) == KERNEL_NAN_BITS);
        const uint32_t quotient = kernel_bits(kernel_divide(probability[i], divisor));
        probability[i] = kernel_float(kernel_select(nan, KERNEL_NAN_BITS, quotient));
    }
}

const struct weight_loops PASTE(weight_loops_, ISA) = {
    TEXT(ISA), softmax_by_vectors, columns, mass, find, histogram, keep,
};
