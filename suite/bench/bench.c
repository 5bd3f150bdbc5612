/* bench.c: sessions of fresh workers, asked in turn. */
#include "suite/bench/bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "suite/bench/message.h"
#include "suite/judge/progress.h"

#define REWARM 2 /* untimed calls at the head of a block: another sampler had the caches */

const char *const bench_figure_names[] = {"host", "synchronized", "host, queue full", "cpu"};
const char *const bench_state_names[] = {"pending", "ran", "skipped", "error", "stopped"};

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort();
    return memory;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

size_t bench_calls(const struct bench *bench, const struct bench_series *series)
{
    return series->sessions * bench->plan->calls;
}

enum bench_figure bench_step(const struct bench_series *series)
{
    return series->of[BENCH_SYNC] ? BENCH_SYNC : BENCH_HOST;
}

/* The workers of one session. */
struct crew {
    struct bench *bench;
    struct worker worker[BENCH_SUTS_MAX];
    bool running[BENCH_SUTS_MAX];
    size_t session;
    struct progress progress;
    size_t done, total; /* blocks */
};

static int start_worker(struct crew *crew, size_t sut, struct trouble *trouble)
{
    struct bench *bench = crew->bench;
    struct sut said = {0};
    struct plan named = {.seed = bench->plan->seed};
    snprintf(named.name, sizeof named.name, "%s", bench->plan->name);
    snprintf(named.sha256, sizeof named.sha256, "%s", bench->plan->sha256);
    worker_stop(&crew->worker[sut]);
    const int failed = worker_start(&crew->worker[sut], &bench->sut[sut].spec, &named, bench->options.timeout,
                                    &said, trouble);
    crew->running[sut] = !failed;
    if (!failed && !bench->sut[sut].sut.name)
        bench->sut[sut].sut = said;
    else
        sut_free(&said);
    return failed;
}

static void stop_workers(struct crew *crew)
{
    for (size_t i = 0; i < crew->bench->suts; i++)
        worker_stop(&crew->worker[i]);
}

/* What is over stays so: only the first end of a series counts. */
static void settle(struct bench_series *series, enum bench_state state, const char *why)
{
    if (series->state != BENCH_PENDING)
        return;
    series->state = state;
    snprintf(series->why, sizeof series->why, "%s", why);
    trouble_flatten(series->why); /* a worker's own words, perhaps */
}

/* Is this the answer to that request? */
static bool echoed(const struct frame *answer, const struct frame *request)
{
    static const char *const keys[] = {"cell", "chunk", "rule"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *asked = frame_get(request, keys[i]), *got = frame_get(answer, keys[i]);
        if (asked && (!got || strcmp(asked, got)))
            return false;
    }
    return true;
}

/* One message to one contestant's worker; the series holds what came of it. */
static void ask(struct crew *crew, struct bench_message *message, const struct bench_point *point,
                struct bench_series *series, size_t sut, size_t block, bool rows)
{
    struct bench *bench = crew->bench;
    const struct bench_plan *plan = bench->plan;
    const uint32_t first = (uint32_t)(block * plan->calls / plan->blocks),
                   calls = (uint32_t)((block + 1) * plan->calls / plan->blocks) - first;
    struct frame answer = {0}, request = bench_message_frame(message, bench, point, block,
                                                             block ? REWARM : plan->warmup, calls, rows);
    struct trouble trouble = {0};
    char why[1024] = "";
    if (!crew->running[sut] && start_worker(crew, sut, &trouble))
        settle(series, worker_stop_all ? BENCH_STOPPED : BENCH_ERROR, trouble.text);
    if (series->state == BENCH_PENDING) {
        const double start = now();
        const enum worker_result result =
            worker_ask(&crew->worker[sut], &request, &answer, bench->options.timeout, why, sizeof why);
        const double elapsed = now() - start;
        if (result == WORKER_OK && !echoed(&answer, &request)) {
            crew->running[sut] = false;
            settle(series, BENCH_ERROR, "the worker answered another request");
        } else if (result == WORKER_OK) {
            const enum bench_state state =
                bench_message_take(message, &answer, calls, elapsed, crew->session * plan->calls + first,
                                   (size_t)plan->sessions * plan->calls, series, why, sizeof why);
            if (state != BENCH_PENDING)
                settle(series, state, why);
            bench->sut[sut].queues |= series->of[BENCH_SYNC] != NULL;
        } else {
            crew->running[sut] = false;
            settle(series, result == WORKER_STOPPED ? BENCH_STOPPED : BENCH_ERROR,
                   result == WORKER_STOPPED ? "interrupted" : why);
        }
    }
    frame_free(&answer);
    frame_free(&request);
    progress_show(&crew->progress, "", point->name, ++crew->done, crew->total);
}

