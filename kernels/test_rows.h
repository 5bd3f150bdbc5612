/* test_rows.h: rows of every kind, and the tokens of the scalar definition on them; for tests of executors.
 *
 * The definition is rules.h and seeded.h on noise made word by word with philox.h and exponential.h.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_TEST_ROWS_H
#define SAMPLEGATE_TEST_ROWS_H
#include "kernels/exponential.h"
#include "kernels/philox.h"
#include "kernels/rules.h"
#include "kernels/sampler.h"
#include "kernels/seeded.h"
#include "kernels/softmax.h"

#define VOCAB_MAX 151936

/* The row under test, its weights, and the noise of one draw. */
static float values[VOCAB_MAX], weights[VOCAB_MAX], race_q[VOCAB_MAX], torch_q[VOCAB_MAX];
static double log_weights[VOCAB_MAX];
static float log_weights_2025[VOCAB_MAX];

/* Rows of every kind; `k` varies the numbers. */
enum row_kind {
    ROW_ORDINARY,
    ROW_FLAT,
    ROW_NAN,
    ROW_INFINITY,
    ROW_MINUS_INFINITY,
    ROW_ALL_NAN,
    ROW_ALL_ZERO,
    ROW_NEGATIVE,
    ROW_DENORMAL,
    ROW_HUGE,
    ROW_ONE_LIVE,
    ROW_FEW_LEVELS,
    ROW_ALL_MINUS_INFINITY,
    ROW_KINDS
};

static inline void row_fill(enum row_kind kind, enum sampler_values values_kind, size_t vocab, uint32_t k)
{
    for (size_t i = 0; i < vocab; i++) {
        const uint32_t word = philox_word(99, PHILOX_STREAM_TABLE, k, (uint32_t)i);
        const float unit = (float)(word >> 8) * 0x1p-24f;
        values[i] = values_kind == SAMPLER_LOGITS ? 12 * unit - 6 : unit / (float)vocab;
        const int special = word % 5 == 0;
        switch (kind) {
        case ROW_FLAT:
            values[i] = 0.25f;
            break;
        case ROW_NAN:
            values[i] = special ? NAN : values[i];
            break;
        case ROW_INFINITY:
            values[i] = word % 31 == 0 ? INFINITY : values[i];
            break;
        case ROW_MINUS_INFINITY:
            values[i] = special ? -INFINITY : values[i];
            break;
        case ROW_ALL_NAN:
            values[i] = NAN;
            break;
        case ROW_ALL_ZERO:
            values[i] = special ? -0.0f : 0.0f;
            break;
        case ROW_NEGATIVE:
            values[i] = -values[i];
            break;
        case ROW_DENORMAL: /* as logits: weights that underflow beside id 0 */
            values[i] = values_kind == SAMPLER_LOGITS ? (i ? -80 - 30 * unit : 0) : kernel_float(word % 9);
            break;
        case ROW_HUGE:
            values[i] = 3e38f * unit;
            break;
        case ROW_ONE_LIVE:
            values[i] = i == k % vocab ? 0.5f : values_kind == SAMPLER_LOGITS ? -INFINITY : 0;
            break;
        case ROW_FEW_LEVELS: /* equal weights in many lanes */
            values[i] = (float)(word % 3);
            break;
        case ROW_ALL_MINUS_INFINITY:
            values[i] = -INFINITY;
            break;
        default:
            break;
        }
    }
}

/* `weights`, and their logs, of the row in `values`. */
static inline void weights_fill(enum sampler_values kind, size_t vocab, double temperature)
{
    if (kind == SAMPLER_LOGITS)
        softmax(values, vocab, (float)temperature, weights);
    else
        memcpy(weights, values, vocab * sizeof *weights);
    for (size_t i = 0; i < vocab; i++) {
        log_weights[i] = seeded_log(weights[i]);
        log_weights_2025[i] = seeded_2025_log(weights[i]);
    }
}

static inline void noise_fill(uint64_t seed, uint64_t position, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++) {
        const uint32_t word = philox_word(seed, PHILOX_STREAM_RACE, position, (uint32_t)i);
        race_q[i] = exponential_of_word(word);
        torch_q[i] = torch_exponential_of_word(word);
    }
}

/* The token of the definition, from `weights` and the noise of noise_fill. */
static inline int32_t token_of_definition(enum sampler_rule rule, enum sampler_values kind, size_t vocab,
                                          uint64_t seed, uint64_t position)
{
    switch (rule) {
    case RULE_GREEDY:
        return kind == SAMPLER_LOGITS ? rule_greedy_logits(values, vocab)
                                      : rule_greedy_weights(weights, vocab);
    case RULE_CATEGORICAL: {
        const uint64_t low = philox_word(seed, PHILOX_STREAM_CATEGORICAL, position, 0);
        const uint64_t high = philox_word(seed, PHILOX_STREAM_CATEGORICAL, position, 1);
        return rule_categorical(weights, vocab, low | high << 32);
    }
    case RULE_RACE:
        return rule_race(weights, race_q, vocab);
    case RULE_GUMBEL:
        return rule_gumbel(weights, race_q, vocab);
    case RULE_TORCH_RACE:
        return rule_torch_race(weights, torch_q, vocab);
    case RULE_SEEDED:
        return rule_seeded(log_weights, vocab, seed, position);
    default:
        return rule_seeded_2025(log_weights_2025, vocab, seed, position);
    }
}
#endif
