/* test_total_variation.c: the distance, its mean, and the coverage of the bound, by enumeration and published
 * figures. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/total_variation.h"
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

static double *flat(size_t cells)
{
    double *mass = malloc(cells * sizeof *mass);
    for (size_t k = 0; k < cells; k++)
        mass[k] = 1 / (double)cells;
    return mass;
}

static double *zipf(size_t cells)
{
    double *mass = malloc(cells * sizeof *mass), sum = 0;
    for (size_t k = 0; k < cells; k++)
        sum += mass[k] = 1 / (double)(k + 1);
    for (size_t k = 0; k < cells; k++)
        mass[k] /= sum;
    return mass;
}

static void test_published_means(void **state)
{
    (void)state;
    /* What an exact sampler shows at 200,000 draws. */
    const struct {
        double *(*make)(size_t);
        size_t cells;
        double mean, rounding;
    } published[] = {{flat, 2, 0.0009, 5e-5},    {flat, 4, 0.0015, 5e-5},     {flat, 8, 0.0024, 5e-5},
                     {flat, 10, 0.0027, 5e-5},   {flat, 16, 0.0035, 5e-5},    {flat, 20, 0.0039, 5e-5},
                     {flat, 32768, 0.160, 5e-4}, {flat, 151936, 0.353, 5e-4}, {zipf, 151936, 0.188, 5e-4}};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        double *mass = published[i].make(published[i].cells);
        double mean = tv_expected(mass, published[i].cells, 200000);
        assert_true(fabs(mean - published[i].mean) <= published[i].rounding);
        /* The concentration bound; sd of diffuse laws published as 0.0006. */
        double deviation = tv_deviation(mass, published[i].cells, 200000);
        assert_true(deviation > 0.0004 && deviation <= 0.5 / sqrt(200000));
        free(mass);
    }
}

/* Calls visit(context, counts, probability) for each outcome of `draws` over four cells. */
static void each_outcome(const double *q, unsigned draws, void (*visit)(void *, const uint64_t *, double),
                         void *context)
{
    for (unsigned a = 0; a <= draws; a++) {
        for (unsigned b = 0; a + b <= draws; b++) {
            for (unsigned c = 0; a + b + c <= draws; c++) {
                unsigned n[4] = {a, b, c, draws - a - b - c};
                uint64_t counts[4] = {n[0], n[1], n[2], n[3]};
                double probability = gsl_ran_multinomial_pdf(4, q, n);
                if (probability > 0)
                    visit(context, counts, probability);
            }
        }
    }
}

struct plain {
    const double *mass;
    double mean, square;
};

static void visit_plain(void *context, const uint64_t *counts, double probability)
{
    struct plain *plain = context;
    double distance = tv_observed(counts, plain->mass, 4);
    plain->mean += probability * distance;
    plain->square += probability * distance * distance;
}

static void test_mean_by_enumeration(void **state)
{
    (void)state;
    const double laws[][4] = {{0.25, 0.25, 0.25, 0.25},
                              {0.7, 0.2, 0.05, 0.05},
                              {0.97, 0.01, 0.01, 0.01},
                              {0.5, 0.5 - 2e-9, 1e-9, 1e-9}};
    for (size_t i = 0; i < 4; i++) {
        for (unsigned draws = 1; draws <= 25; draws += 4) {
            struct plain plain = {laws[i], 0, 0};
            each_outcome(laws[i], draws, visit_plain, &plain);
            assert_true(fabs(tv_expected(laws[i], 4, draws) - plain.mean) < 1e-12);
            double deviation = sqrt(fmax(0, plain.square - plain.mean * plain.mean));
            assert_true(tv_deviation(laws[i], 4, draws) >= deviation * (1 - 1e-9));
        }
    }
}

struct coverage {
    const double *mass;
    double truth, alpha, missed[3];
    size_t cells; /* cells the bound knows; the rest is outside */
};

static void visit_coverage(void *context, const uint64_t *counts, double probability)
{
    struct coverage *coverage = context;
    uint64_t outside = coverage->cells < 4 ? counts[3] : 0;
    struct tv_bound bound = tv_upper_bound(counts, outside, coverage->mass, coverage->cells, coverage->alpha);
    assert_true(bound.upper == fmin(bound.clopper_pearson, bound.concentration));
    assert_true(bound.observed <= bound.upper && bound.upper <= 1);
    coverage->missed[0] += bound.upper < coverage->truth - 1e-12 ? probability : 0;
    coverage->missed[1] += bound.clopper_pearson < coverage->truth - 1e-12 ? probability : 0;
    coverage->missed[2] += bound.concentration < coverage->truth - 1e-12 ? probability : 0;
}

/* Exact probability that the bound falls short, over a grid of true laws, some of which draw ids of no cell.
 */
