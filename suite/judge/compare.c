/* compare.c: what an upgrade from one sampler to another comes to: the first of error, different, identical,
 * equivalent, inconclusive that holds. The distance is the new sampler's from the exact law; the old one's is
 * printed beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite/judge/verdict.h"

#define HEAD_DOMINATES                                                                                       \
    0.9 /* rows whose heaviest id is above this agree whatever the sampler does: they do not count */

static const struct statistic *find(const struct cell_result *result, const struct statistic *like)
{
    for (size_t s = 0; s < result->evidence.count; s++)
        if (result->evidence.statistic[s].check == like->check &&
            !strcmp(result->evidence.statistic[s].name, like->name))
            return &result->evidence.statistic[s];
    return NULL;
}

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
    const struct statistic *same = find(before, statistic);
    if (!same || !same->confirmed)
        return false;
    if (statistic->violation)
        return after->cell->family == FAMILY_AGREEMENT || !new_impossible_id(before, after);
    return !another_law(before, after, statistic->dependence, new->plain);
}

static void compare_cell(const struct session *old, const struct session *new, size_t i,
                         struct cell_change *change)
{
    const struct cell_result *before = &old->cell[i], *after = &new->cell[i];
    *change = (struct cell_change){0};
    for (size_t s = 0; s < after->evidence.count; s++) {
        const struct statistic *statistic = &after->evidence.statistic[s];
        if (!statistic->confirmed)
            continue;
        if (statistic_preexisting(old, new, i, statistic))
            change->preexisting++;
        else
            change->introduced++;
    }
    for (size_t s = 0; s < before->evidence.count; s++) {
        const struct statistic *now = find(after, &before->evidence.statistic[s]);
        change->fixed += before->evidence.statistic[s].confirmed && now && !now->confirmed &&
                         after->state == CELL_RAN; /* a second look that was cut short clears nobody */
    }
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

static double smallest_epsilon(const struct plan *plan)
{
    double epsilon = 1;
    for (size_t i = 0; i < plan->cells; i++)
        if (plan->cell[i].family == FAMILY_EQUIVALENCE)
            epsilon = fmin(epsilon, plan->cell[i].epsilon);
    return epsilon;
}

/* A cell that a verdict of equivalence would need and that did not run, or NULL. */
static const struct cell_result *not_run(const struct session *session)
{
    for (size_t i = 0; i < session->plan->cells; i++) {
        const struct cell_result *result = &session->cell[i];
        if (result->cell->family == FAMILY_EQUIVALENCE && (!result->selected || result->state != CELL_RAN))
            return result;
    }
    return NULL;
}

/* A check that a verdict of equivalence would need and that --check left out, or NULL. */
static const struct check *not_checked(const struct session *session)
{
    for (size_t i = 0; i < check_registry_count && session->options.checks; i++)
        if (check_registry[i].family == FAMILY_EQUIVALENCE &&
            !check_selected(&check_registry[i], session->options.checks))
            return &check_registry[i];
    return NULL;
}

struct verdict verdict_compare(const struct session *old, const struct session *new,
                               struct cell_change *change, const char *const *require,
                               bool allow_inconclusive)
{
    struct tally before = tally_session(old), after = tally_session(new);
    struct cell_change sum = {0};
    const struct cell_result *first = NULL;
    bool within = true;
    for (size_t i = 0; i < new->plan->cells; i++) {
        compare_cell(old, new, i, &change[i]);
        sum.rows += change[i].rows;
        sum.same += change[i].same;
        sum.differ += change[i].differ;
        sum.preexisting += change[i].preexisting;
        sum.fixed += change[i].fixed;
        sum.introduced += change[i].introduced;
        if (!change[i].introduced)
            continue;
        first = first ? first : &new->cell[i];
        change[i].within_epsilon = within_epsilon(&new->cell[i]);
        within &= change[i].within_epsilon;
    }
    double epsilon = smallest_epsilon(new->plan);
    double identity = sum.rows ? agreement_upper_bound(sum.rows - sum.same, sum.rows, BUDGET_CERTIFICATE) : 1;
    const struct cell_result *missing = not_run(new) ? not_run(new) : not_run(old);
    const struct check *unchecked = not_checked(new);
    const char *new_lacks = verdict_lacks(new, &after, require);
    const char *lacks = new_lacks ? new_lacks : verdict_lacks(old, &before, require);
    bool whole =
        true; /* what a sampler cannot do is skipped and counted; what was left out is another plan */
    for (size_t i = 0; i < new->plan->cells; i++)
        if (new->plan->cell[i].family == FAMILY_EQUIVALENCE)
            whole &= new->cell[i].state != CELL_STOPPED &&
                     old->cell[i].state != CELL_STOPPED &&new->cell[i].selected;
    struct verdict verdict = {0};
#define SENTENCE(...) snprintf(verdict.sentence, sizeof verdict.sentence, __VA_ARGS__)
    if (old->interrupted || new->interrupted) {
        verdict = (struct verdict){.word = "interrupted", .exit = EXIT_INTERRUPTED};
        SENTENCE("%zu cells of old and %zu of new were complete and are kept", before.ran, after.ran);
    } else if (before.errors || after.errors) {
        const struct cell_result *error = after.errors ? after.first_error : before.first_error;
        verdict = (struct verdict){.word = "error", .exit = EXIT_FAIL};
        SENTENCE("%s could not be judged on %s: %.600s", after.errors ? "new" : "old", error->cell->name,
                 error->why);
    } else if (sum.introduced) {
        verdict = (struct verdict){.word = "different", .exit = EXIT_FAIL, .within_epsilon = within};
        SENTENCE("%s%zu statistics of new rejected that old passes, first on %s (U there %.4f)",
                 within ? "but within epsilon: " : "", sum.introduced, first->cell->name, first->bound.upper);
    } else if (lacks) {
        verdict = (struct verdict){.word = "fail", .exit = EXIT_FAIL};
        SENTENCE("--require %s: not run by %s (device %s)", lacks, new_lacks ? "new" : "old",
                 new_lacks ? new->sut.device : old->sut.device);
    } else if (sum.rows && !sum.differ && identity <= epsilon && whole) {
        verdict = (struct verdict){.word = "identical", .exit = EXIT_PASS};
        SENTENCE(
            "the same token in %llu of %llu rows on the same seeds: U = %.2e for this plan's mix of rows",
            (unsigned long long)sum.same, (unsigned long long)sum.rows, identity);
    } else if (after.to_certify && after.certified == after.to_certify && !missing && !unchecked) {
        verdict = (struct verdict){.word = "equivalent", .exit = EXIT_PASS};
        char certified[160];
        certified_words(&after, certified, sizeof certified);
        SENTENCE("on plan %s: %s; U_old + U_new is at most %.4f", new->plan->name, certified,
                 before.worst_bound + after.worst_bound);
    } else {
        verdict = (struct verdict){.word = "inconclusive",
                                   .exit = allow_inconclusive ? EXIT_PASS : EXIT_INCONCLUSIVE};
        if (missing)
            SENTENCE("cell %s did not run: %.200s", missing->cell->name,
                     missing->selected ? missing->why : "--cell leaves it out");
        else if (unchecked)
            SENTENCE("check %s did not run; without it nothing is equivalent", unchecked->key);
        else if (after.uncertified)
            SENTENCE("%s: U = %.4f is the smallest epsilon now certifiable, above %g; about %.3g draws would "
                     "settle it",
                     after.uncertified->cell->name, after.uncertified->bound.upper,
                     after.uncertified->cell->epsilon, after.uncertified->draws_needed);
        else
            SENTENCE("no cell of this plan is certified, and %llu of %llu rows differ",
                     (unsigned long long)(sum.rows - sum.same), (unsigned long long)sum.rows);
    }
    size_t used = strlen(verdict.sentence);
    if (sum.rows && strcmp(verdict.word, "identical"))
        used += (size_t)snprintf(verdict.sentence + used, sizeof verdict.sentence - used,
                                 "; %llu of %llu tokens equal on the same seeds",
                                 (unsigned long long)sum.same, (unsigned long long)sum.rows);
    if (sum.differ > sum.rows - sum.same)
        used += (size_t)snprintf(verdict.sentence + used, sizeof verdict.sentence - used,
                                 "; %llu differ where one token dominates",
                                 (unsigned long long)(sum.differ - (sum.rows - sum.same)));
    if (sum.preexisting || sum.fixed)
        used += (size_t)snprintf(verdict.sentence + used, sizeof verdict.sentence - used,
                                 "; %zu pre-existing, %zu fixed", sum.preexisting, sum.fixed);
    if (after.skipped && used < sizeof verdict.sentence)
        snprintf(verdict.sentence + used, sizeof verdict.sentence - used, "; %zu skipped", after.skipped);
    return verdict;
#undef SENTENCE
}
