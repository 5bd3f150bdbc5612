/* engines.h: engines with one planted defect each, to show which check sees which defect.
 *
 * Each is SGLang 0.5.20 or vLLM 0.5.0 with one function replaced. To add one: write the function in engine_routing.c,
 * engine_config.c or engine_vllm.c, declare it below, and add one row to engines.c or engines_vllm.c. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_MUTANTS_ENGINES_H
#define SAMPLEGATE_MUTANTS_ENGINES_H
#include "suite/sut/engines/sglang.h"
#include "suite/sut/engines/vllm.h"
#include "suite/sut/mutants/about.h"

/* `replace` holds the one function that is not the engine's. */
struct engine_mutant {
    struct mutant_about about;
    struct engine replace;
};
extern const struct engine_mutant vllm_mutants[];
extern const size_t vllm_mutant_count;

/* The rows of engines.c and of engines_vllm.c, in order; NULL past the last. The first is the clean one. */
const struct mutant_about *engine_mutant_about(size_t index);
const struct mutant_about *vllm_mutant_about(size_t index);
/* What mutants.so exports for `engine:PATH.so,id=ID`. NULL if there is none of that id. */
const struct engine *samplegate_engine(const char *id);

/* engine_routing.c */
struct engine_flags mutant_greedy_or(struct engine_flags a, struct engine_flags b);
struct engine_flags mutant_one_side(struct engine_flags a, struct engine_flags b);
size_t mutant_recomputed(enum engine_reading reading, const struct engine_batch *batch,
                         struct engine_flags *flags);
int mutant_never_fresh(enum engine_reading reading, struct engine_batch *running,
                       struct engine_batch *prefill);
int mutant_every_round(enum engine_reading reading, struct engine_batch *running,
                       struct engine_batch *prefill);
int mutant_greedy_kept(enum engine_reading reading, struct engine_batch *running,
                       struct engine_batch *prefill);
int mutant_last_admitted(struct engine_batch *prefill, int64_t id, const struct engine_flags *flags);
int mutant_float_flags(enum engine_reading reading, const struct engine_server *server,
                       const struct engine_values *values, struct engine_flags *flags,
                       struct engine_refusal *refusal);
int mutant_top_k_one(enum engine_reading reading, const struct engine_server *server,
                     const struct engine_values *values, struct engine_flags *flags,
                     struct engine_refusal *refusal);
int mutant_greedy_needs_nothing(enum engine_reading reading, const struct engine_server *server,
                                const struct engine_values *values, struct engine_flags *flags,
                                struct engine_refusal *refusal);
int mutant_switch_off(enum engine_reading reading, const struct engine_server *server,
                      const struct engine_flags *flags, size_t rows, struct engine_path *path,
                      struct engine_refusal *refusal);
int mutant_seed_dropped_filtered(enum engine_reading reading, const struct engine_server *server,
                                 const struct engine_flags *flags, size_t rows, struct engine_path *path,
                                 struct engine_refusal *refusal);
int mutant_empty_batch(enum engine_reading reading, const struct engine_server *server,
                       const struct engine_flags *flags, size_t rows, struct engine_path *path,
                       struct engine_refusal *refusal);
#define MUTANT_PATH(name)                                                                                    \
    int name(enum engine_reading reading, const struct engine_server *server,                                \
             const struct engine_flags *flags, size_t rows, struct engine_path *path,                        \
             struct engine_refusal *refusal)
int mutant_mix_forgets(struct engine_batch *running, struct engine_batch *prefill);
MUTANT_PATH(mutant_noise_by_id);
MUTANT_PATH(mutant_ascend_race);
MUTANT_PATH(mutant_ascend_min_p);
MUTANT_PATH(mutant_draft_unswitched);
MUTANT_PATH(mutant_greedy_seed);
MUTANT_PATH(mutant_pytorch_forced);
int mutant_epsilon_closed(enum engine_reading reading, struct engine_values *values,
                          struct engine_refusal *refusal);

/* engine_config.c: resolve, but for the last three */
#define MUTANT_RESOLVE(name)                                                                                 \
    int name(enum engine_reading reading, const struct engine_server *server, enum engine_endpoint endpoint, \
             const struct engine_values *request, struct engine_resolved *resolved,                          \
             struct engine_refusal *refusal)
