/* answers.c: hold an engine's answer against its golden case, member by member.
 *
 * What the golden says is read strictly, so that a broken expectation is damage and not a difference; an answer
 * may hold anything. Numbers are compared as numbers, whatever their type. */
#include "suite/golden/questions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 200 /* of an answer that go into a message */

struct comparison {
    const struct golden_case *this;
    bool whole;  /* paths come with "seeded" and "backend" */
    bool staged; /* or with "stages" and "draws" */
    golden_difference difference;
    int differences;
};

static int differs(struct comparison *compare, const char *place, const char *key, const char *golden,
                   const char *ours)
{
    char member[160];
    snprintf(member, sizeof member, "%s%s%s", place, *place && *key ? "." : "", key);
    compare->difference(compare->this, member, golden, ours);
    compare->differences++;
    return 0;
}

/* A member of an answer in words: a string as it is, anything else as JSON. */
static const char *words(const cJSON *node, char text[WORDS])
{
    if (!node)
        return "none";
    char *printed = cJSON_IsString(node) ? NULL : engine_memory(cJSON_PrintUnformatted(node));
    snprintf(text, WORDS, "%s", printed ? printed : node->valuestring);
    free(printed);
    return text;
}

static const cJSON *member_of(const cJSON *node, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(node, key);
}

/* Where the golden has no such text, it says that the answer must have none. */
static int same_text(struct comparison *compare, const struct json_cursor *at, const cJSON *ours,
                     const char *place, const char *key)
{
    const char *golden = "none";
    char text[WORDS];
    if (json_has(at, key) && json_string(at, key, &golden, &compare->this->outcome->damaged))
        return -1;
    const char *said = words(member_of(ours, key), text);
    return strcmp(golden, said) == 0 ? 0 : differs(compare, place, key, golden, said);
}

static int same_status(struct comparison *compare, const struct json_cursor *at, const cJSON *ours,
                       const char *place)
{
    int64_t golden;
    char expected[24], text[WORDS];
    const cJSON *said = member_of(ours, "status");
    if (json_integer(at, "status", 0, 599, &golden, &compare->this->outcome->damaged))
        return -1;
    if (cJSON_IsNumber(said) && said->valuedouble == (double)golden)
        return 0;
    snprintf(expected, sizeof expected, "%d", (int)golden);
    return differs(compare, place, "status", expected, words(said, text));
}

static int same_seeded(struct comparison *compare, const struct json_cursor *at, const cJSON *ours,
                       const char *place)
{
    struct trouble *damaged = &compare->this->outcome->damaged;
    const cJSON *golden = member_of(at->node, "seeded"), *said = member_of(ours, "seeded");
    char text[WORDS];
    if (!golden)
        return json_trouble(at, damaged, "\"seeded\" is missing");
    if (!cJSON_IsBool(golden))
        return json_trouble(at, damaged, "\"seeded\": must be true or false");
    if (cJSON_IsBool(said) && cJSON_IsTrue(said) == cJSON_IsTrue(golden))
        return 0;
    return differs(compare, place, "seeded", cJSON_IsTrue(golden) ? "true" : "false", words(said, text));
}

/* What the name of a path hides. A golden without it says that the answer has none. */
static int same_hidden(struct comparison *compare, const struct json_cursor *at, const cJSON *ours,
                       const char *place)
{
    int64_t golden;
    char expected[24] = "none", text[WORDS];
    const cJSON *said = member_of(ours, "top_k_bound");
    if (same_seeded(compare, at, ours, place) || same_text(compare, at, ours, place, "backend") ||
        same_text(compare, at, ours, place, "noise"))
        return -1;
    if (!json_has(at, "top_k_bound"))
        return said ? differs(compare, place, "top_k_bound", expected, words(said, text)) : 0;
    if (json_integer(at, "top_k_bound", 1, INT32_MAX, &golden, &compare->this->outcome->damaged))
        return -1;
    if (cJSON_IsNumber(said) && said->valuedouble == (double)golden)
        return 0;
    snprintf(expected, sizeof expected, "%d", (int)golden);
    return differs(compare, place, "top_k_bound", expected, words(said, text));
}

