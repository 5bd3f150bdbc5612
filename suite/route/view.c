/* view.c: what one engine, in one reading and behind one server, makes of a request. */
#include "suite/route/view.h"

#include <stdio.h>
#include <string.h>

#include "suite/json/utf8.h"
#include "suite/sut/engines/ask.h"
#include "suite/trouble.h"

/* A body with members that can refuse it; NULL: it has none. Articles know of none. */
struct body {
    enum engine_endpoint endpoint;
    const struct cJSON *json;
};

static int look(const struct route_view *view, const struct body *body, enum engine_stage_of_check stage,
                struct engine_refusal *refusal)
{
    return body && body->json && view->reading == ENGINE_UPSTREAM && view->engine->check_fields
               ? view->engine->check_fields(&view->server, body->endpoint, body->json, stage, refusal)
               : 0;
}

/* normalize, verify, flags and forks: what a request makes of a batch. Seeds count where the server uses them; articles
 * speak of one sequence. */
static int check(const struct route_view *view, const struct engine_values *values, bool as_is,
                 const struct body *body, struct engine_flags *flags, struct engine_forks *forks,
                 struct engine_refusal *refusal)
{
    const struct engine *engine = view->engine;
    struct engine_values own = *values;
    *forks = (struct engine_forks){.sequences = 1, .drawn = 1, .kept = 1};
    if ((!as_is && engine->normalize(view->reading, &own, refusal)) ||
        look(view, body, ENGINE_BEFORE_VERIFY, refusal) || engine->verify(view->reading, &own, refusal) ||
        look(view, body, ENGINE_AFTER_VERIFY, refusal) ||
        engine->flags(view->reading, &view->server, &own, flags, refusal))
        return -1;
    if (engine->forks && engine->forks(view->reading, &view->server, &own, 1, forks, refusal)) {
        if (view->reading == ENGINE_UPSTREAM)
            return -1;
        forks->sequences = 1; /* articles do not say what becomes of a number that is none */
    }
    flags->bad_seed = flags->bad_seed && view->server.deterministic;
    return 0;
}

/* Ascend's kernel takes top_k up to 1024; else it counts that there is a bound. */
struct engine_flags route_flags_rounded(struct engine_flags flags)
{
    if (flags.top_k_bound)
        flags.top_k_bound = flags.top_k_bound <= 1024 ? 1024 : INT32_MAX;
    return flags;
}

struct route_state route_state_rounded(const struct route_view *view, const struct engine_flags *flags,
                                       size_t rows)
{
    struct route_state state = route_state_of(view, flags, rows);
    if (!state.idle && !state.why && state.path.top_k_bound)
        state.path.top_k_bound = ROUTE_BOUNDED;
    return state;
}

/* One copy of each text for good: engines have a handful. */
static const char *kept(const char *text)
{
    static char *list[32];
    size_t i = 0;
    while (i < 31 && list[i] && strcmp(list[i], text) != 0)
        i++;
    if (!list[i])
        list[i] = strdup(text);
    return list[i] ? list[i] : "out of memory";
}

void route_view_prepare(struct route_view *view)
{
    static const struct engine_values empty;
    const struct engine_server bare = {.device = view->server.device};
    struct engine_resolved resolved;
    struct engine_forks forks;
    struct engine_refusal refusal;
    view->engine->resolve(view->reading, &bare, ENGINE_GENERATE, &empty, &resolved, &refusal);
    view->plain_values = resolved.values;
    if (check(view, &resolved.values, false, NULL, &view->plain_flags, &forks, &refusal))
        view->plain = (struct route_state){.why = kept(refusal.text)};
    else
        view->plain = route_state_of(view, &view->plain_flags, 1);
}

struct route_state route_state_of(const struct route_view *view, const struct engine_flags *flags,
                                  size_t rows)
{
    struct route_state state = {.idle = rows == 0};
    struct engine_refusal refusal;
    if (!state.idle && view->engine->path(view->reading, &view->server, flags, rows, &state.path, &refusal))
        state.why = kept(refusal.text);
    return state;
}

struct route_state route_state_with(const struct route_view *view, enum engine_parameter parameter,
                                    struct engine_value value)
{
    struct engine_values values = view->plain_values;
    struct engine_flags flags;
    struct engine_forks forks;
    struct engine_refusal refusal;
    values.at[parameter] = value;
    if (check(view, &values, false, NULL, &flags, &forks, &refusal))
        return (struct route_state){.why = kept(refusal.text)};
    return route_state_of(view, &flags, 1);
}

bool route_passes_same(const struct route_state *a, const struct route_state *b)
{
    return a->path.kind == b->path.kind &&
           memcmp(a->path.stages, b->path.stages, sizeof a->path.stages) == 0 &&
           memcmp(a->path.draws, b->path.draws, sizeof a->path.draws) == 0;
}

bool route_state_same(const struct route_state *a, const struct route_state *b)
{
    if (a->idle || b->idle || a->why || b->why)
        return a->idle == b->idle && a->why == b->why;
    return route_passes_same(a, b) && a->path.seeded == b->path.seeded &&
           a->path.backend == b->path.backend && a->path.noise == b->path.noise &&
           !a->path.top_k_bound == !b->path.top_k_bound;
}