static void test_coverage_by_enumeration(void **state)
{
    (void)state;
    const double masses[][4] = {{0.25, 0.25, 0.25, 0.25}, {0.7, 0.2, 0.08, 0.02}, {0.98, 0.015, 0.005, 0}};
    const double truths[][4] = {{0.25, 0.25, 0.25, 0.25}, {0.97, 0.01, 0.01, 0.01}, {0.4, 0.3, 0.2, 0.1},
                                {0.1, 0.1, 0.1, 0.7},     {0.9, 0.1, 0, 0},         {0.34, 0.33, 0.33, 0}};
    const double alphas[] = {0.2, 0.05, 1e-3};
    double worst = 0;
    for (size_t m = 0; m < 3; m++) {
        for (size_t t = 0; t < 6; t++) {
            for (size_t a = 0; a < 3; a++) {
                struct coverage coverage = {masses[m], 0, alphas[a], {0, 0, 0}, masses[m][3] > 0 ? 4 : 3};
                for (size_t k = 0; k < 4; k++)
                    coverage.truth += fabs(truths[t][k] - masses[m][k]) / 2;
                each_outcome(truths[t], 18, visit_coverage, &coverage);
                assert_true(coverage.missed[0] <= alphas[a]);
                assert_true(coverage.missed[1] <= alphas[a] / 2 && coverage.missed[2] <= alphas[a] / 2);
                worst = fmax(worst, coverage.missed[0] / alphas[a]);
            }
        }
    }
    assert_true(worst > 0); /* a bound of 1 would be no bound */
}

static void test_outside_counts(void **state)
{
    (void)state;
    uint64_t counts[3] = {5000, 3000, 2000};
    double mass[3] = {0.5, 0.3, 0.2}, before = 0;
    for (uint64_t outside = 0; outside < 5000; outside = 2 * outside + 1) {
        struct tv_bound bound = tv_upper_bound(counts, outside, mass, 3, 1e-6);
        double share = (double)outside / (double)(10000 + outside);
        assert_true(fabs(bound.observed - share) < 1e-12); /* half of what came in, half of what is missing */
        assert_true(bound.upper > before && bound.upper > share);
        before = bound.upper;
    }
    uint64_t none[3] = {0, 0, 0};
    assert_true(tv_upper_bound(none, 0, mass, 3, 1e-6).upper == 1);
    assert_true(tv_upper_bound(none, 1000, mass, 3, 1e-6).upper == 1);
}

static void test_observed(void **state)
{
    (void)state;
    uint64_t counts[3] = {6, 3, 1};
    double mass[3] = {0.5, 0.25, 0.25};
    assert_true(fabs(tv_observed(counts, mass, 3) - 0.15) < 1e-15);
    uint64_t none[3] = {0, 0, 0};
    assert_true(tv_observed(none, mass, 3) == 0);
}

/* The plan of the gate: an exact sampler is certified at these draws, and hardly ever at a third of them. */
static void test_draws_needed(void **state)
{
    (void)state;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    const size_t cells[] = {2, 20, 257};
    for (size_t i = 0; i < 3; i++) {
        double *mass = i < 2 ? flat(cells[i]) : zipf(cells[i]);
        double needed = tv_draws_needed(mass, cells[i], 0.01, 1e-6);
        assert_true(needed > 1e5 && needed < 1e6);
        int certified[2] = {0, 0}, trials = 150;
        for (int t = 0; t < 2 * trials; t++) {
            unsigned drawn[257], draws = (unsigned)(needed / (t % 2 ? 3 : 1));
            uint64_t counts[257];
            gsl_ran_multinomial(generator, cells[i], draws, mass, drawn);
            for (size_t k = 0; k < cells[i]; k++)
                counts[k] = drawn[k];
            certified[t % 2] += tv_upper_bound(counts, 0, mass, cells[i], 1e-6).upper <= 0.01;
        }
        assert_true(certified[0] >= trials - 2);
        assert_true(certified[1] <= 3);
        free(mass);
    }
    gsl_rng_free(generator);
    double head[1000];
    for (size_t k = 0; k < 1000; k++)
        head[k] = k == 77 ? 0.999 : 0.001 / 999;
    assert_true(tv_draws_needed(head, 1000, 0.01, 1e-6) <= 200000); /* what plan gate gives it */
    double *wide = zipf(1000);
    assert_true(tv_draws_needed(wide, 1000, 0.01, 1e-6) <= 1700000);
    assert_true(tv_draws_needed(wide, 1000, 1e-9, 1e-6) == 0);
    assert_true(tv_draws_needed(wide, 1000, 0, 1e-6) == 0);
    free(wide);
}

/* No count that 50,000 cells can show makes a limit fail. */
static void test_many_cells(void **state)
{
    (void)state;
    size_t cells = 50000;
    double *mass = flat(cells);
    uint64_t *counts = malloc(cells * sizeof *counts);
    for (uint64_t scale = 0; scale < 10000; scale = 9 * scale + 1) {
        for (size_t k = 0; k < cells; k++)
            counts[k] = k % 7 * scale;
        struct tv_bound bound = tv_upper_bound(counts, 0, mass, cells, 1e-6);
        assert_true(bound.clopper_pearson > 0.2 && bound.clopper_pearson <= 1);
        assert_true(bound.upper > 0.2 && bound.upper <= 1);
    }
    free(mass);
    free(counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_means),
        cmocka_unit_test(test_mean_by_enumeration),
        cmocka_unit_test(test_coverage_by_enumeration),
        cmocka_unit_test(test_outside_counts),
        cmocka_unit_test(test_observed),
        cmocka_unit_test(test_draws_needed),
        cmocka_unit_test(test_many_cells),
    };
    return cmocka_run_group_tests_name("stats/total_variation", tests, NULL, NULL);
}
