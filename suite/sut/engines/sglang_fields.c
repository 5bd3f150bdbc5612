/* sglang_fields.c: the members of a request body on which no path of SGLang depends, and that can refuse it: lengths,
 * stops, grammars, logit_bias, and members that nobody knows.
 *
 * In the order of the engine: the endpoint's schema, the constructor, stops before the ranges of verify, lengths and
 * grammars after them. The OpenAI endpoints drop members that they do not
 * know; of /generate each is an argument, and an unknown one an error.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "suite/sut/engines/ask.h"
#include "suite/sut/engines/sglang.h"

#define STOPS_MAX 32 /* strings, and regular expressions */
#define STOP_REGEX_BYTES 256

const char *const sglang_fields[] = {"max_new_tokens",
                                     "min_new_tokens",
                                     "max_tokens",
                                     "max_completion_tokens",
                                     "max_output_tokens",
                                     "min_tokens",
                                     "n",
                                     "beam_width",
                                     "logit_bias",
                                     "json_schema",
                                     "regex",
                                     "ebnf",
                                     "structural_tag",
                                     "stop",
                                     "stop_regex",
                                     "ignore_eos",
                                     "is_normalized",
                                     "ebnf_full_assistant",
                                     "watermark",
                                     "unknown_key",
                                     NULL};

/* A body at an endpoint. */
struct looking {
    const struct sglang_body *version;
    const struct engine_server *server;
    enum engine_endpoint endpoint;
    const cJSON *body;
    struct engine_refusal *refusal;
};

static const cJSON *member_of(const struct looking *at, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(at->body, key);
}

static bool is_set(const cJSON *member)
{
    return member && !cJSON_IsNull(member);
}

static const char *type_of(const cJSON *member)
{
    return cJSON_IsNull(member)     ? "null"
           : cJSON_IsBool(member)   ? "true or false"
           : cJSON_IsNumber(member) ? "a number"
           : cJSON_IsString(member) ? "a string"
           : cJSON_IsArray(member)  ? "an array"
                                    : "an object";
}

static struct engine_value value_of(const cJSON *member)
{
    if (cJSON_IsBool(member))
        return (struct engine_value){.kind = ENGINE_BOOLEAN, .integer = cJSON_IsTrue(member)};
    if (cJSON_IsString(member))
        return (struct engine_value){.kind = ENGINE_TEXT, .text = member->valuestring};
    if (cJSON_IsNumber(member))
        return engine_float(member->valuedouble);
    return (struct engine_value){.kind = cJSON_IsNull(member)    ? ENGINE_NULL
                                         : cJSON_IsArray(member) ? ENGINE_ARRAY
                                                                 : ENGINE_OBJECT};
}

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i] && strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* A member that the constructor takes at /generate. */
static bool is_argument(const struct sglang_body *version, const char *key)
{
    static const char *const all[] = {
        "max_new_tokens", "min_new_tokens", "n",    "beam_width", "logit_bias", "json_schema",  "regex",
        "ebnf",           "structural_tag", "stop", "stop_regex", "ignore_eos", "sampling_seed"};
    if (is_one_of(key, version->known, sizeof version->known / sizeof *version->known) ||
        is_one_of(key, all, sizeof all / sizeof *all))
        return true;
    return is_one_of(key, engine_parameter_names, ENGINE_SEED); /* "seed" is not its name */
}

/* Python's number of a JSON one: an integer where it is whole. */
static bool number_of(const cJSON *member, double *number)
{
    *number = cJSON_IsBool(member) ? cJSON_IsTrue(member) : member->valuedouble;
    return cJSON_IsBool(member) || cJSON_IsNumber(member);
}

int sglang_check_n(const struct engine_value *n, struct engine_refusal *refusal)
{
    if (n->kind == ENGINE_ABSENT || engine_is_number(n))
        return 0;
    return engine_refuse(refusal, 500, "'>' not supported between instances of '%s' and 'int'",
                         engine_python_type(n));
}

