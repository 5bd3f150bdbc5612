/* sampler.c: draw from prepared rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/sampler.h"
#include <string.h>
#include "kernels/philox.h"
#include "kernels/row.h"
#include "kernels/rules.h"

static const char *const rule_names[RULE_COUNT] = {
    [RULE_GREEDY] = "greedy",           [RULE_CATEGORICAL] = "categorical", [RULE_RACE] = "race",
    [RULE_GUMBEL] = "gumbel",           [RULE_TORCH_RACE] = "torch-race",   [RULE_SEEDED] = "seeded",
    [RULE_SEEDED_2025] = "seeded-2025",
};

const char *sampler_rule_name(enum sampler_rule rule)
{
    return (unsigned)rule < RULE_COUNT ? rule_names[rule] : NULL;
}

int sampler_rule_of(const char *name)
{
    for (int rule = 0; rule < RULE_COUNT; rule++)
        if (strcmp(name, rule_names[rule]) == 0)
            return rule;
    return -1;
}

struct sampler_parameters sampler_parameters_none(void)
{
    return (struct sampler_parameters){.temperature = 1, .filter = {.top_k = -1, .top_p = 1, .min_p = 0}};
}

const char *sampler_status_text(enum sampler_status status)
{
    switch (status) {
    case SAMPLER_OK:
        return "accepted";
    case SAMPLER_NO_MEMORY:
        return "out of memory";
    case SAMPLER_BAD_VOCAB:
        return "a row must have 1 to 2^20 values";
    case SAMPLER_BAD_TEMPERATURE:
        return "temperature must be positive and finite, and 1 with probabilities";
    case SAMPLER_BAD_TOP_K:
        return "top_k must be -1 (off) or at least 1";
    case SAMPLER_BAD_TOP_P:
        return "top_p must be above 0 (1: off)";
    case SAMPLER_BAD_MIN_P:
        return "min_p must be 0 (off) to 1";
    case SAMPLER_BAD_PENALTY:
        return "repetition_penalty must be positive and finite, the other penalties finite";
    case SAMPLER_BAD_TOKEN:
        return "prompt, output and stop ids must be ids of the row";
    case SAMPLER_BAD_MIN_TOKENS:
        return "min_tokens must not be negative";
    case SAMPLER_BAD_COMBINATION:
        return "these options do not go together";
    default:
        return "SAMPLEGATE_ISA is unknown or not on this machine; known: baseline avx2 avx512";
    }
}

const char *sampler_isa(void)
{
    const struct loops *loops = loops_chosen();
    return loops ? loops->name : NULL;
}

/* First id whose inclusive CDF exceeds the target; the last entry always does. */
static int32_t cdf_search(const uint64_t *cdf, size_t vocab, uint64_t target)
{
    size_t low = 0, high = vocab - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (cdf[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return (int32_t)low;
}

static int32_t draw_one(const struct sampler_row *row, uint64_t seed, uint64_t position)
{
    if (row->token != ROW_TOKEN_OPEN)
        return row->token;
    switch (row->rule) {
    case RULE_CATEGORICAL: {
        const struct philox_block block = philox_block(seed, PHILOX_STREAM_CATEGORICAL, position, 0);
        const uint64_t uniform = block.word[0] | (uint64_t)block.word[1] << 32;
        return cdf_search(row->cdf, row->vocab, fixed_point_multiply_high(uniform, row->cdf[row->vocab - 1]));
    }
    case RULE_GUMBEL:
        return row->loops->gumbel(row->scores, row->groups, seed, position);
    case RULE_TORCH_RACE:
        return row->loops->torch_race(row->scores, row->groups, seed, position);
    case RULE_SEEDED: {
        const int32_t column = row->loops->seeded(row->logs, row->groups, seed, position);
        return row->ids ? (int32_t)row->ids[column] : column;
    }
    case RULE_SEEDED_2025:
        return row->loops->seeded_2025(row->scores, row->groups, seed, position);
    default:
        return row->loops->race(row->scores, row->groups, seed, position);
    }
}

void sampler_draw(const struct sampler_row *row, uint64_t seed, uint64_t first_position, size_t draws,
                  int32_t *token)
{
    for (size_t d = 0; d < draws; d++)
        token[d] = draw_one(row, seed, first_position + d);
}

void sampler_draw_seeded(const struct sampler_row *row, const int64_t *seed, const int64_t *position,
                         size_t draws, int32_t *token)
{
    for (size_t d = 0; d < draws; d++)
        token[d] = draw_one(row, (uint64_t)seed[d], (uint64_t)position[d]);
}

int32_t sampler_draw_with_noise(const struct sampler_row *row, const float *q)
{
    if (row->rule != RULE_RACE && row->rule != RULE_GUMBEL && row->rule != RULE_TORCH_RACE)
        return -2;
    int ordinary = row->token == ROW_TOKEN_OPEN;
    for (size_t i = 0; i < row->vocab; i++)
        ordinary &= kernel_weight_valid(q[i]);
    if (ordinary && row->rule == RULE_GUMBEL)
        return row->loops->gumbel_with_noise(row->scores, q, row->vocab);
    if (ordinary)
        return row->loops->race_with_noise(row->scores, q, row->vocab);
    switch (row->rule) {
    case RULE_GUMBEL:
        return rule_gumbel(row->weights, q, row->vocab);
    case RULE_TORCH_RACE:
        return rule_torch_race(row->weights, q, row->vocab);
    default:
        return rule_race(row->weights, q, row->vocab);
    }
}

void sampler_noise(uint64_t seed, uint64_t position, size_t vocab, float *q)
{
    const struct loops *loops = loops_chosen();
    (loops ? loops : &loops_baseline)->noise(seed, position, vocab, q);
}
