/* sglang.c: SGLang 0.5.19 and 0.5.20: the flags of a batch and the path of the sampler that they select.
 *
 * Flags are taken on the parameters as given, in double: top_p = 0.9999999999 is a filter although it is 1 in
 * float32.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/sglang.h"

#include <math.h>
#include <strings.h>

bool sglang_switch_is_on(const char *text)
{
    static const char *const off[] = {"0", "false", "no", "n"};
    for (size_t i = 0; text && i < sizeof off / sizeof *off; i++)
        if (strcasecmp(text, off[i]) == 0)
            return false;
    return true;
}

bool sglang_is_seed(const struct engine_value *value)
{
    bool whole =
        value->kind != ENGINE_FLOAT || fabs(value->number) < 0x1p63; /* what is larger is read as a double */
    return !engine_is_set(value) || (engine_is_number(value) && whole);
}

/* The largest top_k of a row that filters by it, 0 where it takes the whole vocabulary. */
static int32_t bound_of(double top_k)
{
    return top_k >= 1 && top_k < (double)SGLANG_TOP_K_ALL ? (int32_t)top_k : 0;
}

int sglang_flags(enum engine_reading reading, const struct engine_server *server,
                 const struct engine_values *values, struct engine_flags *flags,
                 struct engine_refusal *refusal)
{
    (void)server;
    const struct engine_value *top_k = &values->at[ENGINE_TOP_K], *top_p = &values->at[ENGINE_TOP_P],
                              *min_p = &values->at[ENGINE_MIN_P];
    /* Only the article's code comes here unverified: these are the comparisons it would die of. */
    if (!engine_is_number(top_k))
        return engine_refuse(refusal, 0, "'<=' not supported between instances of '%s' and 'int'",
                             engine_python_type(top_k));
    if (!engine_is_number(min_p))
        return engine_refuse(refusal, 0, "'>' not supported between instances of '%s' and 'int'",
                             engine_python_type(min_p));
    char text[32];
    if (reading == ENGINE_UPSTREAM && top_k->number >= 0x1p63 && !isinf(top_k->number))
        return engine_refuse(refusal, 0, "top_k %.0f does not fit the batch's int32 tensor", top_k->number);
    if (reading == ENGINE_UPSTREAM && !(top_k->number <= INT32_MAX))
        return engine_refuse(refusal, 0, "top_k %s does not fit the batch's int32 tensor",
                             engine_python_text(top_k, text, sizeof text));
    *flags = (struct engine_flags){
        .all_greedy = top_k->number <= 1,
        .need_top_k = top_k->number != (double)SGLANG_TOP_K_ALL,
        .need_top_p = !engine_is_number(top_p) || top_p->number != 1,
        .need_min_p = min_p->number > 0,
        .bad_seed = !sglang_is_seed(&values->at[ENGINE_SEED]),
        .top_k_bound = bound_of(top_k->number),
    };
    return 0;
}

/* On a CPU pytorch wins over what was asked for; deterministic inference leaves ascend alone. */
static enum engine_backend backend_of(const struct engine_server *server)
{
    if (server->device == ENGINE_CPU)
        return ENGINE_PYTORCH;
    if (server->deterministic && server->backend != ENGINE_ASCEND)
        return ENGINE_PYTORCH;
    if (server->backend == ENGINE_BACKEND_UNSET)
        return server->device == ENGINE_CUDA ? ENGINE_FLASHINFER : ENGINE_PYTORCH;
    return server->backend;
}

/* Ascend's kernel filters if every top_k is one it takes. Left out: where one is not, the row's width is written over
 * each top_k that stands for the whole vocabulary, in the running batch's own tensor; with a vocabulary of up to 1024 the
 * next step would then come to the kernel. */
static bool is_ascend_kernel(const struct engine_path *path, const struct engine_flags *flags)
{
    return path->kind == ENGINE_FILTERED && path->backend == ENGINE_ASCEND && flags->top_k_bound > 0 &&
           flags->top_k_bound <= 1024;
}

/* Where noise is a function of the seed, it is made for token ids on the plain path and, on the filtered one, for
 * ranks in the sorted row; ascend's kernel keeps ids in place. */
static enum engine_noise noise_of(const struct engine_path *path, const struct engine_flags *flags)
{
    if (!path->seeded)
        return ENGINE_NOISE_UNSEEDED;
    return path->kind == ENGINE_FILTERED && !is_ascend_kernel(path, flags) ? ENGINE_NOISE_RANK
                                                                           : ENGINE_NOISE_TOKEN;
}

