/* difference.c: what is other for one request in another reading, release or setting. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "suite/route/traffic.h"

static bool same_value(const struct engine_value *a, const struct engine_value *b)
{
    if (engine_is_number(a) && engine_is_number(b))
        return a->number == b->number;
    return a->kind == b->kind && (a->kind != ENGINE_TEXT || strcmp(a->text, b->text) == 0);
}

__attribute__((format(printf, 2, 3))) static void append(char text[TALLY_TEXT], const char *format, ...)
{
    va_list list;
    size_t used = strlen(text);
    va_start(list, format);
    vsnprintf(text + used, TALLY_TEXT - used, format, list);
    va_end(list);
}

static void append_value(char text[TALLY_TEXT], const struct route_answer *answer, enum engine_parameter p)
{
    char shown[64];
    append(text, "%s (%s)", route_value_text(&answer->parameters.values.at[p], shown),
           engine_layer_names[answer->parameters.layer[p]]);
}

/* Two names of one default are no difference: the whole vocabulary is -1 in a schema, 2^30 in SGLang's own object. */
static bool same_default(const struct traffic *traffic, size_t a, size_t b, enum engine_parameter p)
{
    struct engine_values from = traffic->answer[a].parameters.values,
                         to = traffic->answer[b].parameters.values;
    struct engine_refusal refusal;
    const struct route_view *view = traffic->view;
    return traffic->answer[a].parameters.layer[p] == ENGINE_LAYER_DEFAULT &&
           traffic->answer[b].parameters.layer[p] == ENGINE_LAYER_DEFAULT &&
           view[a].engine->normalize(view[a].reading, &from, &refusal) == 0 &&
           view[b].engine->normalize(view[b].reading, &to, &refusal) == 0 &&
           same_value(&from.at[p], &to.at[p]);
}

static bool differs(const struct traffic *traffic, size_t a, size_t b, enum engine_parameter p)
{
    const struct route_answer *from = &traffic->answer[a], *to = &traffic->answer[b];
    return from->resolved && to->resolved && from->parameters.layer[p] != ENGINE_LAYER_NONE &&
           to->parameters.layer[p] != ENGINE_LAYER_NONE &&
           !same_value(&from->parameters.values.at[p], &to->parameters.values.at[p]) &&
           !same_default(traffic, a, b, p);
}

bool route_views_alike(const struct traffic *traffic, size_t a, size_t b)
{
    return traffic->view[a].reading == traffic->view[b].reading;
}

bool route_same_outcome(const struct route_answer *a, const struct route_answer *b, bool whole)
{
    if (a->refused || b->refused)
        return a->refused == b->refused && a->refusal.status == b->refusal.status &&
               strcmp(a->refusal.text, b->refusal.text) == 0;
    return !a->state.why == !b->state.why &&
           (a->state.why || (whole ? route_state_same : route_passes_same)(&a->state, &b->state));
}

const char *route_difference(const struct traffic *traffic, size_t a, size_t b, char text[TALLY_TEXT])
{
    const struct route_answer *from = &traffic->answer[a], *to = &traffic->answer[b];
    char before[ROUTE_TEXT], after[ROUTE_TEXT];
    text[0] = 0;
    if (!route_same_outcome(from, to, route_views_alike(traffic, a, b)))
        append(text, "%s -> %s", route_answer_text(from, before), route_answer_text(to, after));
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
        if (differs(traffic, a, b, p)) {
            append(text, "%s%s ", *text ? "; " : "", engine_parameter_names[p]);
            append_value(text, from, p);
            append(text, " -> ");
            append_value(text, to, p);
        }
    return text;
}

const char *route_lost(const struct traffic *traffic, size_t a, size_t b, char text[TALLY_TEXT])
{
    const struct route_answer *from = &traffic->answer[a], *to = &traffic->answer[b];
    text[0] = 0;
    if (from->refused || (from->state.path.kind == ENGINE_GREEDY &&
                          route_same_outcome(from, to, route_views_alike(traffic, a, b))))
        return text;
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
        if (differs(traffic, a, b, p) && from->parameters.layer[p] != ENGINE_LAYER_DEFAULT) {
            append(text, "%s%s ", *text ? ", " : "", engine_parameter_names[p]);
            append_value(text, from, p);
        }
    return text;
}
