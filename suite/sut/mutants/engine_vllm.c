/* engine_vllm.c: mutants of vLLM 0.5.0.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/engines.h"

#define CLEAN (&vllm_0_5_0)

/* As the article's sentences have it. */
MUTANT_FLAGS(mutant_vllm_no_epsilon)
{
    return CLEAN->flags(reading == ENGINE_ARTICLE_PORT ? ENGINE_ARTICLE_PROSE : reading, server, values,
                        flags, refusal);
}

/* >= for >. */
MUTANT_FLAGS(mutant_vllm_edge_moved)
{
    if (CLEAN->flags(reading, server, values, flags, refusal))
        return -1;
    if (reading != ENGINE_ARTICLE_PROSE)
        flags->need_min_p |= values->at[ENGINE_MIN_P].number == VLLM_EPSILON;
    return 0;
}

/* top_k is compared with the vocabulary as it came; -1 is cut down too late. */
MUTANT_FLAGS(mutant_vllm_whole_vocabulary)
{
    if (CLEAN->flags(reading, server, values, flags, refusal))
        return -1;
    flags->need_top_p_top_k |= values->at[ENGINE_TOP_K].number >= (double)server->vocab;
    return 0;
}

/* A greedy request asks for nothing. */
MUTANT_FLAGS(mutant_vllm_greedy_asks_nothing)
{
    if (CLEAN->flags(reading, server, values, flags, refusal))
        return -1;
    flags->need_penalties &= !flags->draws[ENGINE_DRAW_GREEDY];
    return 0;
}

/* A seed is looked at before the temperature. */
MUTANT_FLAGS(mutant_vllm_seed_first)
{
    if (CLEAN->flags(reading, server, values, flags, refusal))
        return -1;
    if (flags->draws[ENGINE_DRAW_GREEDY] && values->at[ENGINE_SEED].kind == ENGINE_INTEGER) {
        flags->draws[ENGINE_DRAW_GREEDY] = false;
        flags->draws[ENGINE_DRAW_RANDOM_SEED] = true;
    }
    return 0;
}

/* all() for any(). */
struct engine_flags mutant_vllm_all(struct engine_flags a, struct engine_flags b)
{
    struct engine_flags together = CLEAN->together(a, b);
    together.need_penalties = a.need_penalties && b.need_penalties;
    together.need_top_p_top_k = a.need_top_p_top_k && b.need_top_p_top_k;
    together.need_min_p = a.need_min_p && b.need_min_p;
    return together;
}

/* Whoever was in the batch is remembered. */
size_t mutant_vllm_sticky(enum engine_reading reading, const struct engine_batch *batch,
                          struct engine_flags *flags)
{
    const size_t rows = CLEAN->state(reading, batch, flags);
    for (size_t i = 0; i < batch->rows; i++)
        *flags = CLEAN->together(*flags, batch->row[i].flags);
    return rows;
}

/* Only an all-greedy step is taken for one: softmax is skipped. */
int mutant_vllm_greedy_skips(enum engine_reading reading, const struct engine_server *server,
                             const struct engine_flags *flags, size_t rows, struct engine_path *path,
                             struct engine_refusal *refusal)
{
    if (CLEAN->path(reading, server, flags, rows, path, refusal))
        return -1;
    path->stages[ENGINE_STAGE_SOFTMAX] = flags->draws[ENGINE_DRAW_RANDOM] ||
                                         flags->draws[ENGINE_DRAW_RANDOM_SEED] ||
                                         flags->draws[ENGINE_DRAW_BEAM];
    return 0;
}

/* Chat has the object's own temperature. */
MUTANT_RESOLVE(mutant_vllm_chat_neutral)
{
    if (CLEAN->resolve(reading, server, endpoint, request, resolved, refusal))
        return -1;
    if (resolved->layer[ENGINE_TEMPERATURE] == ENGINE_LAYER_DEFAULT)
        resolved->values.at[ENGINE_TEMPERATURE] = engine_float(1);
    return 0;
}

/* Null is silence, as it is in later releases. */
MUTANT_RESOLVE(mutant_vllm_null_is_silent)
{
    struct engine_values silent = *request;
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (silent.at[p].kind == ENGINE_NULL)
            silent.at[p].kind = ENGINE_ABSENT;
    return CLEAN->resolve(reading, server, endpoint, &silent, resolved, refusal);
}

/* The greedy request's filters stay. */
int mutant_vllm_no_reset(enum engine_reading reading, struct engine_values *values,
                         struct engine_refusal *refusal)
{
    const struct engine_values before = *values;
    if (CLEAN->normalize(reading, values, refusal))
        return -1;
    for (enum engine_parameter p = ENGINE_TOP_K; p <= ENGINE_MIN_P; p++)
        values->at[p] = before.at[p];
    return 0;
}

int mutant_vllm_greedy_two(enum engine_reading reading, const struct engine_values *values,
                           struct engine_refusal *refusal)
{
    (void)reading, (void)values, (void)refusal;
    return 0;
}

/* n sequences, whatever best_of says. */
int mutant_vllm_best_of_ignored(enum engine_reading reading, const struct engine_server *server,
                                const struct engine_values *requests, size_t count,
                                struct engine_forks *forks, struct engine_refusal *refusal)
{
    if (CLEAN->forks(reading, server, requests, count, forks, refusal))
        return -1;
    for (size_t i = 0; i < count; i++)
        forks[i].sequences = requests[i].at[ENGINE_N].integer;
    return 0;
}

int mutant_vllm_always_swaps(enum engine_reading reading, const struct engine_server *server,
                             const struct engine_values *requests, size_t count, struct engine_forks *forks,
                             struct engine_refusal *refusal)
{
    if (CLEAN->forks(reading, server, requests, count, forks, refusal))
        return -1;
    for (size_t i = 0; i < count; i++)
        forks[i].last_preempted = forks[i].preempted;
    return 0;
}

/* fp32, whatever the logits are. */
void mutant_vllm_exact_tensors(const struct engine_server *server, struct engine_values *values)
{
    struct engine_server single = *server;
    single.logits = ENGINE_F32;
    CLEAN->tensors(&single, values);
}

/* The temperature of a greedy request reaches the division. */
void mutant_vllm_cold_tensors(const struct engine_server *server, struct engine_values *values)
{
    const struct engine_value temperature = values->at[ENGINE_TEMPERATURE];
    CLEAN->tensors(server, values);
    if (temperature.number < VLLM_EPSILON)
        values->at[ENGINE_TEMPERATURE] = temperature;
}

enum engine_draw mutant_vllm_not_cached(struct engine_object *object)
{
    object->known = false;
    return CLEAN->draw(object);
}

bool mutant_vllm_rows_fixed(const struct engine_group *groups, size_t count, bool fixed, size_t *used)
{
    (void)fixed;
    return CLEAN->penalty_rows(groups, count, true, used);
}

/* A sequence at a time: the best 2 best_of of the first. */
int mutant_vllm_first_parent(const float *logprobs, const float *cumulative, size_t sequences, size_t vocab,
                             size_t best_of, int64_t *parent, int64_t *token)
{
    return CLEAN->candidates(logprobs, cumulative, 2 * best_of <= vocab ? 1 : sequences, vocab, best_of,
                             parent, token);
}
