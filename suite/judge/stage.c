/* stage.c: all chunks and script lines of one stage, answered by parallel workers.
 *
 * One thread a worker, blocking on it. Work is handed out in the plan's order; counts are integers and lines keep their
 * own answers, so the order in which they come back does not matter. A lost worker costs its cell (one red check) and
 * is replaced. */
#include "suite/judge/stage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "suite/checks/family.h"
#include "suite/judge/chunk.h"
#include "suite/judge/exchange.h"
#include "suite/judge/progress.h"

struct task {
    size_t cell;
    struct plan_chunk chunk;
    uint64_t offset;          /* of its first draw within the cell's stage */
    struct script_line *line; /* instead of a chunk, or NULL */
};

struct stage {
    struct session *session;
    struct task *task;
    int number;
    size_t tasks, next, done;
    double start;
    int lost;
    struct progress progress;
    pthread_mutex_t lock;
    struct trouble *trouble;
};

struct crew {
    struct stage *stage;
    struct asker asker;
    float *noise; /* room for an agreement chunk's */
    size_t noise_values;
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What has not run to its end ends so. Called with the lock held. */
static void settle(struct stage *stage, struct cell_result *result, enum cell_state state, const char *why)
{
    if (result->state == CELL_PENDING) {
        result->state = state;
        snprintf(result->why, sizeof result->why, "%s", why);
        trouble_flatten(result->why); /* a worker's own words, perhaps */
        recorder_ended(stage->session->options.recorder, result->cell->name, stage->number,
                       cell_state_names[state], result->why);
    }
}

/* As a recorder saw it: false if it saw nothing of the kind. */
static bool settle_as_recorded(struct stage *stage, struct cell_result *result)
{
    const struct recording *recording = stage->session->recording;
    const struct frame *ended =
        recording ? recording_ended(recording, result->cell->name, stage->number) : NULL;
    const char *state = ended ? frame_get(ended, "state") : NULL,
               *why = ended ? frame_get(ended, "text") : NULL;
    for (int s = CELL_SKIPPED; state && s <= CELL_STOPPED; s++)
        if (!strcmp(state, cell_state_names[s]))
            settle(stage, result, (enum cell_state)s, why ? why : "no reason given");
    return result->state != CELL_PENDING;
}

/* The next chunk of a cell that is still worth drawing, or NULL. Called with the lock held. */
static struct task *take(struct stage *stage)
{
    const struct session_options *options = &stage->session->options;
    while (stage->next < stage->tasks) {
        struct task *task = &stage->task[stage->next++];
        struct cell_result *result = &stage->session->cell[task->cell];
        char why[80];
        snprintf(why, sizeof why, "the budget of %g s was spent", options->budget);
        if (worker_stop_all)
            settle(stage, result, CELL_STOPPED, "interrupted");
        else if (options->budget > 0 && seconds_now() - stage->start > options->budget)
            settle(stage, result, CELL_STOPPED, why);
        else if (stage->lost >= LOST_WORKERS_MAX)
            settle(stage, result, CELL_ERROR, "not run: too many workers were lost before");
        if (result->state == CELL_PENDING)
            return task;
        stage->done++;
    }
    return NULL;
}

/* Called with the lock held. */
static void finish_task(struct stage *stage, const struct task *task)
{
    struct cell_result *result = &stage->session->cell[task->cell];
    stage->done++;
    progress_show(&stage->progress, stage->session->options.label, result->cell->name, stage->done,
                  stage->tasks);
}

static void run_chunk(struct crew *crew, struct task *task)
{
    struct stage *stage = crew->stage;
    struct session *session = stage->session;
    struct cell_result *result = &session->cell[task->cell];
    struct frame request = {0}, own = {0};
    struct agreement_counts agreement = {0};
    const int32_t *tokens = NULL;
    char why[1024] = "interrupted";
    enum cell_state state;
    const float *noise = chunk_noise(session, &task->chunk, &crew->noise, &crew->noise_values);
    chunk_request(session, &task->chunk, noise, &request);
    const struct frame *answer = exchange(&crew->asker, &request, false, &own, &state, why, sizeof why);
    if (answer) {
        state = chunk_tokens(session, &task->chunk, answer, &tokens, why, sizeof why);
        if (state == CELL_ERROR)
            distrust(&crew->asker, answer);
    }
    if (state == CELL_RAN && noise)
        chunk_agree(session, &task->chunk, task->offset, tokens, noise, &agreement);
    if (state == CELL_SKIPPED && stage->number == 2)
        state = CELL_ERROR; /* the first stage asked the same, and raised a flag */
    pthread_mutex_lock(&stage->lock);
    if (state != CELL_RAN) {
        settle(stage, result, state, why);
    } else if (result->state == CELL_PENDING) {
        recorder_answer(session->options.recorder, answer);
        if (result->cell->family == FAMILY_EQUIVALENCE)
            chunk_count(session, &task->chunk, task->offset, tokens);
        agreement_merge(&result->agreement, &agreement);
        if (--result->pending == 0)
            result->state = CELL_RAN;
    }
    finish_task(stage, task);
    pthread_mutex_unlock(&stage->lock);
    frame_free(&request);
    frame_free(&own);
}

/* A script that was answered throughout ran, unless every answer was that it cannot be done. */
static void settle_script(struct stage *stage, struct cell_result *result)
{
    const struct script *script = &result->script[stage->number - 1];
    for (size_t i = 0; i < script->lines; i++)
        if (script->line[i].state != LINE_UNSUPPORTED) {
            result->state = CELL_RAN;
            return;
        }
    settle(stage, result, CELL_SKIPPED, script->line[0].text);
}

static void run_line(struct crew *crew, struct task *task)
{
    struct stage *stage = crew->stage;
    struct cell_result *result = &stage->session->cell[task->cell];
    struct script_line *line = task->line;
    char why[1024] = "interrupted";
    enum cell_state state;
    const struct frame *answer =
        exchange(&crew->asker, &line->request, line->fresh, &line->answer, &state, why, sizeof why);
    bool taken = answer && script_take(line, answer, why, sizeof why);
    if (answer && !taken)
        distrust(&crew->asker, answer);
    pthread_mutex_lock(&stage->lock);
    if (!taken) {
        settle(stage, result, state, why);
    } else if (result->state == CELL_PENDING) {
        recorder_answer(stage->session->options.recorder, answer);
        if (--result->pending == 0)
            settle_script(stage, result);
    }
    finish_task(stage, task);
    pthread_mutex_unlock(&stage->lock);
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
        (task->line ? run_line : run_chunk)(crew, task);
    }
    free(crew->noise);
    return NULL;
}

