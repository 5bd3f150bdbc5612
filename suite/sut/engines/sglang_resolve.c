/* sglang_resolve.c: which of request, preferred parameters, generation_config and built-in default sets each
 * parameter.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/sglang.h"

const char *sglang_key(enum engine_endpoint endpoint, enum engine_parameter parameter)
{
    if (parameter == ENGINE_N && endpoint != ENGINE_RESPONSES)
        return engine_parameter_names[parameter];
    if (parameter != ENGINE_SEED)
        return parameter < ENGINE_SEED ? engine_parameter_names[parameter] : NULL;
    return endpoint == ENGINE_GENERATE ? "sampling_seed" : endpoint == ENGINE_RESPONSES ? NULL : "seed";
}

/* The neutral value a request schema fills in. The engine's own object says "whole vocabulary" in a number
 * instead of -1. */
static struct engine_value neutral(enum engine_parameter parameter, bool own_object)
{
    switch (parameter) {
    case ENGINE_TEMPERATURE:
    case ENGINE_TOP_P:
    case ENGINE_REPETITION_PENALTY:
        return engine_float(1);
    case ENGINE_TOP_K:
        return engine_integer(own_object ? SGLANG_TOP_K_ALL : -1);
    case ENGINE_SEED:
        return (struct engine_value){.kind = ENGINE_NULL};
    default:
        return engine_float(0);
    }
}

static void set(struct engine_resolved *resolved, enum engine_parameter parameter, struct engine_value value,
                enum engine_layer layer)
{
    resolved->values.at[parameter] = value;
    resolved->layer[parameter] = layer;
}

/* The file has five keys; null in it is silence. */
static const struct engine_value *from_model(const struct engine_server *server,
                                             enum engine_parameter parameter)
{
    static const struct engine_value silent = {.kind = ENGINE_ABSENT};
    bool read = !server->neutral_defaults && parameter <= ENGINE_REPETITION_PENALTY;
    return read && engine_is_set(&server->generation_config.at[parameter])
               ? &server->generation_config.at[parameter]
               : &silent;
}

/* The first that is set of request, preferred (if it counts), model (if it counts); else the built-in. */
static void choose(struct engine_resolved *resolved, enum engine_parameter parameter,
                   const struct engine_value *request, const struct engine_value *preferred,
                   const struct engine_value *model, struct engine_value built_in)
{
    if (engine_is_set(request))
        set(resolved, parameter, *request, ENGINE_LAYER_REQUEST);
    else if (preferred && engine_is_set(preferred))
        set(resolved, parameter, *preferred, ENGINE_LAYER_PREFERRED);
    else if (model && engine_is_set(model))
        set(resolved, parameter, *model, ENGINE_LAYER_MODEL);
    else
        set(resolved, parameter, built_in, ENGINE_LAYER_DEFAULT);
}

/* The article's code: four keys, no preferred parameters, the file on chat only. */
static void article_port(const struct engine_server *server, enum engine_endpoint endpoint,
                         const struct engine_values *request, struct engine_resolved *resolved)
{
    for (enum engine_parameter p = ENGINE_TEMPERATURE; p <= ENGINE_MIN_P; p++)
        choose(resolved, p, &request->at[p], NULL, endpoint == ENGINE_CHAT ? from_model(server, p) : NULL,
               neutral(p, false));
}

/* The article's sentences: repetition_penalty too, preferred parameters into every request, and /v1/responses
 * takes the model's temperature and top_p. */
static void article_prose(const struct engine_server *server, enum engine_endpoint endpoint,
                          const struct engine_values *request, struct engine_resolved *resolved)
{
    for (enum engine_parameter p = ENGINE_TEMPERATURE; p <= ENGINE_REPETITION_PENALTY; p++) {
        bool reads = endpoint == ENGINE_CHAT ||
                     (endpoint == ENGINE_RESPONSES && (p == ENGINE_TEMPERATURE || p == ENGINE_TOP_P));
        choose(resolved, p, &request->at[p], &server->preferred.at[p], reads ? from_model(server, p) : NULL,
               neutral(p, false));
    }
}

/* /generate lays the request over the preferred parameters, so a null is an answer; then comes the engine's
 * own object. */
static void generate(const struct engine_server *server, const struct engine_values *request,
                     struct engine_resolved *resolved)
{
    for (enum engine_parameter p = 0; p <= ENGINE_SEED; p++) {
        if (request->at[p].kind != ENGINE_ABSENT)
            set(resolved, p, request->at[p], ENGINE_LAYER_REQUEST);
        else if (server->preferred.at[p].kind != ENGINE_ABSENT)
            set(resolved, p, server->preferred.at[p], ENGINE_LAYER_PREFERRED);
        else
            set(resolved, p, neutral(p, true), ENGINE_LAYER_DEFAULT);
    }
}

