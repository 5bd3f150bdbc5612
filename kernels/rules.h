/* rules.h: the definition of each rule in scalar C; every faster executor must give these tokens for every
 * input.
 *
 * Ties go to the lowest id. A weight is valid if it is positive and finite; drawing rules never pick another,
 * and a row without one gives RULES_INVALID_ROW. torch-race alone follows the published lines on whatever it
 * is given. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_RULES_H
#define SAMPLEGATE_RULES_H
#include <stddef.h>
#include "kernels/elementary.h"
#include "kernels/fixed_point.h"

#define RULES_INVALID_ROW (-1)

/* The id of the largest logit. NaN and -inf never win, +inf does. */
static inline KERNEL_HD int32_t rule_greedy_logits(const float *logits, size_t vocab)
{
    int32_t token = RULES_INVALID_ROW;
    float best = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    for (size_t i = 0; i < vocab; i++)
        if (logits[i] > best) {
            best = logits[i];
            token = (int32_t)i;
        }
    return token;
}

/* The id of the largest valid weight. */
static inline KERNEL_HD int32_t rule_greedy_weights(const float *weights, size_t vocab)
{
    int32_t token = RULES_INVALID_ROW;
    float best = 0;
    for (size_t i = 0; i < vocab; i++)
        if (kernel_weight_valid(weights[i]) && weights[i] > best) {
            best = weights[i];
            token = (int32_t)i;
        }
    return token;
}

/* Inverse CDF in integers: with the masses rounded to 2^-44 of the power of two above the largest weight, the
 * first id whose inclusive CDF exceeds floor(uniform * total / 2^64). An id whose mass rounds to 0 is never
 * drawn. */
static inline KERNEL_HD int32_t rule_categorical(const float *weights, size_t vocab, uint64_t uniform)
{
    const int32_t heaviest = rule_greedy_weights(weights, vocab);
    if (heaviest < 0)
        return RULES_INVALID_ROW;
    const int scale = fixed_point_scale(weights[heaviest], FIXED_POINT_CDF_BITS);
    uint64_t total = 0, cdf = 0;
    for (size_t i = 0; i < vocab; i++)
        total += fixed_point_of(weights[i], scale);
    const uint64_t target = fixed_point_multiply_high(uniform, total);
    size_t i = 0;
    while ((cdf += fixed_point_of(weights[i], scale)) <= target)
        i++;
    return (int32_t)i;
}

/* argmax weight / q over valid weights; q ~ Exp(1). A ratio that underflows to 0 can still win, NaN cannot.
 */
static inline KERNEL_HD int32_t rule_race(const float *weights, const float *q, size_t vocab)
{
    int32_t token = RULES_INVALID_ROW;
    float best = -1;
    for (size_t i = 0; i < vocab; i++) {
        const float score = kernel_divide(weights[i], q[i]);
        if (kernel_weight_valid(weights[i]) && score > best) {
            best = score;
            token = (int32_t)i;
        }
    }
    return token;
}

/* argmax log weight - log q over valid weights: the Gumbel noise is defined as -log q. */
static inline KERNEL_HD int32_t rule_gumbel(const float *weights, const float *q, size_t vocab)
{
    int32_t token = RULES_INVALID_ROW;
    float best = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    for (size_t i = 0; i < vocab; i++) {
        if (!kernel_weight_valid(weights[i]))
            continue;
        const float score = kernel_subtract(elementary_log(weights[i]), elementary_log(q[i]));
        if (score > best) {
            best = score;
            token = (int32_t)i;
        }
    }
    return token;
}

/* probs.div(q).argmax() as torch means it: the first NaN beats everything, else the first of the largest;
 * invalid weights compete with the value they have. The published clamp_min(q, tiny) changes nothing on
 * torch's grid, where q >= 2^-24. */
static inline KERNEL_HD int32_t rule_torch_race(const float *weights, const float *q, size_t vocab)
{
    int32_t token = 0;
    float best = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    for (size_t i = 0; i < vocab; i++) {
        const float score = kernel_divide(weights[i], q[i]);
        if (score != score)
            return (int32_t)i;
        if (score > best) {
            best = score;
            token = (int32_t)i;
        }
    }
    return token;
}
#endif
