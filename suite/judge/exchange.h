/* exchange.h: one request and its answer, from a recording or from a worker that is replaced when it is lost. */
#ifndef SAMPLEGATE_EXCHANGE_H
#define SAMPLEGATE_EXCHANGE_H
#include <pthread.h>
#include "suite/judge/session.h"

/* So many lost workers, and the SUT is beyond hope: the rest of the cells err without waiting. */
#define LOST_WORKERS_MAX 8

/* What one thread asks. */
struct asker {
    const struct session *session;
    struct worker *worker; /* its own, or the first of the run while that lives */
    struct worker own;
    bool running, used; /* used: it has been asked something */
    pthread_mutex_t *lock;
    int *lost; /* by all threads, under the lock */
};

/* first: a worker already started, or NULL. In the thread that joins, asker_end stops its own worker, and the first if it is
 * lost. */
void asker_begin(struct asker *asker, const struct session *session, struct worker *first, pthread_mutex_t *lock,
                 int *lost);
void asker_end(struct asker *asker);

/* Get the answer to one request: the recording's, or the worker's in *own. fresh: from a process that was asked nothing
 * before. NULL: *state, with why. */
const struct frame *exchange(struct asker *asker, const struct frame *request, bool fresh, struct frame *own,
                             enum cell_state *state, char *why, size_t why_bytes);
/* After an answer that makes no sense the worker is replaced; after one that says "error" it lives on. */
void distrust(struct asker *asker, const struct frame *answer);
#endif
