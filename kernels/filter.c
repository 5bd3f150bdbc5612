/* filter.c: the filters of one row in the order of a rule, and the rules of engines by name.
 * SPDX-License-Identifier: MIT */
#include "kernels/filter.h"
#include <string.h>
#include "kernels/select.h"

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

enum filter_status filter_row(const struct filter_rule *rule, const struct filter_parameters *parameters,
                              float *weights, size_t vocab, uint8_t *kept)
{
    return select_row(weight_loops_chosen(), rule, parameters, weights, vocab, kept);
}
