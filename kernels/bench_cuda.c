/* bench_cuda.c: what only a GPU can show of the kernels: the reference's tokens there, eagerly and replayed from a CUDA
 * graph; and how fast.
 *
 *   bench-cuda check                every rule, dtype and filter rule, on rows that few and many blocks share, small enough
 *                                   for compute-sanitizer; a launch that takes memory or waits cannot be captured
 *   bench-cuda speed [VOCAB DRAWS]  batch 1 to DRAWS (4096) at VOCAB (151936) against a copy of device memory and an
 *                                   empty launch, in graphs; rows are read from more memory than a cache holds
 *
 * The build links it with the kernels; for tests with the host shim, whose times say nothing of a GPU. Exit status: 0 good,
 * 1 not, 2 usage, 77 no device. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "kernels/cuda_graph.h"
#include "kernels/philox.h"
#include "kernels/sampler.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static struct cuda_device device;
static int failures;

static void must(const char *why)
{
    if (!why)
        return;
    fprintf(stderr, "bench-cuda: %s\n", why);
    exit(1);
}

static void *memory(void *taken)
{
    if (!taken)
        must("out of memory");
    return taken;
}

static void *device_of(const void *from, size_t bytes)
{
    void *to;
    must(cuda_memory_new(&to, bytes));
    if (from) {
        must(cuda_copy_in(to, from, bytes, device.stream));
        must(cuda_wait(device.stream));
    }
    return to;
}

static void verdict(int good, const char *what)
{
    printf("%s  %s\n", good ? "good" : "FAIL", what);
    failures += !good;
}

/* Rows of logits (about normal, sigma 3), or of their exponentials, which need not sum to 1. */
static void rows_fill(float *values, size_t rows, size_t vocab, int probabilities)
{
    for (size_t i = 0; i < rows * vocab; i++) {
        const struct philox_block block = philox_block(1, PHILOX_STREAM_TABLE, 0, (uint32_t)i);
        double sum = 0;
        for (int w = 0; w < 4; w++)
            sum += (double)(block.word[w] >> 16) + (double)(block.word[w] & 0xffff);
        const float logit = (float)((sum / 65536 - 4) * 3.67);
        values[i] = probabilities ? expf(logit) : logit;
    }
}

/* A launch that is made once, and again from a graph. */
struct checked {
    struct cuda_draws call;
    const char *what;
};

static const char *checked_launch(const void *context, int64_t index, void *stream)
{
    (void)index;
    return cuda_draw(context, stream);
}

static int same(const struct cuda_draws *call, const int32_t *expected, int32_t *token)
{
    const size_t bytes = (size_t)call->draws * sizeof *token;
    memset(token, 0x55, bytes);
    must(cuda_copy_out(token, call->token, bytes, device.stream));
    must(cuda_wait(device.stream));
    return memcmp(token, expected, bytes) == 0;
}

/* expected[draws] eagerly, and in each of two replays; tokens are wiped in between. */
static void launches_check(const struct checked *checked, const int32_t *expected)
{
    const struct cuda_draws *call = &checked->call;
    const size_t bytes = (size_t)call->draws * sizeof(int32_t);
    int32_t *token = memory(malloc(bytes)), *wiped = memory(malloc(bytes));
    char text[200];
    memset(wiped, 0x55, bytes);
    must(cuda_draw(call, device.stream));
    int good = same(call, expected, token);
    snprintf(text, sizeof text, "%s: tokens of the reference", checked->what);
    verdict(good, text);
    void *graph = NULL;
    const char *why = cuda_graph_new(&graph, checked_launch, call, 1, device.stream);
    if (why) {
        snprintf(text, sizeof text, "%s: captured: %s", checked->what, why);
        verdict(0, text);
    } else {
        good = 1;
        for (int replay = 0; replay < 2; replay++) {
            must(cuda_copy_in(call->token, wiped, bytes, device.stream));
            must(cuda_graph_launch(graph, device.stream));
            good &= same(call, expected, token);
        }
        cuda_graph_free(graph);
        snprintf(text, sizeof text, "%s: the same in two replays of a graph", checked->what);
        verdict(good, text);
    }
    free(wiped);
    free(token);
}

