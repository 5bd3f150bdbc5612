/* value.c: parameters of any type, and how Python would write them.
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/sut/engines/engine.h"

struct engine_value engine_integer(int64_t integer)
{
    return (struct engine_value){.kind = ENGINE_INTEGER, .integer = integer, .number = (double)integer};
}

struct engine_value engine_float(double number)
{
    return (struct engine_value){.kind = ENGINE_FLOAT, .number = number};
}

bool engine_is_number(const struct engine_value *value)
{
    return value->kind == ENGINE_BOOLEAN || value->kind == ENGINE_INTEGER || value->kind == ENGINE_FLOAT;
}

bool engine_is_set(const struct engine_value *value)
{
    return value->kind != ENGINE_ABSENT && value->kind != ENGINE_NULL;
}

bool engine_is_true(const struct engine_value *value)
{
    return engine_is_number(value) ? !(value->number == 0) : value->kind == ENGINE_TEXT && *value->text;
}

enum engine_type engine_type_of(enum engine_parameter parameter)
{
    switch (parameter) {
    case ENGINE_TOP_K:
    case ENGINE_SEED:
    case ENGINE_N:
    case ENGINE_BEST_OF:
    case ENGINE_MAX_TOKENS:
    case ENGINE_MIN_TOKENS:
    case ENGINE_LOGPROBS:
    case ENGINE_PROMPT_LOGPROBS:
    case ENGINE_TRUNCATE_PROMPT_TOKENS:
        return ENGINE_TAKES_INTEGER;
    case ENGINE_USE_BEAM_SEARCH:
    case ENGINE_EARLY_STOPPING:
    case ENGINE_DETOKENIZE:
        return ENGINE_TAKES_BOOLEAN;
    case ENGINE_STOP:
        return ENGINE_TAKES_TEXT;
    default:
        return ENGINE_TAKES_FLOAT;
    }
}

/* The fewest digits that read back as the same double; decimal from 1e-4 to below 1e16, else with an
 * exponent. */
static const char *float_text(double number, char *text, size_t bytes)
{
    if (isnan(number))
        return "nan";
    if (isinf(number))
        return number > 0 ? "inf" : "-inf";
    char digits[40];
    int precision = 0;
    do
        snprintf(digits, sizeof digits, "%.*e", precision, number);
    while (strtod(digits, NULL) != number && ++precision < 17);
    int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent >= -4 && exponent < 16)
        snprintf(text, bytes, "%.*f", precision > exponent ? precision - exponent : 1, number);
    else
        snprintf(text, bytes, "%s", digits);
    return text;
}

const char *engine_python_text(const struct engine_value *value, char *text, size_t bytes)
{
    switch (value->kind) {
    case ENGINE_BOOLEAN:
        return value->integer ? "True" : "False";
    case ENGINE_INTEGER:
        snprintf(text, bytes, "%" PRId64, value->integer);
        return text;
    case ENGINE_FLOAT:
        return float_text(value->number, text, bytes);
    case ENGINE_TEXT:
        return value->text;
    case ENGINE_ARRAY:
        return "[]";
    case ENGINE_OBJECT:
        return "{}";
    case ENGINE_ABSENT:
    case ENGINE_NULL:
        break;
    }
    return "None";
}

const char *engine_python_type(const struct engine_value *value)
{
    static const char *const names[] = {
        [ENGINE_ABSENT] = "NoneType", [ENGINE_NULL] = "NoneType", [ENGINE_BOOLEAN] = "bool",
        [ENGINE_INTEGER] = "int",     [ENGINE_FLOAT] = "float",   [ENGINE_TEXT] = "str",
        [ENGINE_ARRAY] = "list",      [ENGINE_OBJECT] = "dict"};
    return names[value->kind];
}

const char *engine_json_type(const struct engine_value *value)
{
    static const char *const names[] = {
        [ENGINE_ABSENT] = "absent",    [ENGINE_NULL] = "null",       [ENGINE_BOOLEAN] = "true or false",
        [ENGINE_INTEGER] = "a number", [ENGINE_FLOAT] = "a number",  [ENGINE_TEXT] = "a string",
        [ENGINE_ARRAY] = "an array",   [ENGINE_OBJECT] = "an object"};
    return names[value->kind];
}
