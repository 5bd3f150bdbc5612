/* binomial.c: exact tails of one count against one probability.
 *
 * Sees:         one event that comes too often or too rarely, however rare it should be.
 * Cannot see:   anything that leaves this event's frequency alone; dependence between draws that does
 *               so.
 * False alarms: at most the level, by construction (exact tails; a discrete law makes them fewer).
 * Source:       C. Loader, "Fast and accurate computation of binomial probabilities" (2000) for one
 *               probability; the tails are sums of the ratios (n-k)p / (k+1)q away from the mean, so
 *               nothing cancels.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/binomial.h"
#include "stats/quiet.h"
#include "stats/tests.h"
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_log.h>
#include <math.h>

#define TERM_NEGLIGIBLE 1e-17

/* x log(x / mean) + mean - x, given mean - x apart because that difference must not be made by subtraction
 * here. */
static double deviance(double x, double mean, double difference)
{
    double relative = difference / x;
    if (fabs(relative) < 0.5)
        return -x * gsl_sf_log_1plusx_mx(relative);
    return x * log(x / mean) + difference;
}

/* log(x!) minus Stirling's formula. */
static double stirling_error(double x)
{
    return log(gsl_sf_gammastar(x));
}

double binomial_log_pmf(double hits, double draws, double p)
{
    double misses = draws - hits, excess = hits - draws * p;
    if (hits == 0)
        return draws * log1p(-p);
    if (misses == 0)
        return draws * log(p);
    stats_quiet();
    return stirling_error(draws) - stirling_error(hits) - stirling_error(misses) -
           deviance(hits, draws * p, -excess) - deviance(misses, draws * (1 - p), excess) +
           0.5 * log(draws / (2 * M_PI * hits * misses));
}

double binomial_ratio_above(double hits, double draws, double p)
{
    double odds = p / (1 - p), term = 1, sum = 0;
    for (double k = hits; k < draws; k++) {
        term *= odds * (draws - k) / (k + 1);
        sum += term;
        if (term < sum * TERM_NEGLIGIBLE)
            break;
    }
    return sum;
}

double binomial_ratio_below(double hits, double draws, double p)
{
    double odds = (1 - p) / p, term = 1, sum = 0;
    for (double k = hits; k > 0; k--) {
        term *= odds * k / (draws - k + 1);
        sum += term;
        if (term < sum * TERM_NEGLIGIBLE)
            break;
    }
    return sum;
}

/* The law that puts everything on one count. */
static struct binomial_tails certain(double hits, double value)
{
    struct binomial_tails tails = {{1, 0}, {1, 0}};
    if (hits > value)
        tails = (struct binomial_tails){{0, 0}, {1, 1}};
    if (hits < value)
        tails = (struct binomial_tails){{1, 1}, {0, 0}};
    return tails;
}

struct binomial_tails binomial_test(uint64_t hits, uint64_t draws, double p)
{
    double k = (double)hits, n = (double)draws;
    if (hits > draws || !(p >= 0 && p <= 1))
        return (struct binomial_tails){{NAN, NAN}, {NAN, NAN}};
    if (draws == 0 || p == 0 || p == 1)
        return certain(k, n * p);
    double at = exp(binomial_log_pmf(k, n, p)), above, below;
    /* Sum the side that k lies on; the other is not small, so a difference from 1 is exact enough. */
    if (k >= n * p) {
        above = at * binomial_ratio_above(k, n, p);
        below = fmax(0, 1 - at - above);
    } else {
        below = at * binomial_ratio_below(k, n, p);
        above = fmax(0, 1 - at - below);
    }
    return (struct binomial_tails){{fmin(1, at + above), above}, {fmin(1, at + below), below}};
}
