/* chi_square.h: the lower tail of a Pearson statistic of counts. Internal to stats/. */
#ifndef SAMPLEGATE_CHI_SQUARE_H
#define SAMPLEGATE_CHI_SQUARE_H
#include "stats/tests.h"

/* df >= 1; log_mode: log of the probability of the likeliest count vector. Counts are whole numbers, so with
 * few cells X^2 = 0 itself is not rare (0.2 % on a tie of two after 200,000 draws), while the continuous law
 * gives it p = 0: the tail carries the mode's probability. */
struct tail chi_square_lower(double statistic, double df, double log_mode);
#endif
