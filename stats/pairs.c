/* pairs.c: how often two draws that share nothing are equal.
 *
 * Sees:         draws that repeat, avoid or follow one another while every count keeps its law.
 * Cannot see:   dependence that leaves the frequency of equal pairs alone, or lies between other pairs.
 * False alarms: at most the level a side (exact tails): pairs without a draw in common are independent, and
 *               each is equal with probability sum p^2.
 * Source:       the index of coincidence, W. F. Friedman (1922), against the known law.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <math.h>

struct pairs pairs_test(uint64_t equal, uint64_t pairs, const double *pmf, size_t vocab)
{
    double coincidence = 0;
    for (size_t id = 0; id < vocab; id++)
        coincidence += pmf[id] * pmf[id];
    coincidence = fmin(1, coincidence); /* a rounding above, where one id has it all */
    return (struct pairs){(double)pairs * coincidence, binomial_test(equal, pairs, coincidence)};
}
