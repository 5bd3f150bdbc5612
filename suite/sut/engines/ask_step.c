/* ask_step.c: questions about one step of an engine with several sequences a request: forks, the way a token is
 * chosen, the rows that penalties count in, beam candidates.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 64
#define SEQUENCES_MAX 256
#define NUMBERS_MAX ((size_t)1 << 20)

/* A request at the question's endpoint, as the engine's own object. 1: refused, and the answer says so. */
static int construct(const struct question *question, const cJSON *at, const char *place,
                     struct engine_values *values)
{
    struct engine_values request;
    struct engine_resolved resolved;
    struct engine_refusal refusal;
    if (question_read_request(question, at, place, &request))
        return -1;
    if (question->engine->resolve(question->reading, &question->server, question->endpoint, &request,
                                  &resolved, &refusal) ||
        engine_construct(question->engine, question->reading, &resolved.values, &refusal)) {
        refusal.status = engine_status(question->engine, question->endpoint, refusal.status);
        question_put_refusal(question->answer, &refusal);
        return 1;
    }
    *values = resolved.values;
    return 0;
}

static void put_integer(cJSON *to, const char *key, int64_t integer)
{
    const struct engine_value value = engine_integer(integer);
    cJSON_AddItemToObject(to, key, engine_value_json(&value));
}

static void put_forks(cJSON *to, const struct engine_forks *forks)
{
    put_integer(to, "sequences", forks->sequences);
    put_integer(to, "drawn", forks->drawn);
    put_integer(to, "kept", forks->kept);
    question_put_text(to, "preempted", engine_preemption_names[forks->preempted]);
    question_put_text(to, "last_preempted", engine_preemption_names[forks->last_preempted]);
}

int question_forks(struct question *question)
{
    const cJSON *batch = question_array(question, question->at, "", "batch");
    if (!batch)
        return -1;
    const size_t count = (size_t)cJSON_GetArraySize(batch);
    struct engine_values *requests = engine_memory(calloc(count + 1, sizeof *requests));
    struct engine_forks *forks = engine_memory(calloc(count + 1, sizeof *forks));
    struct engine_refusal refusal;
    int failed = 0;
    size_t i = 0;
    for (const cJSON *at = batch->child; at && !failed; at = at->next, i++) {
        char place[32];
        snprintf(place, sizeof place, "batch[%zu]", i);
        failed = construct(question, at, place, &requests[i]);
    }
    if (!failed &&
        question->engine->forks(question->reading, &question->server, requests, count, forks, &refusal)) {
        question_put_refusal(question->answer, &refusal);
        failed = 1;
    }
    cJSON *told = failed ? NULL : engine_memory(cJSON_AddArrayToObject(question->answer, "forks"));
    for (i = 0; i < count && !failed; i++) {
        cJSON *one = engine_memory(cJSON_CreateObject());
        put_forks(one, &forks[i]);
        cJSON_AddItemToArray(told, one);
    }
    free(requests);
    free(forks);
    return failed < 0 ? -1 : 0;
}

int question_tensors(struct question *question)
{
    struct engine_values values;
    struct engine_flags flags;
    struct engine_refusal refusal;
    int failed =
        construct(question, cJSON_GetObjectItemCaseSensitive(question->at, "request"), "request", &values);
    if (failed)
        return failed < 0 ? -1 : 0;
    if (question->engine->flags(question->reading, &question->server, &values, &flags, &refusal)) {
        question_put_refusal(question->answer, &refusal);
        return 0;
    }
    question->engine->tensors(&question->server, &values);
    question_put_values(question->answer, "tensors", &values);
    return 0;
}

/* "read", "clone", or parameters that are overwritten. A clone is a copy, and the one asked from then on. */
static int draw_step(struct question *question, const cJSON *step, size_t index, struct engine_object *object,
                     cJSON *told)
{
    char place[32];
    snprintf(place, sizeof place, "steps[%zu]", index);
    if (cJSON_IsString(step) && !strcmp(step->valuestring, "read")) {
        const char *name = engine_draw_names[question->engine->draw(object)];
        cJSON_AddItemToArray(told, engine_memory(cJSON_CreateString(name)));
        return 0;
    }
    if (cJSON_IsString(step) && !strcmp(step->valuestring, "clone")) {
        struct engine_object clone = *object;
        *object = clone;
        return 0;
    }
    if (!cJSON_IsObject(step))
        return engine_unreadable(question->why, place,
                                 "must be \"read\", \"clone\" or parameters to overwrite");
    struct engine_values written;
    if (question_read_request(question, step, place, &written))
        return -1;
    for (int p = 0; p < ENGINE_PARAMETERS; p++)
        if (written.at[p].kind != ENGINE_ABSENT)
            object->values.at[p] = written.at[p];
    return 0;
}

