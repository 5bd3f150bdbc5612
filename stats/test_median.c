/* test_median.c: the interval of a median holds it as often as it says, whatever the law; quartiles and lines by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "stats/median.h"

#define TRIALS 20000

static void quartiles_by_hand(void **state)
{
    (void)state;
    const double values[] = {5, 1, 4, 2, 3}, two[] = {1, 2};
    struct quartiles q = quartiles_of(values, 5);
    assert_true(q.first == 2 && q.median == 3 && q.third == 4);
    q = quartiles_of(two, 2);
    assert_true(q.first == 1.25 && q.median == 1.5 && q.third == 1.75);
    q = quartiles_of(two, 1);
    assert_true(q.first == 1 && q.median == 1 && q.third == 1);
}

/* n = 10: P(Bin(10, 1/2) <= 1) = 11/1024, so the second smallest and the second largest have 1 - 22/1024. */
static void interval_by_hand(void **state)
{
    (void)state;
    const double values[] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
    struct median_interval i = median_interval(values, 10, 0.97);
    assert_true(i.low == 2 && i.high == 9);
    assert_true(fabs(i.confidence - (1 - 22.0 / 1024)) < 1e-12);
    i = median_interval(values, 10, 1 - 22.0 / 1024 + 1e-9); /* a hair more: one further out */
    assert_true(i.low == 1 && i.high == 10);
    i = median_interval(values, 10, 0.999); /* 1 - 2/1024 is not enough: nothing is */
    assert_true(isinf(i.low) && isinf(i.high) && i.confidence == 0);
    i = median_interval(values, 1, 0.5);
    assert_true(i.confidence == 0);
}

/* Draws of a law whose median is 1: heavy-tailed, skewed, or with ties at the median. */
static double draw(const gsl_rng *rng, int law)
{
    switch (law) {
    case 0:
        return exp(3 * gsl_ran_ugaussian(rng));
    case 1:
        return 1 + gsl_ran_cauchy(rng, 0.2);
    case 2:
        return gsl_ran_exponential(rng, 1 / M_LN2);
    default: /* a clock with coarse ticks */
        return floor(2 * gsl_rng_uniform(rng) * 4 + 0.5) / 4;
    }
}

/* Misses on one side, against what the binomial law allows, four standard deviations up. */
static void coverage(void **state)
{
    (void)state;
    static const size_t sizes[] = {8, 15, 30, 101};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 38117);
    for (int law = 0; law < 4; law++)
        for (size_t s = 0; s < 4; s++) {
            double values[101];
            unsigned below = 0, above = 0;
            double promised = 0;
            for (int t = 0; t < TRIALS; t++) {
                for (size_t i = 0; i < sizes[s]; i++)
                    values[i] = draw(rng, law);
                const struct median_interval i = median_interval(values, sizes[s], 0.99);
                assert_true(i.confidence >= 0.99);
                promised = i.confidence;
                below += i.high < 1;
                above += i.low > 1;
            }
            const double side = (1 - promised) / 2, most = TRIALS * side + 4 * sqrt(TRIALS * side);
            if (below > most || above > most)
                fail_msg("law %d, %zu values: %u below and %u above of %d, at most %g expected", law,
                         sizes[s], below, above, TRIALS, most);
            if (law < 3) /* and it is not wider than it must be: continuous laws miss as often as promised */
                assert_true(below + above > 2 * (TRIALS * side - 4 * sqrt(TRIALS * side)));
        }
    gsl_rng_free(rng);
}

static void line_by_hand(void **state)
{
    (void)state;
    const double x[] = {1, 2, 4, 1000}, y[] = {7, 9, 13, 2005};
    struct line line = line_fit(x, y, 4);
    assert_true(fabs(line.slope - 2) < 1e-9 && fabs(line.intercept - 5) < 1e-6);
    assert_true(line.worst < 1e-9 && line.slope_error < 1e-6);
    const double off[] = {7, 9, 13, 4010};
    line = line_fit(x, off, 4); /* one point doubled: its residual is told */
    assert_true(line.worst > 0.1);
    assert_true(isnan(line_fit(x, y, 2).slope_error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quartiles_by_hand),
                                       cmocka_unit_test(interval_by_hand), cmocka_unit_test(coverage),
                                       cmocka_unit_test(line_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
