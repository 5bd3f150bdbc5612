/* ask.c: answer questions in JSON with an engine's functions.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/question.h"

#include <stdio.h>
#include <string.h>

void question_put_text(cJSON *to, const char *key, const char *text)
{
    engine_memory(cJSON_AddStringToObject(to, key, text));
}

void question_put_refusal(cJSON *to, const struct engine_refusal *refusal)
{
    question_put_text(to, "error", refusal->text);
    engine_memory(cJSON_AddNumberToObject(to, "status", refusal->status));
}

void question_put_path(const struct question *question, cJSON *to, const struct engine_flags *flags,
                       size_t rows, bool whole)
{
    struct engine_path path;
    struct engine_refusal refusal;
    if (question->engine->path(question->reading, &question->server, flags, rows, &path, &refusal)) {
        question_put_refusal(to, &refusal);
        return;
    }
    question_put_text(to, "path", engine_path_names[path.kind]);
    if (question->engine->staged) {
        char text[ENGINE_PATH_TEXT];
        question_put_text(to, "stages", engine_stage_text(&path, text));
        question_put_text(to, "draws", engine_draw_text(&path, text));
    } else if (whole && question->reading == ENGINE_UPSTREAM) {
        engine_memory(cJSON_AddBoolToObject(to, "seeded", path.seeded));
        question_put_text(to, "backend", engine_backend_names[path.backend]);
        if (path.noise != ENGINE_NOISE_UNSEEDED)
            question_put_text(to, "noise", engine_noise_names[path.noise]);
        if (path.top_k_bound)
            engine_memory(cJSON_AddNumberToObject(to, "top_k_bound", path.top_k_bound));
    }
}

int question_prepare(const struct question *question, const struct engine_values *request,
                     struct engine_flags *flags)
{
    struct engine_refusal refusal;
    if (engine_prepare(question->engine, question->reading, &question->server, question->endpoint, request,
                       flags, &refusal) == 0)
        return 0;
    question_put_refusal(question->answer, &refusal);
    return -1;
}

int question_read_request(const struct question *question, const cJSON *at, const char *place,
                          struct engine_values *request)
{
    if (!at)
        return engine_unreadable(question->why, place, "is missing");
    return engine_read_values(at, place, question->engine, question->endpoint, request, question->why);
}

const cJSON *question_array(const struct question *question, const cJSON *at, const char *place,
                            const char *key)
{
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(at, key);
    if (cJSON_IsArray(array))
        return array;
    engine_unreadable(question->why, place, "\"%s\": must be an array", key);
    return NULL;
}

static int answer_path(struct question *question)
{
    struct engine_flags together = {0}, flags;
    const cJSON *batch = question_array(question, question->at, "", "batch");
    size_t rows = 0;
    if (!batch)
        return -1;
    for (const cJSON *at = batch->child; at; at = at->next, rows++) {
        struct engine_values request;
        char place[32];
        snprintf(place, sizeof place, "batch[%zu]", rows);
        if (question_read_request(question, at, place, &request))
            return -1;
        if (question_prepare(question, &request, &flags))
            return 0;
        together = rows ? question->engine->together(together, flags) : flags;
    }
    question_put_path(question, question->answer, &together, rows, true);
    return 0;
}

static void put_effective(const struct question *question, const struct engine_resolved *resolved)
{
    cJSON *effective = engine_memory(cJSON_AddObjectToObject(question->answer, "effective"));
    for (int p = 0; p < ENGINE_PARAMETERS; p++) {
        if (resolved->layer[p] == ENGINE_LAYER_NONE)
            continue;
        cJSON *pair = engine_memory(cJSON_AddArrayToObject(effective, engine_parameter_names[p]));
        cJSON_AddItemToArray(pair, engine_value_json(&resolved->values.at[p]));
        cJSON_AddItemToArray(pair, engine_memory(cJSON_CreateString(engine_layer_names[resolved->layer[p]])));
    }
}

/* The engine's look at the other members of the body, which the readings of the article have not. */
static int look(const struct question *question, const cJSON *body, enum engine_stage_of_check stage,
                struct engine_refusal *refusal)
{
    return question->reading == ENGINE_UPSTREAM && question->engine->check_fields
               ? question->engine->check_fields(&question->server, question->endpoint, body, stage, refusal)
               : 0;
}

