/* agreement.c: how often two formulations can differ, after so many rows on shared noise.
 *
 * Sees:     any difference between two maps from noise to token, whatever the vocabulary.
 * Cannot see: a defect of the noise itself, which both share.
 * False alarms: the bound fails with probability at most alpha. With no mismatch it is 1 - alpha^(1/rows).
 * Source:   Clopper and Pearson (1934), one-sided.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/binomial.h"
#include "stats/total_variation.h"
#include <math.h>

double agreement_upper_bound(uint64_t mismatches, uint64_t rows, double alpha)
{
    if (mismatches > rows || !(alpha > 0 && alpha < 0.5))
        return NAN;
    return clopper_pearson_upper((double)mismatches, (double)rows, alpha);
}
