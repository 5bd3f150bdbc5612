/* predicate.c: recompute golden/predicate/path.json and history.json with the engines' code.
 *
 * path.json: the path of a batch whose requests were all sent to /generate. history.json: after each event,
 * the flags and the path of the prefill batch and of the running batch. */
#include <stdio.h>
#include <string.h>

#include "suite/golden/engines.h"

static const char *const group_keys[] = {"engine", "as", NULL};
static const char *const path_keys[] = {"server",  "batch", "path",   "seeded",
                                        "backend", "error", "status", NULL};
static const char *const history_keys[] = {"server", "events", NULL};

static int read_case_server(const struct golden_case *this, const struct engine_group *group,
                            struct engine_server *server)
{
    struct json_cursor at;
    return json_object(&this->at, "server", &at, &this->outcome->damaged) ||
                   engine_read_server(&at, group->engine, server, &this->outcome->damaged)
               ? -1
               : 0;
}

static int recompute_path(const struct golden_case *this, const void *shared)
{
    const struct engine_group *group = shared;
    struct trouble *damaged = &this->outcome->damaged;
    struct engine_server server;
    struct json_cursor batch;
    size_t length;
    if (read_case_server(this, group, &server) || json_array(&this->at, "batch", &batch, &length, damaged))
        return -1;
    struct engine_refusal refusal;
    struct engine_flags together = {0}, flags;
    struct json_cursor at = json_at(&batch, 0);
    for (size_t i = 0; i < length; i++, at = json_next(&at)) {
        struct engine_values request;
        if (engine_read_values(&at, group->engine, group->endpoint, &request, damaged))
            return -1;
        if (engine_prepare(group, &server, &request, NULL, &flags, &refusal))
            return engine_same_refusal(this, &this->at, "", &refusal);
        together = i ? group->engine->together(together, flags) : flags;
    }
    struct engine_path path;
    if (group->engine->path(group->reading, &server, &together, length, &path, &refusal))
        return engine_same_refusal(this, &this->at, "", &refusal);
    return engine_same_path(this, &this->at, "", group->reading == ENGINE_UPSTREAM, &path);
}

struct life {
    const struct golden_case *this;
    const struct engine_group *group;
    struct engine_server server;
    struct engine_batch prefill, running;
};

/* Requests are named by letters and words in a golden and by number in a batch. */
static int64_t number_of(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a: a few names a case */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (int64_t)(hash >> 1);
}

static int admit(struct life *life, const struct json_cursor *event, int64_t id)
{
    struct trouble *damaged = &life->this->outcome->damaged;
    struct json_cursor at;
    struct engine_values request;
    struct engine_flags flags;
    struct engine_refusal refusal;
    if (json_object(event, "request", &at, damaged) ||
        engine_read_values(&at, life->group->engine, life->group->endpoint, &request, damaged))
        return -1;
    if (engine_prepare(life->group, &life->server, &request, NULL, &flags, &refusal))
        return golden_disagrees(life->this, "request", "admitted", refusal.text);
    return life->group->engine->admit(&life->prefill, id, &flags)
               ? json_trouble(event, damaged, "out of memory")
               : 0;
}

static int act(struct life *life, const struct json_cursor *event)
{
    static const char *const acts[] = {"admit", "join", "finish", "filter", NULL};
    static const char *const keys[] = {"do", "id", "request", "prefill", "running", NULL};
    struct trouble *damaged = &life->this->outcome->damaged;
    const char *id = "";
    int what;
    if (json_known_keys(event, keys, damaged) || json_one_of(event, "do", acts, &what, damaged) ||
        ((what == 0 || what == 2) && json_string(event, "id", &id, damaged)))
        return -1;
    switch (what) {
    case 0:
        return admit(life, event, number_of(id));
    case 1:
        return life->group->engine->join(life->group->reading, &life->running, &life->prefill)
                   ? json_trouble(event, damaged, "out of memory")
                   : 0;
    case 2:
        if (!engine_batch_finish(&life->prefill, number_of(id)) &&
            !engine_batch_finish(&life->running, number_of(id)))
            return json_trouble(event, damaged, "\"id\": no request \"%.40s\" is there to finish", id);
        return 0;
    default:
        life->group->engine->filter(&life->running);
        return 0;
    }
}

/* One batch against the golden's null or {"flags", "path", ...}. */
static int same_state(const struct life *life, const struct json_cursor *event, const char *name,
                      const char *place, const struct engine_batch *batch)
{
    static const char *const keys[] = {"flags", "path", "seeded", "backend", "error", "status", NULL};
    const struct golden_case *this = life->this;
    struct trouble *damaged = &this->outcome->damaged;
    struct engine_flags flags;
    size_t rows = life->group->engine->state(life->group->reading, batch, &flags);
    if (!json_has(event, name))
        return json_trouble(event, damaged, "\"%s\" is missing", name);
    if (cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(event->node, name)))
        return rows ? golden_disagrees(this, place, "no rows", "rows") : 0;
    struct json_cursor at;
    const char *golden;
    char ours[5];
    if (json_object(event, name, &at, damaged) || json_known_keys(&at, keys, damaged) ||
        json_string(&at, "flags", &golden, damaged))
        return -1;
    if (rows == 0)
        return golden_disagrees(this, place, golden, "no rows");
    if (strcmp(golden, engine_flag_letters(&flags, ours)) != 0)
        return golden_disagrees(this, place, golden, ours);
    struct engine_path path;
    struct engine_refusal refusal;
    if (life->group->engine->path(life->group->reading, &life->server, &flags, rows, &path, &refusal))
        return engine_same_refusal(this, &at, place, &refusal);
    return engine_same_path(this, &at, place, life->group->reading == ENGINE_UPSTREAM, &path);
}

static int recompute_history(const struct golden_case *this, const void *shared)
{
    struct life life = {.this = this, .group = shared};
    struct json_cursor events;
    size_t length;
    if (read_case_server(this, life.group, &life.server) ||
        json_array(&this->at, "events", &events, &length, &this->outcome->damaged))
        return -1;
    int failed = 0;
    struct json_cursor event = json_at(&events, 0);
    for (size_t i = 0; i < length && !failed; i++, event = json_next(&event)) {
        char prefill[48], running[48];
        snprintf(prefill, sizeof prefill, "events[%zu].prefill", i);
        snprintf(running, sizeof running, "events[%zu].running", i);
        failed = act(&life, &event) || same_state(&life, &event, "prefill", prefill, &life.prefill) ||
                 same_state(&life, &event, "running", running, &life.running);
    }
    engine_batch_free(&life.prefill);
    engine_batch_free(&life.running);
    return failed ? -1 : 0;
}

const struct golden_check golden_predicate_path = {
    .family = "predicate",
    .check = "path",
    .what = "paths of batches",
    .group_keys = group_keys,
    .case_keys = path_keys,
    .begin = engine_group_begin,
    .recompute = recompute_path,
    .end = engine_group_end,
};
const struct golden_check golden_predicate_history = {
    .family = "predicate",
    .check = "history",
    .what = "lives of running batches",
    .group_keys = group_keys,
    .case_keys = history_keys,
    .begin = engine_group_begin,
    .recompute = recompute_history,
    .end = engine_group_end,
};
