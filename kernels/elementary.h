/* elementary.h: fp32 log and exp with the same bits everywhere: IEEE add, multiply, fma and integer selects,
 * no branch.
 *
 * log: every positive finite float, denormals included, within 1 ulp (measured: golden/kat/elementary.txt);
 *      log(+0) = log(-0) = -inf, log(+inf) = +inf, negative or NaN gives the fixed NaN 0x7fc00000.
 * exp: every float within 1 ulp, an ulp of a denormal result being 2^-149; exp(x) = +inf from 88.7229 up, +0
 * from -103.973 down (the correctly rounded results there), exp(-inf) = 0, NaN gives the fixed NaN.
 * Coefficients: own minimax fits (Remez exchange in 160-bit arithmetic), weighted for the error relative to
 * the result and rounded to fp32. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ELEMENTARY_H
#define SAMPLEGATE_ELEMENTARY_H
#include "kernels/arithmetic.h"

#define ELEMENTARY_LN2 0x1.62e43p-1f

/* log of a positive normal float; the caller knows that it is one. `exponent` is added to its binary
 * exponent. x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2); log x = k ln 2 + (f + f^2 P(f)). */
static inline KERNEL_HD float elementary_log_scaled(float x, int32_t exponent)
{
    const uint32_t root_half = 0x3f3504f3u; /* sqrt(1/2) */
    const uint32_t offset = kernel_bits(x) - root_half;
    const int32_t k = ((int32_t)offset >> 23) + exponent;
    const float f = kernel_subtract(kernel_float((offset & 0x007fffffu) + root_half), 1.0f);
    const float square = kernel_multiply(f, f);
    float p = -0x1.407224p-4f;
    p = kernel_fma(p, f, 0x1.0a56cap-3f);
    p = kernel_fma(p, f, -0x1.0e842p-3f);
    p = kernel_fma(p, f, 0x1.22115ep-3f);
    p = kernel_fma(p, f, -0x1.543244p-3f);
    p = kernel_fma(p, f, 0x1.99a96ap-3f);
    p = kernel_fma(p, f, -0x1.0003fep-2f);
    p = kernel_fma(p, f, 0x1.555544p-2f);
    p = kernel_fma(p, f, -0x1.fffff8p-2f);
    return kernel_fma((float)k, ELEMENTARY_LN2, kernel_fma(square, p, f));
}

static inline KERNEL_HD float elementary_log_normal(float x)
{
    return elementary_log_scaled(x, 0);
}

static inline KERNEL_HD float elementary_log(float x)
{
    const uint32_t bits = kernel_bits(x);
    const uint32_t denormal = kernel_mask((bits & KERNEL_INFINITY_BITS) == 0);
    const uint32_t scaled = kernel_select(denormal, kernel_bits(kernel_multiply(x, 0x1p23f)), bits);
    const uint32_t normal =
        kernel_bits(elementary_log_scaled(kernel_float(scaled), -(int32_t)(denormal & 23u)));
    const uint32_t zero = kernel_mask((bits & 0x7fffffffu) == 0);
    const uint32_t infinite = kernel_mask(bits == KERNEL_INFINITY_BITS);
    /* Negative (other than -0) and NaN are what lies above +inf as an integer. */
    const uint32_t invalid = kernel_mask(bits > KERNEL_INFINITY_BITS) & ~zero;
    uint32_t out = kernel_select(zero, 0xff800000u, normal);
    out = kernel_select(infinite, KERNEL_INFINITY_BITS, out);
    return kernel_float(kernel_select(invalid, KERNEL_NAN_BITS, out));
}

/* x = k ln 2 + r, |r| <= ln 2 / 2 and a little; exp x = 2^k (1 + r + r^2 P(r)). The power of two is applied
 * as two factors, the first product exact, so that a denormal result is rounded once. */
static inline KERNEL_HD float elementary_exp(float x)
{
    const uint32_t bits = kernel_bits(x);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t nan = kernel_mask(magnitude > KERNEL_INFINITY_BITS);
    const uint32_t large = kernel_mask(magnitude > 0x42d00000u) & ~nan; /* |x| > 104: 0 or infinity */
    const float y = kernel_float(kernel_select(large | nan, 0u, bits));
    /* Adding 1.5 * 2^23 leaves the nearest integer in the low bits. */
    const float rounded = kernel_fma(y, 0x1.715476p+0f, 0x1.8p23f);
    const float k = kernel_subtract(rounded, 0x1.8p23f);
    const int32_t n = (int32_t)(kernel_bits(rounded) - 0x4b400000u);
    /* ln 2 in two parts; k times the first is exact (15 bits). */
    const float r = kernel_fma(k, -0x1.7f7d1cp-20f, kernel_fma(k, -0x1.62e4p-1f, y));
    const float square = kernel_multiply(r, r);
    float p = 0x1.a1b8c4p-13f;
    p = kernel_fma(p, r, 0x1.6d9734p-10f);
    p = kernel_fma(p, r, 0x1.11107cp-7f);
    p = kernel_fma(p, r, 0x1.55548p-5f);
    p = kernel_fma(p, r, 0x1.555556p-3f);
    p = kernel_fma(p, r, 0x1p-1f);
    const float mantissa = kernel_add(kernel_fma(square, p, r), 1.0f);
    const int32_t half = n >> 1;
    const float first = kernel_float((uint32_t)(half + 127) << 23);
    const float second = kernel_float((uint32_t)(n - half + 127) << 23);
    const uint32_t normal = kernel_bits(kernel_multiply(kernel_multiply(mantissa, first), second));
    const uint32_t end = kernel_select(kernel_mask((bits >> 31) != 0), 0u, KERNEL_INFINITY_BITS);
    const uint32_t out = kernel_select(large, end, normal);
    return kernel_float(kernel_select(nan, KERNEL_NAN_BITS, out));
}
#endif
