/* plugin_device.h: the calls of a plug-in that samples on a CUDA device (option device=cuda of the host): values, row_index,
 * noise, logit_bias, allowed and the outputs in device memory, on a stream of the host's. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_HOST_PLUGIN_DEVICE_H
#define SAMPLEGATE_HOST_PLUGIN_DEVICE_H
#include "suite/sut/host/host.h"

struct plugin_device;

/* The first device that is visible. NULL with why. Owned: plugin_device_close, which takes NULL too. */
struct plugin_device *plugin_device_open(struct host_text *why);
void plugin_device_close(struct plugin_device *device);
const char *plugin_device_name(const struct plugin_device *device);

/* What a call of the host writes to: token[-fence .. draws + fence) and kept[rows, columns] (or NULL), filled so that what
 * the plug-in leaves alone shows. */
struct plugin_outputs {
    int32_t *token;
    int64_t fence;
    uint8_t *kept;
};

/* Point a call, whose arrays are the host's, at device memory that holds the same; of the rows' arrays only on the first
 * call of a message. 0, or -1 with why. */
int plugin_device_lend(struct plugin_device *device, const struct host_request *request, bool first_call,
                       const struct plugin_outputs *outputs, struct samplegate_call *call,
                       struct host_text *why);
/* Until the stream has done what is in it. 0, or -1 with why. */
int plugin_device_wait(struct plugin_device *device, struct host_text *why);
/* After the plug-in's sample(): wait for the stream, and fill the outputs with what lies on the device. 0, or -1 with why.
 */
int plugin_device_fetch(struct plugin_device *device, const struct samplegate_call *call,
                        const struct plugin_outputs *outputs, struct host_text *why);
#endif
