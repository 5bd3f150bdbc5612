/* reference.c: the built-in samplers of kernels/ behind the host.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/builtin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct draw {
    int64_t index;
    int32_t row;
    double temperature;
};

static int draw_compare(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->temperature != y->temperature)
        return x->temperature < y->temperature ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The draws in an order in which those of one row and temperature follow each other, so that each row is
 * prepared once. */
static struct draw *draws_by_row(const struct host_request *request)
{
    struct draw *draw = host_memory(malloc((size_t)request->draws * sizeof *draw));
    for (int64_t d = 0; d < request->draws; d++) {
        draw[d].index = d;
        draw[d].row = request->row_index ? request->row_index[d] : 0;
        draw[d].temperature = host_request_temperature(request, d);
    }
    if (request->row_index || request->temperatures > 1)
        qsort(draw, (size_t)request->draws, sizeof *draw, draw_compare);
    return draw;
}

/* Draws first .. first + count - 1 of the chunk. Unseeded, the noise of a draw is (seed of the message, its
 * index in the chunk), whatever the call it falls into; so a whole run is drawn at once and the batch size
 * cannot matter. */
static void draw_run(const struct host_request *request, const struct sampler_row *row, int64_t first,
                     int64_t count, int32_t *token)
{
    if (request->noise)
        for (int64_t d = first; d < first + count; d++)
            token[d] = sampler_draw_with_noise(row, request->noise + d * request->columns);
    else if (request->seeds)
        sampler_draw_seeded(row, request->seeds + first, request->positions + first, (size_t)count,
                            token + first);
    else
        sampler_draw(row, request->seed, (uint64_t)first, (size_t)count, token + first);
}

static enum host_answer reference_sample(void *self, const struct host_request *request, int32_t *token,
                                         struct host_text *why)
{
    const enum sampler_rule rule = *(const enum sampler_rule *)self;
    if (request->kind == SAMPLEGATE_PROBABILITIES && request->options & SAMPLEGATE_TEMPERATURE) {
        host_say(why, "the reference takes no temperature with probabilities");
        return HOST_UNSUPPORTED;
    }
    enum sampler_values kind = request->kind == SAMPLEGATE_LOGITS ? SAMPLER_LOGITS : SAMPLER_PROBABILITIES;
    enum host_answer answer = HOST_TOKENS;
    struct draw *draw = draws_by_row(request);
    float *wide = host_memory(malloc((size_t)request->columns * sizeof *wide));
    struct sampler_row *row = NULL;
    for (int64_t i = 0; i < request->draws;) {
        if (i == 0 || draw[i].row != draw[i - 1].row || draw[i].temperature != draw[i - 1].temperature) {
            sampler_row_free(row);
            row = sampler_row_new(rule, kind, builtin_row(request, draw[i].row, wide),
                                  (size_t)request->columns, draw[i].temperature);
            if (!row) {
                host_say(why,
                         "draw %" PRId64
                         ": the reference takes rows of 1 to 2^20 values and a positive finite "
                         "temperature; this one has %" PRId64 " and %g",
                         draw[i].index, request->columns, draw[i].temperature);
                answer = HOST_ERROR;
                break;
            }
        }
        int64_t count = 1;
        while (i + count < request->draws && draw[i + count].index == draw[i].index + count &&
               draw[i + count].row == draw[i].row && draw[i + count].temperature == draw[i].temperature)
            count++;
        draw_run(request, row, draw[i].index, count, token);
        i += count;
    }
    sampler_row_free(row);
    free(wide);
    free(draw);
    return answer;
}

int host_reference_open(struct host_sut *sut, const char *word, char **options, int count,
                        struct host_text *why)
{
    enum sampler_rule rule;
    bool probabilities_first = false;
    if (builtin_rule(word, &rule, why) || builtin_options(word, options, count, &probabilities_first, why))
        return -1;
    const char *isa = sampler_isa();
    if (!isa) {
        host_say(why, "SAMPLEGATE_ISA=%.32s is unknown or not on this machine; known: baseline avx2 avx512",
                 getenv("SAMPLEGATE_ISA"));
        return -1;
    }
    char text[64];
    snprintf(text, sizeof text, "reference:%s", sampler_rule_name(rule));
    frame_set(&sut->hello, "name", text);
    snprintf(text, sizeof text, "cpu %s", isa);
    frame_set(&sut->hello, "device", text);
    frame_set(&sut->hello, "version:isa", isa);
    const bool noise = rule == RULE_RACE || rule == RULE_GUMBEL || rule == RULE_TORCH_RACE;
    enum sampler_rule *self = host_memory(malloc(sizeof *self));
    *self = rule;
    sut->self = self;
    sut->sample = reference_sample;
    sut->close = free;
    return builtin_hello(sut, rule, noise, probabilities_first, why);
}
