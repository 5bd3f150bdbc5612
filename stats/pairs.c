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

static struct pairs pairs_at(uint64_t equal, uint64_t pairs, double coincidence)
{
    return (struct pairs){(double)pairs * coincidence, binomial_test(equal, pairs, coincidence)};
}

struct pairs pairs_test(uint64_t equal, uint64_t pairs, const double *pmf, size_t vocab)
{
    return pairs_at(equal, pairs, match_probability(pmf, vocab));
}

struct pairs pairs_test_given(uint64_t equal, uint64_t pairs, const uint64_t *counts, size_t vocab)
{
    double draws = 0, coincidences = 0;
    for (size_t id = 0; id < vocab; id++) {
        double count = (double)counts[id];
        draws += count;
        coincidences += count * (count - 1);
    }
    return pairs_at(equal, pairs, draws < 2 ? 0 : coincidences / (draws * (draws - 1)));
}
