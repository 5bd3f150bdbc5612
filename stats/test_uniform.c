/* test_uniform.c: the uniformity test against known quantiles and its own false alarms; the error budget's
 * sums. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/error_budget.h"
#include "stats/tests.h"
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

/* A grid of n values whose largest distance from uniform is `distance`. */
static double p_of_distance(size_t n, double distance)
{
    static double p[100000];
    for (size_t i = 0; i < n; i++)
        p[i] = fmin(1, (double)i / (double)n + distance);
    return uniform_test(p, n);
}

static void test_known_quantiles(void **state)
{
    (void)state;
    /* Kolmogorov's law: 1.3581 at 5 %, 1.6276 at 1 %, 1.9495 at 0.1 %, 0.8276 at one half. */
    const double quantile[] = {0.82757, 1.35810, 1.62762, 1.94947}, tail[] = {0.5, 0.05, 0.01, 0.001};
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(p_of_distance(100000, quantile[i] / sqrt(100000)) / tail[i] - 1) < 1e-2);
    /* Tables for n = 20 (Massey 1951): 0.294 at 5 %, 0.352 at 1 %. */
    assert_true(fabs(p_of_distance(20, 0.294) / 0.05 - 1) < 0.03);
    assert_true(fabs(p_of_distance(20, 0.352) / 0.01 - 1) < 0.05);
}

static void test_false_alarms(void **state)
{
    (void)state;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    double p[30];
    int trials = 40000, hits[2] = {0, 0};
    for (int t = 0; t < trials; t++) {
        for (size_t i = 0; i < 30; i++)
            p[i] = gsl_rng_uniform(generator);
        double tail = uniform_test(p, 30);
        hits[0] += tail <= 0.5;
        hits[1] += tail <= 0.01;
    }
    assert_true(fabs(hits[0] - 0.5 * trials) < 0.02 * trials);
    assert_true(fabs(hits[1] - 0.01 * trials) < 4 * sqrt(0.01 * trials) + 0.0005 * trials);
    gsl_rng_free(generator);
}

static void test_edges(void **state)
{
    (void)state;
    double same[4] = {0.3, 0.3, 0.3, 0.3}, order[3] = {0.9, 0.1, 0.5}, bad[2] = {0.5, 1.5},
           nan[2] = {0.5, NAN};
    double zeros[200] = {0};
    assert_true(uniform_test(same, 0) == 1);
    assert_true(uniform_test(same, 4) < 0.05);
    assert_true(uniform_test(zeros, 200) < 1e-12);
    assert_true(uniform_test(order, 3) > 0.5);
    assert_true(order[0] == 0.1 && order[2] == 0.9); /* sorted in place */
    assert_true(isnan(uniform_test(bad, 2)) && isnan(uniform_test(nan, 2)));
}

/* Five equal values at x lie 1 - x above the uniform law: exp(-10 (1 - x)^2). What is too large does not matter. */
static void test_one_side(void **state)
{
    (void)state;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    double same[5] = {0.3, 0.3, 0.3, 0.3, 0.3}, ones[50], p[30], bad[1] = {-0.1};
    int hits = 0;
    assert_true(fabs(uniform_test_small(same, 5) / exp(-10 * 0.49) - 1) < 1e-12);
    for (size_t i = 0; i < 50; i++)
        ones[i] = 1;
    assert_true(uniform_test_small(ones, 50) == 1 && uniform_test(ones, 50) < 1e-12);
    assert_true(uniform_test_small(ones, 0) == 1 && isnan(uniform_test_small(bad, 1)));
    for (int t = 0; t < 20000; t++) {
        for (size_t i = 0; i < 30; i++)
            p[i] = gsl_rng_uniform(generator);
        hits += uniform_test_small(p, 30) <= 0.01;
    }
    assert_true(hits <= 200 + 4 * 14 && hits > 100);
    gsl_rng_free(generator);
}

static void test_budget(void **state)
{
    (void)state;
    assert_true(budget_level(1, STATISTIC_PLAIN, 200) == 1e-4 &&
                budget_level(1, STATISTIC_FINE, 200) == 1e-4);
    assert_true(fabs(budget_level(2, STATISTIC_PLAIN, 200) - 2.5e-5) < 1e-18);
    assert_true(budget_level(2, STATISTIC_FINE, 200) == 1e-4);
    for (size_t plain = 1; plain < 5000; plain += 7)
        assert_true(fabs(budget_total(plain, BUDGET_FINE_MAX) - 1e-6) < 1e-18);
    assert_true(fabs(budget_total(300, 0) - 5e-7) < 1e-18 && fabs(budget_total(0, 50) - 5e-7) < 1e-18);
    assert_true(budget_total(0, 0) == 0 && isnan(budget_level(3, STATISTIC_PLAIN, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_quantiles), cmocka_unit_test(test_false_alarms),
        cmocka_unit_test(test_edges),           cmocka_unit_test(test_one_side),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests_name("stats/uniform", tests, NULL, NULL);
}
