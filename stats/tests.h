/* tests.h: p-values of counts against a given pmf. No I/O, no allocation the caller sees, nothing about samplers.
 *
 * Every p-value is one-sided and comes with its neighbour: `p` = P(T at least as extreme), `p_beyond` = P(T strictly
 * more extreme). For a continuous statistic they are equal; for a discrete one, p_beyond + U (p - p_beyond) with U
 * uniform is uniform under the null (used by `make calibrate` only). */
#ifndef SAMPLEGATE_TESTS_H
#define SAMPLEGATE_TESTS_H
#include <stddef.h>
#include <stdint.h>

struct tail {
    double p, p_beyond;
};

struct chi_square {
    double statistic, df;
    struct tail upper, lower; /* lower: too regular */
};
/* Pearson's X^2 of observed[cells] against draws * mass[cells], each expectation >= the caller's floor. Two cells: exact
 * (discrete) tails; more: upper by three moments of X^2, lower by the chi-square law with the mode's probability on either side.
 * Fewer than two cells or no draws: no test, df 0 and p = 1. */
struct chi_square chi_square_test(const uint64_t *observed, const double *mass, size_t cells);

/* The largest true chi-square distance that X^2 with this df would miss with probability 1 - power at level alpha:
 * the smallest effect this cell could have seen, as sum (q-p)^2/p. */
double chi_square_detectable(double df, double draws, double alpha, double power);

/* The same for a normal statistic: how many standard deviations of shift. */
double normal_detectable(double alpha, double power);
/* The same for a share of which `expected` draws are expected, under an exact tail: the factor, above or below 1, by which
 * it would have to be off. Lower: NAN where even a share of nothing would be missed. */
double share_detectable_upper(double expected, double alpha, double power);
double share_detectable_lower(double expected, double alpha, double power);

/* Homogeneity of two count vectors over the same cells (cells with no count in either are dropped). */
struct chi_square two_sample_test(const uint64_t *a, const uint64_t *b, size_t cells);
/* p-value of the one cell whose shares differ most, exact, after Bonferroni over cells and sides: best for a few cells
 * among many, which the sum over all of them drowns. */
double two_sample_worst(const uint64_t *a, const uint64_t *b, size_t cells);

/* One directed contrast: Z = sum h (X - n p) / sqrt(n (sum p h^2 - (sum p h)^2)). Both tails by the normal law. */
struct contrast {
    double z, expected, observed; /* means of h under p and in the draws */
    struct tail upper, lower;
};
struct contrast contrast_test(const uint64_t *counts, const double *pmf, const double *h, size_t vocab);
/* |sum p (h-m)^3| / (sum p (h-m)^2)^1.5 / sqrt(draws), plus 1.2 times the excess kurtosis of the mean where that is positive
 * (rare symmetric h): the normal law may be trusted at 1e-6 only while this is small; the caller drops the contrast above
 * CONTRAST_SKEW_MAX. Infinite for a constant h, which has no contrast. */
double contrast_skew(const double *pmf, const double *h, size_t vocab, double draws);
extern const double CONTRAST_SKEW_MAX;
/* The smallest effect a contrast would have seen. temperature: the relative change of the law's temperature, for h = log p,
 * whose mean it moves by the variance of h. leak: the share of draws from the uniform law over the ids of positive
 * probability instead. Infinite for a constant h. */
double contrast_detectable_temperature(const double *pmf, const double *h, size_t vocab, double draws, double alpha,
                                       double power);
double contrast_detectable_leak(const double *pmf, const double *h, size_t vocab, double draws, double alpha,
                                double power);

/* Exact binomial tails of `hits` in `draws` at probability p. */
struct binomial_tails {
    struct tail upper, lower;
};
struct binomial_tails binomial_test(uint64_t hits, uint64_t draws, double p);

/* Equal tokens among `pairs` pairs of draws, no draw in two of them. */
struct pairs {
    double expected;
    struct binomial_tails tails;
};
struct pairs pairs_test(uint64_t equal, uint64_t pairs, const double *pmf, size_t vocab);
/* The same, given the counts of all draws: sees dependence alone, whatever the law. Conservative: given the counts, equal
 * pairs scatter no more than a binomial. */
struct pairs pairs_test_given(uint64_t equal, uint64_t pairs, const uint64_t *counts, size_t vocab);

/* sum p^2: the chance that two independent draws are equal. */
double match_probability(const double *pmf, size_t vocab);

/* One place where equal pairs were counted. */
struct match_look {
    int64_t lag; /* in steps, or in rows */
    int64_t row; /* match_rows: the first of the two rows; else -1 */
    uint64_t pairs, equal;
};
/* Equal pairs at many places: the most extreme place of each side, its p after Bonferroni over the places looked at. At
 * each place the number of equal pairs is exactly binomial, so p is never too small, whatever the law and however few
 * the draws. No pairs: looks 0 and p = 1. */
struct match {
    struct tail upper, lower;      /* draws that repeat; draws that avoid each other: too regular */
    struct match_look most, least; /* where upper and lower were found */
    size_t looks;
    double probability; /* of a pair to be equal */
};
#define MATCH_LAGS_MAX 1024
#define MATCH_ROWS_MAX 64
/* token[steps * lanes], step by step: pairs of one lane, 1 .. lags steps apart (at most MATCH_LAGS_MAX and half the
 * steps). Over equal probabilities all pairs of a lag; else pairs without a draw in common, half as many. */
struct match match_lags(const int32_t *token, size_t steps, size_t lanes, size_t lags, const double *pmf,
                        size_t vocab);
/* Two sequences: a[t] and b[t + lag] with |lag| <= lags, at most half the steps. */
struct match match_between(const int32_t *a, const int32_t *b, size_t steps, size_t lags, const double *pmf,
                           size_t vocab);
/* token[calls * rows], call by call: any two of at most MATCH_ROWS_MAX rows, in the same call. */
struct match match_rows(const int32_t *token, size_t calls, size_t rows, const double *pmf, size_t vocab);

/* What `pairs` independent pairs must show to be rejected at `level` a side: `most` equal or more (pairs + 1: they
 * cannot), `least` or fewer (-1: they cannot), and how likely that is. */
struct match_critical {
    int64_t most, least;
    double upper, lower;
};
struct match_critical match_critical(uint64_t pairs, double probability, double level);
/* The smallest chance of an equal pair that is seen as too many at `level` with probability `power`, or the largest that
 * is seen as too few; exact. NaN: no number of equal pairs would be rejected. */
double match_detectable_most(uint64_t pairs, double probability, double level, double power);
double match_detectable_least(uint64_t pairs, double probability, double level, double power);

/* Every id's exact binomial tails; the most extreme one after Bonferroni over ids (and per side). Best for one token
 * lost, gained or swapped. p of the result is already multiplied by the number of ids, and at most 1. */
struct token_tails {
    struct tail upper, lower;
    size_t upper_id, lower_id;
};
struct token_tails token_test(const uint64_t *counts, const double *pmf, size_t vocab);

/* Ids of probability 0 that were drawn: how many draws, and the first such id (vocab if none). */
struct support {
    uint64_t draws;
    size_t id;
};
struct support support_test(const uint64_t *counts, const double *pmf, size_t vocab);

/* Kolmogorov-Smirnov p-value that p[count] are uniform on [0,1]; sorts p in place. */
double uniform_test(double *p, size_t count);
/* The same on one side: that they are not smaller than uniform; what bounds a p-value from above passes. By Massart's
 * bound, so false alarms are at most the level. */
double uniform_test_small(double *p, size_t count);
#endif