int sglang_path(enum engine_reading reading, const struct engine_server *server,
                const struct engine_flags *flags, size_t rows, enum engine_path_kind plain,
                struct engine_path *path, struct engine_refusal *refusal)
{
    if (rows == 0)
        return engine_refuse(refusal, 0, "a batch needs at least one request");
    bool filtered = flags->need_top_k || flags->need_top_p || flags->need_min_p;
    *path = (struct engine_path){.kind = filtered ? ENGINE_FILTERED : plain};
    if (flags->all_greedy)
        path->kind = ENGINE_GREEDY;
    /* The article's table sends a deterministic server's every batch to the seeded path; its code and the
     * engine do not. */
    else if (server->deterministic && (!filtered || reading == ENGINE_ARTICLE_PROSE))
        path->kind = ENGINE_DETERMINISTIC;
    if (reading != ENGINE_UPSTREAM)
        return 0;
    if (server->deterministic && flags->bad_seed)
        return engine_refuse(refusal, 0, "a seed does not fit the batch's int64 tensor");
    path->backend = backend_of(server);
    path->seeded = server->deterministic && path->kind != ENGINE_GREEDY;
    path->noise = noise_of(path, flags);
    if (path->backend == ENGINE_ASCEND && path->kind == ENGINE_GUMBEL)
        path->kind = ENGINE_MULTINOMIAL;
    if (path->seeded && flags->need_min_p && path->backend == ENGINE_PYTORCH)
        return engine_refuse(refusal, 0,
                             "With sampling seed, multinomial_with_seed will provide wrong results");
    /* There the engine multiplies what torch's max() returns, values and indices, and means the values. */
    if (is_ascend_kernel(path, flags) && flags->need_min_p)
        return engine_refuse(refusal, 0,
                             "only integer tensors of a single element can be converted to an index");
    return 0;
}

/* The draft sampler draws without filters, and by the race for longer than the main one. */
static int draft_path(const struct engine_server *server, struct engine_path *path)
{
    bool race = sglang_switch_is_on(server->gumbel_switch);
    *path = (struct engine_path){.kind = race ? ENGINE_GUMBEL : ENGINE_MULTINOMIAL,
                                 .backend = backend_of(server)};
    return 0;
}

/* The article's code knows only 0.5.20 with its switch on. */
static int path_0_5_19(enum engine_reading reading, const struct engine_server *server,
                       const struct engine_flags *flags, size_t rows, struct engine_path *path,
                       struct engine_refusal *refusal)
{
    bool race = reading == ENGINE_ARTICLE_PORT;
    if (reading == ENGINE_UPSTREAM && server->draft && rows)
        return draft_path(server, path);
    return sglang_path(reading, server, flags, rows, race ? ENGINE_GUMBEL : ENGINE_MULTINOMIAL, path,
                       refusal);
}

static int path_0_5_20(enum engine_reading reading, const struct engine_server *server,
                       const struct engine_flags *flags, size_t rows, struct engine_path *path,
                       struct engine_refusal *refusal)
{
    bool race = reading == ENGINE_ARTICLE_PORT || sglang_switch_is_on(server->gumbel_switch);
    if (reading == ENGINE_UPSTREAM && server->draft && rows)
        return draft_path(server, path);
    return sglang_path(reading, server, flags, rows, race ? ENGINE_GUMBEL : ENGINE_MULTINOMIAL, path,
                       refusal);
}

static int fields_0_5_19(const struct engine_server *server, enum engine_endpoint endpoint,
                         const struct cJSON *body, enum engine_stage_of_check stage,
                         struct engine_refusal *refusal)
{
    static const struct sglang_body version = {.known = {"is_normalized"}};
    return sglang_check_fields(&version, server, endpoint, body, stage, refusal);
}

static int fields_0_5_20(const struct engine_server *server, enum engine_endpoint endpoint,
                         const struct cJSON *body, enum engine_stage_of_check stage,
                         struct engine_refusal *refusal)
{
    static const struct sglang_body version = {.known = {"is_normalized", "ebnf_full_assistant"}};
    return sglang_check_fields(&version, server, endpoint, body, stage, refusal);
}

const struct engine_flag sglang_flag_table[] = {{'G', offsetof(struct engine_flags, all_greedy)},
                                                {'k', offsetof(struct engine_flags, need_top_k)},
                                                {'p', offsetof(struct engine_flags, need_top_p)},
                                                {'m', offsetof(struct engine_flags, need_min_p)},
                                                {0, 0}};

#define SGLANG(version, path_function, fields_function)                                                      \
    {                                                                                                        \
        .size = sizeof(struct engine), .name = "sglang-" version, .flag = sglang_flag_table,                 \
        .key = sglang_key, .nest = "sampling_params", .prompts = SGLANG_PROMPTS, .forks = sglang_forks,      \
        .resolve = sglang_resolve, .normalize = sglang_normalize, .verify = sglang_verify,                   \
        .flags = sglang_flags, .together = sglang_together, .path = path_function, .admit = sglang_admit,    \
        .join = sglang_join, .filter = engine_batch_filter, .mix = sglang_mix,                               \
        .state = sglang_state_of_rows, .check_fields = fields_function, .fields = sglang_fields,             \
        .status = sglang_status                                                                              \
    }
const struct engine sglang_0_5_19 = SGLANG("0.5.19", path_0_5_19, fields_0_5_19);
const struct engine sglang_0_5_20 = SGLANG("0.5.20", path_0_5_20, fields_0_5_20);
