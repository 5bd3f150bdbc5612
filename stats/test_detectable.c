/* test_detectable.c: smallest effects against what a sampler with just that defect makes of the tests.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define ALPHA 1e-4
#define POWER 0.999

static void assert_close(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not within %g of %.17g", value, relative, expected);
}

static void test_normal(void **state)
{
    (void)state;
    assert_close(normal_detectable(ALPHA, POWER), 3.719016485455709 + 3.090232306167813, 1e-12); /* tables */
    assert_close(normal_detectable(0.5, 0.5) + 1, 1, 1e-12);
}

/* The exact test's power against a share that is off by just the factor told: 0.999, as nearly as a root of counts is
 * normal. Poisson tails stand for the binomial's. */
static void test_share(void **state)
{
    (void)state;
    const double expected[] = {100, 1000, 1e5};
    for (size_t i = 0; i < 3; i++) {
        double e = expected[i], more = e * share_detectable_upper(e, ALPHA, POWER),
               less = e * share_detectable_lower(e, ALPHA, POWER);
        unsigned above = (unsigned)e, below = (unsigned)e;
        while (gsl_cdf_poisson_Q(above - 1, e) > ALPHA) /* P(X >= above) */
            above++;
        while (below > 0 && gsl_cdf_poisson_P(below, e) > ALPHA)
            below--;
        double missed[2] = {gsl_cdf_poisson_P(above - 1, more), gsl_cdf_poisson_Q(below, less)};
        for (int side = 0; side < 2; side++)
            if (!(missed[side] > 0.3e-3 && missed[side] < 3e-3))
                fail_msg("expected %g: missed %g times", e, missed[side]);
    }
    /* Of 11 draws expected even none at all is missed now and then: 2 sqrt(11) is below 6.81. Of 12, 6.93 is not. */
    assert_true(isnan(share_detectable_lower(11, ALPHA, POWER)));
    assert_true(share_detectable_lower(12, ALPHA, POWER) < 0.01);
}

/* z of a contrast under the law that a defect of just this size makes, as a mean over draws. */
static double z_under(const double *other, const double *pmf, const double *h, size_t vocab, double draws)
{
    double mean = 0, square = 0, now = 0;
    for (size_t i = 0; i < vocab; i++) {
        mean += pmf[i] * h[i];
        square += pmf[i] * h[i] * h[i];
        now += other[i] * h[i];
    }
    return fabs(now - mean) / sqrt(square - mean * mean) * sqrt(draws);
}

static void test_contrast_effects(void **state)
{
    (void)state;
    enum { VOCAB = 50 };
    double pmf[VOCAB], h[VOCAB], other[VOCAB], sum = 0, draws = 1e9, live = VOCAB - 1;
    for (size_t i = 0; i < VOCAB; i++)
        sum += pmf[i] = i == 7 ? 0 : 1 / (double)(i + 1);
    for (size_t i = 0; i < VOCAB; i++) {
        pmf[i] /= sum;
        h[i] = i == 7 ? 1e9 : log(pmf[i]); /* where nothing can come, h may be anything */
    }
    double effect = contrast_detectable_temperature(pmf, h, VOCAB, draws, ALPHA, POWER);
    sum = 0;
    for (size_t i = 0; i < VOCAB; i++)
        sum += other[i] = i == 7 ? 0 : pow(pmf[i], 1 + effect);
    for (size_t i = 0; i < VOCAB; i++)
        other[i] /= sum;
    h[7] = 0;
    assert_close(z_under(other, pmf, h, VOCAB, draws), normal_detectable(ALPHA, POWER), 1e-3);

    for (size_t i = 0; i < VOCAB; i++)
        h[i] = i == 7 ? -1e9 : 1 / ((double)VOCAB * pmf[i]);
    effect = contrast_detectable_leak(pmf, h, VOCAB, draws, ALPHA, POWER);
    for (size_t i = 0; i < VOCAB; i++)
        other[i] = i == 7 ? 0 : (1 - effect) * pmf[i] + effect / live;
    h[7] = 0;
    assert_close(z_under(other, pmf, h, VOCAB, draws), normal_detectable(ALPHA, POWER), 1e-9);

    const double flat[2] = {0.5, 0.5}, same[2] = {1, 1};
    assert_true(isinf(contrast_detectable_temperature(flat, same, 2, 100, ALPHA, POWER)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_contrast_effects),
    };
    return cmocka_run_group_tests_name("stats/detectable", tests, NULL, NULL);
}
