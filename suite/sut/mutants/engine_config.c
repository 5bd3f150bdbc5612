/* engine_config.c: engine mutants whose requests end up with other parameters than were asked for.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/engines.h"

#define CLEAN (&sglang_0_5_20)

static int clean(enum engine_reading reading, const struct engine_server *server,
                 enum engine_endpoint endpoint, const struct engine_values *request,
                 struct engine_resolved *resolved, struct engine_refusal *refusal)
{
    return CLEAN->resolve(reading, server, endpoint, request, resolved, refusal);
}

/* Where chat reads the file, the request is laid under it. */
MUTANT_RESOLVE(mutant_model_over_request)
{
    struct engine_values silent = *request;
    for (int p = 0; p < ENGINE_PARAMETERS && endpoint == ENGINE_CHAT && !server->neutral_defaults; p++)
        if (engine_is_set(&server->generation_config.at[p]))
            silent.at[p].kind = ENGINE_ABSENT;
    return clean(reading, server, endpoint, &silent, resolved, refusal);
}

/* `value or default` */
MUTANT_RESOLVE(mutant_falsy_zero)
{
    struct engine_values truthy = *request;
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (engine_is_number(&truthy.at[p]) && truthy.at[p].number == 0)
            truthy.at[p].kind = ENGINE_ABSENT;
    return clean(reading, server, endpoint, &truthy, resolved, refusal);
}

/* What deviates from the defaults was set, and nothing else. */
MUTANT_RESOLVE(mutant_explicit_default)
{
    static const double neutral[] = {
        [ENGINE_TEMPERATURE] = 1, [ENGINE_TOP_K] = -1, [ENGINE_TOP_P] = 1, [ENGINE_REPETITION_PENALTY] = 1};
    struct engine_values deviating = *request;
    for (int p = 0; p <= ENGINE_REPETITION_PENALTY; p++)
        if (engine_is_number(&deviating.at[p]) && deviating.at[p].number == neutral[p])
            deviating.at[p].kind = ENGINE_ABSENT;
    return clean(reading, server, endpoint, &deviating, resolved, refusal);
}

MUTANT_RESOLVE(mutant_file_ignored)
{
    struct engine_server without = *server;
    without.generation_config = (struct engine_values){0};
    return clean(reading, &without, endpoint, request, resolved, refusal);
}

MUTANT_RESOLVE(mutant_top_k_unset)
{
    if (clean(reading, server, endpoint, request, resolved, refusal))
        return -1;
    if (resolved->layer[ENGINE_TOP_K] == ENGINE_LAYER_DEFAULT)
        resolved->values.at[ENGINE_TOP_K] = engine_integer(1);
    return 0;
}

/* The dictionary of defaults is handed out, not a copy of it: what one request writes into it, the next that
 * is silent finds there. */
MUTANT_RESOLVE(mutant_leaky_defaults)
{
    static struct engine_value left[ENGINE_PARAMETERS]; /* numbers only: texts are the caller's */
    if (clean(reading, server, endpoint, request, resolved, refusal))
        return -1;
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (resolved->layer[p] == ENGINE_LAYER_REQUEST && engine_is_number(&resolved->values.at[p]))
            left[p] = resolved->values.at[p];
        else if (resolved->layer[p] == ENGINE_LAYER_DEFAULT && left[p].kind != ENGINE_ABSENT)
            resolved->values.at[p] = left[p];
    return 0;
}

MUTANT_RESOLVE(mutant_repetition_lost)
{
    struct engine_server without = *server;
    without.generation_config.at[ENGINE_REPETITION_PENALTY].kind = ENGINE_ABSENT;
    return clean(reading, &without, endpoint, request, resolved, refusal);
}

MUTANT_RESOLVE(mutant_builtin_not_neutral)
{
    static const struct {
        enum engine_parameter parameter;
        double number;
    } builtin[] = {{ENGINE_TOP_K, 40}, {ENGINE_TOP_P, 0.95}, {ENGINE_REPETITION_PENALTY, 1.05}};
    if (clean(reading, server, endpoint, request, resolved, refusal))
        return -1;
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
        if (resolved->layer[builtin[i].parameter] == ENGINE_LAYER_DEFAULT)
            resolved->values.at[builtin[i].parameter] = engine_float(builtin[i].number);
    return 0;
}

/* Null is what the user wants, not silence. */
MUTANT_RESOLVE(mutant_null_is_value)
{
    if (clean(reading, server, endpoint, request, resolved, refusal))
        return -1;
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (request->at[p].kind == ENGINE_NULL && resolved->layer[p] != ENGINE_LAYER_NONE) {
            resolved->values.at[p] = request->at[p];
            resolved->layer[p] = ENGINE_LAYER_REQUEST;
        }
    return 0;
}