int question_draw(struct question *question)
{
    struct engine_object object = {0};
    const cJSON *steps = question_array(question, question->at, "", "steps");
    if (!steps)
        return -1;
    int failed = construct(question, cJSON_GetObjectItemCaseSensitive(question->at, "request"), "request",
                           &object.values);
    if (failed)
        return failed < 0 ? -1 : 0;
    cJSON *told = engine_memory(cJSON_AddArrayToObject(question->answer, "draws"));
    size_t i = 0;
    for (const cJSON *at = steps->child; at; at = at->next)
        if (draw_step(question, at, i++, &object, told))
            return -1;
    return 0;
}

/* The groups of a step, and the JSON of each sequence's tokens. */
struct step {
    struct engine_group group[GROUPS_MAX];
    const cJSON *sequence[SEQUENCES_MAX];
    size_t groups, sequences, rows;
};

static int read_sequences(const struct question *question, const cJSON *at, const char *place,
                          struct step *step, struct engine_group *group)
{
    static const char *const keys[] = {"prompt", "output", NULL};
    const cJSON *sequences = question_array(question, at, place, "sequences");
    if (!sequences)
        return -1;
    for (const cJSON *one = sequences->child; one; one = one->next) {
        if (engine_read_keys(one, place, keys, question->why) ||
            !question_array(question, one, place, "prompt") ||
            !question_array(question, one, place, "output"))
            return -1;
        if (step->sequences == SEQUENCES_MAX)
            return engine_unreadable(question->why, place, "has more than %d sequences", SEQUENCES_MAX);
        step->sequence[step->sequences++] = one;
        group->sequences++;
    }
    return 0;
}

/* 1: refused. */
static int read_group(struct question *question, const cJSON *at, struct step *step)
{
    static const char *const keys[] = {"request", "prompt_rows", "sequences", NULL};
    struct engine_group *group = &step->group[step->groups];
    struct engine_values values;
    struct engine_refusal refusal;
    char place[32];
    snprintf(place, sizeof place, "groups[%zu]", step->groups);
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(at, "prompt_rows");
    if (engine_read_keys(at, place, keys, question->why) ||
        (rows && engine_read_size(rows, place, "\"prompt_rows\"", SEQUENCES_MAX, &group->prompt_rows,
                                  question->why)) ||
        read_sequences(question, at, place, step, group))
        return -1;
    int failed = construct(question, cJSON_GetObjectItemCaseSensitive(at, "request"), place, &values);
    if (!failed &&
        question->engine->flags(question->reading, &question->server, &values, &group->flags, &refusal)) {
        question_put_refusal(question->answer, &refusal);
        failed = 1;
    }
    step->groups++;
    step->rows += group->prompt_rows + group->sequences;
    return failed;
}

static void put_rows(cJSON *to, const struct step *step, const size_t *used)
{
    static const char *const lists[] = {"prompt", "output"};
    for (size_t r = 0; r < step->rows; r++) {
        cJSON *row = engine_memory(cJSON_CreateObject());
        const cJSON *sequence = used[r] == ENGINE_NO_ROW ? NULL : step->sequence[used[r]];
        for (int i = 0; i < 2; i++) {
            cJSON *list = engine_memory(cJSON_AddArrayToObject(row, lists[i]));
            const cJSON *from = cJSON_GetObjectItemCaseSensitive(sequence, lists[i]);
            for (const cJSON *token = from ? from->child : NULL; token; token = token->next)
                cJSON_AddItemToArray(list, engine_memory(cJSON_Duplicate(token, true)));
        }
        cJSON_AddItemToArray(to, row);
    }
}

