/* test_trial.h: random calls of the plug-in with any of its options, for its tests.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_TEST_TRIAL_H
#define SAMPLEGATE_TEST_TRIAL_H
#include "suite/sut/samplegate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 5, COLUMNS = 37, STRIDE = 41, DRAWS = 40, LIST = 6 };

/* What a trial may have beside the ABI's options. */
#define TRIAL_PADDED (UINT64_C(1) << 40)
#define TRIAL_BAD_ROWS (UINT64_C(1) << 41) /* one with a NaN, one of -inf alone */

/* All draws of a message, every parameter its own. */
struct trial {
    uint64_t options;
    float values[ROWS * STRIDE], bias[ROWS * COLUMNS], noise[DRAWS * COLUMNS];
    uint8_t allowed[ROWS * COLUMNS];
    int64_t stride;
    int32_t row_index[DRAWS];
    double temperature[DRAWS], top_p[DRAWS], min_p[DRAWS], repetition[DRAWS], frequency[DRAWS],
        presence[DRAWS];
    int64_t top_k[DRAWS], seed[DRAWS], position[DRAWS], min_tokens[DRAWS];
    int64_t prompt[DRAWS * LIST], output[DRAWS * LIST], stop[DRAWS * LIST];
    int64_t prompt_offsets[DRAWS + 1], output_offsets[DRAWS + 1], stop_offsets[DRAWS + 1];
};

static uint64_t trial_state;

static uint64_t trial_word(void)
{
    trial_state = trial_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return trial_state >> 33;
}

