/* cuda.c: the samplers of kernels/cuda.cu behind the host: a chunk's rows go to the device once, then one
 * launch a call, all on one stream, and one wait at the end.
 *
 * The tokens are those of the reference; unlike reference.c this makes the calls at the batch size it was
 * asked for. SPDX-License-Identifier: MIT */
#include "suite/sut/host/cuda_parameters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char contract[] =
    "{\"rule\": \"%s\", \"rng_keying\": \"seed, position, column\", \"bitwise\": \"any device\", "
    "\"tie_rule\": \"lowest id\", \"filters\": \"%s\", \"penalties\": \"%s\"%s}";
/* True of every rule but torch-race and seeded-2025, which give a NaN its win, as the engine's lines do. */
static const char of_valid_weights[] = ", \"nan_policy\": \"never drawn\", \"weights\": \"any scale\"";

struct cuda {
    enum sampler_rule rule;
    struct cuda_device device;
    const struct filter_rule *filter_rule;
    const struct penalty_rule *penalty_rule;
    bool probabilities_first;
    struct room values, row_index, noise, seeds, positions, token;
    struct cuda_parameters parameters;
    struct cuda_workspace workspace;
    struct cuda_draws timed; /* the launch, while it is timed */
};

/* The rows of the request on the device, as they came. */
static const void *rows_take(struct cuda *cuda, const struct host_request *request, struct host_text *why)
{
    const size_t item = request->dtype == SAMPLEGATE_F32 ? sizeof(float) : sizeof(uint16_t);
    return room_take(&cuda->values, request->values,
                     (size_t)request->rows * (size_t)request->row_stride * item, cuda->device.stream, why);
}

/* A workspace for calls of so many draws, under filters and edits with rows of `vocab` values (0: none). -1 with why. */
static int workspace_take(struct cuda *cuda, int64_t draws, int64_t vocab, struct host_text *why)
{
    const struct cuda_workspace had = cuda->workspace;
    if (draws <= had.draws && vocab <= had.vocab)
        return 0;
    draws = draws > had.draws ? draws : had.draws;
    vocab = vocab > had.vocab ? vocab : had.vocab;
    cuda_workspace_free(&cuda->workspace);
    const char *failed = cuda_workspace_new(&cuda->workspace, draws, vocab);
    if (!failed)
        return 0;
    host_say(why, "cuda: the workspace of %" PRId64 " draws and rows of %" PRId64 ": %s", draws, vocab,
             failed);
    return -1;
}

/* An array of `count` items of the request on the device, or NULL if it has none; -1 with why on failure. */
static int array_take(struct cuda *cuda, struct room *room, const void *from, size_t count, size_t size,
                      const void **taken, struct host_text *why)
{
    *taken = from ? room_take(room, from, count * size, cuda->device.stream, why) : NULL;
    return from && !*taken ? -1 : 0;
}

