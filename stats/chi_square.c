/* chi_square.c: Pearson's test of counts against a given law, in both directions, and the smallest effect it
 * could see.
 *
 * Sees:     any deviation between cells; in the lower tail, counts too regular to be random. Cannot see: what
 * happens within a cell; dependence between draws that leaves the counts alone. False alarms: within a factor
 * 2 of the level down to 1e-4 where each expectation is at least 20, down to 1e-5 at 50
 *           (golden/calibration/statistics.json). G is not offered: with many cells at 20 it rejects a
 * correct sampler. Source:   Pearson (1900); the mode's probability in the lower tail is Stirling's formula,
 * since counts are whole numbers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/chi_square.h"
#include "stats/quiet.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

struct chi_square chi_square_tails(double statistic, double df, double log_mode)
{
    struct chi_square result = {statistic, df, {1, 1}, {1, 1}};
    if (df < 1) {
        result.df = 0;
        return result;
    }
    stats_quiet();
    double upper = gsl_cdf_chisq_Q(statistic, df), lower = gsl_cdf_chisq_P(statistic, df),
           mode = exp(log_mode);
    result.upper = (struct tail){upper, upper};
    result.lower = (struct tail){fmin(1, lower + mode), fmax(0, lower - mode)};
    return result;
}

struct chi_square chi_square_test(const uint64_t *observed, const double *mass, size_t cells)
{
    double draws = 0, statistic = 0;
    for (size_t k = 0; k < cells; k++)
        draws += (double)observed[k];
    if (draws == 0 || cells < 2)
        return chi_square_tails(0, 0, 0);
    double log_mode = 0.5 * log(2 * M_PI * draws);
    for (size_t k = 0; k < cells; k++) {
        double expected = draws * mass[k], excess = (double)observed[k] - expected;
        statistic += excess * excess / expected;
        log_mode -= 0.5 * log(2 * M_PI * expected);
    }
    return chi_square_tails(statistic, (double)cells - 1, log_mode);
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
