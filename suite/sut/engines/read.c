/* read.c: servers, requests and values of any type out of a question's JSON.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/sut/engines/ask.h"

#define LISTED 400 /* bytes of a list of names in a message */

int engine_unreadable(struct engine_why *why, const char *place, const char *format, ...)
{
    char text[sizeof why->text - 124];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(why->text, sizeof why->text, "%.120s%s%s", place, *place ? ": " : "", text);
    return -1;
}

bool engine_takes_integers(enum engine_parameter parameter)
{
    return engine_type_of(parameter) == ENGINE_TAKES_INTEGER;
}

/* `place` of a member, for a message about what is in it. */
static const char *inside(const char *place, const char *key, char text[120])
{
    snprintf(text, 120, "%s%s%s", place, *place ? "." : "", key);
    return text;
}

static bool is_listed(const char *word, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, word) == 0)
            return true;
    return false;
}

static const char *listed(const char *const *names, char text[LISTED])
{
    size_t used = 0;
    text[0] = 0;
    for (; *names && used < LISTED; names++)
        used += (size_t)snprintf(text + used, LISTED - used, "%s%s", used ? ", " : "", *names);
    return text;
}

int engine_read_keys(const cJSON *at, const char *place, const char *const *keys, struct engine_why *why)
{
    char accepted[LISTED];
    if (!cJSON_IsObject(at))
        return engine_unreadable(why, place, "must be an object");
    for (const cJSON *member = at->child; member; member = member->next)
        if (!is_listed(member->string, keys))
            return engine_unreadable(why, place, "unknown key \"%.40s\"; accepted: %s", member->string,
                                     listed(keys, accepted));
    return 0;
}

int engine_read_text(const cJSON *at, const char *place, const char *key, const char **text,
                     struct engine_why *why)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(at, key);
    if (!member)
        return engine_unreadable(why, place, "\"%s\" is missing", key);
    if (!cJSON_IsString(member))
        return engine_unreadable(why, place, "\"%s\": must be a string", key);
    *text = member->valuestring;
    return 0;
}

int engine_read_name(const cJSON *at, const char *place, const char *key, const char *const *names,
                     int *index, struct engine_why *why)
{
    const char *text;
    char accepted[LISTED], deeper[120];
    if (engine_read_text(at, place, key, &text, why))
        return -1;
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0) {
            *index = i;
            return 0;
        }
    return engine_unreadable(why, inside(place, key, deeper), "\"%.40s\" is unknown; accepted: %s", text,
                             listed(names, accepted));
}

int engine_read_size(const cJSON *at, const char *place, const char *what, size_t most, size_t *size,
                     struct engine_why *why)
{
    if (!cJSON_IsNumber(at) || !(at->valuedouble >= 1 && at->valuedouble <= (double)most) ||
        at->valuedouble != trunc(at->valuedouble))
        return engine_unreadable(why, place, "%s: must be a whole number from 1 to %zu", what, most);
    *size = (size_t)at->valuedouble;
    return 0;
}

static int read_integer(const char *text, const char *place, struct engine_value *value,
                        struct engine_why *why)
{
    char *end;
    errno = 0;
    long long integer = strtoll(text, &end, 10);
    if (end == text || *end)
        return engine_unreadable(why, place, "\"integer\": must be a whole number in a string");
    *value = errno ? engine_float(strtod(text, NULL))
                   : engine_integer(integer); /* beyond 64 bits the nearest double */
    return 0;
}

static int read_float(const char *text, const char *place, struct engine_value *value, struct engine_why *why)
{
    static const char *const special[] = {"nan", "inf", "-inf", NULL};
    char *end;
    double number =
        strtod(text, &end); /* it reads the special words too, and a few more that goldens do not have */
    if (end == text || *end || strchr(" \t\n\v\f\r", *text) ||
        (!isfinite(number) && !is_listed(text, special)))
        return engine_unreadable(why, place,
                                 "\"float\": must be a finite number in a string, or nan, inf, -inf");
    *value = engine_float(number);
    return 0;
}

/* {"float": "0x1p-3"} or {"integer": "5"}. */
static int read_tagged(const cJSON *at, const char *place, struct engine_value *value, struct engine_why *why)
{
    static const char *const keys[] = {"float", "integer", NULL};
    const char *text;
    if (engine_read_keys(at, place, keys, why))
        return -1;
    if (at->child->next)
        return engine_unreadable(why, place, "must have one key");
    if (engine_read_text(at, place, at->child->string, &text, why))
        return -1;
    return strcmp(at->child->string, "integer") == 0 ? read_integer(text, place, value, why)
                                                     : read_float(text, place, value, why);
}

int engine_read_value(const cJSON *at, const char *place, bool integer, struct engine_value *value,
                      struct engine_why *why)
{
    *value = (struct engine_value){0};
    if (cJSON_IsNull(at)) {
        value->kind = ENGINE_NULL;
    } else if (cJSON_IsBool(at)) {
        *value = engine_integer(cJSON_IsTrue(at));
        value->kind = ENGINE_BOOLEAN;
    } else if (cJSON_IsString(at)) {
        value->kind = ENGINE_TEXT;
        value->text = at->valuestring;
    } else if (cJSON_IsArray(at)) {
        value->kind = ENGINE_ARRAY;
    } else if (cJSON_IsObject(at)) {
        value->kind = ENGINE_OBJECT;
        return at->child ? read_tagged(at, place, value, why) : 0;
    } else {
        double number = at->valuedouble;
        bool integral = fabs(number) < 0x1p53 && number == trunc(number);
        *value = integer && integral ? engine_integer((int64_t)number) : engine_float(number);
    }
    return 0;
}

