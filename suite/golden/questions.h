/* questions.h: the goldens of engines (families predicate and defaults) as questions, and answers held against
 * them.
 *
 * A case is the question of suite/sut/engines/ask.h and what must be answered. `golden verify` asks the engines of
 * this build; the checks ask the sampler under test. */
#ifndef SAMPLEGATE_GOLDEN_QUESTIONS_H
#define SAMPLEGATE_GOLDEN_QUESTIONS_H
#include "suite/golden/outcome.h"
#include "suite/sut/engines/ask.h"

/* What the cases of a group share; owned by the walk. */
struct golden_group {
    const struct engine *engine;
    enum engine_reading reading;
    enum engine_endpoint endpoint; /* generate, unless the group says */
    bool has_endpoint;
};
/* A golden_check's `begin` and `end`: reads "engine", "as" and, where the group has it, "endpoint". */
int golden_group_begin(const struct json_cursor *group, void **shared, struct golden_outcome *outcome);
void golden_group_end(void *shared);

/* The question of a case, its numbers written exactly. Owned: cJSON_Delete. */
cJSON *golden_question(const struct golden_case *this, const struct golden_group *group);

/* Told of each member that differs, in words: "effective.top_k", "20", "-1". */
typedef void (*golden_difference)(const struct golden_case *this, const char *member, const char *golden,
                                  const char *ours);
/* Hold an answer against the case. The number of differences, or -1: the golden is damaged. */
int golden_compare(const struct golden_case *this, const struct golden_group *group, const cJSON *answer,
                   golden_difference difference);
#endif