MUTANT_RESOLVE(mutant_model_over_request);
MUTANT_RESOLVE(mutant_falsy_zero);
MUTANT_RESOLVE(mutant_explicit_default);
MUTANT_RESOLVE(mutant_file_ignored);
MUTANT_RESOLVE(mutant_top_k_unset);
MUTANT_RESOLVE(mutant_leaky_defaults);
MUTANT_RESOLVE(mutant_repetition_lost);
MUTANT_RESOLVE(mutant_builtin_not_neutral);
MUTANT_RESOLVE(mutant_null_is_value);
MUTANT_RESOLVE(mutant_coerced);
MUTANT_RESOLVE(mutant_file_everywhere);
MUTANT_RESOLVE(mutant_preferred_over_request);
MUTANT_RESOLVE(mutant_seed_lost);
MUTANT_RESOLVE(mutant_class_defaults);
#define MUTANT_FIELDS(name)                                                                                  \
    int name(const struct engine_server *server, enum engine_endpoint endpoint, const struct cJSON *body,    \
             enum engine_stage_of_check stage, struct engine_refusal *refusal)
MUTANT_FIELDS(mutant_unknown_dropped);
MUTANT_FIELDS(mutant_stops_uncounted);
MUTANT_FIELDS(mutant_always_normalized);
MUTANT_FIELDS(mutant_lengths_first);
MUTANT_FIELDS(mutant_fields_unchecked);
int mutant_one_status(enum engine_endpoint endpoint, int status);
int mutant_top_k_below_one(enum engine_reading reading, struct engine_values *values,
                           struct engine_refusal *refusal);
int mutant_epsilon_float(enum engine_reading reading, struct engine_values *values,
                         struct engine_refusal *refusal);
int mutant_open_penalties(enum engine_reading reading, const struct engine_values *values,
                          struct engine_refusal *refusal);

/* engine_vllm.c */
#define MUTANT_FLAGS(name)                                                                                   \
    int name(enum engine_reading reading, const struct engine_server *server,                                \
             const struct engine_values *values, struct engine_flags *flags, struct engine_refusal *refusal)
MUTANT_FLAGS(mutant_vllm_no_epsilon);
MUTANT_FLAGS(mutant_vllm_edge_moved);
MUTANT_FLAGS(mutant_vllm_whole_vocabulary);
MUTANT_FLAGS(mutant_vllm_greedy_asks_nothing);
MUTANT_FLAGS(mutant_vllm_seed_first);
struct engine_flags mutant_vllm_all(struct engine_flags a, struct engine_flags b);
size_t mutant_vllm_sticky(enum engine_reading reading, const struct engine_batch *batch,
                          struct engine_flags *flags);
int mutant_vllm_greedy_skips(enum engine_reading reading, const struct engine_server *server,
                             const struct engine_flags *flags, size_t rows, struct engine_path *path,
                             struct engine_refusal *refusal);
MUTANT_RESOLVE(mutant_vllm_chat_neutral);
MUTANT_RESOLVE(mutant_vllm_null_is_silent);
int mutant_vllm_no_reset(enum engine_reading reading, struct engine_values *values,
                         struct engine_refusal *refusal);
int mutant_vllm_greedy_two(enum engine_reading reading, const struct engine_values *values,
                           struct engine_refusal *refusal);
int mutant_vllm_best_of_ignored(enum engine_reading reading, const struct engine_server *server,
                                const struct engine_values *requests, size_t count,
                                struct engine_forks *forks, struct engine_refusal *refusal);
int mutant_vllm_always_swaps(enum engine_reading reading, const struct engine_server *server,
                             const struct engine_values *requests, size_t count, struct engine_forks *forks,
                             struct engine_refusal *refusal);
void mutant_vllm_exact_tensors(const struct engine_server *server, struct engine_values *values);
void mutant_vllm_cold_tensors(const struct engine_server *server, struct engine_values *values);
enum engine_draw mutant_vllm_not_cached(struct engine_object *object);
bool mutant_vllm_rows_fixed(const struct engine_group *groups, size_t count, bool fixed, size_t *used);
int mutant_vllm_first_parent(const float *logprobs, const float *cumulative, size_t sequences, size_t vocab,
                             size_t best_of, int64_t *parent, int64_t *token);
#endif
