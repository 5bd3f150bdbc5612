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
#include "kernels/bench_cuda.h"
#include "kernels/philox.h"

struct cuda_device bench_device;
static int failures;

void bench_must(const char *why)
{
    if (!why)
        return;
    fprintf(stderr, "bench-cuda: %s\n", why);
    exit(1);
}

void *bench_memory(void *taken)
{
    if (!taken)
        bench_must("out of memory");
    return taken;
}

void *bench_device_of(const void *from, size_t bytes)
{
    void *to;
    bench_must(cuda_memory_new(&to, bytes));
    if (from) {
        bench_must(cuda_copy_in(to, from, bytes, bench_device.stream));
        bench_must(cuda_wait(bench_device.stream));
    }
    return to;
}

void bench_verdict(int good, const char *what)
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

struct bench_rows bench_rows_new(size_t rows, size_t vocab, int32_t dtype, int probabilities)
{
    struct bench_rows made = {rows, vocab, bench_memory(malloc(rows * vocab * sizeof(float))), NULL};
    rows_fill(made.values, rows, vocab, probabilities);
    if (dtype == NARROW_NOT) {
        made.on_device = bench_device_of(made.values, rows * vocab * sizeof(float));
        return made;
    }
    uint16_t *narrow = bench_memory(malloc(rows * vocab * sizeof *narrow));
    for (size_t i = 0; i < rows * vocab; i++) {
        const uint32_t bits = kernel_bits(made.values[i]);
        /* Any half of the right sign below 4 will do. */
        narrow[i] =
            (uint16_t)(dtype == NARROW_BF16 ? bits >> 16 : (bits >> 16 & 0x8000) | (bits >> 7 & 0x43ff));
        made.values[i] = narrow_value(narrow, dtype, i);
    }
    made.on_device = bench_device_of(narrow, rows * vocab * sizeof *narrow);
    free(narrow);
    return made;
}

void bench_rows_free(struct bench_rows *rows)
{
    cuda_memory_free(rows->on_device);
    free(rows->values);
}

struct cuda_draws bench_call(const struct bench_rows *rows, enum sampler_rule rule, int probabilities,
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
    bench_must(cuda_graph_new(&graph, launch, context, launches, bench_device.stream));
    for (size_t run = 0; run < COUNT(seconds); run++)
        bench_must(cuda_graph_seconds(graph, 1, bench_device.stream, &seconds[run]));
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
        bench_must(launch(context, call, bench_device.stream));
        bench_must(cuda_wait(bench_device.stream));
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
    bench_verdict(time <= 2 * empty, text);
}

/* What is measured: how a launch of one size compares. */
static void size_judge(const struct timed *timed, double time, double share)
{
    const int64_t draws = timed->call.draws;
    const int h200 = strstr(bench_device.name, "H200") != NULL;
    char text[120];
    if (draws == 1) {
        one_judge(timed);
    } else if (draws == 32 && h200) {
        snprintf(text, sizeof text, "race, batch 32: %.2f us, at most 8 us", time);
        bench_verdict(time <= 8, text);
    } else if (draws >= 256) {
        snprintf(text, sizeof text, "race, batch %d: %.1f %% of a copy's bytes a second, at least 80 %%",
                 (int)draws, 100 * share);
        bench_verdict(share >= 0.8, text);
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
    struct bench_rows rows = bench_rows_new(ROWS, (size_t)vocab, cell->dtype, cell->probabilities);
    const size_t once = ROWS * (size_t)vocab * (cell->dtype == NARROW_NOT ? 4 : 2);
    for (size_t at = 0; at < pool->bytes; at += once)
        bench_must(cuda_copy_on((char *)pool->values + at, rows.on_device,
                                pool->bytes - at < once ? pool->bytes - at : once, bench_device.stream));
    bench_must(cuda_wait(bench_device.stream));
    bench_rows_free(&rows);
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
        const struct bench_rows rows = {(size_t)draws, (size_t)vocab, NULL, pool->values};
        struct timed timed = {.call = bench_call(&rows, cell->rule, cell->probabilities, cell->dtype,
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
    bench_must(cuda_memory_left(&left));
    pool.bytes = (size_t)draws_most * (size_t)vocab * 4;
    pool.bytes = pool.bytes > (size_t)1 << 30 ? pool.bytes : (size_t)1 << 30;
    pool.bytes = pool.bytes < left / 3 ? pool.bytes : left / 3;
    pool.bytes = pool.bytes / 4096 * 4096;
    pool.values = bench_device_of(NULL, pool.bytes);
    int32_t *index = bench_memory(malloc((size_t)draws_most * sizeof *index));
    int64_t *top_k = bench_memory(malloc((size_t)draws_most * sizeof *top_k));
    double *top_p = bench_memory(malloc((size_t)draws_most * sizeof *top_p));
    for (int64_t d = 0; d < draws_most; d++) {
        index[d] = (int32_t)d;
        top_k[d] = 50;
        top_p[d] = 0.95;
    }
    pool.row_index = bench_device_of(index, (size_t)draws_most * sizeof *index);
    pool.top_k = bench_device_of(top_k, (size_t)draws_most * sizeof *top_k);
    pool.top_p = bench_device_of(top_p, (size_t)draws_most * sizeof *top_p);
    pool.token = bench_device_of(NULL, (size_t)draws_most * sizeof *pool.token);
    bench_must(cuda_workspace_new(&pool.workspace, draws_most, vocab));
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
    const char *none = cuda_open(&bench_device);
    if (none) {
        printf("bench-cuda: not run (%s)\n", none);
        return 77;
    }
    printf("%s, runtime %d.%d, driver %d.%d\n", bench_device.name, bench_device.runtime / 1000,
           bench_device.runtime % 1000 / 10, bench_device.driver / 1000, bench_device.driver % 1000 / 10);
    if (checks)
        bench_check();
    else
        speed(vocab, draws);
    cuda_close(&bench_device);
    printf("%d of these are not as they should be\n", failures);
    return failures > 0;
}