/* Rows on the device and what the reference makes of them. */
struct rows {
    size_t rows, vocab;
    float *values; /* as the device's dtype has them */
    void *on_device;
};

static struct rows rows_make(size_t rows, size_t vocab, int32_t dtype, int probabilities)
{
    struct rows made = {rows, vocab, memory(malloc(rows * vocab * sizeof(float))), NULL};
    rows_fill(made.values, rows, vocab, probabilities);
    if (dtype == NARROW_NOT) {
        made.on_device = device_of(made.values, rows * vocab * sizeof(float));
        return made;
    }
    uint16_t *narrow = memory(malloc(rows * vocab * sizeof *narrow));
    for (size_t i = 0; i < rows * vocab; i++) {
        const uint32_t bits = kernel_bits(made.values[i]);
        /* Any half of the right sign below 4 will do. */
        narrow[i] =
            (uint16_t)(dtype == NARROW_BF16 ? bits >> 16 : (bits >> 16 & 0x8000) | (bits >> 7 & 0x43ff));
        made.values[i] = narrow_value(narrow, dtype, i);
    }
    made.on_device = device_of(narrow, rows * vocab * sizeof *narrow);
    free(narrow);
    return made;
}

static void rows_free(struct rows *rows)
{
    cuda_memory_free(rows->on_device);
    free(rows->values);
}

/* Draw d from row d mod rows, position d, under parameters of its row. */
static void rows_expect(const struct rows *rows, enum sampler_rule rule, int probabilities,
                        const struct sampler_parameters *parameters, size_t draws, int32_t *expected)
{
    for (size_t r = 0; r < rows->rows && r < draws; r++) {
        enum sampler_status status;
        struct sampler_row *row =
            sampler_row_make(rule, probabilities ? SAMPLER_PROBABILITIES : SAMPLER_LOGITS,
                             rows->values + r * rows->vocab, rows->vocab, &parameters[r], &status);
        if (!row)
            must(sampler_status_text(status));
        for (size_t d = r; d < draws; d += rows->rows)
            sampler_draw(row, 38117, d, 1, &expected[d]);
        sampler_row_free(row);
    }
}

enum { CHECK_ROWS = 3, CHECK_DRAWS = 600, CHECK_WIDE = 9001 };

static struct cuda_draws call_of(const struct rows *rows, enum sampler_rule rule, int probabilities,
                                 int32_t dtype, size_t draws, const int32_t *row_index)
{
    return (struct cuda_draws){.rule = (int32_t)rule,
                               .kind = probabilities ? SAMPLER_PROBABILITIES : SAMPLER_LOGITS,
                               .dtype = dtype,
                               .values = rows->on_device,
                               .rows = (int64_t)rows->rows,
                               .vocab = (int64_t)rows->vocab,
                               .row_stride = (int64_t)rows->vocab,
                               .draws = (int64_t)draws,
                               .row_index = row_index,
                               .seed = 38117};
}