/* All blocks of a point, the contestants in turn: first to last, then last to first. A sampler's rows are sent once, and
 * again where the greedy rule or a fresh worker needs them. */
static void time_point(struct crew *crew, struct bench_point *point)
{
    struct bench *bench = crew->bench;
    struct bench_message *message = allocate(bench->contestants, sizeof *message);
    bool sent[BENCH_SUTS_MAX] = {false};
    for (size_t c = 0; c < bench->contestants; c++) {
        char why[1024] = "";
        const enum bench_state state =
            bench_message_make(&message[c], bench, point, &bench->contestant[c], why, sizeof why);
        if (state != BENCH_PENDING)
            settle(&point->series[c], state, why);
    }
    for (size_t block = 0; block < bench->plan->blocks; block++)
        for (size_t turn = 0; turn < bench->contestants; turn++) {
            const size_t c = block % 2 ? bench->contestants - 1 - turn : turn, sut = bench->contestant[c].sut;
            struct bench_series *series = &point->series[c];
            if (series->state != BENCH_PENDING || worker_stop_all)
                continue;
            const bool rows = !sent[sut] || !crew->running[sut];
            ask(crew, &message[c], point, series, sut, block, rows);
            sent[sut] = series->state == BENCH_PENDING;
        }
    for (size_t c = 0; c < bench->contestants; c++) {
        bench_message_free(&message[c]);
        if (worker_stop_all)
            settle(&point->series[c], BENCH_STOPPED, "interrupted");
        else if (point->series[c].state == BENCH_PENDING)
            point->series[c].sessions = crew->session + 1;
    }
    free(message);
}

static void add_contestant(struct bench *bench, size_t sut, const char *rule)
{
    bench->contestant = realloc(bench->contestant, (bench->contestants + 1) * sizeof *bench->contestant);
    if (!bench->contestant)
        abort();
    struct bench_contestant *made = &bench->contestant[bench->contestants++];
    *made = (struct bench_contestant){.sut = sut};
    snprintf(made->rule, sizeof made->rule, "%s", rule);
    snprintf(made->label, sizeof made->label, "%s", *rule ? rule : bench->sut[sut].sut.name);
}

bool bench_times_rule(const struct sut *sut, const char *rule)
{
    char words[512], *save;
    const char *times = frame_get(&sut->hello, "times");
    snprintf(words, sizeof words, "%s", times ? times : "");
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        if (!strcmp(word, rule))
            return true;
    return false;
}

/* Under which rules a sampler is timed: those of the plan that it has; its own if it has none of them. */
static void contestants_of(struct bench *bench, size_t sut)
{
    const struct sut *said = &bench->sut[sut].sut;
    const size_t before = bench->contestants;
    if (!frame_get(&said->hello, "times"))
        return;
    for (size_t r = 0; r < bench->plan->rules && !bench->options.own_rules; r++)
        if (bench_times_rule(said, bench->plan->rule[r]))
            add_contestant(bench, sut, bench->plan->rule[r]);
    if (bench->contestants == before)
        add_contestant(bench, sut, "");
}

