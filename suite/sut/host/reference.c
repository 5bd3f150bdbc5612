/* reference.c: the built-in samplers of kernels/ behind the host.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"
#include "kernels/sampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* True of every rule but torch-race and seeded-2025, which give a NaN its win, as the engine's lines do. */
static const char reference_contract[] =
    "{\"rng_keying\": \"seed, position, column\", \"bitwise\": \"any device\", \"tie_rule\": \"lowest id\", "
    "\"nan_policy\": \"never drawn\"}";

static float widen_f16(uint16_t half)
{
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    float size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                 : exponent     ? ldexpf((float)(1024 + mantissa), exponent - 25)
                                : ldexpf((float)mantissa, -24);
    return half >> 15 ? -size : size;
}

static float widen_bf16(uint16_t brain)
{
    uint32_t bits = (uint32_t)brain << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Row `row` of the request as fp32, exactly: in *wide if it had to be widened. */
static const float *row_values(const struct host_request *request, int64_t row, float *wide)
{
    size_t columns = (size_t)request->columns, start = (size_t)row * columns;
    if (request->dtype == SAMPLEGATE_F32)
        return (const float *)request->values + start;
    const uint16_t *narrow = (const uint16_t *)request->values + start;
    for (size_t i = 0; i < columns; i++)
        wide[i] = request->dtype == SAMPLEGATE_F16 ? widen_f16(narrow[i]) : widen_bf16(narrow[i]);
    return wide;
}

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
            row = sampler_row_new(rule, kind, row_values(request, draw[i].row, wide),
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

static int reference_rule(const char *word, enum sampler_rule *rule, struct host_text *why)
{
    const char *name = word[strlen("reference")] == ':' ? word + strlen("reference:") : "race";
    int found = sampler_rule_of(name);
    if (found < 0) {
        char known[128] = "";
        size_t used = 0;
        for (int i = 0; i < RULE_COUNT; i++)
            used += (size_t)snprintf(known + used, sizeof known - used, " %s",
                                     sampler_rule_name((enum sampler_rule)i));
        host_say(why, "rule '%.64s' is not known; known rules:%s", name, known);
        return -1;
    }
    *rule = (enum sampler_rule)found;
    return 0;
}

static int reference_options(char **options, int count, bool *probabilities_first, struct host_text *why)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(options[i], "values=logits") == 0)
            *probabilities_first = false;
        else if (strcmp(options[i], "values=probabilities") == 0)
            *probabilities_first = true;
        else {
            host_say(
                why,
                "option '%.128s' is not known to the reference; known: values=logits, values=probabilities",
                options[i]);
            return -1;
        }
    }
    return 0;
}

static int reference_file(struct host_sut *sut, struct host_text *why)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return 0; /* no /proc: the hello carries no hash, and says so by its absence */
    path[length] = '\0';
    return host_hello_file(sut, path, why);
}

int host_reference_open(struct host_sut *sut, const char *word, char **options, int count,
                        struct host_text *why)
{
    enum sampler_rule rule;
    bool probabilities_first = false;
    if (reference_rule(word, &rule, why) || reference_options(options, count, &probabilities_first, why))
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
    frame_set(&sut->hello, "version", HOST_VERSION);
    snprintf(text, sizeof text, "cpu %s", isa);
    frame_set(&sut->hello, "device", text);
    frame_set(&sut->hello, "dtype", "f32");
    frame_set(&sut->hello, "contract",
              rule == RULE_TORCH_RACE || rule == RULE_SEEDED_2025 ? "{}" : reference_contract);
    sut->capabilities =
        SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TEMPERATURE | SAMPLEGATE_SEEDED;
    if (rule == RULE_RACE || rule == RULE_GUMBEL || rule == RULE_TORCH_RACE)
        sut->capabilities |= SAMPLEGATE_NOISE_IN;
    host_hello_capabilities(sut, probabilities_first);
    host_hello_build(sut);
    frame_set(&sut->hello, "version:isa", isa);
    enum sampler_rule *self = host_memory(malloc(sizeof *self));
    *self = rule;
    sut->self = self;
    sut->sample = reference_sample;
    sut->close = free;
    return reference_file(sut, why);
}
