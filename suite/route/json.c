/* json.c: the report for programs: one object a line, the last is the summary. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/route/report.h"
#include "suite/sut/engines/ask.h"

static char *text_of(cJSON *json)
{
    char *text = engine_memory(cJSON_PrintUnformatted(engine_memory(json)));
    cJSON_Delete(json);
    return text;
}

static void put_line(cJSON *json)
{
    char *line = text_of(json);
    puts(line);
    free(line);
}

/* The path's name, or "fails: ..."; null for idle. */
static void put_state(cJSON *to, const char *key, const struct route_state *state)
{
    char text[ROUTE_TEXT];
    if (state->idle)
        cJSON_AddNullToObject(to, key);
    else if (state->why)
        cJSON_AddStringToObject(to, key, route_state_text(state, text));
    else
        cJSON_AddStringToObject(to, key, engine_path_names[state->path.kind]);
}

/* The same with what the name hides. */
static void put_text(cJSON *to, const char *key, const struct route_state *state)
{
    char text[ROUTE_TEXT];
    if (state->idle)
        cJSON_AddNullToObject(to, key);
    else
        cJSON_AddStringToObject(to, key, route_state_text(state, text));
}

static void put_details(cJSON *to, const struct route_state *state)
{
    char text[ENGINE_PATH_TEXT];
    if (!state->idle && !state->why && *engine_stage_text(&state->path, text)) {
        cJSON_AddStringToObject(to, "stages", text);
        cJSON_AddStringToObject(to, "draws", engine_draw_text(&state->path, text));
    }
    if (state->idle || state->why || state->path.backend == ENGINE_BACKEND_UNSET)
        return;
    cJSON_AddStringToObject(to, "backend", engine_backend_names[state->path.backend]);
    cJSON_AddBoolToObject(to, "seeded", state->path.seeded);
    if (state->path.noise != ENGINE_NOISE_UNSEEDED)
        cJSON_AddStringToObject(to, "noise", engine_noise_names[state->path.noise]);
    if (state->path.top_k_bound > 0)
        cJSON_AddNumberToObject(to, "top_k_bound", state->path.top_k_bound);
    else if (state->path.top_k_bound == ROUTE_BOUNDED)
        cJSON_AddTrueToObject(to, "top_k_bound");
}

/* Requests of a kind share their text but for the number of the seed they sent: this stands in its place. */
#define SEED "\x01"
static bool is_seed(enum engine_parameter p, const struct route_answer *answer)
{
    return p == ENGINE_SEED && answer->parameters.layer[p] == ENGINE_LAYER_REQUEST &&
           answer->parameters.values.at[p].kind == ENGINE_INTEGER;
}

static void put_answer(cJSON *to, const struct route_answer *answer)
{
    if (answer->refused) {
        cJSON_AddNullToObject(to, "path");
        cJSON_AddStringToObject(to, "error", answer->refusal.text);
        cJSON_AddNumberToObject(to, "status", answer->refusal.status);
    } else if (answer->state.why) {
        cJSON_AddNullToObject(to, "path");
        cJSON_AddStringToObject(to, "error", answer->state.why);
        cJSON_AddNumberToObject(to, "status", 0);
    } else {
        put_state(to, "path", &answer->state);
        put_details(to, &answer->state);
    }
    cJSON *params = cJSON_AddObjectToObject(to, "params");
    for (enum engine_parameter p = 0; answer->resolved && p < ENGINE_PARAMETERS; p++) {
        if (answer->parameters.layer[p] == ENGINE_LAYER_NONE)
            continue;
        cJSON *pair = cJSON_AddObjectToObject(params, engine_parameter_names[p]);
        const struct engine_value *value = &answer->parameters.values.at[p];
        cJSON_AddItemToObject(pair, "value",
                              is_seed(p, answer) ? cJSON_CreateRaw(SEED) : engine_value_json(value));
        cJSON_AddStringToObject(pair, "layer", engine_layer_names[answer->parameters.layer[p]]);
    }
}

/* All of a request's line but its id. */
static char *line_of(struct traffic *traffic)
{
    cJSON *json = engine_memory(cJSON_CreateObject());
    put_answer(json, &traffic->answer[0]);
    if (traffic->options->vs)
        put_answer(cJSON_AddObjectToObject(json, "vs"), &traffic->answer[traffic->role[ROLE_VS]]);
    return text_of(json);
}

static int64_t rows_in(const struct traffic *traffic, enum route_role role)
{
    const size_t view = traffic->role[role];
    return traffic->found->view[view].refused ? 0 : traffic_sequences(traffic, view);
}

static void on_request(struct traffic *traffic, const struct request *request)
{
    struct kind_found *found = traffic->found;
    if (!found->line)
        found->line = line_of(traffic);
    char *id = text_of(cJSON_CreateString(request->id));
    printf("{\"id\":%s,\"rows\":%" PRId64 ",", id, rows_in(traffic, ROLE_NOW));
    if (traffic->options->vs)
        printf("\"vs_rows\":%" PRId64 ",", rows_in(traffic, ROLE_VS));
    free(id);
    const char *from = found->line + 1; /* behind its brace */
    for (const char *to; (to = strchr(from, *SEED)); from = to + 1) {
        char *seed = text_of(engine_value_json(&traffic->seed));
        printf("%.*s%s", (int)(to - from), from, seed);
        free(seed);
    }
    puts(from);
}

