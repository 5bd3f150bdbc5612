/* verdict.c: what a run's cells add up to. */
#include "suite/judge/verdict.h"
#include "suite/plural.h"

#include <math.h>
#include <string.h>

struct tally tally_session(const struct session *session)
{
    struct tally tally = {0};
    for (size_t i = 0; i < session->plan->cells; i++) {
        const struct cell_result *result = &session->cell[i];
        if (!result->selected)
            continue;
        tally.ran += result->state == CELL_RAN;
        tally.tables += result->state == CELL_RAN && result->cell->family == FAMILY_EQUIVALENCE;
        tally.skipped += result->state == CELL_SKIPPED;
        tally.stopped += result->state == CELL_STOPPED;
        tally.errors += result->state == CELL_ERROR;
        if (result->state == CELL_ERROR && !tally.first_error)
            tally.first_error = result;
        for (size_t s = 0; s < result->evidence.count; s++) {
            const struct statistic *statistic = &result->evidence.statistic[s];
            tally.statistics++;
            tally.flagged += statistic->flagged;
            tally.rejected += statistic->confirmed;
            if (statistic->confirmed && !tally.first_rejected) {
                tally.first_rejected = statistic;
                tally.first_rejected_cell = result;
            }
        }
        if (result->state != CELL_RAN || result->cell->family != FAMILY_EQUIVALENCE ||
            result->cell->certify == CERTIFY_NONE)
            continue;
        tally.to_certify++;
        tally.certified += result->bound.upper <= result->cell->epsilon;
        tally.worst_epsilon = fmax(tally.worst_epsilon, result->cell->epsilon);
        tally.worst_bound = fmax(tally.worst_bound, result->bound.upper);
        if (result->cell->certify == CERTIFY_BINS &&
            (!tally.most_bins || result->bound_cells < tally.most_bins))
            tally.most_bins = result->bound_cells;
        tally.asymptotic |= result->cell->certify == CERTIFY_IDS_ASYMPTOTIC;
        if (result->bound.upper > result->cell->epsilon && !tally.uncertified)
            tally.uncertified = result;
    }
    return tally;
}

static const struct cell_result *first_in_state(const struct session *session, enum cell_state state)
{
    for (size_t i = 0; i < session->plan->cells; i++)
        if (session->cell[i].selected && session->cell[i].state == state)
            return &session->cell[i];
    return NULL;
}

const char *verdict_lacks(const struct session *session, const struct tally *tally,
                          const char *const *require)
{
    for (size_t i = 0; require && require[i]; i++) {
        if (!strcmp(require[i], "gpu") && strncmp(session->sut.device, "cuda", 4))
            return "gpu";
        if (!strcmp(require[i], "all") && (tally->skipped || !tally->ran))
            return "all";
        if (strcmp(require[i], "gpu") && strcmp(require[i], "all") && !sut_can(&session->sut, require[i]))
            return require[i];
    }
    return NULL;
}

void certified_words(const struct tally *tally, char *text, size_t bytes)
{
    char bins[80] = "over all ids";
    if (tally->certified == 0) {
        snprintf(text, bytes, "none certified");
        return;
    }
    if (tally->most_bins)
        snprintf(bins, sizeof bins, "wide ones over %zu bin%s or more%s", tally->most_bins,
                 PLURAL(tally->most_bins), tally->asymptotic ? " or asymptotically" : "");
    else if (tally->asymptotic)
        snprintf(bins, sizeof bins, "over all ids, of wide ones asymptotically");
    snprintf(text, bytes, "%zu of %zu table%s certified within epsilon %g (%s, each with confidence 1 - %g)",
             tally->certified, tally->tables, PLURAL(tally->tables), tally->worst_epsilon, bins,
             BUDGET_CERTIFICATE);
}

static struct verdict say(const char *word, int exit)
{
    return (struct verdict){.word = word, .exit = exit};
}

/* The first statistic that blocks, of the first cell that has one. */
static const struct statistic *first_introduced(const struct cell_result *result)
{
    const struct statistic *statistic = result->evidence.statistic;
    while (!statistic->confirmed || statistic->standing == STANDING_PREEXISTING)
        statistic++;
    return statistic;
}

/* The first cell whose certificate is wanted and does not hold, or NULL. Of one with a known defect none is wanted. */
static const struct cell_result *uncertified(const struct session *session, const struct cell_change *change)
{
    for (size_t i = 0; i < session->plan->cells; i++) {
        const struct cell_result *result = &session->cell[i];
        if (result->selected && result->state == CELL_RAN && result->cell->family == FAMILY_EQUIVALENCE &&
            result->cell->certify != CERTIFY_NONE && result->bound.upper > result->cell->epsilon &&
            !(change && change[i].preexisting))
            return result;
    }
    return NULL;
}

