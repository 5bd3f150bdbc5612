/* batch.c: the rank chi-square once more for each batch size alone, and how often neighbours are equal.
 * Sees: noise shared by the rows of a batch (counts scatter too much), kernels that are wrong at one batch
 * size only; rows that copy, avoid or follow their neighbour, calls that repeat the call before, which no
 * count shows.   Cannot see: dependence between rows that are no neighbours, unless counts scatter with it. */
#include <stdio.h>

#include "suite/checks/equivalence/pearson.h"

static void add_pairs(struct evidence *evidence, const struct check *check, const struct check_input *in,
                      const struct pair_counts *counts, const char *which, const char *words)
{
    if (!counts->pairs)
        return;
    struct pairs test = pairs_test(counts->equal, counts->pairs, in->pmf, in->vocab);
    for (int side = 0; side < 2; side++) {
        char name[40];
        snprintf(name, sizeof name, "%s/%s", which, side ? "lower" : "upper");
        struct statistic *statistic = evidence_add(evidence, check, name);
        statistic->dependence = true;
        statistic->tail = side ? test.tails.lower : test.tails.upper;
        statistic->value = (double)counts->equal;
        statistic->expected = test.expected;
        snprintf(statistic->text, sizeof statistic->text, "%s: %.0f of %llu pairs equal, %.1f expected",
                 words, statistic->value, (unsigned long long)counts->pairs, test.expected);
    }
}

void check_batch(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    for (size_t b = 0; b < in->counts->batches; b++) {
        char name[40];
        snprintf(name, sizeof name, "batch-%u/upper", in->plan->batch[b].size);
        pearson_add(evidence, check, name, STATISTIC_PLAIN, PEARSON_UPPER,
                    partition_rank(in->pmf, in->vocab, (double)in->counts->batch_draws[b], in->floor),
                    in->counts->batch[b]);
    }
    add_pairs(evidence, check, in, &in->counts->rows, "rows", "neighbours in a batch");
    add_pairs(evidence, check, in, &in->counts->calls, "calls", "the same row of two calls");
}
