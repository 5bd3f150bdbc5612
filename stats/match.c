/* match.c: equal pairs at every lag of a sequence, between two sequences, and between the rows of a batch.
 *
 * Sees:         noise that repeats, copies or avoids an earlier draw at a fixed distance in time, seed or
 *               row, while every count keeps its law; too few equal pairs are a lattice.
 * Cannot see:   dependence at other distances, or one that leaves the frequency of equal pairs alone.
 * False alarms: at most the level a side. At one lag the pairs (t, t + lag) form chains without a cycle.
 *               Where all ids are equally likely, whether a pair is equal does not depend on the draw that it
 *               shares with the pair before, so all pairs of the lag are independent; elsewhere every other
 *               link of a chain is left out, and no two pairs share a draw. Bonferroni over the lags.
 * Source:       the index of coincidence, W. F. Friedman (1922), against the known law; exact binomial tails.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/binomial.h"
#include "stats/tests.h"
#include <math.h>
#include <stdbool.h>

#define LOOKS_MAX (2 * MATCH_LAGS_MAX + 1) /* not less than the pairs of MATCH_ROWS_MAX rows */

double match_probability(const double *pmf, size_t vocab)
{
    long double sum = 0; /* 10^6 terms keep 15 digits */
    for (size_t id = 0; id < vocab; id++)
        sum += (long double)pmf[id] * (long double)pmf[id];
    return fmin(1, (double)sum); /* a rounding above, where one id has it all */
}

static bool equally_likely(const double *pmf, size_t vocab)
{
    double some = 0;
    for (size_t id = 0; id < vocab; id++) {
        if (pmf[id] > 0 && some > 0 && pmf[id] != some)
            return false;
        some = pmf[id] > 0 ? pmf[id] : some;
    }
    return true;
}

static uint64_t equal_in(const int32_t *a, const int32_t *b, size_t pairs)
{
    uint64_t equal = 0;
    for (size_t i = 0; i < pairs; i++)
        equal += a[i] == b[i];
    return equal;
}

static size_t lags_in(size_t steps, size_t lags)
{
    lags = lags < MATCH_LAGS_MAX ? lags : MATCH_LAGS_MAX;
    return lags < steps / 2 ? lags : steps / 2;
}

static struct tail bonferroni(struct tail tail, size_t looks)
{
    return (struct tail){fmin(1, tail.p * (double)looks), fmin(1, tail.p_beyond * (double)looks)};
}

/* Is the first farther from what is expected? By deviations where both tails are too small for a double. */
static bool farther(struct tail a, const struct match_look *at, struct tail b, const struct match_look *than,
                    double probability)
{
    const double n = (double)at->pairs, m = (double)than->pairs;
    if (!than->pairs || a.p != b.p || a.p > 0)
        return !than->pairs || a.p < b.p;
    return fabs((double)at->equal - n * probability) / sqrt(n) >
           fabs((double)than->equal - m * probability) / sqrt(m);
}

/* The tails rise and fall with the number of pairs, so a place with no more equal ones among no fewer pairs
 * needs no p: from the fewest pairs to the most, few do. */
static struct match worst_of(const struct match_look *look, size_t looks, double probability)
{
    struct match match = {{1, 1}, {1, 1}, {0}, {0}, looks, probability};
    if (looks == 0)
        return match;
    for (size_t i = looks; i-- > 0;) {
        if (match.most.pairs && look[i].equal <= match.most.equal && look[i].pairs >= match.most.pairs)
            continue;
        struct tail tail = binomial_test(look[i].equal, look[i].pairs, probability).upper;
        if (farther(tail, &look[i], match.upper, &match.most, probability)) {
            match.upper = tail;
            match.most = look[i];
        }
    }
    for (size_t i = 0; i < looks; i++) {
        if (match.least.pairs && look[i].equal >= match.least.equal && look[i].pairs <= match.least.pairs)
            continue;
        struct tail tail = binomial_test(look[i].equal, look[i].pairs, probability).lower;
        if (farther(tail, &look[i], match.lower, &match.least, probability)) {
            match.lower = tail;
            match.least = look[i];
        }
    }
    match.upper = bonferroni(match.upper, looks);
    match.lower = bonferroni(match.lower, looks);
    return match;
}

