/* sglang.c: SGLang 0.5.19 and 0.5.20: the flags of a batch and the path of the sampler they select.
 *
 * Flags are taken on the parameters as given, in double: top_p = 0.9999999999 is a filter although it is 1 in
 * float32.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/sglang.h"

#include <strings.h>

bool sglang_switch_is_on(const char *text)
{
    static const char *const off[] = {"0", "false", "no", "n"};
    for (size_t i = 0; text && i < sizeof off / sizeof *off; i++)
        if (strcasecmp(text, off[i]) == 0)
            return false;
    return true;
}

static int flags_of(enum engine_reading reading, const struct engine_server *server,
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
    if (reading == ENGINE_UPSTREAM && !(top_k->number <= INT32_MAX))
        return engine_refuse(refusal, 0, "top_k %s does not fit the batch's int32 tensor",
                             engine_python_text(top_k, text, sizeof text));
    *flags = (struct engine_flags){
        .all_greedy = top_k->number <= 1,
        .need_top_k = top_k->number != (double)SGLANG_TOP_K_ALL,
        .need_top_p = !engine_is_number(top_p) || top_p->number != 1,
        .need_min_p = min_p->number > 0,
    };
    return 0;
}

static enum engine_backend backend_of(const struct engine_server *server)
{
    if (server->device == ENGINE_CPU || server->deterministic)
        return ENGINE_PYTORCH;
    return server->backend == ENGINE_BACKEND_UNSET ? ENGINE_FLASHINFER : server->backend;
}

/* `plain`: how this release draws where nothing filters and nothing is seeded. */
static int path_of(enum engine_reading reading, const struct engine_server *server,
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
    path->backend = backend_of(server);
    path->seeded = server->deterministic && path->kind != ENGINE_GREEDY;
    if (path->seeded && flags->need_min_p)
        return engine_refuse(refusal, 0,
                             "With sampling seed, multinomial_with_seed will provide wrong results");
    return 0;
}

/* The article's code knows only 0.5.20 with its switch on. */
static int path_0_5_19(enum engine_reading reading, const struct engine_server *server,
                       const struct engine_flags *flags, size_t rows, struct engine_path *path,
                       struct engine_refusal *refusal)
{
    bool race = reading == ENGINE_ARTICLE_PORT;
    return path_of(reading, server, flags, rows, race ? ENGINE_GUMBEL : ENGINE_MULTINOMIAL, path, refusal);
}

static int path_0_5_20(enum engine_reading reading, const struct engine_server *server,
                       const struct engine_flags *flags, size_t rows, struct engine_path *path,
                       struct engine_refusal *refusal)
{
    bool race = reading == ENGINE_ARTICLE_PORT || sglang_switch_is_on(server->gumbel_switch);
    return path_of(reading, server, flags, rows, race ? ENGINE_GUMBEL : ENGINE_MULTINOMIAL, path, refusal);
}

static const struct engine_flag flag_table[] = {{'G', offsetof(struct engine_flags, all_greedy)},
                                                {'k', offsetof(struct engine_flags, need_top_k)},
                                                {'p', offsetof(struct engine_flags, need_top_p)},
                                                {'m', offsetof(struct engine_flags, need_min_p)},
                                                {0, 0}};

#define SGLANG(version, path_function)                                                                       \
    {                                                                                                        \
        .size = sizeof(struct engine), .name = "sglang-" version, .flag = flag_table, .key = sglang_key,     \
        .nest = "sampling_params", .resolve = sglang_resolve, .normalize = sglang_normalize,                 \
        .verify = sglang_verify, .flags = flags_of, .together = sglang_together, .path = path_function,      \
        .admit = sglang_admit, .join = sglang_join, .filter = engine_batch_filter, .state = sglang_state     \
    }
const struct engine sglang_0_5_19 = SGLANG("0.5.19", path_0_5_19);
const struct engine sglang_0_5_20 = SGLANG("0.5.20", path_0_5_20);
