/* cursor.c: typed access to parsed JSON; every refusal names the file, the path of keys, and what is
 * accepted. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/json/json.h"

/* snprintf that cuts silently: for places and lists in messages. */
__attribute__((format(printf, 3, 4))) static void text_set(char *text, size_t bytes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(text, bytes, format, list);
    va_end(list);
}

/* Text from a file, safe for a terminal: in quotes, control characters as '?', cut after 60 bytes. */
static const char *quoted(const char *value, char *text, size_t bytes)
{
    text_set(text, bytes, "\"%.60s%s\"", value, strlen(value) > 60 ? "..." : "");
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return text;
}

/* "a, b, c" of a NULL-terminated list. */
static const char *listed(const char *const *names, char *text, size_t bytes)
{
    text[0] = 0;
    for (size_t used = 0; *names && used < bytes; names++, used = strlen(text))
        text_set(text + used, bytes - used, "%s%s", used ? ", " : "", *names);
    return text;
}

static const char *type_name(const cJSON *node)
{
    return !node                  ? "nothing"
           : cJSON_IsObject(node) ? "an object"
           : cJSON_IsArray(node)  ? "an array"
           : cJSON_IsString(node) ? "a string"
           : cJSON_IsNumber(node) ? "a number"
           : cJSON_IsBool(node)   ? "true or false"
                                  : "null";
}

struct json_cursor json_root(const struct json_file *file)
{
    return (struct json_cursor){.file = file, .node = file->root};
}

int json_trouble(const struct json_cursor *at, struct trouble *trouble, const char *format, ...)
{
    char what[768];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return trouble_set(trouble, at->file->exit, "%s: %s%s%s", at->file->path, at->where,
                       at->where[0] ? ": " : "", what);
}

/* The member as a cursor; its node is NULL if it is absent. */
static struct json_cursor member_of(const struct json_cursor *at, const char *key)
{
    struct json_cursor member = {.file = at->file, .node = cJSON_GetObjectItemCaseSensitive(at->node, key)};
    text_set(member.where, sizeof member.where, "%s%s%s", at->where, at->where[0] ? "." : "", key);
    return member;
}

/* A required member of any type. */
static int require(const struct json_cursor *at, const char *key, struct json_cursor *member,
                   struct trouble *trouble)
{
    if (!cJSON_IsObject(at->node))
        return json_trouble(at, trouble, "must be an object, is %s", type_name(at->node));
    *member = member_of(at, key);
    if (!member->node)
        return json_trouble(at, trouble, "\"%s\" is missing", key);
    return 0;
}

static int wrong_type(const struct json_cursor *at, const char *wanted, struct trouble *trouble)
{
    return json_trouble(at, trouble, "must be %s, is %s", wanted, type_name(at->node));
}

int json_known_keys(const struct json_cursor *at, const char *const *keys, struct trouble *trouble)
{
    if (!cJSON_IsObject(at->node))
        return wrong_type(at, "an object", trouble);
    for (const cJSON *member = at->node->child; member; member = member->next) {
        const char *const *key = keys;
        while (*key && strcmp(*key, member->string) != 0)
            key++;
        char list[512], name[80];
        if (!*key)
            return json_trouble(at, trouble, "unknown key %s; accepted: %s",
                                quoted(member->string, name, sizeof name), listed(keys, list, sizeof list));
    }
    return 0;
}

bool json_has(const struct json_cursor *at, const char *key)
{
    return cJSON_IsObject(at->node) && cJSON_GetObjectItemCaseSensitive(at->node, key);
}

static int cursor_string(const struct json_cursor *at, const char **value, struct trouble *trouble)
{
    if (!cJSON_IsString(at->node))
        return wrong_type(at, "a string", trouble);
    *value = at->node->valuestring;
    return 0;
}

static int cursor_number(const struct json_cursor *at, double low, double high, double *value,
                         struct trouble *trouble)
{
    if (!cJSON_IsNumber(at->node))
        return wrong_type(at, "a number", trouble);
    if (!(at->node->valuedouble >= low && at->node->valuedouble <= high))
        return json_trouble(at, trouble, "must be from %.17g to %.17g, is %.17g", low, high,
                            at->node->valuedouble);
    *value = at->node->valuedouble;
    return 0;
}

int json_integer_here(const struct json_cursor *at, int64_t low, int64_t high, int64_t *value,
                      struct trouble *trouble)
{
    if (!cJSON_IsNumber(at->node))
        return wrong_type(at, "an integer", trouble);
    double number = at->node->valuedouble;
    /* The cast is defined only once the range is known; at and beyond 2^53 a decimal may have been rounded.
     */
    bool fits = number > -0x1p53 && number < 0x1p53;
    int64_t integer = fits ? (int64_t)number : 0;
    if (!fits || (double)integer != number || integer < low || integer > high)
        return json_trouble(at, trouble, "must be an integer from %" PRId64 " to %" PRId64 ", is %.17g", low,
                            high, number);
    *value = integer;
    return 0;
}

int json_string(const struct json_cursor *at, const char *key, const char **value, struct trouble *trouble)
{
    struct json_cursor member;
    return require(at, key, &member, trouble) ? -1 : cursor_string(&member, value, trouble);
}

int json_number(const struct json_cursor *at, const char *key, double low, double high, double *value,
                struct trouble *trouble)
{
    struct json_cursor member;
    return require(at, key, &member, trouble) ? -1 : cursor_number(&member, low, high, value, trouble);
}

