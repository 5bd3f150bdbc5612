/* plugin_device.c: device memory for the calls of a plug-in that samples on a CUDA device.
 *
 * Outputs go there as the host filled them and come back fence and all, so the host checks them as it checks those of a
 * plug-in on the CPU. SPDX-License-Identifier: MIT */
#include "suite/sut/host/plugin_device.h"
#include "suite/sut/host/room.h"

#include <stdio.h>
#include <stdlib.h>

enum { VALUES, LOGIT_BIAS, ALLOWED, ROW_INDEX, NOISE, TOKEN, KEPT, ROOMS };

struct plugin_device {
    struct cuda_device cuda;
    char name[sizeof((struct cuda_device){0}).name + 8];
    struct room room[ROOMS];
};

struct plugin_device *plugin_device_open(struct host_text *why)
{
    struct plugin_device *device = host_memory(calloc(1, sizeof *device));
    const char *none = cuda_open(&device->cuda);
    if (none) {
        host_say(why, "device=cuda: %s", none);
        free(device);
        return NULL;
    }
    snprintf(device->name, sizeof device->name, "cuda %s", device->cuda.name);
    return device;
}

void plugin_device_close(struct plugin_device *device)
{
    if (!device)
        return;
    for (int i = 0; i < ROOMS; i++)
        room_free(&device->room[i]);
    cuda_close(&device->cuda);
    free(device);
}

const char *plugin_device_name(const struct plugin_device *device)
{
    return device->name;
}

static size_t kept_bytes(const struct samplegate_call *call)
{
    return (size_t)call->values.rows * (size_t)call->values.columns;
}

static size_t token_bytes(const struct samplegate_call *call, const struct plugin_outputs *outputs)
{
    return (size_t)(call->draws + 2 * outputs->fence) * sizeof *outputs->token;
}

/* What is `from` becomes its copy on the device, made now or by an earlier call of the message. NULL stays NULL. */
static const void *moved(struct plugin_device *device, int which, const void *from, size_t bytes, bool now,
                         bool *failed, struct host_text *why)
{
    if (!from || *failed)
        return NULL;
    const void *to = now ? room_take(&device->room[which], from, bytes, device->cuda.stream, why)
                         : device->room[which].memory;
    *failed = !to;
    return to;
}

int plugin_device_lend(struct plugin_device *device, const struct host_request *request, bool first_call,
                       const struct plugin_outputs *outputs, struct samplegate_call *call,
                       struct host_text *why)
{
    const size_t rows = (size_t)request->rows, cells = rows * (size_t)request->columns,
                 draws = (size_t)call->draws;
    const size_t item = request->dtype == SAMPLEGATE_F32 ? sizeof(float) : sizeof(uint16_t);
    bool failed = false;
    call->values.data = moved(device, VALUES, call->values.data, rows * (size_t)request->row_stride * item,
                              first_call, &failed, why);
    call->logit_bias = moved(device, LOGIT_BIAS, call->logit_bias, cells * sizeof *call->logit_bias,
                             first_call, &failed, why);
    call->allowed = moved(device, ALLOWED, call->allowed, cells, first_call, &failed, why);
    call->row_index =
        moved(device, ROW_INDEX, call->row_index, draws * sizeof *call->row_index, true, &failed, why);
    call->noise = moved(device, NOISE, call->noise, draws * (size_t)request->columns * sizeof *call->noise,
                        true, &failed, why);
    moved(device, TOKEN, outputs->token - outputs->fence, token_bytes(call, outputs), true, &failed, why);
    moved(device, KEPT, outputs->kept, kept_bytes(call), true, &failed, why);
    if (failed)
        return -1;
    call->token = (int32_t *)device->room[TOKEN].memory + outputs->fence;
    call->kept = outputs->kept ? device->room[KEPT].memory : NULL;
    call->values.device = SAMPLEGATE_CUDA;
    call->stream = device->cuda.stream;
    return 0;
}

int plugin_device_wait(struct plugin_device *device, struct host_text *why)
{
    const char *late = cuda_wait(device->cuda.stream);
    if (late)
        host_say(why, "after the plug-in's sample(): %s", late);
    return late ? -1 : 0;
}

int plugin_device_fetch(struct plugin_device *device, const struct samplegate_call *call,
                        const struct plugin_outputs *outputs, struct host_text *why)
{
    void *const stream = device->cuda.stream;
    const char *failed = cuda_copy_out(outputs->token - outputs->fence, device->room[TOKEN].memory,
                                       token_bytes(call, outputs), stream);
    if (!failed && outputs->kept)
        failed = cuda_copy_out(outputs->kept, device->room[KEPT].memory, kept_bytes(call), stream);
    const char *late = cuda_wait(stream); /* whatever happened, nothing of the host's is in use after this */
    if (!failed && !late)
        return 0;
    host_say(why, "after the plug-in's sample(): %s", failed ? failed : late);
    return -1;
}
