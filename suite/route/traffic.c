/* traffic.c: requests through an engine, as it is, in other readings, upgraded, and advised. */
#include "suite/route/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/judge/progress.h"
#include "suite/route/lines.h"

static void add_view(struct traffic *traffic, enum route_role role, const char *name, struct route_view view)
{
    traffic->role[role] = traffic->views;
    view.name = name;
    if (view.who == ROUTE_ALL)
        view.answers = traffic->views;
    traffic->view[traffic->views++] = view;
}

/* Two servers in the place of that view's one. */
static void add_split(struct traffic *traffic, enum route_role plain, enum route_role others,
                      struct route_view view, size_t answers)
{
    view.answers = answers;
    view.who = ROUTE_PLAIN;
    add_view(traffic, plain, "", view);
    view.who = ROUTE_OTHERS;
    add_view(traffic, others, "", view);
}

static void add_views(struct traffic *traffic)
{
    const struct route_options *options = traffic->options;
    const struct route_view now = {
        .engine = options->engine, .reading = options->reading, .server = traffic->server.at};
    struct route_view view = now;
    enum route_role other = ROLE_READING;
    add_view(traffic, ROLE_NOW, options->engine->name, now);
    for (enum engine_reading reading = 0; reading < ENGINE_READINGS; reading++)
        if (reading != options->reading) {
            view.reading = reading;
            add_view(traffic, other, engine_reading_names[reading], view);
            other = ROLE_OTHER_READING;
        }
    if (options->vs) {
        view = now;
        view.engine = options->vs;
        view.server = traffic->vs_server.at;
        add_view(traffic, ROLE_VS, options->vs->name, view);
    }
    view = now;
    view.server.neutral_defaults = true;
    add_view(traffic, ROLE_OPENAI, "", view);
    add_split(traffic, ROLE_SPLIT_PLAIN, ROLE_SPLIT_OTHERS, now, 0);
    view = now;
    view.neutral = true;
    add_view(traffic, ROLE_EXPLICIT, "", view);
    add_split(traffic, ROLE_BOTH_PLAIN, ROLE_BOTH_OTHERS, view, traffic->role[ROLE_EXPLICIT]);
}

int traffic_open(struct traffic *traffic, const struct route_options *options, struct trouble *trouble)
{
    *traffic = (struct traffic){.options = options};
    for (int role = 0; role < ROLES; role++)
        traffic->role[role] = SIZE_MAX;
    if (route_server_open(&traffic->server, options->engine, options->server, options->config, options->log,
                          trouble) ||
        (options->vs && route_server_open(&traffic->vs_server, options->vs, options->server, options->config,
                                          options->log, trouble)))
        return -1;
    add_views(traffic);
    for (size_t v = 0; v < traffic->views; v++)
        route_view_prepare(&traffic->view[v]);
    return 0;
}

const struct route_view *traffic_view(const struct traffic *traffic, enum route_role role)
{
    return traffic->role[role] == SIZE_MAX ? NULL : &traffic->view[traffic->role[role]];
}

const struct walk *traffic_walk(const struct traffic *traffic, enum route_role role)
{
    return traffic->role[role] == SIZE_MAX ? NULL : &traffic->walk[traffic->role[role]];
}

const struct route_total *traffic_total(const struct traffic *traffic, enum route_role role)
{
    return traffic->role[role] == SIZE_MAX ? NULL : &traffic->total[traffic->role[role]];
}

double traffic_plain_share(const struct traffic *traffic, enum route_role role)
{
    const enum route_role second = role == ROLE_SPLIT_PLAIN  ? ROLE_SPLIT_OTHERS
                                   : role == ROLE_BOTH_PLAIN ? ROLE_BOTH_OTHERS
                                                             : role;
    double plain = 0, all = 0;
    for (enum route_role r = role;; r = second) {
        const struct walk *walk = traffic_walk(traffic, r);
        const struct route_total *total = traffic_total(traffic, r);
        plain +=
            traffic->order.timed ? walk_tokens(walk, &traffic_view(traffic, r)->plain) : (double)total->plain;
        all += traffic->order.timed ? walk->sequence_seconds : 0;
        if (r == second)
            break;
    }
    all = traffic->order.timed ? all : (double)traffic->requests;
    return all > 0 ? plain / all : 0;
}

