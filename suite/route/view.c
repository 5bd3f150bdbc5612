/* view.c: what one engine, in one reading and behind one server, makes of a request. */
#include "suite/route/view.h"

#include <stdio.h>
#include <string.h>

#include "suite/json/utf8.h"
#include "suite/sut/engines/ask.h"

/* normalize, verify and flags: what a request makes of a batch. A bound on top_k changes no path that is told apart
 * here, and would make a kind of request of each top_k; seeds count where the server uses them. */
static int flags_of(const struct route_view *view, const struct engine_values *values,
                    struct engine_flags *flags, struct engine_refusal *refusal)
{
    if (engine_check(view->engine, view->reading, &view->server, values, flags, refusal))
        return -1;
    flags->top_k_bound = 0;
    flags->bad_seed = flags->bad_seed && view->server.deterministic;
    return 0;
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
    struct engine_refusal refusal;
    view->engine->resolve(view->reading, &bare, ENGINE_GENERATE, &empty, &resolved, &refusal);
    view->plain_values = resolved.values;
    if (flags_of(view, &resolved.values, &view->plain_flags, &refusal))
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
    return route_passes_same(a, b) && a->path.seeded == b->path.seeded && a->path.backend == b->path.backend;
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

void route_answer(const struct route_view *view, enum engine_endpoint endpoint,
                  const struct engine_values *request, struct route_answer *answer)
{
    struct engine_values neutral;
    if (view->neutral) {
        neutralize(request, &neutral);
        request = &neutral;
    }
    answer->resolved = view->engine->resolve(view->reading, &view->server, endpoint, request,
                                             &answer->parameters, &answer->refusal) == 0;
    answer->refused = !answer->resolved ||
                      flags_of(view, &answer->parameters.values, &answer->flags, &answer->refusal) != 0;
    if (!answer->refused)
        answer->state = route_state_of(view, &answer->flags, 1);
}

bool route_view_takes(const struct route_view *view, const struct route_answer *answer)
{
    return !answer->refused && (view->who == ROUTE_ALL ||
                                (view->who == ROUTE_PLAIN) == route_state_same(&answer->state, &view->plain));
}

const char *route_state_text(const struct route_state *state, char text[ROUTE_TEXT])
{
    char stages[ENGINE_PATH_TEXT], draws[ENGINE_PATH_TEXT];
    if (state->idle)
        return "idle";
    if (state->why)
        snprintf(text, ROUTE_TEXT, "fails: %s", state->why);
    else if (*engine_stage_text(&state->path, stages))
        snprintf(text, ROUTE_TEXT, "%s: %s (%s)", engine_path_names[state->path.kind], stages,
                 engine_draw_text(&state->path, draws));
    else
        snprintf(text, ROUTE_TEXT, "%s%s", engine_path_names[state->path.kind],
                 state->path.seeded && state->path.kind != ENGINE_DETERMINISTIC ? ", seeded" : "");
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
    return text;
}

static void add(char text[ROUTE_TEXT], const struct engine_resolved *parameters, enum engine_parameter p)
{
    char number[40], shown[80];
    size_t used = strlen(text);
    snprintf(shown, sizeof shown, "%.60s",
             engine_python_text(&parameters->values.at[p], number, sizeof number));
    utf8_force(shown);
    snprintf(text + used, ROUTE_TEXT - used, "%s%s %s (%s)", used ? ", " : "", engine_parameter_names[p],
             shown, engine_layer_names[parameters->layer[p]]);
}

const char *route_blame(const struct route_view *view, const struct route_answer *answer,
                        char text[ROUTE_TEXT])
{
    struct engine_flags flags;
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
        if (flags_of(view, &without, &flags, &refusal) == 0 && !engine_flags_same(&answer->flags, &flags))
            add(text, &answer->parameters, p);
    }
    return text;
}
