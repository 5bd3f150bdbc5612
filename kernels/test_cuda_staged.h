/* test_cuda_staged.h: launches under filters and edits held against the scalar definition; for tests of the CUDA kernels.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_TEST_CUDA_STAGED_H
#define SAMPLEGATE_TEST_CUDA_STAGED_H
#include "kernels/filter_scalar.h"
#include "kernels/test_cuda.h"

/* Draws of the row in `values`, each under parameters of its own. */
struct staged_case {
    enum sampler_rule rule;
    enum sampler_values kind;
    size_t vocab, draws;
    const struct filter_rule *filter_rule;
    const struct filter_parameters *parameters; /* [draws] or NULL */
    const struct penalty_rule *penalty_rule;
    const struct penalties *penalties; /* [draws] or NULL; bias and mask of all are the first's */
};

static inline struct staged_case staged_case_of(enum sampler_rule rule, enum sampler_values kind,
                                                size_t vocab)
{
    return (struct staged_case){.rule = rule, .kind = kind, .vocab = vocab};
}

#define STAGED_SEED 17u
#define STAGED_DRAWS 32

static inline float staged_temperature(const struct staged_case *at, size_t draw)
{
    return at->kind == SAMPLER_LOGITS ? 0.5f + (float)(draw % 3) / 2 : 1;
}

/* Whether filters change anything at all: else a NaN stays one. */
static inline int staged_filtered(const struct filter_parameters *filter, size_t vocab)
{
    return (filter->top_k > 0 && (uint64_t)filter->top_k < vocab) || filter->top_p < 1 || filter->min_p > 0;
}

/* The token of a draw by the definition, and its kept set in kept[vocab]. -1 and nothing kept if a parameter is bad. */
static inline int32_t staged_definition(const struct staged_case *at, size_t draw, uint8_t *kept)
{
    static float logits[VOCAB_MAX], row[VOCAB_MAX];
    const struct filter_parameters off = {-1, 1, 0};
    const struct filter_parameters *filter = at->parameters ? &at->parameters[draw] : &off;
    const int greedy = at->rule == RULE_GREEDY;
    float temperature = greedy ? 1 : staged_temperature(at, draw);
    memset(kept, 0, at->vocab);
    if (filter_parameters_check(filter) != FILTER_OK)
        return SAMPLER_INVALID_ROW;
    const int filtered = !greedy && staged_filtered(filter, at->vocab);
    const int last = filtered && at->kind == SAMPLER_LOGITS && at->filter_rule->temperature_last;
    memcpy(logits, values, at->vocab * sizeof *logits);
    if (at->penalties) {
        if (penalty_row(at->penalty_rule, &at->penalties[draw], last ? 1 : temperature, logits, at->vocab) !=
            PENALTY_OK)
            return SAMPLER_INVALID_ROW;
        temperature = last ? temperature : 1;
    }
    memcpy(row, values, at->vocab * sizeof *row);
    memcpy(values, logits, at->vocab * sizeof *values); /* the definition's greedy looks there */
    weights_fill(greedy ? SAMPLER_PROBABILITIES : at->kind, at->vocab, last ? 1.0 : (double)temperature);
    int32_t token = ROW_KINDS; /* to be drawn */
    if (filtered && filter_row_scalar(at->filter_rule, filter, weights, at->vocab, kept) == FILTER_NO_WEIGHT)
        token = SAMPLER_INVALID_ROW;
    else if (last) {
        for (size_t i = 0; i < at->vocab; i++)
            values[i] = kept[i] ? values[i] : -INFINITY;
        weights_fill(SAMPLER_LOGITS, at->vocab, (double)temperature);
    } else {
        for (size_t i = 0; i < at->vocab; i++) {
            log_weights[i] = seeded_log(weights[i]);
            log_weights_2025[i] = seeded_2025_log(weights[i]);
        }
    }
    noise_fill(STAGED_SEED, draw, at->vocab);
    if (token != SAMPLER_INVALID_ROW)
        token = token_of_definition(at->rule, at->kind, at->vocab, STAGED_SEED, draw);
    for (size_t i = 0; i < at->vocab; i++)
        kept[i] = greedy                         ? (int32_t)i == token
                  : token == SAMPLER_INVALID_ROW ? 0
                                                 : (uint8_t)kernel_weight_valid(weights[i]);
    memcpy(values, row, at->vocab * sizeof *values);
    return token;
}

