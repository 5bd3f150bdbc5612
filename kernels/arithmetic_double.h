/* arithmetic_double.h: the double operations of the hash-keyed rules, as arithmetic.h has them for fp32.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ARITHMETIC_DOUBLE_H
#define SAMPLEGATE_ARITHMETIC_DOUBLE_H
#include "kernels/arithmetic.h"

#define KERNEL_DOUBLE_NAN_BITS UINT64_C(0x7ff8000000000000) /* the one NaN that kernels return */
#define KERNEL_DOUBLE_INFINITY_BITS UINT64_C(0x7ff0000000000000)

static inline KERNEL_HD uint64_t kernel_double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline KERNEL_HD double kernel_double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* mask ? a : b, for a mask of all ones or all zeros. */
static inline KERNEL_HD uint64_t kernel_double_select(uint64_t mask, uint64_t a, uint64_t b)
{
    return (a & mask) | (b & ~mask);
}

/* All ones if `condition` is 1, zero if it is 0. */
static inline KERNEL_HD uint64_t kernel_double_mask(int condition)
{
    return (uint64_t) - (int64_t)condition;
}

static inline KERNEL_HD double kernel_double_add(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dadd_rn(a, b);
#else
    return a + b;
#endif
}

static inline KERNEL_HD double kernel_double_subtract(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dsub_rn(a, b);
#else
    return a - b;
#endif
}

static inline KERNEL_HD double kernel_double_multiply(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

static inline KERNEL_HD double kernel_double_divide(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __ddiv_rn(a, b);
#else
    return a / b;
#endif
}

/* a * b + c, rounded once. */
static inline KERNEL_HD double kernel_double_fma(double a, double b, double c)
{
#ifdef __CUDA_ARCH__
    return __fma_rn(a, b, c);
#else
    return fma(a, b, c);
#endif
}

/* A word as a double, exactly, without a conversion that AVX2 lacks: it is the low half of a double in [2^52,
 * 2^53). */
static inline KERNEL_HD double kernel_double_of_word(uint32_t word)
{
    return kernel_double_subtract(kernel_double_of(UINT64_C(0x4330000000000000) | word), 0x1p52);
}
#endif
