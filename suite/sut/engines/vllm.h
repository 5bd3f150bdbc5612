/* vllm.h: vLLM 0.5.0 (the v0 engine) behind the engine interface; internal to engines/.
 *
 * Written from the published article and from what the released wheel was seen to do. Nothing sticks: flags
 * are taken anew from every sequence group of every step. A batch in a question is all groups of one step,
 * those that only prefill a chunk of their prompt included: they raise flags too. /generate means the engine's
 * own object, SamplingParams; what it refuses with ValueError has status 400 as on the OpenAI endpoints, any
 * other exception 500. Left out: `logprobs` of chat, which is a truth value there and a number beside it;
 * that an OpenAI endpoint refuses keys it does not know; limits that the server sets (max_logprobs).
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_VLLM_H
#define SAMPLEGATE_VLLM_H
#include "suite/sut/engines/engine.h"

#define VLLM_EPSILON 1e-5

extern const struct engine vllm_0_5_0;

const char *vllm_key(enum engine_endpoint endpoint, enum engine_parameter parameter);
/* The echoed prompt's log-probabilities come with those of the answer; on completions, no token is a token all the
 * same. */
void vllm_echo(enum engine_endpoint endpoint, const struct engine_value *top_logprobs,
               struct engine_values *request);
int vllm_resolve(enum engine_reading reading, const struct engine_server *server,
                 enum engine_endpoint endpoint, const struct engine_values *request,
                 struct engine_resolved *resolved, struct engine_refusal *refusal);
/* The constructor checks arguments before it rewrites a greedy request, so the checks are here; what it asks
 * after that is vllm_verify. */
int vllm_normalize(enum engine_reading reading, struct engine_values *values, struct engine_refusal *refusal);
int vllm_verify(enum engine_reading reading, const struct engine_values *values,
                struct engine_refusal *refusal);

int vllm_status(enum engine_endpoint endpoint, int status);

/* The TypeError of comparing the value with a number of type `other`; `first`: the value is on the left. */
int vllm_unordered(const struct engine_value *value, bool first, const char *compare, const char *other,
                   struct engine_refusal *refusal);

/* Values are numbers where the article's code compares them with numbers. */
enum engine_draw vllm_draw_of(const struct engine_values *values);
enum engine_draw vllm_draw(struct engine_object *object);

int vllm_forks(enum engine_reading reading, const struct engine_server *server,
               const struct engine_values *requests, size_t count, struct engine_forks *forks,
               struct engine_refusal *refusal);
void vllm_tensors(const struct engine_server *server, struct engine_values *values);
bool vllm_penalty_rows(const struct engine_group *groups, size_t count, bool fixed, size_t *used);
int vllm_candidates(const float *logprobs, const float *cumulative, size_t sequences, size_t vocab,
                    size_t best_of, int64_t *parent, int64_t *token);

struct engine_flags vllm_together(struct engine_flags a, struct engine_flags b);
int vllm_admit(struct engine_batch *prefill, int64_t id, const struct engine_flags *flags);
int vllm_join(enum engine_reading reading, struct engine_batch *running, struct engine_batch *prefill);
size_t vllm_state(enum engine_reading reading, const struct engine_batch *batch, struct engine_flags *flags);
#endif