/* Then the length is added to that of the prompt, before the parameters are merged. */
static int check_length_is_number(const struct looking *at)
{
    double number;
    const cJSON *most = member_of(at, "max_new_tokens");
    if (!is_set(most) || number_of(most, &number))
        return 0;
    return engine_refuse(at->refusal, 500, "max_new_tokens must be a number, is %s", type_of(most));
}

static int check_unknown(const struct looking *at)
{
    for (const cJSON *member = at->body->child; member; member = member->next)
        if (!is_argument(at->version, member->string))
            return engine_refuse(at->refusal, 500, "Unexpected keyword argument '%s'", member->string);
    return 0;
}

/* The parameter that /generate has under this name; ENGINE_PARAMETERS: none. */
static enum engine_parameter parameter_named(const char *name)
{
    enum engine_parameter p = 0;
    while (p < ENGINE_PARAMETERS &&
           !(sglang_key(ENGINE_GENERATE, p) && strcmp(sglang_key(ENGINE_GENERATE, p), name) == 0))
        p++;
    return p;
}

/* The schema reads a body member by member: the first that is unknown or has the wrong type is named. */
static int check_strictly(const struct looking *at)
{
    static const char *const lengths[] = {"max_new_tokens", "min_new_tokens", "beam_width"};
    for (const cJSON *member = at->body->child; member; member = member->next) {
        enum engine_parameter p = parameter_named(member->string);
        struct engine_value value = value_of(member);
        struct engine_why why;
        bool whole = cJSON_IsNumber(member) && member->valuedouble == trunc(member->valuedouble);
        if (!is_argument(at->version, member->string))
            return engine_refuse(at->refusal, 400, "unknown field `%s`", member->string);
        if (p < ENGINE_PARAMETERS &&
            engine_read_value(member, "", engine_takes_integers(p), &value, &why) == 0) {
            if (sglang_check_type(p, &value, at->refusal))
                return -1;
        } else if (is_one_of(member->string, lengths, sizeof lengths / sizeof *lengths) && is_set(member) &&
                   !whole) {
            return sglang_wrong_type(&value, true, at->refusal);
        }
    }
    return 0;
}

/* What stands before the constructor at /generate. */
static int check_arguments(const struct looking *at)
{
    if (at->version->strict && check_strictly(at))
        return -1;
    const cJSON *n = member_of(at, "n");
    struct engine_value value = n ? value_of(n) : (struct engine_value){.kind = ENGINE_ABSENT};
    return sglang_check_n(&value, at->refusal) ? -1 : check_length_is_number(at);
}

static int construct(const struct looking *at)
{
    if (at->endpoint != ENGINE_GENERATE || at->version->strict)
        return 0;
    return check_unknown(at) ? -1 : cJSON_IsTrue(member_of(at, "is_normalized"));
}

/* What the endpoint's schema takes for an integer, and whether null too. */
static const struct integer_field {
    enum engine_endpoint endpoint;
    const char *key;
    bool optional;
} integer_fields[] = {
    {ENGINE_CHAT, "max_tokens", true},         {ENGINE_CHAT, "max_completion_tokens", true},
    {ENGINE_CHAT, "min_tokens", false},        {ENGINE_CHAT, "n", false},
    {ENGINE_COMPLETIONS, "max_tokens", false}, {ENGINE_COMPLETIONS, "min_tokens", false},
    {ENGINE_COMPLETIONS, "n", false},          {ENGINE_RESPONSES, "max_output_tokens", true},
};

static int coerced(const struct looking *at, const char *key, struct engine_value *value)
{
    *value = value_of(member_of(at, key));
    return engine_coerce(ENGINE_TOP_K, key, value, at->refusal);
}