/* A client that asks for no filter where it was silent. */
static void neutralize(const struct engine_values *request, struct engine_values *neutral)
{
    *neutral = *request;
    if (!engine_is_set(&neutral->at[ENGINE_TOP_K]))
        neutral->at[ENGINE_TOP_K] = engine_integer(-1);
    if (!engine_is_set(&neutral->at[ENGINE_TOP_P]))
        neutral->at[ENGINE_TOP_P] = engine_float(1);
    if (!engine_is_set(&neutral->at[ENGINE_MIN_P]))
        neutral->at[ENGINE_MIN_P] = engine_float(0);
}

/* From the parameters on; what is refused now has a status that depends on the endpoint. */
static int construct(const struct route_view *view, const struct body *body, struct route_answer *answer)
{
    const int before = look(view, body, ENGINE_BEFORE_NORMALIZE, &answer->refusal);
    answer->as_is = before > 0;
    if (before >= 0 && check(view, &answer->parameters.values, answer->as_is, body, &answer->flags,
                             &answer->forks, &answer->refusal) == 0)
        return 0;
    answer->refusal.status = engine_status(view->engine, body->endpoint, answer->refusal.status);
    return -1;
}

void route_answer(const struct route_view *view, enum engine_endpoint endpoint,
                  const struct engine_values *request, const struct cJSON *json, struct route_answer *answer)
{
    const struct body body = {endpoint, json};
    struct engine_values neutral;
    if (view->neutral) {
        neutralize(request, &neutral);
        request = &neutral;
    }
    answer->as_is = false;
    answer->resolved = look(view, &body, ENGINE_BEFORE_RESOLVE, &answer->refusal) == 0 &&
                       view->engine->resolve(view->reading, &view->server, endpoint, request,
                                             &answer->parameters, &answer->refusal) == 0;
    answer->refused = !answer->resolved || construct(view, &body, answer) != 0;
    if (answer->refused)
        utf8_force(answer->refusal.text); /* which holds what was sent, and may be cut */
    else
        answer->state = route_state_of(view, &answer->flags, 1);
}

bool route_view_takes(const struct route_view *view, const struct route_answer *answer)
{
    return !answer->refused && (view->who == ROUTE_ALL ||
                                (view->who == ROUTE_PLAIN) == route_state_same(&answer->state, &view->plain));
}

/* Of the plain seeded path the name says it. */
static const char *noise_text(const struct engine_path *path)
{
    if (path->noise == ENGINE_NOISE_RANK)
        return ", seeded by rank";
    return path->noise == ENGINE_NOISE_TOKEN && path->kind != ENGINE_DETERMINISTIC ? ", seeded by id" : "";
}

static const char *bound_text(const struct engine_path *path, char text[40])
{
    if (path->top_k_bound == ROUTE_BOUNDED)
        return ", top_k sorted";
    snprintf(text, 40, ", top %d sorted", path->top_k_bound);
    return path->top_k_bound ? text : "";
}

const char *route_state_text(const struct route_state *state, char text[ROUTE_TEXT])
{
    char bound[40], stages[ENGINE_PATH_TEXT], draws[ENGINE_PATH_TEXT];
    if (state->idle)
        return "idle";
    if (state->why)
        snprintf(text, ROUTE_TEXT, "fails: %s", state->why);
    else if (*engine_stage_text(&state->path, stages))
        snprintf(text, ROUTE_TEXT, "%s: %s (%s)", engine_path_names[state->path.kind], stages,
                 engine_draw_text(&state->path, draws));
    else
        snprintf(text, ROUTE_TEXT, "%s%s%s", engine_path_names[state->path.kind], noise_text(&state->path),
                 bound_text(&state->path, bound));
    return text;
}

const char *route_answer_text(const struct route_answer *answer, char text[ROUTE_TEXT])
{
    if (!answer->refused)
        return route_state_text(&answer->state, text);
    if (answer->refusal.status)
        snprintf(text, ROUTE_TEXT, "HTTP %d: %s", answer->refusal.status, answer->refusal.text);
    else
        snprintf(text, ROUTE_TEXT, "fails: %s", answer->refusal.text);
    trouble_flatten(text);
    return text;
}

const char *route_value_text(const struct engine_value *value, char text[64])
{
    char number[40];
    snprintf(text, 64, "%.60s", engine_python_text(value, number, sizeof number));
    utf8_force(text);
    trouble_flatten(text);
    return text;
}

static void add(char text[ROUTE_TEXT], const struct engine_resolved *parameters, enum engine_parameter p)
{
    char shown[64];
    size_t used = strlen(text);
    route_value_text(&parameters->values.at[p], shown);
    snprintf(text + used, ROUTE_TEXT - used, "%s%s %s (%s)", used ? ", " : "", engine_parameter_names[p],
             shown, engine_layer_names[parameters->layer[p]]);
}

const char *route_blame(const struct route_view *view, const struct route_answer *answer,
                        char text[ROUTE_TEXT])
{
    struct engine_flags flags;
    struct engine_forks forks;
    struct engine_refusal refusal;
    text[0] = 0;
    if (answer->refused || engine_flags_same(&answer->flags, &view->plain_flags))
        return text;
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        const struct engine_value *own = &answer->parameters.values.at[p], *plain = &view->plain_values.at[p];
        if (answer->parameters.layer[p] == ENGINE_LAYER_NONE ||
            (own->kind == plain->kind && engine_is_number(own) && own->number == plain->number))
            continue;
        struct engine_values without = answer->parameters.values;
        without.at[p] = *plain;
        if (check(view, &without, answer->as_is, NULL, &flags, &forks, &refusal) == 0 &&
            !engine_flags_same(&answer->flags, &flags))
            add(text, &answer->parameters, p);
    }
    return text;
}
