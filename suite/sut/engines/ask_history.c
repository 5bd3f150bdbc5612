/* ask_history.c: questions about a running batch: what its requests leave in it as they come, join and finish.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/question.h"

#include <stdio.h>
#include <string.h>

/* The batches of a history, and the names of its requests: a batch knows them by number. */
struct life {
    struct question *question;
    struct engine_batch prefill, running;
};

static int64_t number_of(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a: a few names a history */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (int64_t)(hash >> 1);
}

enum life_step { LIFE_WENT, LIFE_REFUSED, LIFE_MALFORMED };

static enum life_step admit(struct life *life, const cJSON *event, const char *place, const char *id)
{
    struct question *question = life->question;
    struct engine_values request;
    struct engine_flags flags;
    char deeper[64];
    snprintf(deeper, sizeof deeper, "%s.request", place);
    if (question_read_request(question, cJSON_GetObjectItemCaseSensitive(event, "request"), deeper, &request))
        return LIFE_MALFORMED;
    if (question_prepare(question, &request, &flags))
        return LIFE_REFUSED;
    if (life->prefill.rows == 0)
        engine_round(question->engine, &life->running);
    if (question->engine->admit(&life->prefill, number_of(id), &flags))
        engine_memory(NULL);
    return LIFE_WENT;
}

static enum life_step live(struct life *life, const cJSON *event, const char *place)
{
    static const char *const acts[] = {"admit", "join", "finish", "filter", "mix", NULL}, *const keys[] = {
                                                                                              "do", "id",
                                                                                              "request",
                                                                                              NULL};
    struct question *question = life->question;
    const char *id = "";
    int act;
    if (engine_read_keys(event, place, keys, question->why) ||
        engine_read_name(event, place, "do", acts, &act, question->why) ||
        ((act == 0 || act == 2) && engine_read_text(event, place, "id", &id, question->why)))
        return LIFE_MALFORMED;
    if (act == 0)
        return admit(life, event, place, id);
    if (act == 1 && question->engine->join(question->reading, &life->running, &life->prefill))
        engine_memory(NULL);
    if (act == 2 && !engine_batch_finish(&life->prefill, number_of(id)) &&
        !engine_batch_finish(&life->running, number_of(id))) {
        engine_unreadable(question->why, place, "\"id\": no request \"%.40s\" is there to finish", id);
        return LIFE_MALFORMED;
    }
    if (act == 3)
        question->engine->filter(&life->running);
    if (act == 4 && !question->engine->mix) {
        engine_unreadable(question->why, place, "\"do\": %s has no mixed chunks", question->engine->name);
        return LIFE_MALFORMED;
    }
    if (act == 4 && question->engine->mix(&life->running, &life->prefill))
        engine_memory(NULL);
    return LIFE_WENT;
}

static void put_batch(const struct question *question, cJSON *to, const char *name,
                      const struct engine_batch *batch)
{
    struct engine_flags flags;
    char letters[ENGINE_FLAGS_TEXT];
    size_t rows = question->engine->state(question->reading, batch, &flags);
    if (rows == 0) {
        engine_memory(cJSON_AddNullToObject(to, name));
        return;
    }
    cJSON *state = engine_memory(cJSON_AddObjectToObject(to, name));
    question_put_text(state, "flags", engine_flag_letters(question->engine, &flags, letters));
    question_put_path(question, state, &flags, rows, true);
}

int question_history(struct question *question)
{
    struct life life = {.question = question};
    enum life_step step = LIFE_WENT;
    const cJSON *events = question_array(question, question->at, "", "events");
    if (!events)
        return -1;
    cJSON *told = engine_memory(cJSON_CreateArray());
    size_t i = 0;
    for (const cJSON *event = events->child; event && step == LIFE_WENT; event = event->next, i++) {
        char place[32];
        snprintf(place, sizeof place, "events[%zu]", i);
        step = live(&life, event, place);
        cJSON *after = engine_memory(cJSON_CreateObject());
        cJSON_AddItemToArray(told, after);
        put_batch(question, after, "prefill", &life.prefill);
        put_batch(question, after, "running", &life.running);
    }
    if (step == LIFE_WENT)
        cJSON_AddItemToObject(question->answer, "events", told);
    else
        cJSON_Delete(told);
    engine_batch_free(&life.prefill);
    engine_batch_free(&life.running);
    return step == LIFE_MALFORMED ? -1 : 0;
}
