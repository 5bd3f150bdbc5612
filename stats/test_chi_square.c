/* test_chi_square.c: Pearson's test against exact enumeration, known statistics and simulation.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

static void assert_close(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not within %g of %.17g", value, relative, expected);
}

/* Mendel's peas, 9 : 3 : 3 : 1: X^2 = 0.470 and p = 0.925 in every textbook. */
static void test_mendel(void **state)
{
    (void)state;
    uint64_t peas[4] = {315, 101, 108, 32};
    double law[4] = {9.0 / 16, 3.0 / 16, 3.0 / 16, 1.0 / 16};
    struct chi_square test = chi_square_test(peas, law, 4);
    assert_close(test.statistic, 0.470024, 1e-6);
    assert_true(test.df == 3);
    assert_close(test.upper.p, 0.925, 5e-3); /* three moments at these draws, not the limit */
    assert_close(test.lower.p, 0.0753, 0.05);
}

static double pair_probability(unsigned k, unsigned draws, double p)
{
    return gsl_ran_binomial_pdf(k, p, draws);
}

/* Two cells: both tails are sums over all outcomes at least, or at most, as far from the mean. */
static void test_two_cells_are_exact(void **state)
{
    (void)state;
    const double p[] = {0.5, 0.3, 0.05, 1.0 / 3};
    const unsigned draws[] = {1, 40, 41, 300};
    for (size_t c = 0; c < 16; c++) {
        unsigned n = draws[c / 4];
        double q = p[c % 4], law[2] = {q, 1 - q};
        for (unsigned k = 0; k <= n; k++) {
            uint64_t observed[2] = {k, n - k};
            double far = fabs(k - n * q), least = 0, beyond = 0;
            for (unsigned j = 0; j <= n; j++) {
                double distance = fabs(j - n * q);
                least += distance >= far - 1e-9 ? pair_probability(j, n, q) : 0;
                beyond += distance > far + 1e-9 ? pair_probability(j, n, q) : 0;
            }
            struct chi_square test = chi_square_test(observed, law, 2);
            assert_close(test.upper.p, least, 1e-10);
            assert_true(fabs(test.upper.p_beyond - beyond) < 1e-12 + 1e-10 * beyond);
            assert_true(fabs(test.lower.p - (1 - beyond)) < 1e-12);
            assert_true(fabs(test.lower.p_beyond - (1 - least)) < 1e-12);
        }
    }
}

/* P(p <= level) under the law of three cells, summed over all outcomes of both light counts. */
static void three_cell_size(double light, unsigned draws, double level, double *upper, double *lower)
{
    double law[3] = {light, light, 1 - 2 * light}, mean = draws * light, reach = 9 * sqrt(mean) + 20;
    *upper = *lower = 0;
    for (unsigned a = mean > reach ? (unsigned)(mean - reach) : 0; a < mean + reach && a <= draws; a++) {
        double first = gsl_ran_binomial_pdf(a, light, draws);
        for (unsigned b = mean > reach ? (unsigned)(mean - reach) : 0; b < mean + reach && a + b <= draws;
             b++) {
            uint64_t observed[3] = {a, b, draws - a - b};
            double probability = first * gsl_ran_binomial_pdf(b, light / (1 - light), draws - a);
            if (probability < 1e-16)
                continue;
            struct chi_square test = chi_square_test(observed, law, 3);
            *upper += test.upper.p <= level ? probability : 0;
            *lower += test.lower.p <= level ? probability : 0;
        }
    }
}

