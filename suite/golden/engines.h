/* engines.h: what the goldens of engines (families predicate and defaults) share: values of any type,
 * servers, refusals.
 *
 * Internal to suite/golden/. A bare number is a float, an integer where an engine takes one (top_k, seed) and
 * the number is integral; {"float": "0x1p-3"} and {"integer": "9223372036854775807"} say it exactly; null,
 * true, strings, arrays and {} are themselves. */
#ifndef SAMPLEGATE_GOLDEN_ENGINES_H
#define SAMPLEGATE_GOLDEN_ENGINES_H
#include "suite/golden/outcome.h"
#include "suite/sut/engines/engine.h"

/* What the cases of a group share; owned by the group (free). */
struct engine_group {
    const struct engine *engine;
    enum engine_reading reading;
    enum engine_endpoint endpoint; /* generate, unless the group says */
};
/* A golden_check's `begin` and `end`: reads "engine", "as" and, where the group has it, "endpoint". */
int engine_group_begin(const struct json_cursor *group, void **shared, struct golden_outcome *outcome);
void engine_group_end(void *shared);

int engine_read_value(const struct json_cursor *at, bool integer, struct engine_value *value,
                      struct trouble *damaged);
/* An object of parameters under the keys of this endpoint. Keys of other endpoints are read and dropped, as
 * engines do. */
int engine_read_values(const struct json_cursor *at, const struct engine *engine,
                       enum engine_endpoint endpoint, struct engine_values *values, struct trouble *damaged);
int engine_read_server(const struct json_cursor *at, const struct engine *engine,
                       struct engine_server *server, struct trouble *damaged);

/* resolve, normalize, verify and flags of one request, as far as it gets. `resolved` may be NULL. */
int engine_prepare(const struct engine_group *group, const struct engine_server *server,
                   const struct engine_values *request, struct engine_resolved *resolved,
                   struct engine_flags *flags, struct engine_refusal *refusal);

/* Compare against the golden. `at` is the case or a part of it, `place` its name in messages ("" for the
 * case). `whole`: the golden also says "seeded" and "backend". */
int engine_same_path(const struct golden_case *this, const struct json_cursor *at, const char *place,
                     bool whole, const struct engine_path *path);
int engine_same_refusal(const struct golden_case *this, const struct json_cursor *at, const char *place,
                        const struct engine_refusal *refusal);
/* Numbers as numbers, whatever their type; everything else by type. */
int engine_same_value(const struct golden_case *this, const char *place, const struct engine_value *golden,
                      const struct engine_value *ours);

/* "Gkpm": is_all_greedy and the three needs, '-' for each that is not set. */
const char *engine_flag_letters(const struct engine_flags *flags, char text[5]);
bool engine_flags_of_letters(const char *text, struct engine_flags *flags);
#endif