struct verdict verdict_run(struct session *session, const struct session *baseline,
                           struct cell_change *change, const char *const *require, bool allow_inconclusive)
{
    struct tally tally = tally_session(session);
    struct change_sum since = {.introduced = tally.rejected, .first = tally.first_rejected_cell};
    if (baseline)
        since = changes_between(baseline, session, change);
    const struct cell_result *open = uncertified(session, change);
    const char *lacking = verdict_lacks(session, &tally, require);
    const struct cell_result *stopped = first_in_state(session, CELL_STOPPED);
    const char *newly = baseline ? "newly " : "";
    struct verdict verdict;
#define SENTENCE(...) snprintf(verdict.sentence, sizeof verdict.sentence, __VA_ARGS__)
#define APPEND(...)                                                                                          \
    snprintf(verdict.sentence + strlen(verdict.sentence),                                                    \
             sizeof verdict.sentence - strlen(verdict.sentence), __VA_ARGS__)
    if (session->interrupted) {
        verdict = say("interrupted", EXIT_INTERRUPTED);
        SENTENCE("%zu cell%s complete and kept, %zu not; %zu statistic%s rejected so far", tally.ran,
                 PLURAL(tally.ran), tally.stopped, tally.rejected, PLURAL(tally.rejected));
    } else if (since.introduced) {
        verdict = say("fail", EXIT_FAIL);
        SENTENCE("%zu of %zu statistic%s %srejected, first %s on %s of plan %s; a correct sampler fails with "
                 "probability %.1e at most",
                 since.introduced, tally.statistics, PLURAL(tally.statistics), newly,
                 first_introduced(since.first)->check->key, since.first->cell->name, session->plan->name,
                 budget_total(session->plain, session->fine));
    } else if (tally.errors) {
        verdict = say("error", EXIT_FAIL);
        SENTENCE("%zu cell%s could not be judged, first %s: %.600s", tally.errors, PLURAL(tally.errors),
                 tally.first_error->cell->name, tally.first_error->why);
    } else if (lacking) {
        verdict = say("fail", EXIT_FAIL);
        SENTENCE("--require %s: not run (device %s, %zu cell%s skipped)", lacking, session->sut.device,
                 tally.skipped, PLURAL(tally.skipped));
    } else if (tally.ran == 0 && !stopped) {
        verdict = say("nothing-ran", EXIT_NOTHING_RAN);
        SENTENCE("no cell could run");
    } else if (stopped) {
        verdict = say("inconclusive", EXIT_INCONCLUSIVE);
        SENTENCE("%zu cell%s did not run, first %s: %.200s", tally.stopped, PLURAL(tally.stopped),
                 stopped->cell->name, stopped->why);
    } else if (open) {
        verdict = say("inconclusive", EXIT_INCONCLUSIVE);
        SENTENCE("%zu of %zu certificate%s; %s: U = %.4f is above epsilon %g, and about %.3g draws would "
                 "settle it",
                 tally.certified, tally.to_certify, tally.to_certify == 1 ? " holds" : "s hold",
                 open->cell->name, open->bound.upper, open->cell->epsilon, open->draws_needed);
    } else {
        verdict = say("pass", EXIT_PASS);
        char certified[160];
        certified_words(&tally, certified, sizeof certified);
        SENTENCE(
            "%zu cell%s of plan %s, %zu statistic%s, none %srejected (%zu looked at twice)%s%s; false-alarm "
            "probability of the run %.1e",
            tally.ran, PLURAL(tally.ran), session->plan->name, tally.statistics, PLURAL(tally.statistics),
            newly, tally.flagged, tally.to_certify ? ", " : "", tally.to_certify ? certified : "",
            budget_total(session->plain, session->fine));
    }
    verdict.preexisting = since.preexisting;
    verdict.fixed = since.fixed;
    if (baseline)
        APPEND("; against the baseline %zu pre-existing, %zu fixed", since.preexisting, since.fixed);
    if (since.unjudged)
        APPEND("; %zu cell%s not judged in the baseline", since.unjudged, PLURAL(since.unjudged));
    if (tally.skipped)
        APPEND("; %zu skipped", tally.skipped);
    if (allow_inconclusive && verdict.exit == EXIT_INCONCLUSIVE)
        verdict.exit = EXIT_PASS;
    return verdict;
#undef SENTENCE
#undef APPEND
}