static void on_change(void *context, const struct walk_change *change)
{
    (void)context;
    cJSON *json = engine_memory(cJSON_CreateObject());
    cJSON_AddNumberToObject(json, "time", change->time);
    put_text(json, "from", &change->from);
    put_text(json, "to", &change->to);
    cJSON_AddStringToObject(json, "cause", change->cause);
    cJSON_AddStringToObject(json, "by", change->joined ? "joining" : "finishing");
    put_line(json);
}

const struct traffic_listener report_json_listener = {SIZE_MAX, false, on_request, on_change};

static void put_tally(cJSON *to, const char *key, struct tally *tally)
{
    cJSON *array = cJSON_AddArrayToObject(to, key);
    tally_sort(tally);
    for (size_t i = 0; i < tally->rows; i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToArray(array, row);
        size_t length = strlen(tally->row[i].text);
        while (length && tally->row[i].text[length - 1] == ' ')
            tally->row[i].text[--length] = 0;
        cJSON_AddStringToObject(row, "what", tally->row[i].text);
        cJSON_AddNumberToObject(row, "count", (double)tally->row[i].count);
        cJSON_AddStringToObject(row, "first", tally->row[i].id[0]);
    }
    if (tally->others) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToArray(array, row);
        cJSON_AddStringToObject(row, "what", "others");
        cJSON_AddNumberToObject(row, "count", (double)tally->others);
    }
}

static void put_walk(cJSON *to, const struct walk *walk)
{
    cJSON *array = cJSON_AddArrayToObject(to, "shares");
    for (size_t i = 0; i < walk->shares; i++) {
        const struct walk_share *share = &walk->share[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToArray(array, row);
        put_state(row, "path", &share->state);
        put_details(row, &share->state);
        cJSON_AddNumberToObject(row, "time", walk->busy > 0 ? share->seconds / walk->busy : 0);
        cJSON_AddNumberToObject(
            row, "tokens", walk->sequence_seconds > 0 ? share->sequence_seconds / walk->sequence_seconds : 0);
        cJSON_AddNumberToObject(row, "outlived", walk->busy > 0 ? share->outlived / walk->busy : 0);
        cJSON_AddNumberToObject(row, "prompt_steps", (double)share->prefills);
    }
    cJSON_AddNumberToObject(to, "busy_seconds", walk->busy);
    cJSON_AddNumberToObject(to, "idle_seconds", walk->idle);
    cJSON_AddNumberToObject(to, "peak_requests", (double)walk->peak);
    cJSON_AddNumberToObject(to, "peak_rows", (double)walk->sequence_peak);
    cJSON_AddNumberToObject(to, "changes", (double)walk->changes);
    cJSON_AddNumberToObject(to, "outlived_times", (double)walk->outlived);
    cJSON_AddNumberToObject(to, "outlived_seconds", walk->outlived_seconds);
    if (walk->outlived) {
        cJSON *longest = cJSON_AddObjectToObject(to, "longest_outlived");
        put_text(longest, "path", &walk->longest.state);
        cJSON_AddNumberToObject(longest, "from", walk->longest.from);
        cJSON_AddNumberToObject(longest, "to", walk->longest.to);
        cJSON_AddStringToObject(longest, "cause", walk->longest.cause);
        cJSON_AddStringToObject(longest, "last", walk->longest.last);
    }
}

static void put_view(cJSON *to, struct traffic *traffic, enum route_role role)
{
    struct route_total *total = &traffic->total[traffic->role[role]];
    cJSON_AddNumberToObject(to, "refused", (double)total->refused);
    cJSON_AddNumberToObject(to, "rows", (double)total->sequences);
    if (role != ROLE_NOW)
        put_tally(to, "differences", &total->difference);
    if (traffic->order.timed) {
        put_walk(to, traffic_walk(traffic, role));
    } else if (total->taken) {
        put_state(to, "batch", &total->batch);
        put_details(to, &total->batch);
        cJSON_AddStringToObject(to, "cause", total->cause);
    }
}

void report_json_end(struct traffic *traffic)
{
    cJSON *json = engine_memory(cJSON_CreateObject());
    cJSON_AddStringToObject(json, "summary", traffic->interrupted ? "interrupted" : "complete");
    cJSON_AddStringToObject(json, "engine", traffic->view[0].name);
    cJSON_AddStringToObject(json, "as", engine_reading_names[traffic->options->reading]);
    cJSON_AddNumberToObject(json, "requests", (double)traffic->requests);
    cJSON_AddStringToObject(json, "rule", "by time: steps are equally long, each row draws one token a step");
    put_state(json, "plain", &traffic->view[0].plain);
    put_tally(json, "skipped", &traffic->skipped);
    put_tally(json, "alone", &traffic->alone);
    put_view(json, traffic, ROLE_NOW);
    cJSON *readings = cJSON_AddObjectToObject(json, "readings");
    for (enum route_role role = ROLE_READING; role <= ROLE_OTHER_READING; role++)
        put_view(cJSON_AddObjectToObject(readings, traffic_view(traffic, role)->name), traffic, role);
    if (traffic->options->vs) {
        cJSON *vs = cJSON_AddObjectToObject(json, "vs");
        cJSON_AddStringToObject(vs, "engine", traffic->options->vs->name);
        put_view(vs, traffic, ROLE_VS);
    }
    cJSON_AddItemToObject(json, "advice", report_advice_json(traffic));
    put_line(json);
}
