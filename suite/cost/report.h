/* report.h: what given traffic costs, as text and as JSON, one object a line. */
#ifndef SAMPLEGATE_COST_REPORT_H
#define SAMPLEGATE_COST_REPORT_H
#include "suite/cost/traffic.h"

/* Both on stdout. */
void cost_report_text(struct cost_traffic *traffic, const struct cost_options *options);
/* event     | fields besides "event"
 * traffic   | engine, vocab, dtype, as (a reading), lines, requests (each prompt of a list is one), refused, skipped, timed,
 *           | sequences, rows (N of the step)
 * refused   | text, requests (of those that get no token, by reason); skipped: the same of lines
 * stage     | stage, share (of steps in which it runs), tensors, reads, writes (bytes, of a step that runs it)
 * estimate  | two_tensors (8 N V), tensors, reads, writes (of all stages, each weighted with its share)
 * parameter | parameter, default, opens (a flag, null: none), off_default (requests), share (of requests), bytes (read and
 *           | written by what it opens, a step)
 * mixed     | flag, requests (share that opens it), steps (share that runs it)
 * forks     | requests, sequences (theirs), widest, rows_factor (of all traffic), preempted, last_preempted
 * prompts   | requests whose prompts' log-probabilities are wanted, unknown (of these, of unknown length), rows (of logits, in
 *           | steps of prompts), widest (of the longest prompt), two_tensors (8 N V of its step)
 * reading   | as, lines (that cost otherwise there), stages (of every step); then otherwise: text, requests
 * remedy    | order, remedy, why, action, costs, saves (bytes read and written a step)
 * status    | status, reason
 * record    | sampling_params, batch, workload, perf, status: the last line */
void cost_report_json(struct cost_traffic *traffic, const struct cost_options *options);
#endif