/* A list a draw: ids and offsets, owned by the caller. */
static inline struct cuda_list staged_list(const struct staged_case *at, size_t which)
{
    int64_t *id = malloc(STAGED_DRAWS * 16 * sizeof *id), *offset = malloc((at->draws + 1) * sizeof *offset);
    assert_true(id && offset);
    offset[0] = 0;
    for (size_t d = 0; d < at->draws; d++) {
        const struct penalties *p = &at->penalties[d];
        const int64_t *const from = which == 0 ? p->prompt : which == 1 ? p->output : p->stop;
        const size_t count = which == 0 ? p->prompt_tokens : which == 1 ? p->output_tokens : p->stops;
        assert_true(count <= 16);
        if (count)
            memcpy(id + offset[d], from, count * sizeof *id);
        offset[d + 1] = offset[d] + (int64_t)count;
    }
    return (struct cuda_list){id, offset};
}

/* The arrays of a launch. */
struct staged_arrays {
    int64_t top_k[STAGED_DRAWS], min_tokens[STAGED_DRAWS];
    double top_p[STAGED_DRAWS], min_p[STAGED_DRAWS];
    float temperature[STAGED_DRAWS], repetition[STAGED_DRAWS], frequency[STAGED_DRAWS],
        presence[STAGED_DRAWS];
    int32_t row_index[STAGED_DRAWS], token[STAGED_DRAWS];
    uint8_t here[STAGED_DRAWS];
};

static inline struct cuda_draws staged_call(const struct staged_case *at, struct staged_arrays *arrays)
{
    assert_true(at->draws <= STAGED_DRAWS);
    struct cuda_draws call = {.rule = (int32_t)at->rule,
                              .kind = (int32_t)at->kind,
                              .rows = (int64_t)at->draws,
                              .vocab = (int64_t)at->vocab,
                              .row_stride = 0, /* every row is the one in `values` */
                              .draws = (int64_t)at->draws,
                              .row_index = arrays->row_index,
                              .temperature = at->kind == SAMPLER_LOGITS ? arrays->temperature : NULL,
                              .seed = STAGED_SEED,
                              .token = arrays->token,
                              .kept_here = arrays->here};
    for (size_t d = 0; d < at->draws; d++) {
        arrays->row_index[d] = (int32_t)d;
        arrays->temperature[d] = staged_temperature(at, d);
        arrays->here[d] = 1;
        if (at->parameters) {
            arrays->top_k[d] = at->parameters[d].top_k;
            arrays->top_p[d] = at->parameters[d].top_p;
            arrays->min_p[d] = at->parameters[d].min_p;
        }
        if (at->penalties) {
            arrays->repetition[d] = (float)at->penalties[d].repetition;
            arrays->frequency[d] = (float)at->penalties[d].frequency;
            arrays->presence[d] = (float)at->penalties[d].presence;
            arrays->min_tokens[d] = at->penalties[d].min_tokens;
        }
    }
    if (at->parameters)
        call.filters = (struct cuda_filters){arrays->top_k, arrays->top_p, arrays->min_p, {0}};
    if (at->filter_rule)
        call.filters.rule = *at->filter_rule;
    return call;
}

/* The functions of cuda.h, linked or loaded. */
struct cuda_functions {
    const char *(*draw)(const struct cuda_draws *, void *);
    const char *(*workspace_new)(struct cuda_workspace *, int64_t, int64_t);
    void (*workspace_free)(struct cuda_workspace *);
};

