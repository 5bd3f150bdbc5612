/* cost.h: `samplegate cost`: what the sampling parameters of given traffic cost an engine in memory traffic, and what to
 * change. */
#ifndef SAMPLEGATE_COST_H
#define SAMPLEGATE_COST_H
#include <stdbool.h>
#include "suite/cost/stages.h"
#include "suite/trouble.h"

/* Of a step, in milliseconds: as the record has them. */
enum cost_tpot { TPOT_DEFAULT, TPOT_TOP_P_TOP_K, TPOT_MIN_P, TPOT_PENALTIES, TPOTS };
struct cost_options {
    const struct engine *engine; /* one of `staged` paths */
    enum engine_reading reading;
    int64_t vocab, batch; /* batch 0: from the traffic */
    enum cost_dtype dtype;
    const char *requests; /* a path; NULL: one request of defaults */
    bool skip_bad, json, record;
    const char *model_name; /* NULL: not given; so are these, at 0 */
    int64_t concurrency;
    double tpot[TPOTS], bandwidth; /* of memory, in GB (10^9 bytes) a second */
};
#define COST_VOCAB_MAX 100000000
#define COST_BATCH_MAX 1000000

/* Prints the report on stdout. Returns the exit code: 0, 2 with trouble, or 130. */
int cost_run(const struct cost_options *options, struct trouble *trouble);
#endif
