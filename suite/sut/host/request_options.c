/* request_options.c: the optional parameters of a sample message: filters, penalties, masks, token lists.
 *
 * A value that asks for nothing (top_k -1, a penalty of 0, ...) sets no bit of `options`, so a sampler need
 * not announce it. Whether a value makes sense is the sampler's to say. SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

double host_number(const struct host_numbers *numbers, int64_t draw, double off)
{
    return numbers->count == 0 ? off : numbers->value[numbers->count == 1 ? 0 : draw];
}

int64_t host_integer(const struct host_integers *integers, int64_t draw, int64_t off)
{
    return integers->count == 0 ? off : integers->value[integers->count == 1 ? 0 : draw];
}

/* The array of a parameter, [1] or [draws]; *count 0 if it is absent. */
static int parameter_array(const struct host_request *request, const struct frame *message, const char *name,
                           enum frame_dtype dtype, const void **value, int64_t *count, struct host_text *why)
{
    const struct frame_array *array = frame_find(message, name);
    *count = 0;
    if (!array)
        return 0;
    if (array->dtype != dtype || array->rank != 1 ||
        (array->shape[0] != 1 && array->shape[0] != (uint64_t)request->draws)) {
        host_say(why, "sample: %s must be an array [1] or [draws] of %s", name,
                 dtype == FRAME_F64 ? "F64" : "I64");
        return -1;
    }
    *value = array->data;
    *count = (int64_t)array->shape[0];
    return 0;
}

static int numbers_read(struct host_request *request, const struct frame *message, const char *name,
                        struct host_numbers *numbers, double off, enum samplegate_option option,
                        struct host_text *why)
{
    const void *value = NULL;
    if (parameter_array(request, message, name, FRAME_F64, &value, &numbers->count, why))
        return -1;
    numbers->value = value;
    for (int64_t i = 0; i < numbers->count; i++)
        if (numbers->value[i] != off)
            request->options |= option;
    return 0;
}

static int integers_read(struct host_request *request, const struct frame *message, const char *name,
                         struct host_integers *integers, int64_t off, enum samplegate_option option,
                         struct host_text *why)
{
    const void *value = NULL;
    if (parameter_array(request, message, name, FRAME_I64, &value, &integers->count, why))
        return -1;
    integers->value = value;
    for (int64_t i = 0; i < integers->count; i++)
        if (integers->value[i] != off)
            request->options |= option;
    return 0;
}

/* NAME_tokens (or NAME_ids) with NAME_offsets. */
static int lists_read(const struct host_request *request, const struct frame *message, const char *ids,
                      const char *offsets, struct host_lists *lists, struct host_text *why)
{
    const struct frame_array *id = frame_find(message, ids), *offset = frame_find(message, offsets);
    if (!id && !offset)
        return 0;
    if (!id || !offset || id->dtype != FRAME_I64 || id->rank != 1 || offset->dtype != FRAME_I64 ||
        offset->rank != 1 || offset->shape[0] != (uint64_t)request->draws + 1) {
        host_say(why, "sample: %s must be an array [n] of I64, and come with %s [draws + 1] of I64", ids,
                 offsets);
        return -1;
    }
    lists->id = id->data;
    lists->offset = offset->data;
    for (int64_t d = 0; d < request->draws; d++)
        if (lists->offset[d] < 0 || lists->offset[d + 1] < lists->offset[d] ||
            (uint64_t)lists->offset[d + 1] > id->shape[0]) {
            host_say(why,
                     "sample: %s[%" PRId64 "] and the next are %" PRId64 " and %" PRId64
                     "; they must rise within the %" PRIu64 " values of %s",
                     offsets, d, lists->offset[d], lists->offset[d + 1], id->shape[0], ids);
            return -1;
        }
    return 0;
}

/* An array [rows, vocab]. */
static int row_array(struct host_request *request, const struct frame *message, const char *name,
                     enum frame_dtype dtype, enum samplegate_option option, const void **data,
                     struct host_text *why)
{
    const struct frame_array *array = frame_find(message, name);
    *data = NULL;
    if (!array)
        return 0;
    if (array->dtype != dtype || array->rank != 2 || array->shape[0] != (uint64_t)request->rows ||
        array->shape[1] != (uint64_t)request->columns) {
        host_say(why, "sample: %s must be an array [rows, vocab] of %s", name,
                 dtype == FRAME_F32 ? "F32" : "U8");
        return -1;
    }
    *data = array->data;
    request->options |= option;
    return 0;
}

static int filters_read(struct host_request *request, const struct frame *message, struct host_text *why)
{
    return integers_read(request, message, "top_k", &request->top_k, -1, SAMPLEGATE_TOP_K, why) ||
                   numbers_read(request, message, "top_p", &request->top_p, 1, SAMPLEGATE_TOP_P, why) ||
                   numbers_read(request, message, "min_p", &request->min_p, 0, SAMPLEGATE_MIN_P, why)
               ? -1
               : 0;
}

static int penalties_read(struct host_request *request, const struct frame *message, struct host_text *why)
{
    const enum samplegate_option bit = SAMPLEGATE_PENALTIES;
    return numbers_read(request, message, "repetition_penalty", &request->repetition_penalty, 1, bit, why) ||
                   numbers_read(request, message, "frequency_penalty", &request->frequency_penalty, 0, bit,
                                why) ||
                   numbers_read(request, message, "presence_penalty", &request->presence_penalty, 0, bit,
                                why) ||
                   integers_read(request, message, "min_tokens", &request->min_tokens, 0,
                                 SAMPLEGATE_MIN_TOKENS, why)
               ? -1
               : 0;
}

const char *host_request_unknown(const struct frame *message)
{
    static const char *const known[] = {
        "values",
        "row_index",
        "temperature",
        "noise",
        "seeds",
        "positions",
        "top_k",
        "top_p",
        "min_p",
        "min_tokens",
        "logit_bias",
        "allowed",
        "repetition_penalty",
        "frequency_penalty",
        "presence_penalty",
        "prompt_tokens",
        "prompt_offsets",
        "output_tokens",
        "output_offsets",
        "stop_ids",
        "stop_offsets",
    };
    for (size_t i = 0; i < message->arrays; i++) {
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(message->array[i].name, known[k]) != 0)
            k++;
        if (k == sizeof known / sizeof *known)
            return message->array[i].name;
    }
    return NULL;
}

int host_request_options(struct host_request *request, const struct frame *message, struct host_text *why)
{
    const void *bias, *allowed;
    const char *kept = frame_get(message, "kept");
    if (kept && strcmp(kept, "1") != 0) {
        host_say(why, "sample: kept is '%.32s'; 1 or nothing is needed", kept);
        return -1;
    }
    request->options |= kept ? SAMPLEGATE_KEPT_OUT : 0;
    if (filters_read(request, message, why) || penalties_read(request, message, why) ||
        lists_read(request, message, "prompt_tokens", "prompt_offsets", &request->prompt, why) ||
        lists_read(request, message, "output_tokens", "output_offsets", &request->output, why) ||
        lists_read(request, message, "stop_ids", "stop_offsets", &request->stop, why) ||
        row_array(request, message, "logit_bias", FRAME_F32, SAMPLEGATE_LOGIT_BIAS, &bias, why) ||
        row_array(request, message, "allowed", FRAME_U8, SAMPLEGATE_ALLOWED_MASK, &allowed, why))
        return -1;
    request->logit_bias = bias;
    request->allowed = allowed;
    return 0;
}
