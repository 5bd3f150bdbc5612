/* edge.c: exact binomial tails of the first and of the last 128 ids.
 * Sees: a cumulative sum that ends above one and starves the last ids, padding, off-by-one at either end. */
#include <math.h>
#include <stdio.h>

#include "suite/checks/equivalence/share.h"

#define EDGE_IDS 128

static void add(struct evidence *evidence, const struct check *check, const struct check_input *in,
                const char *end, size_t first)
{
    double mass = 0;
    uint64_t hits = 0;
    for (size_t i = first; i < first + EDGE_IDS; i++) {
        mass += in->pmf[i];
        hits += in->counts->pooled[i];
    }
    mass = fmin(1, mass); /* the sum's rounding */
    struct binomial_tails test = binomial_test(hits, in->counts->draws, mass);
    for (int side = 0; side < 2; side++) {
        char name[40];
        snprintf(name, sizeof name, "%s/%s", end, side ? "lower" : "upper");
        struct statistic *statistic = evidence_add(evidence, check, name);
        statistic->tail = side ? test.lower : test.upper;
        statistic->value = (double)hits;
        statistic->expected = (double)in->counts->draws * mass;
        share_effect(statistic, !side, 1);
        snprintf(statistic->text, sizeof statistic->text, "the %s %d ids drawn %.0f times, %.1f expected",
                 end, EDGE_IDS, statistic->value, statistic->expected);
    }
}

void check_edge(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    if (in->vocab < 4 * EDGE_IDS)
        return; /* the token test holds every id of a small vocabulary */
    add(evidence, check, in, "first", 0);
    add(evidence, check, in, "last", in->vocab - EDGE_IDS);
}