/* What the request is to this view's batch, where there are no times. */
static void add_to_batch(const struct route_view *view, struct route_total *total,
                         const struct engine_flags *own, const char *id)
{
    const struct engine_flags flags = total->taken ? view->engine->together(total->flags, *own) : *own;
    if (total->taken && engine_flags_same(&flags, &total->flags))
        return;
    const struct route_state batch = route_state_of(view, &flags, 1);
    if (!total->taken || !route_state_same(&batch, &total->batch))
        snprintf(total->cause, sizeof total->cause, "%s", id);
    total->flags = flags;
    total->batch = batch;
}

/* `other`: what the engine of ROLE_VS reads in the body; `fields`: what request_fields found there. */
static void answer(struct traffic *traffic, const struct request *request, const struct engine_values *values,
                   const struct engine_values *other, const char *fields)
{
    cJSON *body =
        fields ? cJSON_Parse(fields) : NULL; /* none if it holds NaN, which its schema refuses elsewhere */
    for (size_t v = 0; v < traffic->views; v++) {
        const struct route_view *view = &traffic->view[v];
        if (view->answers == v)
            route_answer(view, request->endpoint, v == traffic->role[ROLE_VS] ? other : values, body,
                         &traffic->answer[v]);
    }
    cJSON_Delete(body);
}

/* From the answers. */
static void find(struct traffic *traffic, const struct request *request, struct kind_found *found)
{
    char path[ROUTE_TEXT];
    snprintf(found->alone, sizeof found->alone, "%-11s  %-11s  %s", engine_endpoint_names[request->endpoint],
             route_answer_text(&traffic->answer[0], path),
             route_blame(&traffic->view[0], &traffic->answer[0], found->blame));
    for (size_t v = 0; v < traffic->views; v++) {
        const struct route_view *view = &traffic->view[v];
        const struct route_answer *own = &traffic->answer[view->answers];
        const bool advice = v == traffic->role[ROLE_EXPLICIT] || v == traffic->role[ROLE_OPENAI];
        found->view[v] = (struct kind_view){
            .refused = own->refused, .takes = route_view_takes(view, own), .forks = own->forks};
        if (found->view[v].takes) {
            found->view[v].plain = route_state_same(&own->state, &view->plain);
            found->view[v].flags = own->flags;
        }
        found->difference[v][0] = 0;
        if (v && view->answers == v)
            (advice ? route_lost : route_difference)(traffic, 0, v, found->difference[v]);
    }
}

int64_t traffic_sequences(const struct traffic *traffic, size_t view)
{
    const struct request_prompts *prompts =
        view == traffic->role[ROLE_VS] ? &traffic->vs_prompts : &traffic->prompts;
    return prompts->prompts * traffic->found->view[view].forks.sequences;
}

static void count(struct traffic *traffic, const struct request *request, const struct kind_found *found)
{
    struct trace_open open = {.finish = request->finish};
    bool any = false;
    memcpy(open.id, request->id, sizeof open.id);
    tally_add(&traffic->alone, found->alone, request->id);
    if (*found->blame)
        tally_add(&traffic->noise, found->blame, request->id);
    for (size_t v = 0; v < traffic->views; v++) {
        struct route_total *total = &traffic->total[v];
        const struct kind_view *own = &found->view[v];
        if (*found->difference[v])
            tally_add(&total->difference, found->difference[v], request->id);
        total->refused += own->refused;
        if (!own->takes)
            continue;
        if (!request->timed)
            add_to_batch(&traffic->view[v], total, &own->flags, request->id);
        total->taken++;
        total->plain += own->plain;
        total->sequences += traffic_sequences(traffic, v);
        open.takes[v] = any = true;
        open.flags[v] = route_flags_rounded(own->flags);
        open.sequences[v] = traffic_sequences(traffic, v);
        open.ahead[v] = own->forks.ahead ? open.sequences[v] / own->forks.sequences : 0;
    }
    traffic->requests++;
    if (request->timed && any)
        trace_arrive(&traffic->trace, request->arrival, &open);
}

