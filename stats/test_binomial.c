/* test_binomial.c: binomial tails and Clopper-Pearson limits against sums in long double, GSL and limiting
 * laws. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/binomial.h"
#include "stats/tests.h"
#include "stats/total_variation.h"
#include <gsl/gsl_cdf.h>
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

/* P(first <= X <= last), each probability built by multiplication alone. */
static double plain_sum(unsigned first, unsigned last, unsigned draws, long double p)
{
    long double sum = 0;
    for (unsigned k = first; k <= last; k++) {
        long double term = 1;
        for (unsigned i = 0; i < k; i++)
            term *= (long double)(draws - i) / (long double)(i + 1) * p;
        for (unsigned i = k; i < draws; i++)
            term *= 1 - p;
        sum += term;
    }
    return (double)sum;
}

static void test_small_tails_are_exact(void **state)
{
    (void)state;
    const double p[] = {1e-12, 1e-6, 0.01, 0.3, 0.5, 0.77, 0.999};
    const unsigned draws[] = {1, 2, 7, 40};
    for (size_t i = 0; i < 7; i++) {
        for (size_t d = 0; d < 4; d++) {
            for (unsigned k = 0; k <= draws[d]; k++) {
                struct binomial_tails tails = binomial_test(k, draws[d], p[i]);
                double above = plain_sum(k, draws[d], draws[d], p[i]),
                       below = plain_sum(0, k, draws[d], p[i]);
                assert_close(tails.upper.p, above, 1e-12);
                assert_close(tails.lower.p, below, 1e-12);
                double beyond = k < draws[d] ? plain_sum(k + 1, draws[d], draws[d], p[i]) : 0;
                if (beyond < 0.5 && k >= draws[d] * p[i])
                    assert_close(tails.upper.p_beyond, beyond, 1e-12);
                beyond = k > 0 ? plain_sum(0, k - 1, draws[d], p[i]) : 0;
                if (beyond < 0.5 && k < draws[d] * p[i])
                    assert_close(tails.lower.p_beyond, beyond, 1e-12);
            }
        }
    }
}

static void test_large_tails(void **state)
{
    (void)state;
    /* A billion fair draws: the normal law with half a count of continuity, to its kurtosis of -2e-9. */
    double z = (500100000 - 0.5 - 5e8) / sqrt(2.5e8);
    assert_close(binomial_test(500100000, 1000000000, 0.5).upper.p, gsl_cdf_ugaussian_Q(z), 1e-6);
    assert_close(binomial_test(499900000, 1000000000, 0.5).lower.p, gsl_cdf_ugaussian_Q(z), 1e-6);
    assert_close(binomial_test(500000000, 1000000000, 0.5).upper.p, 0.5 + 0.5 / sqrt(M_PI * 5e8), 1e-9);
    /* A billion draws of a rare id: the Poisson law. */
    double rare = 1e-15 / 120 * exp(-1e-3) * (1 + 1e-3 / 6 + 1e-6 / 42);
    assert_close(binomial_test(5, 1000000000, 1e-12).upper.p, rare, 1e-7);
    assert_close(binomial_test(0, 1000000000, 4e-8).lower.p, exp(1e9 * log1p(-4e-8)), 1e-12);
    assert_close(binomial_test(0, 1000000000, 1e-12).upper.p_beyond, -expm1(-1e-3), 1e-10);
    assert_close(binomial_test(1000000, 1000000, 0.999999).upper.p, exp(1e6 * log(0.999999)), 1e-9);
    /* GSL's own, where its counts fit. */
    for (unsigned k = 3300; k < 3900; k += 50) {
        assert_close(binomial_test(k, 10000, 0.36).upper.p, gsl_cdf_binomial_Q(k - 1, 0.36, 10000), 1e-9);
        assert_close(binomial_test(k, 10000, 0.36).lower.p, gsl_cdf_binomial_P(k, 0.36, 10000), 1e-9);
    }
}

static void test_edges(void **state)
{
    (void)state;
    assert_true(binomial_test(0, 0, 0.3).upper.p == 1 && binomial_test(0, 0, 0.3).lower.p == 1);
    assert_true(binomial_test(0, 9, 0).upper.p == 1 && binomial_test(0, 9, 0).lower.p == 1);
    assert_true(binomial_test(1, 9, 0).upper.p == 0 && binomial_test(1, 9, 0).lower.p == 1);
    assert_true(binomial_test(9, 9, 1).lower.p == 1 && binomial_test(8, 9, 1).lower.p == 0);
    assert_true(binomial_test(1000000000, 1000000000, 1e-12).upper.p == 0); /* underflows, does not fail */
    assert_true(isnan(binomial_test(10, 9, 0.5).upper.p));
    assert_true(isnan(binomial_test(1, 9, 1.5).upper.p) && isnan(binomial_test(1, 9, NAN).lower.p));
}