static int check_schema(const struct looking *at)
{
    struct engine_value value;
    for (size_t i = 0; i < sizeof integer_fields / sizeof *integer_fields; i++) {
        const struct integer_field *field = &integer_fields[i];
        const cJSON *member = member_of(at, field->key);
        if (field->endpoint != at->endpoint || !member || (cJSON_IsNull(member) && field->optional))
            continue;
        if (coerced(at, field->key, &value))
            return -1;
        if (at->endpoint == ENGINE_COMPLETIONS && strcmp(field->key, "max_tokens") == 0 && value.integer < 1)
            return engine_refuse(at->refusal, 400, "max_tokens must be positive");
    }
    return 0;
}

static int check_stops(const struct looking *at)
{
    static const struct {
        const char *key, *what;
    } stops[] = {{"stop", "stop strings"}, {"stop_regex", "stop_regex patterns"}};
    const size_t taken = at->endpoint == ENGINE_RESPONSES ? 1 : 2;
    for (size_t i = 0; i < taken; i++) {
        const cJSON *list = member_of(at, stops[i].key);
        if (cJSON_IsArray(list) && cJSON_GetArraySize(list) > STOPS_MAX)
            return engine_refuse(at->refusal, 400, "at most %d %s are allowed, got %d", STOPS_MAX,
                                 stops[i].what, cJSON_GetArraySize(list));
        const cJSON *one = cJSON_IsArray(list) ? list->child : list;
        for (; i == 1 && one; one = cJSON_IsArray(list) ? one->next : NULL)
            if (cJSON_IsString(one) && strlen(one->valuestring) > STOP_REGEX_BYTES)
                return engine_refuse(at->refusal, 400, "stop_regex is %zu bytes, over the %d-byte limit",
                                     strlen(one->valuestring), STOP_REGEX_BYTES);
    }
    const cJSON *width = member_of(at, "beam_width");
    if (at->endpoint == ENGINE_GENERATE && cJSON_IsNumber(width) && width->valuedouble < 1)
        return engine_refuse(at->refusal, 400, "beam_width must be at least 1, got %.0f.",
                             width->valuedouble);
    return 0;
}

/* The length limits as verify sees them; `bounded` false: no upper one. */
struct lengths {
    double least, most;
    bool bounded;
};

static int take_length(const struct looking *at, const char *key, double *length)
{
    struct engine_value value;
    const cJSON *member = member_of(at, key);
    if (at->endpoint != ENGINE_GENERATE) {
        if (coerced(at, key, &value))
            return -1;
        *length = (double)value.integer;
        return 0;
    }
    return number_of(member, length)
               ? 0
               : engine_refuse(at->refusal, 500, "%s must be a number, is %s", key, type_of(member));
}

static int take_lengths(const struct looking *at, struct lengths *lengths)
{
    static const char *const most[][2] = {[ENGINE_CHAT] = {"max_completion_tokens", "max_tokens"},
                                          [ENGINE_RESPONSES] = {"max_output_tokens"},
                                          [ENGINE_COMPLETIONS] = {"max_tokens"},
                                          [ENGINE_GENERATE] = {"max_new_tokens"}},
                             *const least[] = {[ENGINE_CHAT] = "min_tokens",
                                               [ENGINE_COMPLETIONS] = "min_tokens",
                                               [ENGINE_GENERATE] = "min_new_tokens"};
    *lengths =
        (struct lengths){.most = at->endpoint == ENGINE_GENERATE ? 128 : 16,
                         .bounded = at->endpoint == ENGINE_GENERATE || at->endpoint == ENGINE_COMPLETIONS};
    for (size_t i = 0; i < 2 && most[at->endpoint][i]; i++) {
        const cJSON *member = member_of(at, most[at->endpoint][i]);
        if (at->endpoint == ENGINE_GENERATE && cJSON_IsNull(member))
            lengths->bounded = false;
        if (!is_set(member))
            continue;
        if (take_length(at, most[at->endpoint][i], &lengths->most))
            return -1;
        lengths->bounded = true;
        break;
    }
    if (at->endpoint == ENGINE_RESPONSES)
        lengths->most -= 2; /* kept back for what closes the answer */
    const char *key = least[at->endpoint];
    return key && is_set(member_of(at, key)) ? take_length(at, key, &lengths->least) : 0;
}