/* As the engine goes on with resolved parameters. */
static int check_body(const struct question *question, const cJSON *body, struct engine_values *values,
                      struct engine_flags *flags, struct engine_refusal *refusal)
{
    const struct engine *engine = question->engine;
    int before = look(question, body, ENGINE_BEFORE_NORMALIZE, refusal);
    if (before < 0 || (before == 0 && engine->normalize(question->reading, values, refusal)) ||
        look(question, body, ENGINE_BEFORE_VERIFY, refusal) ||
        engine->verify(question->reading, values, refusal) ||
        look(question, body, ENGINE_AFTER_VERIFY, refusal))
        return -1;
    return engine->flags(question->reading, &question->server, values, flags, refusal);
}

/* A request refused by the endpoint's schema has no effective parameters; one refused later has them. */
static int answer_effective(struct question *question)
{
    const struct engine *engine = question->engine;
    const cJSON *body = cJSON_GetObjectItemCaseSensitive(question->at, "request");
    struct engine_values request;
    struct engine_resolved resolved;
    struct engine_flags flags;
    struct engine_refusal refusal;
    cJSON *own = body ? engine_parameters_of(engine, body) : NULL;
    if (question_read_request(question, own, "request", &request)) {
        cJSON_Delete(own);
        return -1;
    }
    if (look(question, body, ENGINE_BEFORE_RESOLVE, &refusal) ||
        engine->resolve(question->reading, &question->server, question->endpoint, &request, &resolved,
                        &refusal)) {
        question_put_refusal(question->answer, &refusal);
    } else {
        put_effective(question, &resolved);
        if (check_body(question, body, &resolved.values, &flags, &refusal)) {
            refusal.status = engine_status(engine, question->endpoint, refusal.status);
            question_put_refusal(question->answer, &refusal);
        } else {
            question_put_path(question, question->answer, &flags, 1, false);
        }
    }
    cJSON_Delete(own); /* the values borrow its texts */
    return 0;
}

void question_put_values(cJSON *to, const char *key, const struct engine_values *values)
{
    cJSON *object = engine_memory(cJSON_AddObjectToObject(to, key));
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (values->at[p].kind != ENGINE_ABSENT)
            cJSON_AddItemToObject(object, engine_parameter_names[p], engine_value_json(&values->at[p]));
}

static int answer_normalize(struct question *question)
{
    struct engine_values values;
    struct engine_refusal refusal;
    if (question_read_request(question, cJSON_GetObjectItemCaseSensitive(question->at, "params"), "params",
                              &values))
        return -1;
    if (engine_construct(question->engine, question->reading, &values, &refusal)) {
        question_put_refusal(question->answer, &refusal);
        return 0;
    }
    question_put_values(question->answer, "normalized", &values);
    return 0;
}

static const struct ask {
    const char *word, *keys[7];
    bool server;
    enum engine_endpoint endpoint; /* where requests go unless the question says */
    int (*answer)(struct question *question);
} asks[] = {
    {"path", {"ask", "engine", "as", "server", "batch"}, true, ENGINE_GENERATE, answer_path},
    {"history", {"ask", "engine", "as", "server", "events"}, true, ENGINE_GENERATE, question_history},
    {"effective", {"ask", "engine", "as", "server", "request"}, true, ENGINE_GENERATE, answer_effective},
    {"normalize", {"ask", "engine", "as", "params"}, false, ENGINE_ENDPOINTS, answer_normalize},
    {"forks", {"ask", "engine", "as", "server", "batch"}, true, ENGINE_GENERATE, question_forks},
    {"tensors", {"ask", "engine", "as", "server", "request"}, true, ENGINE_GENERATE, question_tensors},
    {"draw", {"ask", "engine", "as", "request", "steps"}, false, ENGINE_GENERATE, question_draw},
    {"rows", {"ask", "engine", "as", "server", "groups", "fixed"}, true, ENGINE_GENERATE, question_rows},
    {"candidates",
     {"ask", "engine", "as", "logprobs", "cumulative", "best_of"},
     false,
     ENGINE_GENERATE,
     question_candidates},
};

static const struct ask *ask_named(const char *word)
{
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        if (strcmp(asks[i].word, word) == 0)
            return &asks[i];
    return NULL;
}

