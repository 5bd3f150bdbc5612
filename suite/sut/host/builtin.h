/* builtin.h: what reference.c and cuda.c share: the rules of kernels/ as samplers of the host.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_HOST_BUILTIN_H
#define SAMPLEGATE_HOST_BUILTIN_H
#include "kernels/sampler.h"
#include "suite/sut/host/host.h"

/* word: "reference", "cuda:gumbel", ...; the rule is race if it names none. 0, or -1 with why. */
int builtin_rule(const char *word, enum sampler_rule *rule, struct host_text *why);
/* values=logits|probabilities: which of the two is preferred. 0, or -1 with why. */
int builtin_options(const char *word, char **options, int count, bool *probabilities_first,
                    struct host_text *why);
/* Version, dtype, contract, capabilities (noise: the caller's is taken), build and hash of the program. */
int builtin_hello(struct host_sut *sut, enum sampler_rule rule, bool noise, bool probabilities_first,
                  struct host_text *why);

/* Row `row` of the request as fp32, exactly: in wide[columns] if it had to be widened. */
const float *builtin_row(const struct host_request *request, int64_t row, float *wide);
#endif
