/* fault_plugin.c: a plug-in that misbehaves in one chosen way (option id=...), so that the host's answer can
 * be tested.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/samplegate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char
    *const fault_id[] = {"none",           "chatter",       "crash",       "overflow",
                         "unwritten",      "status-failed", "unsupported", "echo",
                         "kept-unwritten", "spin-1000",     "spin-1100"}; /* microseconds a call: a tenth slower */
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

static int64_t list_sum(const int64_t *ids, const int64_t *offsets, int64_t draw)
{
    int64_t sum = 0;
    for (int64_t i = offsets ? offsets[draw] : 0; offsets && i < offsets[draw + 1]; i++)
        sum += ids[i];
    return sum;
}

/* Not a fault: a token that is a sum of everything the draw was given, each with its own weight. */
static int32_t echo(const struct samplegate_call *call, int64_t d)
{
    const int64_t row = call->row_index[d] * call->values.columns;
    double sum = call->top_k ? (double)call->top_k[d] : 0;
    sum += call->top_p ? 4 * call->top_p[d] : 0;
    sum += call->min_p ? 8 * call->min_p[d] : 0;
    sum += call->repetition_penalty ? 16 * call->repetition_penalty[d] : 0;
    sum += call->frequency_penalty ? 64 * call->frequency_penalty[d] : 0;
    sum += call->presence_penalty ? 256 * call->presence_penalty[d] : 0;
    sum += call->min_tokens ? 1024 * (double)call->min_tokens[d] : 0;
    sum += call->logit_bias ? 4096 * (double)call->logit_bias[row] : 0;
    sum += call->allowed ? 8192 * call->allowed[row] : 0;
    sum += 10000 * (double)list_sum(call->prompt_tokens, call->prompt_offsets, d);
    sum += 100000 * (double)list_sum(call->output_tokens, call->output_offsets, d);
    sum += 1000000 * (double)list_sum(call->stop_ids, call->stop_offsets, d);
    sum +=
        10000000 * (double)((const float *)call->values.data)[call->row_index[d] * call->values.row_stride];
    sum += 100000000 * (double)call->values.device;
    return (int32_t)sum;
}

static double microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void spin(double us)
{
    const double end = microseconds() + us;
    while (microseconds() < end)
        ;
}

static int fault_sample(void *instance, const struct samplegate_call *call)
{
    const char *id = fault_id[(uintptr_t)instance - 1];
    for (int64_t d = 0; d < call->draws; d++)
        if (strcmp(id, "unwritten") != 0 || d != call->draws - 1)
            call->token[d] = strcmp(id, "echo") == 0 ? echo(call, d) : 0;
    if (call->kept && strcmp(id, "kept-unwritten") != 0)
        for (int64_t i = 0; i < call->values.rows * call->values.columns; i++)
            call->kept[i] = (uint8_t)(i % 3 == 0);
    if (strcmp(id, "chatter") == 0) {
        printf("sampled %lld tokens\n", (long long)call->draws);
        fflush(stdout);
    }
    if (strncmp(id, "spin-", 5) == 0)
        spin(strtod(id + 5, NULL));
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
        .capabilities = SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TOP_K |
                        SAMPLEGATE_TOP_P | SAMPLEGATE_MIN_P | SAMPLEGATE_PENALTIES | SAMPLEGATE_LOGIT_BIAS |
                        SAMPLEGATE_ALLOWED_MASK | SAMPLEGATE_MIN_TOKENS | SAMPLEGATE_KEPT_OUT,
        .open = fault_open,
        .sample = fault_sample,
        .reset = fault_reset,
        .close = fault_close,
    };
    return &table;
}