static double trial_pick(const double *values, size_t count)
{
    return values[trial_word() % count];
}
#define TRIAL_PICK(...)                                                                                      \
    trial_pick((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void trial_lists(int64_t *ids, int64_t *offsets, uint64_t of)
{
    offsets[0] = 0;
    for (int d = 0; d < DRAWS; d++) {
        offsets[d + 1] = offsets[d] + (int64_t)(trial_word() % LIST);
        for (int64_t i = offsets[d]; i < offsets[d + 1]; i++)
            ids[i] = (int64_t)(trial_word() % of);
    }
}

static void trial_fill(struct trial *trial, uint64_t options, uint64_t seed)
{
    trial_state = seed;
    trial->options = options;
    trial->stride = options & TRIAL_PADDED ? STRIDE : COLUMNS;
    for (int i = 0; i < ROWS * STRIDE; i++)
        trial->values[i] = i % trial->stride < COLUMNS ? (float)(trial_word() % 16) / 4 - 2 : 3;
    for (int i = 0; i < COLUMNS; i++) /* row 0: 32 ids of 1/32, so that masses are exact */
        trial->values[i] = i < 32 ? 0 : -40;
    if (options & TRIAL_BAD_ROWS) {
        trial->values[trial->stride + 9] = NAN;
        for (int i = 0; i < COLUMNS; i++)
            trial->values[2 * trial->stride + i] = -INFINITY;
    }
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        trial->bias[i] = (float)(trial_word() % 8) / 2 - 2;
        trial->allowed[i] = trial_word() % 2;
    }
    for (int i = 0; i < DRAWS * COLUMNS; i++)
        trial->noise[i] = (float)(1 + trial_word() % 16) / 16;
    for (int d = 0; d < DRAWS; d++) {
        trial->row_index[d] = (int32_t)(trial_word() % ROWS);
        trial->temperature[d] = TRIAL_PICK(1, 0.5, 2);
        trial->top_k[d] = (int64_t)TRIAL_PICK(-1, 1, 3, 10, COLUMNS, COLUMNS + 3);
        trial->top_p[d] = TRIAL_PICK(1, 0.9, 0.5, 1e-6);
        trial->min_p[d] = TRIAL_PICK(0, 0.1, 0.3);
        trial->repetition[d] = TRIAL_PICK(1, 3, 0.5);
        trial->frequency[d] = TRIAL_PICK(0, 2, -1);
        trial->presence[d] = TRIAL_PICK(0, 1.5);
        trial->min_tokens[d] = (int64_t)(trial_word() % LIST);
        trial->seed[d] = (int64_t)(trial_word() << 33 ^ trial_word() << 2 ^ trial_word());
        trial->seed[d] = d % 8 == 6 ? 0 : d % 8 == 7 ? -1 : trial->seed[d];
        trial->position[d] = (int64_t)(trial_word() % 9);
    }
    trial_lists(trial->prompt, trial->prompt_offsets, 12);
    trial_lists(trial->output, trial->output_offsets, 12);
    trial_lists(trial->stop, trial->stop_offsets, COLUMNS);
}

#define WHERE(bit, pointer) (trial->options & (bit) ? (pointer) : NULL)

/* The call of draws first .. first + draws - 1. */
static struct samplegate_call trial_call(const struct trial *trial, int64_t first, int64_t draws)
{
    const uint64_t listed = SAMPLEGATE_PENALTIES | SAMPLEGATE_MIN_TOKENS;
    return (struct samplegate_call){
        .size = sizeof(struct samplegate_call),
        .options = (trial->options & UINT32_MAX) | SAMPLEGATE_TAKES_LOGITS,
        .values = {.size = sizeof(struct samplegate_tensor),
                   .data = trial->values,
                   .rows = ROWS,
                   .columns = COLUMNS,
                   .row_stride = trial->stride},
        .values_kind = SAMPLEGATE_LOGITS,
        .draws = draws,
        .row_index = trial->row_index + first,
        .noise = WHERE(SAMPLEGATE_NOISE_IN, trial->noise + first * COLUMNS),
        .temperature = WHERE(SAMPLEGATE_TEMPERATURE, trial->temperature + first),
        .seed = WHERE(SAMPLEGATE_SEEDED, trial->seed + first),
        .position = WHERE(SAMPLEGATE_SEEDED, trial->position + first),
        .top_k = WHERE(SAMPLEGATE_TOP_K, trial->top_k + first),
        .top_p = WHERE(SAMPLEGATE_TOP_P, trial->top_p + first),
        .min_p = WHERE(SAMPLEGATE_MIN_P, trial->min_p + first),
        .repetition_penalty = WHERE(SAMPLEGATE_PENALTIES, trial->repetition + first),
        .frequency_penalty = WHERE(SAMPLEGATE_PENALTIES, trial->frequency + first),
        .presence_penalty = WHERE(SAMPLEGATE_PENALTIES, trial->presence + first),
        .prompt_tokens = WHERE(listed, trial->prompt),
        .prompt_offsets = WHERE(listed, trial->prompt_offsets + first),
        .output_tokens = WHERE(listed, trial->output),
        .output_offsets = WHERE(listed, trial->output_offsets + first),
        .logit_bias = WHERE(SAMPLEGATE_LOGIT_BIAS, trial->bias),
        .allowed = WHERE(SAMPLEGATE_ALLOWED_MASK, trial->allowed),
        .min_tokens = WHERE(SAMPLEGATE_MIN_TOKENS, trial->min_tokens + first),
        .stop_ids = WHERE(SAMPLEGATE_MIN_TOKENS, trial->stop),
        .stop_offsets = WHERE(SAMPLEGATE_MIN_TOKENS, trial->stop_offsets + first)};
}

static void *trial_open(const char *id)
{
    char options[64], error[256] = "";
    void *instance = NULL;
    snprintf(options, sizeof options, "id=%s", id);
    if (samplegate_plugin()->open(options, SAMPLEGATE_CPU, &instance, error, sizeof error))
        fail_msg("%s: %s", options, error);
    return instance;
}

/* Tokens of the whole trial in calls of `batch`; kept[DRAWS, COLUMNS] with SAMPLEGATE_KEPT_OUT, the row of each
 * draw as its call has it. */
static int trial_run(void *instance, const struct trial *trial, uint64_t seed, int64_t batch, int32_t *token,
                     uint8_t *kept)
{
    uint8_t rows[ROWS * COLUMNS];
    int status = samplegate_plugin()->reset(instance, seed);
    for (int64_t first = 0; status == SAMPLEGATE_OK && first < DRAWS; first += batch) {
        const int64_t draws = DRAWS - first < batch ? DRAWS - first : batch;
        struct samplegate_call call = trial_call(trial, first, draws);
        call.token = token + first;
        call.kept = WHERE(SAMPLEGATE_KEPT_OUT, rows);
        status = samplegate_plugin()->sample(instance, &call);
        for (int64_t d = first; call.kept && d < first + draws; d++)
            memcpy(kept + d * COLUMNS, rows + trial->row_index[d] * COLUMNS, COLUMNS);
    }
    return status;
}
#endif
