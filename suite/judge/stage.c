/* stage.c: all chunks of one stage, drawn by parallel workers.
 *
 * One thread a worker, blocking on it. Chunks are handed out in the plan's order; counts are integers, so the
 * order in which they come back does not matter. A lost worker costs its cell (one red check) and is
 * replaced. */
#include "suite/judge/stage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "suite/judge/chunk.h"
#include "suite/judge/progress.h"

#define LOST_WORKERS_MAX                                                                                     \
    8 /* after that the SUT is beyond hope: the rest of the cells err without waiting                        \
       */

struct task {
    struct plan_chunk chunk;
    uint64_t offset; /* of its first draw within the cell's stage */
};

struct stage {
    struct session *session;
    struct task *task;
    size_t tasks, next, done;
    double start;
    int lost;
    struct progress progress;
    pthread_mutex_t lock;
    struct trouble *trouble;
};

struct crew {
    struct stage *stage;
    struct worker *worker;
    struct worker own;
    bool running;
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void settle(struct cell_result *result, enum cell_state state, const char *why)
{
    if (result->state == CELL_PENDING) {
        result->state = state;
        snprintf(result->why, sizeof result->why, "%s", why);
        trouble_flatten(result->why); /* a worker's own words, perhaps */
    }
}

/* The next chunk of a cell that is still worth drawing, or NULL. Called with the lock held. */
static struct task *take(struct stage *stage)
{
    const struct session_options *options = &stage->session->options;
    while (stage->next < stage->tasks) {
        struct task *task = &stage->task[stage->next++];
        struct cell_result *result = &stage->session->cell[task->chunk.cell];
        char why[80];
        snprintf(why, sizeof why, "the budget of %g s was spent", options->budget);
        if (worker_stop_all)
            settle(result, CELL_STOPPED, "interrupted");
        else if (options->budget > 0 && seconds_now() - stage->start > options->budget)
            settle(result, CELL_STOPPED, why);
        else if (stage->lost >= LOST_WORKERS_MAX)
            settle(result, CELL_ERROR, "not run: too many workers were lost before");
        if (result->state == CELL_PENDING)
            return task;
        stage->done++;
    }
    return NULL;
}

static int fresh_worker(struct crew *crew, struct trouble *trouble)
{
    struct session *session = crew->stage->session;
    struct sut again = {0};
    worker_stop(crew->worker);
    crew->worker =
        &crew->own; /* a worker dies with the thread that started it: the next stage cannot have it */
    int failed =
        worker_start(crew->worker, session->spec, session->plan, session->options.timeout, &again, trouble);
    sut_free(&again);
    crew->running = !failed;
    return failed;
}

/* Get the answer to one chunk. On CELL_RAN *tokens borrows from *answer or from the recording. */
static enum cell_state answer_chunk(struct crew *crew, const struct plan_chunk *chunk, const float *noise,
                                    struct frame *answer, const int32_t **tokens, char *why, size_t why_bytes)
{
    struct stage *stage = crew->stage;
    struct session *session = stage->session;
    if (session->recording) {
        const struct frame *found = recording_find(session->recording, session->plan, chunk);
        if (found)
            return chunk_tokens(session, chunk, found, tokens, why, why_bytes);
        snprintf(why, why_bytes, "the recording lacks chunk %llu of stage %d at batch %u%s",
                 (unsigned long long)chunk->index, chunk->stage, session->plan->batch[chunk->batch].size,
                 noise ? " (such a cell is asked for by `samplegate requests --noise`)" : "");
        return CELL_ERROR;
    }
    struct trouble trouble = {0};
    if (!crew->running && fresh_worker(crew, &trouble)) {
        if (worker_stop_all)
            return CELL_STOPPED;
        pthread_mutex_lock(&stage->lock);
        stage->lost = LOST_WORKERS_MAX;
        pthread_mutex_unlock(&stage->lock);
        snprintf(why, why_bytes, "a fresh worker could not be started: %.900s", trouble.text);
        return CELL_ERROR;
    }
    struct frame request = {0};
    chunk_request(session, chunk, noise, &request);
    enum worker_result result =
        worker_ask(crew->worker, &request, answer, session->options.timeout, why, why_bytes);
    frame_free(&request);
    if (result == WORKER_STOPPED)
        return CELL_STOPPED;
    if (result == WORKER_OK) {
        enum cell_state state = chunk_tokens(session, chunk, answer, tokens, why, why_bytes);
        if (state != CELL_ERROR ||
            (frame_get(answer, "message") && !strcmp(frame_get(answer, "message"), "error")))
            return state;
    }
    /* Lost, or out of step: whatever it says next cannot be trusted. */
    crew->running = false;
    pthread_mutex_lock(&stage->lock);
    stage->lost++;
    pthread_mutex_unlock(&stage->lock);
    return CELL_ERROR;
}

static void run_task(struct crew *crew, struct task *task)
{
    struct stage *stage = crew->stage;
    struct session *session = stage->session;
    struct cell_result *result = &session->cell[task->chunk.cell];
    struct frame answer = {0};
    struct agreement_counts agreement = {0};
    const int32_t *tokens = NULL;
    char why[1024] = "interrupted";
    float *noise = chunk_noise(session, &task->chunk);
    enum cell_state state = answer_chunk(crew, &task->chunk, noise, &answer, &tokens, why, sizeof why);
    if (state == CELL_RAN && noise)
        chunk_agree(session, &task->chunk, task->offset, tokens, noise, &agreement);
    free(noise);
    if (state == CELL_SKIPPED && task->chunk.stage == 2)
        state = CELL_ERROR; /* the first stage asked the same, and raised a flag */
    pthread_mutex_lock(&stage->lock);
    if (state != CELL_RAN) {
        settle(result, state, why);
    } else if (result->state == CELL_PENDING) {
        if (result->cell->family == FAMILY_EQUIVALENCE)
            chunk_count(session, &task->chunk, task->offset, tokens);
        agreement_merge(&result->agreement, &agreement);
        if (--result->pending == 0)
            result->state = CELL_RAN;
    }
    stage->done++;
    progress_show(&stage->progress, session->options.label, result->cell->name, stage->done, stage->tasks);
    pthread_mutex_unlock(&stage->lock);
    frame_free(&answer);
}

static void *work(void *argument)
{
    struct crew *crew = argument;
    struct stage *stage = crew->stage;
    for (;;) {
        pthread_mutex_lock(&stage->lock);
        struct task *task = take(stage);
        pthread_mutex_unlock(&stage->lock);
        if (!task)
            break;
        run_task(crew, task);
    }
    return NULL;
}

/* Every chunk of the cells that take part in this stage, in the plan's order. */
static void collect(struct stage *stage, int number)
{
    struct session *session = stage->session;
    for (size_t i = 0; i < session->plan->cells; i++) {
        struct cell_result *result = &session->cell[i];
        bool takes_part = result->selected && (number == 1 ? result->state == CELL_PENDING
                                                           : result->state == CELL_RAN && result->flagged);
        if (!takes_part)
            continue;
        size_t count;
        struct plan_chunk *chunks = plan_chunks(session->plan, i, number, &count);
        stage->task = realloc(stage->task, (stage->tasks + count) * sizeof *stage->task);
        if (!chunks || !stage->task)
            abort();
        uint64_t offset = 0;
        for (size_t c = 0; c < count; c++) {
            stage->task[stage->tasks++] = (struct task){.chunk = chunks[c], .offset = offset};
            offset += chunks[c].draws;
        }
        free(chunks);
        result->state = CELL_PENDING;
        result->pending = count;
    }
}

int stage_run(struct session *session, int number, struct worker *first, double start,
              struct trouble *trouble)
{
    struct stage stage = {.session = session, .start = start, .trouble = trouble};
    collect(&stage, number);
    if (stage.tasks == 0)
        return 0;
    size_t jobs = (size_t)session->options.jobs < stage.tasks ? (size_t)session->options.jobs : stage.tasks;
    struct crew *crew = calloc(jobs, sizeof *crew);
    pthread_t *thread = calloc(jobs, sizeof *thread);
    if (!crew || !thread)
        abort();
    pthread_mutex_init(&stage.lock, NULL);
    progress_begin(&stage.progress, number);
    size_t started = 0;
    for (size_t j = 0; j < jobs; j++, started++) {
        crew[j] = (struct crew){.stage = &stage, .own = {.pid = -1, .in = -1, .out = -1}};
        crew[j].worker = j == 0 && first ? first : &crew[j].own;
        crew[j].running = j == 0 && first && first->pid > 0;
        if (pthread_create(&thread[j], NULL, work, &crew[j]))
            break;
    }
    for (size_t j = 0; j < started; j++)
        pthread_join(thread[j], NULL);
    for (size_t j = 0; j < started; j++)
        if (crew[j].worker == &crew[j].own)
            worker_stop(&crew[j].own);
        else if (!crew[j].running)
            worker_stop(first);
    progress_end(&stage.progress);
    pthread_mutex_destroy(&stage.lock);
    free(crew);
    free(thread);
    free(stage.task);
    return started ? 0 : trouble_set(trouble, EXIT_USAGE, "no thread could be started");
}
