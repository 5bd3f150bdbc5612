/* two_sample.c: whether two samplers follow one law, when that law is not given.
 *
 * Sees:         any difference between the two over the cells.
 * Cannot see:   a defect both share.
 * False alarms: as in chi_square.c, with the pooled counts as expectations; the cells must reach the
 *               floor in each.
 * Source:       sum (sqrt(B/A) a - sqrt(A/B) b)^2 / (a + b), A and B the totals: Pearson's homogeneity
 *               statistic.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/chi_square.h"
#include "stats/quiet.h"
#include "stats/tests.h"
#include <gsl/gsl_cdf.h>
#include <math.h>

struct chi_square two_sample_test(const uint64_t *a, const uint64_t *b, size_t cells)
{
    double total_a = 0, total_b = 0;
    for (size_t k = 0; k < cells; k++) {
        total_a += (double)a[k];
        total_b += (double)b[k];
    }
    if (total_a == 0 || total_b == 0)
        return (struct chi_square){0, 0, {1, 1}, {1, 1}};
    double weight = sqrt(total_b / total_a), statistic = 0, live = 0;
    /* Given the pooled counts t, cell k of `a` has the variance of a Poisson count of mean t A B / N^2: which
     * gives the mode its probability. */
    double share = total_a * total_b / ((total_a + total_b) * (total_a + total_b));
    double log_mode = 0.5 * log(2 * M_PI * share * (total_a + total_b));
    for (size_t k = 0; k < cells; k++) {
        double pooled = (double)a[k] + (double)b[k];
        if (pooled == 0)
            continue;
        double difference = weight * (double)a[k] - (double)b[k] / weight;
        statistic += difference * difference / pooled;
        log_mode -= 0.5 * log(2 * M_PI * share * pooled);
        live++;
    }
    struct chi_square result = {statistic, live - 1, {1, 1}, {1, 1}};
    if (live < 2)
        return result;
    stats_quiet();
    result.lower = chi_square_lower(statistic, result.df, log_mode);
    double upper = gsl_cdf_chisq_Q(statistic, result.df);
    result.upper = (struct tail){upper, upper};
    return result;
}

double two_sample_worst(const uint64_t *a, const uint64_t *b, size_t cells)
{
    double total_a = 0, total_b = 0, live = 0, least = 1;
    for (size_t k = 0; k < cells; k++) {
        total_a += (double)a[k];
        total_b += (double)b[k];
        live += a[k] + b[k] > 0;
    }
    if (total_a == 0 || total_b == 0 || live < 2)
        return 1;
    /* Given the margins the count of `a` is hypergeometric; the binomial's far tails are heavier. */
    for (size_t k = 0; k < cells; k++)
        if (a[k] + b[k] > 0) {
            struct binomial_tails tails = binomial_test(a[k], a[k] + b[k], total_a / (total_a + total_b));
            least = fmin(least, fmin(tails.upper.p, tails.lower.p));
        }
    return fmin(1, 2 * live * least);
}
