/* request.c: one line of traffic: a request body as a client sent it, where to, and when.
 *
 * Lines may be long (whole conversations) and many, so no tree is built: the scanner shows each member as it passes. */
#include "suite/route/request.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/json/scan.h"
#include "suite/json/utf8.h"
#include "suite/route/body.h"

#define ACCEPTED_KEYS "endpoint, body, id, arrival, finish, prompt_tokens"

#define SECONDS_MAX 1e18 /* more than nanoseconds since 1970: sums of a trace stay finite */

enum { ENDPOINT, BODY, ID, ARRIVAL, FINISH, PROMPT_TOKENS, KEYS };
static const char *const keys[KEYS] = {"endpoint", "body", "id", "arrival", "finish", "prompt_tokens"};

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

static void keep(struct request *request, const struct scan_member *member, bool nested)
{
    body_keep(request, member, nested);
    fields_keep(request, member, nested);
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
        if (body_is_nest(member))
            reading->nested = *member;
        else
            keep(reading->request, member, false);
    } else if (outer->inside && !outer->inside->inside && body_is_nest(outer) &&
               is_key(outer->inside->key, outer->inside->key_bytes, "body")) {
        keep(reading->request, member, true);
    }
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
        snprintf(id, REQUEST_ID, "%s", body_unquoted((char *)member->value, member->value_bytes));
        utf8_force(id);
        trouble_flatten(id);
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
    return number && *seconds >= 0 && *seconds <= SECONDS_MAX
               ? 1
               : refuse(place, key == ARRIVAL ? "an arrival that is no time" : "a finish that is no time",
                        keys[key], "must be a number of seconds from 0 to 1e18, is %.*s", SHOWN(member));
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

static int read_prompt_tokens(struct reading *reading, const struct place *place)
{
    const struct scan_member *member = &reading->key[PROMPT_TOKENS];
    reading->request->prompt_tokens = -1;
    if (!member->value)
        return 0;
    const size_t digits = strspn(member->value, "0123456789");
    if (digits != member->value_bytes || digits > 9)
        return refuse(place, "prompt_tokens that are no number", keys[PROMPT_TOKENS],
                      "must be a whole number of tokens from 0 to 999999999, is %.*s", SHOWN(member));
    reading->request->prompt_tokens = strtoll(member->value, NULL, 10);
    return 0;
}

int request_read(struct request *request, const char *name, size_t line, char *text, size_t bytes,
                 const char **reason, struct trouble *trouble)
{
    const struct place place = {name, line, reason, trouble};
    struct reading reading = {.request = request};
    request->members = request->fields = 0;
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
                   read_times(&reading, &place) || read_prompt_tokens(&reading, &place)
               ? -1
               : 0;
}
