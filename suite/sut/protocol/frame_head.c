/* frame_head.c: the JSON header of a message about to be written.
 *
 * The safetensors library refuses holes between arrays, so alignment comes from their order: widest dtype
 * first, as the library itself writes them. Then every array is aligned for its dtype as soon as the data
 * starts at a multiple of 8.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/protocol/frame_internal.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static void u64_put(char *to, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (char)(value >> (8 * i) & 0xff);
}

static void order_widest_first(const struct frame *frame, size_t *order)
{
    for (size_t i = 0; i < frame->arrays; i++) {
        size_t at = i;
        while (at > 0 && frame_dtype_bytes(frame->array[order[at - 1]].dtype) <
                             frame_dtype_bytes(frame->array[i].dtype)) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

static void header_array(cJSON *root, const struct frame_array *array, uint64_t *offset)
{
    cJSON *node = frame_memory(cJSON_AddObjectToObject(root, array->name));
    frame_memory(cJSON_AddStringToObject(node, "dtype", frame_dtype_name[array->dtype]));
    cJSON *shape = frame_memory(cJSON_AddArrayToObject(node, "shape"));
    for (size_t i = 0; i < array->rank; i++)
        cJSON_AddItemToArray(shape, frame_memory(cJSON_CreateNumber((double)array->shape[i])));
    cJSON *span = frame_memory(cJSON_AddArrayToObject(node, "data_offsets"));
    cJSON_AddItemToArray(span, frame_memory(cJSON_CreateNumber((double)*offset)));
    *offset += array->bytes;
    cJSON_AddItemToArray(span, frame_memory(cJSON_CreateNumber((double)*offset)));
}

char *frame_head(const struct frame *frame, size_t *order, uint64_t *bytes, uint64_t *total)
{
    order_widest_first(frame, order);
    cJSON *root = frame_memory(cJSON_CreateObject());
    cJSON *metadata = frame_memory(cJSON_AddObjectToObject(root, "__metadata__"));
    for (size_t i = 0; i < frame->entries; i++)
        frame_memory(cJSON_AddStringToObject(metadata, frame->entry[i].key, frame->entry[i].value));
    uint64_t offset = 0;
    for (size_t i = 0; i < frame->arrays; i++)
        header_array(root, &frame->array[order[i]], &offset);
    char *json = frame_memory(cJSON_PrintUnformatted(root));
    cJSON_Delete(root);

    size_t length = strlen(json), padded = (length + 7) / 8 * 8;
    char *head = frame_memory(malloc(16 + padded));
    *bytes = 16 + padded;
    *total = 8 + padded + offset;
    u64_put(head, *total);
    u64_put(head + 8, padded);
    memcpy(head + 16, json, length);
    memset(head + 16 + length, ' ', padded - length);
    free(json);
    return head;
}
