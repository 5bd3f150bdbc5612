/* test_certificate.c: the certificate over all ids certifies an exact sampler at the draws it plans, and no law at the
 * distance it excludes. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/certificate.h"
#include "stats/partition.h"
#include "stats/total_variation.h"
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#define VOCAB 2000
#define EPSILON 0.05
#define ALPHA 1e-6
#define TRIALS 60

static double pmf[VOCAB], other[VOCAB];
static uint64_t counts[VOCAB];
static unsigned drawn[VOCAB];
static gsl_rng *generator;

static void zipf(void)
{
    double sum = 0;
    for (size_t i = 0; i < VOCAB; i++)
        sum += pmf[i] = 1 / (double)(i + 1);
    for (size_t i = 0; i < VOCAB; i++)
        pmf[i] /= sum;
}

static void flat(void)
{
    for (size_t i = 0; i < VOCAB; i++)
        pmf[i] = 1.0 / VOCAB;
}

static void draw(const double *law, double draws)
{
    gsl_ran_multinomial(generator, VOCAB, (unsigned)draws, law, drawn);
    for (size_t i = 0; i < VOCAB; i++)
        counts[i] = drawn[i];
}

static double bound(void)
{
    return tv_certificate(counts, pmf, VOCAB, EPSILON, ALPHA);
}

/* Neighbours trade a share of their mass: at the distance itself, invisible to bins of many ids. */
static void ripple(double distance)
{
    for (size_t i = 0; i < VOCAB; i += 2) {
        const double moved = 2 * distance * fmin(pmf[i], pmf[i + 1]);
        other[i] = pmf[i] + (i % 4 ? moved : -moved);
        other[i + 1] = pmf[i + 1] - (i % 4 ? moved : -moved);
    }
}

static double distance_of(const double *law)
{
    double sum = 0;
    for (size_t i = 0; i < VOCAB; i++)
        sum += fabs(law[i] - pmf[i]);
    return sum / 2;
}

static void exact_sampler(void **state)
{
    (void)state;
    void (*const laws[])(void) = {zipf, flat};
    for (size_t l = 0; l < 2; l++) {
        laws[l]();
        const double needed = tv_certificate_draws_needed(pmf, VOCAB, EPSILON, ALPHA);
        int certified[2] = {0, 0};
        assert_true(needed > 1000 && needed < 1e6);
        for (int t = 0; t < 2 * TRIALS; t++) {
            draw(pmf, needed / (t % 2 ? 3 : 1));
            certified[t % 2] += bound() <= EPSILON;
        }
        assert_true(certified[0] >= TRIALS - 2 && certified[1] <= 2);
    }
}

/* A planted defect that the bins certify and all ids do not. */
static void within_bins(void **state)
{
    (void)state;
    flat();
    ripple(0.08);
    assert_true(fabs(distance_of(other) - 0.08) < 1e-12);
    const double needed = tv_certificate_draws_needed(pmf, VOCAB, EPSILON, ALPHA);
    struct partition *bins = partition_bins(pmf, VOCAB);
    uint64_t observed[64];
    assert_non_null(bins);
    for (int t = 0; t < TRIALS; t++) {
        draw(other, needed);
        partition_count(bins, counts, observed);
        assert_true(tv_upper_bound(observed, 0, bins->mass, bins->cells, ALPHA).upper <= EPSILON);
        assert_true(bound() > EPSILON);
    }
    partition_free(bins);
}

/* One light id that takes what all lose, and one that is lost: at the distance, never certified. */
static void single_ids(void **state)
{
    (void)state;
    zipf();
    const double needed = tv_certificate_draws_needed(pmf, VOCAB, EPSILON, ALPHA);
    for (size_t i = 0; i < VOCAB; i++)
        other[i] = pmf[i] * (1 - EPSILON / (1 - pmf[VOCAB - 1]));
    other[VOCAB - 1] = pmf[VOCAB - 1] + EPSILON;
    for (int t = 0; t < TRIALS; t++) {
        draw(other, needed);
        assert_true(bound() > EPSILON);
    }
    for (size_t i = 0; i < VOCAB; i++)
        other[i] = i == 1 ? 0 : pmf[i] / (1 - pmf[1]);
    assert_true(distance_of(other) > EPSILON);
    for (int t = 0; t < TRIALS; t++) {
        draw(other, needed);
        assert_true(bound() > EPSILON);
    }
}

/* What comes with probability 0 counts, and an impossible share is never certified away. */
static void outside(void **state)
{
    (void)state;
    double before = 0;
    flat();
    pmf[0] = 0;
    for (size_t i = 1; i < VOCAB; i++)
        pmf[i] = 1.0 / (VOCAB - 1);
    draw(pmf, 200000);
    assert_int_equal(counts[0], 0);
    for (uint64_t extra = 0; extra < 100000; extra = 4 * extra + 100) {
        counts[0] = extra;
        const double share = (double)extra / (200000 + (double)extra);
        assert_true(bound() > before && bound() > share);
        before = bound();
    }
    assert_true(before > EPSILON);
}

static void edges(void **state)
{
    (void)state;
    zipf();
    for (size_t i = 0; i < VOCAB; i++)
        counts[i] = 0;
    assert_true(bound() == 1);
    counts[3] = 1;
    assert_true(bound() == 1);
    counts[3] = 1000000;
    assert_true(bound() > 0.5 && bound() <= 1);
    draw(pmf, 100000);
    assert_true(tv_certificate(counts, pmf, VOCAB, EPSILON, 0) == 1);
    assert_true(tv_certificate(counts, pmf, VOCAB, EPSILON, 1e-9) > bound());
    assert_true(tv_certificate_draws_needed(pmf, VOCAB, 0, ALPHA) == 0);
    assert_true(tv_certificate_draws_needed(pmf, VOCAB, 1e-7, ALPHA) == 0);
    assert_true(tv_certificate_draws_needed(pmf, VOCAB, 0.01, ALPHA) >
                tv_certificate_draws_needed(pmf, VOCAB, 0.02, ALPHA));
    const double one = 1;
    const uint64_t all = 100000;
    assert_true(tv_certificate(&all, &one, 1, EPSILON, ALPHA) < EPSILON);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_sampler), cmocka_unit_test(within_bins), cmocka_unit_test(single_ids),
        cmocka_unit_test(outside),       cmocka_unit_test(edges),
    };
    generator = gsl_rng_alloc(gsl_rng_mt19937);
    return cmocka_run_group_tests_name("stats/certificate", tests, NULL, NULL);
}