static void check_rules(const int32_t *row_index, struct cuda_workspace workspace, int32_t *token)
{
    static const char *const dtypes[] = {"f32", "f16", "bf16"};
    static const struct {
        size_t vocab, draws;
    } shapes[] = {{203, CHECK_DRAWS}, {CHECK_WIDE, 2}};
    const struct sampler_parameters none[CHECK_ROWS] = {sampler_parameters_none(), sampler_parameters_none(),
                                                        sampler_parameters_none()};
    static int32_t expected[CHECK_DRAWS];
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (int probabilities = 0; probabilities < 2; probabilities++)
            for (int32_t dtype = NARROW_NOT; dtype <= NARROW_BF16; dtype++) {
                struct rows rows = rows_make(CHECK_ROWS, shapes[s].vocab, dtype, probabilities);
                for (int rule = 0; rule < RULE_COUNT; rule++) {
                    char what[120];
                    snprintf(what, sizeof what, "%s, %s of %s, %zu draws at V = %zu",
                             sampler_rule_name((enum sampler_rule)rule),
                             probabilities ? "probabilities" : "logits", dtypes[dtype], shapes[s].draws,
                             shapes[s].vocab);
                    struct checked checked = {call_of(&rows, (enum sampler_rule)rule, probabilities, dtype,
                                                      shapes[s].draws, row_index),
                                              what};
                    checked.call.workspace = workspace;
                    checked.call.token = token;
                    rows_expect(&rows, (enum sampler_rule)rule, probabilities, none, shapes[s].draws,
                                expected);
                    launches_check(&checked, expected);
                }
                rows_free(&rows);
            }
}

static void check_filters(const int32_t *row_index, struct cuda_workspace workspace, int32_t *token)
{
    enum { VOCAB = CHECK_WIDE, DRAWS = 6 };
    static const struct filter_parameters asked[CHECK_ROWS] = {{50, 0.9, 0}, {-1, 0.5, 0.01}, {3, 1, 0}};
    struct sampler_parameters parameters[CHECK_ROWS];
    int64_t top_k[DRAWS];
    double top_p[DRAWS], min_p[DRAWS];
    int32_t expected[DRAWS];
    for (size_t d = 0; d < DRAWS; d++) {
        top_k[d] = asked[d % CHECK_ROWS].top_k;
        top_p[d] = asked[d % CHECK_ROWS].top_p;
        min_p[d] = asked[d % CHECK_ROWS].min_p;
    }
    struct rows rows = rows_make(CHECK_ROWS, VOCAB, NARROW_NOT, 0);
    void *const on_device[] = {device_of(top_k, sizeof top_k), device_of(top_p, sizeof top_p),
                               device_of(min_p, sizeof min_p)};
    for (size_t f = 0; filter_rule_at(f); f++) {
        for (size_t r = 0; r < CHECK_ROWS; r++) {
            parameters[r] = sampler_parameters_none();
            parameters[r].filter = asked[r];
            parameters[r].filter_rule = filter_rule_at(f);
        }
        char what[120];
        snprintf(what, sizeof what, "race under %s, %d draws at V = %d", filter_rule_at(f)->name, DRAWS,
                 VOCAB);
        struct checked checked = {call_of(&rows, RULE_RACE, 0, NARROW_NOT, DRAWS, row_index), what};
        checked.call.workspace = workspace;
        checked.call.token = token;
        checked.call.filters =
            (struct cuda_filters){on_device[0], on_device[1], on_device[2], *filter_rule_at(f)};
        rows_expect(&rows, RULE_RACE, 0, parameters, DRAWS, expected);
        launches_check(&checked, expected);
    }
    for (size_t i = 0; i < COUNT(on_device); i++)
        cuda_memory_free(on_device[i]);
    rows_free(&rows);
}

static void check(void)
{
    static int32_t row_index[CHECK_DRAWS];
    for (int d = 0; d < CHECK_DRAWS; d++)
        row_index[d] = d % CHECK_ROWS;
    int32_t *const index = device_of(row_index, sizeof row_index), *const token =
                                                                       device_of(NULL, sizeof row_index);
    struct cuda_workspace workspace;
    must(cuda_workspace_new(&workspace, CHECK_DRAWS, CHECK_WIDE));
    check_rules(index, workspace, token);
    check_filters(index, workspace, token);
    cuda_workspace_free(&workspace);
    cuda_memory_free(token);
    cuda_memory_free(index);
}

/* Launches that take turns on tensors of a pool, so that each finds its rows in memory and not in a cache. */
struct timed {
    struct cuda_draws call;
    int64_t tensors;
    size_t tensor_bytes;
};

