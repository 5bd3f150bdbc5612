/* tokens.c: every id's exact binomial tails, and the worst of them.
 *
 * Sees:         one token lost, gained or swapped, the last id unreachable.
 * Cannot see:   small deviations spread over many ids.
 * False alarms: at most the level a side (exact tails, Bonferroni over the ids of positive probability).
 * Source:       the tails of binomial.c. The screen is a lower bound on a tail: P(X >= k) >= P(X = k),
 *               Stirling's formula, and n KL(k/n, p) <= (k - np)^2 / npq.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <math.h>

/* (k - np)^2 / npq with the sign of k - np. */
static double signed_square(double k, double n, double p)
{
    double excess = k - n * p;
    return excess * fabs(excess) / (n * p * (1 - p));
}

/* At least -log P(X = k), of which n KL(k/n, p) is most: the divergence is the integral of (x - t) / t(1 - t)
 * from p to x, so it is at most half the square over the smaller end's t(1 - t), and at most the square over
 * p(1 - p). */
static double log_tail_screen(double square, double k, double n, double p)
{
    double misses = n - k, spread = k / n * (misses / n), here = p * (1 - p);
    double bound = fabs(square);
    if (spread > 0) {
        bound = fmin(bound, bound * here / (2 * fmin(here, spread)));
        bound += 0.5 * log(2 * M_PI * n * spread) + 1 / (12 * k) + 1 / (12 * misses);
    }
    return bound;
}

struct worst {
    struct tail tail;
    size_t id;
    double square, depth; /* of the id; -log tail.p */
};

static void worst_take(struct worst *worst, struct tail tail, size_t id)
{
    worst->tail = tail;
    worst->id = id;
    worst->depth = -log(tail.p);
}

static struct tail bonferroni(struct tail tail, double tests)
{
    return (struct tail){fmin(1, tail.p * tests), fmin(1, tail.p_beyond * tests)};
}

struct token_tails token_test(const uint64_t *counts, const double *pmf, size_t vocab)
{
    struct worst upper = {{1, 1}, vocab, -INFINITY, 0}, lower = {{1, 1}, vocab, INFINITY, 0};
    uint64_t draws = 0;
    size_t live = 0;
    for (size_t id = 0; id < vocab; id++)
        draws += counts[id];
    double n = (double)draws;
    /* The id farthest in units of its standard deviation is nearly always the answer: it makes the screen
     * sharp. */
    for (size_t id = 0; id < vocab && draws > 0; id++) {
        if (!(pmf[id] > 0))
            continue;
        live++;
        double square = pmf[id] < 1 ? signed_square((double)counts[id], n, pmf[id]) : 0;
        if (square > upper.square) {
            upper.square = square;
            upper.id = id;
        }
        if (square < lower.square) {
            lower.square = square;
            lower.id = id;
        }
    }
    if (live == 0)
        return (struct token_tails){{1, 1}, {1, 1}, vocab, vocab};
    worst_take(&upper, binomial_test(counts[upper.id], draws, pmf[upper.id]).upper, upper.id);
    worst_take(&lower, binomial_test(counts[lower.id], draws, pmf[lower.id]).lower, lower.id);
    for (size_t id = 0; id < vocab; id++) {
        if (!(pmf[id] > 0 && pmf[id] < 1))
            continue;
        double k = (double)counts[id], square = signed_square(k, n, pmf[id]);
        struct worst *worst = square > 0 ? &upper : &lower;
        /* The near side's tail is about a half, which Bonferroni makes 1: only the far side is looked at. */
        if (log_tail_screen(square, k, n, pmf[id]) <= worst->depth)
            continue;
        struct binomial_tails tails = binomial_test(counts[id], draws, pmf[id]);
        struct tail tail = square > 0 ? tails.upper : tails.lower;
        if (tail.p < worst->tail.p)
            worst_take(worst, tail, id);
    }
    double tests = (double)live;
    return (struct token_tails){bonferroni(upper.tail, tests), bonferroni(lower.tail, tests), upper.id,
                                lower.id};
}
