/* frame_parse.c: the bytes of one safetensors document -> struct frame, every size and offset checked.
 *
 * Stricter than the format: no duplicate names, nothing but dtype, shape and data_offsets in an array, at
 * most FRAME_ARRAYS_MAX arrays of rank 3. Looser in one point: gaps and overlaps between arrays are allowed,
 * as every array is only read. An array that would be misaligned for its dtype is copied to the end of the
 * buffer.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/protocol/frame_internal.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whoever reads a document: what it holds, and where to say what is wrong with it. */
struct document {
    struct frame *frame;
    const uint8_t *bytes;
    uint64_t data, data_bytes; /* where the arrays' bytes start, and how many there are */
    char *why;
    size_t why_bytes;
};

__attribute__((format(printf, 2, 3))) static bool broken(const struct document *document, const char *format,
                                                         ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(document->why, document->why_bytes, format, list);
    va_end(list);
    return false;
}

static uint64_t u64_get(const uint8_t *from)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | from[i];
    return value;
}

/* cJSON ends a string at \u0000 and would hide the rest: refuse the escape. */
static bool has_nul(const char *json, uint64_t bytes)
{
    for (uint64_t i = 0; i + 1 < bytes; i++) {
        if (json[i] != '\\')
            continue;
        if (i + 6 <= bytes && memcmp(json + i + 1, "u0000", 5) == 0)
            return true;
        i++; /* the escaped character, which may be a backslash */
    }
    return memchr(json, '\0', bytes) != NULL;
}

/* A JSON number that is a whole number of 0 .. 2^53 - 1. */
static bool whole(const cJSON *node, uint64_t *value)
{
    if (!cJSON_IsNumber(node) || !(node->valuedouble >= 0) || node->valuedouble >= 9007199254740992.0)
        return false;
    *value = (uint64_t)node->valuedouble;
    return (double)*value == node->valuedouble;
}

static bool parse_shape(const struct document *document, struct frame_array *array, const cJSON *shape)
{
    if (!cJSON_IsArray(shape))
        return broken(document, "array '%s': shape is not a list", array->name);
    const cJSON *size;
    cJSON_ArrayForEach(size, shape)
    {
        if (array->rank == 3)
            return broken(document, "array '%s': more than 3 dimensions", array->name);
        if (!whole(size, &array->shape[array->rank]))
            return broken(document, "array '%s': a shape that is not a whole number of 0 .. 2^53",
                          array->name);
        array->rank++;
    }
    array->bytes = frame_dtype_bytes(array->dtype);
    for (size_t i = 0; i < array->rank; i++)
        if (__builtin_mul_overflow(array->bytes, array->shape[i], &array->bytes))
            return broken(document, "array '%s': more than 2^64 bytes", array->name);
    return true;
}

static bool parse_dtype(const struct document *document, struct frame_array *array, const cJSON *dtype)
{
    if (!cJSON_IsString(dtype))
        return broken(document, "array '%s': dtype is not a string", array->name);
    for (int i = 0; i < FRAME_DTYPES; i++)
        if (strcmp(frame_dtype_name[i], dtype->valuestring) == 0) {
            array->dtype = (enum frame_dtype)i;
            return true;
        }
    return broken(document, "array '%s': dtype '%.16s' is not one of F32 F16 BF16 F64 I32 I64 U8",
                  array->name, dtype->valuestring);
}

static bool parse_span(const struct document *document, struct frame_array *array, const cJSON *span)
{
    uint64_t start, end;
    if (!cJSON_IsArray(span) || cJSON_GetArraySize(span) != 2 || !whole(span->child, &start) ||
        !whole(span->child->next, &end))
        return broken(document, "array '%s': data_offsets is not two whole numbers", array->name);
    if (start > end || end > document->data_bytes)
        return broken(document,
                      "array '%s': bytes %" PRIu64 " .. %" PRIu64 " are not within the %" PRIu64
                      " of the frame",
                      array->name, start, end, document->data_bytes);
    if (end - start != array->bytes)
        return broken(document, "array '%s': shape and dtype make %" PRIu64 " bytes, data_offsets %" PRIu64,
                      array->name, array->bytes, end - start);
    array->data = document->bytes + document->data + start;
    return true;
}

static bool parse_array(const struct document *document, const cJSON *node)
{
    struct frame *frame = document->frame;
    size_t length = strlen(node->string);
    if (frame->arrays == FRAME_ARRAYS_MAX)
        return broken(document, "more than %d arrays", FRAME_ARRAYS_MAX);
    struct frame_array *array = &frame->array[frame->arrays];
    if (length == 0 || length >= sizeof array->name)
        return broken(document, "an array name of %zu bytes; 1 to %zu are accepted", length,
                      sizeof array->name - 1);
    if (frame_find(frame, node->string))
        return broken(document, "two arrays named '%s'", node->string);
    memcpy(array->name, node->string, length + 1);
    if (!cJSON_IsObject(node) || cJSON_GetArraySize(node) != 3)
        return broken(document, "array '%s': not an object of dtype, shape and data_offsets", array->name);
    if (!parse_dtype(document, array, cJSON_GetObjectItemCaseSensitive(node, "dtype")) ||
        !parse_shape(document, array, cJSON_GetObjectItemCaseSensitive(node, "shape")) ||
        !parse_span(document, array, cJSON_GetObjectItemCaseSensitive(node, "data_offsets")))
        return false;
    frame->arrays++;
    return true;
}