/* The engine has the parameter at some endpoint. */
static bool has(const struct engine *engine, enum engine_parameter parameter)
{
    for (enum engine_endpoint e = 0; e < ENGINE_ENDPOINTS; e++)
        if (engine->key(e, parameter))
            return true;
    return false;
}

static const char *key_at(const struct engine *engine, enum engine_endpoint endpoint,
                          enum engine_parameter parameter)
{
    if (endpoint < ENGINE_ENDPOINTS)
        return engine->key(endpoint, parameter);
    return has(engine, parameter) ? engine_parameter_names[parameter] : NULL;
}

/* All keys that some endpoint of the engine has. */
static const char *const *keys_of(const struct engine *engine,
                                  const char *known[ENGINE_PARAMETERS * ENGINE_ENDPOINTS + 1])
{
    size_t count = 0;
    known[0] = NULL;
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
        for (enum engine_endpoint e = 0; e < ENGINE_ENDPOINTS; e++) {
            const char *key = engine->key(e, p);
            if (key && !is_listed(key, known)) {
                known[count++] = key;
                known[count] = NULL;
            }
        }
    return known;
}

int engine_read_values(const cJSON *at, const char *place, const struct engine *engine,
                       enum engine_endpoint endpoint, struct engine_values *values, struct engine_why *why)
{
    const char *known[ENGINE_PARAMETERS * ENGINE_ENDPOINTS + 1];
    if (engine_read_keys(at, place, keys_of(engine, known), why))
        return -1;
    *values = (struct engine_values){0};
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        char deeper[120];
        const char *key = key_at(engine, endpoint, p);
        const cJSON *member = key ? cJSON_GetObjectItemCaseSensitive(at, key) : NULL;
        if (member && engine_read_value(member, inside(place, key, deeper), engine_takes_integers(p),
                                        &values->at[p], why))
            return -1;
    }
    return 0;
}

cJSON *engine_parameters_of(const struct engine *engine, const cJSON *body)
{
    cJSON *own = engine_memory(cJSON_Duplicate(body, true));
    for (const char *const *field = engine->fields; field && *field; field++)
        cJSON_DeleteItemFromObjectCaseSensitive(own, *field);
    return own;
}

/* A dictionary of the server's; its seed is named as /generate names it. */
static int read_dictionary(const cJSON *at, const char *place, const char *key, const struct engine *engine,
                           struct engine_values *values, struct engine_why *why)
{
    char deeper[120];
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(at, key);
    return member
               ? engine_read_values(member, inside(place, key, deeper), engine, ENGINE_GENERATE, values, why)
               : 0;
}

static int read_flag(const cJSON *at, const char *place, const char *key, bool *flag, struct engine_why *why)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(at, key);
    if (member && !cJSON_IsBool(member))
        return engine_unreadable(why, place, "\"%s\": must be true or false", key);
    *flag = cJSON_IsTrue(member);
    return 0;
}

int engine_read_server(const cJSON *at, const char *place, const struct engine *engine,
                       struct engine_server *server, struct engine_why *why)
{
    static const char *const
        keys[] = {"switch",    "deterministic", "device", "backend", "sampling_defaults", "generation_config",
                  "preferred", "transformers",  "draft",  "vocab",   "preemption",        "logits",
                  NULL},
        *const defaults[] = {"model", "openai", NULL}, *const libraries[] = {"pinned", "4", NULL};
    int device = ENGINE_CUDA, backend = ENGINE_BACKEND_UNSET, neutral = 0, library = 0,
        preemption = ENGINE_PREEMPTION_AUTO, logits = ENGINE_F32;
    size_t size = 0;
    *server = (struct engine_server){0};
    if (engine_read_keys(at, place, keys, why) ||
        (cJSON_HasObjectItem(at, "switch") &&
         engine_read_text(at, place, "switch", &server->gumbel_switch, why)) ||
        (cJSON_HasObjectItem(at, "device") &&
         engine_read_name(at, place, "device", engine_device_names, &device, why)) ||
        (cJSON_HasObjectItem(at, "backend") &&
         engine_read_name(at, place, "backend", engine_backend_names, &backend, why)) ||
        (cJSON_HasObjectItem(at, "sampling_defaults") &&
         engine_read_name(at, place, "sampling_defaults", defaults, &neutral, why)) ||
        (cJSON_HasObjectItem(at, "logits") &&
         engine_read_name(at, place, "logits", engine_dtype_names, &logits, why)) ||
        (cJSON_HasObjectItem(at, "preemption") &&
         engine_read_name(at, place, "preemption", engine_preemption_names, &preemption, why)) ||
        (cJSON_HasObjectItem(at, "transformers") &&
         engine_read_name(at, place, "transformers", libraries, &library, why)) ||
        read_flag(at, place, "deterministic", &server->deterministic, why) ||
        read_flag(at, place, "draft", &server->draft, why) ||
        read_dictionary(at, place, "generation_config", engine, &server->generation_config, why) ||
        read_dictionary(at, place, "preferred", engine, &server->preferred, why))
        return -1;
    const cJSON *vocab = cJSON_GetObjectItemCaseSensitive(at, "vocab");
    if (vocab && engine_read_size(vocab, place, "\"vocab\"", ENGINE_VOCAB_MAX, &size, why))
        return -1;
    server->vocab = (int64_t)size;
    server->preemption = (enum engine_preemption)preemption;
    server->logits = (enum engine_dtype)logits;
    server->has_generation_config = cJSON_HasObjectItem(at, "generation_config");
    server->class_defaults = library == 1;
    server->device = (enum engine_device)device;
    server->backend = (enum engine_backend)backend;
    server->neutral_defaults = neutral == 1;
    return 0;
}
