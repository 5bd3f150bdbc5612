/* verdict.h: one word and one exit code for a run, or for an upgrade. */
#ifndef SAMPLEGATE_VERDICT_H
#define SAMPLEGATE_VERDICT_H
#include "suite/judge/session.h"

struct verdict {
    const char *word; /* run: pass fail error inconclusive nothing-ran interrupted; compare: identical
                         equivalent different ... */
    int exit;
    char sentence[1024];       /* why, with counts */
    bool within_epsilon;       /* different, but every rejected cell's own U is within its epsilon */
    size_t preexisting, fixed; /* statistics; 0 without an old sampler or a baseline */
};

/* What a session's cells came to. */
struct tally {
    size_t ran, skipped, errors, stopped;   /* cells */
    size_t statistics, flagged, rejected;   /* flagged: in stage one */
    size_t tables, to_certify, certified;   /* cells: of family equivalence that ran, and of those */
    double worst_epsilon, worst_bound;      /* over the cells to certify */
    size_t most_bins;                       /* resolution of the coarsest certificate; 0: all ids */
    bool asymptotic;                        /* some certificate is */
    const struct cell_result *uncertified;  /* the first cell whose U is above its epsilon, or NULL */
    const struct cell_result *first_error;  /* or NULL */
    const struct statistic *first_rejected; /* or NULL */
    const struct cell_result *first_rejected_cell;
};
struct tally tally_session(const struct session *session);
/* "4 of 7 tables certified within epsilon 0.02 (over all ids, each with confidence 1 - 1e-06)" */
void certified_words(const struct tally *tally, char *text, size_t bytes);

/* `require`: words from --require, NULL-terminated: gpu, all, capabilities. Unknown words were refused before.
 * The first required capability that this session did not exercise, or NULL. */
const char *verdict_lacks(const struct session *session, const struct tally *tally,
                          const char *const *require);
/* What an upgrade did to one cell. */
struct cell_change {
    uint64_t rows,
        same;        /* tokens of stage one compared, and equal; 0 rows if p_max > 0.9 or not comparable */
    uint64_t differ; /* tokens of stage one that differ, whatever p_max */
    size_t preexisting, fixed, introduced; /* statistics */
    bool unjudged;                         /* new ran, old did not: nothing is pre-existing */
    bool
        within_epsilon; /* new's law on this cell is within its epsilon, and its draws do not depend on each other */
};
/* The same over all cells. */
struct change_sum {
    uint64_t rows, same, differ;
    size_t preexisting, fixed, introduced, unjudged;
    const struct cell_result *first; /* new's first cell with something introduced, or NULL */
    bool within_epsilon;             /* all such cells are */
};
/* change[plan->cells] is filled in, and so is the standing of new's statistics. */
struct change_sum changes_between(const struct session *old, struct session *new, struct cell_change *change);
/* change[plan->cells] and the standing of new's statistics are filled in. */
struct verdict verdict_compare(const struct session *old, struct session *new, struct cell_change *change,
                               const char *const *require, bool allow_inconclusive);
/* baseline: an earlier run, judged from its recording, or NULL; then change is NULL, too. What the baseline shows, too, does
 * not fail the run, and a cell where nothing else is rejected need not be certified. */
struct verdict verdict_run(struct session *session, const struct session *baseline,
                           struct cell_change *change, const char *const *require, bool allow_inconclusive);
/* Is this statistic of `new` rejected, and `old` shows it, too, so that it does not block an upgrade? */
bool statistic_preexisting(const struct session *old, const struct session *new, size_t cell,
                           const struct statistic *statistic);
/* Is it what only `old` shows? */
bool statistic_fixed(const struct session *old, const struct session *new, size_t cell,
                     const struct statistic *statistic);
#endif
