/* write.c: values and flags as an answer's JSON has them.
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/sut/engines/ask.h"

void *engine_memory(void *memory)
{
    if (!memory) {
        fprintf(stderr, "engine: out of memory\n");
        abort();
    }
    return memory;
}

static cJSON *tagged(const char *tag, const char *text)
{
    cJSON *object = engine_memory(cJSON_CreateObject());
    engine_memory(cJSON_AddStringToObject(object, tag, text));
    return object;
}

/* cJSON prints what it holds as a double, at times in too few digits: numbers go in as text. */
static cJSON *number(const struct engine_value *value)
{
    char text[40];
    const char *digits = engine_python_text(value, text, sizeof text);
    bool exact = value->kind == ENGINE_FLOAT ? isfinite(value->number) : fabs(value->number) < 0x1p53;
    if (exact)
        return engine_memory(cJSON_CreateRaw(digits));
    return tagged(value->kind == ENGINE_FLOAT ? "float" : "integer", digits);
}

cJSON *engine_value_json(const struct engine_value *value)
{
    switch (value->kind) {
    case ENGINE_BOOLEAN:
        return engine_memory(cJSON_CreateBool(value->integer != 0));
    case ENGINE_INTEGER:
    case ENGINE_FLOAT:
        return number(value);
    case ENGINE_TEXT:
        return engine_memory(cJSON_CreateString(value->text));
    case ENGINE_ARRAY:
        return engine_memory(cJSON_CreateArray());
    case ENGINE_OBJECT:
        return engine_memory(cJSON_CreateObject());
    case ENGINE_ABSENT:
    case ENGINE_NULL:
        break;
    }
    return engine_memory(cJSON_CreateNull());
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
    *flags = (struct engine_flags){.all_greedy = text[0] == 'G',
                                   .need_top_k = text[1] == 'k',
                                   .need_top_p = text[2] == 'p',
                                   .need_min_p = text[3] == 'm'};
    return strcmp(engine_flag_letters(flags, back), text) == 0;
}
