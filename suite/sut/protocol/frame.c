/* frame.c: build a message and look things up in one.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/protocol/frame_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const frame_dtype_name[FRAME_DTYPES] = {"F32", "F16", "BF16", "F64", "I32", "I64", "U8"};

static const size_t dtype_bytes[FRAME_DTYPES] = {4, 2, 2, 8, 4, 8, 1};

size_t frame_dtype_bytes(enum frame_dtype dtype)
{
    return dtype_bytes[dtype];
}

static void frame_defect(const char *what)
{
    fprintf(stderr, "frame: %s\n", what);
    abort();
}

void *frame_memory(void *memory)
{
    if (!memory)
        frame_defect("out of memory");
    return memory;
}

void frame_set(struct frame *frame, const char *key, const char *value)
{
    char *copy = frame_memory(strdup(value));
    for (size_t i = 0; i < frame->entries; i++)
        if (strcmp(frame->entry[i].key, key) == 0) {
            free(frame->entry[i].value);
            frame->entry[i].value = copy;
            return;
        }
    frame->entry = frame_memory(realloc(frame->entry, (frame->entries + 1) * sizeof *frame->entry));
    frame->entry[frame->entries].key = frame_memory(strdup(key));
    frame->entry[frame->entries].value = copy;
    frame->entries++;
}

void frame_set_u64(struct frame *frame, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    frame_set(frame, key, text);
}

void frame_add(struct frame *frame, const char *name, enum frame_dtype dtype, size_t rank,
               const uint64_t *shape, const void *data)
{
    /* All four are mistakes of the calling program, not of its input. */
    if (frame->arrays == FRAME_ARRAYS_MAX)
        frame_defect("too many arrays");
    if (rank > 3)
        frame_defect("an array of more than three dimensions");
    struct frame_array *array = &frame->array[frame->arrays];
    memset(array, 0, sizeof *array);
    if (strlen(name) >= sizeof array->name)
        frame_defect("an array name of more than 31 bytes");
    uint64_t bytes = frame_dtype_bytes(dtype);
    for (size_t i = 0; i < rank; i++) {
        array->shape[i] = shape[i];
        if (__builtin_mul_overflow(bytes, shape[i], &bytes))
            frame_defect("an array of more than 2^64 bytes");
    }
    strcpy(array->name, name);
    array->dtype = dtype;
    array->rank = rank;
    array->data = data;
    array->bytes = bytes;
    frame->arrays++;
}

const char *frame_get(const struct frame *frame, const char *key)
{
    for (size_t i = 0; i < frame->entries; i++)
        if (strcmp(frame->entry[i].key, key) == 0)
            return frame->entry[i].value;
    return NULL;
}

bool frame_get_u64(const struct frame *frame, const char *key, uint64_t *value)
{
    const char *text = frame_get(frame, key);
    /* One spelling a number: no sign, no space, no leading zero. */
    if (!text || text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
        return false;
    uint64_t sum = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        if (__builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, (uint64_t)(*c - '0'), &sum))
            return false;
    }
    *value = sum;
    return true;
}

const struct frame_array *frame_find(const struct frame *frame, const char *name)
{
    for (size_t i = 0; i < frame->arrays; i++)
        if (strcmp(frame->array[i].name, name) == 0)
            return &frame->array[i];
    return NULL;
}

void frame_free(struct frame *frame)
{
    for (size_t i = 0; i < frame->entries; i++) {
        free(frame->entry[i].key);
        free(frame->entry[i].value);
    }
    free(frame->entry);
    free(frame->buffer);
    memset(frame, 0, sizeof *frame);
}
