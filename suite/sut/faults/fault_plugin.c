/* fault_plugin.c: a plug-in that misbehaves in one chosen way (option id=...), so that the host's answer can
 * be tested.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/samplegate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fault_id[] = {"none",      "chatter",       "crash",      "overflow",
                                       "unwritten", "status-failed", "unsupported"};
#define FAULTS (sizeof fault_id / sizeof *fault_id)

/* An instance holds nothing but its id: the handle is the id's index + 1, never NULL. */
static int fault_open(const char *options, int32_t device, void **instance, char *error, size_t error_bytes)
{
    (void)device;
    for (size_t i = 0; i < FAULTS; i++)
        if (strncmp(options, "id=", 3) == 0 && strcmp(options + 3, fault_id[i]) == 0) {
            *instance = (void *)(uintptr_t)(i + 1);
            return SAMPLEGATE_OK;
        }
    int used = snprintf(error, error_bytes, "'%.64s' is not known; known:", options);
    for (size_t i = 0; i < FAULTS && used > 0 && (size_t)used < error_bytes; i++)
        used += snprintf(error + used, error_bytes - (size_t)used, " id=%s", fault_id[i]);
    return SAMPLEGATE_INVALID;
}

static int fault_sample(void *instance, const struct samplegate_call *call)
{
    const char *id = fault_id[(uintptr_t)instance - 1];
    for (int64_t d = 0; d < call->draws; d++)
        if (strcmp(id, "unwritten") != 0 || d != call->draws - 1)
            call->token[d] = 0;
    if (strcmp(id, "chatter") == 0) {
        printf("sampled %lld tokens\n", (long long)call->draws);
        fflush(stdout);
    }
    if (strcmp(id, "crash") == 0)
        abort();
    if (strcmp(id, "overflow") == 0)
        call->token[call->draws] = 0;
    if (strcmp(id, "status-failed") == 0)
        return SAMPLEGATE_FAILED;
    return strcmp(id, "unsupported") == 0 ? SAMPLEGATE_UNSUPPORTED : SAMPLEGATE_OK;
}

static int fault_reset(void *instance, uint64_t seed)
{
    (void)instance;
    (void)seed;
    return SAMPLEGATE_OK;
}

static void fault_close(void *instance)
{
    (void)instance;
}

const struct samplegate_plugin *samplegate_plugin(void)
{
    static const struct samplegate_plugin table = {
        .size = sizeof table,
        .abi_version = SAMPLEGATE_ABI_VERSION,
        .name = "fault-plugin",
        .version = "1",
        .capabilities = SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES,
        .open = fault_open,
        .sample = fault_sample,
        .reset = fault_reset,
        .close = fault_close,
    };
    return &table;
}
