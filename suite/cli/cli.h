/* cli.h: what the commands share: options, loading, and the end of a run. */
#ifndef SAMPLEGATE_CLI_H
#define SAMPLEGATE_CLI_H
#include <argp.h>
#include "suite/judge/session.h"
#include "suite/report/junit.h"
#include "suite/report/results.h"
#include "suite/report/terminal.h"
#include "suite/sut/engines/engine.h"

#define CLI_REQUIRE_MAX 8

/* Options of the commands that judge; each command's argp takes this one as a child, with &options as its
 * input. */
struct cli_options {
    const char *plan, *golden, *out;
    struct session_options session;
    const char *require[CLI_REQUIRE_MAX + 1];
    size_t requires;
    const char *seed;
    bool json, allow_inconclusive;
    const char *check_word, *cell_word; /* what gave session.checks and session.cells, for messages */
};
extern const struct argp cli_judging; /* --plan --golden --check --cell --jobs --timeout --budget --out --json
                                         --require --allow-inconclusive --seed */
extern const struct cli_options cli_defaults;

/* The value of --as; another text is a usage error. */
enum engine_reading cli_reading(struct argp_state *state, const char *text);
/* Print a trouble on stderr and return its exit code. */
int cli_trouble(const struct trouble *trouble);
/* Find the golden directory and load the plan (--plan, --golden, --seed). */
int cli_plan(struct plan *plan, const struct cli_options *options, struct trouble *trouble);
/* Make a prefix that selects nothing an error that lists what there is. */
int cli_check_selection(const struct plan *plan, const struct cli_options *options, struct trouble *trouble);
/* From now on SIGINT and SIGTERM stop workers and keep results. */
void cli_catch_signals(void);
/* After a command has printed all: could stdout take it? Worst of both, by DESIGN's order 2, 130, 99, 1, 3,
 * 77, 0. */
int cli_finish(int exit, const struct trouble *trouble);
int cli_worst(int a, int b);

/* The end of a command that judged one sampler: verdict, events, text, report, recording. Returns the exit code.
 * baseline: what it is held against, or NULL. every: print the statistics that passed, too. */
int cli_conclude(const char *command, struct session *session, const struct session *baseline,
                 const struct cli_options *options, bool every, struct results *results);

int cli_run(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_repro(int argc, char **argv);
int cli_golden(int argc, char **argv);
int cli_requests(int argc, char **argv);
int cli_judge(int argc, char **argv);
int cli_route(int argc, char **argv);
int cli_cost(int argc, char **argv);
int cli_bench(int argc, char **argv);
#endif
