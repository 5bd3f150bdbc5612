/* contrast.c: one direction of departure, weighed by the caller's h.
 *
 * Sees:         the defect h was made for (h = log p: temperature; h = id: index-order ties), with the
 *               fewest draws possible.
 * Cannot see:   departures orthogonal to h, so it stands beside a chi-square.
 * False alarms: the level within a factor 2 down to 1e-6 while contrast_skew() <= CONTRAST_SKEW_MAX.
 * Source:       normal law of a mean; its error by Cramer's large-deviation factor exp(skew z^3 / 6 +
 *               kurtosis z^4 / 24).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

/* exp(skew z^3 / 6) at z = 4.75 (level 1e-6) is 1.71, at z = 4.11 (2e-5) 1.41; what is left of the factor 2
 * is for the steps of a sum of whole counts. */
const double CONTRAST_SKEW_MAX = 0.03;

/* Spread of h below this share of its size is rounding: h is constant and there is no contrast. */
#define CONSTANT_SHARE 1e-9

/* z / 4 at 4.75: the skewness that does the same harm. Without it a rare symmetric h would pass for a normal
 * one. */
#define KURTOSIS_AS_SKEW 1.2

struct moments {
    double mean, variance, third, fourth, largest;
};

/* Ids of probability 0 are the support test's; h may be anything there. */
static struct moments moments_of(const double *pmf, const double *h, size_t vocab)
{
    struct moments m = {0, 0, 0, 0, 0};
    for (size_t id = 0; id < vocab; id++) {
        if (pmf[id] > 0) {
            m.mean += pmf[id] * h[id];
            m.largest = fmax(m.largest, fabs(h[id]));
        }
    }
    for (size_t id = 0; id < vocab; id++) {
        if (pmf[id] > 0) {
            double d = h[id] - m.mean;
            m.variance += pmf[id] * d * d;
            m.third += pmf[id] * d * d * d;
            m.fourth += pmf[id] * d * d * d * d;
        }
    }
    double rounding = CONSTANT_SHARE * m.largest;
    if (m.variance <= rounding * rounding)
        m.variance = 0;
    return m;
}

struct contrast contrast_test(const uint64_t *counts, const double *pmf, const double *h, size_t vocab)
{
    struct moments m = moments_of(pmf, h, vocab);
    double draws = 0, excess = 0;
    for (size_t id = 0; id < vocab; id++) {
        if (pmf[id] > 0) {
            draws += (double)counts[id];
            excess += (double)counts[id] * (h[id] - m.mean);
        }
    }
    struct contrast result = {0, m.mean, m.mean, {1, 1}, {1, 1}};
    if (draws == 0 || m.variance == 0)
        return result;
    double p;
    result.observed = m.mean + excess / draws;
    result.z = excess / sqrt(draws * m.variance);
    p = gsl_cdf_ugaussian_Q(result.z);
    result.upper = (struct tail){p, p};
    p = gsl_cdf_ugaussian_P(result.z);
    result.lower = (struct tail){p, p};
    return result;
}

double contrast_skew(const double *pmf, const double *h, size_t vocab, double draws)
{
    struct moments m = moments_of(pmf, h, vocab);
    if (m.variance == 0)
        return INFINITY;
    double skew = fabs(m.third) / (m.variance * sqrt(m.variance)) / sqrt(draws);
    double kurtosis = (m.fourth / (m.variance * m.variance) - 3) / draws;
    return skew + KURTOSIS_AS_SKEW * fmax(0, kurtosis);
}