static const char *number_text(double number, char text[40])
{
    struct engine_value value = number == trunc(number) && fabs(number) < 0x1p53
                                    ? engine_integer((int64_t)number)
                                    : engine_float(number);
    return engine_python_text(&value, text, 40);
}

static int check_lengths(const struct looking *at)
{
    struct lengths lengths;
    char least[40], most[40];
    if (take_lengths(at, &lengths))
        return -1;
    if (lengths.least < 0)
        return engine_refuse(at->refusal, 400, "min_new_tokens must be in [0, max_new_tokens], got %s.",
                             number_text(lengths.least, least));
    if (lengths.bounded && lengths.most < 0)
        return engine_refuse(at->refusal, 400, "max_new_tokens must be at least 0, got %s.",
                             number_text(lengths.most, most));
    if (lengths.bounded && lengths.least > lengths.most)
        return engine_refuse(at->refusal, 400, "min_new_tokens must be in [0, max_new_tokens(%s)], got %s.",
                             number_text(lengths.most, most), number_text(lengths.least, least));
    return 0;
}

static int check_bias(const struct looking *at)
{
    const cJSON *bias = at->endpoint == ENGINE_RESPONSES ? NULL : member_of(at, "logit_bias");
    for (const cJSON *one = cJSON_IsObject(bias) ? bias->child : NULL; one; one = one->next) {
        char *end;
        long long id = strtoll(one->string, &end, 10);
        if (end == one->string || *end)
            return engine_refuse(at->refusal, 400, "invalid literal for int() with base 10: '%s'",
                                 one->string);
        if (at->server->vocab && (id < 0 || id >= at->server->vocab))
            return engine_refuse(at->refusal, 400, "logit_bias must has keys in [0, %lld], got %s.",
                                 (long long)at->server->vocab - 1, one->string);
    }
    return 0;
}

/* An empty text is none. */
static int check_grammars(const struct looking *at)
{
    static const struct {
        const char *key;
        bool at[ENGINE_ENDPOINTS];
    } grammars[] = {{"json_schema", {[ENGINE_COMPLETIONS] = true, [ENGINE_GENERATE] = true}},
                    {"regex", {[ENGINE_CHAT] = true, [ENGINE_COMPLETIONS] = true, [ENGINE_GENERATE] = true}},
                    {"ebnf", {[ENGINE_CHAT] = true, [ENGINE_COMPLETIONS] = true, [ENGINE_GENERATE] = true}},
                    {"structural_tag", {[ENGINE_GENERATE] = true}}};
    int given = 0;
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
        const cJSON *member = member_of(at, grammars[i].key);
        given += grammars[i].at[at->endpoint] && cJSON_IsString(member) && *member->valuestring;
    }
    return given > 1 ? engine_refuse(at->refusal, 400,
                                     "Only one of json_schema, regex, ebnf, or structural_tag can be set.")
                     : 0;
}

int sglang_check_fields(const struct sglang_body *version, const struct engine_server *server,
                        enum engine_endpoint endpoint, const struct cJSON *body,
                        enum engine_stage_of_check stage, struct engine_refusal *refusal)
{
    const struct looking at = {version, server, endpoint, body, refusal};
    if (stage == ENGINE_BEFORE_NORMALIZE)
        return construct(&at);
    if (stage == ENGINE_BEFORE_RESOLVE)
        return endpoint == ENGINE_GENERATE ? check_arguments(&at) : check_schema(&at);
    if (stage == ENGINE_BEFORE_VERIFY)
        return check_stops(&at);
    return check_lengths(&at) || check_bias(&at) || check_grammars(&at) ? -1 : 0;
}
