/* narrow.h: the 16-bit floats of a tensor to fp32, exactly, on host and device.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_NARROW_H
#define SAMPLEGATE_NARROW_H
#include "kernels/arithmetic.h"

/* What the elements of a row are. */
enum narrow_dtype {
    NARROW_NOT, /* fp32 */
    NARROW_F16, /* binary16 */
    NARROW_BF16 /* bfloat16 */
};

static inline KERNEL_HD float narrow_f16(uint16_t half)
{
    const uint32_t size = half & 0x7fffu;
    /* The bits as the small fp32 with the same mantissa, moved up by the difference of the biases: exact, denormals
     * too. */
    const uint32_t finite = kernel_bits(kernel_multiply(kernel_float(size << 13), 0x1p112f));
    const uint32_t out =
        kernel_select(kernel_mask(size >= 0x7c00u), size << 13 | KERNEL_INFINITY_BITS, finite);
    return kernel_float(out | (uint32_t)(half & 0x8000u) << 16);
}

static inline KERNEL_HD float narrow_bf16(uint16_t brain)
{
    return kernel_float((uint32_t)brain << 16);
}

/* Element `i` of `values`, which are of the dtype. */
static inline KERNEL_HD float narrow_value(const void *values, int32_t dtype, uint64_t i)
{
    if (dtype == NARROW_F16)
        return narrow_f16(((const uint16_t *)values)[i]);
    if (dtype == NARROW_BF16)
        return narrow_bf16(((const uint16_t *)values)[i]);
    return ((const float *)values)[i];
}
#endif
