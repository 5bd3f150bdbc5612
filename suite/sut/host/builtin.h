/* builtin.h: what reference.c and cuda.c share: the rules of kernels/ as samplers of the host.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_HOST_BUILTIN_H
#define SAMPLEGATE_HOST_BUILTIN_H
#include "kernels/sampler.h"
#include "suite/sut/host/host.h"

/* word: "reference", "cuda:gumbel", ...; the rule is race if it names none. 0, or -1 with why. */
int builtin_rule(const char *word, enum sampler_rule *rule, struct host_text *why);
/* hello: the rules that a `time` message may name, the one it was opened with first. */
void builtin_times(struct host_sut *sut, enum sampler_rule rule);
/* hello: the hash of this program. 0, or -1 with why. */
int builtin_file(struct host_sut *sut, struct host_text *why);
/* Row `row` of the request as fp32, exactly: in wide[columns] if it had to be widened. */
const float *builtin_row(const struct host_request *request, int64_t row, float *wide);
#endif
