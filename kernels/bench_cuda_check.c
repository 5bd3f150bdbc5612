/* bench_cuda_check.c: the reference's tokens from every kernel, eagerly and from a replayed graph.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/bench_cuda.h"

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
    bench_must(cuda_copy_out(token, call->token, bytes, bench_device.stream));
    bench_must(cuda_wait(bench_device.stream));
    return memcmp(token, expected, bytes) == 0;
}

/* expected[draws] eagerly, and in each of two replays; tokens are wiped in between. */
static void launches_check(const struct checked *checked, const int32_t *expected)
{
    const struct cuda_draws *call = &checked->call;
    const size_t bytes = (size_t)call->draws * sizeof(int32_t);
    int32_t *token = bench_memory(malloc(bytes)), *wiped = bench_memory(malloc(bytes));
    char text[200];
    memset(wiped, 0x55, bytes);
    bench_must(cuda_draw(call, bench_device.stream));
    int good = same(call, expected, token);
    snprintf(text, sizeof text, "%s: tokens of the reference", checked->what);
    bench_verdict(good, text);
    void *graph = NULL;
    const char *why = cuda_graph_new(&graph, checked_launch, call, 1, bench_device.stream);
    if (why) {
        snprintf(text, sizeof text, "%s: captured: %s", checked->what, why);
        bench_verdict(0, text);
    } else {
        good = 1;
        for (int replay = 0; replay < 2; replay++) {
            bench_must(cuda_copy_in(call->token, wiped, bytes, bench_device.stream));
            bench_must(cuda_graph_launch(graph, bench_device.stream));
            good &= same(call, expected, token);
        }
        cuda_graph_free(graph);
        snprintf(text, sizeof text, "%s: the same in two replays of a graph", checked->what);
        bench_verdict(good, text);
    }
    free(wiped);
    free(token);
}

/* Draw d from row d mod rows, position d, under parameters of its row. */
static void rows_expect(const struct bench_rows *rows, enum sampler_rule rule, int probabilities,
                        const struct sampler_parameters *parameters, size_t draws, int32_t *expected)
{
    for (size_t r = 0; r < rows->rows && r < draws; r++) {
        enum sampler_status status;
        struct sampler_row *row =
            sampler_row_make(rule, probabilities ? SAMPLER_PROBABILITIES : SAMPLER_LOGITS,
                             rows->values + r * rows->vocab, rows->vocab, &parameters[r], &status);
        if (!row)
            bench_must(sampler_status_text(status));
        for (size_t d = r; d < draws; d += rows->rows)
            sampler_draw(row, 38117, d, 1, &expected[d]);
        sampler_row_free(row);
    }
}

enum { CHECK_ROWS = 3, CHECK_DRAWS = 600, CHECK_WIDE = 9001 };

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
                struct bench_rows rows = bench_rows_new(CHECK_ROWS, shapes[s].vocab, dtype, probabilities);
                for (int rule = 0; rule < RULE_COUNT; rule++) {
                    char what[120];
                    snprintf(what, sizeof what, "%s, %s of %s, %zu draws at V = %zu",
                             sampler_rule_name((enum sampler_rule)rule),
                             probabilities ? "probabilities" : "logits", dtypes[dtype], shapes[s].draws,
                             shapes[s].vocab);
                    struct checked checked = {bench_call(&rows, (enum sampler_rule)rule, probabilities, dtype,
                                                         shapes[s].draws, row_index),
                                              what};
                    checked.call.workspace = workspace;
                    checked.call.token = token;
                    rows_expect(&rows, (enum sampler_rule)rule, probabilities, none, shapes[s].draws,
                                expected);
                    launches_check(&checked, expected);
                }
                bench_rows_free(&rows);
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
    struct bench_rows rows = bench_rows_new(CHECK_ROWS, VOCAB, NARROW_NOT, 0);
    void *const on_device[] = {bench_device_of(top_k, sizeof top_k), bench_device_of(top_p, sizeof top_p),
                               bench_device_of(min_p, sizeof min_p)};
    for (size_t f = 0; filter_rule_at(f); f++) {
        for (size_t r = 0; r < CHECK_ROWS; r++) {
            parameters[r] = sampler_parameters_none();
            parameters[r].filter = asked[r];
            parameters[r].filter_rule = filter_rule_at(f);
        }
        char what[120];
        snprintf(what, sizeof what, "race under %s, %d draws at V = %d", filter_rule_at(f)->name, DRAWS,
                 VOCAB);
        struct checked checked = {bench_call(&rows, RULE_RACE, 0, NARROW_NOT, DRAWS, row_index), what};
        checked.call.workspace = workspace;
        checked.call.token = token;
        checked.call.filters =
            (struct cuda_filters){on_device[0], on_device[1], on_device[2], *filter_rule_at(f)};
        rows_expect(&rows, RULE_RACE, 0, parameters, DRAWS, expected);
        launches_check(&checked, expected);
    }
    for (size_t i = 0; i < COUNT(on_device); i++)
        cuda_memory_free(on_device[i]);
    bench_rows_free(&rows);
}

void bench_check(void)
{
    static int32_t row_index[CHECK_DRAWS];
    for (int d = 0; d < CHECK_DRAWS; d++)
        row_index[d] = d % CHECK_ROWS;
    int32_t *const index = bench_device_of(row_index, sizeof row_index), *const token = bench_device_of(
                                                                             NULL, sizeof row_index);
    struct cuda_workspace workspace;
    bench_must(cuda_workspace_new(&workspace, CHECK_DRAWS, CHECK_WIDE));
    check_rules(index, workspace, token);
    check_filters(index, workspace, token);
    cuda_workspace_free(&workspace);
    cuda_memory_free(token);
    cuda_memory_free(index);
}
