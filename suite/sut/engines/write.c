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

/* The names whose bits are set, between spaces; all of them fit. */
static const char *listed(const char *const *names, const bool *set, char text[ENGINE_PATH_TEXT])
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; names[i]; i++)
        if (set[i])
            used += (size_t)snprintf(text + used, ENGINE_PATH_TEXT - used, "%s%s", used ? " " : "", names[i]);
    return text;
}

const char *engine_flag_letters(const struct engine *engine, const struct engine_flags *flags,
                                char text[ENGINE_FLAGS_TEXT])
{
    size_t i = 0;
    for (; engine->flag[i].letter; i++)
        text[i] =
            *(const bool *)((const char *)flags + engine->flag[i].offset) ? engine->flag[i].letter : '-';
    text[i] = 0;
    return text;
}

bool engine_flags_of_letters(const struct engine *engine, const char *text, struct engine_flags *flags)
{
    char back[ENGINE_FLAGS_TEXT];
    *flags = (struct engine_flags){0};
    for (size_t i = 0; text[i] && engine->flag[i].letter; i++)
        *(bool *)((char *)flags + engine->flag[i].offset) = text[i] == engine->flag[i].letter;
    return strcmp(engine_flag_letters(engine, flags, back), text) == 0;
}

const char *engine_stage_text(const struct engine_path *path, char text[ENGINE_PATH_TEXT])
{
    return listed(engine_stage_names, path->stages, text);
}

const char *engine_draw_text(const struct engine_path *path, char text[ENGINE_PATH_TEXT])
{
    return listed(engine_draw_names, path->draws, text);
}
