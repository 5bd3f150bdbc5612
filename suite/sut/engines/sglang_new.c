/* sglang_new.c: what SGLang 0.5.23 does otherwise than 0.5.20.
 *
 * - /generate has a schema in front: what has the wrong type, or is unknown, is HTTP 400; a boolean is no number there
 *   and 20.0 no integer.
 * - A seed must be an integer that int64 holds.
 * - Where the pytorch backend filters without seeds and every request of the batch has a finite top_k, no more tokens
 *   are sorted than the largest of them; a request that has left still counts. The law is the same; at equal generator
 *   state the tokens are not.
 * - Ended rows leave the running batch in every round of the scheduler, not only before a decode step: a prefill batch
 *   that is made when all running requests have ended starts afresh.
 * - Intel's GPUs have a backend of their own, which is their default.
 * - The draft sampler draws from seeds if the server is deterministic.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "suite/sut/engines/sglang.h"

/* The type that the schema of /generate asks for, null aside. */
static bool is_strict(enum engine_parameter parameter, const struct engine_value *value)
{
    bool whole = value->kind == ENGINE_FLOAT && value->number >= 0x1p63 && value->number < 0x1p64;
    if (engine_type_of(parameter) == ENGINE_TAKES_INTEGER)
        return value->kind == ENGINE_INTEGER || whole; /* a whole number that large is read as a double */
    return value->kind == ENGINE_INTEGER || value->kind == ENGINE_FLOAT;
}

int sglang_wrong_type(const struct engine_value *value, bool integer, struct engine_refusal *refusal)
{
    const char *expected = integer ? "i64" : "f64";
    char text[40];
    switch (value->kind) {
    case ENGINE_TEXT:
        return engine_refuse(refusal, 400, "invalid type: string \"%.100s\", expected %s", value->text,
                             expected);
    case ENGINE_BOOLEAN:
        return engine_refuse(refusal, 400, "invalid type: boolean `%s`, expected %s",
                             value->integer ? "true" : "false", expected);
    case ENGINE_FLOAT:
        return engine_refuse(refusal, 400, "invalid type: floating point `%s`, expected %s",
                             engine_python_text(value, text, sizeof text), expected);
    default:
        return engine_refuse(refusal, 400, "invalid type: %s, expected %s",
                             value->kind == ENGINE_ARRAY ? "sequence" : "map", expected);
    }
}

int sglang_check_type(enum engine_parameter parameter, const struct engine_value *value,
                      struct engine_refusal *refusal)
{
    if (!engine_is_set(value) || is_strict(parameter, value))
        return 0;
    return sglang_wrong_type(value, engine_type_of(parameter) == ENGINE_TAKES_INTEGER, refusal);
}

static int resolve(enum engine_reading reading, const struct engine_server *server,
                   enum engine_endpoint endpoint, const struct engine_values *request,
                   struct engine_resolved *resolved, struct engine_refusal *refusal)
{
    bool strict = reading == ENGINE_UPSTREAM && endpoint == ENGINE_GENERATE;
    for (enum engine_parameter p = 0; strict && p <= ENGINE_N; p++)
        if (sglang_check_type(p, &request->at[p], refusal))
            return -1;
    return sglang_resolve(reading, server, endpoint, request, resolved, refusal);
}

static int verify(enum engine_reading reading, const struct engine_values *values,
                  struct engine_refusal *refusal)
{
    const struct engine_value *seed = &values->at[ENGINE_SEED];
    if (sglang_verify(reading, values, refusal))
        return -1;
    if (reading != ENGINE_UPSTREAM || !engine_is_set(seed))
        return 0;
    bool large = seed->kind == ENGINE_FLOAT && fabs(seed->number) >= 0x1p63;
    if (large)
        return engine_refuse(refusal, 400, "sampling_seed must be in [-2**63, 2**63 - 1], got %.0f.",
                             seed->number);
    if (seed->kind != ENGINE_INTEGER && seed->kind != ENGINE_BOOLEAN)
        return engine_refuse(refusal, 400, "sampling_seed must be an integer, got %s.",
                             engine_python_type(seed));
    return 0;
}

/* The draft sampler's noise is its own, keyed by token. */
static void seed_draft(const struct engine_server *server, struct engine_path *path)
{
    path->seeded = server->deterministic;
    path->noise = server->deterministic ? ENGINE_NOISE_TOKEN : ENGINE_NOISE_UNSEEDED;
    if (server->deterministic)
        path->kind = ENGINE_DETERMINISTIC;
}

static int path_of(enum engine_reading reading, const struct engine_server *server,
                   const struct engine_flags *flags, size_t rows, struct engine_path *path,
                   struct engine_refusal *refusal)
{
    struct engine_server own = *server;
    bool upstream = reading == ENGINE_UPSTREAM;
    /* Looked at when the backend is settled: a CPU and deterministic inference have made it pytorch. */
    if (upstream && server->backend == ENGINE_INTEL_XPU && server->device == ENGINE_CUDA &&
        !server->deterministic)
        return engine_refuse(refusal, 0,
                             "--sampling-backend intel_xpu requires --device xpu, got --device %s",
                             engine_device_names[server->device]);
    if (server->device == ENGINE_XPU && server->backend == ENGINE_BACKEND_UNSET)
        own.backend = ENGINE_INTEL_XPU;
    if (sglang_0_5_20.path(reading, &own, flags, rows, path, refusal))
        return -1;
    if (upstream && server->draft)
        seed_draft(server, path);
    else if (upstream && path->backend == ENGINE_PYTORCH && path->kind == ENGINE_FILTERED && !path->seeded)
        path->top_k_bound = flags->top_k_bound;
    return 0;
}

static int join(enum engine_reading reading, struct engine_batch *running, struct engine_batch *prefill)
{
    if (sglang_join(reading, running, prefill))
        return -1;
    engine_batch_filter(running);
    return 0;
}

static int check_fields(const struct engine_server *server, enum engine_endpoint endpoint,
                        const struct cJSON *body, enum engine_stage_of_check stage,
                        struct engine_refusal *refusal)
{
    static const struct sglang_body version = {.strict = true, .known = {"watermark"}};
    return sglang_check_fields(&version, server, endpoint, body, stage, refusal);
}

const struct engine sglang_0_5_23 = {
    .size = sizeof(struct engine),
    .name = "sglang-0.5.23",
    .flag = sglang_flag_table,
    .nest = "sampling_params",
    .prompts = SGLANG_PROMPTS,
    .key = sglang_key,
    .resolve = resolve,
    .normalize = sglang_normalize,
    .verify = verify,
    .flags = sglang_flags,
    .together = sglang_together,
    .path = path_of,
    .admit = sglang_admit,
    .join = join,
    .filters_rounds = true,
    .filter = engine_batch_filter,
    .forks = sglang_forks,
    .mix = sglang_mix,
    .state = sglang_state,
    .check_fields = check_fields,
    .fields = sglang_fields,
    .status = sglang_status,
};
