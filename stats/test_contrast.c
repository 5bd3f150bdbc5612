/* test_contrast.c: directed contrasts against closed forms and exact enumeration at the limit of skewness.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void assert_close(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not within %g of %.17g", value, relative, expected);
}

static void test_two_values(void **state)
{
    (void)state;
    /* h of two values is a binomial count: z = (hits - np) / sqrt(npq). */
    uint64_t counts[3] = {300, 500, 200};
    double pmf[3] = {0.25, 0.55, 0.2}, h[3] = {1, 0, 0};
    struct contrast test = contrast_test(counts, pmf, h, 3);
    double z = 50 / sqrt(1000 * 0.25 * 0.75);
    assert_close(test.z, z, 1e-12);
    assert_close(test.expected, 0.25, 1e-12);
    assert_close(test.observed, 0.3, 1e-12);
    assert_close(test.upper.p, gsl_cdf_ugaussian_Q(z), 1e-12);
    assert_close(test.lower.p, gsl_cdf_ugaussian_P(z), 1e-12);
    assert_true(test.upper.p == test.upper.p_beyond && test.lower.p == test.lower.p_beyond);
}

static void test_scale_and_shift(void **state)
{
    (void)state;
    uint64_t counts[5] = {12, 7, 31, 0, 9};
    double pmf[5] = {0.2, 0.1, 0.4, 0.1, 0.2}, h[5] = {0.3, -1, 2, 0.7, 5}, moved[5], turned[5];
    for (size_t i = 0; i < 5; i++) {
        moved[i] = 3 * h[i] + 1000;
        turned[i] = -h[i];
    }
    /* The definition, as written in the header. */
    double n = 59, sum = 0, first = 0, second = 0;
    for (size_t i = 0; i < 5; i++) {
        sum += h[i] * ((double)counts[i] - n * pmf[i]);
        first += pmf[i] * h[i];
        second += pmf[i] * h[i] * h[i];
    }
    struct contrast test = contrast_test(counts, pmf, h, 5);
    assert_close(test.z, sum / sqrt(n * (second - first * first)), 1e-12);
    assert_close(contrast_test(counts, pmf, moved, 5).z, test.z, 1e-9);
    assert_close(contrast_test(counts, pmf, turned, 5).z, -test.z, 1e-12);
    assert_close(contrast_test(counts, pmf, turned, 5).lower.p, test.upper.p, 1e-12);
    assert_close(contrast_skew(pmf, moved, 5, 59), contrast_skew(pmf, h, 5, 59), 1e-9);
    assert_close(contrast_skew(pmf, turned, 5, 59), contrast_skew(pmf, h, 5, 59), 1e-12);
}

static void test_skew(void **state)
{
    (void)state;
    double h[3] = {1, 0, -1};
    for (double p = 0.001; p < 0.5; p *= 2) {
        double pair[2] = {p, 1 - p}, q = 1 - p, n = 12345, kurtosis = (1 - 6 * p * q) / (n * p * q);
        double expected = (1 - 2 * p) / sqrt(n * p * q) + 1.2 * fmax(0, kurtosis);
        assert_close(contrast_skew(pair, h, 2, n), expected, 1e-9);
    }
    /* Rare and symmetric: no skewness, but 20 events are not normal at 1e-6. */
    double rare[3] = {1e-5, 1 - 2e-5, 1e-5};
    assert_true(contrast_skew(rare, h, 3, 1e5) > CONTRAST_SKEW_MAX);
    assert_true(contrast_skew(rare, h, 3, 1e8) < CONTRAST_SKEW_MAX);
}

static void test_constant_is_no_contrast(void **state)
{
    (void)state;
    static uint64_t counts[1000];
    static double pmf[1000], h[1000];
    for (size_t i = 0; i < 1000; i++) {
        pmf[i] = 1e-3;
        h[i] = log(pmf[i]);
        counts[i] = i < 500 ? 1000 : 0;
    }
    struct contrast test = contrast_test(counts, pmf, h, 1000);
    assert_true(test.z == 0 && test.upper.p == 1 && test.lower.p == 1);
    assert_true(isinf(contrast_skew(pmf, h, 1000, 1e6)));
}

static void test_masked_ids_and_no_draws(void **state)
{
    (void)state;
    uint64_t counts[4] = {30, 70, 5, 0}, none[4] = {0, 0, 0, 0};
    double pmf[4] = {0.4, 0.6, 0, 0}, h[4];
    for (size_t i = 0; i < 4; i++)
        h[i] = log(pmf[i]); /* minus infinity where masked */
    assert_close(contrast_test(counts, pmf, h, 4).z, (70 - 60) / sqrt(24.0), 1e-9);
    assert_true(isfinite(contrast_skew(pmf, h, 4, 100)));
    assert_true(contrast_test(none, pmf, h, 4).upper.p == 1);
}

/* Exact size of a two-valued contrast, at the least draws that the limit of skewness allows: within a
 * factor 2. */
static void test_size_at_the_limit(void **state)
{
    (void)state;
    const double levels[] = {1e-2, 1e-4, 2e-5, 1e-6}, ps[] = {0.4, 0.2, 0.05, 0.01};
    double h[2] = {1, 0};
    for (size_t i = 0; i < 4; i++) {
        double p = ps[i], law[2] = {p, 1 - p}, size[4] = {0, 0, 0, 0};
        unsigned draws = 1;
        while (contrast_skew(law, h, 2, draws) > CONTRAST_SKEW_MAX)
            draws += 1 + draws / 1000;
        unsigned reach = (unsigned)(8 * sqrt(draws * p)), first = (unsigned)(draws * p) - reach;
        first = draws * p > reach ? first : 0;
        for (unsigned k = first; k < draws * p + reach && k <= draws; k++) {
            uint64_t counts[2] = {k, draws - k};
            double upper = contrast_test(counts, law, h, 2).upper.p;
            for (size_t l = 0; l < 4; l++)
                size[l] += upper <= levels[l] ? gsl_ran_binomial_pdf(k, p, draws) : 0;
        }
        for (size_t l = 0; l < 4; l++)
            assert_true(size[l] <= 2 * levels[l] && size[l] >= 0.5 * levels[l]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_values),
        cmocka_unit_test(test_scale_and_shift),
        cmocka_unit_test(test_skew),
        cmocka_unit_test(test_constant_is_no_contrast),
        cmocka_unit_test(test_masked_ids_and_no_draws),
        cmocka_unit_test(test_size_at_the_limit),
    };
    return cmocka_run_group_tests_name("stats/contrast", tests, NULL, NULL);
}
