/* test_calibration_tables.h: the statistics that are calibrated, the levels, and the laws that are drawn
 * from.
 *
 * The laws are chosen where the approximations are worst: expectations at the floor, few cells, contrasts
 * near the limit of skewness.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SAMPLEGATE_TEST_CALIBRATION_TABLES_H
#define SAMPLEGATE_TEST_CALIBRATION_TABLES_H
#include "stats/error_budget.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define FINE_DIVISOR 100 /* fine tables take this many times fewer replicates */

#define LEVELS 5
static const double level[LEVELS] = {1e-2, 1e-3, 1e-4, 2e-5, 1e-5};

enum statistic {
    RANK_20,
    RANK_50,
    ID_20,
    ID_50,
    FINE_20,
    FINE_50,
    CONTRAST_LOG,
    CONTRAST_ID,
    BINOMIAL_HEAVIEST,
    BINOMIAL_LIGHTEST,
    TOKEN,
    TWO_SAMPLE_20,
    TWO_SAMPLE_50,
    STATISTICS
};

/* Levels to which each is used: floors of 20 serve the first stage, fine partitions never go below 1e-4. */
static const struct {
    const char *name;
    size_t levels;
} statistics[STATISTICS] = {
    {"chi-square, rank cells, floor 20", 3},
    {"chi-square, rank cells, floor 50", 5},
    {"chi-square, id cells, floor 20", 3},
    {"chi-square, id cells, floor 50", 5},
    {"chi-square, fine cells, floor 20", 3},
    {"chi-square, fine cells, floor 50", 3},
    {"contrast, log p", 5},
    {"contrast, id", 5},
    {"binomial, heaviest id", 5},
    {"binomial, lightest id", 5},
    {"token", 5},
    {"two-sample, rank cells, floor 20", 3},
    {"two-sample, rank cells, floor 50", 5},
};

struct table {
    const char *name;
    void (*fill)(double *pmf, size_t vocab);
    size_t vocab;
    unsigned draws;
    double fine; /* floor of a fine partition simulated cell by cell, or 0: all plain statistics on the ids */
    uint64_t divisor; /* of the replicates asked for */
};

static void fill_flat(double *pmf, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = 1;
}
static void fill_peaked(double *pmf, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = i == 0 ? 7 : i == 1 ? 2 : 1;
}
static void fill_zipf(double *pmf, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = 1 / (double)(i + 1);
}
static void fill_head(double *pmf, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = i == vocab / 2 ? 0.999 : 0.001 / (double)(vocab - 1);
}
static void fill_light(double *pmf, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = i == vocab / 2 ? 1 - 0.01 * (double)(vocab - 1) : 0.01;
}
static void fill_geometric(double *pmf, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = exp2(-(double)i);
}
static void fill_normal(double *pmf, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = exp(3 * gsl_cdf_ugaussian_Pinv(((double)i + 0.5) / (double)vocab));
}

static const struct table tables[] = {
    {"tie-2", fill_flat, 2, 2000, 0, 1},
    {"peaked-3", fill_peaked, 3, 200, 0, 1},
    {"peaked-3", fill_peaked, 3, 5000, 0, 1},
    {"uniform-20", fill_flat, 20, 400, 0, 1},
    {"uniform-20", fill_flat, 20, 1000, 0, 1},
    {"geometric-16", fill_geometric, 16, 6400, 0, 1},
    {"zipf-80", fill_zipf, 80, 20000, 0, 1},
    {"zipf-257", fill_zipf, 257, 20000, 0, 10},
    {"one-hot-100", fill_head, 100, 200000, 0, 1},
    {"two-light-3", fill_light, 3, 2000, 0, 1},
    {"two-light-3", fill_light, 3, 5000, 0, 1},
    {"zipf-1000", fill_zipf, 1000, 1700000, FLOOR_STAGE_TWO, FINE_DIVISOR},
    {"zipf-50257", fill_zipf, 50257, 100000, FLOOR_STAGE_ONE, FINE_DIVISOR},
    {"zipf-50257", fill_zipf, 50257, 200000, FLOOR_STAGE_TWO, FINE_DIVISOR},
    {"normal-151936", fill_normal, 151936, 80000, FLOOR_STAGE_ONE, FINE_DIVISOR},
    {"normal-151936", fill_normal, 151936, 160000, FLOOR_STAGE_TWO, FINE_DIVISOR},
    {"flat-151936", fill_flat, 151936, 20000, FLOOR_STAGE_ONE, FINE_DIVISOR},
};
#define TABLES (sizeof tables / sizeof *tables)
#endif