/* One launch of the case with three draws in work at a time, each on its own copy of the row: how many tokens and ids of
 * kept sets are not the definition's, and the first of them in text[200]. */
static inline size_t staged_wrong(const struct staged_case *at, const struct cuda_functions *cuda, char *text)
{
    struct staged_arrays arrays;
    struct cuda_draws call = staged_call(at, &arrays);
    const size_t stride = at->vocab + 3, cells = at->draws * at->vocab;
    float *tensor = malloc(at->draws * stride * sizeof *tensor), *bias = NULL;
    uint8_t *kept = malloc(cells), *expected = malloc(cells), *allowed = NULL;
    assert_true(tensor && kept && expected);
    for (size_t d = 0; d < at->draws; d++)
        memcpy(tensor + d * stride, values, at->vocab * sizeof *values);
    call.values = tensor;
    call.row_stride = (int64_t)stride;
    call.kept = kept;
    if (at->penalties) {
        call.edits = (struct cuda_edits){.on = 1,
                                         .counts_prompt = at->penalty_rule->counts_prompt,
                                         .repetition = arrays.repetition,
                                         .frequency = arrays.frequency,
                                         .presence = arrays.presence,
                                         .min_tokens = arrays.min_tokens,
                                         .prompt = staged_list(at, 0),
                                         .output = staged_list(at, 1),
                                         .stop = staged_list(at, 2)};
        for (size_t s = 0; s < COUNT(call.edits.step); s++)
            call.edits.step[s] = (int32_t)at->penalty_rule->step[s];
        if (at->penalties[0].allowed) {
            bias = malloc(cells * sizeof *bias);
            allowed = malloc(cells);
            assert_true(bias && allowed);
            for (size_t d = 0; d < at->draws; d++) {
                memcpy(bias + d * at->vocab, at->penalties[0].logit_bias, at->vocab * sizeof *bias);
                memcpy(allowed + d * at->vocab, at->penalties[0].allowed, at->vocab);
            }
            call.edits.logit_bias = bias;
            call.edits.allowed = allowed;
        }
    }
    assert_null(cuda->workspace_new(&call.workspace, call.draws, call.vocab));
    call.workspace.stages = call.workspace.stages < 3 ? call.workspace.stages : 3;
    memset(arrays.token, 0x55, sizeof arrays.token);
    memset(kept, 0x55, cells);
    size_t wrong = 0;
    const char *why = cuda->draw(&call, NULL);
    if (why) {
        snprintf(text, 200, "%s", why);
        wrong = cells;
    }
    for (size_t d = 0; d < at->draws && !why; d++) {
        const int32_t token = staged_definition(at, d, expected);
        const char *name = at->filter_rule ? at->filter_rule->name : "no filter";
        if (arrays.token[d] != token && !wrong++)
            snprintf(text, 200, "%s, draw %zu: token %d, by definition %d", name, d, arrays.token[d], token);
        for (size_t i = 0; i < at->vocab; i++)
            if (kept[d * at->vocab + i] != expected[i] && !wrong++)
                snprintf(text, 200, "%s, draw %zu, id %zu: kept %d, by definition %d", name, d, i,
                         kept[d * at->vocab + i], expected[i]);
    }
    cuda->workspace_free(&call.workspace);
    free((void *)(uintptr_t)call.edits.prompt.id);
    free((void *)(uintptr_t)call.edits.prompt.offset);
    free((void *)(uintptr_t)call.edits.output.id);
    free((void *)(uintptr_t)call.edits.output.offset);
    free((void *)(uintptr_t)call.edits.stop.id);
    free((void *)(uintptr_t)call.edits.stop.offset);
    free(allowed);
    free(bias);
    free(expected);
    free(kept);
    free(tensor);
    return wrong;
}
#endif
