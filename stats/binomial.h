/* binomial.h: the binomial law as the rest of the room needs it: exact for any count up to 2^53, never
 * through int.
 *
 * Internal to stats/: GSL's own gsl_cdf_binomial_* take unsigned int, and its incomplete beta gives up (NaN)
 * beyond 512 terms, which 1e9 draws need. */
#ifndef SAMPLEGATE_BINOMIAL_H
#define SAMPLEGATE_BINOMIAL_H

/* log P(X = hits), 0 <= hits <= draws whole numbers, 0 < p < 1: Loader's saddle-point form, relative error of
 * P about 1e-14 near the mean, 1e-16 |log P| in the tails. */
double binomial_log_pmf(double hits, double draws, double p);

/* P(X > hits) / P(X = hits), for hits >= draws p, and P(X < hits) / P(X = hits), for hits <= draws p: sums of
 * positive terms. */
double binomial_ratio_above(double hits, double draws, double p);
double binomial_ratio_below(double hits, double draws, double p);

/* Clopper-Pearson limits, each one-sided at level side: P(X >= hits | lower) = side, P(X <= hits | upper) =
 * side. */
double clopper_pearson_lower(double hits, double draws, double side);
double clopper_pearson_upper(double hits, double draws, double side);
#endif
