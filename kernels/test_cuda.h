/* test_cuda.h: launches through the host shim held against the scalar definition; for tests of the CUDA
 * kernels.
 *
 * Device memory is host memory here, each array of its exact size. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_TEST_CUDA_H
#define SAMPLEGATE_TEST_CUDA_H
#include <stdio.h>
#include <stdlib.h>
#include "kernels/cuda.h"
#include "kernels/test_rows.h"
#include "kernels/test_schedules.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define DRAWS_MAX 128

/* A copy of its exact size: owned. */
static inline void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

/* How a launch shares its rows, schedule by schedule: the fewest columns that are worth a block; 0: one block a row. The
 * shim has 16 blocks at a time, so one draw is shared by up to 16, of 4 columns or even of none. */
static const int32_t sharing[COUNT(schedules)] = {0, 4, 40, 1};

/* The launch gives expected[draws] under every schedule, each with another way to share a row; on a wide row under
 * the first three. */
static inline void expect_tokens(struct cuda_draws call, const int32_t *expected, const char *what)
{
    const size_t bytes = (size_t)call.draws * sizeof(int32_t);
    call.token = malloc(bytes);
    assert_non_null(call.token);
    const size_t tried = call.vocab > 1000 ? 3 : COUNT(schedules);
    for (size_t s = 0; s < tried; s++) {
        shim_schedule(schedules[s].order, schedules[s].seed);
        memset(call.token, 0x55, bytes);
        if (sharing[s]) {
            assert_null(cuda_workspace_new(&call.workspace, call.draws, 0));
            call.workspace.columns = sharing[s];
        }
        const char *why = cuda_draw(&call, NULL);
        if (why)
            fail_msg("%s, %s: %s", what, sampler_rule_name((enum sampler_rule)call.rule), why);
        for (int64_t d = 0; d < call.draws; d++)
            if (call.token[d] != expected[d])
                fail_msg("%s, %s, vocab %d, %s, draw %d: token %d, by definition %d", what,
                         sampler_rule_name((enum sampler_rule)call.rule), (int)call.vocab, schedules[s].name,
                         (int)d, call.token[d], expected[d]);
        cuda_workspace_free(&call.workspace);
    }
    free(call.token);
}

/* Every rule on the row in `values`, draws (seed, first ..), against the definition. */
static inline void row_check(enum sampler_values kind, size_t vocab, float temperature, uint64_t seed,
                             uint64_t first, size_t draws, const char *what)
{
    static int32_t expected[RULE_COUNT][DRAWS_MAX];
    float *row = copy_of(values, vocab * sizeof *row), *each = malloc(draws * sizeof *each);
    assert_non_null(each);
    weights_fill(kind, vocab, (double)temperature);
    for (size_t d = 0; d < draws; d++) {
        each[d] = temperature;
        noise_fill(seed, first + d, vocab);
        for (int rule = 0; rule < RULE_COUNT; rule++)
            expected[rule][d] = token_of_definition((enum sampler_rule)rule, kind, vocab, seed, first + d);
    }
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        const struct cuda_draws call = {.rule = rule,
                                        .kind = (int32_t)kind,
                                        .values = row,
                                        .rows = 1,
                                        .vocab = (int64_t)vocab,
                                        .row_stride = (int64_t)vocab,
                                        .draws = (int64_t)draws,
                                        .temperature = kind == SAMPLER_LOGITS ? each : NULL,
                                        .seed = seed,
                                        .first_position = first};
        expect_tokens(call, expected[rule], what);
    }
    free(each);
    free(row);
}

/* x moved by some fp32 steps. */
static inline float step(float x, int steps)
{
    for (int s = steps; s > 0; s--)
        x = nextafterf(x, INFINITY);
    for (int s = steps; s < 0; s++)
        x = nextafterf(x, -INFINITY);
    return x;
}

/* q of an id under seed 3. */
static inline double noise_of(enum sampler_rule rule, uint64_t position, uint32_t id)
{
    if (rule == RULE_SEEDED)
        return exp(-seeded_gumbel(seeded_hash(3, position, id)));
    const uint32_t word = philox_word(3, PHILOX_STREAM_RACE, position, id);
    return (double)(rule == RULE_TORCH_RACE ? torch_exponential_of_word(word) : exponential_of_word(word));
}

/* Two ids whose scores differ by a few roundings, elsewhere nothing: rows of logits or of probabilities at many
 * scales, whose token only the definition's own rounding decides. expected[rows]; rows at most 600. */
static inline struct cuda_draws near_ties_make(enum sampler_rule rule, enum sampler_values kind, size_t rows,
                                               int32_t *expected)
{
    enum { ROWS = 600, VOCAB = 40 };
    static const float scales[] = {0, 3, -11, 90, -5000, 3e4f};
    static float tensor[ROWS * VOCAB];
    static int32_t row_index[ROWS];
    size_t first = 0;
    for (size_t d = 0; d < rows; d++) {
        const uint32_t i = (uint32_t)(d * 7 % VOCAB), j = (i + 1 + (uint32_t)(d % 38)) % VOCAB;
        const double scale = (double)scales[d % COUNT(scales)];
        const double gap = log(noise_of(rule, d, j)) - log(noise_of(rule, d, i));
        for (size_t id = 0; id < VOCAB; id++)
            values[id] = kind == SAMPLER_LOGITS ? (float)scale - 40 : 0;
        values[i] = kind == SAMPLER_LOGITS ? (float)scale : ldexpf(0.7f, (int)scale % 80);
        values[j] = kind == SAMPLER_LOGITS ? (float)(scale + gap) : (float)((double)values[i] * exp(gap));
        values[j] = step(values[j], (int)(d / COUNT(scales) % 7) - 3);
        memcpy(tensor + d * VOCAB, values, VOCAB * sizeof *values);
        row_index[d] = (int32_t)d;
        weights_fill(kind, VOCAB, 1);
        noise_fill(3, d, VOCAB);
        expected[d] = token_of_definition(rule, kind, VOCAB, 3, d);
        first += expected[d] == (int32_t)i;
    }
    assert_true(first > rows / 5 && first < rows * 4 / 5); /* both win often enough */
    return (struct cuda_draws){.rule = (int32_t)rule,
                               .kind = (int32_t)kind,
                               .values = tensor,
                               .rows = (int64_t)rows,
                               .vocab = VOCAB,
                               .row_stride = VOCAB,
                               .draws = (int64_t)rows,
                               .row_index = row_index,
                               .seed = 3};
}
#endif
