/* cuda_parameters.c: a message's parameters as the kernels take them: an array a parameter, a value a draw.
 *
 * They are checked here with the reference's own functions: the kernels could only answer -1. SPDX-License-Identifier: MIT
 */
#include "suite/sut/host/cuda_parameters.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is shared while a message is taken. */
struct taking {
    struct cuda_parameters *parameters;
    const struct host_request *request;
    void *stream;
    struct host_text *why;
    bool failed;
};

/* The copy on the device of `bytes` at `from`; NULL stays NULL. */
static const void *sent(struct taking *taking, enum cuda_parameter which, const void *from, size_t bytes)
{
    if (!from || taking->failed)
        return NULL;
    const void *to = room_take(&taking->parameters->room[which], from, bytes, taking->stream, taking->why);
    taking->failed = !to;
    return to;
}

/* Room on the host for a value a draw. */
static void *values_of(struct taking *taking, enum cuda_parameter which, size_t size)
{
    free(taking->parameters->host[which]);
    return taking->parameters->host[which] = host_memory(malloc((size_t)taking->request->draws * size));
}

static const double *doubles(struct taking *taking, enum cuda_parameter which,
                             const struct host_numbers *numbers, double off)
{
    if (!numbers->count)
        return NULL;
    double *value = values_of(taking, which, sizeof *value);
    for (int64_t d = 0; d < taking->request->draws; d++)
        value[d] = host_number(numbers, d, off);
    return sent(taking, which, value, (size_t)taking->request->draws * sizeof *value);
}

/* Rounded to fp32, as penalty.h does it. */
static const float *floats(struct taking *taking, enum cuda_parameter which,
                           const struct host_numbers *numbers, double off)
{
    if (!numbers->count)
        return NULL;
    float *value = values_of(taking, which, sizeof *value);
    for (int64_t d = 0; d < taking->request->draws; d++)
        value[d] = (float)host_number(numbers, d, off);
    return sent(taking, which, value, (size_t)taking->request->draws * sizeof *value);
}

static const int64_t *integers(struct taking *taking, enum cuda_parameter which,
                               const struct host_integers *from, int64_t off)
{
    if (!from->count)
        return NULL;
    int64_t *value = values_of(taking, which, sizeof *value);
    for (int64_t d = 0; d < taking->request->draws; d++)
        value[d] = host_integer(from, d, off);
    return sent(taking, which, value, (size_t)taking->request->draws * sizeof *value);
}

static struct cuda_list list(struct taking *taking, enum cuda_parameter ids, enum cuda_parameter offsets,
                             const struct host_lists *from)
{
    const size_t draws = (size_t)taking->request->draws;
    if (!from->offset || from->offset[draws] == 0)
        return (struct cuda_list){NULL, NULL};
    return (struct cuda_list){sent(taking, ids, from->id, (size_t)from->offset[draws] * sizeof *from->id),
                              sent(taking, offsets, from->offset, (draws + 1) * sizeof *from->offset)};
}

static enum sampler_status filter_status(const struct filter_parameters *filter)
{
    switch (filter_parameters_check(filter)) {
    case FILTER_BAD_TOP_K:
        return SAMPLER_BAD_TOP_K;
    case FILTER_BAD_TOP_P:
        return SAMPLER_BAD_TOP_P;
    case FILTER_BAD_MIN_P:
        return SAMPLER_BAD_MIN_P;
    default:
        return SAMPLER_OK;
    }
}

static enum sampler_status edit_status(const struct host_request *request, int64_t row, int64_t draw)
{
    struct penalties penalties;
    builtin_penalties(request, row, draw, &penalties);
    switch (penalties_check(&penalties, (size_t)request->columns)) {
    case PENALTY_BAD_PENALTY:
        return SAMPLER_BAD_PENALTY;
    case PENALTY_BAD_TOKEN:
        return SAMPLER_BAD_TOKEN;
    case PENALTY_BAD_MIN_TOKENS:
        return SAMPLER_BAD_MIN_TOKENS;
    default:
        return SAMPLER_OK;
    }
}

/* -1 with why: a draw asks for what is no value. *filtered: a draw's filters do something. */
static int draws_check(const struct host_request *request, bool *filtered, struct host_text *why)
{
    *filtered = false;
    for (int64_t d = 0; d < request->draws; d++) {
        const float temperature = (float)host_request_temperature(request, d);
        const struct filter_parameters filter = {host_integer(&request->top_k, d, -1),
                                                 host_number(&request->top_p, d, 1),
                                                 host_number(&request->min_p, d, 0)};
        enum sampler_status status = kernel_weight_valid(temperature) ? SAMPLER_OK : SAMPLER_BAD_TEMPERATURE;
        if (status == SAMPLER_OK)
            status = filter_status(&filter);
        if (status == SAMPLER_OK && request->options & BUILTIN_EDITS)
            status = edit_status(request, request->row_index ? request->row_index[d] : 0, d);
        if (status != SAMPLER_OK) {
            host_say(why, "draw %" PRId64 ": cuda: %s", d, sampler_status_text(status));
            return -1;
        }
        *filtered |= filter.top_k > 0 || filter.top_p < 1 || filter.min_p > 0;
    }
    return 0;
}

