/* row.c: prepare a row: check the parameters, the tokens that need no noise, weights by column, the CDF.
 * SPDX-License-Identifier: MIT */
#include "kernels/row.h"
#include <stdlib.h>
#include "kernels/rules.h"
#include "kernels/seeded.h"
#include "kernels/weight_loops.h"

/* Of torch-race and seeded-2025: the first id whose score is NaN under every noise, or ROW_TOKEN_OPEN. */
static int32_t token_of_nan(const struct sampler_row *row)
{
    for (size_t i = 0; i < row->vocab; i++) {
        const float weight = row->weights[i];
        if (row->rule == RULE_TORCH_RACE ? isnan(weight) : !(kernel_add(weight, SEEDED_2025_EPSILON) >= 0))
            return (int32_t)i; /* the logarithm of a negative number, too, is NaN */
    }
    return ROW_TOKEN_OPEN;
}

/* 0 and the sum, roughly, and the largest of the positive finite weights; -1 without memory. */
static int summary_of(const struct sampler_row *row, const float *weights, struct weight_summary *summary)
{
    const size_t tiles = (row->vocab + WEIGHT_TILE - 1) / WEIGHT_TILE;
    float *largest = malloc(tiles * WEIGHT_COLUMNS * sizeof *largest);
    if (!largest)
        return -1;
    *summary = weight_loops_of(row->loops->name)->columns(weights, row->vocab, largest);
    free(largest);
    return 0;
}

static int columns_fill(struct sampler_row *row)
{
    if (row->ids || row->rule == RULE_SEEDED_2025) {
        row->columns = malloc(row->vocab * sizeof *row->columns);
        if (!row->columns)
            return -1;
        for (size_t i = 0; i < row->vocab; i++)
            row->columns[i] =
                row->ids ? row->weights[row->ids[i]] : kernel_add(row->weights[i], SEEDED_2025_EPSILON);
    }
    return 0;
}

/* fixed_point_of(weight, scale): exact in double, as a weight has 24 bits and the result at most 44; where the
 * sum with 1/2 is rounded, it is of less than 2^-28 and 1/2. */
static int cdf_fill(struct sampler_row *row, float largest)
{
    row->cdf = malloc(row->vocab * sizeof *row->cdf);
    if (!row->cdf)
        return -1;
    const double unit = ldexp(1, fixed_point_scale(largest, FIXED_POINT_CDF_BITS));
    uint64_t sum = 0;
    for (size_t i = 0; i < row->vocab; i++) {
        const float weight = kernel_weight_valid(row->weights[i]) ? row->weights[i] : 0;
        row->cdf[i] = sum += (uint64_t)(int64_t)((double)weight * unit + 0.5);
    }
    return 0;
}

static int row_prepare(struct sampler_row *row)
{
    struct weight_summary summary;
    row->token = ROW_TOKEN_OPEN;
    if (row->rule == RULE_TORCH_RACE || row->rule == RULE_SEEDED_2025)
        row->token = token_of_nan(row);
    if (columns_fill(row) != 0 || summary_of(row, row->columns ? row->columns : row->weights, &summary) != 0)
        return -1;
    row->mass = summary.sum;
    if (row->rule == RULE_TORCH_RACE || row->rule == RULE_SEEDED_2025)
        return 0;
    if (summary.largest == 0)
        row->token = SAMPLER_INVALID_ROW;
    else if (row->rule == RULE_GREEDY)
        for (row->token = 0; row->weights[row->token] != summary.largest;)
            row->token++;
    return row->rule == RULE_CATEGORICAL && summary.largest > 0 ? cdf_fill(row, summary.largest) : 0;
}

