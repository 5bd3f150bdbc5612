/* exponential.h: a 32-bit word to an Exp(1) variate, on our grid and on torch CUDA's; same bits everywhere.
 *
 * exponential_of_word: q = -ln u, u = (x + 1/2) 2^-32, so q in [2^-33, 22.88], never 0 and never infinite,
 * with full relative accuracy at both ends (2 ulp at most, measured: golden/kat/elementary.txt).
 * torch_exponential_of_word: u = fp32(x 2^-32 + 2^-33) in (0, 1] (curand_uniform), q = 2^-24 where u >= 1 -
 * 2^-24, else -log u: ATen's TransformationHelper.h, but for its device logarithm, which is approximate and
 * not portable. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_EXPONENTIAL_H
#define SAMPLEGATE_EXPONENTIAL_H
#include "kernels/elementary.h"

/* Upper half (u > 1/2): with n = 2^32 - 1 - x, q = L(v), v = 1 - u = (n + 1/2) 2^-32 and L(v) = -ln(1 - v),
 * no cancellation. Lower half: n = x, u = 2^-K m with m in [1/2, 1), q = K ln 2 + L(1 - m), both terms
 * positive. L(v) = v + v^2 R(v) on [0, 1/2]. */
static inline KERNEL_HD float exponential_of_word(uint32_t x)
{
    const uint32_t upper = (uint32_t)((int32_t)x >> 31);
    const float y = kernel_add((float)(int32_t)(x ^ upper), 0.5f); /* n + 1/2, rounded: at most 2^31 */
    const uint32_t bits = kernel_bits(y);
    const float m = kernel_float((bits & 0x007fffffu) | 0x3f000000u);
    const float below = kernel_subtract(1.0f, m);
    const float above = kernel_multiply(y, 0x1p-32f);
    const float v = kernel_float(kernel_select(upper, kernel_bits(above), kernel_bits(below)));
    const float K = (float)(int32_t)(~upper & (158u - (bits >> 23)));
    const float square = kernel_multiply(v, v);
    float r = 0x1.ba2e9ap+0f;
    r = kernel_fma(r, v, -0x1.3768b8p+1f);
    r = kernel_fma(r, v, 0x1.ec0036p+0f);
    r = kernel_fma(r, v, -0x1.1fe772p-1f);
    r = kernel_fma(r, v, 0x1.513646p-2f);
    r = kernel_fma(r, v, 0x1.6ce6a4p-3f);
    r = kernel_fma(r, v, 0x1.01a04p-2f);
    r = kernel_fma(r, v, 0x1.554788p-2f);
    r = kernel_fma(r, v, 0x1.00001p-1f);
    return kernel_fma(K, ELEMENTARY_LN2, kernel_fma(square, r, v));
}

static inline KERNEL_HD float torch_exponential_of_word(uint32_t x)
{
    const float u = kernel_add(kernel_multiply((float)x, 0x1p-32f), 0x1p-33f);
    const uint32_t bits = kernel_bits(u);
    const uint32_t q = kernel_bits(elementary_log_normal(u)) ^ 0x80000000u;
    const uint32_t top = kernel_mask(bits >= 0x3f7fffffu);   /* 1 - 2^-24 */
    return kernel_float(kernel_select(top, 0x33800000u, q)); /* 2^-24 */
}
#endif
