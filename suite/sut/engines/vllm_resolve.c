/* vllm_resolve.c: what vLLM 0.5.0's endpoints make of a request body: the request's value or the endpoint's default.
 *
 * No other layer speaks: of a model's generation_config this release reads the stop ids alone. Null reaches
 * the engine as None wherever the schema takes it, and dies in the first comparison.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/vllm.h"

const char *vllm_key(enum engine_endpoint endpoint, enum engine_parameter parameter)
{
    const bool own_object = parameter == ENGINE_PROMPT_LOGPROBS || parameter == ENGINE_DETOKENIZE;
    const bool completions = parameter == ENGINE_LOGPROBS || parameter == ENGINE_TRUNCATE_PROMPT_TOKENS;
    if (endpoint == ENGINE_RESPONSES || (own_object && endpoint != ENGINE_GENERATE) ||
        (completions && endpoint == ENGINE_CHAT))
        return NULL;
    return engine_parameter_names[parameter];
}

void vllm_echo(enum engine_endpoint endpoint, const struct engine_value *top_logprobs,
               struct engine_values *request)
{
    struct engine_value *max_tokens = &request->at[ENGINE_MAX_TOKENS];
    if (endpoint == ENGINE_CHAT)
        request->at[ENGINE_PROMPT_LOGPROBS] =
            top_logprobs->kind == ENGINE_ABSENT ? engine_integer(0) : *top_logprobs;
    if (endpoint != ENGINE_COMPLETIONS)
        return;
    request->at[ENGINE_PROMPT_LOGPROBS] = request->at[ENGINE_LOGPROBS];
    if (engine_is_number(max_tokens) && max_tokens->number == 0)
        *max_tokens = engine_integer(1);
}

/* Of the article's table and record: temperature to seed, n, best_of, use_beam_search. */
static bool in_article(enum engine_parameter parameter)
{
    return parameter <= ENGINE_USE_BEAM_SEARCH;
}

static struct engine_value built_in(enum engine_reading reading, enum engine_endpoint endpoint,
                                    enum engine_parameter parameter)
{
    struct engine_value value = {.kind = ENGINE_NULL};
    switch (parameter) {
    case ENGINE_TEMPERATURE:
        return engine_float(reading == ENGINE_UPSTREAM && endpoint == ENGINE_CHAT ? 0.7 : 1);
    case ENGINE_TOP_P:
    case ENGINE_REPETITION_PENALTY:
    case ENGINE_LENGTH_PENALTY:
        return engine_float(1);
    case ENGINE_MIN_P:
    case ENGINE_FREQUENCY_PENALTY:
    case ENGINE_PRESENCE_PENALTY:
        return engine_float(0);
    case ENGINE_TOP_K:
        return engine_integer(-1);
    case ENGINE_N:
        return engine_integer(1);
    case ENGINE_MIN_TOKENS:
        return engine_integer(0);
    case ENGINE_MAX_TOKENS: /* chat fills it with what is left of the context */
        return endpoint == ENGINE_CHAT ? value : engine_integer(16);
    case ENGINE_STOP: /* upstream only */
        value.kind = endpoint == ENGINE_GENERATE ? ENGINE_NULL : ENGINE_ARRAY;
        return value;
    case ENGINE_USE_BEAM_SEARCH:
    case ENGINE_EARLY_STOPPING:
    case ENGINE_DETOKENIZE:
        value = engine_integer(parameter == ENGINE_DETOKENIZE);
        value.kind = ENGINE_BOOLEAN;
        return value;
    default:
        return value;
    }
}

/* The body behind the schema of an OpenAI endpoint. */
static int validate(enum engine_endpoint endpoint, struct engine_values *request,
                    struct engine_refusal *refusal)
{
    const struct engine_value *logprobs = &request->at[ENGINE_LOGPROBS];
    if (endpoint == ENGINE_COMPLETIONS &&
        engine_is_set(logprobs)) { /* asked of the raw body, before all else */
        if (!engine_is_number(logprobs))
            return vllm_unordered(logprobs, true, ">=", "int", refusal);
        if (!(logprobs->number >= 0))
            return engine_refuse(refusal, 400, "if passed, `logprobs` must be a positive value.");
    }
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        struct engine_value *value = &request->at[p];
        const bool optional = !(p == ENGINE_N && endpoint == ENGINE_COMPLETIONS);
        if (value->kind == ENGINE_ABSENT || (value->kind == ENGINE_NULL && optional))
            continue;
        const char *key = vllm_key(endpoint, p);
        if (engine_coerce(p, key ? key : engine_parameter_names[p], value, refusal))
            return -1;
        if (p == ENGINE_TRUNCATE_PROMPT_TOKENS && value->number < 1)
            return engine_refuse(refusal, 400, "%s must be at least 1", engine_parameter_names[p]);
    }
    return 0;
}

int vllm_resolve(enum engine_reading reading, const struct engine_server *server,
                 enum engine_endpoint endpoint, const struct engine_values *request,
                 struct engine_resolved *resolved, struct engine_refusal *refusal)
{
    struct engine_values said = *request;
    const bool upstream = reading == ENGINE_UPSTREAM;
    (void)server;
    *resolved = (struct engine_resolved){0};
    if (endpoint == ENGINE_RESPONSES)
        return engine_refuse(refusal, 404, "vllm-0.5.0 has no /v1/responses");
    if (upstream && endpoint != ENGINE_GENERATE && validate(endpoint, &said, refusal))
        return -1;
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        const bool given = upstream ? said.at[p].kind != ENGINE_ABSENT : engine_is_set(&said.at[p]);
        if (!upstream && !in_article(p))
            continue;
        resolved->values.at[p] = given ? said.at[p] : built_in(reading, endpoint, p);
        resolved->layer[p] = given ? ENGINE_LAYER_REQUEST : ENGINE_LAYER_DEFAULT;
    }
    return 0;
}

/* The demonstration server, which has /generate, catches nothing that the constructor raises. */
int vllm_status(enum engine_endpoint endpoint, int status)
{
    return endpoint == ENGINE_GENERATE && status == 400 ? 500 : status;
}
