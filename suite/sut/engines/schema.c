/* schema.c: the request schema of OpenAI endpoints (pydantic, lax): numbers in strings are numbers.
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "suite/sut/engines/engine.h"

/* The text without the spaces around it and without single underscores between digits. False: nothing is
 * left, too long, or with a character that no spelling of a number has (which keeps hexadecimal out of
 * strtod). */
static bool plain_digits(const char *text, char plain[64])
{
    size_t used = 0;
    while (isspace((unsigned char)*text))
        text++;
    const char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    for (const char *c = text; c < end; c++) {
        bool between =
            c > text && c + 1 < end && isdigit((unsigned char)c[-1]) && isdigit((unsigned char)c[1]);
        if (*c == '_' && between)
            continue;
        if (!strchr("+-.0123456789eEnNaAiIfFtTyY", *c) || used + 1 == 64)
            return false;
        plain[used++] = *c;
    }
    plain[used] = 0;
    return used > 0;
}

static bool spelled_float(const char *text, double *number)
{
    char plain[64], *end;
    if (!plain_digits(text, plain))
        return false;
    *number = strtod(plain, &end);
    return *end == 0;
}

/* An integer, with nothing but zeros behind a point. */
static bool spelled_integer(const char *text, int64_t *integer)
{
    char plain[64], *end;
    if (!plain_digits(text, plain))
        return false;
    errno = 0;
    *integer = strtoll(plain, &end, 10);
    if (errno || end == plain || !isdigit((unsigned char)end[-1]))
        return false;
    return *end == 0 || (*end == '.' && end[1] && end[1 + strspn(end + 1, "0")] == 0);
}

static bool to_float(struct engine_value *value)
{
    double number = value->number;
    if (!engine_is_number(value) && !(value->kind == ENGINE_TEXT && spelled_float(value->text, &number)))
        return false;
    *value = engine_float(number);
    return true;
}

static bool to_integer(struct engine_value *value)
{
    int64_t integer = value->integer;
    if (value->kind == ENGINE_FLOAT) {
        if (value->number >= 0x1p63 && value->number < 0x1p64)
            return true; /* a whole number that int64 does not hold: verify's business, and the step's */
        if (!(fabs(value->number) < 0x1p63) || value->number != trunc(value->number))
            return false;
        integer = (int64_t)value->number;
    } else if (!engine_is_number(value) &&
               !(value->kind == ENGINE_TEXT && spelled_integer(value->text, &integer))) {
        return false;
    }
    *value = engine_integer(integer);
    return true;
}

static bool to_boolean(struct engine_value *value)
{
    static const char *const words[] = {"0", "off", "f", "false", "n", "no",
                                        "1", "on",  "t", "true",  "y", "yes"};
    const size_t count = sizeof words / sizeof *words;
    size_t word = count;
    if (engine_is_number(value) && (value->number == 0 || value->number == 1))
        word = value->number != 0 ? count / 2 : 0;
    else if (value->kind == ENGINE_TEXT)
        for (word = 0; word < count && strcasecmp(words[word], value->text) != 0;)
            word++;
    if (word == count)
        return false;
    *value = engine_integer(word >= count / 2);
    value->kind = ENGINE_BOOLEAN;
    return true;
}

int engine_coerce(enum engine_parameter parameter, const char *key, struct engine_value *value,
                  struct engine_refusal *refusal)
{
    static const char *const wanted[] = {"a number", "an integer", "true or false", "a string or an array"};
    const enum engine_type type = engine_type_of(parameter);
    bool taken = type == ENGINE_TAKES_FLOAT     ? to_float(value)
                 : type == ENGINE_TAKES_INTEGER ? to_integer(value)
                 : type == ENGINE_TAKES_BOOLEAN ? to_boolean(value)
                                                : value->kind == ENGINE_TEXT || value->kind == ENGINE_ARRAY;
    return taken ? 0
                 : engine_refuse(refusal, 400, "%s must be %s, is %s", key, wanted[type],
                                 engine_json_type(value));
}
