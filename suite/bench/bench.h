/* bench.h: time samplers side by side: workers, the calls they time, and what comes of it.
 *
 * Every sampler of a run is asked in turn, block by block, in one order and then in the other, so that whatever slows the
 * machine down slows all of them; a session is a fresh process of each. Times are the worker's own, taken beside the
 * sampler (message `time` of frame.h). */
#ifndef SAMPLEGATE_BENCH_H
#define SAMPLEGATE_BENCH_H
#include "suite/bench/plan.h"
#include "suite/judge/spec.h"
#include "suite/judge/worker.h"

#define BENCH_SUTS_MAX 6

/* What is measured of a call. On a CPU the first is all there is: a call returns when its tokens are there. */
enum bench_figure {
    BENCH_HOST, /* from the call to its return, the queue empty before */
    BENCH_SYNC, /* the same calls, until the device is done: what a decode step pays */
    BENCH_FULL, /* call to return behind a full queue: launches that do not fit make the host wait */
    BENCH_CPU,  /* what the process used of all its cores: it does not see other processes */
    BENCH_FIGURES
};
extern const char *const bench_figure_names[]; /* "host", "synchronized", "host, queue full", "cpu" */

/* One sampler of the command line. */
struct bench_sut {
    struct spec spec;
    struct sut sut; /* what the first session's worker said of itself */
    bool queues;    /* calls queue on a device; known once a time came back */
};

/* One column of the report: a sampler under one rule. */
struct bench_contestant {
    size_t sut;
    char rule[32];  /* sent with the message; "": its own */
    char label[96]; /* "race", or the sampler's own words */
};

enum bench_state { BENCH_PENDING, BENCH_RAN, BENCH_SKIPPED, BENCH_ERROR, BENCH_STOPPED };
extern const char *const bench_state_names[];

/* The times of one contestant at one point: [sessions][calls], nanoseconds. */
struct bench_series {
    enum bench_state state;
    char why[1024];
    double *of[BENCH_FIGURES]; /* NULL: not measured */
    size_t sessions;           /* that are whole */
};

/* One call to be timed: a cell at one of its batch sizes. */
struct bench_point {
    const struct bench_cell *cell;
    uint32_t batch;
    char name[96];               /* "normal-151936/batch:32" */
    struct bench_series *series; /* [contestants] */
};

struct bench_options {
    const char *cells; /* a prefix */
    double timeout;    /* seconds, for one message */
    bool own_rules;    /* each sampler under its own rule only */
};

struct bench {
    const struct bench_plan *plan;
    struct bench_options options;
    struct bench_sut *sut;
    size_t suts;
    struct bench_contestant *contestant;
    size_t contestants;
    struct bench_point *point;
    size_t points;
    double seconds;
    bool interrupted;
};

/* Run it on `suts` specs, which it takes over. -1: could not start at all; what goes wrong later is in the series. Owned:
 * bench_free, whatever it returned. */
int bench_run(struct bench *bench, const struct bench_plan *plan, struct spec *specs, size_t suts,
              const struct bench_options *options, struct trouble *trouble);
void bench_free(struct bench *bench);

/* May a message time name this rule to the sampler? */
bool bench_times_rule(const struct sut *sut, const char *rule);
/* Calls of the series that were timed: whole sessions only. */
size_t bench_calls(const struct bench *bench, const struct bench_series *series);
/* What a decode step pays: synchronized where calls queue, else host. */
enum bench_figure bench_step(const struct bench_series *series);
#endif
