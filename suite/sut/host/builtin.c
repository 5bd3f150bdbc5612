/* builtin.c: what the samplers of kernels/ have in common, on the CPU and on a GPU.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/builtin.h"
#include "kernels/narrow.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)NARROW_NOT == SAMPLEGATE_F32 && (int)NARROW_F16 == SAMPLEGATE_F16 &&
                   (int)NARROW_BF16 == SAMPLEGATE_BF16,
               "narrow.h has the dtypes of the ABI");

const float *builtin_row(const struct host_request *request, int64_t row, float *wide)
{
    size_t columns = (size_t)request->columns, start = (size_t)row * (size_t)request->row_stride;
    if (request->dtype == SAMPLEGATE_F32)
        return (const float *)request->values + start;
    for (size_t i = 0; i < columns; i++)
        wide[i] = narrow_value(request->values, (int32_t)request->dtype, start + i);
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

int builtin_filter_rule(const char *name, const struct filter_rule **rule, struct host_text *why)
{
    *rule = filter_rule_of(name);
    if (*rule)
        return 0;
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; filter_rule_at(i) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", filter_rule_at(i)->name);
    host_say(why, "filters=%.64s is not known; known:%s", name, known);
    return -1;
}

int builtin_penalty_rule(const char *name, const struct penalty_rule **rule, struct host_text *why)
{
    *rule = penalty_rule_of(name);
    if (*rule)
        return 0;
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; penalty_rule_at(i) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", penalty_rule_at(i)->name);
    host_say(why, "penalties=%.64s is not known; known:%s", name, known);
    return -1;
}

static void list_of_draw(const struct host_lists *lists, int64_t draw, const int64_t **id, size_t *count)
{
    *id = lists->offset ? lists->id + lists->offset[draw] : NULL;
    *count = lists->offset ? (size_t)(lists->offset[draw + 1] - lists->offset[draw]) : 0;
}

void builtin_penalties(const struct host_request *request, int64_t row, int64_t draw,
                       struct penalties *penalties)
{
    *penalties = penalties_none();
    penalties->repetition = host_number(&request->repetition_penalty, draw, 1);
    penalties->frequency = host_number(&request->frequency_penalty, draw, 0);
    penalties->presence = host_number(&request->presence_penalty, draw, 0);
    penalties->min_tokens = host_integer(&request->min_tokens, draw, 0);
    list_of_draw(&request->prompt, draw, &penalties->prompt, &penalties->prompt_tokens);
    list_of_draw(&request->output, draw, &penalties->output, &penalties->output_tokens);
    list_of_draw(&request->stop, draw, &penalties->stop, &penalties->stops);
    penalties->logit_bias = request->logit_bias ? request->logit_bias + row * request->columns : NULL;
    penalties->allowed = request->allowed ? request->allowed + row * request->columns : NULL;
}