static void edits_take(struct taking *taking, const struct penalty_rule *rule, struct cuda_edits *edits)
{
    const struct host_request *const request = taking->request;
    const size_t cells = (size_t)request->rows * (size_t)request->columns;
    edits->on = 1;
    edits->counts_prompt = rule->counts_prompt;
    for (size_t s = 0; s < sizeof rule->step / sizeof *rule->step; s++)
        edits->step[s] = (int32_t)rule->step[s];
    edits->repetition = floats(taking, CUDA_REPETITION, &request->repetition_penalty, 1);
    edits->frequency = floats(taking, CUDA_FREQUENCY, &request->frequency_penalty, 0);
    edits->presence = floats(taking, CUDA_PRESENCE, &request->presence_penalty, 0);
    edits->min_tokens = integers(taking, CUDA_LEAST_TOKENS, &request->min_tokens, 0);
    edits->prompt = list(taking, CUDA_PROMPT, CUDA_PROMPT_OFFSET, &request->prompt);
    edits->output = list(taking, CUDA_OUTPUT, CUDA_OUTPUT_OFFSET, &request->output);
    edits->stop = list(taking, CUDA_STOP, CUDA_STOP_OFFSET, &request->stop);
    edits->logit_bias = sent(taking, CUDA_BIAS, request->logit_bias, cells * sizeof *request->logit_bias);
    edits->allowed = sent(taking, CUDA_ALLOWED, request->allowed, cells);
}

/* A row's first draw decides what is kept of it. */
static void kept_take(struct taking *taking, struct cuda_draws *chunk)
{
    const struct host_request *const request = taking->request;
    const size_t cells = (size_t)request->rows * (size_t)request->columns;
    uint8_t *here = values_of(taking, CUDA_KEPT_HERE, sizeof *here);
    uint8_t *seen = host_memory(calloc((size_t)request->rows, sizeof *seen));
    for (int64_t d = 0; d < request->draws; d++) {
        const int64_t row = request->row_index ? request->row_index[d] : 0;
        here[d] = !seen[row];
        seen[row] = 1;
    }
    free(seen);
    chunk->kept_here = sent(taking, CUDA_KEPT_HERE, here, (size_t)request->draws);
    if (sent(taking, CUDA_KEPT, request->kept, cells))
        chunk->kept = taking->parameters->room[CUDA_KEPT].memory;
}

int cuda_parameters_take(struct cuda_parameters *parameters, const struct host_request *request,
                         const struct filter_rule *filters, const struct penalty_rule *penalties,
                         void *stream, struct cuda_draws *chunk, struct host_text *why)
{
    struct taking taking = {parameters, request, stream, why, false};
    bool filtered;
    if (draws_check(request, &filtered, why))
        return -1;
    if (request->options & SAMPLEGATE_TEMPERATURE) {
        const struct host_numbers temperature = {request->temperature, request->temperatures};
        chunk->temperature = floats(&taking, CUDA_TEMPERATURE, &temperature, 1);
    }
    if (filtered) {
        chunk->filters.top_k = integers(&taking, CUDA_TOP_K, &request->top_k, -1);
        chunk->filters.top_p = doubles(&taking, CUDA_TOP_P, &request->top_p, 1);
        chunk->filters.min_p = doubles(&taking, CUDA_MIN_P, &request->min_p, 0);
        chunk->filters.rule = *filters;
    }
    if (request->options & BUILTIN_EDITS)
        edits_take(&taking, penalties, &chunk->edits);
    if (request->kept)
        kept_take(&taking, chunk);
    return taking.failed ? -1 : 0;
}

void cuda_parameters_passed(struct cuda_parameters *parameters)
{
    for (int p = 0; p < CUDA_PARAMETERS; p++) {
        free(parameters->host[p]);
        parameters->host[p] = NULL;
    }
}

void cuda_parameters_free(struct cuda_parameters *parameters)
{
    cuda_parameters_passed(parameters);
    for (int p = 0; p < CUDA_PARAMETERS; p++)
        room_free(&parameters->room[p]);
}

#define FROM(array) ((array) ? (array) + first : NULL)

struct cuda_draws cuda_parameters_part(const struct cuda_parameters *parameters,
                                       const struct cuda_draws *chunk, int64_t first, int64_t draws)
{
    struct cuda_draws call = *chunk;
    call.draws = draws;
    call.row_index = FROM(chunk->row_index);
    call.temperature = FROM(chunk->temperature);
    call.noise = chunk->noise ? chunk->noise + first * chunk->vocab : NULL;
    call.seeds = FROM(chunk->seeds);
    call.positions = FROM(chunk->positions);
    call.first_position = (uint64_t)first;
    call.token = chunk->token + first;
    call.filters.top_k = FROM(chunk->filters.top_k);
    call.filters.top_p = FROM(chunk->filters.top_p);
    call.filters.min_p = FROM(chunk->filters.min_p);
    call.edits.repetition = FROM(chunk->edits.repetition);
    call.edits.frequency = FROM(chunk->edits.frequency);
    call.edits.presence = FROM(chunk->edits.presence);
    call.edits.min_tokens = FROM(chunk->edits.min_tokens);
    call.edits.prompt.offset = FROM(chunk->edits.prompt.offset);
    call.edits.output.offset = FROM(chunk->edits.output.offset);
    call.edits.stop.offset = FROM(chunk->edits.stop.offset);
    /* A kept set costs a row more than a draw does: not asked for where no draw decides one. */
    const uint8_t *const here = parameters->host[CUDA_KEPT_HERE];
    bool any = false;
    for (int64_t d = first; chunk->kept && d < first + draws; d++)
        any |= here[d];
    call.kept = any ? chunk->kept : NULL;
    call.kept_here = any ? chunk->kept_here + first : NULL;
    return call;
}
