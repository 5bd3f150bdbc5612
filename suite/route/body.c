/* body.c: what an engine finds in a request body: parameters, and how many prompts.
 *
 * Of a body only those members are kept that some engine reads, as pieces of the line's text; what they mean is asked
 * for each engine. */
#include "suite/route/body.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every name under which some engine takes a parameter or a prompt, every nest, and what else engines look at. */
static struct {
    struct names {
        const char *name[REQUEST_NAMES];
        size_t bytes[REQUEST_NAMES], count;
    } names, nests, fields;
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
        for (const char *const *field = engine_table[i]->fields; field && *field; field++)
            note(&known.fields, *field);
        for (enum engine_endpoint e = 0; e < ENGINE_ENDPOINTS; e++) {
            for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
                note(&known.names, engine_table[i]->key(e, p));
            for (const char *const *prompt = engine_table[i]->prompts[e]; *prompt; prompt++)
                note(&known.names, *prompt);
        }
    }
    note(&known.names, "echo");
    note(&known.names, "top_logprobs");
}

void body_keep(struct request *request, const struct scan_member *member, bool nested)
{
    if (!known.names.count)
        know();
    size_t name = listed(&known.names, member->key, member->key_bytes), i = 0;
    if (name == known.names.count)
        return;
    while (i < request->members && (request->member[i].name != name || request->member[i].nested != nested))
        i++;
    request->member[i] = (struct request_member){name, (char *)member->value, member->value_bytes, nested};
    request->members += i == request->members;
}

bool body_is_nest(const struct scan_member *member)
{
    if (!known.names.count)
        know();
    return listed(&known.nests, member->key, member->key_bytes) < known.nests.count;
}

bool body_is_field(const struct scan_member *member)
{
    if (!known.names.count)
        know();
    return listed(&known.fields, member->key, member->key_bytes) < known.fields.count;
}

char *body_unquoted(char *value, size_t bytes)
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
            body_unquoted(member->value, member->value_bytes);
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

/* The last of that name; NULL: none. */
static struct request_member *member_of(struct request *request, const char *key, bool nested)
{
    struct request_member *found = NULL;
    for (size_t i = 0; key && i < request->members; i++)
        if (request->member[i].nested == nested &&
            strcmp(known.names.name[request->member[i].name], key) == 0)
            found = &request->member[i];
    return found;
}

void request_values(struct request *request, const struct engine *engine, struct engine_values *values)
{
    const bool nested = request->endpoint == ENGINE_GENERATE && engine->nest;
    *values = (struct engine_values){0};
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        struct request_member *member = member_of(request, engine->key(request->endpoint, p), nested);
        if (member)
            values->at[p] = value_of(member);
    }
    struct request_member *echo = engine->echo ? member_of(request, "echo", false) : NULL;
    if (echo && *echo->value == 't') {
        struct request_member *top = member_of(request, "top_logprobs", false);
        const struct engine_value top_logprobs = top ? value_of(top) : (struct engine_value){0};
        engine->echo(request->endpoint, &top_logprobs, values);
    }
}

/* How many elements stand in the list that begins at `at`, which is JSON; `at` is then behind it. */
static int64_t elements(const char **at)
{
    int64_t commas = 0;
    int depth = 0;
    bool empty = true;
    for (;; (*at)++) {
        const char c = **at;
        if (c == '"')
            for ((*at)++; **at != '"'; (*at)++)
                *at += **at == '\\';
        empty = empty && (depth == 0 || strchr(" \t\r]", c));
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        commas += c == ',' && depth == 1;
        if (depth == 0)
            break;
    }
    (*at)++;
    return empty ? 0 : commas + 1;
}

/* Of a list of prompts in tokens. */
static void count_tokens(const char *list, struct request_prompts *prompts)
{
    prompts->tokens = prompts->longest = 0;
    for (list++; *(list += strspn(list, " \t\r,")) == '[';) {
        const int64_t tokens = elements(&list);
        prompts->tokens += tokens;
        prompts->longest = tokens > prompts->longest ? tokens : prompts->longest;
    }
}

void request_prompts(const struct request *request, const struct engine *engine,
                     struct request_prompts *prompts)
{
    struct request_member *member = NULL;
    *prompts = (struct request_prompts){1, -1, -1};
    for (const char *const *key = engine->prompts[request->endpoint]; *key && !member; key++) {
        member = member_of((struct request *)request, *key, false);
        if (member && *member->value == 'n')
            member = NULL; /* null is silence */
    }
    if (member && *member->value == '[') {
        const char *end = member->value, *first = end + 1 + strspn(end + 1, " \t\r");
        const int64_t count = elements(&end);
        const bool numbers = isdigit((unsigned char)*first) || *first == '-';
        prompts->prompts = numbers || count == 0 ? 1 : count;
        if (numbers)
            prompts->tokens = prompts->longest = count;
        else if (*first == '[')
            count_tokens(member->value, prompts);
    }
    if (prompts->tokens < 0 && request->prompt_tokens >= 0) {
        prompts->tokens = request->prompt_tokens;
        prompts->longest = (prompts->tokens + prompts->prompts - 1) / prompts->prompts;
    }
}