/* The worst case of few cells: two light ones exactly at the floor beside a heavy one. */
static void test_size_with_light_cells(void **state)
{
    (void)state;
    const struct {
        double light;
        unsigned draws;
        double level;
    } cases[] = {{0.01, 2000, 1e-2},  {0.01, 2000, 1e-3},  {0.01, 2000, 1e-4}, {0.01, 5000, 1e-4},
                 {0.01, 5000, 2e-5},  {0.01, 5000, 1e-5},  {0.1, 200, 1e-4},   {0.1, 500, 2e-5},
                 {1.0 / 3, 60, 1e-4}, {1.0 / 3, 150, 2e-5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double upper, lower;
        three_cell_size(cases[i].light, cases[i].draws, cases[i].level, &upper, &lower);
        assert_true(upper <= 2 * cases[i].level && upper >= 0.3 * cases[i].level);
        assert_true(lower <= 2 * cases[i].level);
    }
}

static void test_too_regular(void **state)
{
    (void)state;
    uint64_t observed[20], tie[2] = {100000, 100000};
    double law[20], half[2] = {0.5, 0.5};
    for (size_t k = 0; k < 20; k++) {
        law[k] = 0.05;
        observed[k] = 500;
    }
    struct chi_square test = chi_square_test(observed, law, 20);
    assert_true(test.lower.p < 1e-20 && test.upper.p == 1);
    observed[0] += 20; /* and a little less regular: X^2 = 1.6 */
    observed[1] -= 20;
    test = chi_square_test(observed, law, 20);
    assert_close(test.lower.p, gsl_cdf_chisq_P(1.6, 19), 1e-9);
    /* On a tie of two an exact half is no surprise. */
    test = chi_square_test(tie, half, 2);
    assert_close(test.lower.p, 1 / sqrt(M_PI * 1e5), 1e-5);
    test = two_sample_test(tie, tie, 2); /* given its margins the table's count has variance 25,000 */
    assert_close(test.lower.p, 1 / sqrt(2 * M_PI * 25000), 1e-5);
}

static void test_no_test(void **state)
{
    (void)state;
    uint64_t some[2] = {5, 7}, none[2] = {0, 0};
    double law[2] = {0.4, 0.6};
    struct chi_square test = chi_square_test(some, law, 1);
    assert_true(test.df == 0 && test.upper.p == 1 && test.lower.p == 1);
    test = chi_square_test(none, law, 2);
    assert_true(test.df == 0 && test.upper.p == 1 && test.lower.p == 1);
    test = two_sample_test(some, none, 2);
    assert_true(test.df == 0 && test.upper.p == 1);
    test = two_sample_test(some, some, 1);
    assert_true(test.df == 0 && test.upper.p == 1);
}

static void test_far_out_is_not_a_failure(void **state)
{
    (void)state;
    for (size_t cells = 2; cells < 20000; cells = cells * 3) {
        uint64_t *observed = calloc(cells, sizeof *observed);
        double *law = malloc(cells * sizeof *law);
        for (size_t k = 0; k < cells; k++)
            law[k] = 1 / (double)cells;
        for (uint64_t all = 1; all <= 1000000000; all *= 10) {
            observed[0] = all;
            struct chi_square test = chi_square_test(observed, law, cells);
            assert_true(test.upper.p >= 0 && test.upper.p <= 1 && test.lower.p >= 0 && test.lower.p <= 1);
        }
        free(observed);
        free(law);
    }
}

static void test_two_sample_worst(void **state)
{
    (void)state;
    const uint64_t a[] = {0, 10, 500}, b[] = {10, 0, 500}, none[] = {0, 0, 0};
    assert_close(two_sample_worst(a, b, 3), 6 * ldexp(1, -10),
                 1e-12); /* ten heads of ten; 3 cells, 2 sides */
    assert_close(two_sample_worst(a, b, 2), 4 * ldexp(1, -10), 1e-12);
    assert_true(two_sample_worst(a, a, 3) == 1 && two_sample_worst(a, none, 3) == 1);
    assert_true(two_sample_worst(b, b, 2) == 1); /* one live cell */
}

static void test_two_sample_statistic(void **state)
{
    (void)state;
    uint64_t a[3] = {30, 0, 70}, b[3] = {45, 0, 55}, twice[3] = {60, 0, 140};
    struct chi_square test = two_sample_test(a, b, 3); /* N (ad - bc)^2 / products of margins */
    assert_close(test.statistic, 200 * pow(30 * 55 - 70 * 45, 2) / (100.0 * 100 * 75 * 125), 1e-12);
    assert_true(test.df == 1);
    assert_close(test.upper.p, gsl_cdf_chisq_Q(4.8, 1), 1e-12);
    test = two_sample_test(a, twice, 3);
    assert_true(test.statistic < 1e-20);
    /* Unequal arms, against the statistic written as sums over both rows. */
    uint64_t c[2] = {10, 20}, d[2] = {100, 150};
    double expected = 0, pooled[2] = {110 / 280.0, 170 / 280.0};
    for (size_t k = 0; k < 2; k++)
        expected += pow((double)c[k] - 30 * pooled[k], 2) / (30 * pooled[k]) +
                    pow((double)d[k] - 250 * pooled[k], 2) / (250 * pooled[k]);
    assert_close(two_sample_test(c, d, 2).statistic, expected, 1e-12);
}

static void test_detectable(void **state)
{
    (void)state;
    /* One degree of freedom: power is P(|Z + root| > 4.8916). */
    double root = sqrt(chi_square_detectable(1, 1, 1e-6, 0.999)), c = gsl_cdf_ugaussian_Pinv(1 - 5e-7);
    assert_close(gsl_cdf_ugaussian_Q(c - root) + gsl_cdf_ugaussian_P(-c - root), 0.999, 1e-7);
    assert_close(chi_square_detectable(1, 1000, 1e-6, 0.999), root * root / 1000, 1e-12);
    /* Nineteen, by simulation. */
    double shift = sqrt(chi_square_detectable(19, 1, 0.01, 0.9)), critical = gsl_cdf_chisq_Qinv(0.01, 19);
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    int seen = 0, trials = 100000;
    for (int i = 0; i < trials; i++) {
        double z = gsl_ran_ugaussian(generator) + shift;
        seen += z * z + gsl_ran_chisq(generator, 18) > critical;
    }
    assert_true(fabs(seen / (double)trials - 0.9) < 4 * sqrt(0.09 / trials));
    gsl_rng_free(generator);
    /* Many cells: about 7.84 sqrt(2 df). */
    assert_close(chi_square_detectable(81000, 1, 1e-6, 0.999), 7.84 * sqrt(2 * 81000.0), 0.03);
    assert_true(isinf(chi_square_detectable(0, 100, 1e-6, 0.999)));
    assert_true(isinf(chi_square_detectable(5, 0, 1e-6, 0.999)));
    assert_true(chi_square_detectable(5, 100, 0.01, 0.005) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mendel),
        cmocka_unit_test(test_two_cells_are_exact),
        cmocka_unit_test(test_size_with_light_cells),
        cmocka_unit_test(test_too_regular),
        cmocka_unit_test(test_no_test),
        cmocka_unit_test(test_far_out_is_not_a_failure),
        cmocka_unit_test(test_two_sample_statistic),
        cmocka_unit_test(test_two_sample_worst),
        cmocka_unit_test(test_detectable),
    };
    return cmocka_run_group_tests_name("stats/chi_square", tests, NULL, NULL);
}