/* An engine may lack what the question is about. */
static bool answers(const struct engine *engine, const struct ask *ask)
{
    return (ask->answer != question_forks || engine->forks) &&
           (ask->answer != question_draw || engine->draw) &&
           (ask->answer != question_rows || engine->penalty_rows) &&
           (ask->answer != question_tensors || engine->tensors) &&
           (ask->answer != question_candidates || engine->candidates);
}

static enum engine_reply unsupported(struct engine_why *why, const char *what, const char *asked)
{
    snprintf(why->text, sizeof why->text, "%s \"%.60s\" is not known here", what, asked);
    return ENGINE_UNSUPPORTED;
}

/* The members that every question has. `ask` is set once they are read. */
static enum engine_reply read_head(struct question *question, const struct ask **ask)
{
    const char *word, *name, *reading;
    int index = 0;
    if (!cJSON_IsObject(question->at)) {
        engine_unreadable(question->why, "", "must be an object");
        return ENGINE_MALFORMED;
    }
    if (engine_read_text(question->at, "", "ask", &word, question->why) ||
        engine_read_text(question->at, "", "engine", &name, question->why) ||
        engine_read_text(question->at, "", "as", &reading, question->why))
        return ENGINE_MALFORMED;
    if (!ask_named(word))
        return unsupported(question->why, "question", word);
    if (strcmp(name, question->engine->name) != 0)
        return unsupported(question->why, "engine", name);
    if (!answers(question->engine, ask_named(word)))
        return unsupported(question->why, "of this engine, question", word);
    while (engine_reading_names[index] && strcmp(engine_reading_names[index], reading) != 0)
        index++;
    if (!engine_reading_names[index])
        return unsupported(question->why, "reading", reading);
    question->reading = (enum engine_reading)index;
    *ask = ask_named(word);
    return ENGINE_ANSWERED;
}

static enum engine_reply answer(struct question *question)
{
    const struct ask *ask = NULL;
    enum engine_reply reply = read_head(question, &ask);
    if (reply != ENGINE_ANSWERED)
        return reply;
    const char *keys[8];
    size_t count = 0;
    for (; ask->keys[count]; count++)
        keys[count] = ask->keys[count];
    keys[count] = ask->server ? "endpoint" : NULL;
    keys[count + 1] = NULL;
    int endpoint = (int)ask->endpoint;
    const cJSON *server = cJSON_GetObjectItemCaseSensitive(question->at, "server");
    if (engine_read_keys(question->at, "", keys, question->why) ||
        (cJSON_HasObjectItem(question->at, "endpoint") &&
         engine_read_name(question->at, "", "endpoint", engine_endpoint_names, &endpoint, question->why)) ||
        (ask->server &&
         engine_read_server(server, "server", question->engine, &question->server, question->why)))
        return ENGINE_MALFORMED;
    question->endpoint = (enum engine_endpoint)endpoint;
    return ask->answer(question) ? ENGINE_MALFORMED : ENGINE_ANSWERED;
}

/* Of several questions, name the one that is meant. */
static void number_why(struct engine_why *why, size_t index)
{
    struct engine_why plain = *why;
    snprintf(why->text, sizeof why->text, "question %zu: %.280s", index, plain.text);
}

enum engine_reply engine_ask(const struct engine *engine, const char *questions, char **answers,
                             struct engine_why *why)
{
    cJSON *asked = cJSON_ParseWithOpts(questions, NULL, 1), *told = engine_memory(cJSON_CreateArray());
    enum engine_reply reply = cJSON_IsArray(asked) ? ENGINE_ANSWERED : ENGINE_MALFORMED;
    if (reply == ENGINE_MALFORMED)
        engine_unreadable(why, "", "questions must be a JSON array");
    size_t index = 0;
    for (const cJSON *at = asked ? asked->child : NULL; at && reply == ENGINE_ANSWERED;
         at = at->next, index++) {
        struct question question = {.at = at, .engine = engine, .why = why};
        question.answer = engine_memory(cJSON_CreateObject());
        cJSON_AddItemToArray(told, question.answer);
        reply = answer(&question);
        if (reply != ENGINE_ANSWERED && asked->child->next)
            number_why(why, index);
    }
    if (reply == ENGINE_ANSWERED)
        *answers = engine_memory(cJSON_PrintUnformatted(told));
    cJSON_Delete(asked);
    cJSON_Delete(told);
    return reply;
}
