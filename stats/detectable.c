/* detectable.c: the smallest effect a test of so many draws would have seen.
 *
 * Sees:       what a passed test has excluded, in the unit of the defect: a shift, a share, a temperature, a leak.
 * Cannot see: effects along another direction than the test's.
 * Source:     a normal statistic misses a shift of z(1 - alpha) + z(power) deviations with probability 1 - power. For a
 *             share, 2 (sqrt X - sqrt E) is nearly standard normal whatever the count (M. S. Bartlett, 1936).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

double normal_detectable(double alpha, double power)
{
    return gsl_cdf_ugaussian_Qinv(alpha) + gsl_cdf_ugaussian_Pinv(power);
}

/* How far the square root of a share must move, in units of itself. */
static double root_step(double expected, double alpha, double power)
{
    return normal_detectable(alpha, power) / 2 / sqrt(expected);
}

double share_detectable_upper(double expected, double alpha, double power)
{
    double root = 1 + root_step(expected, alpha, power);
    return root * root;
}

double share_detectable_lower(double expected, double alpha, double power)
{
    double root = 1 - root_step(expected, alpha, power);
    return root > 0 ? root * root : NAN;
}

struct direction {
    double mean, deviation; /* of h under the law */
    double uniform;         /* mean of h under the uniform law over the ids of positive probability */
};

static struct direction direction_of(const double *pmf, const double *h, size_t vocab)
{
    struct direction direction = {0, 0, 0};
    double live = 0, variance = 0;
    for (size_t id = 0; id < vocab; id++)
        if (pmf[id] > 0) {
            direction.mean += pmf[id] * h[id];
            direction.uniform += h[id];
            live++;
        }
    for (size_t id = 0; id < vocab; id++)
        if (pmf[id] > 0)
            variance += pmf[id] * (h[id] - direction.mean) * (h[id] - direction.mean);
    direction.uniform /= live;
    direction.deviation = sqrt(variance);
    return direction;
}

double contrast_detectable_temperature(const double *pmf, const double *h, size_t vocab, double draws,
                                       double alpha, double power)
{
    return normal_detectable(alpha, power) / (direction_of(pmf, h, vocab).deviation * sqrt(draws));
}

double contrast_detectable_leak(const double *pmf, const double *h, size_t vocab, double draws, double alpha,
                                double power)
{
    struct direction direction = direction_of(pmf, h, vocab);
    double shift = normal_detectable(alpha, power) * direction.deviation / sqrt(draws);
    return shift / fabs(direction.uniform - direction.mean);
}
