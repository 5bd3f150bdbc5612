/* defaults.c: recompute golden/defaults/effective.json and normalize.json with the engines' code.
 *
 * effective.json: every parameter of a request with the layer it came from, then the path it takes alone or
 * its refusal. normalize.json: the engine's own rewriting of parameters and its checks. */
#include <stdio.h>
#include <string.h>

#include "suite/golden/engines.h"

static const char *const effective_group_keys[] = {"engine", "as", "endpoint", NULL};
static const char *const effective_keys[] = {"server", "request", "effective", "path",
                                             "error",  "status",  NULL};
static const char *const normalize_group_keys[] = {"engine", "as", NULL};
static const char *const normalize_keys[] = {"params", "normalized", "error", "status", NULL};

static int same_parameter(const struct golden_case *this, const struct json_cursor *effective,
                          enum engine_parameter parameter, const struct engine_resolved *resolved)
{
    struct trouble *damaged = &this->outcome->damaged;
    const char *name = engine_parameter_names[parameter], *layer;
    const char *ours = engine_layer_names[resolved->layer[parameter]];
    char place[64];
    struct json_cursor pair, value_at;
    struct engine_value value;
    size_t length;
    snprintf(place, sizeof place, "effective.%s", name);
    if (!json_has(effective, name))
        return resolved->layer[parameter] == ENGINE_LAYER_NONE
                   ? 0
                   : golden_disagrees(this, place, "nothing", ours);
    if (json_array(effective, name, &pair, &length, damaged))
        return -1;
    if (length != 2)
        return json_trouble(&pair, damaged, "must be [value, layer]");
    value_at = json_at(&pair, 0);
    bool integer = parameter == ENGINE_TOP_K || parameter == ENGINE_SEED;
    if (json_string_at(&pair, 1, &layer, damaged) || engine_read_value(&value_at, integer, &value, damaged))
        return -1;
    if (strcmp(layer, ours) != 0)
        return golden_disagrees(this, place, layer, ours);
    return engine_same_value(this, place, &value, &resolved->values.at[parameter]);
}

/* A request refused by the endpoint's schema has no effective parameters; one refused later has them. */
static int same_effective(const struct golden_case *this, bool resolves,
                          const struct engine_resolved *resolved)
{
    struct json_cursor effective;
    if (!resolves)
        return json_has(&this->at, "effective")
                   ? golden_disagrees(this, "effective", "parameters", "a refusal")
                   : 0;
    if (!json_has(&this->at, "effective") && json_has(&this->at, "error"))
        return golden_disagrees(this, "effective", "a refusal", "parameters");
    if (json_object(&this->at, "effective", &effective, &this->outcome->damaged) ||
        json_known_keys(&effective, engine_parameter_names, &this->outcome->damaged))
        return -1;
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
        if (same_parameter(this, &effective, p, resolved))
            return -1;
    return 0;
}

static int recompute_effective(const struct golden_case *this, const void *shared)
{
    const struct engine_group *group = shared;
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor server_at, request_at;
    struct engine_server server;
    struct engine_values request;
    if (json_object(&this->at, "server", &server_at, damaged) ||
        engine_read_server(&server_at, group->engine, &server, damaged) ||
        json_object(&this->at, "request", &request_at, damaged) ||
        engine_read_values(&request_at, group->engine, group->endpoint, &request, damaged))
        return -1;
    struct engine_resolved resolved;
    struct engine_flags flags;
    struct engine_refusal refusal;
    struct engine_path path;
    bool resolves =
        !group->engine->resolve(group->reading, &server, group->endpoint, &request, &resolved, &refusal);
    if (same_effective(this, resolves, &resolved))
        return -1;
    if (engine_prepare(group, &server, &request, NULL, &flags, &refusal) ||
        group->engine->path(group->reading, &server, &flags, 1, &path, &refusal))
        return engine_same_refusal(this, &this->at, "", &refusal);
    return engine_same_path(this, &this->at, "", false, &path);
}

static int recompute_normalize(const struct golden_case *this, const void *shared)
{
    const struct engine_group *group = shared;
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor at, golden_at;
    struct engine_values values, golden;
    struct engine_refusal refusal;
    if (json_object(&this->at, "params", &at, damaged) ||
        engine_read_values(&at, group->engine, ENGINE_CHAT, &values, damaged))
        return -1;
    if (group->engine->normalize(group->reading, &values, &refusal) ||
        group->engine->verify(group->reading, &values, &refusal)) {
        if (json_has(&this->at, "normalized"))
            return golden_disagrees(this, "normalized", "parameters", refusal.text);
        return engine_same_refusal(this, &this->at, "", &refusal);
    }
    if (json_has(&this->at, "error"))
        return golden_disagrees(this, "error", "a refusal", "parameters");
    if (json_object(&this->at, "normalized", &golden_at, damaged) ||
        engine_read_values(&golden_at, group->engine, ENGINE_CHAT, &golden, damaged))
        return -1;
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (engine_same_value(this, engine_parameter_names[p], &golden.at[p], &values.at[p]))
            return -1;
    return 0;
}

const struct golden_check golden_defaults_effective = {
    .family = "defaults",
    .check = "effective",
    .what = "requests with the layer of each parameter",
    .group_keys = effective_group_keys,
    .case_keys = effective_keys,
    .begin = engine_group_begin,
    .recompute = recompute_effective,
    .end = engine_group_end,
};
const struct golden_check golden_defaults_normalize = {
    .family = "defaults",
    .check = "normalize",
    .what = "parameters normalized and verified",
    .group_keys = normalize_group_keys,
    .case_keys = normalize_keys,
    .begin = engine_group_begin,
    .recompute = recompute_normalize,
    .end = engine_group_end,
};
