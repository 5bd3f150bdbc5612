/* route.h: `samplegate route`: which path the sampler of an engine takes for given traffic, why, and what would change
 * it. */
#ifndef SAMPLEGATE_ROUTE_H
#define SAMPLEGATE_ROUTE_H
#include <stdbool.h>
#include "suite/sut/engines/engine.h"
#include "suite/trouble.h"

struct route_options {
    const struct engine *engine, *vs; /* vs: NULL or the engine to upgrade to */
    enum engine_reading reading;
    const char *config, *server, *log, *requests; /* paths; NULL: not given */
    bool skip_bad, json;
};

/* Prints the report on stdout. Returns the exit code: 0, 2 with trouble, or 130. */
int route_run(const struct route_options *options, struct trouble *trouble);
#endif
