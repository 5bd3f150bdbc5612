/* verdict.h: one word and one exit code for a run, or for an upgrade. */
#ifndef SAMPLEGATE_VERDICT_H
#define SAMPLEGATE_VERDICT_H
#include "suite/judge/session.h"

struct verdict {
    const char *word; /* run: pass fail error inconclusive nothing-ran interrupted; compare: identical
                         equivalent different ... */
    int exit;
    char sentence[1024]; /* why, with counts */
    bool within_epsilon; /* different, but every rejected cell's own U is within its epsilon */
};

/* What a session's cells came to. */
struct tally {
    size_t ran, skipped, errors, stopped;   /* cells */
    size_t statistics, flagged, rejected;   /* flagged: in stage one */
    size_t tables, to_certify, certified;   /* cells: of family equivalence that ran, and of those */
    double worst_epsilon, worst_bound;      /* over the cells to certify */
    size_t most_bins;                       /* resolution of the coarsest certificate; 0: all ids */
    const struct cell_result *uncertified;  /* the first cell whose U is above its epsilon, or NULL */
    const struct cell_result *first_error;  /* or NULL */
    const struct statistic *first_rejected; /* or NULL */
    const struct cell_result *first_rejected_cell;
};
struct tally tally_session(const struct session *session);
/* "4 of 7 tables certified within epsilon 0.02 (over all ids, each with confidence 1 - 1e-06)" */
void certified_words(const struct tally *tally, char *text, size_t bytes);

/* `require`: words from --require, NULL-terminated: gpu, all, capabilities. Unknown words were refused before. */
/* The first required capability that this session did not exercise, or NULL. */
const char *verdict_lacks(const struct session *session, const struct tally *tally,
                          const char *const *require);
struct verdict verdict_run(const struct session *session, const char *const *require,
                           bool allow_inconclusive);

/* What an upgrade did to one cell. */
struct cell_change {
    uint64_t rows,
        same;        /* tokens of stage one compared, and equal; 0 rows if p_max > 0.9 or not comparable */
    uint64_t differ; /* tokens of stage one that differ, whatever p_max */
    size_t preexisting, fixed, introduced; /* statistics */
    bool
        within_epsilon; /* new's law on this cell is within its epsilon, and its draws do not depend on each other */
};
/* change[plan->cells] is filled in. */
struct verdict verdict_compare(const struct session *old, const struct session *new,
                               struct cell_change *change, const char *const *require,
                               bool allow_inconclusive);
/* Is this statistic of `new` what `old` shows too, so that it does not block an upgrade? */
bool statistic_preexisting(const struct session *old, const struct session *new, size_t cell,
                           const struct statistic *statistic);
#endif
