/* walk.h: the running batch of one view over time: which path it is on, who caused that, and how long a path outlives
 * the requests that need it. */
#ifndef SAMPLEGATE_ROUTE_WALK_H
#define SAMPLEGATE_ROUTE_WALK_H
#include <stdint.h>
#include "suite/route/request.h"
#include "suite/route/view.h"

/* A request between its arrival and its finish, as a walk sees it. */
struct walk_request {
    int64_t number;                   /* unique, rising */
    const char *id;                   /* borrowed */
    const struct engine_flags *flags; /* route_flags_rounded */
    int64_t sequences;                /* that decode side by side: of all its prompts */
    int64_t ahead;                    /* prompts that run alone before, each in a step of its own */
};

/* Time on one path. Seconds are of the trace; tokens are counted in sequence-seconds: a sequence that runs for a second
 * draws as many as any other does. */
struct walk_share {
    struct route_state state;
    double seconds, sequence_seconds;
    double outlived; /* seconds of it in which no running request needed it */
    size_t prefills; /* batches of prompts: their own step ran under flags of their own */
};

struct walk_change {
    double time;
    struct route_state from, to;
    bool joined;       /* by a request that joined; else one that finished */
    const char *cause; /* its id, borrowed; the batch became what it is with it */
};
typedef void (*walk_report)(void *context, const struct walk_change *change);

/* A path that outlived its causes. */
struct walk_outlived {
    double from, to;
    struct route_state state;
    char cause[REQUEST_ID]; /* who brought it about */
    char last[REQUEST_ID];  /* with whose end nobody needed it any more */
};

/* walk_begin, walk_free. */
struct walk {
    const struct route_view *view; /* borrowed */
    walk_report report;            /* NULL: nobody asks */
    void *context;

    struct engine_batch prefill, running;
    struct walk_live {
        struct engine_flags flags;
        size_t requests;
    } * live; /* the running requests by their flags */
    size_t lives;
    bool others;  /* the kinds of running requests are others than when the batch was last looked at */
    size_t ended; /* rows that have finished and that the engine was not told to drop yet */
    struct engine_flags flags; /* the batch's, and its rows as the engine counts them */
    size_t rows;
    struct route_state state, wanted; /* its path, and what its requests would take if it forgot */
    char cause[REQUEST_ID];           /* who brought `state` about */
    char ender[REQUEST_ID];           /* whose end last changed `wanted` */
    double now;
    bool begun;

    struct walk_share *share;
    size_t shares;
    double busy, idle, sequence_seconds;
    size_t open, peak;                /* requests at a time */
    int64_t sequences, sequence_peak; /* and their sequences */
    size_t changes;
    bool outliving;
    struct walk_outlived current, longest;
    size_t outlived; /* how often */
    double outlived_seconds;
};

void walk_begin(struct walk *walk, const struct route_view *view, walk_report report, void *context);
/* Events in the order of time. Out of memory aborts. */

/* Nothing happens until `time`. */
void walk_advance(struct walk *walk, double time);
/* A request's prompt is to be run with those of the others that arrive now. */
void walk_admit(struct walk *walk, const struct walk_request *request);
/* They are run, before any of them finishes. */
void walk_prompts(struct walk *walk);
/* The prompts that were admitted join the running batch; `requests[count]` are those, in order. */
void walk_join(struct walk *walk, const struct walk_request *requests, size_t count);
/* A request draws its last token, then, once for all that end now, the next step. */
void walk_finish(struct walk *walk, const struct walk_request *request);
void walk_step(struct walk *walk);
/* The trace is over: what is still running ends now. */
void walk_end(struct walk *walk);
/* Sequence-seconds on this path. */
double walk_tokens(const struct walk *walk, const struct route_state *state);
void walk_free(struct walk *walk);
#endif
