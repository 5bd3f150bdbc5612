/* builtin.h: what reference.c and cuda.c share: the rules of kernels/ as samplers of the host.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_HOST_BUILTIN_H
#define SAMPLEGATE_HOST_BUILTIN_H
#include "kernels/sampler.h"
#include "suite/sut/host/host.h"

#define BUILTIN_EDITS                                                                                        \
    (SAMPLEGATE_PENALTIES | SAMPLEGATE_LOGIT_BIAS | SAMPLEGATE_ALLOWED_MASK | SAMPLEGATE_MIN_TOKENS)
#define BUILTIN_FILTERS (SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P | SAMPLEGATE_MIN_P | SAMPLEGATE_KEPT_OUT)

/* word: "reference", "cuda:gumbel", ...; the rule is race if it names none. 0, or -1 with why. */
int builtin_rule(const char *word, enum sampler_rule *rule, struct host_text *why);
/* hello: the rules that a `time` message may name, the one it was opened with first. */
void builtin_times(struct host_sut *sut, enum sampler_rule rule);
/* hello: the hash of this program. 0, or -1 with why. */
int builtin_file(struct host_sut *sut, struct host_text *why);
/* Row `row` of the request as fp32, exactly: in wide[columns] if it had to be widened. */
const float *builtin_row(const struct host_request *request, int64_t row, float *wide);
/* Of filters=NAME and penalties=NAME. 0, or -1 with why. */
int builtin_filter_rule(const char *name, const struct filter_rule **rule, struct host_text *why);
int builtin_penalty_rule(const char *name, const struct penalty_rule **rule, struct host_text *why);
/* The edits that a draw of the row asks for; arrays are the request's. */
void builtin_penalties(const struct host_request *request, int64_t row, int64_t draw,
                       struct penalties *penalties);
#endif