/* The launches of a chunk whose arrays are on the device. */
static int launches(struct cuda *cuda, const struct host_request *request, const struct cuda_draws *chunk,
                    struct host_text *why)
{
    for (int64_t first = 0; first < request->draws; first += request->batch) {
        const int64_t left = request->draws - first;
        const struct cuda_draws call = cuda_parameters_part(&cuda->parameters, chunk, first,
                                                            left < request->batch ? left : request->batch);
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
static int chunk_take(struct cuda *cuda, const struct host_request *request, int64_t most, int32_t *token,
                      struct cuda_draws *chunk, struct host_text *why)
{
    const size_t draws = (size_t)request->draws, token_bytes = draws * sizeof *token;
    const void *row_index, *noise, *seeds, *positions;
    *chunk = (struct cuda_draws){.rule = (int32_t)cuda->rule,
                                 .kind = request->kind == SAMPLEGATE_LOGITS ? SAMPLER_LOGITS
                                                                            : SAMPLER_PROBABILITIES,
                                 .dtype = (int32_t)request->dtype,
                                 .rows = request->rows,
                                 .vocab = request->columns,
                                 .row_stride = request->row_stride,
                                 .seed = request->seed};
    memset(token, 0x55, token_bytes); /* so that a token no thread writes is none */
    if (cuda_parameters_take(&cuda->parameters, request, cuda->filter_rule, cuda->penalty_rule,
                             cuda->device.stream, chunk, why) ||
        !(chunk->values = rows_take(cuda, request, why)) ||
        array_take(cuda, &cuda->row_index, request->row_index, draws, sizeof(int32_t), &row_index, why) ||
        array_take(cuda, &cuda->noise, request->noise, draws * (size_t)request->columns, sizeof(float),
                   &noise, why) ||
        array_take(cuda, &cuda->seeds, request->seeds, draws, sizeof(int64_t), &seeds, why) ||
        array_take(cuda, &cuda->positions, request->positions, draws, sizeof(int64_t), &positions, why) ||
        !(chunk->token = room_take(&cuda->token, token, token_bytes, cuda->device.stream, why)))
        return -1;
    const bool staged = chunk->filters.top_k || chunk->filters.top_p || chunk->filters.min_p ||
                        chunk->edits.on || chunk->kept;
    if (workspace_take(cuda, most, staged ? chunk->vocab : 0, why))
        return -1;
    chunk->workspace = cuda->workspace;
    chunk->row_index = row_index;
    chunk->noise = noise;
    chunk->seeds = seeds;
    chunk->positions = positions;
    return 0;
}

static int chunk_draw(struct cuda *cuda, const struct host_request *request, int32_t *token,
                      struct host_text *why)
{
    const int64_t most = request->draws < request->batch ? request->draws : request->batch;
    struct cuda_draws chunk;
    if (chunk_take(cuda, request, most, token, &chunk, why) || launches(cuda, request, &chunk, why))
        return -1;
    void *const stream = cuda->device.stream;
    const char *failed = cuda_copy_out(token, chunk.token, (size_t)request->draws * sizeof *token, stream);
    if (!failed && chunk.kept)
        failed = cuda_copy_out(request->kept, chunk.kept, (size_t)(request->rows * request->columns), stream);
    if (failed)
        host_say(why, "%s", failed);
    return failed ? -1 : 0;
}

/* False, with why: what no kernel does. */
static bool supported(const struct host_request *request, struct host_text *why)
{
    const uint64_t edits = request->options & (BUILTIN_EDITS | SAMPLEGATE_TEMPERATURE);
    if (request->kind != SAMPLEGATE_PROBABILITIES || !edits)
        return true;
    char words[256];
    host_option_words(edits, words, sizeof words);
    host_say(why, "cuda takes no %s with probabilities", words);
    return false;
}

static enum host_answer cuda_sample(void *self, const struct host_request *request, int32_t *token,
                                    struct host_text *why)
{
    struct cuda *cuda = self;
    if (!supported(request, why))
        return HOST_UNSUPPORTED;
    int failed = chunk_draw(cuda, request, token, why);
    /* Whatever happened: nothing of the request is in use once this returns. */
    const char *late = cuda_wait(cuda->device.stream);
    if (late && !failed) {
        host_say(why, "%s", late);
        failed = -1;
    }
    cuda_parameters_passed(&cuda->parameters);
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
    int failed = chunk_take(cuda, request, request->draws, blank, &cuda->timed, why);
    /* What is on its way is read until then. */
    if (cuda_time_wait(self, why) != HOST_TOKENS)
        failed = -1;
    cuda_parameters_passed(&cuda->parameters);
    cuda->timed.rule = found;
    cuda->timed.draws = request->draws;
    free(blank);
    return failed ? HOST_ERROR : HOST_TOKENS;
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
    return failed ? HOST_ERROR : end;
}

static void cuda_end(void *self)
{
    struct cuda *cuda = self;
    struct room *const rooms[] = {&cuda->values, &cuda->row_index, &cuda->noise,
                                  &cuda->seeds,  &cuda->positions, &cuda->token};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        room_free(rooms[i]);
    cuda_parameters_free(&cuda->parameters);
    cuda_workspace_free(&cuda->workspace);
    cuda_close(&cuda->device);
    free(cuda);
}

static int cuda_option(struct cuda *cuda, const char *option, struct host_text *why)
{
    if (strncmp(option, "filters=", 8) == 0)
        return builtin_filter_rule(option + 8, &cuda->filter_rule, why);
    if (strncmp(option, "penalties=", 10) == 0)
        return builtin_penalty_rule(option + 10, &cuda->penalty_rule, why);
    cuda->probabilities_first = strcmp(option, "values=probabilities") == 0;
    if (cuda->probabilities_first || strcmp(option, "values=logits") == 0)
        return 0;
    host_say(
        why,
        "option '%.128s' is not known to cuda; known: values=logits, values=probabilities, filters=RULE, "
        "penalties=RULE",
        option);
    return -1;
}

/* What the hello says, and the capabilities. */
static void cuda_hello(struct host_sut *sut, const struct cuda *cuda)
{
    const struct cuda_device *device = &cuda->device;
    const enum sampler_rule rule = cuda->rule;
    char text[512];
    snprintf(text, sizeof text, "cuda:%s", sampler_rule_name(rule));
    frame_set(&sut->hello, "name", text);
    frame_set(&sut->hello, "version", HOST_VERSION);
    snprintf(text, sizeof text, "cuda %s", device->name);
    frame_set(&sut->hello, "device", text);
    frame_set(&sut->hello, "dtype", "f32");
    snprintf(text, sizeof text, contract, sampler_rule_name(rule), cuda->filter_rule->name,
             cuda->penalty_rule->name,
             rule == RULE_TORCH_RACE || rule == RULE_SEEDED_2025 ? "" : of_valid_weights);
    frame_set(&sut->hello, "contract", text);
    sut->capabilities = SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TEMPERATURE |
                        SAMPLEGATE_SEEDED | BUILTIN_FILTERS | BUILTIN_EDITS;
    if (cuda_rule_takes_noise((int)rule))
        sut->capabilities |= SAMPLEGATE_NOISE_IN;
    host_hello_capabilities(sut, cuda->probabilities_first);
    builtin_times(sut, rule);
    host_hello_build(sut);
    snprintf(text, sizeof text, "%d.%d", device->runtime / 1000, device->runtime % 1000 / 10);
    frame_set(&sut->hello, "version:cuda-runtime", text);
    snprintf(text, sizeof text, "%d.%d", device->driver / 1000, device->driver % 1000 / 10);
    frame_set(&sut->hello, "version:cuda-driver", text);
}

int host_cuda_open(struct host_sut *sut, const char *word, char **options, int count, struct host_text *why)
{
    struct cuda cuda = {.filter_rule = filter_rule_at(0), .penalty_rule = penalty_rule_at(0)};
    if (builtin_rule(word, &cuda.rule, why))
        return -1;
    for (int i = 0; i < count; i++)
        if (cuda_option(&cuda, options[i], why))
            return -1;
    const char *none = cuda_open(&cuda.device);
    if (none) {
        host_say(why, "%s", none);
        return -1;
    }
    cuda_hello(sut, &cuda);
    sut->self = host_memory(malloc(sizeof cuda));
    *(struct cuda *)sut->self = cuda;
    sut->sample = cuda_sample;
    sut->timed = (struct host_timed){
        .begin = cuda_time_begin, .call = cuda_time_call, .wait = cuda_time_wait, .end = cuda_time_end};
    sut->close = cuda_end;
    return builtin_file(sut, why);
}
