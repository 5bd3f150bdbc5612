/* running.h: the requests that run at once: how many sequences, and which passes they have run in each other's steps. */
#ifndef SAMPLEGATE_COST_RUNNING_H
#define SAMPLEGATE_COST_RUNNING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The passes that a batch's flags open, as a mask. */
enum cost_pass { COST_PENALTIES, COST_TOP_P_TOP_K, COST_MIN_P, COST_PASSES };
#define COST_MASKS (1 << COST_PASSES)

struct running_request {
    double finish;     /* seconds; INFINITY: with the last of the others */
    size_t requests;   /* that are alike: of a list of prompts each is one */
    int64_t sequences; /* of all of them */
    unsigned mask;     /* of the passes that it asks for */
};
/* Zero-initialise; running_free. Time is that of the trace, and stands for steps: all take equally long. */
struct running {
    struct running_request *heap; /* the next to finish first */
    size_t open, room;
    size_t requests[COST_MASKS], all; /* open, by what they ask for; together */
    int64_t sequences[COST_MASKS];    /* of those */
    double now;
    bool begun;

    int64_t peak;              /* sequences at once */
    double busy;               /* seconds with an open request */
    double sequence_seconds;   /* of all sequences together */
    double on[COST_PASSES];    /* seconds of a pass */
    double asked[COST_PASSES]; /* sequence-seconds of requests that ask for it */
    double mixed[COST_PASSES]; /* of these, beside a request that did not ask for it */
};

/* In the order of arrival; at the same time requests finish before others arrive. Out of memory aborts. */
void running_arrive(struct running *running, double arrival, struct running_request request);
/* No more arrive. */
void running_end(struct running *running);
void running_free(struct running *running);
#endif