/* Pairs of steps that share none: blocks of `lag` steps are paired, the first with the second, the third with
 * the fourth. */
static struct match_look apart(const int32_t *token, size_t steps, size_t lanes, size_t lag)
{
    struct match_look look = {.lag = (int64_t)lag, .row = -1};
    for (size_t block = 0; block + lag < steps; block += 2 * lag) {
        size_t left = steps - lag - block, pairs = (left < lag ? left : lag) * lanes;
        look.pairs += pairs;
        look.equal += equal_in(token + block * lanes, token + (block + lag) * lanes, pairs);
    }
    return look;
}

struct match match_lags(const int32_t *token, size_t steps, size_t lanes, size_t lags, const double *pmf,
                        size_t vocab)
{
    struct match_look look[LOOKS_MAX];
    const bool flat = equally_likely(pmf, vocab);
    const size_t looks = lanes ? lags_in(steps, lags) : 0;
    for (size_t lag = 1; lag <= looks; lag++) {
        const size_t pairs = (steps - lag) * lanes;
        look[lag - 1] =
            flat ? (struct match_look){(int64_t)lag, -1, pairs, equal_in(token, token + lag * lanes, pairs)}
                 : apart(token, steps, lanes, lag);
    }
    return worst_of(look, looks, match_probability(pmf, vocab));
}

struct match match_between(const int32_t *a, const int32_t *b, size_t steps, size_t lags, const double *pmf,
                           size_t vocab)
{
    struct match_look look[LOOKS_MAX];
    size_t looks = 0;
    lags = lags_in(steps, lags);
    for (size_t lag = 0; lag <= lags && steps > 0; lag++) {
        const size_t pairs = steps - lag;
        look[looks++] = (struct match_look){(int64_t)lag, -1, pairs, equal_in(a, b + lag, pairs)};
        if (lag)
            look[looks++] = (struct match_look){-(int64_t)lag, -1, pairs, equal_in(a + lag, b, pairs)};
    }
    return worst_of(look, looks, match_probability(pmf, vocab));
}

struct match match_rows(const int32_t *token, size_t calls, size_t rows, const double *pmf, size_t vocab)
{
    struct match_look look[LOOKS_MAX];
    size_t looks = 0;
    const size_t seen = rows < MATCH_ROWS_MAX ? rows : MATCH_ROWS_MAX;
    for (size_t row = 0; row < seen && calls > 0; row++) {
        for (size_t other = row + 1; other < seen; other++) {
            struct match_look *its = &look[looks++];
            *its = (struct match_look){(int64_t)(other - row), (int64_t)row, calls, 0};
            for (size_t call = 0; call < calls; call++)
                its->equal += token[call * rows + row] == token[call * rows + other];
        }
    }
    return worst_of(look, looks, match_probability(pmf, vocab));
}

/* The fewest hits whose upper tail is at most the level; or, on the other side, whose lower tail is above it. */
static uint64_t fewest(uint64_t pairs, double probability, double level, bool lower)
{
    uint64_t low = 0, high = pairs + 1;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const struct binomial_tails tails = binomial_test(middle, pairs, probability);
        if (lower ? tails.lower.p > level : tails.upper.p <= level)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct match_critical match_critical(uint64_t pairs, double probability, double level)
{
    const uint64_t most = fewest(pairs, probability, level, false);
    const uint64_t above = fewest(pairs, probability, level, true);
    return (struct match_critical){(int64_t)most, (int64_t)above - 1,
                                   most > pairs ? 0 : binomial_test(most, pairs, probability).upper.p,
                                   above < 1 ? 0 : binomial_test(above - 1, pairs, probability).lower.p};
}

double match_detectable_most(uint64_t pairs, double probability, double level, double power)
{
    const int64_t most = match_critical(pairs, probability, level).most;
    return (uint64_t)most > pairs ? NAN : clopper_pearson_upper((double)most - 1, (double)pairs, 1 - power);
}

double match_detectable_least(uint64_t pairs, double probability, double level, double power)
{
    const int64_t least = match_critical(pairs, probability, level).least;
    return least < 0 ? NAN : clopper_pearson_lower((double)least + 1, (double)pairs, 1 - power);
}
