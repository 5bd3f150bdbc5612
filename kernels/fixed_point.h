/* fixed_point.h: weights as integers, so that a sum has the same value in any order, on any machine.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_FIXED_POINT_H
#define SAMPLEGATE_FIXED_POINT_H
#include "kernels/arithmetic.h"

/* Largest vocabulary for which sums below 2^64 are promised. */
#define FIXED_POINT_VOCAB_MAX (1u << 20)
/* Units of a CDF: the largest weight lies in [2^43, 2^44), so 2^20 of them stay below 2^64. */
#define FIXED_POINT_CDF_BITS 44
/* Units of a softmax sum: a weight is at most 1 = 2^43 units, so 2^20 of them are at most 2^63. */
#define FIXED_POINT_SUM_BITS 43

/* weight * 2^scale to the nearest integer, halves up; 0 if the weight is not positive and finite. The result
 * must be below 2^63. */
static inline KERNEL_HD uint64_t fixed_point_of(float weight, int scale)
{
    if (!kernel_weight_valid(weight))
        return 0;
    const uint32_t bits = kernel_bits(weight), exponent = bits >> 23;
    const uint64_t significand = exponent ? (bits & 0x007fffffu) | 0x00800000u : bits;
    const int shift = (exponent ? (int)exponent : 1) - 150 + scale;
    if (shift >= 0)
        return significand << shift;
    if (shift < -25)
        return 0;
    return (significand + ((uint64_t)1 << (-shift - 1))) >> -shift;
}

/* The scale that puts a positive finite weight into [2^(bits - 1), 2^bits). */
static inline KERNEL_HD int fixed_point_scale(float largest, int bits)
{
    const uint32_t pattern = kernel_bits(largest);
    int exponent = (int)(pattern >> 23) - 126; /* largest < 2^exponent */
    if (pattern >> 23 == 0) {
        exponent = -149;
        for (uint32_t rest = pattern; rest; rest >>= 1)
            exponent++;
    }
    return bits - exponent;
}

/* High 64 bits of a * b. */
static inline KERNEL_HD uint64_t fixed_point_multiply_high(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    const uint64_t other = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}
#endif
