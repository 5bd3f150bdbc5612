/* plugin.c: the mutants as one plug-in, chosen by the option id=NAME; it includes what a stranger would
 * include.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPABILITIES                                                                                         \
    (SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TEMPERATURE |                     \
     SAMPLEGATE_NOISE_IN | SAMPLEGATE_SEEDED | SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P | SAMPLEGATE_MIN_P |      \
     SAMPLEGATE_PENALTIES | SAMPLEGATE_LOGIT_BIAS | SAMPLEGATE_ALLOWED_MASK | SAMPLEGATE_MIN_TOKENS |        \
     SAMPLEGATE_KEPT_OUT)
/* With probabilities there is nothing to edit. */
#define LOGITS_ONLY                                                                                          \
    (SAMPLEGATE_TEMPERATURE | SAMPLEGATE_PENALTIES | SAMPLEGATE_LOGIT_BIAS | SAMPLEGATE_ALLOWED_MASK |       \
     SAMPLEGATE_MIN_TOKENS)
/* Prepared rows that are remembered, in values. */
#define REMEMBERED ((size_t)1 << 24)

struct instance {
    const struct mutant *mutant;
    struct mutant_memory memory;
    struct mutant_row *row; /* [rows] */
    size_t rows, rows_room;
    struct mutant_request *request; /* [requests] */
    size_t requests;
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
        snprintf(error, error_bytes,
                 "'%.64s' is not known; known: id=%s and the %zu mutants that table.c lists", options,
                 mutant_table[0].about.id, mutant_count - 1);
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
    struct mutant_memory *memory = &((struct instance *)handle)->memory;
    memory->seed = seed;
    memory->draws = memory->calls = 0;
    return SAMPLEGATE_OK;
}

static void rows_clear(struct instance *instance)
{
    for (size_t i = 0; i < instance->rows; i++)
        mutant_row_clear(&instance->row[i]);
    instance->rows = 0;
}

static void plugin_close(void *handle)
{
    struct instance *instance = handle;
    rows_clear(instance);
    free(instance->row);
    free(instance->request);
    free(instance->memory.before);
    free(instance->memory.first);
    free(instance->noise);
    free(instance);
}

/* Room for `count` elements of `size` bytes, zeroed where it is new. */
static bool room_take(void **array, size_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return true;
    char *grown = realloc(*array, count * size);
    if (!grown)
        return false;
    memset(grown + *room * size, 0, (count - *room) * size);
    *array = grown;
    *room = count;
    return true;
}

/* The row of a request, new or remembered; NULL without memory. */
static struct mutant_row *row_of(struct instance *instance, const struct mutant_request *request,
                                 size_t vocab)
{
    for (size_t i = 0; i < instance->rows; i++) {
        struct mutant_row *row = &instance->row[i];
        if (row->row == request->row && row->temperature == request->temperature &&
            memcmp(&row->filter, &request->filter, sizeof row->filter) == 0)
            return row;
    }
    if ((instance->rows + 1) * vocab > REMEMBERED)
        rows_clear(instance);
    if (!room_take((void **)&instance->row, &instance->rows_room, instance->rows + 1, sizeof *instance->row))
        return NULL;
    return &instance->row[instance->rows++];
}

/* The clean pipeline but for the mutant's stage. q: the caller's noise, or NULL. */
static int32_t draw_token(const struct instance *instance, const struct mutant_draw *draw, const float *q)
{
    const struct mutant *mutant = instance->mutant;
    const struct mutant_request *request = draw->request;
    int32_t token;
    if (!q && mutant->noise)
        mutant->noise(draw, instance->noise);
    else if (!q && mutant->race)
        sampler_noise(request->seed, request->position, draw->row->vocab, instance->noise);
    if (!q && (mutant->noise || mutant->race))
        q = instance->noise;
    if (mutant->choose)
        token = mutant->choose(draw);
    else if (mutant->race)
        token = mutant->race(draw, q);
    else if (q)
        token = sampler_draw_with_noise(draw->row->sampler, q);
    else
        sampler_draw(draw->row->sampler, request->seed, request->position, 1, &token);
    return mutant->answer ? mutant->answer(draw, token) : token;
}

