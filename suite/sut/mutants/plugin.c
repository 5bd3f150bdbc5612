/* plugin.c: the mutants as one plug-in, chosen by the option id=NAME; it includes what a stranger would
 * include.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct instance {
    const struct mutant *mutant;
    uint64_t seed, position, call; /* draws and calls since the last reset */
    uint64_t calls;                /* ever: tells whether a row was compared in this call */
    struct mutant_row *row;        /* [rows] */
    size_t rows;
    float *noise; /* [columns] */
    size_t columns;
};

static int plugin_open(const char *options, int32_t device, void **handle, char *error, size_t error_bytes)
{
    const struct mutant *mutant = NULL;
    for (size_t i = 0; i < mutant_count && strncmp(options, "id=", 3) == 0; i++)
        if (strcmp(options + 3, mutant_table[i].about.id) == 0)
            mutant = &mutant_table[i];
    if (!mutant) {
        int used = snprintf(error, error_bytes, "'%.64s' is not known; known:", options);
        for (size_t i = 0; i < mutant_count && used > 0 && (size_t)used < error_bytes; i++)
            used += snprintf(error + used, error_bytes - (size_t)used, " id=%s", mutant_table[i].about.id);
        return SAMPLEGATE_INVALID;
    }
    if (device != SAMPLEGATE_CPU) {
        snprintf(error, error_bytes, "the mutants run on a CPU");
        return SAMPLEGATE_UNSUPPORTED;
    }
    if (!sampler_isa()) {
        snprintf(error, error_bytes,
                 "SAMPLEGATE_ISA is unknown or not on this machine; known: baseline avx2 avx512");
        return SAMPLEGATE_INVALID;
    }
    struct instance *instance = calloc(1, sizeof *instance);
    if (!instance) {
        snprintf(error, error_bytes, "out of memory");
        return SAMPLEGATE_FAILED;
    }
    instance->mutant = mutant;
    *handle = instance;
    return SAMPLEGATE_OK;
}

static int plugin_reset(void *handle, uint64_t seed)
{
    struct instance *instance = handle;
    instance->seed = seed;
    instance->position = 0;
    instance->call = 0;
    return SAMPLEGATE_OK;
}

static void plugin_close(void *handle)
{
    struct instance *instance = handle;
    for (size_t i = 0; i < instance->rows; i++)
        mutant_row_clear(&instance->row[i]);
    free(instance->row);
    free(instance->noise);
    free(instance);
}

/* Room for the rows and the noise of a call. */
static int plugin_prepare(void *handle, int64_t max_draws, int64_t max_rows, int64_t columns)
{
    (void)max_draws;
    struct instance *instance = handle;
    if ((size_t)max_rows > instance->rows) {
        struct mutant_row *row = realloc(instance->row, (size_t)max_rows * sizeof *row);
        if (!row)
            return SAMPLEGATE_FAILED;
        memset(row + instance->rows, 0, ((size_t)max_rows - instance->rows) * sizeof *row);
        instance->row = row;
        instance->rows = (size_t)max_rows;
    }
    if ((size_t)columns > instance->columns) {
        float *noise = realloc(instance->noise, (size_t)columns * sizeof *noise);
        if (!noise)
            return SAMPLEGATE_FAILED;
        instance->noise = noise;
        instance->columns = (size_t)columns;
    }
    return SAMPLEGATE_OK;
}

/* The clean pipeline but for the mutant's stage. q: the caller's noise, or NULL. */
static int32_t draw_token(struct instance *instance, const struct mutant_draw *draw, const float *q)
{
    const struct mutant *mutant = instance->mutant;
    int32_t token;
    if (mutant->choose) {
        token = mutant->choose(draw);
    } else if (q) {
        token = sampler_draw_with_noise(draw->row->sampler, q);
    } else if (mutant->noise) {
        mutant->noise(draw, instance->noise);
        token = sampler_draw_with_noise(draw->row->sampler, instance->noise);
    } else {
        sampler_draw(draw->row->sampler, draw->seed, draw->position, 1, &token);
    }
    return mutant->answer && token >= 0 ? mutant->answer(draw, token) : token;
}

static int plugin_sample(void *handle, const struct samplegate_call *call)
{
    struct instance *instance = handle;
    const struct samplegate_tensor *values = &call->values;
    const uint64_t known = SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TEMPERATURE |
                           (instance->mutant->choose ? 0 : SAMPLEGATE_NOISE_IN);
    if (call->options & ~known || values->dtype != SAMPLEGATE_F32 ||
        (call->temperature && call->values_kind == SAMPLEGATE_PROBABILITIES))
        return SAMPLEGATE_UNSUPPORTED;
    int status = plugin_prepare(handle, call->draws, values->rows, values->columns);
    instance->calls++;
    for (int64_t d = 0; status == SAMPLEGATE_OK && d < call->draws; d++) {
        const int32_t index = call->row_index[d];
        const double temperature = call->temperature ? call->temperature[d] : 1;
        struct mutant_row *row = &instance->row[index];
        if (row->call != instance->calls || row->temperature != temperature) {
            status = mutant_row_prepare(row, instance->mutant, call->values_kind,
                                        (const float *)values->data + index * values->row_stride,
                                        (size_t)values->columns, temperature);
            row->call = instance->calls;
        }
        if (status != SAMPLEGATE_OK)
            break;
        const struct mutant_draw draw = {
            .row = row, .seed = instance->seed, .position = instance->position, .call = instance->call};
        call->token[d] = draw_token(instance, &draw, call->noise ? call->noise + d * values->columns : NULL);
        instance->position++;
    }
    instance->call++;
    return status;
}

const struct samplegate_plugin *samplegate_plugin(void)
{
    static const struct samplegate_plugin table = {
        .size = sizeof table,
        .abi_version = SAMPLEGATE_ABI_VERSION,
        .name = "mutants",
        .version = "0.1.0",
        .capabilities = SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TEMPERATURE |
                        SAMPLEGATE_NOISE_IN,
        .open = plugin_open,
        .prepare = plugin_prepare,
        .sample = plugin_sample,
        .reset = plugin_reset,
        .close = plugin_close,
    };
    return &table;
}
