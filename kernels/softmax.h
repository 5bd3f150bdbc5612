/* softmax.h: logits to probabilities in fp32, the same bits in any order of summation.
 *
 * y = x / (float)temperature; w = exp(y - max y); p = w / (float)(sum of w), the sum in integers of 2^-43.
 * A NaN logit gets probability NaN and leaves the others alone (the maximum and the sum pass over it); -inf
 * gets 0. A row with a y of +inf, or without one finite y, has no softmax: every probability is NaN.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SOFTMAX_H
#define SAMPLEGATE_SOFTMAX_H
#include <stddef.h>
#include "kernels/elementary.h"
#include "kernels/fixed_point.h"

/* The probability of one id from its weight and the row's sum in integers. NaN if the row's sum is 0. */
static inline KERNEL_HD float softmax_probability(float weight, uint64_t sum)
{
    if (sum == 0 || kernel_bits(weight) == KERNEL_NAN_BITS)
        return kernel_float(KERNEL_NAN_BITS);
    return kernel_divide(weight, kernel_multiply((float)sum, 0x1p-43f));
}

/* probability[vocab] of logits[vocab]; vocab at most 2^20; temperature positive and finite as fp32. In place
 * is allowed. */
static inline KERNEL_HD void softmax(const float *logits, size_t vocab, float temperature, float *probability)
{
    float largest = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    for (size_t i = 0; i < vocab; i++) {
        probability[i] = kernel_divide(logits[i], temperature);
        if (probability[i] > largest)
            largest = probability[i];
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < vocab; i++) {
        probability[i] = elementary_exp(kernel_subtract(probability[i], largest));
        sum += fixed_point_of(probability[i], FIXED_POINT_SUM_BITS);
    }
    for (size_t i = 0; i < vocab; i++)
        probability[i] = softmax_probability(probability[i], sum);
}
#endif