/* Whether the endpoint's schema takes null for "not given". */
static bool optional(enum engine_endpoint endpoint, enum engine_parameter parameter)
{
    return parameter == ENGINE_SEED ||
           (endpoint != ENGINE_COMPLETIONS && parameter <= ENGINE_REPETITION_PENALTY);
}

/* Chat and completions send every parameter, which leaves nothing to the preferred ones. */
static void chat_or_completions(const struct engine_server *server, enum engine_endpoint endpoint,
                                const struct engine_values *request, struct engine_resolved *resolved)
{
    for (enum engine_parameter p = 0; p <= ENGINE_SEED; p++)
        choose(resolved, p, &request->at[p], NULL, endpoint == ENGINE_CHAT ? from_model(server, p) : NULL,
               neutral(p, false));
}

/* /v1/responses sends temperature, top_p and the two additive penalties; what else is silent, the preferred
 * parameters or the engine's own object set, a null among the preferred included. */
static void responses(const struct engine_server *server, const struct engine_values *request,
                      struct engine_resolved *resolved)
{
    for (enum engine_parameter p = 0; p <= ENGINE_SEED; p++) {
        bool sent = p == ENGINE_TEMPERATURE || p == ENGINE_TOP_P || p == ENGINE_FREQUENCY_PENALTY ||
                    p == ENGINE_PRESENCE_PENALTY;
        choose(resolved, p, &request->at[p], NULL, from_model(server, p),
               p == ENGINE_TEMPERATURE ? engine_float(0.7) : neutral(p, !sent));
        if (!sent && resolved->layer[p] == ENGINE_LAYER_DEFAULT &&
            server->preferred.at[p].kind != ENGINE_ABSENT)
            set(resolved, p, server->preferred.at[p], ENGINE_LAYER_PREFERRED);
    }
}

/* The request behind the schema of an OpenAI endpoint. */
static int validate(enum engine_endpoint endpoint, struct engine_values *request,
                    struct engine_refusal *refusal)
{
    for (enum engine_parameter p = 0; p <= ENGINE_N; p++) {
        struct engine_value *value = &request->at[p];
        const char *key = sglang_key(endpoint, p);
        if (!key || (value->kind == ENGINE_NULL && optional(endpoint, p)))
            value->kind = ENGINE_ABSENT;
        if (value->kind != ENGINE_ABSENT && engine_coerce(p, key, value, refusal))
            return -1;
    }
    return 0;
}

int sglang_status(enum engine_endpoint endpoint, int status)
{
    return endpoint == ENGINE_RESPONSES && status == 500 ? 400 : status;
}

/* Transformers 4 hands out class defaults for what a file does not name; a null in it names the key. */
static void fill_class_defaults(struct engine_server *server)
{
    struct engine_values *file = &server->generation_config;
    static const double defaults[] = {
        [ENGINE_TEMPERATURE] = 1, [ENGINE_TOP_P] = 1, [ENGINE_REPETITION_PENALTY] = 1};
    for (enum engine_parameter p = 0; p <= ENGINE_REPETITION_PENALTY; p++)
        if (p != ENGINE_MIN_P && file->at[p].kind == ENGINE_ABSENT)
            file->at[p] = p == ENGINE_TOP_K ? engine_integer(50) : engine_float(defaults[p]);
}

int sglang_resolve(enum engine_reading reading, const struct engine_server *server,
                   enum engine_endpoint endpoint, const struct engine_values *request,
                   struct engine_resolved *resolved, struct engine_refusal *refusal)
{
    struct engine_server own = *server;
    struct engine_values valid = *request;
    *resolved = (struct engine_resolved){0};
    if (reading == ENGINE_UPSTREAM && server->class_defaults && server->has_generation_config)
        fill_class_defaults(&own);
    if (reading == ENGINE_ARTICLE_PORT) {
        article_port(server, endpoint, request, resolved);
    } else if (reading == ENGINE_ARTICLE_PROSE) {
        article_prose(server, endpoint, request, resolved);
    } else if (endpoint == ENGINE_GENERATE) {
        if (sglang_check_n(&request->at[ENGINE_N], refusal))
            return -1;
        generate(server, request, resolved);
    } else {
        if (validate(endpoint, &valid, refusal))
            return -1;
        if (endpoint == ENGINE_RESPONSES)
            responses(&own, &valid, resolved);
        else
            chat_or_completions(&own, endpoint, &valid, resolved);
    }
    resolved->values.at[ENGINE_N] =
        valid.at[ENGINE_N]; /* of no layer: nothing but the request speaks of it */
    return 0;
}
