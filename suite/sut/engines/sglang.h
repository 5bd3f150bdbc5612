/* sglang.h: SGLang behind the engine interface; internal to engines/.
 *
 * Written from the published article and from what the released wheels were seen to do. The two releases
 * differ, in all that is asked here, in one place: the plain unseeded draw, which 0.5.20 makes by the
 * Gumbel-max race unless its switch is off. Left out: the ascend backend, reinforcement-learning and
 * speculative modes, which have samplers of their own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SGLANG_H
#define SAMPLEGATE_SGLANG_H
#include "suite/sut/engines/engine.h"

#define SGLANG_TOP_K_ALL (INT64_C(1) << 30) /* the whole vocabulary */
#define SGLANG_EPSILON 1e-6                 /* a temperature below it means greedy */

extern const struct engine sglang_0_5_19, sglang_0_5_20;

/* Whether SGLANG_OPT_USE_GUMBEL_SAMPLE leaves the race on: 0, false, no and n in any case turn it off, and
 * any other text
 * ("off", "", " 0") draws a warning from the engine and leaves it on. */
bool sglang_switch_is_on(const char *text);

const char *sglang_key(enum engine_endpoint endpoint, enum engine_parameter parameter);
int sglang_resolve(enum engine_reading reading, const struct engine_server *server,
                   enum engine_endpoint endpoint, const struct engine_values *request,
                   struct engine_resolved *resolved, struct engine_refusal *refusal);
int sglang_normalize(enum engine_reading reading, struct engine_values *values,
                     struct engine_refusal *refusal);
int sglang_verify(enum engine_reading reading, const struct engine_values *values,
                  struct engine_refusal *refusal);
int sglang_admit(struct engine_batch *prefill, int64_t id, const struct engine_flags *flags);
int sglang_join(enum engine_reading reading, struct engine_batch *running, struct engine_batch *prefill);
size_t sglang_state(enum engine_reading reading, const struct engine_batch *batch,
                    struct engine_flags *flags);
struct engine_flags sglang_together(struct engine_flags a, struct engine_flags b);
#endif
