/* report.h: what a bench measured, as text, as Markdown, and as JSON.
 *
 * The JSON is Google Benchmark's (context, benchmarks), so that its tools read it. A benchmark is
 * "CELL/batch:N[/sut:I]/RULE/FIGURE"; one entry of run_type iteration a session, whose real_time is the median of the
 * session's calls and cpu_time the median of what the process used, then aggregates median and cv (here the interquartile
 * spread as a share of the median). Our own beside them: in context plan, plan_sha256, seed, suts, machine; in a benchmark
 * calls, first_quartile, third_quartile, and, of a cell that did not run, error_occurred and error_message. With --vs
 * there is "comparisons" beside "benchmarks". */
#ifndef SAMPLEGATE_BENCH_REPORT_H
#define SAMPLEGATE_BENCH_REPORT_H
#include "suite/bench/compare.h"
#include "suite/bench/machine.h"
#include "suite/bench/summary.h"

struct bench_report {
    const struct bench *bench;
    const struct machine *before, *after;
    const struct bench_comparison *comparison; /* [points], or NULL */
    double claimed;                            /* a speed-up of decode steps, or 0 */
    bool markdown;
};

/* Plan, samplers, machine, and what the figures mean. */
void bench_report_head(const struct bench_report *report);
/* Every time measured; for a plan about the rule with what the second rule saves. */
void bench_report_times(const struct bench_report *report);
/* For a plan about parameters: cells against the one they are held over, growth with N and V, the remedies. */
void bench_report_parameters(const struct bench_report *report);
void bench_report_comparison(const struct bench_report *report);
/* The step that a claimed speed-up of decoding would need, for every saving measured. */
void bench_report_claimed(const struct bench_report *report);
/* What did not run, by name; returns how many. */
size_t bench_report_missing(const struct bench_report *report);
/* Owned: cJSON_Delete. */
cJSON *bench_report_json(const struct bench_report *report, const char *verdict, int exit);

/* "1,738.2" microseconds; static storage, eight at a time. */
const char *bench_microseconds(double nanoseconds);
#endif
