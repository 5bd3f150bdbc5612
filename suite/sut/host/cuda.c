/* cuda.c: the samplers of kernels/cuda.cu behind the host: a chunk's rows go to the device once, then one
 * launch a call, all on one stream, and one wait at the end.
 *
 * The tokens are those of the reference; unlike reference.c this makes the calls at the batch size it was
 * asked for. SPDX-License-Identifier: MIT */
#include "suite/sut/host/builtin.h"
#include "suite/sut/host/room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char contract[] =
    "{\"rule\": \"%s\", \"rng_keying\": \"seed, position, column\", \"bitwise\": \"any device\", "
    "\"tie_rule\": \"lowest id\"%s}";
/* True of every rule but torch-race and seeded-2025, which give a NaN its win, as the engine's lines do. */
static const char of_valid_weights[] = ", \"nan_policy\": \"never drawn\"";

struct cuda {
    enum sampler_rule rule;
    struct cuda_device device;
    struct room values, row_index, temperature, noise, seeds, positions, token;
    struct cuda_workspace workspace;
    /* While it is timed: the launch, and its temperatures on the host. */
    struct cuda_draws timed;
    float *timed_temperature;
};

/* The rows of the request on the device, as they came. */
static const void *rows_take(struct cuda *cuda, const struct host_request *request, struct host_text *why)
{
    const size_t item = request->dtype == SAMPLEGATE_F32 ? sizeof(float) : sizeof(uint16_t);
    return room_take(&cuda->values, request->values,
                     (size_t)request->rows * (size_t)request->row_stride * item, cuda->device.stream, why);
}

/* A workspace for calls of so many draws; -1 with why. */
static int workspace_take(struct cuda *cuda, int64_t draws, struct host_text *why)
{
    if (draws <= cuda->workspace.draws)
        return 0;
    cuda_workspace_free(&cuda->workspace);
    const char *failed = cuda_workspace_new(&cuda->workspace, draws, 0);
    if (!failed)
        return 0;
    host_say(why, "cuda: the workspace of %" PRId64 " draws: %s", draws, failed);
    return -1;
}

/* An array of `count` items of the request on the device, or NULL if it has none; -1 with why on failure. */
static int array_take(struct cuda *cuda, struct room *room, const void *from, size_t count, size_t size,
                      const void **taken, struct host_text *why)
{
    *taken = from ? room_take(room, from, count * size, cuda->device.stream, why) : NULL;
    return from && !*taken ? -1 : 0;
}

/* The temperatures as fp32, or NULL if all are 1: owned. -1 with why if one is not positive and finite. */
static int temperatures_take(const struct host_request *request, float **temperature, struct host_text *why)
{
    *temperature = NULL;
    if (!(request->options & SAMPLEGATE_TEMPERATURE))
        return 0;
    *temperature = host_memory(malloc((size_t)request->draws * sizeof **temperature));
    for (int64_t d = 0; d < request->draws; d++) {
        const double asked = host_request_temperature(request, d);
        (*temperature)[d] = (float)asked;
        if (!((*temperature)[d] > 0 && (*temperature)[d] <= 0x1.fffffep+127f)) {
            host_say(why, "draw %" PRId64 ": cuda takes a positive finite temperature; this one has %g", d,
                     asked);
            return -1;
        }
    }
    return 0;
}

/* The launches of a chunk whose arrays are on the device. */
static int launches(struct cuda *cuda, const struct host_request *request, struct cuda_draws chunk,
                    struct host_text *why)
{
    for (int64_t first = 0; first < request->draws; first += request->batch) {
        const int64_t left = request->draws - first;
        struct cuda_draws call = chunk;
        call.draws = left < request->batch ? left : request->batch;
        call.row_index = chunk.row_index ? chunk.row_index + first : NULL;
        call.temperature = chunk.temperature ? chunk.temperature + first : NULL;
        call.noise = chunk.noise ? chunk.noise + first * chunk.vocab : NULL;
        call.seeds = chunk.seeds ? chunk.seeds + first : NULL;
        call.positions = chunk.positions ? chunk.positions + first : NULL;
        call.first_position = (uint64_t)first;
        call.token = chunk.token + first;
        const char *failed = cuda_draw(&call, cuda->device.stream);
        if (failed) {
            host_say(why, "draws from %" PRId64 ": %s", first, failed);
            return -1;
        }
    }
    return 0;
}

/* All arrays of a chunk on their way to the device, and room for its tokens there; for calls of up to `most` draws.
 * -1 with why. */
