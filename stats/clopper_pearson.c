/* clopper_pearson.c: exact one-sided limits for a probability after a number of hits.
 *
 * Sees:         the probability of one event.
 * Cannot see:   dependence between draws; the limits assume there is none.
 * False alarms: at most the level a side, by construction.
 * Source:       Clopper and Pearson (1934). Solved by Newton steps in log p on the logarithm of the
 *               tail, which is concave in log p (the beta law has an increasing hazard rate), so that
 *               the steps close in from one side; Wilson's limit starts them. GSL's beta functions stop
 *               after 512 terms, too few for 1e9 draws.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/binomial.h"
#include "stats/quiet.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

#define NEWTON_MAX 100
#define NEWTON_CLOSE 1e-14

/* Wilson's score limit: the lower for sign -1, the upper for +1. Strictly between 0 and 1 for 0 < side < 1/2.
 */
static double wilson(double hits, double draws, double side, double sign)
{
    double z = gsl_cdf_ugaussian_Qinv(side), half = z * z / 2;
    double root = z * sqrt(hits * (1 - hits / draws) + z * z / 4);
    if (sign < 0) /* the small root as product over the large one: no cancellation */
        return hits * hits / draws / (hits + half + root);
    return (hits + half + root) / (draws + z * z);
}

double clopper_pearson_lower(double hits, double draws, double side)
{
    if (hits <= 0 || draws <= 0)
        return 0;
    if (hits >= draws)
        return exp(log(side) / draws);
    stats_quiet();
    double p = fmin(wilson(hits, draws, side, -1), hits / draws);
    for (int i = 0; i < NEWTON_MAX; i++) {
        double ratio = 1 + binomial_ratio_above(hits, draws, p);
        double excess = binomial_log_pmf(hits, draws, p) + log(ratio) - log(side);
        double step = -excess * ratio / hits;
        p = fmin(p * exp(step), hits / draws);
        if (fabs(step) < NEWTON_CLOSE)
            break;
    }
    return p;
}

double clopper_pearson_upper(double hits, double draws, double side)
{
    if (draws <= 0 || hits >= draws)
        return 1;
    if (hits <= 0)
        return -expm1(log(side) / draws);
    stats_quiet();
    double p = fmax(wilson(hits, draws, side, 1), hits / draws);
    for (int i = 0; i < NEWTON_MAX; i++) {
        double ratio = 1 + binomial_ratio_below(hits, draws, p);
        double excess = binomial_log_pmf(hits, draws, p) + log(ratio) - log(side);
        double step = excess * ratio * (1 - p) / (p * (draws - hits));
        double next = p * exp(step);
        /* Near p = 1 a step in log p may leave the unit interval; half the way to 1 never does. */
        if (next >= 1)
            next = (p + 1) / 2;
        next = fmax(next, hits / draws);
        double moved = fabs(next - p);
        p = next;
        if (moved < NEWTON_CLOSE * p)
            break;
    }
    return p;
}
