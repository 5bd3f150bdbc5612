/* elementary_double.h: a double log with the same bits everywhere: IEEE operations and integer selects, no
 * branch.
 *
 * Every positive finite double, denormals included, within 0.63 ulp (measured against MPFR:
 * test_elementary_double.c); log(+0) = log(-0) = -inf, log(+inf) = +inf, negative or NaN gives the fixed NaN.
 * x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2); with s = f / (2 + f), z = s^2 and h = f^2 / 2,
 * log(1 + f) = 2 artanh s = f - (h - s (h + z Q(z))). What the leading sum k ln 2 + f - h loses is kept and
 * added to the small terms. Q: own minimax fit (Remez exchange in 200-bit arithmetic, relative error 2^-58),
 * rounded to double. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ELEMENTARY_DOUBLE_H
#define SAMPLEGATE_ELEMENTARY_DOUBLE_H
#include "kernels/arithmetic_double.h"

#define ELEMENTARY_DOUBLE_LN2_HIGH 0x1.62e42feep-1 /* 33 bits: its product with an exponent is exact */
#define ELEMENTARY_DOUBLE_LN2_LOW 0x1.a39ef35793c76p-33

/* log of a positive normal double; the caller knows that it is one. `exponent` (-1100 to 1100) is added to
 * its binary exponent. */
static inline KERNEL_HD double elementary_double_log_scaled(double x, int32_t exponent)
{
    const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd); /* sqrt(1/2) */
    const uint64_t one = UINT64_C(0x3ff0000000000000);
    const uint64_t offset = kernel_double_bits(x) + (one - root_half); /* exponent field: k + 1023 */
    const double m = kernel_double_of((offset & UINT64_C(0x000fffffffffffff)) + root_half);
    /* An integer in the low bits of 1.5 * 2^52, instead of a conversion that AVX2 lacks. */
    const double biased = kernel_double_of(UINT64_C(0x4338000000000000) + (offset >> 52) +
                                           (uint64_t)((int64_t)exponent - 1023));
    const double k = kernel_double_subtract(biased, 0x1.8p52);
    const double f = kernel_double_subtract(m, 1.0);
    const double s = kernel_double_divide(f, kernel_double_add(2.0, f));
    const double z = kernel_double_multiply(s, s);
    double q = 0x1.0c067201d5e25p-3;
    q = kernel_double_fma(q, z, 0x1.0fbe4c8038f51p-3);
    q = kernel_double_fma(q, z, 0x1.3b1c384398817p-3);
    q = kernel_double_fma(q, z, 0x1.745cf8f5e6bafp-3);
    q = kernel_double_fma(q, z, 0x1.c71c72017ef0ep-3);
    q = kernel_double_fma(q, z, 0x1.2492492476b57p-2);
    q = kernel_double_fma(q, z, 0x1.9999999999a38p-2);
    q = kernel_double_fma(q, z, 0x1.5555555555555p-1);
    const double half_f = kernel_double_multiply(f, 0.5);
    const double h = kernel_double_multiply(half_f, f);
    const double h_rest = kernel_double_fma(half_f, f, -h);
    const double d = kernel_double_subtract(f, h);
    const double d_rest = kernel_double_subtract(kernel_double_subtract(f, d), h);
    const double whole = kernel_double_multiply(k, ELEMENTARY_DOUBLE_LN2_HIGH);
    const double sum = kernel_double_add(whole, d);
    const double sum_rest = kernel_double_add(kernel_double_subtract(whole, sum), d);
    const double rest =
        kernel_double_add(kernel_double_multiply(k, ELEMENTARY_DOUBLE_LN2_LOW),
                          kernel_double_add(sum_rest, kernel_double_subtract(d_rest, h_rest)));
    return kernel_double_add(sum, kernel_double_fma(s, kernel_double_fma(z, q, h), rest));
}

static inline KERNEL_HD double elementary_double_log_normal(double x)
{
    return elementary_double_log_scaled(x, 0);
}

static inline KERNEL_HD double elementary_double_log(double x)
{
    const uint64_t bits = kernel_double_bits(x);
    const int denormal = (bits & KERNEL_DOUBLE_INFINITY_BITS) == 0;
    const uint64_t scaled = kernel_double_select(kernel_double_mask(denormal),
                                                 kernel_double_bits(kernel_double_multiply(x, 0x1p52)), bits);
    const uint64_t normal =
        kernel_double_bits(elementary_double_log_scaled(kernel_double_of(scaled), -52 * denormal));
    const uint64_t zero = kernel_double_mask((bits & ~(UINT64_C(1) << 63)) == 0);
    const uint64_t infinite = kernel_double_mask(bits == KERNEL_DOUBLE_INFINITY_BITS);
    /* Negative (other than -0) and NaN are what lies above +inf as an integer. */
    const uint64_t invalid = kernel_double_mask(bits > KERNEL_DOUBLE_INFINITY_BITS) & ~zero;
    uint64_t out = kernel_double_select(zero, UINT64_C(0xfff0000000000000), normal);
    out = kernel_double_select(infinite, KERNEL_DOUBLE_INFINITY_BITS, out);
    return kernel_double_of(kernel_double_select(invalid, KERNEL_DOUBLE_NAN_BITS, out));
}
#endif