/* The requests of the call, as they came and as the mutant sees them. */
static int batch_fill(struct instance *instance, const struct samplegate_call *call,
                      struct mutant_batch *batch)
{
    const size_t draws = (size_t)call->draws;
    struct mutant_memory *memory = &instance->memory;
    if (!room_take((void **)&instance->request, &instance->requests, draws, sizeof *instance->request))
        return SAMPLEGATE_FAILED;
    for (size_t d = 0; d < draws; d++)
        mutant_request_fill(&instance->request[d], call, (int64_t)d, memory);
    *batch =
        (struct mutant_batch){.call = call, .memory = memory, .request = instance->request, .draws = draws};
    batch->vocab = (size_t)call->values.columns;
    if (!instance->mutant->batch)
        return SAMPLEGATE_OK;
    instance->mutant->batch(batch);
    if (!room_take((void **)&memory->before, &memory->before_room, draws, sizeof *memory->before) ||
        !room_take((void **)&memory->first, &memory->first_room, draws, sizeof *memory->first))
        return SAMPLEGATE_FAILED;
    for (size_t d = 0; d < draws; d++)
        mutant_request_fill(&memory->before[d], call, (int64_t)d, memory);
    memory->before_draws = draws;
    if (memory->calls == 0) {
        memcpy(memory->first, memory->before, draws * sizeof *memory->first);
        memory->first_draws = draws;
    }
    return SAMPLEGATE_OK;
}

/* The kept set of a row is that of its first draw in the call. */
static void kept_fill(const struct mutant_batch *batch, const struct mutant_row *row, size_t draw)
{
    const struct samplegate_call *call = batch->call;
    const size_t columns = (size_t)call->values.columns;
    for (size_t d = 0; d < draw; d++)
        if (call->row_index[d] == call->row_index[draw])
            return;
    memcpy(call->kept + (size_t)call->row_index[draw] * columns, row->kept, columns);
}

static int plugin_sample(void *handle, const struct samplegate_call *call)
{
    struct instance *instance = handle;
    const uint64_t known = CAPABILITIES & ~(uint64_t)(instance->mutant->choose ? SAMPLEGATE_NOISE_IN : 0) &
                           ~(uint64_t)(call->values_kind == SAMPLEGATE_PROBABILITIES ? LOGITS_ONLY : 0);
    if (call->options & ~known || call->values.dtype != SAMPLEGATE_F32)
        return SAMPLEGATE_UNSUPPORTED;
    struct mutant_batch batch;
    int status = batch_fill(instance, call, &batch);
    if (status == SAMPLEGATE_OK &&
        !room_take((void **)&instance->noise, &instance->columns, batch.vocab, sizeof *instance->noise))
        status = SAMPLEGATE_FAILED;
    const uint64_t this_call = ++instance->memory.calls_ever;
    for (size_t d = 0; status == SAMPLEGATE_OK && d < batch.draws; d++) {
        const struct mutant_request *request = &batch.request[d];
        struct mutant_row *row = row_of(instance, request, batch.vocab);
        if (!row)
            return SAMPLEGATE_FAILED;
        if (row->call != this_call || request->edited)
            status = mutant_row_prepare(row, instance->mutant, call->values_kind, batch.vocab, request);
        row->call = this_call;
        if (status != SAMPLEGATE_OK)
            break;
        const struct mutant_draw draw = {.batch = &batch, .request = request, .row = row};
        const float *q = call->noise ? call->noise + (int64_t)d * call->values.columns : NULL;
        call->token[d] = draw_token(instance, &draw, q);
        if (call->kept)
            kept_fill(&batch, row, d);
    }
    instance->memory.draws += batch.draws;
    instance->memory.calls++;
    return status;
}

const struct samplegate_plugin *samplegate_plugin(void)
{
    static const struct samplegate_plugin table = {
        .size = sizeof table,
        .abi_version = SAMPLEGATE_ABI_VERSION,
        .name = "mutants",
        .version = "0.1.0",
        .capabilities = CAPABILITIES,
        .contract =
            "{\"rule\": \"race\", \"rng_keying\": \"seed, position, column\", \"bitwise\": \"any device\", "
            "\"tie_rule\": \"lowest id\", \"filters\": \"sglang-pytorch\", \"penalties\": \"sglang\", "
            "\"nan_policy\": \"never drawn\", \"weights\": \"any scale\"}",
        .open = plugin_open,
        .sample = plugin_sample,
        .reset = plugin_reset,
        .close = plugin_close,
    };
    return &table;
}
