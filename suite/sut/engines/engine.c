/* engine.c: the list of engines, their names, and what every running batch has in common.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/sut/engines/sglang.h"

const struct engine *const engine_table[] = {&sglang_0_5_19, &sglang_0_5_20, &sglang_0_5_23};
const size_t engine_count = sizeof engine_table / sizeof *engine_table;

const char *const engine_parameter_names[] = {
    "temperature",      "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty",
    "presence_penalty", "seed",  NULL};
const char *const engine_endpoint_names[] = {"chat", "responses", "completions", "generate", NULL};
const char *const engine_reading_names[] = {"article-port", "article-prose", "upstream", NULL};
const char *const engine_device_names[] = {"cuda", "cpu", "xpu", NULL};
const char *const engine_backend_names[] = {"unset", "flashinfer", "pytorch", "ascend", "intel_xpu", NULL};
const char *const engine_noise_names[] = {"unseeded", "token", "rank", NULL};
const char *const engine_path_names[] = {"greedy",   "gumbel",        "multinomial",
                                         "filtered", "deterministic", NULL};
const char *const engine_layer_names[] = {"none", "request", "preferred", "model", "default", NULL};

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < engine_count; i++)
        if (strcmp(engine_table[i]->name, name) == 0)
            return engine_table[i];
    return NULL;
}

int engine_check(const struct engine *engine, enum engine_reading reading, const struct engine_values *values,
                 struct engine_flags *flags, struct engine_refusal *refusal)
{
    struct engine_values own = *values;
    return engine->normalize(reading, &own, refusal) || engine->verify(reading, &own, refusal) ||
                   engine->flags(reading, &own, flags, refusal)
               ? -1
               : 0;
}

int engine_prepare(const struct engine *engine, enum engine_reading reading,
                   const struct engine_server *server, enum engine_endpoint endpoint,
                   const struct engine_values *request, struct engine_flags *flags,
                   struct engine_refusal *refusal)
{
    struct engine_resolved resolved;
    if (engine->resolve(reading, server, endpoint, request, &resolved, refusal) == 0 &&
        engine_check(engine, reading, &resolved.values, flags, refusal) == 0)
        return 0;
    refusal->status = engine->status(endpoint, refusal->status);
    return -1;
}

bool engine_batch_finish(struct engine_batch *batch, int64_t id)
{
    for (size_t i = 0; i < batch->rows; i++)
        if (batch->row[i].id == id && !batch->row[i].finished) {
            batch->row[i].finished = true;
            return true;
        }
    return false;
}

void engine_batch_free(struct engine_batch *batch)
{
    free(batch->row);
    *batch = (struct engine_batch){0};
}

int engine_refuse(struct engine_refusal *refusal, int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    refusal->status = status;
    vsnprintf(refusal->text, sizeof refusal->text, format, list);
    va_end(list);
    return -1;
}
