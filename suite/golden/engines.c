/* engines.c: read and compare what the goldens of engines share. */
#include "suite/golden/engines.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int engine_group_begin(const struct json_cursor *group, void **shared, struct golden_outcome *outcome)
{
    struct trouble *damaged = &outcome->damaged;
    const char *name;
    int reading, endpoint = ENGINE_GENERATE;
    if (json_string(group, "engine", &name, damaged) ||
        json_one_of(group, "as", engine_reading_names, &reading, damaged) ||
        (json_has(group, "endpoint") &&
         json_one_of(group, "endpoint", engine_endpoint_names, &endpoint, damaged)))
        return -1;
    const struct engine *engine = engine_find(name);
    if (!engine)
        return json_trouble(group, damaged, "\"engine\": there is no engine \"%.40s\" here", name);
    struct engine_group *made = malloc(sizeof *made);
    if (!made)
        return json_trouble(group, damaged, "out of memory");
    *made = (struct engine_group){engine, (enum engine_reading)reading, (enum engine_endpoint)endpoint};
    *shared = made;
    return 0;
}

void engine_group_end(void *shared)
{
    free(shared);
}

static int tagged(const struct json_cursor *at, struct engine_value *value, struct trouble *damaged)
{
    static const char *const keys[] = {"float", "integer", NULL};
    static const struct {
        const char *name;
        double number;
    } special[] = {{"nan", NAN}, {"inf", HUGE_VAL}, {"-inf", -HUGE_VAL}};
    const char *text;
    double number;
    if (json_known_keys(at, keys, damaged))
        return -1;
    if (json_has(at, "integer")) {
        if (json_string(at, "integer", &text, damaged))
            return -1;
        char *end;
        errno = 0;
        long long integer = strtoll(text, &end, 10);
        if (errno || end == text || *end)
            return json_trouble(at, damaged, "\"integer\": must be a 64-bit integer in a string");
        *value = engine_integer(integer);
        return 0;
    }
    if (json_string(at, "float", &text, damaged))
        return -1;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(text, special[i].name) == 0) {
            *value = engine_float(special[i].number);
            return 0;
        }
    if (json_double_string(at, "float", &number, damaged))
        return -1;
    *value = engine_float(number);
    return 0;
}

int engine_read_value(const struct json_cursor *at, bool integer, struct engine_value *value,
                      struct trouble *damaged)
{
    const cJSON *node = at->node;
    *value = (struct engine_value){0};
    if (cJSON_IsNull(node)) {
        value->kind = ENGINE_NULL;
    } else if (cJSON_IsBool(node)) {
        *value = engine_integer(cJSON_IsTrue(node));
        value->kind = ENGINE_BOOLEAN;
    } else if (cJSON_IsString(node)) {
        value->kind = ENGINE_TEXT;
        value->text = node->valuestring;
    } else if (cJSON_IsArray(node)) {
        value->kind = ENGINE_ARRAY;
    } else if (cJSON_IsObject(node)) {
        value->kind = ENGINE_OBJECT;
        return node->child ? tagged(at, value, damaged) : 0;
    } else {
        double number = node->valuedouble;
        bool integral = fabs(number) < 0x1p53 && number == trunc(number);
        *value = integer && integral ? engine_integer((int64_t)number) : engine_float(number);
    }
    return 0;
}

static bool takes_integers(enum engine_parameter parameter)
{
    return parameter == ENGINE_TOP_K || parameter == ENGINE_SEED;
}

int engine_read_values(const struct json_cursor *at, const struct engine *engine,
                       enum engine_endpoint endpoint, struct engine_values *values, struct trouble *damaged)
{
    const char *known[ENGINE_PARAMETERS + 2];
    memcpy(known, engine_parameter_names, ENGINE_PARAMETERS * sizeof *known);
    known[ENGINE_PARAMETERS] = "sampling_seed";
    known[ENGINE_PARAMETERS + 1] = NULL;
    if (json_known_keys(at, known, damaged))
        return -1;
    *values = (struct engine_values){0};
    for (int p = 0; p < ENGINE_PARAMETERS; p++) {
        const char *key = engine->key(endpoint, (enum engine_parameter)p);
        if (!key || !json_has(at, key))
            continue;
        struct json_cursor member = *at;
        member.node = cJSON_GetObjectItemCaseSensitive(at->node, key);
        if (engine_read_value(&member, takes_integers((enum engine_parameter)p), &values->at[p], damaged))
            return -1;
    }
    return 0;
}

static int read_flag(const struct json_cursor *at, const char *key, bool *flag, struct trouble *damaged)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(at->node, key);
    if (node && !cJSON_IsBool(node))
        return json_trouble(at, damaged, "\"%s\": must be true or false", key);
    *flag = node && cJSON_IsTrue(node);
    return 0;
}

/* A dictionary of the server's; its seed is named as /generate names it. */
static int read_dictionary(const struct json_cursor *at, const char *key, const struct engine *engine,
                           struct engine_values *values, struct trouble *damaged)
{
    struct json_cursor member;
    if (!json_has(at, key))
        return 0;
    return json_object(at, key, &member, damaged) ||
                   engine_read_values(&member, engine, ENGINE_GENERATE, values, damaged)
               ? -1
               : 0;
}

