/* sampler.h: draw tokens with the reference rules: the one header a host includes.
 *
 * Every token is decided by (row, rule, seed, position, column) alone: not by batch, thread, instruction set
 * or device. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SAMPLER_H
#define SAMPLEGATE_SAMPLER_H
#include <stddef.h>
#include <stdint.h>
#include "kernels/filter.h"
#include "kernels/penalty.h"

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
/* All that a request can ask of a row. sampler_parameters_none() asks for nothing. */
struct sampler_parameters {
    double temperature;
    struct filter_parameters filter;
    const struct filter_rule *filter_rule;   /* NULL: filter_rule_at(0) */
    const struct penalties *penalties;       /* NULL: none; with logits only */
    const struct penalty_rule *penalty_rule; /* NULL: penalty_rule_at(0) */
    int seeded_by_rank; /* rule seeded only: the noise of an id is that of its rank (heaviest first, ties by
                           id), its log is taken in double: what SGLang's filtered path does to a whole batch
                         */
};
struct sampler_parameters sampler_parameters_none(void);

enum sampler_status {
    SAMPLER_OK,
    SAMPLER_NO_MEMORY,
    SAMPLER_BAD_VOCAB,       /* 0, or above 2^20 */
    SAMPLER_BAD_TEMPERATURE, /* not positive and finite as fp32, or not 1 with probabilities */
    SAMPLER_BAD_TOP_K,
    SAMPLER_BAD_TOP_P,
    SAMPLER_BAD_MIN_P,
    SAMPLER_BAD_PENALTY,
    SAMPLER_BAD_TOKEN, /* an id of prompt, output or stop tokens outside the vocabulary */
    SAMPLER_BAD_MIN_TOKENS,
    SAMPLER_BAD_COMBINATION, /* penalties with probabilities; seeded_by_rank with another rule;
                                temperature_last with FILTER_SPLIT */
    SAMPLER_BAD_ISA
};
/* What is accepted, in a few words: "top_k must be -1 or at least 1". */
const char *sampler_status_text(enum sampler_status status);

/* A row as sampler_row_new makes it, after penalties and filters: logits are edited (with the temperature
 * where the penalty rule has it), softmaxed, filtered; what is dropped has weight 0. Greedy is the argmax of
 * the edited values: parameters of filters are checked and change nothing. A row that filters find without a
 * positive finite weight gives SAMPLER_INVALID_ROW under every drawing rule. NULL with *status, else
 * SAMPLER_OK there. */
struct sampler_row *sampler_row_make(enum sampler_rule rule, enum sampler_values kind, const float *values,
                                     size_t vocab, const struct sampler_parameters *parameters,
                                     enum sampler_status *status);
void sampler_row_free(struct sampler_row *row);
/* kept[vocab]: 1 where the weight the rule draws from is positive and finite, else 0. For greedy: its token.
 */
void sampler_row_kept(const struct sampler_row *row, uint8_t *kept);

/* token[draws]: draw d uses noise (seed, first_position + d). */
void sampler_draw(const struct sampler_row *row, uint64_t seed, uint64_t first_position, size_t draws,
                  int32_t *token);
/* The same on `threads` threads (1 to 256; this one is one of them), which pays for many draws of a wide row.
 */
void sampler_draw_threads(const struct sampler_row *row, uint64_t seed, uint64_t first_position, size_t draws,
                          size_t threads, int32_t *token);
/* token[draws]: draw d uses noise (seed[d], position[d]). */
void sampler_draw_seeded(const struct sampler_row *row, const int64_t *seed, const int64_t *position,
                         size_t draws, int32_t *token);
/* One token with the caller's Exp(1) noise q[vocab]. Rules race, gumbel and torch-race; others return -2. */
int32_t sampler_draw_with_noise(const struct sampler_row *row, const float *q);

/* One draw of each of many rows of probabilities, with nothing prepared: token[rows] is what sampler_row_new
 * and sampler_draw would give. Row r starts at probabilities + r * row_stride and uses noise (seed,
 * first_position + r). Rules race, gumbel and seeded; SAMPLER_BAD_COMBINATION for others, SAMPLER_BAD_VOCAB,
 * SAMPLER_BAD_ISA. Allocates nothing. */
enum sampler_status sampler_draw_rows(enum sampler_rule rule, const float *probabilities, size_t rows,
                                      size_t vocab, size_t row_stride, uint64_t seed, uint64_t first_position,
                                      int32_t *token);

/* q[vocab]: the Exp(1) noise that race and gumbel use for (seed, position). */
void sampler_noise(uint64_t seed, uint64_t position, size_t vocab, float *q);
#endif
