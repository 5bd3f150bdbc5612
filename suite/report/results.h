/* results.h: results.jsonl, one event a line, and the same lines on stdout with --json.
 *
 * event     | fields besides "event"; [brackets]: present only where it applies
 * run       | samplegate, command, plan, plan_sha256, seed, jobs, gsl, started, suts: a list of
 *           |   [role], spec, name, version, device, takes, dtype, capabilities, files {path: sha256},
 *           |   versions {name: text}, contract {}
 * cell      | [sut], cell, family, [table], state (ran skipped error stopped), [why], [published]
 *           |   equivalence that ran: draws, total_variation, expected_total_variation, deviation,
 *           |   upper_bound, over (ids bins), asymptotic, resolution (cells of the bound), epsilon,
 *           |   certify (none ids bins ids-asymptotic), certified, draws_needed
 *           |   agreement that ran: rows, mismatches, near_ties, near_ties_expected, unexplained,
 *           |   mismatch_bound
 *           |   other families that ran: messages, draws (of stage one), unsupported (messages answered so)
 * statistic | [sut], cell, check, statistic, kind (plain fine violation), p, p_beyond, value, expected,
 *           |   level, flagged, rejected, [p_second], [smallest_effect], [text],
 *           |   [standing]: "pre-existing" or "fixed", against the old sampler or the baseline
 *           |   p, p_beyond: first stage; value, expected, text: of the second if rejected there
 * check     | [sut], check, status (pass fail inconclusive not-claimed skipped error), cells, rejected
 * change    | cell, rows, same, introduced, preexisting, fixed, old_state (pending: not selected), [old_why]
 * verdict   | verdict, exit, sentence, within_epsilon, seconds, statistics, rejected, preexisting, fixed,
 *           |   skipped, false_alarm_probability
 *
 * sut and role are "old" or "new", in `compare` only; with --baseline, a second sut of role "baseline" tells where that came
 * from. The event change is in these two. A check fails by what is not pre-existing. The seed and whatever counts
 * draws or rows are 64 bits wide and therefore text.
 * The file is written as results.jsonl.partial, line by line, and takes its final name when its last line is
 * the verdict. */
#ifndef SAMPLEGATE_RESULTS_H
#define SAMPLEGATE_RESULTS_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include "suite/judge/verdict.h"

struct results {
    FILE *file;              /* results.jsonl.partial, or NULL */
    char *path;              /* the final name */
    bool echo;               /* --json */
    int failed, echo_failed; /* errno of the first failed write to the file, to stdout; or 0 */
};

/* directory may be NULL (no file); it is made if missing. */
int results_open(struct results *results, const char *directory, bool echo, struct trouble *trouble);
/* Write one event and free it. It is always one line of UTF-8, whatever a worker said. Failures are kept
 * until results_close. */
void results_event(struct results *results, cJSON *event);
/* Give the file its final name. exit 99 if anything could not be written. */
int results_close(struct results *results, struct trouble *trouble);
/* Nothing was judged: remove the file that was begun. Does nothing after results_close. */
void results_abandon(struct results *results);

/* The events above. roles: "" for run, "baseline" beside it, "old" and "new" for compare. */
cJSON *event_run(const char *command, const struct plan *plan, int jobs,
                 const struct session *const *sessions, const char *const *roles, size_t count);
void events_session(struct results *results, const struct session *session, const char *role);
cJSON *event_change(const struct cell_result *old, const struct cell_change *change);
cJSON *event_verdict(const struct verdict *verdict, const struct session *session, double seconds);
#endif
