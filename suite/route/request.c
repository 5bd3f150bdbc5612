/* request.c: one line of traffic: a request body as a client sent it, where to, and when.
 *
 * Lines may be long (whole conversations) and many, so no tree is built: the scanner shows each member as it passes,
 * and only those are kept that a parameter could be. */
#include "suite/route/request.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/json/scan.h"
#include "suite/json/utf8.h"

#define ACCEPTED_KEYS "endpoint, body, id, arrival, finish"

enum { ENDPOINT, BODY, ID, ARRIVAL, FINISH, KEYS };
static const char *const keys[KEYS] = {"endpoint", "body", "id", "arrival", "finish"};

/* The line while it is read. */
struct reading {
    struct request *request;
    struct scan_member key[KEYS]; /* the line's own; value NULL: absent */
    struct scan_member unknown, repeated, nested;
};

static bool is_key(const char *text, size_t bytes, const char *key)
{
    return strlen(key) == bytes && memcmp(text, key, bytes) == 0;
}

/* Every name under which some engine takes a parameter, and every nest. */
static struct {
    struct names {
        const char *name[REQUEST_NAMES];
        size_t bytes[REQUEST_NAMES], count;
    } names, nests;
} known;

/* Its place in the list; `count` if it is not there. */
static size_t listed(const struct names *list, const char *text, size_t bytes)
{
    size_t i = 0;
    while (i < list->count && (list->bytes[i] != bytes || memcmp(list->name[i], text, bytes) != 0))
        i++;
    return i;
}

static void note(struct names *list, const char *name)
{
    if (!name || list->count == REQUEST_NAMES || listed(list, name, strlen(name)) < list->count)
        return;
    list->bytes[list->count] = strlen(name);
    list->name[list->count++] = name;
}

static void know(void)
{
    for (size_t i = 0; i < engine_count; i++) {
        note(&known.nests, engine_table[i]->nest);
        for (enum engine_endpoint e = 0; e < ENGINE_ENDPOINTS; e++)
            for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
                note(&known.names, engine_table[i]->key(e, p));
    }
}

static void keep(struct request *request, const struct scan_member *member, bool nested)
{
    size_t name = listed(&known.names, member->key, member->key_bytes), i = 0;
    if (name == known.names.count)
        return;
    while (i < request->members && (request->member[i].name != name || request->member[i].nested != nested))
        i++;
    request->member[i] = (struct request_member){name, (char *)member->value, member->value_bytes, nested};
    request->members += i == request->members;
}

static bool is_nest(const struct scan_member *member)
{
    return listed(&known.nests, member->key, member->key_bytes) < known.nests.count;
}

static void visit(void *context, const struct scan_member *member)
{
    struct reading *reading = context;
    const struct scan_member *outer = member->inside;
    if (!outer) {
        int key = 0;
        while (key < KEYS && !is_key(member->key, member->key_bytes, keys[key]))
            key++;
        if (key == KEYS)
            reading->unknown = *member;
        else if (reading->key[key].value)
            reading->repeated = *member;
        else
            reading->key[key] = *member;
    } else if (!outer->inside && is_key(outer->key, outer->key_bytes, "body")) {
        if (is_nest(member))
            reading->nested = *member;
        else
            keep(reading->request, member, false);
    } else if (outer->inside && !outer->inside->inside && is_nest(outer) &&
               is_key(outer->inside->key, outer->inside->key_bytes, "body")) {
        keep(reading->request, member, true);
    }
}

/* The text of a JSON string, in its place; also of one that cJSON does not take (a lone surrogate): as it stands. */
static char *unquoted(char *value, size_t bytes)
{
    cJSON *parsed = memchr(value, '\\', bytes) ? cJSON_ParseWithLength(value, bytes) : NULL;
    size_t length = bytes - 2;
    if (cJSON_IsString(parsed)) {
        length = strlen(parsed->valuestring);
        memcpy(value + 1, parsed->valuestring, length);
    }
    cJSON_Delete(parsed);
    value[1 + length] = 0;
    return value + 1;
}

struct place {
    const char *name;
    size_t line;
    const char **reason;
    struct trouble *trouble;
};

__attribute__((format(printf, 4, 5))) static int refuse(const struct place *place, const char *reason,
                                                        const char *key, const char *format, ...)
{
    char what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    utf8_force(what);
    *place->reason = reason;
    return trouble_set(place->trouble, EXIT_USAGE, "%s:%zu: %s%s%s", place->name, place->line, key,
                       *key ? ": " : "", what);
}

/* What stands there, cut for a message. */
#define SHOWN(member) (int)((member)->value_bytes < 60 ? (member)->value_bytes : 60), (member)->value

static int read_endpoint(struct reading *reading, const struct place *place)
{
    const struct scan_member *member = &reading->key[ENDPOINT];
    char accepted[120] = "";
    if (!member->value)
        return refuse(place, "no endpoint", "", "\"endpoint\" is missing");
    for (int e = 0; e < ENGINE_ENDPOINTS; e++) {
        const char *name = engine_endpoint_names[e];
        if (*member->value == '"' && is_key(member->value + 1, member->value_bytes - 2, name)) {
            reading->request->endpoint = (enum engine_endpoint)e;
            return 0;
        }
        snprintf(accepted + strlen(accepted), sizeof accepted - strlen(accepted), "%s%s", e ? ", " : "",
                 name);
    }
    return refuse(place, "an unknown endpoint", "endpoint", "%.*s is unknown; accepted: %s", SHOWN(member),
                  accepted);
}

