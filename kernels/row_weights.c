/* row_weights.c: values to the weights a rule draws from: penalties, temperature, softmax, filters.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "kernels/row.h"
#include "kernels/rules.h"
#include "kernels/select.h"

static void weights_of_logits(const struct sampler_row *row, const float *logits, float temperature)
{
    weight_loops_of(row->loops->name)->softmax(logits, row->vocab, temperature, row->weights);
}

static int filters_on(const struct filter_parameters *filter, size_t vocab)
{
    return (filter->top_k > 0 && (uint64_t)filter->top_k < vocab) || filter->top_p < 1 || filter->min_p > 0;
}

static enum sampler_status status_of_penalty(enum penalty_status status)
{
    switch (status) {
    case PENALTY_OK:
        return SAMPLER_OK;
    case PENALTY_BAD_PENALTY:
        return SAMPLER_BAD_PENALTY;
    case PENALTY_BAD_TOKEN:
        return SAMPLER_BAD_TOKEN;
    case PENALTY_BAD_MIN_TOKENS:
        return SAMPLER_BAD_MIN_TOKENS;
    default:
        return SAMPLER_NO_MEMORY;
    }
}

/* Heaviest first, the lowest id first among equals; what cannot be drawn comes last. A radix sort keeps the order
 * of equals. */
static int ids_by_weight(struct sampler_row *row)
{
    enum { BITS = 11, BINS = 1 << BITS };
    const size_t vocab = row->vocab;
    uint64_t *key = malloc(2 * vocab * sizeof *key), *from = key, *other;
    row->ids = malloc(vocab * sizeof *row->ids);
    if (!key || !row->ids) {
        free(key);
        return -1;
    }
    for (size_t i = 0; i < vocab; i++) {
        const uint32_t bits = kernel_weight_valid(row->weights[i]) ? kernel_bits(row->weights[i]) : 0;
        key[i] = (uint64_t)~bits << 32 | i;
    }
    other = key + vocab;
    for (int shift = 32; shift < 64; shift += BITS) {
        size_t place[BINS] = {0}, start = 0;
        for (size_t i = 0; i < vocab; i++)
            place[from[i] >> shift & (BINS - 1)]++;
        for (size_t b = 0; b < BINS; b++) {
            const size_t count = place[b];
            place[b] = start;
            start += count;
        }
        for (size_t i = 0; i < vocab; i++)
            other[place[from[i] >> shift & (BINS - 1)]++] = from[i];
        uint64_t *const swap = from;
        from = other;
        other = swap;
    }
    for (size_t r = 0; r < vocab; r++)
        row->ids[r] = (uint32_t)from[r];
    free(key);
    return 0;
}

/* What the functions below share. */
struct preparation {
    const struct sampler_parameters *parameters;
    const struct filter_rule *filter_rule;
    const float *logits; /* [vocab] NULL with probabilities */
    float *edited;       /* a copy of them, where penalties or filters change them, else NULL */
    float temperature;
    int filtered, temperature_last;
};

/* Filters on row->weights; where the temperature comes last, it works on the logits that are left. */
static enum sampler_status filters_apply(struct sampler_row *row, const struct preparation *p, int *empty)
{
    uint8_t *kept = malloc(row->vocab);
    if (!kept)
        return SAMPLER_NO_MEMORY;
    *empty = select_row(weight_loops_of(row->loops->name), p->filter_rule, &p->parameters->filter,
                        row->weights, row->vocab, kept) == FILTER_NO_WEIGHT;
    if (p->temperature_last && !*empty) {
        for (size_t i = 0; i < row->vocab; i++)
            if (!kept[i])
                p->edited[i] = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
        weights_of_logits(row, p->logits, p->temperature);
    }
    free(kept);
    return SAMPLER_OK;
}

/* Penalties on the logits, with the temperature among them. */
static enum sampler_status edits_apply(const struct sampler_row *row, struct preparation *p)
{
    const struct penalty_rule *rule =
        p->parameters->penalty_rule ? p->parameters->penalty_rule : penalty_rule_at(0);
    const float temperature = p->temperature_last ? 1.0f : p->temperature;
    const enum sampler_status status =
        status_of_penalty(penalty_row(rule, p->parameters->penalties, temperature, p->edited, row->vocab));
    if (!p->temperature_last)
        p->temperature = 1;
    return status;
}

static enum sampler_status weights_fill(struct sampler_row *row, struct preparation *p, const float *values,
                                        int *empty)
{
    if (p->parameters->penalties) {
        const enum sampler_status status = edits_apply(row, p);
        if (status != SAMPLER_OK)
            return status;
    }
    if (row->rule == RULE_GREEDY && p->logits) {
        row->token = rule_greedy_logits(p->logits, row->vocab);
        return SAMPLER_OK;
    }
    row->weights = malloc(row->vocab * sizeof *row->weights);
    if (!row->weights)
        return SAMPLER_NO_MEMORY;
    if (p->logits)
        weights_of_logits(row, p->logits, p->temperature_last ? 1.0f : p->temperature);
    else
        memcpy(row->weights, values, row->vocab * sizeof *values);
    if (p->parameters->seeded_by_rank && ids_by_weight(row) != 0)
        return SAMPLER_NO_MEMORY;
    return p->filtered ? filters_apply(row, p, empty) : SAMPLER_OK;
}

enum sampler_status row_weights(struct sampler_row *row, enum sampler_values kind, const float *values,
                                const struct sampler_parameters *parameters, int *empty)
{
    struct preparation p = {
        .parameters = parameters,
        .filter_rule = parameters->filter_rule ? parameters->filter_rule : filter_rule_at(0),
        /* Greedy looks at the logits before the temperature, and no filter drops the largest. */
        .temperature = row->rule == RULE_GREEDY ? 1.0f : (float)parameters->temperature,
        .filtered = row->rule != RULE_GREEDY && filters_on(&parameters->filter, row->vocab),
    };
    p.temperature_last = p.filtered && p.filter_rule->temperature_last && kind == SAMPLER_LOGITS;
    *empty = 0;
    if (kind == SAMPLER_LOGITS)
        p.logits = values;
    if (kind == SAMPLER_LOGITS && (parameters->penalties || p.temperature_last)) {
        p.logits = p.edited = malloc(row->vocab * sizeof *values);
        if (!p.edited)
            return SAMPLER_NO_MEMORY;
        memcpy(p.edited, values, row->vocab * sizeof *values);
    }
    const enum sampler_status status = weights_fill(row, &p, values, empty);
    free(p.edited);
    return status;
}
