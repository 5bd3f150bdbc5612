/* sampler.h: draw tokens with the reference rules: the one header a host includes.
 *
 * Every token is decided by (row, rule, seed, position, column) alone: not by batch, thread, instruction set
 * or device. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SAMPLER_H
#define SAMPLEGATE_SAMPLER_H
#include <stddef.h>
#include <stdint.h>

enum sampler_rule {
    RULE_GREEDY,      /* argmax of the values */
    RULE_CATEGORICAL, /* inverse CDF on fixed-point masses */
    RULE_RACE,        /* argmax p / q, q ~ Exp(1): the published Gumbel-max spelling */
    RULE_GUMBEL,      /* argmax log p + g, g = -log q */
    RULE_TORCH_RACE,  /* the published nine lines on torch CUDA's Exp(1) grid: q in [2^-24, 22.87] */
    RULE_SEEDED,      /* SGLang's hash-keyed Gumbel-max: seeded.h */
    RULE_SEEDED_2025, /* its first, linear form, which is not random enough: seeded.h */
    RULE_COUNT
};

enum sampler_values { SAMPLER_LOGITS, SAMPLER_PROBABILITIES };

#define SAMPLER_INVALID_ROW (-1) /* the token of a row without one positive finite weight */

/* Name of a rule ("race"), NULL out of range; and back: -1 if unknown. */
const char *sampler_rule_name(enum sampler_rule rule);
int sampler_rule_of(const char *name);

/* The instruction set the loops run on: "baseline", "avx2" or "avx512"; SAMPLEGATE_ISA overrides the choice.
 * NULL if the override names one that is unknown or that this machine lacks. */
const char *sampler_isa(void);

/* A row ready to be drawn from: weights in fp32 and, for categorical, the fixed-point CDF. Owned;
 * sampler_row_free. */
struct sampler_row;
/* values[vocab] fp32. Logits go through temperature (x / (float)temperature) and softmax; probabilities are
 * taken as they are, unnormalised if they are, and temperature must be 1. Greedy takes logits as they are:
 * no temperature, no softmax. NULL: out of memory, vocab 0 or above 2^20, a temperature that is not positive
 * and finite as fp32, or sampler_isa() is NULL. */
struct sampler_row *sampler_row_new(enum sampler_rule rule, enum sampler_values kind, const float *values,
                                    size_t vocab, double temperature);
void sampler_row_free(struct sampler_row *row);

/* token[draws]: draw d uses noise (seed, first_position + d). */
void sampler_draw(const struct sampler_row *row, uint64_t seed, uint64_t first_position, size_t draws,
                  int32_t *token);
/* token[draws]: draw d uses noise (seed[d], position[d]). */
void sampler_draw_seeded(const struct sampler_row *row, const int64_t *seed, const int64_t *position,
                         size_t draws, int32_t *token);
/* One token with the caller's Exp(1) noise q[vocab]. Rules race, gumbel and torch-race; others return -2. */
int32_t sampler_draw_with_noise(const struct sampler_row *row, const float *q);

/* q[vocab]: the Exp(1) noise that race and gumbel use for (seed, position). */
void sampler_noise(uint64_t seed, uint64_t position, size_t vocab, float *q);
#endif
