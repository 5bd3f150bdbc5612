/* engine.c: the list of engines, their names, and what every running batch has in common.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/sut/engines/sglang.h"
#include "suite/sut/engines/vllm.h"

const struct engine *const engine_table[] = {&sglang_0_5_19, &sglang_0_5_20, &sglang_0_5_23, &vllm_0_5_0};
const size_t engine_count = sizeof engine_table / sizeof *engine_table;

const char *const engine_parameter_names[] = {"temperature",
                                              "top_k",
                                              "top_p",
                                              "min_p",
                                              "repetition_penalty",
                                              "frequency_penalty",
                                              "presence_penalty",
                                              "seed",
                                              "n",
                                              "best_of",
                                              "use_beam_search",
                                              "early_stopping",
                                              "length_penalty",
                                              "max_tokens",
                                              "min_tokens",
                                              "logprobs",
                                              "prompt_logprobs",
                                              "truncate_prompt_tokens",
                                              "stop",
                                              "detokenize",
                                              NULL};
const char *const engine_endpoint_names[] = {"chat", "responses", "completions", "generate", NULL};
const char *const engine_reading_names[] = {"article-port", "article-prose", "upstream", NULL};
const char *const engine_device_names[] = {"cuda", "cpu", "xpu", NULL};
const char *const engine_backend_names[] = {"unset", "flashinfer", "pytorch", "ascend", "intel_xpu", NULL};
const char *const engine_noise_names[] = {"unseeded", "token", "rank", NULL};
const char *const engine_path_names[] = {"greedy",        "gumbel", "multinomial", "filtered",
                                         "deterministic", "torch",  NULL};
const char *const engine_preemption_names[] = {"auto", "swap", "recompute", NULL};
const char *const engine_dtype_names[] = {"f32", "bf16", "f16", NULL};
const char *const engine_draw_names[] = {"greedy", "random", "random_seed", "beam", NULL};
const char *const engine_stage_names[] = {"min_tokens", "penalties", "temperature", "top_p_top_k", "min_p",
                                          "softmax",    "sample",    "logprobs",    NULL};
const char *const engine_layer_names[] = {"none", "request", "preferred", "model", "default", NULL};

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < engine_count; i++)
        if (strcmp(engine_table[i]->name, name) == 0)
            return engine_table[i];
    return NULL;
}

int engine_status(const struct engine *engine, enum engine_endpoint endpoint, int status)
{
    return engine->status ? engine->status(endpoint, status) : status;
}

int engine_construct(const struct engine *engine, enum engine_reading reading, struct engine_values *values,
                     struct engine_refusal *refusal)
{
    return engine->normalize(reading, values, refusal) || engine->verify(reading, values, refusal) ? -1 : 0;
}

int engine_check(const struct engine *engine, enum engine_reading reading, const struct engine_server *server,
                 const struct engine_values *values, struct engine_flags *flags,
                 struct engine_refusal *refusal)
{
    struct engine_values own = *values;
    return engine_construct(engine, reading, &own, refusal) ||
                   engine->flags(reading, server, &own, flags, refusal)
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
        engine_check(engine, reading, server, &resolved.values, flags, refusal) == 0)
        return 0;
    refusal->status = engine_status(engine, endpoint, refusal->status);
    return -1;
}

bool engine_flags_same(const struct engine_flags *a, const struct engine_flags *b)
{
    return a->all_greedy == b->all_greedy && a->need_top_k == b->need_top_k &&
           a->need_top_p == b->need_top_p && a->need_min_p == b->need_min_p &&
           a->need_top_p_top_k == b->need_top_p_top_k && a->need_penalties == b->need_penalties &&
           memcmp(a->draws, b->draws, sizeof a->draws) == 0 && a->bad_seed == b->bad_seed &&
           a->top_k_bound == b->top_k_bound;
}

int engine_batch_reserve(struct engine_batch *batch, size_t rows)
{
    if (rows <= batch->room)
        return 0;
    size_t room = rows > 2 * batch->room ? rows : 2 * batch->room;
    struct engine_row *larger = realloc(batch->row, room * sizeof *larger);
    if (!larger)
        return -1;
    batch->row = larger;
    batch->room = room;
    return 0;
}

void engine_round(const struct engine *engine, struct engine_batch *running)
{
    if (engine->filters_rounds)
        engine->filter(running);
}

void engine_batch_filter(struct engine_batch *batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < batch->rows; i++)
        if (!batch->row[i].finished)
            batch->row[kept++] = batch->row[i];
    batch->rows = kept;
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
