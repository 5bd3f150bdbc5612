/* sampler.c: draw from prepared rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/sampler.h"
#include <stdlib.h>
#include <string.h>
#include "kernels/draws.h"
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

static int32_t draw_categorical(const struct sampler_row *row, uint64_t seed, uint64_t position)
{
    const struct philox_block block = philox_block(seed, PHILOX_STREAM_CATEGORICAL, position, 0);
    const uint64_t uniform = block.word[0] | (uint64_t)block.word[1] << 32;
    return cdf_search(row->cdf, row->vocab, fixed_point_multiply_high(uniform, row->cdf[row->vocab - 1]));
}

/* The tokens of draw[draws], whose seeds and positions are set. */
static void draw_all(const struct sampler_row *row, struct draw *draw, size_t draws)
{
    if (row->token != ROW_TOKEN_OPEN || row->rule == RULE_CATEGORICAL) {
        for (size_t d = 0; d < draws; d++)
            draw[d].token = row->token != ROW_TOKEN_OPEN
                                ? row->token
                                : draw_categorical(row, draw[d].seed, draw[d].position);
        return;
    }
    draws_of_row(row->loops, row->rule, row->columns ? row->columns : row->weights, row->vocab, row->mass,
                 draw, draws);
    for (size_t d = 0; d < draws && row->ids; d++)
        draw[d].token = (int32_t)row->ids[draw[d].token];
}

/* Draws are done so many at a time, or a few where there is no memory: it makes no difference to a token. */
#define DRAWS_MANY 4096
#define DRAWS_FEW 8

/* seed[d] and position[d] of draw d if `seed` is given, else (first_seed, first_position + d). */
static void draw_in_parts(const struct sampler_row *row, const int64_t *seed, const int64_t *position,
                          uint64_t first_seed, uint64_t first_position, size_t draws, int32_t *token)
{
    struct draw few[DRAWS_FEW];
    struct draw *const many =
        draws > DRAWS_FEW ? malloc((draws < DRAWS_MANY ? draws : DRAWS_MANY) * sizeof *many) : NULL;
    const size_t most = many ? DRAWS_MANY : DRAWS_FEW;
    struct draw *const draw = many ? many : few;
    for (size_t first = 0; first < draws; first += most) {
        const size_t count = draws - first < most ? draws - first : most;
        for (size_t d = 0; d < count; d++) {
            draw[d].seed = seed ? (uint64_t)seed[first + d] : first_seed;
            draw[d].position = seed ? (uint64_t)position[first + d] : first_position + first + d;
        }
        draw_all(row, draw, count);
        for (size_t d = 0; d < count; d++)
            token[first + d] = draw[d].token;
    }
    free(many);
}

void sampler_draw(const struct sampler_row *row, uint64_t seed, uint64_t first_position, size_t draws,
                  int32_t *token)
{
    draw_in_parts(row, NULL, NULL, seed, first_position, draws, token);
}

void sampler_draw_seeded(const struct sampler_row *row, const int64_t *seed, const int64_t *position,
                         size_t draws, int32_t *token)
{
    draw_in_parts(row, seed, position, 0, 0, draws, token);
}

int32_t sampler_draw_with_noise(const struct sampler_row *row, const float *q)
{
    if (row->rule != RULE_RACE && row->rule != RULE_GUMBEL && row->rule != RULE_TORCH_RACE)
        return -2;
    int ordinary = row->token == ROW_TOKEN_OPEN;
    for (size_t i = 0; i < row->vocab; i++)
        ordinary &= kernel_weight_valid(q[i]);
    switch (row->rule) {
    case RULE_GUMBEL:
        return (ordinary ? row->loops->gumbel_with_noise : rule_gumbel)(row->weights, q, row->vocab);
    case RULE_TORCH_RACE:
        return (ordinary ? row->loops->torch_with_noise : rule_torch_race)(row->weights, q, row->vocab);
    default:
        return (ordinary ? row->loops->race_with_noise : rule_race)(row->weights, q, row->vocab);
    }
}

enum sampler_status sampler_draw_rows(enum sampler_rule rule, const float *probabilities, size_t rows,
                                      size_t vocab, size_t row_stride, uint64_t seed, uint64_t first_position,
                                      int32_t *token)
{
    const struct loops *loops = loops_chosen();
    if (!loops)
        return SAMPLER_BAD_ISA;
    if (vocab == 0 || vocab > FIXED_POINT_VOCAB_MAX)
        return SAMPLER_BAD_VOCAB;
    if (rule != RULE_RACE && rule != RULE_GUMBEL && rule != RULE_SEEDED)
        return SAMPLER_BAD_COMBINATION;
    draws_call(loops, rule, probabilities, rows, vocab, row_stride, seed, first_position, token);
    return SAMPLER_OK;
}

void sampler_noise(uint64_t seed, uint64_t position, size_t vocab, float *q)
{
    const struct loops *loops = loops_chosen();
    (loops ? loops : &loops_baseline)->noise(seed, position, vocab, q);
}
