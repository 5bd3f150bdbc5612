/* terminal.h: a session and its verdict as text for people, on stdout. Colour only on a terminal and without
 * NO_COLOR. */
#ifndef SAMPLEGATE_TERMINAL_H
#define SAMPLEGATE_TERMINAL_H
#include "suite/judge/verdict.h"

void terminal_header(const struct plan *plan, int jobs);
/* The SUT, a line a cell, and every rejected statistic with what a reader needs to act. role: "" | "old" |
 * "new". every: also statistics that passed (repro). */
void terminal_session(const struct session *session, const char *role, bool every);
void terminal_changes(const struct plan *plan, const struct cell_change *change);
/* Of each cell the statistics that only the baseline shows, and whether the baseline judges it at all. */
void terminal_baseline(const struct session *baseline, const struct session *session,
                       const struct cell_change *change);
/* What changed between old and new besides the rule: versions and file hashes. */
void terminal_differences(const struct session *old, const struct session *new);
void terminal_verdict(const struct verdict *verdict, double seconds);
#endif