static int read_body(struct reading *reading, const struct place *place)
{
    const struct scan_member *body = &reading->key[BODY], *nested = &reading->nested;
    if (!body->value)
        return refuse(place, "no body", "", "\"body\" is missing");
    if (*body->value != '{')
        return refuse(place, "a body that is no object", "body",
                      "must be the request as it was sent, an object, is %.*s", SHOWN(body));
    if (!nested->value || *nested->value == '{' || *nested->value == 'n' ||
        reading->request->endpoint != ENGINE_GENERATE)
        return 0;
    return refuse(
        place, "a nest that is no object", "body",
        "\"%.*s\": must be an object, is %.*s (a list stands for several requests: give each a line)",
        (int)nested->key_bytes, nested->key, SHOWN(nested));
}

static int read_id(struct reading *reading, const struct place *place)
{
    struct scan_member *member = &reading->key[ID];
    char *id = reading->request->id;
    if (!member->value) {
        snprintf(id, REQUEST_ID, "%zu", place->line);
    } else if (*member->value == '"') {
        snprintf(id, REQUEST_ID, "%s", unquoted((char *)member->value, member->value_bytes));
        utf8_force(id);
    } else if (isdigit((unsigned char)*member->value) || *member->value == '-') {
        snprintf(id, REQUEST_ID, "%.*s", (int)member->value_bytes, member->value);
    } else {
        return refuse(place, "an id that is no string", "id", "must be a string or a number, is %.*s",
                      SHOWN(member));
    }
    return 0;
}

/* 1: there it is, 0: absent. */
static int read_seconds(struct reading *reading, int key, const struct place *place, double *seconds)
{
    const struct scan_member *member = &reading->key[key];
    if (!member->value)
        return 0;
    *seconds = strtod(member->value, NULL);
    bool number = *member->value == '-' || isdigit((unsigned char)*member->value);
    return number && *seconds >= 0 && isfinite(*seconds)
               ? 1
               : refuse(place, key == ARRIVAL ? "an arrival that is no time" : "a finish that is no time",
                        keys[key], "must be a number of seconds from 0, is %.*s", SHOWN(member));
}

static int read_times(struct reading *reading, const struct place *place)
{
    struct request *request = reading->request;
    request->finish = INFINITY;
    int arrival = read_seconds(reading, ARRIVAL, place, &request->arrival);
    int finish = arrival < 0 ? -1 : read_seconds(reading, FINISH, place, &request->finish);
    if (finish < 0)
        return -1;
    request->timed = arrival == 1;
    if (finish == 1 && arrival == 0)
        return refuse(place, "a finish without an arrival", "", "\"finish\" needs \"arrival\" beside it");
    if (request->finish < request->arrival && request->timed)
        return refuse(place, "a finish before its arrival", "finish", "%.9g is before the arrival, %.9g",
                      request->finish, request->arrival);
    return 0;
}

int request_read(struct request *request, const char *name, size_t line, char *text, size_t bytes,
                 const char **reason, struct trouble *trouble)
{
    const struct place place = {name, line, reason, trouble};
    struct reading reading = {.request = request};
    if (!known.names.count)
        know();
    request->members = 0;
    *reason = "not JSON";
    if (scan_sent(name, line, text, bytes, visit, &reading, trouble))
        return -1;
    if (text[strspn(text, " \t\r")] != '{')
        return refuse(&place, "not an object", "", "must be an object with %s", ACCEPTED_KEYS);
    if (reading.unknown.value)
        return refuse(&place, "an unknown key", "", "unknown key \"%.*s\"; accepted: %s",
                      (int)(reading.unknown.key_bytes < 40 ? reading.unknown.key_bytes : 40),
                      reading.unknown.key, ACCEPTED_KEYS);
    if (reading.repeated.value)
        return refuse(&place, "a key given twice", "", "\"%.*s\" is given twice",
                      (int)reading.repeated.key_bytes, reading.repeated.key);
    return read_endpoint(&reading, &place) || read_body(&reading, &place) || read_id(&reading, &place) ||
                   read_times(&reading, &place)
               ? -1
               : 0;
}

/* As Python's json reads it: an integer without point and exponent, else a float. */
static struct engine_value number_of(const char *text)
{
    char *end;
    size_t digits = strspn(text, "-0123456789");
    errno = 0;
    long long integer = strtoll(text, &end, 10);
    if (digits && !errno && end == text + digits && !strchr(".eE", text[digits] ? text[digits] : ' '))
        return engine_integer(integer);
    return engine_float(*text == 'N' ? (double)NAN : strtod(text, NULL));
}

static struct engine_value value_of(struct request_member *member)
{
    struct engine_value value = {.kind = ENGINE_NULL};
    switch (*member->value) {
    case 'n':
        break;
    case 't':
    case 'f':
        value = engine_integer(*member->value == 't');
        value.kind = ENGINE_BOOLEAN;
        break;
    case '"':
        value.kind = ENGINE_TEXT;
        if (member->value_bytes) /* once: it may be asked for again */
            unquoted(member->value, member->value_bytes);
        member->value_bytes = 0;
        value.text = member->value + 1;
        break;
    case '[':
        value.kind = ENGINE_ARRAY;
        break;
    case '{':
        value.kind = ENGINE_OBJECT;
        break;
    default:
        value = number_of(member->value);
    }
    return value;
}

void request_values(struct request *request, const struct engine *engine, struct engine_values *values)
{
    const bool nested = request->endpoint == ENGINE_GENERATE && engine->nest;
    *values = (struct engine_values){0};
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        const char *key = engine->key(request->endpoint, p);
        for (size_t i = 0; key && i < request->members; i++) {
            struct request_member *member = &request->member[i];
            if (member->nested == nested && strcmp(known.names.name[member->name], key) == 0)
                values->at[p] = value_of(member);
        }
    }
}
