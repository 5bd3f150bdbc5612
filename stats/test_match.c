/* test_match.c: the match statistic against every sequence there is, in integers, and against plain counting.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#define DRAWS_MAX 12

/* A law of whole weights, so that the probability of a sequence is a whole number over sum^draws. */
struct law {
    size_t vocab;
    uint64_t weight[3], sum;
};
static const struct law laws[] = {
    {2, {1, 1}, 2}, {3, {1, 1, 1}, 3}, {2, {1, 2}, 3}, {3, {3, 1, 1}, 5}, {3, {1, 0, 1}, 2}};
#define LAWS (sizeof laws / sizeof *laws)

static uint64_t power(uint64_t base, size_t exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

/* Sequence number `index` in base vocab; its weight. */
static uint64_t sequence(const struct law *law, size_t draws, uint64_t index, int32_t *token)
{
    uint64_t weight = 1;
    for (size_t d = 0; d < draws; d++, index /= law->vocab) {
        token[d] = (int32_t)(index % law->vocab);
        weight *= law->weight[token[d]];
    }
    return weight;
}

static void fill(const struct law *law, double *pmf)
{
    for (size_t i = 0; i < law->vocab; i++)
        pmf[i] = (double)law->weight[i] / (double)law->sum;
}

/* Over all sequences, weights by number of equal pairs are those of a binomial, in whole numbers: with
 * s = sum w^2 and t = (sum w)^2, C(pairs, k) s^k (t - s)^(pairs - k) / t^pairs. */
static void check_binomial(const struct law *law, size_t draws, const uint64_t *by_equal, uint64_t pairs)
{
    uint64_t squares = 0, total = power(law->sum, draws), binomial = 1;
    for (size_t i = 0; i < law->vocab; i++)
        squares += law->weight[i] * law->weight[i];
    const uint64_t all = law->sum * law->sum, unequal = all - squares;
    for (uint64_t k = 0; k <= pairs; k++) {
        __extension__ typedef unsigned __int128 wide;
        assert_true((wide)by_equal[k] * power(all, pairs) ==
                    (wide)total * binomial * power(squares, k) * power(unequal, pairs - k));
        binomial = binomial * (pairs - k) / (k + 1);
    }
}

/* lanes stand for the lag: with one look only, its place is the statistic's. */
static void test_every_sequence_one_lag(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAWS; l++) {
        const size_t draws = laws[l].vocab == 2 ? 10 : 7;
        double pmf[3];
        fill(&laws[l], pmf);
        for (size_t lanes = 1; lanes <= 3; lanes++) {
            uint64_t by_equal[DRAWS_MAX + 1] = {0}, pairs = 0;
            const size_t steps = draws / lanes, used = steps * lanes;
            for (uint64_t index = 0; index < power(laws[l].vocab, used); index++) {
                int32_t token[DRAWS_MAX];
                uint64_t weight = sequence(&laws[l], used, index, token);
                struct match match = match_lags(token, steps, lanes, 1, pmf, laws[l].vocab);
                assert_true(match.looks == 1 && match.most.equal == match.least.equal);
                pairs = match.most.pairs;
                by_equal[match.most.equal] += weight;
            }
            const bool flat = laws[l].sum == 2 || laws[l].sum == laws[l].vocab;
            assert_true(pairs == (flat ? used - lanes : steps / 2 * lanes));
            check_binomial(&laws[l], used, by_equal, pairs);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct outcome {
    double p, mass;
};

/* P(p <= any value it takes) is at most that value: no false alarm more than the level. */
static void check_valid(struct outcome *outcome, size_t count)
{
    double mass = 0;
    qsort(outcome, count, sizeof *outcome, ascending);
    for (size_t i = 0; i < count; i++) {
        mass += outcome[i].mass;
        if (i + 1 == count || outcome[i + 1].p > outcome[i].p * (1 + 1e-12))
            assert_true(mass <= outcome[i].p * (1 + 1e-9));
    }
}

enum which { LAGS, BETWEEN, ROWS };

static struct match ask(enum which which, const int32_t *token, size_t draws, const double *pmf, size_t vocab)
{
    if (which == LAGS)
        return match_lags(token, draws, 1, draws, pmf, vocab);
    if (which == BETWEEN)
        return match_between(token, token + draws / 2, draws / 2, draws, pmf, vocab);
    return match_rows(token, draws / 4, 4, pmf, vocab);
}

static void test_every_sequence_all_places(void **state)
{
    (void)state;
    for (size_t l = 0; l < LAWS; l++) {
        const size_t draws = laws[l].vocab == 2 ? 12 : 8;
        const uint64_t count = power(laws[l].vocab, draws);
        struct outcome *outcome = malloc(count * sizeof *outcome);
        double pmf[3];
        fill(&laws[l], pmf);
        for (enum which which = LAGS; which <= ROWS; which++)
            for (int side = 0; side < 2; side++) {
                for (uint64_t index = 0; index < count; index++) {
                    int32_t token[DRAWS_MAX];
                    const uint64_t weight = sequence(&laws[l], draws, index, token);
                    const struct match match = ask(which, token, draws, pmf, laws[l].vocab);
                    assert_int_equal(match.looks, which == LAGS      ? draws / 2
                                                  : which == BETWEEN ? 1 + 2 * (draws / 4)
                                                                     : 6);
                    outcome[index] = (struct outcome){side ? match.lower.p : match.upper.p,
                                                      (double)weight / (double)power(laws[l].sum, draws)};
                }
                check_valid(outcome, count);
            }
        free(outcome);
    }
}

/* The place found must be one whose tail, by GSL's own binomial, is the least of all places'. */
static void check_worst(const struct match *match, const struct match_look *look, size_t looks)
{
    double upper = 1, lower = 1, p = match->probability;
    for (size_t i = 0; i < looks; i++) {
        const unsigned k = (unsigned)look[i].equal, n = (unsigned)look[i].pairs;
        upper = fmin(upper, k ? gsl_cdf_binomial_Q(k - 1, p, n) : 1);
        lower = fmin(lower, gsl_cdf_binomial_P(k, p, n));
    }
    assert_int_equal(match->looks, looks);
    assert_true(fabs(match->upper.p - fmin(1, upper * (double)looks)) <= 1e-9 * match->upper.p);
    assert_true(fabs(match->lower.p - fmin(1, lower * (double)looks)) <= 1e-9 * match->lower.p);
    const unsigned k = (unsigned)match->most.equal, n = (unsigned)match->most.pairs;
    assert_true(fabs((k ? gsl_cdf_binomial_Q(k - 1, p, n) : 1) - upper) <= 1e-9 * upper);
    assert_true(fabs(gsl_cdf_binomial_P((unsigned)match->least.equal, p, (unsigned)match->least.pairs) -
                     lower) <= 1e-9 * lower);
}

#define STEPS 300
static void test_against_plain_counting(void **state)
{
    (void)state;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    const double flat[5] = {0.2, 0.2, 0.2, 0.2, 0.2}, uneven[5] = {0.4, 0.3, 0, 0.2, 0.1};
    for (int trial = 0; trial < 12; trial++) {
        static int32_t token[STEPS], other[STEPS];
        static struct match_look look[STEPS + 1];
        const double *pmf = trial % 2 ? uneven : flat;
        const size_t lanes = trial % 3 == 2 ? 4 : 1, steps = STEPS / lanes;
        for (size_t d = 0; d < STEPS; d++) {
            token[d] = (int32_t)gsl_rng_uniform_int(generator, 5);
            other[d] = (int32_t)gsl_rng_uniform_int(generator, 5);
            if (trial > 3 && d >= 21 &&
                gsl_rng_uniform_int(generator, 3)) /* planted: a copy of what was 21 draws ago */
                token[d] = token[d - 21];
        }
        size_t looks = 0;
        for (size_t lag = 1; lag <= steps / 2; lag++) {
            look[looks] = (struct match_look){0};
            for (size_t t = 0; t + lag < steps; t++)
                for (size_t lane = 0; lane < lanes && (trial % 2 == 0 || t / lag % 2 == 0); lane++) {
                    look[looks].pairs++;
                    look[looks].equal += token[t * lanes + lane] == token[(t + lag) * lanes + lane];
                }
            looks++;
        }
        struct match match = match_lags(token, steps, lanes, STEPS, pmf, 5);
        check_worst(&match, look, looks);
        if (trial > 3 && lanes == 1)
            assert_true(match.upper.p < 1e-9 && match.most.lag == 21);
        looks = 0;
        for (long lag = -STEPS / 2; lag <= STEPS / 2; lag++, looks++) {
            look[looks] = (struct match_look){0};
            for (long t = 0; t < STEPS; t++)
                if (t + lag >= 0 && t + lag < STEPS) {
                    look[looks].pairs++;
                    look[looks].equal += token[t] == other[t + lag];
                }
        }
        match = match_between(token, other, STEPS, STEPS, pmf, 5);
        check_worst(&match, look, looks);
        looks = 0;
        for (size_t row = 0; row < 20; row++)
            for (size_t second = row + 1; second < 20; second++, looks++) {
                look[looks] = (struct match_look){0};
                for (size_t call = 0; call < STEPS / 20; call++) {
                    look[looks].pairs++;
                    look[looks].equal += token[call * 20 + row] == token[call * 20 + second];
                }
            }
        match = match_rows(token, STEPS / 20, 20, pmf, 5);
        check_worst(&match, look, looks);
    }
    gsl_rng_free(generator);
}

/* By hand: a constant sequence of 20 ids, 40 steps; lag 1 has 39 pairs, all equal: 20^-39, looked at 20 times.
 * A counter never repeats within 20 steps and always does after: lag 20 of 40 has 20 pairs, lag 1 misses 39. */
static void test_by_hand(void **state)
{
    (void)state;
    double flat[20];
    int32_t same[40] = {0}, counter[40];
    for (int i = 0; i < 40; i++) {
        flat[i % 20] = 0.05;
        counter[i] = i % 20;
    }
    struct match match = match_lags(same, 40, 1, MATCH_LAGS_MAX, flat, 20);
    assert_true(fabs(match.upper.p / (20 * pow(20, -39)) - 1) < 1e-9 && match.lower.p == 1);
    assert_true(match.looks == 20 && match.most.lag == 1 && match.most.pairs == 39 && match.most.equal == 39);
    match = match_lags(counter, 40, 1, MATCH_LAGS_MAX, flat, 20);
    assert_true(fabs(match.upper.p / (20 * pow(20, -20)) - 1) < 1e-9 && match.most.lag == 20);
    assert_true(match.least.lag == 1 && match.least.equal == 0);
    match = match_lags(counter, 40, 1, 1, flat, 20);
    assert_true(fabs(match.lower.p / pow(0.95, 39) - 1) < 1e-9 && match.upper.p == 1);
    match = match_between(counter, counter + 3, 37, 5, flat, 20);
    assert_true(match.most.lag == -3 && match.most.equal == 34 && match.looks == 11);
    match = match_rows(same, 1, 40, flat, 20);
    assert_true(match.looks == 780 && match.most.row >= 0 && match.most.row + match.most.lag < 40);
}

static void test_nothing_to_see(void **state)
{
    (void)state;
    const double pmf[2] = {0.5, 0.5}, certain[2] = {0, 1};
    const int32_t token[4] = {1, 1, 1, 1};
    struct match match = match_lags(token, 1, 1, 8, pmf, 2);
    assert_true(match.looks == 0 && match.upper.p == 1 && match.lower.p == 1);
    match = match_lags(token, 0, 0, 8, pmf, 2);
    assert_true(match.looks == 0);
    match = match_between(token, token, 0, 8, pmf, 2);
    assert_true(match.looks == 0);
    match = match_rows(token, 4, 1, pmf, 2);
    assert_true(match.looks == 0 && match.upper.p == 1);
    match = match_lags(token, 4, 1, 8, certain, 2); /* nothing is unlikely here */
    assert_true(match.upper.p == 1 && match.lower.p == 1);
}

/* Neighbours of the critical counts lie on either side of the level, by GSL's binomial. */
static void test_critical(void **state)
{
    (void)state;
    static const double probabilities[] = {0.5, 0.05, 1.0 / 257, 1.0 / 32768, 0.999};
    static const uint64_t pairs[] = {1, 7, 62, 500, 4096};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (double level = 1e-3; level > 1e-11; level /= 10) {
                const double p = probabilities[i];
                const unsigned n = (unsigned)pairs[j];
                struct match_critical found = match_critical(n, p, level);
                assert_true(found.most >= 1 && found.most <= (int64_t)n + 1 && found.least >= -1);
                assert_true(found.most == 1 || gsl_cdf_binomial_Q((unsigned)found.most - 2, p, n) > level);
                if (found.most <= (int64_t)n)
                    assert_true(found.upper <= level &&
                                fabs(gsl_cdf_binomial_Q((unsigned)found.most - 1, p, n) / found.upper - 1) <
                                    1e-9);
                assert_true(gsl_cdf_binomial_P((unsigned)(found.least + 1), p, n) > level);
                if (found.least >= 0)
                    assert_true(found.lower <= level &&
                                fabs(gsl_cdf_binomial_P((unsigned)found.least, p, n) / found.lower - 1) <
                                    1e-9);
            }
}

/* Copies of what was 7 draws ago, in nine of ten: every multiple of 7 has a tail that no double holds, and 7 is the worst. */
static void test_worst_of_the_impossible(void **state)
{
    (void)state;
    static int32_t token[20000];
    double flat[1000];
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < 1000; i++)
        flat[i] = 1e-3;
    for (size_t d = 0; d < 20000; d++)
        token[d] = d >= 7 && gsl_rng_uniform_int(generator, 10)
                       ? token[d - 7]
                       : (int32_t)gsl_rng_uniform_int(generator, 1000);
    const struct match match = match_lags(token, 20000, 1, 100, flat, 1000);
    assert_true(match.upper.p < 1e-300 && match.most.lag == 7);
    gsl_rng_free(generator);
}

/* At the chance found, the critical count is reached as often as the power says. */
static void test_detectable(void **state)
{
    (void)state;
    const struct match_critical critical = match_critical(200, 0.05, 1e-6);
    const double most = match_detectable_most(200, 0.05, 1e-6, 0.999);
    assert_true(most > 0.05);
    assert_true(fabs(gsl_cdf_binomial_Q((unsigned)critical.most - 1, most, 200) - 0.999) < 1e-9);
    assert_true(isnan(match_detectable_least(200, 0.05, 1e-6, 0.999)));
    const double least = match_detectable_least(1000, 0.05, 1e-6, 0.999);
    assert_true(least > 0 && least < 0.05);
    assert_true(fabs(gsl_cdf_binomial_P((unsigned)match_critical(1000, 0.05, 1e-6).least, least, 1000) -
                     0.999) < 1e-9);
    assert_true(isnan(match_detectable_most(1, 0.5, 1e-6, 0.999)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_sequence_one_lag),
        cmocka_unit_test(test_every_sequence_all_places),
        cmocka_unit_test(test_against_plain_counting),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_nothing_to_see),
        cmocka_unit_test(test_critical),
        cmocka_unit_test(test_detectable),
        cmocka_unit_test(test_worst_of_the_impossible),
    };
    return cmocka_run_group_tests_name("stats/match", tests, NULL, NULL);
}
