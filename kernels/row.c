/* row.c: prepare a row: softmax, the tokens that need no noise, scores in lane order, the fixed-point CDF.
 * SPDX-License-Identifier: MIT */
#include "kernels/row.h"
#include <stdlib.h>
#include "kernels/rules.h"
#include "kernels/seeded.h"
#include "kernels/softmax.h"

/* softmax() of softmax.h, the exponentials by the vector loops: the same bits. */
static void weights_of_logits(struct sampler_row *row, const float *logits, float temperature)
{
    float *const w = row->weights;
    float largest = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    for (size_t i = 0; i < row->vocab; i++) {
        w[i] = kernel_divide(logits[i], temperature);
        if (w[i] > largest)
            largest = w[i];
    }
    uint64_t sum = 0;
    float part[256];
    for (size_t first = 0; first < row->vocab; first += 256) {
        const size_t n = row->vocab - first < 256 ? row->vocab - first : 256;
        for (size_t i = 0; i < n; i++)
            part[i] = kernel_subtract(w[first + i], largest);
        row->loops->exp(part, w + first, n);
        for (size_t i = 0; i < n; i++)
            sum += fixed_point_of(w[first + i], FIXED_POINT_SUM_BITS);
    }
    for (size_t i = 0; i < row->vocab; i++)
        w[i] = softmax_probability(w[i], sum);
}

/* The token that no noise can change, or ROW_TOKEN_OPEN. */
static int32_t token_without_noise(const struct sampler_row *row)
{
    if (row->rule == RULE_TORCH_RACE) {
        for (size_t i = 0; i < row->vocab; i++)
            if (isnan(row->weights[i]))
                return (int32_t)i;
        return ROW_TOKEN_OPEN;
    }
    if (row->rule == RULE_SEEDED_2025) {
        for (size_t i = 0; i < row->vocab; i++)
            if (isnan(seeded_2025_log(row->weights[i])))
                return (int32_t)i;
        return ROW_TOKEN_OPEN;
    }
    const int32_t heaviest = rule_greedy_weights(row->weights, row->vocab);
    return row->rule == RULE_GREEDY || heaviest < 0 ? heaviest : ROW_TOKEN_OPEN;
}

static int scores_fill(struct sampler_row *row)
{
    const float minus_infinity = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    const size_t size = row->groups * LOOPS_GROUP;
    row->scores = malloc(size * sizeof *row->scores);
    float *score = malloc(row->vocab * sizeof *score);
    if (!row->scores || !score) {
        free(score);
        return -1;
    }
    if (row->rule == RULE_GUMBEL)
        row->loops->log(row->weights, score, row->vocab);
    for (size_t i = 0; i < row->vocab; i++) {
        const int valid = kernel_weight_valid(row->weights[i]);
        if (row->rule == RULE_GUMBEL)
            score[i] = valid ? score[i] : minus_infinity;
        else if (row->rule == RULE_SEEDED_2025)
            score[i] = seeded_2025_log(row->weights[i]);
        else
            score[i] = valid || row->rule == RULE_TORCH_RACE ? row->weights[i] : -1.0f;
    }
    for (size_t i = 0; i < size; i++)
        row->scores[loops_place(i)] = i < row->vocab ? score[i] : minus_infinity;
    free(score);
    return 0;
}

static int logs_fill(struct sampler_row *row)
{
    const size_t size = row->groups * LOOPS_GROUP;
    row->logs = malloc(size * sizeof *row->logs);
    if (!row->logs)
        return -1;
    for (size_t i = 0; i < size; i++)
        row->logs[loops_place(i)] = seeded_log(i < row->vocab ? row->weights[i] : 0);
    return 0;
}

static int cdf_fill(struct sampler_row *row)
{
    row->cdf = malloc(row->vocab * sizeof *row->cdf);
    if (!row->cdf)
        return -1;
    const float largest = row->weights[rule_greedy_weights(row->weights, row->vocab)];
    const int scale = fixed_point_scale(largest, FIXED_POINT_CDF_BITS);
    uint64_t sum = 0;
    for (size_t i = 0; i < row->vocab; i++)
        row->cdf[i] = sum += fixed_point_of(row->weights[i], scale);
    return 0;
}

static int row_prepare(struct sampler_row *row)
{
    row->token = token_without_noise(row);
    if (row->rule == RULE_GREEDY || row->token == SAMPLER_INVALID_ROW)
        return 0;
    switch (row->rule) {
    case RULE_CATEGORICAL:
        return cdf_fill(row);
    case RULE_SEEDED:
        return logs_fill(row);
    default:
        return scores_fill(row);
    }
}

struct sampler_row *row_new(const struct loops *loops, enum sampler_rule rule, enum sampler_values kind,
                            const float *values, size_t vocab, double temperature)
{
    const float t = (float)temperature;
    if (!loops || (unsigned)rule >= RULE_COUNT || vocab == 0 || vocab > FIXED_POINT_VOCAB_MAX ||
        !kernel_weight_valid(t) || (kind == SAMPLER_PROBABILITIES && t != 1.0f))
        return NULL;
    struct sampler_row *row = calloc(1, sizeof *row);
    if (!row)
        return NULL;
    row->loops = loops;
    row->rule = rule;
    row->vocab = vocab;
    row->groups = (vocab + LOOPS_GROUP - 1) / LOOPS_GROUP;
    if (rule == RULE_GREEDY && kind == SAMPLER_LOGITS) {
        row->token = rule_greedy_logits(values, vocab);
        return row;
    }
    row->weights = malloc(vocab * sizeof *row->weights);
    if (row->weights) {
        if (kind == SAMPLER_LOGITS)
            weights_of_logits(row, values, t);
        else
            memcpy(row->weights, values, vocab * sizeof *values);
    }
    if (!row->weights || row_prepare(row) != 0) {
        sampler_row_free(row);
        return NULL;
    }
    return row;
}

struct sampler_row *sampler_row_new(enum sampler_rule rule, enum sampler_values kind, const float *values,
                                    size_t vocab, double temperature)
{
    return row_new(loops_chosen(), rule, kind, values, vocab, temperature);
}

void sampler_row_free(struct sampler_row *row)
{
    if (!row)
        return;
    free(row->weights);
    free(row->scores);
    free(row->logs);
    free(row->cdf);
    free(row);
}