int engine_read_server(const struct json_cursor *at, const struct engine *engine,
                       struct engine_server *server, struct trouble *damaged)
{
    static const char *const keys[] = {"switch",
                                       "deterministic",
                                       "device",
                                       "backend",
                                       "sampling_defaults",
                                       "generation_config",
                                       "preferred",
                                       NULL},
                             *const defaults[] = {"model", "openai", NULL};
    *server = (struct engine_server){0};
    int device = ENGINE_CUDA, backend = ENGINE_BACKEND_UNSET, neutral = 0;
    if (json_known_keys(at, keys, damaged) ||
        (json_has(at, "switch") && json_string(at, "switch", &server->gumbel_switch, damaged)) ||
        read_flag(at, "deterministic", &server->deterministic, damaged) ||
        (json_has(at, "device") && json_one_of(at, "device", engine_device_names, &device, damaged)) ||
        (json_has(at, "backend") && json_one_of(at, "backend", engine_backend_names, &backend, damaged)) ||
        (json_has(at, "sampling_defaults") &&
         json_one_of(at, "sampling_defaults", defaults, &neutral, damaged)) ||
        read_dictionary(at, "generation_config", engine, &server->generation_config, damaged) ||
        read_dictionary(at, "preferred", engine, &server->preferred, damaged))
        return -1;
    server->device = (enum engine_device)device;
    server->backend = (enum engine_backend)backend;
    server->neutral_defaults = neutral == 1;
    return 0;
}

int engine_prepare(const struct engine_group *group, const struct engine_server *server,
                   const struct engine_values *request, struct engine_resolved *resolved,
                   struct engine_flags *flags, struct engine_refusal *refusal)
{
    struct engine_resolved own;
    if (!resolved)
        resolved = &own;
    const struct engine *engine = group->engine;
    if (engine->resolve(group->reading, server, group->endpoint, request, resolved, refusal))
        return -1;
    struct engine_values values = resolved->values;
    return engine->normalize(group->reading, &values, refusal) ||
                   engine->verify(group->reading, &values, refusal) ||
                   engine->flags(group->reading, &values, flags, refusal)
               ? -1
               : 0;
}

/* A text member against ours; where the golden has none, it has something else to say and that disagrees. */
static int same_text(const struct golden_case *this, const struct json_cursor *at, const char *place,
                     const char *key, const char *ours)
{
    char field[96];
    const char *golden = "none";
    snprintf(field, sizeof field, "%s%s%s", place, *place ? "." : "", key);
    if (json_has(at, key) && json_string(at, key, &golden, &this->outcome->damaged))
        return -1;
    return strcmp(golden, ours) == 0 ? 0 : golden_disagrees(this, field, golden, ours);
}

int engine_same_path(const struct golden_case *this, const struct json_cursor *at, const char *place,
                     bool whole, const struct engine_path *path)
{
    if (same_text(this, at, place, "error", "none") ||
        same_text(this, at, place, "path", engine_path_names[path->kind]))
        return -1;
    if (!whole)
        return 0;
    bool seeded;
    if (!json_has(at, "seeded"))
        return json_trouble(at, &this->outcome->damaged, "\"seeded\" is missing");
    if (read_flag(at, "seeded", &seeded, &this->outcome->damaged))
        return -1;
    if (seeded != path->seeded)
        return golden_disagrees(this, "seeded", seeded ? "true" : "false", path->seeded ? "true" : "false");
    return same_text(this, at, place, "backend", engine_backend_names[path->backend]);
}

int engine_same_refusal(const struct golden_case *this, const struct json_cursor *at, const char *place,
                        const struct engine_refusal *refusal)
{
    return same_text(this, at, place, "path", "none") || same_text(this, at, place, "error", refusal->text) ||
                   golden_same_integer(this, at, "status", "status", refusal->status)
               ? -1
               : 0;
}

int engine_same_value(const struct golden_case *this, const char *place, const struct engine_value *golden,
                      const struct engine_value *ours)
{
    bool numbers = engine_is_number(golden) && engine_is_number(ours) &&
                   (golden->kind == ENGINE_BOOLEAN) == (ours->kind == ENGINE_BOOLEAN);
    bool same = numbers ? golden->number == ours->number || (isnan(golden->number) && isnan(ours->number))
                        : golden->kind == ours->kind;
    if (same && golden->kind == ENGINE_INTEGER && ours->kind == ENGINE_INTEGER)
        same = golden->integer == ours->integer; /* beyond 2^53 the doubles may agree alone */
    if (same && golden->kind == ENGINE_TEXT)
        same = strcmp(golden->text, ours->text) == 0;
    char a[32], b[32];
    return same ? 0
                : golden_disagrees(this, place, engine_python_text(golden, a, sizeof a),
                                   engine_python_text(ours, b, sizeof b));
}

const char *engine_flag_letters(const struct engine_flags *flags, char text[5])
{
    text[0] = flags->all_greedy ? 'G' : '-';
    text[1] = flags->need_top_k ? 'k' : '-';
    text[2] = flags->need_top_p ? 'p' : '-';
    text[3] = flags->need_min_p ? 'm' : '-';
    text[4] = 0;
    return text;
}

bool engine_flags_of_letters(const char *text, struct engine_flags *flags)
{
    char back[5];
    if (strlen(text) != 4)
        return false;
    *flags = (struct engine_flags){text[0] == 'G', text[1] == 'k', text[2] == 'p', text[3] == 'm'};
    return strcmp(engine_flag_letters(flags, back), text) == 0;
}
