/* compare.c: what an upgrade from one sampler to another comes to: the first of error, different, identical,
 * equivalent, inconclusive that holds. The distance is the new sampler's from the exact law; the old one's is
 * printed beside it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "suite/checks/family.h"
#include "suite/judge/verdict.h"
#include "suite/plural.h"

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

/* A cell beyond the law (seeds, filters, batches, routes) that old ran and new cannot: a promise that is gone. Or NULL. */
static const struct cell_result *given_up(const struct session *old, const struct session *new)
{
    for (size_t i = 0; i < new->plan->cells; i++)
        if (family_scripted(new->plan->cell[i].family) && old->cell[i].state == CELL_RAN &&
            new->cell[i].state == CELL_SKIPPED)
            return &new->cell[i];
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

/* Did every cell that the verdict speaks of run on both? What a sampler cannot do is skipped and counted; what was left out
 * is another plan. */
static bool whole(const struct session *old, const struct session *new)
{
    for (size_t i = 0; i < new->plan->cells; i++)
        if (new->plan->cell[i].family == FAMILY_EQUIVALENCE &&
            (new->cell[i].state == CELL_STOPPED || old->cell[i].state == CELL_STOPPED ||
             !new->cell[i].selected))
            return false;
    return true;
}

__attribute__((format(printf, 2, 3))) static void say(struct verdict *verdict, const char *format, ...)
{
    size_t used = strlen(verdict->sentence);
    va_list list;
    va_start(list, format);
    vsnprintf(verdict->sentence + used, sizeof verdict->sentence - used, format, list);
    va_end(list);
}

/* Does anything stand in the way of equivalence? Says what. */
static bool undecided(const struct session *old, const struct session *new, const struct tally *after,
                      const struct change_sum *sum, struct verdict *verdict)
{
    const struct cell_result *missing = not_run(new) ? not_run(new) : not_run(old);
    const struct check *unchecked = not_checked(new);
    const struct cell_result *gone = given_up(old, new);
    if (gone)
        say(verdict, "cell %s ran on old, and new gives it up: %.200s", gone->cell->name, gone->why);
    else if (missing)
        say(verdict, "cell %s did not run: %.200s", missing->cell->name,
            missing->selected ? missing->why : "--cell leaves it out");
    else if (unchecked)
        say(verdict, "check %s did not run; without it nothing is equivalent", unchecked->key);
    else if (after->uncertified)
        say(verdict,
            "%s: U = %.4f is the smallest epsilon now certifiable, above %g; about %.3g draws would "
            "settle it",
            after->uncertified->cell->name, after->uncertified->bound.upper,
            after->uncertified->cell->epsilon, after->uncertified->draws_needed);
    else if (!after->to_certify)
        say(verdict, "no cell of this plan is certified, and %llu of %llu row%s differ",
            (unsigned long long)(sum->rows - sum->same), (unsigned long long)sum->rows, PLURAL(sum->rows));
    else
        return false;
    return true;
}

/* The counts that follow the sentence, whatever the verdict. */
static void say_counts(struct verdict *verdict, const struct change_sum *sum, const struct tally *after)
{
    if (sum->rows && strcmp(verdict->word, "identical"))
        say(verdict, "; %llu of %llu token%s equal on the same seeds", (unsigned long long)sum->same,
            (unsigned long long)sum->rows, PLURAL(sum->rows));
    if (sum->differ > sum->rows - sum->same)
        say(verdict, "; %llu differ where one token dominates",
            (unsigned long long)(sum->differ - (sum->rows - sum->same)));
    if (sum->preexisting || sum->fixed)
        say(verdict, "; %zu pre-existing, %zu fixed", sum->preexisting, sum->fixed);
    if (after->skipped)
        say(verdict, "; %zu skipped", after->skipped);
}

struct verdict verdict_compare(const struct session *old, struct session *new, struct cell_change *change,
                               const char *const *require, bool allow_inconclusive)
{
    struct tally before = tally_session(old), after = tally_session(new);
    struct change_sum sum = changes_between(old, new, change);
    double identity = sum.rows ? agreement_upper_bound(sum.rows - sum.same, sum.rows, BUDGET_CERTIFICATE) : 1;
    const char *new_lacks = verdict_lacks(new, &after, require);
    const char *lacks = new_lacks ? new_lacks : verdict_lacks(old, &before, require);
    struct verdict verdict = {.word = "inconclusive",
                              .exit = allow_inconclusive ? EXIT_PASS : EXIT_INCONCLUSIVE};
    if (old->interrupted || new->interrupted) {
        verdict = (struct verdict){.word = "interrupted", .exit = EXIT_INTERRUPTED};
        say(&verdict, "%zu cell%s of old and %zu of new complete and kept", before.ran, PLURAL(before.ran),
            after.ran);
    } else if (before.errors || after.errors) {
        const struct cell_result *error = after.errors ? after.first_error : before.first_error;
        verdict = (struct verdict){.word = "error", .exit = EXIT_FAIL};
        say(&verdict, "%s could not be judged on %s: %.600s", after.errors ? "new" : "old", error->cell->name,
            error->why);
    } else if (sum.introduced) {
        verdict =
            (struct verdict){.word = "different", .exit = EXIT_FAIL, .within_epsilon = sum.within_epsilon};
        say(&verdict, "%s%zu statistic%s of new rejected that old passes, first on %s",
            sum.within_epsilon ? "but within epsilon: " : "", sum.introduced, PLURAL(sum.introduced),
            sum.first->cell->name);
        if (sum.first->cell->family == FAMILY_EQUIVALENCE)
            say(&verdict, " (U there %.4f)", sum.first->bound.upper);
    } else if (lacks) {
        verdict = (struct verdict){.word = "fail", .exit = EXIT_FAIL};
        say(&verdict, "--require %s: not run by %s (device %s)", lacks, new_lacks ? "new" : "old",
            new_lacks ? new->sut.device : old->sut.device);
    } else if (sum.rows && !sum.differ && identity <= smallest_epsilon(new->plan) && whole(old, new) &&
               !given_up(old, new)) {
        verdict = (struct verdict){.word = "identical", .exit = EXIT_PASS};
        say(&verdict,
            "the same token in %llu of %llu rows on the same seeds: U = %.2e for this plan's mix of rows",
            (unsigned long long)sum.same, (unsigned long long)sum.rows, identity);
    } else if (!undecided(old, new, &after, &sum, &verdict)) {
        verdict = (struct verdict){.word = "equivalent", .exit = EXIT_PASS};
        char certified[160];
        certified_words(&after, certified, sizeof certified);
        say(&verdict, "on plan %s: %s; U_old + U_new is at most %.4f", new->plan->name, certified,
            before.worst_bound + after.worst_bound);
    }
    say_counts(&verdict, &sum, &after);
    verdict.preexisting = sum.preexisting;
    verdict.fixed = sum.fixed;
    return verdict;
}
