/* penalty.c: the edits of one row in the order of a rule, and the rules of engines by name.
 * SPDX-License-Identifier: MIT */
#include "kernels/penalty.h"
#include <stdlib.h>

static const struct penalty_rule rules[] = {
    /* Additive penalties (min_new_tokens among them), then repetition, then the grammar's mask and the bias.
     */
    {"sglang",
     {PENALTY_FREQUENCY, PENALTY_PRESENCE, PENALTY_MIN_TOKENS, PENALTY_REPETITION, PENALTY_ALLOWED,
      PENALTY_BIAS, PENALTY_TEMPERATURE},
     0},
    /* 0.5.0: bias and masks are logits processors, before everything of the sampler's own. */
    {"vllm-0.5.0",
     {PENALTY_BIAS, PENALTY_ALLOWED, PENALTY_MIN_TOKENS, PENALTY_REPETITION, PENALTY_FREQUENCY,
      PENALTY_PRESENCE, PENALTY_TEMPERATURE},
     0},
    {"vllm-v1",
     {PENALTY_ALLOWED, PENALTY_MIN_TOKENS, PENALTY_BIAS, PENALTY_REPETITION, PENALTY_FREQUENCY,
      PENALTY_PRESENCE, PENALTY_TEMPERATURE},
     0},
    /* The C++ kernels divide by the temperature first (as a product with 1 / (T + 1e-6), which is not
       copied). */
    {"tensorrt-llm-cpp",
     {PENALTY_BIAS, PENALTY_TEMPERATURE, PENALTY_REPETITION, PENALTY_PRESENCE, PENALTY_FREQUENCY,
      PENALTY_MIN_TOKENS, PENALTY_ALLOWED},
     1},
};

const struct penalty_rule *penalty_rule_at(size_t index)
{
    return index < sizeof rules / sizeof *rules ? &rules[index] : NULL;
}

const struct penalty_rule *penalty_rule_of(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(name, rules[i].name) == 0)
            return &rules[i];
    return NULL;
}

struct penalties penalties_none(void)
{
    return (struct penalties){.repetition = 1};
}

static int ids_valid(const int64_t *ids, size_t count, size_t vocab)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || (uint64_t)ids[i] >= vocab)
            return 0;
    return 1;
}

enum penalty_status penalties_check(const struct penalties *penalties, size_t vocab)
{
    if (!kernel_weight_valid((float)penalties->repetition) || !isfinite((float)penalties->frequency) ||
        !isfinite((float)penalties->presence))
        return PENALTY_BAD_PENALTY;
    if (!ids_valid(penalties->prompt, penalties->prompt_tokens, vocab) ||
        !ids_valid(penalties->output, penalties->output_tokens, vocab) ||
        !ids_valid(penalties->stop, penalties->stops, vocab))
        return PENALTY_BAD_TOKEN;
    return penalties->min_tokens < 0 ? PENALTY_BAD_MIN_TOKENS : PENALTY_OK;
}

/* counted[vocab]: what frequency and presence count; present[vocab]: what repetition sees. */
static void step_apply(enum penalty_step step, const struct penalties *penalties, float temperature,
                       const uint32_t *counted, const uint8_t *present, float *logits, size_t vocab)
{
    const float minus_infinity = kernel_float(KERNEL_INFINITY_BITS | 0x80000000u);
    if (step == PENALTY_MIN_TOKENS) {
        for (size_t s = 0; s < penalties->stops && penalties->output_tokens < (uint64_t)penalties->min_tokens;
             s++)
            logits[penalties->stop[s]] = minus_infinity;
        return;
    }
    if ((step == PENALTY_BIAS && !penalties->logit_bias) || (step == PENALTY_ALLOWED && !penalties->allowed))
        return;
    for (size_t i = 0; i < vocab; i++)
        switch (step) {
        case PENALTY_BIAS:
            logits[i] = kernel_add(logits[i], penalties->logit_bias[i]);
            break;
        case PENALTY_ALLOWED:
            logits[i] = penalties->allowed[i] ? logits[i] : minus_infinity;
            break;
        case PENALTY_TEMPERATURE:
            logits[i] = kernel_divide(logits[i], temperature);
            break;
        case PENALTY_REPETITION:
            if (present[i])
                logits[i] = penalty_repetition(logits[i], (float)penalties->repetition);
            break;
        case PENALTY_FREQUENCY:
            if (counted[i])
                logits[i] = penalty_frequency(logits[i], (float)penalties->frequency, counted[i]);
            break;
        case PENALTY_PRESENCE:
            if (counted[i])
                logits[i] = penalty_presence(logits[i], (float)penalties->presence);
            break;
        default:
            break;
        }
}

enum penalty_status penalty_row(const struct penalty_rule *rule, const struct penalties *penalties,
                                float temperature, float *logits, size_t vocab)
{
    const enum penalty_status status = penalties_check(penalties, vocab);
    if (status != PENALTY_OK)
        return status;
    uint32_t *counted = calloc(vocab, sizeof *counted);
    uint8_t *present = calloc(vocab, sizeof *present);
    if (!counted || !present) {
        free(counted);
        free(present);
        return PENALTY_NO_MEMORY;
    }
    for (size_t t = 0; t < penalties->prompt_tokens; t++) {
        present[penalties->prompt[t]] = 1;
        counted[penalties->prompt[t]] += rule->counts_prompt ? 1 : 0;
    }
    for (size_t t = 0; t < penalties->output_tokens; t++) {
        present[penalties->output[t]] = 1;
        counted[penalties->output[t]]++;
    }
    for (size_t s = 0; rule->step[s] != PENALTY_END; s++)
        step_apply(rule->step[s], penalties, temperature, counted, present, logits, vocab);
    free(counted);
    free(present);
    return PENALTY_OK;
}
