/* penalty.h: edits of a row of logits before it is sampled: bias, allowed ids, min_tokens, temperature, and
 * the three penalties, in the order of an engine, in fp32.
 *
 * repetition: l / r where l > 0, else l r, for ids in the prompt or the output. frequency: l - f c, the
 * product rounded first, c the count in the output. presence: l - p for ids in the output. An engine that
 * adds f up token by token may differ in the last place. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_PENALTY_H
#define SAMPLEGATE_PENALTY_H
#include <stddef.h>
#include "kernels/arithmetic.h"

enum penalty_step {
    PENALTY_END,
    PENALTY_BIAS,       /* l + bias */
    PENALTY_ALLOWED,    /* -inf where the mask is 0 */
    PENALTY_MIN_TOKENS, /* -inf at the stop ids while the output is shorter */
    PENALTY_TEMPERATURE,
    PENALTY_REPETITION,
    PENALTY_FREQUENCY,
    PENALTY_PRESENCE
};

/* One engine's way. */
struct penalty_rule {
    const char *name;
    enum penalty_step step[8]; /* each of the seven once, then PENALTY_END */
    int counts_prompt;         /* frequency and presence see the prompt too */
};

/* By name, NULL if unknown; and the index-th, NULL past the last. The first is the reference's own default.
 */
const struct penalty_rule *penalty_rule_of(const char *name);
const struct penalty_rule *penalty_rule_at(size_t index);

/* All arrays are borrowed; NULL and 0 where there is nothing. penalties_none() leaves a row as it is. */
struct penalties {
    double repetition, frequency, presence; /* 1, 0, 0: off */
    const int64_t *prompt, *output;         /* token ids */
    size_t prompt_tokens, output_tokens;
    const float *logit_bias; /* [vocab] */
    const uint8_t *allowed;  /* [vocab] */
    int64_t min_tokens;
    const int64_t *stop; /* ids */
    size_t stops;
};
struct penalties penalties_none(void);

enum penalty_status {
    PENALTY_OK,
    PENALTY_BAD_PENALTY,    /* repetition not positive and finite as fp32, or another not finite */
    PENALTY_BAD_TOKEN,      /* an id of prompt, output or stop outside the vocabulary */
    PENALTY_BAD_MIN_TOKENS, /* negative */
    PENALTY_NO_MEMORY
};

/* Whether penalty_row would take them. */
enum penalty_status penalties_check(const struct penalties *penalties, size_t vocab);
/* Edits logits[vocab]; temperature positive and finite as fp32. Only PENALTY_OK has changed anything. */
enum penalty_status penalty_row(const struct penalty_rule *rule, const struct penalties *penalties,
                                float temperature, float *logits, size_t vocab);

static inline KERNEL_HD float penalty_repetition(float logit, float repetition)
{
    return logit > 0 ? kernel_divide(logit, repetition) : kernel_multiply(logit, repetition);
}

static inline KERNEL_HD float penalty_frequency(float logit, float frequency, uint32_t count)
{
    return kernel_subtract(logit, kernel_multiply(frequency, (float)count));
}

static inline KERNEL_HD float penalty_presence(float logit, float presence)
{
    return kernel_subtract(logit, presence);
}
#endif
