/* sampler.c: the smallest plug-in, an inverse CDF over fp32 probabilities on the CPU. -DBROKEN plants a slip that the gate
 * rejects: the generator is copied where it should be pointed to, so every call begins with the noise of the one before.
 *
 *     cc -shared -fPIC -I suite/sut suite/sut/examples/sampler.c -o sampler.so
 *     samplegate run --sut ./sampler.so
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include "samplegate.h"

static int sampler_open(const char *options, int32_t device, void **instance, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "it has no options and samples on the CPU only");
    if (*options || device != SAMPLEGATE_CPU)
        return SAMPLEGATE_INVALID;
    *instance = calloc(1, sizeof(uint64_t)); /* the state of SplitMix64 (Steele, Lea, Flood 2014) */
    return *instance ? SAMPLEGATE_OK : SAMPLEGATE_FAILED;
}

static int sampler_reset(void *instance, uint64_t seed)
{
    *(uint64_t *)instance = seed;
    return SAMPLEGATE_OK;
}

/* Uniform on the multiples of 2^-53 in [0, 1). */
static double sampler_uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The first id at which the running sum exceeds u times the whole; -1 without one. NaN and negative weights add nothing. */
static int32_t sampler_draw(const float *weight, int64_t vocab, double u)
{
    double total = 0.0, sum = 0.0;
    for (int64_t id = 0; id < vocab; id++)
        total += weight[id] > 0.0f ? (double)weight[id] : 0.0;
    for (int64_t id = 0; id < vocab; id++)
        if (weight[id] > 0.0f && (sum += (double)weight[id]) > u * total)
            return (int32_t)id;
    return -1;
}

static int sampler_sample(void *instance, const struct samplegate_call *call)
{
    const struct samplegate_tensor *values = &call->values;
    if (call->options & ~(uint64_t)SAMPLEGATE_TAKES_PROBABILITIES || values->dtype != SAMPLEGATE_F32)
        return SAMPLEGATE_UNSUPPORTED; /* honest; ignoring what a call asks for is a defect */
    uint64_t *state = instance;
#ifdef BROKEN
    uint64_t copy = *state;
    state = &copy;
#endif
    for (int64_t d = 0; d < call->draws; d++) {
        const float *row = (const float *)values->data + call->row_index[d] * values->row_stride;
        call->token[d] = sampler_draw(row, values->columns, sampler_uniform(state));
    }
    return SAMPLEGATE_OK;
}

const struct samplegate_plugin *samplegate_plugin(void)
{
    static const struct samplegate_plugin plugin = {
        .size = sizeof plugin,
        .abi_version = SAMPLEGATE_ABI_VERSION,
        .name = "example",
        .version = "1",
        .capabilities = SAMPLEGATE_TAKES_PROBABILITIES,
        .open = sampler_open,
        .sample = sampler_sample,
        .reset = sampler_reset,
        .close = free,
    };
    return &plugin;
}
