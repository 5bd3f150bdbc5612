/* exchange.c: ask a recording, or a worker that is replaced when it is lost. */
#include "suite/judge/exchange.h"

#include <string.h>

void asker_begin(struct asker *asker, const struct session *session, struct worker *first,
                 pthread_mutex_t *lock, int *lost)
{
    *asker = (struct asker){
        .session = session, .lock = lock, .lost = lost, .own = {.pid = -1, .in = -1, .out = -1}};
    asker->worker = first ? first : &asker->own;
    asker->running = first && first->pid > 0;
}

void asker_end(struct asker *asker)
{
    if (asker->worker == &asker->own || !asker->running)
        worker_stop(asker->worker);
}

static int fresh_worker(struct asker *asker, struct trouble *trouble)
{
    const struct session *session = asker->session;
    struct sut again = {0};
    worker_stop(asker->worker);
    asker->worker =
        &asker->own; /* a worker dies with the thread that started it: the next stage cannot have it */
    int failed =
        worker_start(asker->worker, session->spec, session->plan, session->options.timeout, &again, trouble);
    sut_free(&again);
    asker->running = !failed;
    asker->used = false;
    return failed;
}

/* Is this the answer to that request? */
static bool echoed(const struct frame *answer, const struct frame *request)
{
    static const char *const keys[] = {"cell", "stage", "batch", "chunk"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *asked = frame_get(request, keys[i]), *got = frame_get(answer, keys[i]);
        if (asked && (!got || strcmp(asked, got)))
            return false;
    }
    return true;
}

/* What a lost worker, or one out of step, says next cannot be trusted. */
static void lose(struct asker *asker)
{
    asker->running = false;
    pthread_mutex_lock(asker->lock);
    (*asker->lost)++;
    pthread_mutex_unlock(asker->lock);
}

static const struct frame *recorded(const struct recording *recording, const struct frame *request, char *why,
                                    size_t why_bytes)
{
    const struct frame *found = recording_find(recording, request);
    if (!found)
        snprintf(why, why_bytes, "the recording %s%s%slacks chunk %s of stage %s%s%s%s",
                 *recording->early ? "ends early (" : "", recording->early, *recording->early ? ") and " : "",
                 frame_get(request, "chunk"), frame_get(request, "stage"),
                 frame_get(request, "batch") ? " at batch " : "",
                 frame_get(request, "batch") ? frame_get(request, "batch") : "",
                 frame_find(request, "noise")
                     ? " (such a cell is asked for by `samplegate requests --noise`, or --like)"
                     : "");
    return found;
}

const struct frame *exchange(struct asker *asker, const struct frame *request, bool fresh, struct frame *own,
                             enum cell_state *state, char *why, size_t why_bytes)
{
    const struct session *session = asker->session;
    struct trouble trouble = {0};
    *state = CELL_ERROR;
    if (session->recording)
        return recorded(session->recording, request, why, why_bytes);
    if ((!asker->running || (fresh && asker->used)) && fresh_worker(asker, &trouble)) {
        if (worker_stop_all)
            *state = CELL_STOPPED;
        pthread_mutex_lock(asker->lock);
        *asker->lost = LOST_WORKERS_MAX;
        pthread_mutex_unlock(asker->lock);
        snprintf(why, why_bytes, "a fresh worker could not be started: %.900s", trouble.text);
        return NULL;
    }
    asker->used = true;
    enum worker_result result =
        worker_ask(asker->worker, request, own, session->options.timeout, why, why_bytes);
    if (result == WORKER_OK && echoed(own, request))
        return own;
    if (result == WORKER_STOPPED) {
        *state = CELL_STOPPED;
        return NULL;
    }
    if (result == WORKER_OK)
        snprintf(why, why_bytes, "the worker answered another request than chunk %s of stage %s",
                 frame_get(request, "chunk"), frame_get(request, "stage"));
    lose(asker);
    return NULL;
}

void distrust(struct asker *asker, const struct frame *answer)
{
    const char *message = frame_get(answer, "message");
    if (!asker->session->recording && !(message && !strcmp(message, "error")))
        lose(asker);
}