/* A path, or an error with its status. */
static int same_outcome(struct comparison *compare, const struct json_cursor *at, const cJSON *ours,
                        const char *place)
{
    if (json_has(at, "error"))
        return same_text(compare, at, ours, place, "error") || same_status(compare, at, ours, place) ||
                       same_text(compare, at, ours, place, "path")
                   ? -1
                   : 0;
    if (same_text(compare, at, ours, place, "path") || same_text(compare, at, ours, place, "error"))
        return -1;
    if (compare->staged)
        return (!json_has(at, "stages") || !json_has(at, "draws"))
                   ? json_trouble(at, &compare->this->outcome->damaged, "\"stages\" or \"draws\" is missing")
               : (same_text(compare, at, ours, place, "stages") ||
                  same_text(compare, at, ours, place, "draws"))
                   ? -1
                   : 0;
    bool routed = compare->whole && member_of(ours, "path");
    return routed ? same_hidden(compare, at, ours, place) : 0;
}

static bool values_equal(const struct engine_value *a, const struct engine_value *b)
{
    bool numbers = engine_is_number(a) && engine_is_number(b) &&
                   (a->kind == ENGINE_BOOLEAN) == (b->kind == ENGINE_BOOLEAN);
    if (!numbers)
        return a->kind == b->kind && (a->kind != ENGINE_TEXT || strcmp(a->text, b->text) == 0);
    if (a->kind == ENGINE_INTEGER && b->kind == ENGINE_INTEGER)
        return a->integer == b->integer; /* beyond 2^53 the doubles may agree alone */
    return a->number == b->number || (isnan(a->number) && isnan(b->number));
}

static int same_value(struct comparison *compare, const struct json_cursor *at, const cJSON *ours,
                      const char *place, enum engine_parameter parameter)
{
    bool integer = engine_takes_integers(parameter);
    struct engine_value golden, said;
    struct engine_why why;
    char expected[WORDS], text[WORDS];
    if (engine_read_value(at->node, "", integer, &golden, &why))
        return json_trouble(at, &compare->this->outcome->damaged, "%s", why.text);
    if (ours && engine_read_value(ours, "", integer, &said, &why) == 0 && values_equal(&golden, &said))
        return 0;
    return differs(compare, place, "", words(at->node, expected), words(ours, text));
}

/* [value, layer] */
static int same_pair(struct comparison *compare, const struct json_cursor *at, const char *key,
                     const cJSON *ours, const char *place, enum engine_parameter parameter)
{
    struct trouble *damaged = &compare->this->outcome->damaged;
    struct json_cursor pair, value;
    size_t length;
    const char *layer;
    char text[WORDS];
    if (json_array(at, key, &pair, &length, damaged))
        return -1;
    if (length != 2)
        return json_trouble(&pair, damaged, "must be [value, layer]");
    value = json_at(&pair, 0);
    if (json_string_at(&pair, 1, &layer, damaged))
        return -1;
    const char *said = words(cJSON_GetArrayItem(ours, 1), text);
    if (strcmp(layer, said) != 0)
        return differs(compare, place, "", layer, said);
    return same_value(compare, &value, cJSON_GetArrayItem(ours, 0), place, parameter);
}

static int same_parameter(struct comparison *compare, const struct json_cursor *at, const cJSON *ours,
                          const char *name, bool layers, enum engine_parameter parameter)
{
    const char *key = engine_parameter_names[parameter];
    const cJSON *said = member_of(ours, key);
    char place[80], text[WORDS];
    snprintf(place, sizeof place, "%s.%s", name, key);
    if (!json_has(at, key))
        return said ? differs(compare, place, "", "nothing", words(said, text)) : 0;
    if (layers)
        return same_pair(compare, at, key, said, place, parameter);
    struct json_cursor value = *at;
    value.node = member_of(at->node, key);
    return same_value(compare, &value, said, place, parameter);
}

/* "effective" or "normalized"; a golden without it says that the request is refused before. */
static int same_parameters(struct comparison *compare, const cJSON *answer, const char *name, bool layers)
{
    const struct json_cursor *at = &compare->this->at;
    struct trouble *damaged = &compare->this->outcome->damaged;
    struct json_cursor golden;
    const cJSON *ours = member_of(answer, name);
    if (!json_has(at, name) && json_has(at, "error"))
        return ours ? differs(compare, name, "", "a refusal", "parameters") : 0;
    if (json_object(at, name, &golden, damaged) || json_known_keys(&golden, engine_parameter_names, damaged))
        return -1;
    if (!cJSON_IsObject(ours))
        return differs(compare, name, "", "parameters", "a refusal");
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
        if (same_parameter(compare, &golden, ours, name, layers, p))
            return -1;
    return 0;
}

