/* pearson.c: one chi-square of a cell's counts over a partition, as a statistic. */
#include "suite/checks/equivalence/pearson.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The cell with the largest share of X^2, in words. */
static void describe(struct statistic *statistic, const struct partition *partition, const uint64_t *observed,
                     double df)
{
    double total = 0, worst = -1;
    size_t at = 0;
    for (size_t c = 0; c < partition->cells; c++)
        total += (double)observed[c];
    for (size_t c = 0; c < partition->cells; c++) {
        double expected = total * partition->mass[c], difference = (double)observed[c] - expected;
        if (difference * difference / expected > worst) {
            worst = difference * difference / expected;
            at = c;
        }
    }
    size_t first = 0, ids = 0;
    for (size_t i = partition->vocab; i-- > 0;)
        if (partition->cell_of[i] == at) {
            first = i;
            ids++;
        }
    snprintf(statistic->text, sizeof statistic->text,
             "X2 %.1f on %.0f df; furthest off: id %zu%s (%zu id%s) drawn %llu times, %.1f expected",
             statistic->value, df, first, ids > 1 ? " and others" : "", ids, ids > 1 ? "s" : "",
             (unsigned long long)observed[at], total * partition->mass[at]);
}

void pearson_add(struct evidence *evidence, const struct check *check, const char *name,
                 enum statistic_kind kind, enum pearson_side side, struct partition *partition,
                 const uint64_t *counts)
{
    if (!partition)
        abort();
    if (partition->cells >= 2) {
        uint64_t *observed = calloc(partition->cells, sizeof *observed);
        if (!observed)
            abort();
        partition_count(partition, counts, observed);
        double draws = 0;
        for (size_t c = 0; c < partition->cells; c++)
            draws += (double)observed[c];
        struct chi_square test = chi_square_test(observed, partition->mass, partition->cells);
        struct statistic *statistic = evidence_add(evidence, check, name);
        statistic->kind = kind;
        statistic->tail = side == PEARSON_UPPER ? test.upper : test.lower;
        statistic->value = test.statistic;
        statistic->expected = test.df;
        if (side == PEARSON_UPPER)
            snprintf(statistic->smallest_effect, sizeof statistic->smallest_effect, "chi2 distance %.1e",
                     chi_square_detectable(test.df, draws, BUDGET_STAGE_ONE, BUDGET_POWER));
        describe(statistic, partition, observed, test.df);
        free(observed);
    }
    partition_free(partition);
}
