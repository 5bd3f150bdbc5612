/* penalties.c: mutants that edit logits wrongly.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

enum penalty_status mutant_prompt_counted(const struct penalties *penalties, float temperature, float *logits,
                                          size_t vocab)
{
    struct penalty_rule rule = *penalty_rule_at(0);
    rule.counts_prompt = 1;
    return penalty_row(&rule, penalties, temperature, logits, vocab);
}

static bool listed(const int64_t *ids, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Once for each time that a token has come, not once for having come. */
enum penalty_status mutant_penalty_repeated(const struct penalties *penalties, float temperature,
                                            float *logits, size_t vocab)
{
    const enum penalty_status status = penalty_row(penalty_rule_at(0), penalties, temperature, logits, vocab);
    for (size_t t = 1; status == PENALTY_OK && t < penalties->output_tokens; t++) {
        const int64_t id = penalties->output[t];
        if (listed(penalties->output, t, id))
            logits[id] = penalty_repetition(logits[id], (float)penalties->repetition);
    }
    return status;
}

/* A negative logit is divided too, which makes its token likelier. */
enum penalty_status mutant_penalty_sign(const struct penalties *penalties, float temperature, float *logits,
                                        size_t vocab)
{
    const float repetition = (float)penalties->repetition;
    for (size_t i = 0; i < vocab; i++)
        if (logits[i] < 0 && (listed(penalties->prompt, penalties->prompt_tokens, (int64_t)i) ||
                              listed(penalties->output, penalties->output_tokens, (int64_t)i)))
            logits[i] /= repetition * repetition; /* the clean edit multiplies once */
    return penalty_row(penalty_rule_at(0), penalties, temperature, logits, vocab);
}
