/* near_inputs.h: draws built around the thresholds of the candidate filter: weights made from the noise, so
 * that every live column ties with the bound to a few units in the last place. For test_candidates.c and
 * test_candidates_defect.c. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_NEAR_INPUTS_H
#define SAMPLEGATE_NEAR_INPUTS_H
#include "kernels/draws.h"
#include "kernels/exponential.h"
#include "kernels/philox.h"
#include "kernels/rules.h"
#include "kernels/scores.h"
#include "kernels/seeded.h"

#define NEAR_VOCAB_MAX (1u << 20)
#define NEAR_CROWD 300 /* columns where all of them are near */

struct near_result {
    size_t inputs;      /* columns within a few units of the bound */
    size_t winners;     /* draws whose best reaches the bound */
    size_t differences; /* of these, how many lost it, or another token was found at the bound */
};

/* Numbers for the generator itself. */
struct near_random {
    uint64_t position;
};

static uint32_t near_word(struct near_random *random)
{
    return philox_word(77, PHILOX_STREAM_TABLE, random->position++, 0);
}

static uint32_t near_noise_word(enum sampler_rule rule, const struct draw *draw, uint32_t column)
{
    if (rule == RULE_SEEDED)
        return seeded_hash(draw->seed, draw->position, column);
    if (rule == RULE_SEEDED_2025)
        return seeded_2025_finish(seeded_2025_start(draw->seed, draw->position), seeded_2025_spread(column))
               << 8;
    return philox_word(draw->seed, PHILOX_STREAM_RACE, draw->position, column);
}

/* The noise q of a word, as the rule means it. */
static double near_noise(enum sampler_rule rule, uint32_t word)
{
    switch (rule) {
    case RULE_TORCH_RACE:
        return (double)torch_exponential_of_word(word);
    case RULE_SEEDED:
        return exp(-seeded_gumbel(word));
    case RULE_SEEDED_2025:
        return exp(-(double)seeded_2025_gumbel((float)(int32_t)(word >> 8) * 0x1p-24f));
    default:
        return (double)exponential_of_word(word);
    }
}

/* A weight whose ratio to the noise is the bound, up to three units in the last place. */
static float near_weight(enum sampler_rule rule, const struct draw *draw, uint32_t column,
                         struct near_random *random)
{
    const float tie = (float)(draw->bound * near_noise(rule, near_noise_word(rule, draw, column)));
    return kernel_float(kernel_bits(tie) + near_word(random) % 7 - 3);
}

static void near_judge(const struct loops *loops, enum sampler_rule rule, size_t vocab, struct draw draw,
                       const struct draw *right, struct near_result *result)
{
    const double bound = draw.bound, best = scores[rule].ratio(right->best);
    struct candidates row;
    const int made = candidates_make(&row, loops, rule, draw.weights, vocab, bound) == 0;
    for (int way = made ? 0 : 1; way < 3; way++) {
        draw.bound = way == 2 ? bound / 1024 : bound; /* the filter rises by itself */
        draw.best = -HUGE_VAL;
        draw.token = SAMPLER_INVALID_ROW;
        if (way == 0)
            loops->candidates(rule, &row, &draw, 1);
        else
            loops->rows(rule, vocab, &draw, 1);
        result->winners += best >= draw.bound;
        result->differences +=
            best >= draw.bound ? draw.token != right->token : scores[rule].ratio(draw.best) >= draw.bound;
    }
    if (made)
        candidates_free(&row);
}

/* Many live columns. */
static size_t near_crowd(const struct loops *loops, enum sampler_rule rule, struct draw draw, float *weight,
                         struct near_random *random, struct near_result *result)
{
    const size_t vocab = 1 + near_word(random) % NEAR_CROWD;
    for (uint32_t i = 0; i < vocab; i++)
        weight[i] = near_word(random) % 16 ? near_weight(rule, &draw, i, random) : 0;
    struct draw right = draw;
    right.best = -HUGE_VAL;
    right.token = SAMPLER_INVALID_ROW;
    for (uint32_t i = 0; i < vocab; i++)
        draw_take(&right, &scores[rule], vocab, i, near_noise_word(rule, &draw, i));
    near_judge(loops, rule, vocab, draw, &right, result);
    memset(weight, 0, vocab * sizeof *weight);
    return vocab;
}

/* Two live columns, one of them with the least noise of a wide row: where the filter has least to spare. */
static size_t near_pair(const struct loops *loops, const struct loops *finder, enum sampler_rule rule,
                        struct draw draw, float *weight, const float *ones, struct near_random *random,
                        struct near_result *result)
{
    const size_t vocab = (size_t)1 << (13 + near_word(random) % 8);
    struct draw least = {.seed = draw.seed, .position = draw.position, .weights = ones};
    draws_of_row(finder, rule, ones, vocab, (double)vocab, &least, 1);
    const uint32_t column[2] = {(uint32_t)least.token, near_word(random) % (uint32_t)vocab};
    struct draw right = draw;
    right.best = -HUGE_VAL;
    right.token = SAMPLER_INVALID_ROW;
    for (size_t i = 0; i < 2; i++)
        weight[column[i]] = near_weight(rule, &draw, column[i], random);
    for (size_t i = 0; i < 2; i++)
        draw_take(&right, &scores[rule], vocab, column[i], near_noise_word(rule, &draw, column[i]));
    near_judge(loops, rule, vocab, draw, &right, result);
    weight[column[0]] = weight[column[1]] = 0;
    return 2;
}

/* At least `inputs` near columns for the loops under test; `finder` are loops that can be trusted. */
static struct near_result near_run(const struct loops *loops, const struct loops *finder,
                                   enum sampler_rule rule, size_t inputs)
{
    static float weight[NEAR_VOCAB_MAX], ones[NEAR_VOCAB_MAX];
    struct near_result result = {0};
    struct near_random random = {(uint64_t)rule << 40};
    for (size_t i = 0; i < NEAR_VOCAB_MAX; i++) {
        weight[i] = 0;
        ones[i] = 1;
    }
    for (uint64_t trial = 0; result.inputs < inputs; trial++) {
        const int exponent = (int)(near_word(&random) % 40) - 20;
        struct draw draw = {.seed = near_word(&random) | (uint64_t)near_word(&random) << 32,
                            .position = trial * UINT64_C(0x40000001),
                            .weights = weight,
                            .bound = ldexp(1 + near_word(&random) * 0x1p-32, exponent)};
        result.inputs += trial % 2 ? near_pair(loops, finder, rule, draw, weight, ones, &random, &result)
                                   : near_crowd(loops, rule, draw, weight, &random, &result);
    }
    return result;
}
#endif
