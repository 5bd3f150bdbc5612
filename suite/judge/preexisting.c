/* preexisting.c: is what a new sampler is rejected for what the old one shows, too?
 *
 * The same statistic must be rejected of both, and a two-sample test of their counts must not tell their laws apart:
 * a defect that grew, or moved to another token, is a new one. Of a cell that erred nothing is known. */
#include <stdlib.h>

#include "suite/judge/verdict.h"

/* What two samplers are compared over: cells of their counts, or their equal pairs. */
enum over { OVER_RANK, OVER_ID, OVER_FINE, OVER_TOKENS, OVER_ROWS, OVER_CALLS };

static double two_sample_pairs(const struct pair_counts *a, const struct pair_counts *b)
{
    return two_sample_test((uint64_t[]){a->equal, a->pairs - a->equal},
                           (uint64_t[]){b->equal, b->pairs - b->equal}, 2)
        .upper.p;
}

/* p of "old and new follow the same law" on one cell and stage; 1 where either has no draws. */
static double two_sample(const struct cell_result *old, const struct cell_result *new, int stage,
                         enum over over)
{
    const struct cell_counts *a = &old->counts[stage - 1], *b = &new->counts[stage - 1];
    double floor = stage == 1 ? FLOOR_STAGE_ONE : FLOOR_STAGE_TWO;
    if (!a->draws || !b->draws)
        return 1;
    if (over == OVER_TOKENS)
        return two_sample_worst(a->pooled, b->pooled, b->vocab);
    if (over == OVER_ROWS)
        return two_sample_pairs(&a->rows, &b->rows);
    if (over == OVER_CALLS)
        return two_sample_pairs(&a->calls, &b->calls);
    struct partition *partition =
        (over == OVER_RANK ? partition_rank
         : over == OVER_ID ? partition_id
                           : partition_fine)(new->pmf, b->vocab, (double)b->draws, floor);
    uint64_t *counts = calloc(2 * partition->cells, sizeof *counts);
    if (!counts)
        abort();
    partition_count(partition, a->pooled, counts);
    partition_count(partition, b->pooled, counts + partition->cells);
    double p = partition->cells < 2
                   ? 1
                   : two_sample_test(counts, counts + partition->cells, partition->cells).upper.p;
    free(counts);
    partition_free(partition);
    return p;
}

/* Is "old and new follow the same law" rejected in both stages, over any of what this statistic may look at?
 * A token lost here and another lost there are one law over ranks, and two over single ids. */
static bool another_law(const struct cell_result *old, const struct cell_result *new, bool dependence,
                        size_t plain)
{
    for (int over = dependence ? OVER_ROWS : OVER_RANK; over <= (dependence ? OVER_CALLS : OVER_TOKENS);
         over++) {
        double level = budget_level(2, over == OVER_FINE ? STATISTIC_FINE : STATISTIC_PLAIN, plain);
        if (two_sample(old, new, 1, (enum over)over) <= BUDGET_STAGE_ONE &&
            two_sample(old, new, 2, (enum over)over) <= level)
            return true;
    }
    return false;
}

/* Did new draw an impossible id that old never drew? */
static bool new_impossible_id(const struct cell_result *old, const struct cell_result *new)
{
    for (int stage = 0; stage < 2; stage++)
        for (size_t i = 0; i < new->counts[stage].vocab; i++)
            if (new->pmf[i] == 0 && new->counts[stage].pooled[i] && !old->counts[0].pooled[i] &&
                !old->counts[1].pooled[i])
                return true;
    return false;
}

bool statistic_preexisting(const struct session *old, const struct session *new, size_t cell,
                           const struct statistic *statistic)
{
    const struct cell_result *before = &old->cell[cell], *after = &new->cell[cell];
    const struct statistic *same = evidence_find(&before->evidence, statistic);
    if (!statistic->confirmed || !same || !same->confirmed || before->state == CELL_ERROR)
        return false;
    if (after->cell->family != FAMILY_EQUIVALENCE)
        return true; /* there are no counts to tell two defects apart */
    if (statistic->violation)
        return !new_impossible_id(before, after);
    return !another_law(before, after, statistic->dependence, new->plain);
}

bool statistic_fixed(const struct session *old, const struct session *new, size_t cell,
                     const struct statistic *statistic)
{
    const struct cell_result *before = &old->cell[cell];
    const struct statistic *same = evidence_find(&before->evidence, statistic);
    return same && same->confirmed && before->state != CELL_ERROR && !statistic->confirmed &&
           new->cell[cell].state == CELL_RAN; /* a second look that was cut short clears nobody */
}