static int entry_compare(const void *a, const void *b)
{
    return strcmp(((const struct frame_entry *)a)->key, ((const struct frame_entry *)b)->key);
}

static bool parse_metadata(const struct document *document, const cJSON *metadata)
{
    struct frame *frame = document->frame;
    if (!cJSON_IsObject(metadata))
        return broken(document, "__metadata__ is not an object");
    if (frame->entries)
        return broken(document, "two __metadata__ objects");
    size_t count = 0;
    for (const cJSON *node = metadata->child; node; node = node->next)
        count++;
    if (!count)
        return true;
    frame->entry = frame_memory(calloc(count, sizeof *frame->entry));
    for (const cJSON *node = metadata->child; node; node = node->next) {
        if (!cJSON_IsString(node))
            return broken(document, "__metadata__: '%.64s' is not a string", node->string);
        frame->entry[frame->entries].key = frame_memory(strdup(node->string));
        frame->entry[frame->entries].value = frame_memory(strdup(node->valuestring));
        frame->entries++;
    }
    /* In order of key: duplicates become neighbours, however many entries there are. */
    qsort(frame->entry, frame->entries, sizeof *frame->entry, entry_compare);
    for (size_t i = 1; i < frame->entries; i++)
        if (entry_compare(&frame->entry[i - 1], &frame->entry[i]) == 0)
            return broken(document, "__metadata__: '%.64s' stands twice", frame->entry[i].key);
    return true;
}

static bool parse_header(const struct document *document, const char *json, uint64_t bytes)
{
    if (bytes == 0 || json[0] != '{')
        return broken(document, "the header does not start with '{'");
    if (has_nul(json, bytes))
        return broken(document, "a NUL in the header");
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(json, bytes, &end, false);
    if (!root)
        return broken(document, "the header is not JSON");
    bool good = true;
    for (uint64_t i = (uint64_t)(end - json); good && i < bytes; i++)
        if (!strchr(" \t\r\n", json[i]))
            good = broken(document, "text after the header's JSON");
    for (const cJSON *node = root->child; good && node; node = node->next)
        good = strcmp(node->string, "__metadata__") == 0 ? parse_metadata(document, node)
                                                         : parse_array(document, node);
    cJSON_Delete(root);
    return good;
}

static bool misaligned(const struct frame_array *array)
{
    return (uintptr_t)array->data % frame_dtype_bytes(array->dtype) != 0;
}

/* Copies what is misaligned behind the document, each copy at a multiple of 8. */
static void align_arrays(struct frame *frame, uint64_t bytes)
{
    uint64_t end = (bytes + 7) / 8 * 8, extra = 0;
    for (size_t i = 0; i < frame->arrays; i++)
        if (misaligned(&frame->array[i]))
            extra += (frame->array[i].bytes + 7) / 8 * 8;
    if (!extra)
        return;
    uint8_t *old = frame->buffer, *moved = frame_memory(malloc(end + extra));
    memcpy(moved, old, bytes);
    for (size_t i = 0; i < frame->arrays; i++) {
        struct frame_array *array = &frame->array[i];
        uint8_t *data = moved + ((const uint8_t *)array->data - old);
        if (misaligned(array)) {
            memcpy(moved + end, data, array->bytes);
            data = moved + end;
            end += (array->bytes + 7) / 8 * 8;
        }
        array->data = data;
    }
    free(old);
    frame->buffer = moved;
}

enum frame_result frame_parse(struct frame *frame, uint8_t *buffer, uint64_t bytes, char *why,
                              size_t why_bytes)
{
    frame->buffer = buffer;
    struct document document = {.frame = frame, .bytes = buffer, .why = why, .why_bytes = why_bytes};
    uint64_t header = bytes < 8 ? 0 : u64_get(buffer);
    if (bytes < 8)
        broken(&document, "a frame of %" PRIu64 " bytes has no header length", bytes);
    else if (header > bytes - 8)
        broken(&document, "a header of %" PRIu64 " bytes in a frame of %" PRIu64, header, bytes);
    else if (header > FRAME_HEADER_MAX)
        broken(&document, "a header of %" PRIu64 " bytes; %" PRIu64 " are accepted", header,
               FRAME_HEADER_MAX);
    else {
        document.data = 8 + header;
        document.data_bytes = bytes - document.data;
        if (parse_header(&document, (const char *)buffer + 8, header)) {
            align_arrays(frame, bytes);
            return FRAME_OK;
        }
    }
    return FRAME_BROKEN;
}