int json_integer(const struct json_cursor *at, const char *key, int64_t low, int64_t high, int64_t *value,
                 struct trouble *trouble)
{
    struct json_cursor member;
    return require(at, key, &member, trouble) ? -1 : json_integer_here(&member, low, high, value, trouble);
}

int json_u64_string(const struct json_cursor *at, const char *key, uint64_t *value, struct trouble *trouble)
{
    struct json_cursor member;
    const char *text = "";
    char shown[80];
    if (require(at, key, &member, trouble) || cursor_string(&member, &text, trouble))
        return -1;
    size_t digits = strspn(text, "0123456789");
    errno = 0;
    unsigned long long number = strtoull(text, NULL, 10);
    if (digits == 0 || text[digits] || (digits > 1 && text[0] == '0') || errno)
        return json_trouble(
            &member, trouble,
            "must be a decimal integer from \"0\" to \"18446744073709551615\" in a string, is %s",
            quoted(text, shown, sizeof shown));
    *value = number;
    return 0;
}

int json_i64_string(const struct json_cursor *at, const char *key, int64_t *value, struct trouble *trouble)
{
    struct json_cursor member;
    const char *text = "";
    char shown[80];
    if (require(at, key, &member, trouble) || cursor_string(&member, &text, trouble))
        return -1;
    const char *first = text + (text[0] == '-');
    size_t digits = strspn(first, "0123456789");
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    if (digits == 0 || first[digits] || (first[0] == '0' && strcmp(text, "0") != 0) || errno)
        return json_trouble(&member, trouble,
                            "must be a decimal integer from \"-9223372036854775808\" to "
                            "\"9223372036854775807\" in a string, is %s",
                            quoted(text, shown, sizeof shown));
    *value = number;
    return 0;
}

int json_double_string(const struct json_cursor *at, const char *key, double *value, struct trouble *trouble)
{
    struct json_cursor member;
    const char *text = "";
    char shown[80];
    if (require(at, key, &member, trouble) || cursor_string(&member, &text, trouble))
        return -1;
    const char *digits = text + (text[0] == '-');
    char *end;
    double number = strtod(text, &end);
    bool hexadecimal = strncmp(digits, "0x", 2) == 0;
    /* A number that is not 0 has a digit other than 0 before its exponent. */
    const char *significant = hexadecimal ? digits + 2 : digits;
    size_t before_exponent = strcspn(significant, hexadecimal ? "pP" : "eE");
    bool vanished = number == 0 && strspn(significant, "0.") < before_exponent;
    if (digits[0] < '0' || digits[0] > '9' || *end || number - number != 0 || vanished)
        return json_trouble(
            &member, trouble,
            "must be a finite number in a string, decimal (\"1.25e-3\") or hexadecimal (\"0x1.4p-10\"), "
            "is %s",
            quoted(text, shown, sizeof shown));
    *value = number;
    return 0;
}

int json_one_of(const struct json_cursor *at, const char *key, const char *const *names, int *index,
                struct trouble *trouble)
{
    struct json_cursor member;
    const char *text = "";
    char shown[80], list[512];
    if (require(at, key, &member, trouble) || cursor_string(&member, &text, trouble))
        return -1;
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0) {
            *index = i;
            return 0;
        }
    return json_trouble(&member, trouble, "%s is unknown; accepted: %s", quoted(text, shown, sizeof shown),
                        listed(names, list, sizeof list));
}

int json_array(const struct json_cursor *at, const char *key, struct json_cursor *array, size_t *length,
               struct trouble *trouble)
{
    if (require(at, key, array, trouble))
        return -1;
    if (!cJSON_IsArray(array->node))
        return wrong_type(array, "an array", trouble);
    *length = (size_t)cJSON_GetArraySize(array->node);
    return 0;
}

int json_object(const struct json_cursor *at, const char *key, struct json_cursor *object,
                struct trouble *trouble)
{
    if (require(at, key, object, trouble))
        return -1;
    if (!cJSON_IsObject(object->node))
        return wrong_type(object, "an object", trouble);
    return 0;
}

struct json_cursor json_at(const struct json_cursor *array, size_t i)
{
    struct json_cursor element = {.file = array->file, .node = array->node ? array->node->child : NULL};
    for (size_t k = 0; k < i && element.node; k++)
        element.node = element.node->next;
    text_set(element.where, sizeof element.where, "%s[%zu]", array->where, i);
    return element;
}

struct json_cursor json_next(const struct json_cursor *element)
{
    struct json_cursor next = *element;
    next.node = element->node ? element->node->next : NULL;
    char *bracket = strrchr(next.where, '[');
    if (bracket)
        text_set(bracket, sizeof next.where - (size_t)(bracket - next.where), "[%llu]",
                 strtoull(bracket + 1, NULL, 10) + 1);
    return next;
}

int json_integer_at(const struct json_cursor *array, size_t i, int64_t low, int64_t high, int64_t *value,
                    struct trouble *trouble)
{
    struct json_cursor element = json_at(array, i);
    return json_integer_here(&element, low, high, value, trouble);
}

int json_string_at(const struct json_cursor *array, size_t i, const char **value, struct trouble *trouble)
{
    struct json_cursor element = json_at(array, i);
    return cursor_string(&element, value, trouble);
}

bool json_is_name(const char *text, size_t bytes)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._");
    return length > 0 && length < bytes && text[length] == 0;
}
