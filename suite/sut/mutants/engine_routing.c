/* engine_routing.c: engine mutants whose batches take the wrong path.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/engines.h"

#include <string.h>

#define CLEAN (&sglang_0_5_20)

struct engine_flags mutant_greedy_or(struct engine_flags a, struct engine_flags b)
{
    struct engine_flags together = CLEAN->together(a, b);
    together.all_greedy = a.all_greedy || b.all_greedy;
    return together;
}

struct engine_flags mutant_one_side(struct engine_flags a, struct engine_flags b)
{
    struct engine_flags together = CLEAN->together(a, b);
    together.need_top_k = a.need_top_k;
    together.need_top_p = a.need_top_p;
    together.need_min_p = a.need_min_p;
    return together;
}

/* From the rows that are there now. */
size_t mutant_recomputed(enum engine_reading reading, const struct engine_batch *batch,
                         struct engine_flags *flags)
{
    size_t rows = CLEAN->state(reading, batch, flags), live = 0;
    for (size_t i = 0; i < batch->rows; i++)
        if (!batch->row[i].finished) {
            *flags = live ? CLEAN->together(*flags, batch->row[i].flags) : batch->row[i].flags;
            live++;
        }
    return rows;
}

/* The needs survive even an empty batch. */
int mutant_never_fresh(enum engine_reading reading, struct engine_batch *running,
                       struct engine_batch *prefill)
{
    struct engine_flags before = running->flags;
    if (CLEAN->join(reading, running, prefill))
        return -1;
    running->flags.need_top_k |= before.need_top_k;
    running->flags.need_top_p |= before.need_top_p;
    running->flags.need_min_p |= before.need_min_p;
    return 0;
}

/* is_all_greedy of the side that was there first. */
int mutant_greedy_kept(enum engine_reading reading, struct engine_batch *running,
                       struct engine_batch *prefill)
{
    struct engine_flags before, after;
    const bool had_rows = CLEAN->state(reading, running, &before) > 0;
    if (CLEAN->join(reading, running, prefill))
        return -1;
    if (had_rows && CLEAN->state(reading, running, &after) > 0)
        running->flags.all_greedy = before.all_greedy;
    return 0;
}

/* As the next release does it. */
int mutant_every_round(enum engine_reading reading, struct engine_batch *running,
                       struct engine_batch *prefill)
{
    engine_batch_filter(running);
    return CLEAN->join(reading, running, prefill);
}

int mutant_last_admitted(struct engine_batch *prefill, int64_t id, const struct engine_flags *flags)
{
    if (CLEAN->admit(prefill, id, flags))
        return -1;
    prefill->flags = *flags;
    return 0;
}

int mutant_float_flags(enum engine_reading reading, const struct engine_server *server,
                       const struct engine_values *values, struct engine_flags *flags,
                       struct engine_refusal *refusal)
{
    struct engine_values rounded = *values;
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (rounded.at[p].kind == ENGINE_FLOAT)
            rounded.at[p].number = (float)rounded.at[p].number;
    return CLEAN->flags(reading, server, &rounded, flags, refusal);
}

int mutant_top_k_one(enum engine_reading reading, const struct engine_server *server,
                     const struct engine_values *values, struct engine_flags *flags,
                     struct engine_refusal *refusal)
{
    if (CLEAN->flags(reading, server, values, flags, refusal))
        return -1;
    flags->all_greedy &= values->at[ENGINE_TOP_K].number < 1;
    return 0;
}

int mutant_greedy_needs_nothing(enum engine_reading reading, const struct engine_server *server,
                                const struct engine_values *values, struct engine_flags *flags,
                                struct engine_refusal *refusal)
{
    if (CLEAN->flags(reading, server, values, flags, refusal))
        return -1;
    flags->need_top_k &= !flags->all_greedy;
    return 0;
}

int mutant_switch_off(enum engine_reading reading, const struct engine_server *server,
                      const struct engine_flags *flags, size_t rows, struct engine_path *path,
                      struct engine_refusal *refusal)
{
    struct engine_server read = *server;
    if (read.gumbel_switch && strcmp(read.gumbel_switch, "off") == 0)
        read.gumbel_switch = "0";
    return CLEAN->path(reading, &read, flags, rows, path, refusal);
}

int mutant_seed_dropped_filtered(enum engine_reading reading, const struct engine_server *server,
                                 const struct engine_flags *flags, size_t rows, struct engine_path *path,
                                 struct engine_refusal *refusal)
{
    if (CLEAN->path(reading, server, flags, rows, path, refusal))
        return -1;
    path->seeded &= path->kind != ENGINE_FILTERED;
    return 0;
}

int mutant_empty_batch(enum engine_reading reading, const struct engine_server *server,
                       const struct engine_flags *flags, size_t rows, struct engine_path *path,
                       struct engine_refusal *refusal)
{
    return CLEAN->path(reading, server, flags, rows ? rows : 1, path, refusal);
}

int mutant_epsilon_closed(enum engine_reading reading, struct engine_values *values,
                          struct engine_refusal *refusal)
{
    struct engine_value *temperature = &values->at[ENGINE_TEMPERATURE];
    if (engine_is_number(temperature) && temperature->number == SGLANG_EPSILON)
        *temperature = engine_float(0);
    return CLEAN->normalize(reading, values, refusal);
}

/* A mixed chunk has the flags of the prefill batch alone. */
int mutant_mix_forgets(struct engine_batch *running, struct engine_batch *prefill)
{
    struct engine_flags before = prefill->flags;
    if (CLEAN->mix(running, prefill))
        return -1;
    prefill->flags = before;
    return 0;
}

MUTANT_PATH(mutant_noise_by_id)
{
    if (CLEAN->path(reading, server, flags, rows, path, refusal))
        return -1;
    if (path->noise == ENGINE_NOISE_RANK)
        path->noise = ENGINE_NOISE_TOKEN;
    return 0;
}

MUTANT_PATH(mutant_ascend_race)
{
    if (CLEAN->path(reading, server, flags, rows, path, refusal))
        return -1;
    if (path->backend == ENGINE_ASCEND && path->kind == ENGINE_MULTINOMIAL)
        path->kind = ENGINE_GUMBEL;
    return 0;
}

MUTANT_PATH(mutant_ascend_min_p)
{
    struct engine_flags without = *flags;
    if (server->backend == ENGINE_ASCEND && flags->need_top_k)
        without.need_min_p = false;
    return CLEAN->path(reading, server, &without, rows, path, refusal);
}

/* The draft sampler is left out of what the switch turns. */
MUTANT_PATH(mutant_draft_unswitched)
{
    struct engine_server unset = *server;
    if (server->draft)
        unset.gumbel_switch = NULL;
    return CLEAN->path(reading, &unset, flags, rows, path, refusal);
}

/* The seed is not looked at until a row draws. */
MUTANT_PATH(mutant_greedy_seed)
{
    struct engine_flags own = *flags;
    own.bad_seed &= !own.all_greedy;
    return CLEAN->path(reading, server, &own, rows, path, refusal);
}

/* Deterministic inference forces pytorch whatever was asked for. */
MUTANT_PATH(mutant_pytorch_forced)
{
    struct engine_server own = *server;
    if (server->deterministic)
        own.backend = ENGINE_PYTORCH;
    return CLEAN->path(reading, &own, flags, rows, path, refusal);
}
