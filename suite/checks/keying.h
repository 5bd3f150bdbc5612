/* keying.h: what a sampler's contract says of its seeds; families determinism and replay ask no more than that. */
#ifndef SAMPLEGATE_KEYING_H
#define SAMPLEGATE_KEYING_H
#include <stdbool.h>

#include "suite/golden/draws.h"
#include "suite/judge/worker.h"

struct keying {
    bool seeded; /* it takes a seed and a position for each draw */
    bool
        reproducible; /* the same call gives the same tokens, in any process: unless it claims bitwise "none" */
    bool
        alone; /* a draw's token is decided by its own row, seed and position: not by batch, place or neighbours */
    bool
        by_rank; /* the noise goes by rank, at least where filters are on: a filtered neighbour may change it */
    bool greedy; /* it draws nothing: seeds have nothing to decide */
};

/* From the capability "seeded" and the claims "rng_keying", "bitwise" and "rule", whose words samplegate.h lists. */
struct keying keying_of(const struct sut *sut);
/* The rule it claims, by its golden's group. False: none that the goldens know. */
bool keying_rule(const struct sut *sut, struct draws_rule *rule);
/* It claims the reference's filters, and the reference's penalties. */
bool keying_filters(const struct sut *sut);
bool keying_penalties(const struct sut *sut);
#endif
