/* builtin.c: what the samplers of kernels/ have in common, on the CPU and on a GPU.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/builtin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    size_t columns = (size_t)request->columns, start = (size_t)row * (size_t)request->row_stride;
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
        char known[256] = "";
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

void builtin_times(struct host_sut *sut, enum sampler_rule rule)
{
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", sampler_rule_name(rule));
    for (int i = 0; i < RULE_COUNT && used < sizeof text; i++)
        if (i != (int)rule)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s",
                                     sampler_rule_name((enum sampler_rule)i));
    frame_set(&sut->hello, "times", text);
}

int builtin_file(struct host_sut *sut, struct host_text *why)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return 0; /* no /proc: the hello carries no hash, and says so by its absence */
    path[length] = '\0';
    return host_hello_file(sut, path, why);
}
