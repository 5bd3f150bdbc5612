/* reference.c: the built-in samplers of kernels/ behind the host.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/builtin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


static const char reference_contract[] =
    "{\"rule\": \"%s\", \"rng_keying\": \"seed, position, %s\", \"bitwise\": \"any device\", "
    "\"tie_rule\": \"lowest %s\", \"filters\": \"%s\", \"penalties\": \"%s\"%s}";
/* True of every rule but torch-race and seeded-2025, which give a NaN its win, as the engine's lines do. */
static const char of_valid_weights[] = ", \"nan_policy\": \"never drawn\", \"weights\": \"any scale\"";

/* How this instance samples. */
struct reference {
    enum sampler_rule rule;
    const struct filter_rule *filter_rule;
    const struct penalty_rule *penalty_rule;
    int seeded_by_rank;
    bool probabilities_first;
    /* While it is timed: under which rule, what, and where the tokens go. */
    enum sampler_rule timed_rule;
    const struct host_request *timed;
    int32_t *token;
};

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

/* The row of one draw under its parameters. NULL with why. */
static struct sampler_row *row_of_draw(const struct reference *reference, const struct host_request *request,
                                       int64_t draw, float *wide, struct host_text *why)
{
    const int64_t row = request->row_index ? request->row_index[draw] : 0;
    struct sampler_parameters parameters = sampler_parameters_none();
    struct penalties penalties;
    enum sampler_status status;
    parameters.temperature = host_request_temperature(request, draw);
    parameters.filter.top_k = host_integer(&request->top_k, draw, -1);
    parameters.filter.top_p = host_number(&request->top_p, draw, 1);
    parameters.filter.min_p = host_number(&request->min_p, draw, 0);
    parameters.filter_rule = reference->filter_rule;
    parameters.penalty_rule = reference->penalty_rule;
    parameters.seeded_by_rank = reference->seeded_by_rank;
    if (request->options & BUILTIN_EDITS) {
        builtin_penalties(request, row, draw, &penalties);
        parameters.penalties = &penalties;
    }
    struct sampler_row *made = sampler_row_make(
        reference->rule, request->kind == SAMPLEGATE_LOGITS ? SAMPLER_LOGITS : SAMPLER_PROBABILITIES,
        builtin_row(request, row, wide), (size_t)request->columns, &parameters, &status);
    if (!made)
        host_say(why, "draw %" PRId64 ": the reference: %s", draw, sampler_status_text(status));
    return made;
}

/* One draw of each of successive rows, and nothing asked of them: what a decode step has. */
static bool rows_in_turn(const struct reference *reference, const struct host_request *request)
{
    const bool rule = reference->rule == RULE_RACE || reference->rule == RULE_GUMBEL ||
                      (reference->rule == RULE_SEEDED && !reference->seeded_by_rank);
    if (!rule || request->options != SAMPLEGATE_TAKES_PROBABILITIES || request->dtype != SAMPLEGATE_F32 ||
        !request->row_index)
        return false;
    for (int64_t d = 1; d < request->draws; d++)
        if (request->row_index[d] != request->row_index[0] + d)
            return false;
    return true;
}

static enum host_answer reference_sample(void *self, const struct host_request *request, int32_t *token,
                                         struct host_text *why)
{
    const struct reference *reference = self;
    const uint64_t edits = request->options & (BUILTIN_EDITS | SAMPLEGATE_TEMPERATURE);
    if (request->kind == SAMPLEGATE_PROBABILITIES && edits) {
        char words[256];
        host_option_words(edits, words, sizeof words);
        host_say(why, "the reference takes no %s with probabilities", words);
        return HOST_UNSUPPORTED;
    }
    if (rows_in_turn(reference, request)) {
        const float *first =
            (const float *)request->values + (size_t)request->row_index[0] * (size_t)request->row_stride;
        const enum sampler_status status =
            sampler_draw_rows(reference->rule, first, (size_t)request->draws, (size_t)request->columns,
                              (size_t)request->row_stride, request->seed, 0, token);
        if (status == SAMPLER_OK)
            return HOST_TOKENS;
        host_say(why, "the reference: %s", sampler_status_text(status));
        return HOST_ERROR;
    }
    enum host_answer answer = HOST_TOKENS;
    struct host_group *group = NULL;
    const int64_t groups = host_groups(request, &group);
    float *wide = host_memory(malloc((size_t)request->columns * sizeof *wide));
    for (int64_t g = 0; g < groups && answer == HOST_TOKENS; g++) {
        struct sampler_row *row = row_of_draw(reference, request, group[g].draw[0], wide, why);
        if (!row) {
            answer = HOST_ERROR;
            break;
        }
        for (int64_t i = 0, count; i < group[g].draws; i += count) {
            for (count = 1;
                 i + count < group[g].draws && group[g].draw[i + count] == group[g].draw[i] + count;)
                count++;
            draw_run(request, row, group[g].draw[i], count, token);
        }
        if (request->kept && group[g].first_of_row)
            sampler_row_kept(row, request->kept + group[g].row * request->columns);
        sampler_row_free(row);
    }
    free(wide);
    host_groups_free(group);
    return answer;
}