static struct task *more_tasks(struct stage *stage, size_t count)
{
    stage->task = realloc(stage->task, (stage->tasks + count) * sizeof *stage->task);
    if (!stage->task)
        abort();
    struct task *first = &stage->task[stage->tasks];
    stage->tasks += count;
    return first;
}

static void collect_chunks(struct stage *stage, size_t cell)
{
    size_t count;
    struct plan_chunk *chunks = plan_chunks(stage->session->plan, cell, stage->number, &count);
    if (!chunks)
        abort();
    struct task *task = more_tasks(stage, count);
    uint64_t offset = 0;
    for (size_t c = 0; c < count; c++) {
        task[c] = (struct task){.cell = cell, .chunk = chunks[c], .offset = offset};
        offset += chunks[c].draws;
    }
    free(chunks);
    stage->session->cell[cell].pending = count;
}

static void collect_lines(struct stage *stage, size_t cell)
{
    struct cell_result *result = &stage->session->cell[cell];
    struct script *script = &result->script[stage->number - 1];
    char why[1024] = "";
    if (stage->number == 2) { /* the first was built with the session */
        enum cell_state state = session_script(stage->session, result, 2, why, sizeof why);
        if (state != CELL_PENDING) {
            trouble_set(stage->trouble, EXIT_DAMAGED, "golden damaged: cell %s: %s", result->cell->name, why);
            return;
        }
    }
    if (script->lines == 0) {
        settle(stage, result, CELL_SKIPPED, "there is nothing to ask this sampler");
        return;
    }
    struct task *task = more_tasks(stage, script->lines);
    for (size_t i = 0; i < script->lines; i++)
        task[i] = (struct task){.cell = cell, .line = &script->line[i]};
    result->pending = script->lines;
}

/* All the work of the cells that take part in this stage, in the plan's order. */
static void collect(struct stage *stage)
{
    struct session *session = stage->session;
    for (size_t i = 0; i < session->plan->cells; i++) {
        struct cell_result *result = &session->cell[i];
        bool takes_part =
            result->selected && (stage->number == 1 ? result->state == CELL_PENDING
                                                    : result->state == CELL_RAN && result->flagged);
        if (!takes_part)
            continue;
        result->state = CELL_PENDING;
        if (settle_as_recorded(stage, result))
            continue;
        (family_scripted(result->cell->family) ? collect_lines : collect_chunks)(stage, i);
    }
}

int stage_run(struct session *session, int number, struct worker *first, double start,
              struct trouble *trouble)
{
    struct stage stage = {.session = session, .number = number, .start = start, .trouble = trouble};
    collect(&stage);
    if (stage.tasks == 0 || trouble->exit) {
        free(stage.task);
        return trouble->exit ? -1 : 0;
    }
    size_t jobs = (size_t)session->options.jobs < stage.tasks ? (size_t)session->options.jobs : stage.tasks;
    struct crew *crew = calloc(jobs, sizeof *crew);
    pthread_t *thread = calloc(jobs, sizeof *thread);
    if (!crew || !thread)
        abort();
    pthread_mutex_init(&stage.lock, NULL);
    progress_begin(&stage.progress, number);
    size_t started = 0;
    for (size_t j = 0; j < jobs; j++, started++) {
        crew[j].stage = &stage;
        asker_begin(&crew[j].asker, session, j == 0 ? first : NULL, &stage.lock, &stage.lost);
        if (pthread_create(&thread[j], NULL, work, &crew[j]))
            break;
    }
    for (size_t j = 0; j < started; j++)
        pthread_join(thread[j], NULL);
    for (size_t j = 0; j < started; j++)
        asker_end(&crew[j].asker);
    progress_end(&stage.progress);
    pthread_mutex_destroy(&stage.lock);
    free(crew);
    free(thread);
    free(stage.task);
    return started ? 0 : trouble_set(trouble, EXIT_USAGE, "no thread could be started");
}
