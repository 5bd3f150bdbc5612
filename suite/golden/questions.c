/* questions.c: the cases of golden/predicate/ and golden/defaults/ as questions, put to the engines of this build. */
#include "suite/golden/questions.h"

#include <stdlib.h>
#include <string.h>

int golden_group_begin(const struct json_cursor *group, void **shared, struct golden_outcome *outcome)
{
    struct trouble *damaged = &outcome->damaged;
    struct golden_group read = {.has_endpoint = json_has(group, "endpoint")};
    const char *name;
    int reading, endpoint = ENGINE_GENERATE;
    if (json_string(group, "engine", &name, damaged) ||
        json_one_of(group, "as", engine_reading_names, &reading, damaged) ||
        (read.has_endpoint && json_one_of(group, "endpoint", engine_endpoint_names, &endpoint, damaged)))
        return -1;
    read.engine = engine_find(name);
    read.reading = (enum engine_reading)reading;
    read.endpoint = (enum engine_endpoint)endpoint;
    if (!read.engine)
        return json_trouble(group, damaged, "\"engine\": there is no engine \"%.40s\" here", name);
    struct golden_group *made = engine_memory(malloc(sizeof *made));
    *made = read;
    *shared = made;
    return 0;
}

void golden_group_end(void *shared)
{
    free(shared);
}

static void drop(cJSON *object, const char *const *keys)
{
    for (; *keys; keys++)
        cJSON_DeleteItemFromObjectCaseSensitive(object, *keys);
}

/* Of the parameters top_k and the seed; whatever is no parameter is written as it came. */
static bool takes_integers(const char *key)
{
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
        if (strcmp(engine_parameter_names[p], key) == 0)
            return engine_takes_integers(p);
    return true;
}

/* cJSON prints some doubles in too few digits, and -0 as 0: numbers become text, "20" where an engine takes
 * integers, "1.0" elsewhere. */
static void write_numbers(cJSON *object)
{
    for (cJSON *next, *member = object->child; member; member = next) {
        next = member->next;
        if (!cJSON_IsNumber(member)) {
            write_numbers(member);
            continue;
        }
        const char *key = member->string;
        bool integer = key && takes_integers(key);
        struct engine_value value;
        struct engine_why why;
        engine_read_value(member, "", integer, &value, &why); /* a number always reads */
        cJSON *exact = engine_value_json(&value);
        if (key)
            exact->string = engine_memory(strdup(key));
        cJSON_ReplaceItemViaPointer(object, member, exact);
    }
}

cJSON *golden_question(const struct golden_case *this, const struct golden_group *group)
{
    static const char *const not_asked[] = {"id",         "flags",       "path",   "seeded",  "backend",
                                            "noise",      "top_k_bound", "error",  "status",  "effective",
                                            "normalized", "stages",      "draws",  "tensors", "forks",
                                            "rows",       "parents",     "tokens", NULL},
                             *const not_asked_of_event[] = {"prefill", "running", NULL};
    cJSON *question = engine_memory(cJSON_Duplicate(this->at.node, true));
    drop(question, not_asked);
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(question, "events");
    for (cJSON *event = events ? events->child : NULL; event; event = event->next)
        drop(event, not_asked_of_event);
    write_numbers(question);
    engine_memory(cJSON_AddStringToObject(question, "ask", this->check->check));
    engine_memory(cJSON_AddStringToObject(question, "engine", group->engine->name));
    engine_memory(cJSON_AddStringToObject(question, "as", engine_reading_names[group->reading]));
    if (group->has_endpoint)
        engine_memory(cJSON_AddStringToObject(question, "endpoint", engine_endpoint_names[group->endpoint]));
    return question;
}

static void disagree(const struct golden_case *this, const char *member, const char *golden, const char *ours)
{
    golden_disagrees(this, member, golden, ours);
}

/* Through the text of question and answer, as a sampler under test is asked. */
static int recompute(const struct golden_case *this, const void *shared)
{
    const struct golden_group *group = shared;
    cJSON *questions = engine_memory(cJSON_CreateArray());
    cJSON_AddItemToArray(questions, golden_question(this, group));
    char *asked = engine_memory(cJSON_PrintUnformatted(questions)), *told = NULL;
    struct engine_why why;
    int failed;
    if (engine_ask(group->engine, asked, &told, &why) != ENGINE_ANSWERED) {
        failed = json_trouble(&this->at, &this->outcome->damaged, "%s", why.text);
    } else {
        cJSON *answers = engine_memory(cJSON_Parse(told));
        failed = golden_compare(this, group, answers->child, disagree);
        cJSON_Delete(answers);
    }
    cJSON_Delete(questions);
    free(asked);
    free(told);
    return failed ? -1 : 0;
}

#define QUESTIONS(variable, family_, check_, what_, ...)                                                     \
    const struct golden_check variable = {                                                                   \
        .family = family_,                                                                                   \
        .check = check_,                                                                                     \
        .what = what_,                                                                                       \
        .group_keys = (const char *const[]){"engine", "as", "endpoint", NULL},                               \
        .case_keys = (const char *const[]){__VA_ARGS__, NULL},                                               \
        .has_third = true,                                                                                   \
        .begin = golden_group_begin,                                                                         \
        .recompute = recompute,                                                                              \
        .end = golden_group_end,                                                                             \
    }
QUESTIONS(golden_predicate_path, "predicate", "path", "paths of batches", "server", "batch", "path", "seeded",
          "backend", "noise", "top_k_bound", "stages", "draws", "error", "status");
QUESTIONS(golden_predicate_history, "predicate", "history", "lives of running batches", "server", "events");
QUESTIONS(golden_defaults_effective, "defaults", "effective", "requests with the layer of each parameter",
          "server", "request", "effective", "path", "stages", "draws", "error", "status");
QUESTIONS(golden_defaults_normalize, "defaults", "normalize", "parameters normalized and verified", "params",
          "normalized", "error", "status");
QUESTIONS(golden_predicate_forks, "predicate", "forks", "sequences of requests that share a step", "server",
          "batch", "forks", "error", "status");
QUESTIONS(golden_predicate_draw, "predicate", "draw", "how tokens are chosen, and what is remembered of it",
          "request", "steps", "draws", "error", "status");
QUESTIONS(golden_predicate_rows, "predicate", "rows", "tokens that each row's penalties count", "server",
          "fixed", "groups", "rows", "error", "status");
QUESTIONS(golden_predicate_candidates, "predicate", "candidates", "candidates of beam search", "logprobs",
          "cumulative", "best_of", "parents", "tokens", "error", "status");
QUESTIONS(golden_defaults_tensors, "defaults", "tensors", "parameters as the tensors of a step", "server",
          "request", "tensors", "error", "status");