static int chunk_take(struct cuda *cuda, const struct host_request *request, int64_t most,
                      const float *temperature, int32_t *token, struct cuda_draws *taken,
                      struct host_text *why)
{
    const size_t draws = (size_t)request->draws, token_bytes = draws * sizeof *token;
    const void *row_index, *warmth, *noise, *seeds, *positions;
    struct cuda_draws chunk = {.rule = (int32_t)cuda->rule,
                               .kind = request->kind == SAMPLEGATE_LOGITS ? SAMPLER_LOGITS
                                                                          : SAMPLER_PROBABILITIES,
                               .dtype = (int32_t)request->dtype,
                               .rows = request->rows,
                               .vocab = request->columns,
                               .row_stride = request->row_stride,
                               .seed = request->seed};
    memset(token, 0x55, token_bytes); /* so that a token no thread writes is none */
    if (workspace_take(cuda, most, why) || !(chunk.values = rows_take(cuda, request, why)) ||
        array_take(cuda, &cuda->row_index, request->row_index, draws, sizeof(int32_t), &row_index, why) ||
        array_take(cuda, &cuda->temperature, temperature, draws, sizeof(float), &warmth, why) ||
        array_take(cuda, &cuda->noise, request->noise, draws * (size_t)request->columns, sizeof(float),
                   &noise, why) ||
        array_take(cuda, &cuda->seeds, request->seeds, draws, sizeof(int64_t), &seeds, why) ||
        array_take(cuda, &cuda->positions, request->positions, draws, sizeof(int64_t), &positions, why) ||
        !(chunk.token = room_take(&cuda->token, token, token_bytes, cuda->device.stream, why)))
        return -1;
    chunk.workspace = cuda->workspace;
    chunk.row_index = row_index;
    chunk.temperature = warmth;
    chunk.noise = noise;
    chunk.seeds = seeds;
    chunk.positions = positions;
    *taken = chunk;
    return 0;
}

static int chunk_draw(struct cuda *cuda, const struct host_request *request, const float *temperature,
                      int32_t *token, struct host_text *why)
{
    const int64_t most = request->draws < request->batch ? request->draws : request->batch;
    struct cuda_draws chunk;
    if (chunk_take(cuda, request, most, temperature, token, &chunk, why) ||
        launches(cuda, request, chunk, why))
        return -1;
    const char *failed =
        cuda_copy_out(token, chunk.token, (size_t)request->draws * sizeof *token, cuda->device.stream);
    if (failed)
        host_say(why, "%s", failed);
    return failed ? -1 : 0;
}

/* False, with why: what no kernel does. */
static bool supported(const struct host_request *request, struct host_text *why)
{
    if (request->kind != SAMPLEGATE_PROBABILITIES || !(request->options & SAMPLEGATE_TEMPERATURE))
        return true;
    host_say(why, "cuda takes no temperature with probabilities");
    return false;
}

static enum host_answer cuda_sample(void *self, const struct host_request *request, int32_t *token,
                                    struct host_text *why)
{
    struct cuda *cuda = self;
    if (!supported(request, why))
        return HOST_UNSUPPORTED;
    float *temperature;
    int failed = temperatures_take(request, &temperature, why);
    if (!failed) {
        failed = chunk_draw(cuda, request, temperature, token, why);
        /* Whatever happened: nothing of the request is in use once this returns. */
        const char *late = cuda_wait(cuda->device.stream);
        if (late && !failed) {
            host_say(why, "%s", late);
            failed = -1;
        }
    }
    free(temperature);
    return failed ? HOST_ERROR : HOST_TOKENS;
}

static enum host_answer cuda_time_wait(void *self, struct host_text *why)
{
    const char *late = cuda_wait(((struct cuda *)self)->device.stream);
    if (late)
        host_say(why, "%s", late);
    return late ? HOST_ERROR : HOST_TOKENS;
}

static enum host_answer cuda_time_begin(void *self, const struct host_request *request, const char *rule,
                                        struct host_text *why)
{
    struct cuda *cuda = self;
    const int found = rule ? sampler_rule_of(rule) : (int)cuda->rule;
    if (found < 0 || !cuda_rule_known(found)) {
        host_say(why, "time: cuda has no rule '%.64s'", rule ? rule : "");
        return HOST_UNSUPPORTED;
    }
    if (!supported(request, why))
        return HOST_UNSUPPORTED;
    int32_t *blank = host_memory(malloc((size_t)request->draws * sizeof *blank));
    int failed =
        temperatures_take(request, &cuda->timed_temperature, why) ||
        chunk_take(cuda, request, request->draws, cuda->timed_temperature, blank, &cuda->timed, why) ||
        cuda_time_wait(self, why) != HOST_TOKENS; /* `blank` is read until then */
    cuda->timed.rule = found;
    cuda->timed.draws = request->draws;
    free(blank);
    if (!failed)
        return HOST_TOKENS;
    free(cuda->timed_temperature);
    cuda->timed_temperature = NULL;
    return HOST_ERROR;
}