static enum host_answer reference_time_begin(void *self, const struct host_request *request, const char *rule,
                                             struct host_text *why)
{
    struct reference *reference = self;
    const int found = rule ? sampler_rule_of(rule) : (int)reference->rule;
    if (found < 0) {
        host_say(why, "time: the reference has no rule '%.64s'", rule);
        return HOST_UNSUPPORTED;
    }
    reference->timed_rule = (enum sampler_rule)found;
    reference->timed = request;
    reference->token = host_memory(malloc((size_t)request->draws * sizeof *reference->token));
    return HOST_TOKENS;
}

/* From the values as they lie to the tokens: the row is prepared anew each time, as a decode step has it. */
static enum host_answer reference_time_call(void *self, uint64_t index, struct host_text *why)
{
    struct reference once = *(struct reference *)self;
    struct host_request request = *once.timed;
    once.rule = once.timed_rule;
    once.seeded_by_rank = once.rule == RULE_SEEDED && once.seeded_by_rank;
    request.seed += index;
    return reference_sample(&once, &request, once.token, why);
}

static enum host_answer reference_time_end(void *self, int32_t *token, struct host_text *why)
{
    struct reference *reference = self;
    (void)why;
    memcpy(token, reference->token, (size_t)reference->timed->draws * sizeof *token);
    free(reference->token);
    reference->token = NULL;
    return HOST_TOKENS;
}

static int reference_option(struct reference *reference, const char *option, struct host_text *why)
{
    if (strncmp(option, "filters=", 8) == 0)
        return builtin_filter_rule(option + 8, &reference->filter_rule, why);
    if (strncmp(option, "penalties=", 10) == 0)
        return builtin_penalty_rule(option + 10, &reference->penalty_rule, why);
    if (strcmp(option, "values=logits") == 0 || strcmp(option, "values=probabilities") == 0)
        reference->probabilities_first = strcmp(option, "values=probabilities") == 0;
    else if (strcmp(option, "noise=id") == 0 || strcmp(option, "noise=rank") == 0)
        reference->seeded_by_rank = strcmp(option, "noise=rank") == 0;
    else {
        host_say(why,
                 "option '%.128s' is not known to the reference; known: values=logits, values=probabilities, "
                 "filters=RULE, penalties=RULE, noise=id, noise=rank",
                 option);
        return -1;
    }
    if (!reference->seeded_by_rank || reference->rule == RULE_SEEDED)
        return 0;
    host_say(why, "noise=rank is for the rule seeded only");
    return -1;
}

/* What the hello says, and the capabilities. */
static void reference_hello(struct host_sut *sut, const struct reference *reference, const char *isa)
{
    const enum sampler_rule rule = reference->rule;
    char text[512];
    snprintf(text, sizeof text, "reference:%s", sampler_rule_name(rule));
    frame_set(&sut->hello, "name", text);
    frame_set(&sut->hello, "version", HOST_VERSION);
    snprintf(text, sizeof text, "cpu %s", isa);
    frame_set(&sut->hello, "device", text);
    frame_set(&sut->hello, "dtype", "f32");
    snprintf(text, sizeof text, reference_contract, sampler_rule_name(rule),
             reference->seeded_by_rank ? "rank" : "column", reference->seeded_by_rank ? "rank" : "id",
             reference->filter_rule->name, reference->penalty_rule->name,
             rule == RULE_TORCH_RACE || rule == RULE_SEEDED_2025 ? "" : of_valid_weights);
    frame_set(&sut->hello, "contract", text);
    sut->capabilities = SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES | SAMPLEGATE_TEMPERATURE |
                        SAMPLEGATE_SEEDED | BUILTIN_FILTERS | BUILTIN_EDITS;
    if (rule == RULE_RACE || rule == RULE_GUMBEL || rule == RULE_TORCH_RACE)
        sut->capabilities |= SAMPLEGATE_NOISE_IN;
    host_hello_capabilities(sut, reference->probabilities_first);
    builtin_times(sut, rule);
    host_hello_build(sut);
    frame_set(&sut->hello, "version:isa", isa);
}

int host_reference_open(struct host_sut *sut, const char *word, char **options, int count,
                        struct host_text *why)
{
    struct reference reference = {.filter_rule = filter_rule_at(0), .penalty_rule = penalty_rule_at(0)};
    if (builtin_rule(word, &reference.rule, why))
        return -1;
    for (int i = 0; i < count; i++)
        if (reference_option(&reference, options[i], why))
            return -1;
    const char *isa = sampler_isa();
    if (!isa) {
        host_say(why, "SAMPLEGATE_ISA=%.32s is unknown or not on this machine; known: baseline avx2 avx512",
                 getenv("SAMPLEGATE_ISA"));
        return -1;
    }
    reference_hello(sut, &reference, isa);
    struct reference *self = host_memory(malloc(sizeof *self));
    *self = reference;
    sut->self = self;
    sut->sample = reference_sample;
    sut->timed = (struct host_timed){
        .begin = reference_time_begin, .call = reference_time_call, .end = reference_time_end};
    sut->close = free;
    return builtin_file(sut, why);
}
