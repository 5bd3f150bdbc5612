/* draws.c: bounds for the filter, rows prepared for many draws, and draws that must be looked through again.
 * SPDX-License-Identifier: MIT */
#include "kernels/draws.h"
#include <math.h>
#include <stdlib.h>
#include "kernels/scores.h"

/* From so many draws of a row on, preparing it pays. */
#define DRAWS_MANY 16

static double mass_of(const float *weights, size_t vocab)
{
    double sum[8] = {0};
    for (size_t i = 0; i < vocab; i++)
        sum[i % 8] += kernel_weight_valid(weights[i]) ? (double)weights[i] : 0;
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* The best ratio of a draw is mass / Exp(1), so it misses mass / e with probability exp(-e), and e columns or
 * so pass: the wider the row, the dearer a second look, which costs as much as scoring V / 80 columns and no less
 * than 20. */
static double bound_of_mass(double mass, size_t vocab)
{
    const double e = log((double)vocab / 80);
    const double bound = mass / (e > 3 ? e : 3);
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

int candidates_make(struct candidates *row, const struct loops *loops, enum sampler_rule rule,
                    const float *weights, size_t vocab, double bound)
{
    const size_t size = (vocab + 3) / 4 + CANDIDATES_STEP;
    *row = (struct candidates){.vocab = vocab,
                               .block = malloc(size * sizeof *row->block),
                               .limit = malloc(4 * size * sizeof *row->limit)};
    if (!row->block || !row->limit) {
        candidates_free(row);
        return -1;
    }
    loops->limits(rule, weights, bound, row);
    return 0;
}

void candidates_free(struct candidates *row)
{
    free(row->block);
    free(row->limit);
}

void draws_of_row(const struct loops *loops, enum sampler_rule rule, const float *weights, size_t vocab,
                  double mass, struct draw *draw, size_t draws)
{
    const double bound = bound_of_mass(mass, vocab);
    for (size_t d = 0; d < draws; d++) {
        draw[d].weights = weights;
        draw_start(&draw[d], rule, bound);
    }
    struct candidates row;
    if (bound < CANDIDATES_BOUND_MIN)
        for (size_t d = 0; d < draws; d++)
            loops->whole(rule, vocab, &draw[d]);
    else if (draws >= DRAWS_MANY && candidates_make(&row, loops, rule, weights, vocab, bound) == 0) {
        loops->candidates(rule, &row, draw, draws);
        candidates_free(&row);
    } else
        loops->rows(rule, vocab, draw, draws);
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
            const double mass = mass_of(draw[d].weights, vocab);
            if (mass == 0)
                continue;
            draw[d].bound = fmin(draw[d].bound, 2 * mass);
        }
        draw_finish(loops, rule, vocab, &draw[d]);
    }
}

#define ROWS_AT_ONCE 64

void draws_call(const struct loops *loops, enum sampler_rule rule, const float *probabilities, size_t rows,
                size_t vocab, size_t row_stride, uint64_t seed, uint64_t first_position, int32_t *token)
{
    struct draw draw[ROWS_AT_ONCE];
    for (size_t first = 0; first < rows; first += ROWS_AT_ONCE) {
        const size_t count = rows - first < ROWS_AT_ONCE ? rows - first : ROWS_AT_ONCE;
        for (size_t d = 0; d < count; d++)
            draw[d] = (struct draw){.seed = seed,
                                    .position = first_position + first + d,
                                    .weights = probabilities + (first + d) * row_stride};
        draws_of_rows(loops, rule, vocab, draw, count);
        for (size_t d = 0; d < count; d++)
            token[first + d] = draw[d].token;
    }
}
