/* sglang.h: SGLang behind the engine interface; internal to engines/.
 *
 * Written from the published article and from what the released wheels were seen to do. In all that is asked here
 *   0.5.20 differs from 0.5.19 in the plain unseeded draw, which it makes by the Gumbel-max race unless its switch
 *   is off (0.5.19 has the switch for its draft sampler only), and in one more member that a body may have;
 *   0.5.23 differs from 0.5.20 by the list in sglang_new.c.
 * Left out: beam search; reinforcement-learning modes, and of speculative decoding all but how the draft sampler draws.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SGLANG_H
#define SAMPLEGATE_SGLANG_H
#include "suite/sut/engines/engine.h"

#define SGLANG_TOP_K_ALL (INT64_C(1) << 30) /* the whole vocabulary */
#define SGLANG_EPSILON 1e-6                 /* a temperature below it means greedy */

extern const struct engine sglang_0_5_19, sglang_0_5_20, sglang_0_5_23;

/* sglang.c: the path, told what a release does where nothing filters and nothing is seeded. */
int sglang_path(enum engine_reading reading, const struct engine_server *server,
                const struct engine_flags *flags, size_t rows, enum engine_path_kind plain,
                struct engine_path *path, struct engine_refusal *refusal);
extern const struct engine_flag sglang_flag_table[];
int sglang_flags(enum engine_reading reading, const struct engine_server *server,
                 const struct engine_values *values, struct engine_flags *flags,
                 struct engine_refusal *refusal);
/* The seed is an integer that int64 holds. */
bool sglang_is_seed(const struct engine_value *value);

/* Whether SGLANG_OPT_USE_GUMBEL_SAMPLE leaves the race on: 0, false, no and n in any case turn it off, and
 * any other text
 * ("off", "", " 0") draws a warning from the engine and leaves it on. */
bool sglang_switch_is_on(const char *text);

#define SGLANG_PROMPTS                                                                                       \
    {                                                                                                        \
        [ENGINE_COMPLETIONS] = {"prompt"}, [ENGINE_GENERATE] = {"text", "input_ids"},                        \
    }
const char *sglang_key(enum engine_endpoint endpoint, enum engine_parameter parameter);
int sglang_resolve(enum engine_reading reading, const struct engine_server *server,
                   enum engine_endpoint endpoint, const struct engine_values *request,
                   struct engine_resolved *resolved, struct engine_refusal *refusal);
int sglang_normalize(enum engine_reading reading, struct engine_values *values,
                     struct engine_refusal *refusal);
int sglang_verify(enum engine_reading reading, const struct engine_values *values,
                  struct engine_refusal *refusal);
/* /v1/responses answers a comparison that failed as it does a bad value. */
int sglang_status(enum engine_endpoint endpoint, int status);
int sglang_admit(struct engine_batch *prefill, int64_t id, const struct engine_flags *flags);
int sglang_mix(struct engine_batch *running, struct engine_batch *prefill);
int sglang_join(enum engine_reading reading, struct engine_batch *running, struct engine_batch *prefill);
size_t sglang_state(enum engine_reading reading, const struct engine_batch *batch,
                    struct engine_flags *flags);
/* The same, with the bound on top_k of the rows that are left. */
size_t sglang_state_of_rows(enum engine_reading reading, const struct engine_batch *batch,
                            struct engine_flags *flags);
struct engine_flags sglang_together(struct engine_flags a, struct engine_flags b);
int sglang_forks(enum engine_reading reading, const struct engine_server *server,
                 const struct engine_values *requests, size_t count, struct engine_forks *forks,
                 struct engine_refusal *refusal);

/* sglang_fields.c. What releases do differently with the members of a body at /generate. */
struct sglang_body {
    bool strict;          /* a schema before everything else: HTTP 400 where others die of a comparison */
    const char *known[3]; /* more members than all releases have */
};
/* /generate's first comparison is n > 1, in all releases; null, or a text, dies of it. */
int sglang_check_n(const struct engine_value *n, struct engine_refusal *refusal);
/* How the schema of 0.5.23 names a value that is no integer, or no number: HTTP 400. */
int sglang_wrong_type(const struct engine_value *value, bool integer, struct engine_refusal *refusal);
/* A parameter as that schema takes it. */
int sglang_check_type(enum engine_parameter parameter, const struct engine_value *value,
                      struct engine_refusal *refusal);
extern const char *const sglang_fields[];
int sglang_check_fields(const struct sglang_body *version, const struct engine_server *server,
                        enum engine_endpoint endpoint, const struct cJSON *body,
                        enum engine_stage_of_check stage, struct engine_refusal *refusal);
#endif
