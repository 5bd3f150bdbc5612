/* elementary_reference.h: what the elementary maps should give, in double (plain arithmetic that vectorises,
 * good to 1e-8 ulp of fp32) and by MPFR; for tests only, and written apart from what it judges.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ELEMENTARY_REFERENCE_H
#define SAMPLEGATE_ELEMENTARY_REFERENCE_H
#include <mpfr.h>
#include "kernels/elementary_sweep.h"

#define REFERENCE_INLINE static inline __attribute__((always_inline))

REFERENCE_INLINE double reference_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

REFERENCE_INLINE uint64_t reference_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ln x of a positive normal double: k ln 2 + 2 artanh(s), s = (m - 1) / (m + 1), the series to s^25 (|s| <
 * 0.172). */
REFERENCE_INLINE double reference_log(double x)
{
    const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd);
    const uint64_t offset = reference_bits(x) - root_half;
    const double k = (double)((int32_t)(offset >> 32) >> 20);
    const double m = reference_double((offset & UINT64_C(0x000fffffffffffff)) + root_half);
    const double s = (m - 1) / (m + 1), z = s * s;
    double sum = 1.0 / 25;
    sum = sum * z + 1.0 / 23;
    sum = sum * z + 1.0 / 21;
    sum = sum * z + 1.0 / 19;
    sum = sum * z + 1.0 / 17;
    sum = sum * z + 1.0 / 15;
    sum = sum * z + 1.0 / 13;
    sum = sum * z + 1.0 / 11;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + 1.0 / 3;
    return k * 0x1.62e42fefa39efp-1 + (2 * s + 2 * s * z * sum);
}

/* e^x for |x| <= 110: 2^k times the Taylor series to r^14 (|r| < 0.347). */
REFERENCE_INLINE double reference_exp(double x)
{
    const double rounded = x * 0x1.71547652b82fep+0 + 0x1.8p52;
    const double k = rounded - 0x1.8p52;
    const double r = (x - k * 0x1.62e42fep-1) - k * 0x1.f473de6af278fp-30; /* the first product is exact */
    double sum = 1.0 / 87178291200.0;
    sum = sum * r + 1.0 / 6227020800.0;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 1.0 / 2.0;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    return reference_double(reference_bits(sum) + (reference_bits(rounded) << 52));
}

/* curand_uniform of a word, exact in double. */
REFERENCE_INLINE double reference_torch_uniform(uint32_t word)
{
    return (double)((float)word * 0x1p-32f + 0x1p-33f);
}

/* The value that output should be near. `function` is a constant at each call. */
REFERENCE_INLINE double reference_value(int function, uint32_t input)
{
    switch (function) {
    case SWEEP_EXPONENTIAL:
        return -reference_log(((double)input + 0.5) * 0x1p-32);
    case SWEEP_TORCH_EXPONENTIAL: {
        const double u = reference_torch_uniform(input);
        const uint64_t top = (uint64_t) - (int64_t)(u >= 1 - 0x1p-24);
        const uint64_t q = reference_bits(-reference_log(u));
        return reference_double((top & reference_bits(0x1p-24)) | (q & ~top));
    }
    case SWEEP_LOG:
        return reference_log((double)kernel_float(input));
    default:
        return reference_exp((double)kernel_float(input));
    }
}

/* Signed error of an output in units in the last place of fp32 at the reference; +inf counts as 2^128. */
REFERENCE_INLINE double reference_error(double value, float output)
{
    const uint64_t exponent = reference_bits(value) >> 52 & 0x7ff;
    const uint64_t least = 1023 - 126;
    const uint64_t small = (uint64_t) - (int64_t)(exponent < least);
    const double scale = reference_double((2069 - ((exponent & ~small) | (least & small))) << 52);
    const uint64_t infinite = (uint64_t) - (int64_t)(kernel_bits(output) == KERNEL_INFINITY_BITS);
    const double y =
        reference_double((infinite & reference_bits(0x1p128)) | (reference_bits((double)output) & ~infinite));
    const uint64_t over = (uint64_t) - (int64_t)(value > 0x1p128);
    const double target =
        reference_double((over & reference_bits(0x1p128)) | (reference_bits(value) & ~over));
    return (y - target) * scale;
}

/* The same error from MPFR with 128 bits, and (in ulp) how far the double reference is off. */
static inline double reference_error_mpfr(int function, uint32_t input, float output, double *reference_off)
{
    mpfr_t exact, argument;
    mpfr_inits2(128, exact, argument, (mpfr_ptr)0);
    double x = (double)kernel_float(input);
    if (function == SWEEP_EXPONENTIAL)
        x = ((double)input + 0.5) * 0x1p-32;
    if (function == SWEEP_TORCH_EXPONENTIAL)
        x = reference_torch_uniform(input);
    mpfr_set_d(argument, x, MPFR_RNDN);
    if (function == SWEEP_EXP)
        mpfr_exp(exact, argument, MPFR_RNDN);
    else
        mpfr_log(exact, argument, MPFR_RNDN);
    if (function == SWEEP_EXPONENTIAL || function == SWEEP_TORCH_EXPONENTIAL)
        mpfr_neg(exact, exact, MPFR_RNDN);
    if (function == SWEEP_TORCH_EXPONENTIAL && x >= 1 - 0x1p-24)
        mpfr_set_d(exact, 0x1p-24, MPFR_RNDN);
    if (mpfr_cmp_d(exact, 0x1p128) > 0)
        mpfr_set_d(exact, 0x1p128, MPFR_RNDN);
    /* exact = d 2^e with d in [1/2, 1): an fp32 ulp there is 2^(e - 24), and never less than 2^-149. */
    const long e = mpfr_zero_p(exact) ? -125 : mpfr_get_exp(exact);
    const long ulp = (e < -125 ? -125 : e) - 24;
    double reference = reference_value(function, input);
    if (reference > 0x1p128)
        reference = 0x1p128;
    mpfr_d_sub(argument, reference, exact, MPFR_RNDN);
    mpfr_mul_2si(argument, argument, -ulp, MPFR_RNDN);
    *reference_off = fabs(mpfr_get_d(argument, MPFR_RNDN));
    mpfr_d_sub(argument, isinf(output) ? 0x1p128 : (double)output, exact, MPFR_RNDN);
    mpfr_mul_2si(argument, argument, -ulp, MPFR_RNDN);
    const double error = mpfr_get_d(argument, MPFR_RNDN);
    mpfr_clears(exact, argument, (mpfr_ptr)0);
    return error;
}
#endif