static void test_limits_solve_their_equation(void **state)
{
    (void)state;
    const double sides[] = {0.4, 0.05, 1e-3, 1e-6, 1e-10, 1e-14};
    const double draws[] = {1, 2, 13, 1000, 200000, 1e9};
    for (size_t s = 0; s < 6; s++) {
        for (size_t d = 0; d < 6; d++) {
            double before_lower = -1, before_upper = -1;
            for (double part = 0; part <= 20; part++) {
                double hits = floor(draws[d] * pow(part / 20, 3));
                double lower = clopper_pearson_lower(hits, draws[d], sides[s]);
                double upper = clopper_pearson_upper(hits, draws[d], sides[s]);
                assert_true(lower >= before_lower && upper >= before_upper);
                assert_true(lower >= 0 && lower <= hits / draws[d] && upper >= hits / draws[d] && upper <= 1);
                before_lower = lower;
                before_upper = upper;
                if (hits > 0) {
                    double tail = binomial_test((uint64_t)hits, (uint64_t)draws[d], lower).upper.p;
                    assert_close(tail, sides[s], 1e-9 + 1e-15 * draws[d]);
                }
                if (hits < draws[d]) { /* the rounding of a limit near 1 moves the tail by as much as this */
                    double tail = binomial_test((uint64_t)hits, (uint64_t)draws[d], upper).lower.p;
                    assert_close(tail, sides[s], 1e-9 + 1e-14 * draws[d] / (1 - upper));
                }
            }
        }
    }
}

static void test_limits_against_gsl(void **state)
{
    (void)state;
    assert_true(clopper_pearson_lower(0, 50, 0.01) == 0 && clopper_pearson_upper(50, 50, 0.01) == 1);
    assert_close(clopper_pearson_upper(0, 50, 0.01), 1 - pow(0.01, 0.02), 1e-12);
    assert_close(clopper_pearson_lower(50, 50, 0.01), pow(0.01, 0.02), 1e-12);
    for (double k = 1; k < 100; k += 7) {
        assert_close(clopper_pearson_lower(k, 100, 1e-3), gsl_cdf_beta_Pinv(1e-3, k, 101 - k), 1e-8);
        assert_close(clopper_pearson_upper(k, 100, 1e-3), gsl_cdf_beta_Qinv(1e-3, k + 1, 100 - k), 1e-8);
    }
    /* Every count that 50,000 cells and five million draws can bring, at the level of their certificate. */
    for (double k = 0; k <= 5000; k++) {
        assert_true(clopper_pearson_lower(k, 5e6, 5e-12) <= k / 5e6);
        assert_true(clopper_pearson_upper(k, 5e6, 5e-12) > k / 5e6);
    }
}

static void test_agreement_bounds(void **state)
{
    (void)state;
    const struct {
        uint64_t mismatches, rows;
        double bound;
    } published[] = {/* rows needed at 1e-6 */
                     {0, 1375, 1e-2},   {1, 1661, 1e-2},   {2, 1905, 1e-2},   {5, 2532, 1e-2},
                     {10, 3431, 1e-2},  {0, 13809, 1e-3},  {1, 16681, 1e-3},  {2, 19121, 1e-3},
                     {5, 25403, 1e-3},  {10, 34416, 1e-3}, {0, 138149, 1e-4}, {1, 166877, 1e-4},
                     {2, 191284, 1e-4}, {5, 254117, 1e-4}, {10, 344267, 1e-4}};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        assert_true(agreement_upper_bound(published[i].mismatches, published[i].rows, 1e-6) <=
                    published[i].bound);
        assert_true(agreement_upper_bound(published[i].mismatches, published[i].rows - 1, 1e-6) >
                    published[i].bound);
    }
    assert_true(fabs(agreement_upper_bound(0, 1024, 1e-6) - 0.0134) < 5e-5);
    assert_true(fabs(agreement_upper_bound(0, 1024, 0.05) - 0.0029) < 5e-5);
    assert_true(agreement_upper_bound(0, 0, 1e-6) == 1 && agreement_upper_bound(7, 7, 1e-6) == 1);
    assert_true(isnan(agreement_upper_bound(8, 7, 1e-6)) && isnan(agreement_upper_bound(0, 7, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_tails_are_exact),
        cmocka_unit_test(test_large_tails),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_limits_solve_their_equation),
        cmocka_unit_test(test_limits_against_gsl),
        cmocka_unit_test(test_agreement_bounds),
    };
    return cmocka_run_group_tests_name("stats/binomial", tests, NULL, NULL);
}