static const char *timed_launch(const void *context, int64_t index, void *stream)
{
    const struct timed *timed = context;
    struct cuda_draws call = timed->call;
    call.values = (const char *)call.values + (size_t)(index % timed->tensors) * timed->tensor_bytes;
    call.first_position = (uint64_t)(index * call.draws);
    return cuda_draw(&call, stream);
}

static const char *empty_launch(const void *context, int64_t index, void *stream)
{
    (void)context;
    (void)index;
    return cuda_empty(stream);
}

struct copied {
    char *to, *from;
    size_t bytes;
};

static const char *copy_launch(const void *context, int64_t index, void *stream)
{
    (void)index;
    const struct copied *copied = context;
    return cuda_copy_on(copied->to, copied->from, copied->bytes, stream);
}

static int double_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds of one of `launches` in a graph: the median of eleven runs after two, and the fastest and slowest. */
static double microseconds(cuda_graph_call launch, const void *context, int64_t launches, double spread[2])
{
    double seconds[13];
    void *graph;
    must(cuda_graph_new(&graph, launch, context, launches, device.stream));
    for (size_t run = 0; run < COUNT(seconds); run++)
        must(cuda_graph_seconds(graph, 1, device.stream, &seconds[run]));
    cuda_graph_free(graph);
    qsort(seconds + 2, COUNT(seconds) - 2, sizeof *seconds, double_compare);
    spread[0] = seconds[2] / (double)launches * 1e6;
    spread[1] = seconds[COUNT(seconds) - 1] / (double)launches * 1e6;
    return seconds[2 + (COUNT(seconds) - 2) / 2] / (double)launches * 1e6;
}

/* Microseconds that a host waits for one launch: the median of 200 after 30, and the quartiles. */
static double microseconds_waited(cuda_graph_call launch, const void *context, double spread[2])
{
    enum { BEFORE = 30, CALLS = 200 };
    double seconds[BEFORE + CALLS];
    for (int64_t call = 0; call < BEFORE + CALLS; call++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        must(launch(context, call, device.stream));
        must(cuda_wait(device.stream));
        clock_gettime(CLOCK_MONOTONIC, &end);
        seconds[call] = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    }
    qsort(seconds + BEFORE, CALLS, sizeof *seconds, double_compare);
    spread[0] = seconds[BEFORE + CALLS / 4] * 1e6;
    spread[1] = seconds[BEFORE + CALLS * 3 / 4] * 1e6;
    return seconds[BEFORE + CALLS / 2] * 1e6;
}

/* Batch 1 as a host sees it: launched and waited for, like an empty launch. */
static void one_judge(const struct timed *timed)
{
    double spread[2], empty_spread[2];
    const double empty = microseconds_waited(empty_launch, NULL, empty_spread);
    const double time = microseconds_waited(timed_launch, timed, spread);
    char text[160];
    snprintf(text, sizeof text,
             "race, batch 1, launched and waited for: %.2f us (quartiles %.2f to %.2f), at most twice an "
             "empty launch: "
             "%.2f us (%.2f to %.2f)",
             time, spread[0], spread[1], empty, empty_spread[0], empty_spread[1]);
    verdict(time <= 2 * empty, text);
}

/* What is measured: how a launch of one size compares. */
static void size_judge(const struct timed *timed, double time, double share)
{
    const int64_t draws = timed->call.draws;
    const int h200 = strstr(device.name, "H200") != NULL;
    char text[120];
    if (draws == 1) {
        one_judge(timed);
    } else if (draws == 32 && h200) {
        snprintf(text, sizeof text, "race, batch 32: %.2f us, at most 8 us", time);
        verdict(time <= 8, text);
    } else if (draws >= 256) {
        snprintf(text, sizeof text, "race, batch %d: %.1f %% of a copy's bytes a second, at least 80 %%",
                 (int)draws, 100 * share);
        verdict(share >= 0.8, text);
    }
}

