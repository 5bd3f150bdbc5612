/* tail.c: exact binomial tails of the ids at least 8, 16 and 24 octaves below the heaviest.
 * Sees: noise whose grid or range cuts the tail off, which no bulk statistic notices.   Cannot see: the bulk.
 */
#include <math.h>
#include <stdio.h>

#include "suite/checks/equivalence/share.h"

void check_tail(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    double heaviest = 0;
    size_t previous = in->vocab;
    for (size_t i = 0; i < in->vocab; i++)
        heaviest = fmax(heaviest, in->pmf[i]);
    for (int octaves = 8; octaves <= 24; octaves += 8) {
        double mass = 0, limit = ldexp(heaviest, -octaves);
        uint64_t hits = 0;
        size_t ids = 0;
        for (size_t i = 0; i < in->vocab; i++)
            if (in->pmf[i] > 0 && in->pmf[i] <= limit) {
                mass += in->pmf[i];
                hits += in->counts->pooled[i];
                ids++;
            }
        if (ids == 0 || ids == previous)
            continue; /* no tail this deep, or the same ids as the step before */
        previous = ids;
        mass = fmin(1, mass); /* the sum's rounding */
        struct binomial_tails test = binomial_test(hits, in->counts->draws, mass);
        for (int side = 0; side < 2; side++) {
            char name[40];
            snprintf(name, sizeof name, "octave-%d/%s", octaves, side ? "lower" : "upper");
            struct statistic *statistic = evidence_add(evidence, check, name);
            statistic->tail = side ? test.lower : test.upper;
            statistic->value = (double)hits;
            statistic->expected = (double)in->counts->draws * mass;
            share_effect(statistic, !side, 1);
            snprintf(statistic->text, sizeof statistic->text,
                     "%zu ids below 2^-%d of the head drawn %.0f times, %.1f expected", ids, octaves,
                     statistic->value, statistic->expected);
        }
    }
}
