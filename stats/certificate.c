/* certificate.c: total variation over all ids of a wide law, bounded through a sum of weighted squares.
 *
 * Sees:         any deviation, spread over many ids or not; what a bound over bins cannot see within a bin.
 * Cannot see:   dependence between draws.
 * False alarms: the bound is below the true distance with probability at most alpha in the limit of many draws; half of
 *               alpha for the squares, half for the lightest ids, whose share has an exact limit.
 * Source:       Cauchy and Schwarz: (sum |q - p|)^2 <= S sum (q - p)^2 p^(-2/3), S = sum p^(2/3), where the weights
 *               p^(-2/3) need the fewest draws (G. Valiant and P. Valiant, SIAM J. Comput. 46, 2017; J. Acharya, C.
 *               Daskalakis and G. Kamath, NIPS 2015). (q - p)^2 is estimated without bias from multinomial counts by
 *               (x - p)^2 - x (1 - x) / (n - 1), x = count / n. Its sum over all ids varies by 2 S / n^2 under the law
 *               itself, and where the inequality is tight by 16 e^2 / (n S^2) more, e half of sum |q - p|; a factor
 *               (1 + 2 e)^2 covers what q may weigh more than p.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/certificate.h"
#include "stats/binomial.h"
#include "stats/gather.h"
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* Of epsilon: the mass of the lightest ids. The one that promises most at so many draws is taken. */
static const double tail_shares[] = {0, 0.01, 0.03, 0.1, 0.2};
#define TAIL_SHARES (sizeof tail_shares / sizeof *tail_shares)
#define CERTIFIED 0.999
#define DRAWS_MAX 1e12

/* The law cut in two: the lightest ids, and the others. */
struct cut {
    double least; /* probability of the lightest of the others */
    double sum;   /* S over the others */
    double tail;  /* mass of the lightest */
};

/* One cut for each share. Ids of equal probability stay together. */
static int cuts_make(struct cut cut[TAIL_SHARES], const double *pmf, size_t vocab, double epsilon)
{
    size_t live;
    struct ranked *ranked = gather_ranking(pmf, vocab, &live);
    if (!ranked)
        return -1;
    size_t rest[TAIL_SHARES];
    for (size_t s = 0; s < TAIL_SHARES; s++) {
        rest[s] = live;
        cut[s] = (struct cut){0, 0, 0};
        for (;;) {
            size_t same = rest[s];
            double mass = 0;
            while (same > 0 && ranked[same - 1].p == ranked[rest[s] - 1].p)
                mass += ranked[--same].p;
            if (same == 0 || cut[s].tail + mass > tail_shares[s] * epsilon)
                break;
            cut[s].tail += mass;
            rest[s] = same;
        }
        cut[s].least = ranked[rest[s] - 1].p;
    }
    double sum = 0;
    for (size_t i = 0; i < live; i++) {
        const double root = cbrt(ranked[i].p);
        sum += root * root;
        for (size_t s = 0; s < TAIL_SHARES; s++)
            if (rest[s] == i + 1)
                cut[s].sum = sum;
    }
    free(ranked);
    return 0;
}

/* The largest e = half of sum |q - p| over the heavier ids that the estimate of sum (q - p)^2 p^(-2/3) leaves open. */
static double distance_open(double sum, double draws, double estimate, double alpha)
{
    const double z = gsl_cdf_ugaussian_Qinv(alpha);
    double low = 0, high = 1;
    while (high - low > 1e-9) {
        const double e = (low + high) / 2, mean = 4 * e * e / sum;
        const double deviation =
            sqrt(2 * sum / draws / draws + 16 * e * e / (draws * sum * sum)) * (1 + 2 * e);
        if (mean - z * deviation > estimate)
            high = e;
        else
            low = e;
    }
    return high;
}

/* Half of what the lightest ids, or those of no probability, may add. */
static double tail_open(double tail, double hits, double draws, double alpha)
{
    return (tail + clopper_pearson_upper(hits, draws, alpha)) / 2;
}

/* What the bound will nearly always be below, for an exact sampler. */
static double planned(const struct cut *cut, double draws, double alpha)
{
    const double z = gsl_cdf_ugaussian_Pinv(CERTIFIED), expected = draws * cut->tail;
    const double hits = fmin(draws, ceil(expected + z * sqrt(expected)));
    return distance_open(cut->sum, draws, z * sqrt(2 * cut->sum) / draws, alpha / 2) +
           tail_open(cut->tail, hits, draws, alpha / 2);
}

static const struct cut *best_of(const struct cut cut[TAIL_SHARES], double draws, double alpha)
{
    const struct cut *best = cut;
    for (size_t s = 1; s < TAIL_SHARES; s++)
        if (planned(&cut[s], draws, alpha) < planned(best, draws, alpha))
            best = &cut[s];
    return best;
}

double tv_certificate(const uint64_t *counts, const double *pmf, size_t vocab, double epsilon, double alpha)
{
    struct cut cut[TAIL_SHARES];
    double draws = 0, hits = 0, estimate = 0;
    for (size_t id = 0; id < vocab; id++)
        draws += (double)counts[id];
    if (draws < 2 || !(alpha > 0 && alpha < 1))
        return 1;
    if (cuts_make(cut, pmf, vocab, epsilon) != 0)
        return NAN;
    const struct cut *best = best_of(cut, draws, alpha);
    for (size_t id = 0; id < vocab; id++) {
        const double x = (double)counts[id] / draws, off = x - pmf[id];
        if (pmf[id] > 0 && pmf[id] >= best->least) {
            const double root = cbrt(pmf[id]);
            estimate += (off * off - x * (1 - x) / (draws - 1)) / (root * root);
        } else {
            hits += (double)counts[id];
        }
    }
    return fmin(1, distance_open(best->sum, draws, estimate, alpha / 2) +
                       tail_open(best->tail, hits, draws, alpha / 2));
}

double tv_certificate_draws_needed(const double *pmf, size_t vocab, double epsilon, double alpha)
{
    struct cut cut[TAIL_SHARES];
    double low = 2, high = DRAWS_MAX;
    if (!(epsilon > 0 && alpha > 0 && alpha < 1))
        return 0;
    if (cuts_make(cut, pmf, vocab, epsilon) != 0)
        return NAN;
    if (planned(best_of(cut, high, alpha), high, alpha) > epsilon)
        return 0;
    while (high / low > 1.001) {
        const double middle = sqrt(low * high);
        if (planned(best_of(cut, middle, alpha), middle, alpha) > epsilon)
            low = middle;
        else
            high = middle;
    }
    return ceil(high);
}