/* `told`: the answers themselves are wanted, too. */
static void route_one(struct traffic *traffic, struct request *request, bool told)
{
    const struct route_options *options = traffic->options;
    const bool another = options->vs && options->vs->key != options->engine->key;
    struct engine_values values, other;
    bool fresh;
    char *fields = request_fields(request, options->engine);
    if (!fields && options->vs)
        fields = request_fields(request, options->vs);
    request_values(request, options->engine, &values);
    if (another)
        request_values(request, options->vs, &other);
    struct kind_found *found =
        kinds_find(&traffic->kinds, request->endpoint, &values, another ? &other : NULL, fields, &fresh);
    if (fresh || told)
        answer(traffic, request, &values, another ? &other : &values, fields);
    free(fields);
    if (fresh)
        find(traffic, request, found);
    traffic->found = found;
    request_prompts(request, options->engine, &traffic->prompts);
    if (options->vs)
        request_prompts(request, options->vs, &traffic->vs_prompts);
    traffic->seed = values.at[ENGINE_SEED];
    count(traffic, request, found);
}

static int route_line(struct traffic *traffic, const struct lines *lines, char *text, size_t bytes,
                      const struct traffic_listener *listener, struct trouble *trouble)
{
    static struct request request;
    struct trouble bad = {0};
    const char *reason = "";
    char number[24];
    if (text[strspn(text, " \t\r")] == 0 && strlen(text) == bytes)
        return 0; /* an empty line is no request */
    if (request_read(&request, lines->name, lines->line, text, bytes, &reason, &bad) == 0 &&
        order_take(&traffic->order, &request, lines, &reason, &bad) == 0) {
        const bool told = traffic->requests < listener->requests;
        route_one(traffic, &request, told && listener->answers);
        if (told)
            listener->request(traffic, &request);
        return 0;
    }
    if (!traffic->options->skip_bad) {
        *trouble = bad;
        return -1;
    }
    snprintf(number, sizeof number, "%zu", lines->line);
    tally_add(&traffic->skipped, reason, number);
    return 0;
}

/* Without a file: what plain requests get. */
static int route_plain(struct traffic *traffic, const struct traffic_listener *listener,
                       struct trouble *trouble)
{
    const struct lines none = {.name = "plain requests"};
    for (int e = 0; e < ENGINE_ENDPOINTS; e++) {
        char text[120];
        snprintf(text, sizeof text, "{\"id\": \"plain-%s\", \"endpoint\": \"%s\", \"body\": {}}",
                 engine_endpoint_names[e], engine_endpoint_names[e]);
        if (route_line(traffic, &none, text, strlen(text), listener, trouble))
            return -1;
    }
    return 0;
}

static int route_file(struct traffic *traffic, const struct traffic_listener *listener,
                      struct trouble *trouble)
{
    struct lines lines;
    struct progress progress;
    char *text;
    size_t bytes;
    int more;
    if (lines_open(&lines, traffic->options->requests, trouble))
        return -1;
    progress_begin(&progress, 1);
    while ((more = lines_next(&lines, &text, &bytes, trouble)) > 0) {
        more = route_line(traffic, &lines, text, bytes, listener, trouble);
        if (more < 0)
            break;
        if (ferror(stdout)) /* nobody reads on; whoever prints last says so */
            break;
        if (traffic->requests % 4096 == 0)
            progress_count(&progress, "requests routed", traffic->requests);
    }
    progress_end(&progress);
    traffic->interrupted = lines.interrupted;
    lines_close(&lines);
    return more < 0 ? -1 : 0;
}

int traffic_route(struct traffic *traffic, const struct traffic_listener *listener, struct trouble *trouble)
{
    for (size_t v = 0; v < traffic->views; v++)
        walk_begin(&traffic->walk[v], &traffic->view[v], v ? NULL : listener->change, traffic);
    traffic->trace.walk = traffic->walk;
    traffic->trace.walks = traffic->views;
    if ((traffic->options->requests ? route_file : route_plain)(traffic, listener, trouble))
        return -1;
    if (traffic->order.timed)
        trace_end(&traffic->trace, traffic->interrupted);
    if (traffic->requests == 0 && !traffic->interrupted)
        return trouble_set(trouble, EXIT_USAGE, "%s: no request could be read from it%s",
                           traffic->options->requests,
                           tally_total(&traffic->skipped) ? ", all lines are bad" : "");
    return 0;
}

void traffic_free(struct traffic *traffic)
{
    kinds_free(&traffic->kinds);
    trace_free(&traffic->trace);
    for (size_t v = 0; v < traffic->views; v++)
        walk_free(&traffic->walk[v]);
    route_server_close(&traffic->server);
    if (traffic->options->vs)
        route_server_close(&traffic->vs_server);
}
