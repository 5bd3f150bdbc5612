/* filter.c: the filters of one row in the order of a rule, and the rules of engines by name.
 * SPDX-License-Identifier: MIT */
#include "kernels/filter.h"
#include <string.h>
#include "kernels/filter_scalar.h"

/* What the engines' sources do, in exact arithmetic; where an engine sorts with an unstable sort, its ties
 * may fall otherwise. */
static const struct filter_rule rules[] = {
    /* SGLang, backend pytorch: one descending sort, ranks below k, (cumulative - own) > p dropped. */
    {"sglang-pytorch", FILTER_TIES_LOWEST, FILTER_TIES_LOWEST, FILTER_AT_MOST, FILTER_JOINT, 0, 0},
    /* FlashInfer's rejection sampler, as SGLang calls it without min_p: counts and masses of larger weights.
     */
    {"flashinfer-joint", FILTER_TIES_ALL, FILTER_TIES_ALL, FILTER_BELOW, FILTER_JOINT, 0, 0},
    /* FlashInfer's renorm kernels one after the other: its own default, and SGLang's with min_p. */
    {"flashinfer-top-k-first", FILTER_TIES_ALL, FILTER_TIES_ALL, FILTER_BELOW, FILTER_TOP_K_FIRST, 0, 0},
    /* vLLM 0.5.0 (ascending sort, softmax after top_k, min_p at the end), and the same as HF warpers. */
    {"vllm-0.5.0", FILTER_TIES_ALL, FILTER_TIES_HIGHEST, FILTER_BELOW, FILTER_TOP_K_FIRST, 0, 0},
    {"hf-transformers", FILTER_TIES_ALL, FILTER_TIES_HIGHEST, FILTER_BELOW, FILTER_TOP_K_FIRST, 0, 0},
    /* vLLM's V1 engine, sort path: min_p moved to the front. */
    {"vllm-v1", FILTER_TIES_ALL, FILTER_TIES_HIGHEST, FILTER_BELOW, FILTER_TOP_K_FIRST, 1, 0},
    /* llama.cpp's default chain: partial sort, stop once the cumulative mass reaches p, temperature last. */
    {"llama.cpp", FILTER_TIES_LOWEST, FILTER_TIES_LOWEST, FILTER_BELOW, FILTER_TOP_K_FIRST, 0, 1},
    /* TensorRT-LLM: its torch sampler; its C++ kernels, which walk u p S down the sorted row. */
    {"tensorrt-llm-torch", FILTER_TIES_ALL, FILTER_TIES_LOWEST, FILTER_AT_MOST, FILTER_TOP_K_FIRST, 0, 0},
    {"tensorrt-llm-cpp", FILTER_TIES_LOWEST, FILTER_TIES_LOWEST, FILTER_SPLIT, FILTER_TOP_K_FIRST, 0, 0},
};

const struct filter_rule *filter_rule_at(size_t index)
{
    return index < sizeof rules / sizeof *rules ? &rules[index] : NULL;
}

const struct filter_rule *filter_rule_of(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(name, rules[i].name) == 0)
            return &rules[i];
    return NULL;
}

enum filter_status filter_parameters_check(const struct filter_parameters *parameters)
{
    if (parameters->top_k == 0 || parameters->top_k < -1)
        return FILTER_BAD_TOP_K;
    if (!(parameters->top_p > 0))
        return FILTER_BAD_TOP_P;
    if (!(parameters->min_p >= 0 && parameters->min_p <= 1))
        return FILTER_BAD_MIN_P;
    return FILTER_OK;
}

/* A row in work: the view's arrays, to be changed. */
struct work {
    struct filter_view view;
    float *weights;
    uint8_t *kept;
    size_t split;       /* the id that FILTER_SPLIT shrinks at the end, ... */
    float split_weight; /* ... to this; 0: none */
};

/* Mark what a cut drops. Ids at the pivot are counted among all that the step began with. */
static void cut_mark(struct work *work, const struct filter_cut *cut)
{
    uint64_t seen = 0;
    size_t last = 0;
    for (size_t step = 0; step < work->view.vocab; step++) {
        const size_t i = cut->ties == FILTER_TIES_HIGHEST ? work->view.vocab - 1 - step : step;
        const uint32_t bits = kernel_bits(work->weights[i]);
        if (!work->kept[i] || bits > cut->pivot)
            continue;
        if (bits < cut->pivot || seen == cut->at_pivot) {
            work->kept[i] |= FILTER_DROPPING;
            continue;
        }
        seen++;
        last = i;
    }
    if (cut->last_units) {
        work->split = last;
        work->split_weight = filter_weight_of(cut->last_units, work->view.scale);
    }
}

static void drop_marked(const struct work *work)
{
    for (size_t i = 0; i < work->view.vocab; i++)
        if (work->kept[i] & FILTER_DROPPING)
            work->kept[i] = 0;
}

static void min_p_apply(const struct work *work, double min_p, float largest)
{
    const float threshold = kernel_multiply((float)min_p, largest);
    for (size_t i = 0; i < work->view.vocab; i++)
        if (!(work->weights[i] >= threshold))
            work->kept[i] = 0;
}

/* top_k and top_p; a joint step finds both cuts before it drops anything. */
static void cuts_apply(const struct filter_rule *rule, const struct filter_parameters *parameters,
                       struct work *work)
{
    const int with_k = parameters->top_k > 0 && (uint64_t)parameters->top_k < work->view.vocab;
    const int with_p = parameters->top_p < 1;
    struct filter_cut k = {0}, p = {0};
    if (with_p && rule->order == FILTER_TOP_P_FIRST) {
        p = filter_top_p(&work->view, parameters->top_p, rule->top_p_ties, rule->boundary);
        cut_mark(work, &p);
        drop_marked(work);
    }
    if (with_k)
        k = filter_top_k(&work->view, (uint64_t)parameters->top_k, rule->top_k_ties);
    if (with_p && rule->order == FILTER_JOINT)
        p = filter_top_p(&work->view, parameters->top_p, rule->top_p_ties, rule->boundary);
    if (with_k)
        cut_mark(work, &k);
    if (with_p && rule->order == FILTER_JOINT)
        cut_mark(work, &p);
    drop_marked(work);
    if (with_p && rule->order == FILTER_TOP_K_FIRST) {
        p = filter_top_p(&work->view, parameters->top_p, rule->top_p_ties, rule->boundary);
        cut_mark(work, &p);
        drop_marked(work);
    }
}

enum filter_status filter_row(const struct filter_rule *rule, const struct filter_parameters *parameters,
                              float *weights, size_t vocab, uint8_t *kept)
{
    const enum filter_status status = filter_parameters_check(parameters);
    if (status != FILTER_OK)
        return status;
    float largest = 0;
    for (size_t i = 0; i < vocab; i++) {
        kept[i] = kernel_weight_valid(weights[i]) ? FILTER_KEPT : 0;
        if (kept[i] && weights[i] > largest)
            largest = weights[i];
    }
    if (largest > 0) {
        struct work work = {
            {weights, kept, vocab, fixed_point_scale(largest, FIXED_POINT_CDF_BITS)}, weights, kept, 0, 0};
        if (rule->min_p_first)
            min_p_apply(&work, parameters->min_p, largest);
        cuts_apply(rule, parameters, &work);
        if (!rule->min_p_first)
            min_p_apply(&work, parameters->min_p, largest);
        if (work.split_weight > 0)
            weights[work.split] = work.split_weight;
    }
    for (size_t i = 0; i < vocab; i++)
        if (!kept[i])
            weights[i] = 0;
    return largest > 0 ? FILTER_OK : FILTER_NO_WEIGHT;
}
