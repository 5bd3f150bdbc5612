/* script.c: build a script line by line, and read what came back. */
#include "suite/judge/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *memory, size_t bytes)
{
    memory = realloc(memory, bytes);
    if (!memory)
        abort();
    return memory;
}

void script_free(struct script *script)
{
    for (size_t i = 0; i < script->lines; i++) {
        frame_free(&script->line[i].request);
        frame_free(&script->line[i].answer);
    }
    for (size_t i = 0; i < script->memories; i++)
        free(script->memory[i]);
    free(script->line);
    free(script->memory);
    *script = (struct script){0};
}

void *script_memory(struct script *script, size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        abort();
    script->memory = grow(script->memory, (script->memories + 1) * sizeof *script->memory);
    return script->memory[script->memories++] = memory;
}

static struct script_line *add(struct script *script, const char *name, const char *message)
{
    script->line = grow(script->line, (script->lines + 1) * sizeof *script->line);
    struct script_line *line = &script->line[script->lines++];
    *line = (struct script_line){0};
    snprintf(line->name, sizeof line->name, "%s", name);
    frame_set(&line->request, "message", message);
    return line;
}

struct script_line *script_sample(struct script *script, const char *name, uint64_t batch, uint64_t draws,
                                  uint64_t seed)
{
    struct script_line *line = add(script, name, "sample");
    line->batch = batch;
    line->draws = draws;
    frame_set_u64(&line->request, "batch", batch);
    frame_set_u64(&line->request, "draws", draws);
    frame_set_u64(&line->request, "seed", seed);
    return line;
}

void script_values(struct script *script, struct script_line *line, enum value_kind kind,
                   enum value_dtype dtype, const float *values, size_t rows, size_t columns)
{
    static const enum frame_dtype dtypes[] = {FRAME_F32, FRAME_F16, FRAME_BF16};
    const size_t count = rows * columns;
    void *data;
    if (dtype == VALUE_F32) {
        data = script_memory(script, count * sizeof *values);
        memcpy(data, values, count * sizeof *values);
    } else {
        uint16_t *bits = data = script_memory(script, count * sizeof *bits);
        for (size_t i = 0; i < count; i++)
            bits[i] = law_bits(values[i], dtype);
    }
    line->rows = rows;
    line->columns = columns;
    frame_set(&line->request, "kind", kind == VALUE_LOGITS ? "logits" : "probabilities");
    frame_add(&line->request, "values", dtypes[dtype], 2, (uint64_t[]){rows, columns}, data);
}

struct script_line *script_ask(struct script *script, const char *name, const char *question)
{
    struct script_line *line = add(script, name, "ask");
    frame_set(&line->request, "question", question);
    return line;
}

const struct script_line *script_find(const struct script *script, const char *name)
{
    for (size_t i = 0; i < script->lines; i++)
        if (!strcmp(script->line[i].name, name))
            return &script->line[i];
    return NULL;
}

uint64_t script_draws(const struct script *script)
{
    uint64_t draws = 0;
    for (size_t i = 0; i < script->lines; i++)
        draws += script->line[i].draws;
    return draws;
}

size_t script_unsupported(const struct script *script)
{
    size_t lines = 0;
    for (size_t i = 0; i < script->lines; i++)
        lines += script->line[i].state == LINE_UNSUPPORTED;
    return lines;
}

bool script_alike(const struct script *a, const struct script *b)
{
    if (a->lines != b->lines)
        return false;
    for (size_t i = 0; i < a->lines; i++) {
        const struct script_line *x = &a->line[i], *y = &b->line[i];
        if (strcmp(x->name, y->name) != 0 || x->draws != y->draws || x->rows != y->rows ||
            x->columns != y->columns || x->questions != y->questions)
            return false;
    }
    return true;
}

void script_address(struct script *script, const char *cell, int stage)
{
    for (size_t i = 0; i < script->lines; i++) {
        struct frame *request = &script->line[i].request;
        frame_set(request, "cell", cell);
        frame_set_u64(request, "stage", (uint64_t)stage);
        frame_set_u64(request, "chunk", i);
    }
}

static bool take_tokens(struct script_line *line, const struct frame *answer, char *why, size_t why_bytes)
{
    const struct frame_array *token = frame_find(answer, "token"), *kept = frame_find(answer, "kept");
    if (!token || token->dtype != FRAME_I32 || token->rank != 1 || token->shape[0] != line->draws) {
        snprintf(why, why_bytes, "the answer to %s lacks token I32 [%llu]", line->name,
                 (unsigned long long)line->draws);
        return false;
    }
    line->token = token->data;
    if (!frame_get(&line->request, "kept"))
        return true;
    if (!kept || kept->dtype != FRAME_U8 || kept->rank != 2 || kept->shape[0] != line->rows ||
        kept->shape[1] != line->columns) {
        snprintf(why, why_bytes, "the answer to %s lacks kept U8 [%zu, %zu]", line->name, line->rows,
                 line->columns);
        return false;
    }
    line->kept = kept->data;
    return true;
}

bool script_take(struct script_line *line, const struct frame *answer, char *why, size_t why_bytes)
{
    const char *message = frame_get(answer, "message"), *text = frame_get(answer, "text");
    line->text = text ? text : "no reason given";
    if (message && !strcmp(message, "unsupported")) {
        line->state = LINE_UNSUPPORTED;
        return true;
    }
    if (message && !strcmp(message, "error")) {
        line->state = LINE_REFUSED;
        snprintf(why, why_bytes, "the worker reports on %s: %s", line->name, line->text);
        return line->may_refuse;
    }
    line->state = LINE_ANSWERED;
    if (line->draws && message && !strcmp(message, "tokens"))
        return take_tokens(line, answer, why, why_bytes);
    if (!line->draws && message && !strcmp(message, "answer") && text)
        return true;
    snprintf(why, why_bytes, "the worker answered %s by '%.32s', not by %s", line->name,
             message ? message : "", line->draws ? "tokens" : "an answer with text");
    return false;
}