/* Cells of the table: rule, kind, dtype; with or without top_k 50, top_p 0.95. */
static const struct cell {
    const char *name;
    enum sampler_rule rule;
    int probabilities;
    int32_t dtype;
    int filtered, judged;
} cells[] = {
    {"race, probabilities f32", RULE_RACE, 1, NARROW_NOT, 0, 1},
    {"race, logits f32", RULE_RACE, 0, NARROW_NOT, 0, 0},
    {"race, logits bf16", RULE_RACE, 0, NARROW_BF16, 0, 0},
    {"gumbel, logits f32", RULE_GUMBEL, 0, NARROW_NOT, 0, 0},
    {"seeded, logits f32", RULE_SEEDED, 0, NARROW_NOT, 0, 0},
    {"greedy, logits f32", RULE_GREEDY, 0, NARROW_NOT, 0, 0},
    {"categorical, logits f32", RULE_CATEGORICAL, 0, NARROW_NOT, 0, 0},
    {"race, logits f32, k 50, p .95", RULE_RACE, 0, NARROW_NOT, 1, 0},
};

/* Device memory that all cells share. */
struct pool {
    void *values;
    size_t bytes;
    int32_t *row_index, *token;
    int64_t *top_k;
    double *top_p;
    struct cuda_workspace workspace;
};

/* The pool is filled with a few rows, over and over. */
static void pool_fill(const struct pool *pool, int64_t vocab, const struct cell *cell)
{
    enum { ROWS = 4 };
    struct rows rows = rows_make(ROWS, (size_t)vocab, cell->dtype, cell->probabilities);
    const size_t once = ROWS * (size_t)vocab * (cell->dtype == NARROW_NOT ? 4 : 2);
    for (size_t at = 0; at < pool->bytes; at += once)
        must(cuda_copy_on((char *)pool->values + at, rows.on_device,
                          pool->bytes - at < once ? pool->bytes - at : once, device.stream));
    must(cuda_wait(device.stream));
    rows_free(&rows);
}

static void cell_time(const struct cell *cell, const struct pool *pool, int64_t vocab, int64_t draws_most,
                      double copy)
{
    pool_fill(pool, vocab, cell);
    const size_t row_bytes = (size_t)vocab * (cell->dtype == NARROW_NOT ? 4 : 2);
    const int64_t sizes[] = {1, 8, 32, 64, 256, 1024, 4096};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        const int64_t draws = sizes[s];
        if (draws > draws_most || (size_t)draws * row_bytes > pool->bytes || (cell->filtered && draws > 256))
            continue;
        const struct rows rows = {(size_t)draws, (size_t)vocab, NULL, pool->values};
        struct timed timed = {.call = call_of(&rows, cell->rule, cell->probabilities, cell->dtype,
                                              (size_t)draws, pool->row_index),
                              .tensors = (int64_t)(pool->bytes / ((size_t)draws * row_bytes)),
                              .tensor_bytes = (size_t)draws * row_bytes};
        timed.call.workspace = pool->workspace;
        timed.call.token = pool->token;
        if (cell->filtered)
            timed.call.filters = (struct cuda_filters){pool->top_k, pool->top_p, NULL, *filter_rule_at(0)};
        double spread[2];
        const double time = microseconds(timed_launch, &timed, draws >= 256 ? 10 : 100, spread);
        const double rate = (double)draws * (double)row_bytes / time / 1e3;
        printf("%-30s %5d %11.2f (%.2f to %.2f) %9.0f %9.1f %%\n", cell->name, (int)draws, time, spread[0],
               spread[1], rate, 100 * rate / copy);
        if (cell->judged)
            size_judge(&timed, time, rate / copy);
        fflush(stdout);
    }
}