int question_rows(struct question *question)
{
    const cJSON *groups = question_array(question, question->at, "", "groups");
    const cJSON *fixed = cJSON_GetObjectItemCaseSensitive(question->at, "fixed");
    struct step *step = engine_memory(calloc(1, sizeof *step));
    int failed = groups ? 0 : -1;
    if (!failed && fixed && !cJSON_IsBool(fixed))
        failed = engine_unreadable(question->why, "", "\"fixed\": must be true or false");
    for (const cJSON *at = failed ? NULL : groups->child; at && !failed; at = at->next)
        failed = step->groups == GROUPS_MAX
                     ? engine_unreadable(question->why, "groups", "are more than %d", GROUPS_MAX)
                     : read_group(question, at, step);
    if (!failed) {
        size_t *used = engine_memory(calloc(step->rows + 1, sizeof *used));
        if (question->engine->penalty_rows(step->group, step->groups, cJSON_IsTrue(fixed), used))
            put_rows(engine_memory(cJSON_AddArrayToObject(question->answer, "rows")), step, used);
        else
            engine_memory(cJSON_AddNullToObject(question->answer, "rows"));
        free(used);
    }
    free(step);
    return failed < 0 ? -1 : 0;
}

/* An array of numbers, appended; the length must be `expected` unless that is 0. */
static int read_numbers(const struct question *question, const cJSON *array, const char *place,
                        size_t expected, float *numbers, size_t *count)
{
    const size_t length = cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
    if (length == 0 || (expected && length != expected) || *count + length > NUMBERS_MAX)
        return engine_unreadable(question->why, place,
                                 "must be an array of numbers, as long as its neighbours");
    for (const cJSON *at = array->child; at; at = at->next) {
        struct engine_value value;
        if (engine_read_value(at, place, false, &value, question->why))
            return -1;
        if (!engine_is_number(&value))
            return engine_unreadable(question->why, place, "must be an array of numbers");
        numbers[(*count)++] = (float)value.number;
    }
    return 0;
}

static void put_integers(cJSON *to, const char *key, const int64_t *integers, size_t count)
{
    cJSON *array = engine_memory(cJSON_AddArrayToObject(to, key));
    for (size_t i = 0; i < count; i++) {
        const struct engine_value value = engine_integer(integers[i]);
        cJSON_AddItemToArray(array, engine_value_json(&value));
    }
}

static int candidates_of(struct question *question, const cJSON *rows, float *logprobs, float *cumulative)
{
    const cJSON *before = cJSON_GetObjectItemCaseSensitive(question->at, "cumulative");
    const cJSON *best_of = cJSON_GetObjectItemCaseSensitive(question->at, "best_of");
    size_t count = 0, sequences = 0, vocab = 0, sums = 0, best;
    for (const cJSON *row = rows->child; row; row = row->next, sequences++) {
        if (read_numbers(question, row, "logprobs", vocab, logprobs, &count))
            return -1;
        vocab = count / (sequences + 1);
    }
    if (sequences == 0)
        return engine_unreadable(question->why, "logprobs", "must be an array of numbers for each sequence");
    if ((before && read_numbers(question, before, "cumulative", sequences, cumulative, &sums)) ||
        engine_read_size(best_of, "", "\"best_of\"", SEQUENCES_MAX, &best, question->why))
        return -1;
    int64_t *parent = engine_memory(calloc(2 * best, sizeof *parent));
    int64_t *token = engine_memory(calloc(2 * best, sizeof *token));
    if (question->engine->candidates(logprobs, before ? cumulative : NULL, sequences, vocab, best, parent,
                                     token)) {
        struct engine_refusal refusal;
        engine_refuse(&refusal, 0, "selected index k out of range");
        question_put_refusal(question->answer, &refusal);
    } else {
        put_integers(question->answer, "parents", parent, 2 * best);
        put_integers(question->answer, "tokens", token, 2 * best);
    }
    free(parent);
    free(token);
    return 0;
}

int question_candidates(struct question *question)
{
    const cJSON *rows = question_array(question, question->at, "", "logprobs");
    if (!rows)
        return -1;
    float *logprobs = engine_memory(calloc(NUMBERS_MAX, sizeof *logprobs));
    float *cumulative = engine_memory(calloc(NUMBERS_MAX, sizeof *cumulative));
    int failed = candidates_of(question, rows, logprobs, cumulative);
    free(logprobs);
    free(cumulative);
    return failed;
}
