/* trace.h: arrivals and finishes in the order of time, to every view's walk. */
#ifndef SAMPLEGATE_ROUTE_TRACE_H
#define SAMPLEGATE_ROUTE_TRACE_H
#include "suite/route/walk.h"

#define ROUTE_VIEWS 12

/* A request that runs. */
struct trace_open {
    int64_t number;
    double finish;
    bool takes[ROUTE_VIEWS]; /* which walks it is in, and with which flags */
    struct engine_flags flags[ROUTE_VIEWS];
    int64_t sequences[ROUTE_VIEWS], ahead[ROUTE_VIEWS]; /* as walk_request has them */
    char id[REQUEST_ID];
};
/* Zero-initialise, then set walk[walks] (borrowed); trace_free. */
struct trace {
    struct walk *walk;
    size_t walks;
    struct trace_open **heap; /* the next to finish first */
    size_t open, room;
    struct trace_open **group; /* arrived at `now` and not joined yet */
    size_t grouped, group_room;
    struct walk_request *joining; /* room for a group */
    double now;
    bool begun;
    int64_t next;
};

/* A request arrives, not before the one before it; `open` is copied, its number is given here. Of the same time, requests
 * finish before others arrive, and the engine has a step in between. Out of memory aborts. */
void trace_arrive(struct trace *trace, double arrival, const struct trace_open *open);
/* No more arrive. `cut`: and nothing more happens either (an interrupt); else the rest runs to its finish, and requests
 * without one to the end of the others. */
void trace_end(struct trace *trace, bool cut);
void trace_free(struct trace *trace);
#endif
