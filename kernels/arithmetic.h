/* arithmetic.h: the fp32 operations all kernels are built from, with the same bits on every host and device.
 *
 * Round to nearest even, no contraction, denormals kept. On a device each is an intrinsic that nvcc never
 * fuses; on a host it is the plain operator (files are compiled with -ffp-contract=off) and the standard
 * fmaf. Choices are made on bits: a ternary on floats stops gcc from vectorising a loop.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ARITHMETIC_H
#define SAMPLEGATE_ARITHMETIC_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#    define KERNEL_HD __host__ __device__
#else
#    define KERNEL_HD
#endif

#define KERNEL_NAN_BITS 0x7fc00000u /* the one NaN that kernels return: x86 and NVIDIA defaults differ */
#define KERNEL_INFINITY_BITS 0x7f800000u

static inline KERNEL_HD uint32_t kernel_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline KERNEL_HD float kernel_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* mask ? a : b, for a mask of all ones or all zeros. */
static inline KERNEL_HD uint32_t kernel_select(uint32_t mask, uint32_t a, uint32_t b)
{
    return (a & mask) | (b & ~mask);
}

/* All ones if `condition` is 1, zero if it is 0. */
static inline KERNEL_HD uint32_t kernel_mask(int condition)
{
    return (uint32_t)-condition;
}

static inline KERNEL_HD float kernel_add(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

static inline KERNEL_HD float kernel_subtract(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fsub_rn(a, b);
#else
    return a - b;
#endif
}

static inline KERNEL_HD float kernel_multiply(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

static inline KERNEL_HD float kernel_divide(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fdiv_rn(a, b);
#else
    return a / b;
#endif
}

/* a * b + c, rounded once. */
static inline KERNEL_HD float kernel_fma(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

/* A weight that a drawing rule may choose: positive and finite (denormals count). */
static inline KERNEL_HD int kernel_weight_valid(float weight)
{
    const uint32_t bits = kernel_bits(weight);
    return bits - 1u < KERNEL_INFINITY_BITS - 1u;
}
#endif
