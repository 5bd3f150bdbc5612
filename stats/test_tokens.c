/* test_tokens.c: the worst id against a plain search, and the support test.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#define VOCAB 400

/* The screened search must find the same tails as one that computes every id's. */
static void check_against_all(const uint64_t *counts, const double *pmf)
{
    struct tail upper = {1, 1}, lower = {1, 1};
    uint64_t draws = 0;
    double live = 0;
    for (size_t id = 0; id < VOCAB; id++)
        draws += counts[id];
    for (size_t id = 0; id < VOCAB; id++) {
        if (pmf[id] > 0) {
            struct binomial_tails tails = binomial_test(counts[id], draws, pmf[id]);
            upper = tails.upper.p < upper.p ? tails.upper : upper;
            lower = tails.lower.p < lower.p ? tails.lower : lower;
            live++;
        }
    }
    struct token_tails found = token_test(counts, pmf, VOCAB);
    assert_true(found.upper.p == fmin(1, upper.p * live) && found.upper.p_beyond <= found.upper.p);
    assert_true(found.lower.p == fmin(1, lower.p * live) && found.lower.p_beyond <= found.lower.p);
    assert_true(pmf[found.upper_id] > 0 && pmf[found.lower_id] > 0);
    if (found.upper.p < 1)
        assert_true(binomial_test(counts[found.upper_id], draws, pmf[found.upper_id]).upper.p == upper.p);
    if (found.lower.p < 1)
        assert_true(binomial_test(counts[found.lower_id], draws, pmf[found.lower_id]).lower.p == lower.p);
}

static void test_against_every_id(void **state)
{
    (void)state;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    double pmf[VOCAB];
    unsigned drawn[VOCAB];
    uint64_t counts[VOCAB];
    for (unsigned trial = 0; trial < 300; trial++) {
        double sum = 0, power = 0.2 * (trial % 15);
        for (size_t id = 0; id < VOCAB; id++)
            sum += pmf[id] = id % 5 == 3 && trial % 2 ? 0 : pow((double)(id + 1), -power);
        for (size_t id = 0; id < VOCAB; id++)
            pmf[id] /= sum;
        unsigned draws = (unsigned)exp(gsl_ran_flat(generator, 0, 14));
        gsl_ran_multinomial(generator, VOCAB, draws, pmf, drawn);
        for (size_t id = 0; id < VOCAB; id++)
            counts[id] = drawn[id];
        if (trial % 3 == 0) /* one token planted */
            counts[gsl_rng_uniform_int(generator, VOCAB)] += trial;
        check_against_all(counts, pmf);
    }
    gsl_rng_free(generator);
}

static void test_last_id_unreachable(void **state)
{
    (void)state;
    static uint64_t counts[1000];
    static double pmf[1000];
    for (size_t id = 0; id < 1000; id++) {
        pmf[id] = 1e-3;
        counts[id] = id < 999 ? 20 : 0;
    }
    struct token_tails found = token_test(counts, pmf, 1000);
    assert_true(found.lower_id == 999);
    assert_true(fabs(found.lower.p / (1000 * pow(0.999, 19980)) - 1) < 1e-9);
    assert_true(found.upper.p == 1);
}

static void test_one_id_and_no_draws(void **state)
{
    (void)state;
    uint64_t counts[3] = {0, 5, 0}, none[3] = {0, 0, 0};
    double certain[3] = {0, 1, 0};
    struct token_tails found = token_test(counts, certain, 3);
    assert_true(found.upper.p == 1 && found.lower.p == 1 && found.upper_id == 1 && found.lower_id == 1);
    found = token_test(none, certain, 3);
    assert_true(found.upper.p == 1 && found.lower.p == 1);
}

static void test_support(void **state)
{
    (void)state;
    double pmf[6] = {0, 0.5, 0, 0.5, 0, 0};
    uint64_t clean[6] = {0, 3, 0, 4, 0, 0}, stray[6] = {0, 3, 2, 4, 0, 1};
    struct support found = support_test(clean, pmf, 6);
    assert_true(found.draws == 0 && found.id == 6);
    found = support_test(stray, pmf, 6);
    assert_true(found.draws == 3 && found.id == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_every_id),
        cmocka_unit_test(test_last_id_unreachable),
        cmocka_unit_test(test_one_id_and_no_draws),
        cmocka_unit_test(test_support),
    };
    return cmocka_run_group_tests_name("stats/tokens", tests, NULL, NULL);
}
