/* chi_square.c: Pearson's test of counts against a given law, both tails, and the smallest effect it could
 * see.
 *
 * Sees:         any deviation between cells; in the lower tail, counts too regular to be random.
 * Cannot see:   what happens within a cell; dependence between draws that leaves the counts alone.
 * False alarms: within a factor 2 of the level: down to 1e-4 where each expectation is at least 20, down
 *               to 1e-5 at 50 (golden/calibration/statistics.json). The plain chi-square law does not
 *               give that: with one to twelve light cells at 20 beside a heavy one it rejects 2.1 to 2.5
 *               times too often at 1e-4, and with X^2 = 0 up to 9 % of the time its lower tail is worse.
 *               G is not offered: with many cells at 20 it rejects a correct sampler.
 * Source:       Pearson (1900); the three moments of X^2 after J. B. S. Haldane, Biometrika 29 (1937).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/chi_square.h"
#include "stats/quiet.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

struct tail chi_square_lower(double statistic, double df, double log_mode)
{
    stats_quiet();
    double lower = gsl_cdf_chisq_P(statistic, df), mode = exp(log_mode);
    return (struct tail){fmin(1, lower + mode), fmax(0, lower - mode)};
}

/* Upper tail by the shifted gamma law with the mean, variance and third cumulant that X^2 has at these draws;
 * reciprocals is the sum of 1/E. For large expectations it is the chi-square law. */
static double fitted_tail(double statistic, double cells, double draws, double reciprocals)
{
    double mean = cells - 1;
    double variance = 2 * mean + reciprocals - (cells * cells + 2 * cells - 2) / draws;
    double third = 8 * mean + 22 * reciprocals - (14 * cells * cells + 48 * cells - 40) / draws;
    if (!(variance > 0 && third > 0)) /* fewer draws than cells: no floor is met, and no law fits */
        return gsl_cdf_chisq_Q(statistic, mean);
    double scale = third / (2 * variance), shape = variance / (scale * scale);
    return gsl_cdf_gamma_Q(fmax(0, (statistic - mean) / scale + shape), shape, 1);
}

/* Two cells are one binomial count, whose law is exact: all outcomes as far from the mean, on both sides. */
static void pair_tails(struct chi_square *result, uint64_t hits, uint64_t draws, double p)
{
    double mean = (double)draws * p;
    if ((double)hits < mean) {
        hits = draws - hits;
        p = 1 - p;
        mean = (double)draws * p;
    }
    struct tail near = binomial_test(hits, draws, p).upper, far = {0, 0};
    double mirror = 2 * mean - (double)hits, whole = nearbyint(mirror);
    bool tie = fabs(mirror - whole) < 1e-12 * (double)draws; /* the mean's own rounding */
    if (!tie)
        whole = floor(mirror);
    if (whole >= 0)
        far = binomial_test((uint64_t)whole, draws, p).lower;
    double beyond = near.p_beyond + (tie ? far.p_beyond : far.p);
    result->upper = (struct tail){fmin(1, near.p + far.p), fmin(1, beyond)};
    result->lower = (struct tail){1 - result->upper.p_beyond, 1 - result->upper.p};
}

struct chi_square chi_square_test(const uint64_t *observed, const double *mass, size_t cells)
{
    uint64_t total = 0;
    double statistic = 0, reciprocals = 0;
    for (size_t k = 0; k < cells; k++)
        total += observed[k];
    if (total == 0 || cells < 2)
        return (struct chi_square){0, 0, {1, 1}, {1, 1}};
    double draws = (double)total, log_mode = 0.5 * log(2 * M_PI * draws);
    for (size_t k = 0; k < cells; k++) {
        double expected = draws * mass[k], excess = (double)observed[k] - expected;
        statistic += excess * excess / expected;
        reciprocals += 1 / expected;
        log_mode -= 0.5 * log(2 * M_PI * expected);
    }
    struct chi_square result = {statistic, (double)cells - 1, {1, 1}, {1, 1}};
    if (cells == 2) {
        pair_tails(&result, observed[0], total, mass[0]);
        return result;
    }
    result.lower = chi_square_lower(statistic, result.df, log_mode);
    double upper = fitted_tail(statistic, (double)cells, draws, reciprocals);
    result.upper = (struct tail){upper, upper};
    return result;
}

/* P(X^2 > critical) when the law is off by the noncentrality: a Poisson mixture of central laws, summed from
 * its middle outwards. */
static double noncentral_power(double critical, double df, double noncentrality)
{
    double mean = noncentrality / 2, middle = floor(mean), power = 0;
    double first = exp(middle > 0 ? middle * log(mean) - mean - lgamma(middle + 1) : -mean), weight = first;
    for (double j = middle; weight > 1e-12 * first; j++) {
        power += weight * gsl_cdf_chisq_Q(critical, df + 2 * j);
        weight *= mean / (j + 1);
    }
    weight = first;
    for (double j = middle; j > 0; j--) {
        weight *= j / mean;
        if (weight < 1e-12 * first)
            break;
        power += weight * gsl_cdf_chisq_Q(critical, df + 2 * (j - 1));
    }
    return power;
}

double chi_square_detectable(double df, double draws, double alpha, double power)
{
    if (!(df >= 1 && draws > 0 && alpha > 0 && alpha < 1 && power < 1))
        return INFINITY;
    if (power <= alpha)
        return 0;
    stats_quiet();
    double critical = gsl_cdf_chisq_Qinv(alpha, df), low = 0, high = 1;
    while (noncentral_power(critical, df, high) < power)
        high *= 2;
    while (high - low > 1e-6 * high) {
        double middle = (low + high) / 2;
        if (noncentral_power(critical, df, middle) < power)
            low = middle;
        else
            high = middle;
    }
    return high / draws;
}