/* Numbers in strings are read where the engine refuses them. */
MUTANT_RESOLVE(mutant_coerced)
{
    struct engine_values read = *request;
    struct engine_refusal ignored;
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
        if (read.at[p].kind == ENGINE_TEXT)
            engine_coerce(p, "", &read.at[p], &ignored);
    return clean(reading, server, endpoint, &read, resolved, refusal);
}

/* One function for both endpoints of OpenAI's kind. */
MUTANT_RESOLVE(mutant_file_everywhere)
{
    return clean(reading, server, endpoint == ENGINE_COMPLETIONS ? ENGINE_CHAT : endpoint, request, resolved,
                 refusal);
}

MUTANT_RESOLVE(mutant_preferred_over_request)
{
    struct engine_values laid = *request;
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (engine_is_set(&server->preferred.at[p]))
            laid.at[p] = server->preferred.at[p];
    return clean(reading, server, endpoint, &laid, resolved, refusal);
}

MUTANT_RESOLVE(mutant_seed_lost)
{
    struct engine_values unseeded = *request;
    if (endpoint == ENGINE_COMPLETIONS)
        unseeded.at[ENGINE_SEED].kind = ENGINE_ABSENT;
    return clean(reading, server, endpoint, &unseeded, resolved, refusal);
}

int mutant_top_k_below_one(enum engine_reading reading, struct engine_values *values,
                           struct engine_refusal *refusal)
{
    struct engine_value *top_k = &values->at[ENGINE_TOP_K];
    if (engine_is_number(top_k) && top_k->number <= 0)
        *top_k = engine_integer(1);
    return CLEAN->normalize(reading, values, refusal);
}

int mutant_epsilon_float(enum engine_reading reading, struct engine_values *values,
                         struct engine_refusal *refusal)
{
    struct engine_value *temperature = &values->at[ENGINE_TEMPERATURE];
    if (engine_is_number(temperature) && (float)temperature->number == (float)SGLANG_EPSILON)
        *temperature = engine_float(SGLANG_EPSILON);
    return CLEAN->normalize(reading, values, refusal);
}

/* -2 and 2 are refused. */
int mutant_open_penalties(enum engine_reading reading, const struct engine_values *values,
                          struct engine_refusal *refusal)
{
    char text[32];
    if (CLEAN->verify(reading, values, refusal))
        return -1;
    for (enum engine_parameter p = ENGINE_FREQUENCY_PENALTY; p <= ENGINE_PRESENCE_PENALTY; p++)
        if (engine_is_number(&values->at[p]) && (values->at[p].number == 2 || values->at[p].number == -2))
            return engine_refuse(refusal, 400, "%s must be in [-2, 2], got %s.", engine_parameter_names[p],
                                 engine_python_text(&values->at[p], text, sizeof text));
    return 0;
}

MUTANT_RESOLVE(mutant_class_defaults)
{
    struct engine_server leaking = *server;
    leaking.class_defaults = true;
    return clean(reading, &leaking, endpoint, request, resolved, refusal);
}

/* Members that the constructor does not know are dropped, as other endpoints do. */
MUTANT_FIELDS(mutant_unknown_dropped)
{
    int answer = CLEAN->check_fields(server, endpoint, body, stage, refusal);
    return stage == ENGINE_BEFORE_NORMALIZE && answer < 0 ? 0 : answer;
}

MUTANT_FIELDS(mutant_always_normalized)
{
    int answer = CLEAN->check_fields(server, endpoint, body, stage, refusal);
    return answer > 0 ? 0 : answer;
}

MUTANT_FIELDS(mutant_stops_uncounted)
{
    return endpoint == ENGINE_RESPONSES && stage == ENGINE_BEFORE_VERIFY
               ? 0
               : CLEAN->check_fields(server, endpoint, body, stage, refusal);
}

/* Lengths, grammars and biases are looked at before the ranges. */
MUTANT_FIELDS(mutant_lengths_first)
{
    int answer = CLEAN->check_fields(server, endpoint, body, stage, refusal);
    return answer == 0 && stage == ENGINE_BEFORE_VERIFY
               ? CLEAN->check_fields(server, endpoint, body, ENGINE_AFTER_VERIFY, refusal)
               : answer;
}

/* Grammars and lengths go unchecked where a request comes through an OpenAI endpoint. */
MUTANT_FIELDS(mutant_fields_unchecked)
{
    return stage == ENGINE_AFTER_VERIFY && endpoint != ENGINE_GENERATE
               ? 0
               : CLEAN->check_fields(server, endpoint, body, stage, refusal);
}

int mutant_one_status(enum engine_endpoint endpoint, int status)
{
    (void)endpoint;
    return status;
}
