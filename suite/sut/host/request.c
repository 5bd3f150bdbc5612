/* request.c: a sample message -> struct host_request, every number and array checked before a sampler sees
 * it.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"

#include <inttypes.h>
#include <string.h>

#define DRAWS_MAX ((uint64_t)1 << 28)

int host_request_number(const struct frame *message, const char *key, uint64_t low, uint64_t high,
                        uint64_t *value, struct host_text *why)
{
    if (!frame_get_u64(message, key, value) || *value < low || *value > high) {
        const char *text = frame_get(message, key);
        host_say(why, "sample: %s is '%.32s'; a whole number of %" PRIu64 " to %" PRIu64 " is needed", key,
                 text ? text : "(absent)", low, high);
        return -1;
    }
    return 0;
}

static int request_kind(struct host_request *request, const struct frame *message, struct host_text *why)
{
    const char *kind = frame_get(message, "kind");
    if (kind && strcmp(kind, "logits") == 0) {
        request->kind = SAMPLEGATE_LOGITS;
        request->options |= SAMPLEGATE_TAKES_LOGITS;
    } else if (kind && strcmp(kind, "probabilities") == 0) {
        request->kind = SAMPLEGATE_PROBABILITIES;
        request->options |= SAMPLEGATE_TAKES_PROBABILITIES;
    } else {
        host_say(why, "sample: kind is '%.32s'; logits or probabilities is needed", kind ? kind : "(absent)");
        return -1;
    }
    return 0;
}

static int request_values(struct host_request *request, const struct frame *message, struct host_text *why)
{
    const struct frame_array *values = frame_find(message, "values");
    if (!values || values->rank != 2 || values->dtype > FRAME_BF16) {
        host_say(why, "sample: values must be an array [rows, row_stride] of F32, F16 or BF16");
        return -1;
    }
    if (values->shape[0] < 1 || values->shape[0] > INT32_MAX || values->shape[1] < 1 ||
        values->shape[1] > INT32_MAX) {
        host_say(why, "sample: values is [%" PRIu64 ", %" PRIu64 "]; 1 to 2^31 - 1 each are accepted",
                 values->shape[0], values->shape[1]);
        return -1;
    }
    request->dtype = values->dtype == FRAME_F32   ? SAMPLEGATE_F32
                     : values->dtype == FRAME_F16 ? SAMPLEGATE_F16
                                                  : SAMPLEGATE_BF16;
    request->values = values->data;
    request->rows = (int64_t)values->shape[0];
    request->row_stride = (int64_t)values->shape[1];
    uint64_t columns = values->shape[1]; /* unless the message says that less of each row is the vocabulary */
    if (frame_get(message, "columns") &&
        host_request_number(message, "columns", 1, values->shape[1], &columns, why))
        return -1;
    request->columns = (int64_t)columns;
    return 0;
}

/* An optional array of [draws] or [draws, columns]: its data or NULL in *data. */
static int request_array(const struct host_request *request, const struct frame *message, const char *name,
                         enum frame_dtype dtype, const char *type, bool columns, const void **data,
                         struct host_text *why)
{
    const struct frame_array *array = frame_find(message, name);
    *data = NULL;
    if (!array)
        return 0;
    bool good = array->dtype == dtype && array->rank == (columns ? 2 : 1) &&
                array->shape[0] == (uint64_t)request->draws &&
                (!columns || array->shape[1] == (uint64_t)request->columns);
    if (!good) {
        host_say(why, "sample: %s must be an array [draws%s] of %s", name, columns ? ", vocab" : "", type);
        return -1;
    }
    *data = array->data;
    return 0;
}

static int request_rows(struct host_request *request, const struct frame *message, struct host_text *why)
{
    const void *data;
    if (request_array(request, message, "row_index", FRAME_I32, "I32", false, &data, why))
        return -1;
    request->row_index = data;
    for (int64_t d = 0; data && d < request->draws; d++)
        if (request->row_index[d] < 0 || request->row_index[d] >= request->rows) {
            host_say(why, "sample: row_index[%" PRId64 "] is %" PRId32 " of %" PRId64 " rows", d,
                     request->row_index[d], request->rows);
            return -1;
        }
    return 0;
}

static int request_temperature(struct host_request *request, const struct frame *message,
                               struct host_text *why)
{
    const struct frame_array *array = frame_find(message, "temperature");
    if (!array)
        return 0;
    if (array->dtype != FRAME_F64 || array->rank != 1 ||
        (array->shape[0] != 1 && array->shape[0] != (uint64_t)request->draws)) {
        host_say(why, "sample: temperature must be an array [1] or [draws] of F64");
        return -1;
    }
    request->temperature = array->data;
    request->temperatures = (int64_t)array->shape[0];
    for (int64_t i = 0; i < request->temperatures; i++)
        if (request->temperature[i] != 1)
            request->options |= SAMPLEGATE_TEMPERATURE;
    return 0;
}

static int request_randomness(struct host_request *request, const struct frame *message,
                              struct host_text *why)
{
    const void *noise, *seeds, *positions;
    if (request_array(request, message, "noise", FRAME_F32, "F32", true, &noise, why) ||
        request_array(request, message, "seeds", FRAME_I64, "I64", false, &seeds, why) ||
        request_array(request, message, "positions", FRAME_I64, "I64", false, &positions, why))
        return -1;
    if (!seeds != !positions || (seeds && noise)) {
        host_say(why, "sample: seeds and positions come together, and not with noise");
        return -1;
    }
    request->noise = noise;
    request->seeds = seeds;
    request->positions = positions;
    request->options |= (noise ? SAMPLEGATE_NOISE_IN : 0) | (seeds ? SAMPLEGATE_SEEDED : 0);
    return 0;
}

int host_request_read(struct host_request *request, const struct frame *message, struct host_text *why)
{
    uint64_t draws = 0, batch = 0;
    memset(request, 0, sizeof *request);
    if (host_request_number(message, "draws", 1, DRAWS_MAX, &draws, why) ||
        host_request_number(message, "batch", 1, DRAWS_MAX, &batch, why) ||
        host_request_number(message, "seed", 0, UINT64_MAX, &request->seed, why))
        return -1;
    request->draws = (int64_t)draws;
    request->batch = (int64_t)batch;
    if (request_kind(request, message, why) || request_values(request, message, why) ||
        request_rows(request, message, why) || request_temperature(request, message, why) ||
        request_randomness(request, message, why))
        return -1;
    return host_request_options(request, message, why);
}

double host_request_temperature(const struct host_request *request, int64_t draw)
{
    return request->temperatures == 0 ? 1 : request->temperature[request->temperatures == 1 ? 0 : draw];
}
