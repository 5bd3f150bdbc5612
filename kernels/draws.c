/* draws.c: bounds for the filter, rows prepared for many draws, and draws that must be looked through again.
 * SPDX-License-Identifier: MIT */
#include "kernels/draws.h"
#include <math.h>
#include <stdlib.h>
#include "kernels/scores.h"

/* From so many draws of a row on, preparing it pays. */
#define DRAWS_MANY 16

double draws_mass(const float *weights, size_t vocab)
{
    double sum[8] = {0};
    for (size_t i = 0; i < vocab; i++)
        sum[i % 8] += kernel_weight_valid(weights[i]) ? (double)weights[i] : 0;
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* The best ratio of a draw is mass / Exp(1), so it misses mass / e with probability exp(-e), and e columns or
 * so pass: few, but for wide rows, where a second look is dear, one in thousands. */
static double bound_of_mass(double mass, size_t vocab)
{
    const double e = log((double)vocab / 80);
    const double bound = mass / (e > 1 ? e : 1);
    return bound < CANDIDATES_BOUND_MAX ? bound : CANDIDATES_BOUND_MAX;
}

static void draw_start(struct draw *draw, enum sampler_rule rule, double bound)
{
    draw->bound = bound;
    draw->best = -HUGE_VAL;
    /* As torch's argmax: of a row where nothing is above -inf, the first. */
    draw->token = rule == RULE_TORCH_RACE || rule == RULE_SEEDED_2025 ? 0 : SAMPLER_INVALID_ROW;
}

/* A draw whose best does not reach its bound: again from what it found, which is a bound that holds. */
static void draw_finish(const struct loops *loops, enum sampler_rule rule, size_t vocab, struct draw *draw)
{
    while (scores[rule].ratio(draw->best) < draw->bound) {
        const double found = scores[rule].ratio(draw->best) * (1 - 0x1p-20);
        draw->bound = found > 0 ? found : draw->bound / 16;
        if (draw->bound < CANDIDATES_BOUND_MIN) {
            loops->whole(rule, vocab, draw);
            return;
        }
        loops->rows(rule, vocab, draw, 1);
    }
}

/* Where the limit of a column is: candidates.h. */
static size_t limit_place(const struct loops *loops, enum sampler_rule rule, size_t slot, size_t column)
{
    if (score_is_hashed(rule))
        return 4 * slot + column;
    const size_t lanes = loops->lanes;
    return slot / lanes * 4 * lanes + column / 2 * 2 * lanes + slot % lanes * 2 + 1 - column % 2;
}

static int candidates_make(struct candidates *row, const struct loops *loops, enum sampler_rule rule,
                           const float *weights, size_t vocab, double bound)
{
    const double scale = 0x1p32 * (1 + CANDIDATES_SLACK) / bound;
    const size_t blocks = (vocab + 3) / 4, size = (blocks / CANDIDATES_STEP + 1) * CANDIDATES_STEP;
    *row = (struct candidates){.vocab = vocab,
                               .block = calloc(size, sizeof *row->block),
                               .limit = malloc(4 * size * sizeof *row->limit)};
    if (!row->block || !row->limit)
        return -1;
    size_t slots = 0;
    for (size_t block = 0; block < blocks; block++) {
        int live = 0;
        for (size_t c = 0; c < 4; c++) {
            const double weight = 4 * block + c < vocab ? (double)weights[4 * block + c] : 0;
            const double words = weight * scale; /* NaN, negative or below 1/2: no n is that small */
            int32_t limit = INT32_MIN;
            if (words >= 0.5) {
                live = 1;
                limit = words + CANDIDATES_WORDS < 0x1p32 ? (int32_t)(words + CANDIDATES_WORDS - 0x1p31)
                                                          : INT32_MAX;
            }
            row->limit[limit_place(loops, rule, slots, c)] = limit;
        }
        row->block[slots] = (uint32_t)block;
        slots += (size_t)live;
    }
    while (slots % CANDIDATES_STEP) {
        row->block[slots] = 0;
        for (size_t c = 0; c < 4; c++)
            row->limit[limit_place(loops, rule, slots, c)] = INT32_MIN;
        slots++;
    }
    row->slots = slots;
    return 0;
}

void draws_of_row(const struct loops *loops, enum sampler_rule rule, const float *weights, size_t vocab,
                  double mass, struct draw *draw, size_t draws)
{
    const double bound = bound_of_mass(mass, vocab);
    for (size_t d = 0; d < draws; d++) {
        draw[d].weights = weights;
        draw_start(&draw[d], rule, bound);
    }
    struct candidates row = {0};
    if (bound < CANDIDATES_BOUND_MIN)
        for (size_t d = 0; d < draws; d++)
            loops->whole(rule, vocab, &draw[d]);
    else if (draws >= DRAWS_MANY && candidates_make(&row, loops, rule, weights, vocab, bound) == 0)
        loops->candidates(rule, &row, draw, draws);
    else
        loops->rows(rule, vocab, draw, draws);
    free(row.block);
    free(row.limit);
    for (size_t d = 0; d < draws && bound >= CANDIDATES_BOUND_MIN; d++)
        draw_finish(loops, rule, vocab, &draw[d]);
}

void draws_of_rows(const struct loops *loops, enum sampler_rule rule, size_t vocab, struct draw *draw,
                   size_t draws)
{
    for (size_t d = 0; d < draws; d++)
        draw_start(&draw[d], rule, bound_of_mass(1, vocab));
    loops->rows(rule, vocab, draw, draws);
    for (size_t d = 0; d < draws; d++) {
        if (draw[d].token == SAMPLER_INVALID_ROW) { /* nothing passed: is there anything? */
            const double mass = draws_mass(draw[d].weights, vocab);
            if (mass == 0)
                continue;
            draw[d].bound = fmin(draw[d].bound, 2 * mass);
        }
        draw_finish(loops, rule, vocab, &draw[d]);
    }
}