static void speed(int64_t vocab, int64_t draws_most)
{
    struct pool pool;
    size_t left;
    must(cuda_memory_left(&left));
    pool.bytes = (size_t)draws_most * (size_t)vocab * 4;
    pool.bytes = pool.bytes > (size_t)1 << 30 ? pool.bytes : (size_t)1 << 30;
    pool.bytes = pool.bytes < left / 3 ? pool.bytes : left / 3;
    pool.bytes = pool.bytes / 4096 * 4096;
    pool.values = device_of(NULL, pool.bytes);
    int32_t *index = memory(malloc((size_t)draws_most * sizeof *index));
    int64_t *top_k = memory(malloc((size_t)draws_most * sizeof *top_k));
    double *top_p = memory(malloc((size_t)draws_most * sizeof *top_p));
    for (int64_t d = 0; d < draws_most; d++) {
        index[d] = (int32_t)d;
        top_k[d] = 50;
        top_p[d] = 0.95;
    }
    pool.row_index = device_of(index, (size_t)draws_most * sizeof *index);
    pool.top_k = device_of(top_k, (size_t)draws_most * sizeof *top_k);
    pool.top_p = device_of(top_p, (size_t)draws_most * sizeof *top_p);
    pool.token = device_of(NULL, (size_t)draws_most * sizeof *pool.token);
    must(cuda_workspace_new(&pool.workspace, draws_most, vocab));
    double spread[2];
    const struct copied copied = {pool.values, (char *)pool.values + pool.bytes / 2, pool.bytes / 2};
    const double copy = 2 * (double)copied.bytes / microseconds(copy_launch, &copied, 4, spread) / 1e3;
    const double empty = microseconds(empty_launch, NULL, 100, spread);
    printf("V = %d. A copy of device memory reads and writes %.0f GB/s; an empty launch takes %.2f us. Times "
           "are those of a\n"
           "launch among 10 or 100 of a graph, the median of 11 runs (fastest to slowest); rows come from "
           "%.1f GB in turn.\n",
           (int)vocab, copy, empty, (double)pool.bytes / 1e9);
    printf("%-30s %5s %11s %24s %9s\n", "rule, values", "batch", "us", "GB/s", "of a copy");
    for (size_t c = 0; c < COUNT(cells); c++)
        cell_time(&cells[c], &pool, vocab, draws_most, copy);
    cuda_workspace_free(&pool.workspace);
    void *const taken[] = {pool.values, pool.row_index, pool.top_k, pool.top_p, pool.token};
    for (size_t i = 0; i < COUNT(taken); i++)
        cuda_memory_free(taken[i]);
    free(index);
    free(top_k);
    free(top_p);
}

/* A whole number of 1 to `most`, or 0. */
static int64_t number_of(const char *text, int64_t most)
{
    char *end;
    const long long number = strtoll(text, &end, 10);
    return *text && !*end && number >= 1 && number <= most ? number : 0;
}

int main(int count, char **words)
{
    const int checks = count == 2 && strcmp(words[1], "check") == 0;
    const int times = (count == 2 || count == 4) && strcmp(words[1], "speed") == 0;
    const int64_t vocab = count == 4 ? number_of(words[2], 1 << 20) : 151936;
    const int64_t draws = count == 4 ? number_of(words[3], 4096) : 4096;
    if ((!checks && !times) || !vocab || !draws) {
        fprintf(stderr,
                "usage: bench-cuda check | speed [VOCAB DRAWS]; VOCAB 1 to 1048576, DRAWS 1 to 4096\n");
        return 2;
    }
    const char *none = cuda_open(&device);
    if (none) {
        printf("bench-cuda: not run (%s)\n", none);
        return 77;
    }
    printf("%s, runtime %d.%d, driver %d.%d\n", device.name, device.runtime / 1000,
           device.runtime % 1000 / 10, device.driver / 1000, device.driver % 1000 / 10);
    if (checks)
        check();
    else
        speed(vocab, draws);
    cuda_close(&device);
    printf("%d of these are not as they should be\n", failures);
    return failures > 0;
}
