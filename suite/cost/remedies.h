/* remedies.h: the published table of what to do, as far as it applies to given traffic, in its order. */
#ifndef SAMPLEGATE_COST_REMEDIES_H
#define SAMPLEGATE_COST_REMEDIES_H
#include "suite/cost/traffic.h"

#define REMEDIES_MAX 10
struct remedy {
    const char *name;   /* static */
    char why[200];      /* what in the traffic calls for it */
    const char *action; /* static: what to do, and what it costs or needs */
    const char *costs;
    double saves; /* bytes read and written a step, on average, at least; 0: none */
};

/* Fill in remedy[REMEDIES_MAX]; returns how many apply. */
size_t cost_remedies(const struct cost_traffic *traffic, const struct cost_options *options,
                     struct remedy remedy[REMEDIES_MAX]);
#endif
