/* scores.h: the exact score of one column under each rule, and the ratio it stands for: what decides between
 * the columns that the filter of candidates.h passes. Included where loops are compiled.
 *
 * fp32 scores are compared as doubles, exactly. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SCORES_H
#define SAMPLEGATE_SCORES_H
#include "kernels/candidates.h"
#include "kernels/exponential.h"
#include "kernels/sampler.h"
#include "kernels/seeded.h"

struct score {
    double (*of)(float weight, uint32_t word); /* -inf: never wins; never NaN */
    double (*ratio)(double score);             /* weight / q, up to the slack of candidates.h */
};

static double score_race(float weight, uint32_t word)
{
    return kernel_weight_valid(weight) ? (double)kernel_divide(weight, exponential_of_word(word)) : -HUGE_VAL;
}

static double score_torch(float weight, uint32_t word)
{
    return (double)kernel_divide(weight, torch_exponential_of_word(word));
}

static double score_gumbel(float weight, uint32_t word)
{
    if (!kernel_weight_valid(weight))
        return -HUGE_VAL;
    return (double)kernel_subtract(elementary_log(weight), elementary_log_normal(exponential_of_word(word)));
}

static double score_seeded(float weight, uint32_t word)
{
    return kernel_double_add(seeded_log(weight), seeded_gumbel(word));
}

/* The weight as seeded_2025_log takes it: with e added. */
static double score_seeded_2025(float weight, uint32_t word)
{
    const float u = kernel_multiply((float)(int32_t)(word >> 8), 0x1p-24f);
    return (double)kernel_add(seeded_2025_gumbel(u), elementary_log(weight));
}

static double ratio_itself(double score)
{
    return score;
}

static double ratio_of_log(double score)
{
    return exp(score);
}

static const struct score scores[RULE_COUNT] = {
    [RULE_RACE] = {score_race, ratio_itself},
    [RULE_GUMBEL] = {score_gumbel, ratio_of_log},
    [RULE_TORCH_RACE] = {score_torch, ratio_itself},
    [RULE_SEEDED] = {score_seeded, ratio_of_log},
    [RULE_SEEDED_2025] = {score_seeded_2025, ratio_of_log},
};

static inline int score_is_hashed(enum sampler_rule rule)
{
    return rule == RULE_SEEDED || rule == RULE_SEEDED_2025;
}

/* Score a column that passed. Columns beyond the vocabulary come from padding. */
static inline void draw_take(struct draw *draw, const struct score *score, size_t vocab, uint32_t column,
                             uint32_t word)
{
    if (column >= vocab)
        return;
    const double this = score->of(draw->weights[column], word);
#ifdef CANDIDATES_DEFECT_TIES /* planted: columns do not come in order */
    if (this > draw->best) {
#else
    if (this > draw->best || (this == draw->best && (int32_t)column < draw->token)) {
#endif
        draw->best = this;
        draw->token = (int32_t)column;
    }
}

/* n - 2^31 <= scale * weight + CANDIDATES_ZERO for a ratio of at least the bound, or of the best so far. */
static inline float draw_scale(const struct draw *draw, const struct score *score)
{
    double ratio = score->ratio(draw->best);
    if (!(ratio > draw->bound))
        ratio = draw->bound;
    if (ratio > CANDIDATES_BOUND_MAX)
        ratio = CANDIDATES_BOUND_MAX;
    return (float)(0x1p32 / ratio);
}

#define CANDIDATES_ZERO ((float)(CANDIDATES_WORDS - 0x1p31))

/* Of a weight that is NaN: NaN, which nothing is within. */
static inline float draw_limit(float weight, float scale)
{
    return kernel_add(kernel_multiply(weight, scale), CANDIDATES_ZERO);
}
#endif
