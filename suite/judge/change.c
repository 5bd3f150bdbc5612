/* change.c: what became of each cell from an old sampler to a new one. */
#include <math.h>

#include "suite/judge/verdict.h"

#define HEAD_DOMINATES                                                                                       \
    0.9 /* rows whose heaviest id is above this agree whatever the sampler does: they do not count */

static void compare_cell(const struct session *old, struct session *new, size_t i, struct cell_change *change)
{
    const struct cell_result *before = &old->cell[i], *after = &new->cell[i];
    *change = (struct cell_change){0};
    for (size_t s = 0; s < after->evidence.count; s++) {
        struct statistic *statistic = &after->evidence.statistic[s];
        statistic->standing = statistic_preexisting(old, new, i, statistic) ? STANDING_PREEXISTING
                              : statistic_fixed(old, new, i, statistic)     ? STANDING_FIXED
                                                                            : STANDING_NONE;
        change->preexisting += statistic->standing == STANDING_PREEXISTING;
        change->fixed += statistic->standing == STANDING_FIXED;
        change->introduced += statistic->confirmed && statistic->standing == STANDING_NONE;
    }
    change->unjudged = after->selected && after->state == CELL_RAN && before->state != CELL_RAN;
    if (!before->token || !after->token || before->state != CELL_RAN || after->state != CELL_RAN)
        return;
    uint64_t draws = after->cell->draws;
    for (uint64_t d = 0; d < draws; d++)
        change->differ += before->token[d] != after->token[d];
    if (after->heaviest > HEAD_DOMINATES)
        return;
    change->rows = draws;
    change->same = draws - change->differ;
}

/* Do draws depend on each other, in the stage looked at last? Equal pairs may also be too many or too few because the
 * law is another one, and given the counts they are not. */
static bool depends(const struct cell_result *result)
{
    const struct cell_counts *counts = &result->counts[result->counts[1].draws ? 1 : 0];
    const struct pair_counts *kinds[] = {&counts->rows, &counts->calls};
    for (size_t i = 0; i < 2; i++) {
        struct binomial_tails given =
            pairs_test_given(kinds[i]->equal, kinds[i]->pairs, counts->pooled, counts->vocab).tails;
        if (fmin(given.upper.p, given.lower.p) <= BUDGET_STAGE_ONE)
            return true;
    }
    return false;
}

/* Is new's law on this cell within its epsilon? Draws that depend on each other have no bound. */
static bool within_epsilon(const struct cell_result *result)
{
    for (size_t s = 0; s < result->evidence.count; s++)
        if (result->evidence.statistic[s].dependence && result->evidence.statistic[s].confirmed &&
            depends(result))
            return false;
    return result->cell->family == FAMILY_EQUIVALENCE && result->bound.upper <= result->cell->epsilon;
}

struct change_sum changes_between(const struct session *old, struct session *new, struct cell_change *change)
{
    struct change_sum sum = {.within_epsilon = true};
    for (size_t i = 0; i < new->plan->cells; i++) {
        compare_cell(old, new, i, &change[i]);
        sum.rows += change[i].rows;
        sum.same += change[i].same;
        sum.differ += change[i].differ;
        sum.preexisting += change[i].preexisting;
        sum.fixed += change[i].fixed;
        sum.introduced += change[i].introduced;
        sum.unjudged += change[i].unjudged;
        if (!change[i].introduced)
            continue;
        sum.first = sum.first ? sum.first : &new->cell[i];
        change[i].within_epsilon = within_epsilon(&new->cell[i]);
        sum.within_epsilon &= change[i].within_epsilon;
    }
    return sum;
}