static enum host_answer cuda_time_call(void *self, uint64_t index, struct host_text *why)
{
    struct cuda *cuda = self;
    cuda->timed.first_position = index * (uint64_t)cuda->timed.draws;
    const char *failed = cuda_draw(&cuda->timed, cuda->device.stream);
    if (failed)
        host_say(why, "%s", failed);
    return failed ? HOST_ERROR : HOST_TOKENS;
}

static enum host_answer cuda_time_end(void *self, int32_t *token, struct host_text *why)
{
    struct cuda *cuda = self;
    const char *failed = cuda_copy_out(token, cuda->timed.token, (size_t)cuda->timed.draws * sizeof *token,
                                       cuda->device.stream);
    if (failed)
        host_say(why, "%s", failed);
    struct host_text late;
    const enum host_answer end = cuda_time_wait(self, failed ? &late : why);
    free(cuda->timed_temperature);
    cuda->timed_temperature = NULL;
    return failed ? HOST_ERROR : end;
}

static void cuda_end(void *self)
{
    struct cuda *cuda = self;
    struct room *const rooms[] = {&cuda->values, &cuda->row_index, &cuda->temperature, &cuda->noise,
                                  &cuda->seeds,  &cuda->positions, &cuda->token};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        room_free(rooms[i]);
    cuda_workspace_free(&cuda->workspace);
    cuda_close(&cuda->device);
    free(cuda);
}

/* values=logits|probabilities: which of the two is preferred. */
static int cuda_option(const char *option, bool *probabilities_first, struct host_text *why)
{
    *probabilities_first = strcmp(option, "values=probabilities") == 0;
    if (*probabilities_first || strcmp(option, "values=logits") == 0)
        return 0;
    host_say(why, "option '%.128s' is not known to cuda; known: values=logits, values=probabilities", option);
    return -1;
}

/* What the hello says, and the capabilities. */
static void cuda_hello(struct host_sut *sut, const struct cuda *cuda, bool probabilities_first)
{
    const struct cuda_device *device = &cuda->device;
    const enum sampler_rule rule = cuda->rule;
    char text[sizeof device->name + 8];
    snprintf(text, sizeof text, "cuda:%s", sampler_rule_name(rule));
    frame_set(&sut->hello, "name", text);
    frame_set(&sut->hello, "version", HOST_VERSION);
    snprintf(text, sizeof text, "cuda %s", device->name);
    frame_set(&sut->hello, "device", text);
    frame_set(&sut->hello, "dtype", "f32");
    snprintf(text, sizeof text, contract, sampler_rule_name(rule),
             rule == RULE_TORCH_RACE || rule == RULE_SEEDED_2025 ? "" : of_valid_weights);
    frame_set(&sut->hello, "contract", text);
    sut->capabilities =
        SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TEMPERATURE | SAMPLEGATE_SEEDED;
    if (cuda_rule_takes_noise((int)rule))
        sut->capabilities |= SAMPLEGATE_NOISE_IN;
    host_hello_capabilities(sut, probabilities_first);
    builtin_times(sut, rule);
    host_hello_build(sut);
    snprintf(text, sizeof text, "%d.%d", device->runtime / 1000, device->runtime % 1000 / 10);
    frame_set(&sut->hello, "version:cuda-runtime", text);
    snprintf(text, sizeof text, "%d.%d", device->driver / 1000, device->driver % 1000 / 10);
    frame_set(&sut->hello, "version:cuda-driver", text);
}

int host_cuda_open(struct host_sut *sut, const char *word, char **options, int count, struct host_text *why)
{
    struct cuda cuda = {0};
    bool probabilities_first = false;
    if (builtin_rule(word, &cuda.rule, why))
        return -1;
    for (int i = 0; i < count; i++)
        if (cuda_option(options[i], &probabilities_first, why))
            return -1;
    const char *none = cuda_open(&cuda.device);
    if (none) {
        host_say(why, "%s", none);
        return -1;
    }
    cuda_hello(sut, &cuda, probabilities_first);
    sut->self = host_memory(malloc(sizeof cuda));
    *(struct cuda *)sut->self = cuda;
    sut->sample = cuda_sample;
    sut->timed = (struct host_timed){
        .begin = cuda_time_begin, .call = cuda_time_call, .wait = cuda_time_wait, .end = cuda_time_end};
    sut->close = cuda_end;
    return builtin_file(sut, why);
}