/* A batch after an event: null without rows. */
static int same_batch(struct comparison *compare, const struct json_cursor *event, const cJSON *ours,
                      const char *where, const char *name)
{
    static const char *const keys[] = {"flags",  "path",  "seeded", "backend", "noise", "top_k_bound",
                                       "stages", "draws", "error",  "status",  NULL};
    struct trouble *damaged = &compare->this->outcome->damaged;
    const cJSON *said = member_of(ours, name);
    struct json_cursor at;
    const char *golden;
    char place[64], text[WORDS];
    snprintf(place, sizeof place, "%s.%s", where, name);
    if (!json_has(event, name))
        return json_trouble(event, damaged, "\"%s\" is missing", name);
    if (cJSON_IsNull(member_of(event->node, name)))
        return cJSON_IsNull(said) ? 0 : differs(compare, place, "", "no rows", words(said, text));
    if (json_object(event, name, &at, damaged) || json_known_keys(&at, keys, damaged) ||
        json_string(&at, "flags", &golden, damaged))
        return -1;
    if (!cJSON_IsObject(said))
        return differs(compare, place, "", golden, cJSON_IsNull(said) ? "no rows" : words(said, text));
    return same_text(compare, &at, said, place, "flags") || same_outcome(compare, &at, said, place) ? -1 : 0;
}

static int same_events(struct comparison *compare, const cJSON *answer)
{
    struct json_cursor events;
    size_t length, i = 0;
    char text[WORDS];
    const cJSON *ours = member_of(answer, "events");
    if (json_array(&compare->this->at, "events", &events, &length, &compare->this->outcome->damaged))
        return -1;
    if (!cJSON_IsArray(ours) || (size_t)cJSON_GetArraySize(ours) != length)
        return differs(compare, "events", "", "as many answers as events", words(answer, text));
    struct json_cursor event = json_at(&events, 0);
    for (const cJSON *said = ours->child; said; said = said->next, event = json_next(&event), i++) {
        char place[32];
        snprintf(place, sizeof place, "events[%zu]", i);
        if (same_batch(compare, &event, said, place, "prefill") ||
            same_batch(compare, &event, said, place, "running"))
            return -1;
    }
    return 0;
}

/* Members whose every value is told in the golden: no tolerance and no types. */
static int same_members(struct comparison *compare, const cJSON *answer)
{
    static const char *const keys[] = {"forks", "draws", "rows", "parents", "tokens", "error", "status"};
    char expected[WORDS], text[WORDS];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const cJSON *golden = member_of(compare->this->at.node, keys[i]), *ours = member_of(answer, keys[i]);
        if ((golden || ours) && !cJSON_Compare(golden, ours, true))
            differs(compare, keys[i], "", words(golden, expected), words(ours, text));
    }
    return 0;
}

static bool is_of_step(const char *check)
{
    return !strcmp(check, "forks") || !strcmp(check, "draw") || !strcmp(check, "rows") ||
           !strcmp(check, "candidates");
}

int golden_compare(const struct golden_case *this, const struct golden_group *group, const cJSON *answer,
                   golden_difference difference)
{
    const char *check = this->check->check;
    struct comparison compare = {.this = this, .difference = difference};
    bool effective = !strcmp(check, "effective"), normalize = !strcmp(check, "normalize"),
         tensors = !strcmp(check, "tensors");
    compare.staged = group->engine->staged && !normalize && !tensors;
    compare.whole = group->reading == ENGINE_UPSTREAM && !effective && !normalize && !tensors;
    int damaged = is_of_step(check) ? same_members(&compare, answer)
                  : !strcmp(check, "history")
                      ? same_events(&compare, answer)
                      : (effective && same_parameters(&compare, answer, "effective", true)) ||
                            (normalize && same_parameters(&compare, answer, "normalized", false)) ||
                            (tensors && same_parameters(&compare, answer, "tensors", false)) ||
                            same_outcome(&compare, &this->at, answer, "");
    return damaged ? -1 : compare.differences;
}
