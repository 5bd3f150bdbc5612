/* total_variation.c: distance of observed counts from a known pmf, and an upper bound on the true distance.
 *
 * Sees:         any deviation, spread over many cells or not.
 * Cannot see:   what happens within a cell; dependence between draws.
 * False alarms: the bound is below the true distance with probability at most alpha, by construction (no
 *               asymptotics): half of alpha for the exact limits of all cells, half for the
 *               concentration of the plug-in distance around its mean, which is never below the true
 *               distance (Jensen).
 * Source:       De Moivre's mean deviation (P. Diaconis and S. Zabell, Statistical Science 6, 1991);
 *               Clopper and Pearson (1934); McDiarmid (1989): one draw moves the plug-in distance by at
 *               most 1/n.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/total_variation.h"
#include "stats/binomial.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

#define CACHE 256 /* limits by count; a power of two */
#define CERTIFIED 0.999
#define DRAWS_MAX 1e12

double tv_observed(const uint64_t *observed, const double *mass, size_t cells)
{
    double draws = 0, sum = 0;
    for (size_t k = 0; k < cells; k++)
        draws += (double)observed[k];
    if (draws == 0)
        return 0;
    for (size_t k = 0; k < cells; k++)
        sum += fabs((double)observed[k] / draws - mass[k]);
    return sum / 2;
}

/* E|X - np| of a binomial count. */
static double mean_deviation(double p, double draws)
{
    double next = floor(draws * p) + 1;
    if (!(p > 0 && p < 1) || draws < 1)
        return 0;
    return 2 * next * (1 - p) * exp(binomial_log_pmf(fmin(next, draws), draws, p));
}

double tv_expected(const double *mass, size_t cells, double draws)
{
    double whole = floor(draws), sum = 0, mean = 0;
    for (size_t k = 0; k < cells; k++) {
        if (k == 0 || mass[k] != mass[k - 1]) /* in flat laws it is the same throughout */
            mean = mean_deviation(mass[k], whole);
        sum += mean;
    }
    return whole < 1 ? 0 : sum / (2 * whole);
}

double tv_deviation(const double *mass, size_t cells, double draws)
{
    double whole = floor(draws), poisson = 0, same = 0, mean = 0;
    if (whole < 1)
        return 0;
    for (size_t k = 0; k < cells; k++) {
        if (k == 0 || mass[k] != mass[k - 1])
            mean = mean_deviation(mass[k], whole);
        poisson += whole * mass[k] - mean * mean;
        same += mass[k] * mass[k];
    }
    /* Three bounds: the Poisson variance of the |X - np|, larger than the binomial's, which makes up for the
     * counts' dependence (diffuse laws); Efron and Stein's, since a redrawn token moves the distance by 1/n
     * only where it is another token (laws with one heavy token); and McDiarmid's. */
    double smooth = sqrt(fmax(0, poisson)) / (2 * whole), redrawn = sqrt(fmax(0, 1 - same) / (2 * whole));
    return fmin(fmin(smooth, redrawn), 1 / (2 * sqrt(whole)));
}

struct limits {
    double count, lower, upper; /* count -1: empty */
};

static struct limits limits_of(struct limits *cache, uint64_t count, double draws, double side)
{
    struct limits *slot = &cache[count % CACHE];
    if (slot->count != (double)count) {
        slot->count = (double)count;
        slot->lower = clopper_pearson_lower((double)count, draws, side);
        slot->upper = clopper_pearson_upper((double)count, draws, side);
    }
    return *slot;
}

struct tv_bound tv_upper_bound(const uint64_t *observed, uint64_t outside, const double *mass, size_t cells,
                               double alpha)
{
    struct limits cache[CACHE];
    double draws = (double)outside, worst = 0, plain = 0;
    for (size_t k = 0; k < cells; k++)
        draws += (double)observed[k];
    if (draws == 0 || !(alpha > 0 && alpha < 1))
        return (struct tv_bound){0, 1, 1, 1};
    for (size_t i = 0; i < CACHE; i++)
        cache[i].count = -1;
    /* Two limits a cell, and one for the mass outside all cells, which may be positive even if no draw showed
     * it. */
    double side = alpha / 2 / (2 * (double)cells + 1);
    for (size_t k = 0; k < cells; k++) {
        struct limits limit = limits_of(cache, observed[k], draws, side);
        worst += fmax(limit.upper - mass[k], mass[k] - limit.lower);
        plain += fabs((double)observed[k] / draws - mass[k]);
    }
    worst += clopper_pearson_upper((double)outside, draws, side);
    plain += (double)outside / draws;
    struct tv_bound bound = {plain / 2, 1, fmin(1, worst / 2), 1};
    bound.concentration = fmin(1, bound.observed + sqrt(log(2 / alpha) / (2 * draws)));
    bound.upper = fmin(bound.clopper_pearson, bound.concentration);
    return bound;
}

/* What tv_upper_bound will nearly always be below, for an exact sampler: the plug-in distance at its 99.9 %
 * quantile plus the width of the bound at the expected counts (Wilson's for Clopper-Pearson's). */
static double planned_bound(const double *mass, size_t cells, double draws, double alpha)
{
    double plain = tv_expected(mass, cells, draws) +
                   gsl_cdf_ugaussian_Pinv(CERTIFIED) * tv_deviation(mass, cells, draws);
    double z = gsl_cdf_ugaussian_Qinv(alpha / 2 / (2 * (double)cells + 1)), width = z * z / (2 * draws);
    for (size_t k = 0; k < cells; k++)
        width += 0.5 * (z * z / 2 + z * sqrt(draws * mass[k] * (1 - mass[k]) + z * z / 4)) / draws;
    return plain + fmin(width, sqrt(log(2 / alpha) / (2 * draws)));
}

double tv_draws_needed(const double *mass, size_t cells, double epsilon, double alpha)
{
    double low = 1, high = DRAWS_MAX;
    if (!(epsilon > 0 && alpha > 0 && alpha < 1) || planned_bound(mass, cells, high, alpha) > epsilon)
        return 0;
    while (high / low > 1.001) {
        double middle = sqrt(low * high);
        if (planned_bound(mass, cells, middle, alpha) > epsilon)
            low = middle;
        else
            high = middle;
    }
    return ceil(high);
}

double tv_live_tokens(double total_variation, double draws)
{
    return 1 + 2 * M_PI * draws * total_variation * total_variation;
}