static void make_points(struct bench *bench)
{
    size_t room = 0;
    for (size_t i = 0; i < bench->plan->cells; i++)
        room += bench->plan->cell[i].batches;
    bench->point = allocate(room, sizeof *bench->point);
    for (size_t i = 0; i < bench->plan->cells; i++) {
        const struct bench_cell *cell = &bench->plan->cell[i];
        if (strncmp(cell->name, bench->options.cells, strlen(bench->options.cells)))
            continue;
        for (size_t b = 0; b < cell->batches; b++) {
            struct bench_point *point = &bench->point[bench->points++];
            *point = (struct bench_point){.cell = cell, .batch = cell->batch[b]};
            snprintf(point->name, sizeof point->name, "%s/batch:%u", cell->name, cell->batch[b]);
            point->series = allocate(bench->contestants, sizeof *point->series);
        }
    }
}

static int first_workers(struct crew *crew, struct trouble *trouble)
{
    struct bench *bench = crew->bench;
    for (size_t i = 0; i < bench->suts; i++)
        if (start_worker(crew, i, trouble))
            return -1;
    for (size_t i = 0; i < bench->suts; i++)
        contestants_of(bench, i);
    make_points(bench);
    return 0;
}

/* A worker that does not start again ends its series, not the run. */
static void next_workers(struct crew *crew)
{
    for (size_t i = 0; i < crew->bench->suts && !worker_stop_all; i++) {
        struct trouble trouble = {0};
        crew->running[i] = false;
        start_worker(crew, i, &trouble);
    }
}

int bench_run(struct bench *bench, const struct bench_plan *plan, struct spec *specs, size_t suts,
              const struct bench_options *options, struct trouble *trouble)
{
    *bench = (struct bench){.plan = plan, .options = *options, .suts = suts};
    struct crew crew = {.bench = bench};
    const double start = now();
    bench->sut = allocate(suts, sizeof *bench->sut);
    for (size_t i = 0; i < suts; i++) {
        bench->sut[i].spec = specs[i];
        specs[i] = (struct spec){0};
        crew.worker[i] = (struct worker){.pid = -1, .in = -1, .out = -1};
        if (bench->sut[i].spec.recording)
            return trouble_set(trouble, EXIT_USAGE, "%s: a recording holds tokens, not a sampler to time",
                               bench->sut[i].spec.text);
    }
    if (worker_stop_all || first_workers(&crew, trouble)) {
        stop_workers(&crew);
        return worker_stop_all ? trouble_set(trouble, EXIT_INTERRUPTED, "interrupted") : -1;
    }
    crew.total = (size_t)plan->sessions * bench->points * bench->contestants * plan->blocks;
    progress_begin(&crew.progress, 1);
    crew.progress.word = "session";
    for (crew.session = 0; crew.session < plan->sessions && !worker_stop_all; crew.session++) {
        crew.progress.stage = (int)crew.session + 1;
        if (crew.session > 0)
            next_workers(&crew);
        for (size_t p = 0; p < bench->points && !worker_stop_all; p++)
            time_point(&crew, &bench->point[p]);
    }
    progress_end(&crew.progress);
    stop_workers(&crew);
    for (size_t p = 0; p < bench->points; p++)
        for (size_t c = 0; c < bench->contestants; c++)
            if (bench->point[p].series[c].state == BENCH_PENDING)
                settle(&bench->point[p].series[c], worker_stop_all ? BENCH_STOPPED : BENCH_RAN,
                       worker_stop_all ? "interrupted" : "");
    bench->interrupted = worker_stop_all;
    bench->seconds = (now() - start) / 1e9;
    return 0;
}

void bench_free(struct bench *bench)
{
    for (size_t p = 0; p < bench->points; p++) {
        for (size_t c = 0; c < bench->contestants; c++)
            for (int figure = 0; figure < BENCH_FIGURES; figure++)
                free(bench->point[p].series[c].of[figure]);
        free(bench->point[p].series);
    }
    for (size_t i = 0; i < bench->suts; i++) {
        spec_free(&bench->sut[i].spec);
        sut_free(&bench->sut[i].sut);
    }
    free(bench->sut);
    free(bench->contestant);
    free(bench->point);
    *bench = (struct bench){0};
}