static enum sampler_status parameters_check(const struct loops *loops, enum sampler_rule rule,
                                            enum sampler_values kind, size_t vocab,
                                            const struct sampler_parameters *parameters)
{
    const struct filter_rule *filter = parameters->filter_rule;
    const float t = (float)parameters->temperature;
    if (!loops)
        return SAMPLER_BAD_ISA;
    if (vocab == 0 || vocab > FIXED_POINT_VOCAB_MAX)
        return SAMPLER_BAD_VOCAB;
    if (!kernel_weight_valid(t) || (kind == SAMPLER_PROBABILITIES && t != 1.0f))
        return SAMPLER_BAD_TEMPERATURE;
    switch (filter_parameters_check(&parameters->filter)) {
    case FILTER_BAD_TOP_K:
        return SAMPLER_BAD_TOP_K;
    case FILTER_BAD_TOP_P:
        return SAMPLER_BAD_TOP_P;
    case FILTER_BAD_MIN_P:
        return SAMPLER_BAD_MIN_P;
    default:
        break;
    }
    if ((parameters->penalties && kind == SAMPLER_PROBABILITIES) ||
        (parameters->seeded_by_rank && rule != RULE_SEEDED) || (unsigned)rule >= RULE_COUNT ||
        (filter && filter->temperature_last && filter->boundary == FILTER_SPLIT))
        return SAMPLER_BAD_COMBINATION;
    return SAMPLER_OK;
}

static enum sampler_status row_fill(struct sampler_row *row, enum sampler_values kind, const float *values,
                                    const struct sampler_parameters *parameters)
{
    int empty = 0;
    const enum sampler_status status = row_weights(row, kind, values, parameters, &empty);
    if (status != SAMPLER_OK || (row->rule == RULE_GREEDY && kind == SAMPLER_LOGITS))
        return status;
    if (empty) {
        row->token = SAMPLER_INVALID_ROW;
        return SAMPLER_OK;
    }
    return row_prepare(row) == 0 ? SAMPLER_OK : SAMPLER_NO_MEMORY;
}

struct sampler_row *row_make(const struct loops *loops, enum sampler_rule rule, enum sampler_values kind,
                             const float *values, size_t vocab, const struct sampler_parameters *parameters,
                             enum sampler_status *status)
{
    *status = parameters_check(loops, rule, kind, vocab, parameters);
    if (*status != SAMPLER_OK)
        return NULL;
    struct sampler_row *row = calloc(1, sizeof *row);
    if (!row) {
        *status = SAMPLER_NO_MEMORY;
        return NULL;
    }
    row->loops = loops;
    row->rule = rule;
    row->vocab = vocab;
    *status = row_fill(row, kind, values, parameters);
    if (*status != SAMPLER_OK) {
        sampler_row_free(row);
        return NULL;
    }
    return row;
}

struct sampler_row *row_new(const struct loops *loops, enum sampler_rule rule, enum sampler_values kind,
                            const float *values, size_t vocab, double temperature)
{
    struct sampler_parameters parameters = sampler_parameters_none();
    enum sampler_status status;
    parameters.temperature = temperature;
    return row_make(loops, rule, kind, values, vocab, &parameters, &status);
}

struct sampler_row *sampler_row_new(enum sampler_rule rule, enum sampler_values kind, const float *values,
                                    size_t vocab, double temperature)
{
    return row_new(loops_chosen(), rule, kind, values, vocab, temperature);
}

struct sampler_row *sampler_row_make(enum sampler_rule rule, enum sampler_values kind, const float *values,
                                     size_t vocab, const struct sampler_parameters *parameters,
                                     enum sampler_status *status)
{
    return row_make(loops_chosen(), rule, kind, values, vocab, parameters, status);
}

void sampler_row_kept(const struct sampler_row *row, uint8_t *kept)
{
    for (size_t i = 0; i < row->vocab; i++)
        kept[i] = (uint8_t)(row->rule == RULE_GREEDY ? row->token == (int32_t)i
                                                     : kernel_weight_valid(row->weights[i]));
}

void sampler_row_free(struct sampler_row *row)
{
    if (!row)
        return;
    free(row->weights);
    free(row->columns);
    free(row->ids);
    free(row->cdf);
    free(row);
}
