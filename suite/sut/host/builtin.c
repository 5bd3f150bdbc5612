/* builtin.c: what the samplers of kernels/ have in common, on the CPU and on a GPU.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/builtin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* True of every rule but torch-race, which gives a NaN its win, as the nine lines do. */
static const char contract[] =
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

const float *builtin_row(const struct host_request *request, int64_t row, float *wide)
{
    size_t columns = (size_t)request->columns, start = (size_t)row * columns;
    if (request->dtype == SAMPLEGATE_F32)
        return (const float *)request->values + start;
    const uint16_t *narrow = (const uint16_t *)request->values + start;
    for (size_t i = 0; i < columns; i++)
        wide[i] = request->dtype == SAMPLEGATE_F16 ? widen_f16(narrow[i]) : widen_bf16(narrow[i]);
    return wide;
}

int builtin_rule(const char *word, enum sampler_rule *rule, struct host_text *why)
{
    const char *colon = strchr(word, ':');
    const char *name = colon ? colon + 1 : "race";
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

int builtin_options(const char *word, char **options, int count, bool *probabilities_first,
                    struct host_text *why)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(options[i], "values=logits") == 0)
            *probabilities_first = false;
        else if (strcmp(options[i], "values=probabilities") == 0)
            *probabilities_first = true;
        else {
            host_say(why, "option '%.128s' is not known to %s; known: values=logits, values=probabilities",
                     options[i], strncmp(word, "cuda", 4) == 0 ? "cuda" : "the reference");
            return -1;
        }
    }
    return 0;
}

int builtin_hello(struct host_sut *sut, enum sampler_rule rule, bool noise, bool probabilities_first,
                  struct host_text *why)
{
    frame_set(&sut->hello, "version", HOST_VERSION);
    frame_set(&sut->hello, "dtype", "f32");
    frame_set(&sut->hello, "contract", rule == RULE_TORCH_RACE ? "{}" : contract);
    sut->capabilities =
        SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TEMPERATURE | SAMPLEGATE_SEEDED;
    if (noise)
        sut->capabilities |= SAMPLEGATE_NOISE_IN;
    host_hello_capabilities(sut, probabilities_first);
    host_hello_build(sut);
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return 0; /* no /proc: the hello carries no hash, and says so by its absence */
    path[length] = '\0';
    return host_hello_file(sut, path, why);
}
