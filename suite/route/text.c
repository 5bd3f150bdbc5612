/* text.c: the report for people. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite/plural.h"
#include "suite/route/report.h"

#define FULL_REQUESTS 16
#define FULL_CHANGES 24
#define ROWS 12

void report_text_begin(struct report_text *report)
{
    report->requests = open_memstream(&report->requests_text, &report->requests_bytes);
    report->changes = open_memstream(&report->changes_text, &report->changes_bytes);
    if (!report->requests || !report->changes)
        abort();
}

/* "model: temperature 0.6, top_k 20; default: seed None", the strongest layer first. */
static void put_parameters(FILE *to, const struct route_answer *answer)
{
    bool any = false;
    for (enum engine_layer layer = ENGINE_LAYER_REQUEST; layer <= ENGINE_LAYER_DEFAULT; layer++) {
        bool first = true;
        for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
            char shown[64];
            if (answer->parameters.layer[p] != layer)
                continue;
            fprintf(to, first ? "%s%s: %s %s" : "%.0s%.0s, %s %s", any ? "; " : "      ",
                    engine_layer_names[layer], engine_parameter_names[p],
                    route_value_text(&answer->parameters.values.at[p], shown));
            first = false;
            any = true;
        }
    }
    if (any)
        putc('\n', to);
}

/* "; 6 rows: 2 prompts, 3 sequences of each" of a request of several. */
static void put_rows(FILE *to, const struct traffic *traffic)
{
    const int64_t rows = traffic_sequences(traffic, 0), prompts = traffic->prompts.prompts;
    if (!traffic->answer[0].refused && rows > 1) {
        fprintf(to, "; %" PRId64 " rows:", rows);
        if (prompts > 1)
            fprintf(to, " %" PRId64 " prompts%s", prompts, rows > prompts ? "," : "");
        if (rows > prompts)
            fprintf(to, " %" PRId64 " sequences%s", rows / prompts, prompts > 1 ? " of each" : "");
    }
    putc('\n', to);
}

static void on_request(struct traffic *traffic, const struct request *request)
{
    const struct report_text *report = traffic->context;
    const struct route_answer *answer = &traffic->answer[0];
    char path[ROUTE_TEXT];
    fprintf(report->requests, "  %-17s %-11s %s", request->id, engine_endpoint_names[request->endpoint],
            route_answer_text(answer, path));
    put_rows(report->requests, traffic);
    if (answer->resolved)
        put_parameters(report->requests, answer);
}

static void on_change(void *context, const struct walk_change *change)
{
    const struct traffic *traffic = context;
    const struct report_text *report = traffic->context;
    char from[ROUTE_TEXT], to[ROUTE_TEXT];
    if (traffic->walk[0].changes <= FULL_CHANGES)
        fprintf(report->changes, "  %12.3f s  %s -> %s: %s %s\n", change->time - traffic->order.first,
                route_state_text(&change->from, from), route_state_text(&change->to, to), change->cause,
                change->joined ? "joined" : "finished");
}

const struct traffic_listener report_text_listener = {FULL_REQUESTS, true, on_request, on_change};

void report_tally(struct tally *tally, size_t most)
{
    char ids[TALLY_IDS * (REQUEST_ID + 2) + 32];
    size_t shown = 0, left = tally->others;
    tally_sort(tally);
    for (size_t i = 0; i < tally->rows; i++)
        if (shown < most) {
            const struct tally_row *row = &tally->row[i];
            int length = (int)strlen(row->text);
            while (length && row->text[length - 1] == ' ')
                length--;
            printf("  %9zu  %.*s: %s\n", row->count, length, row->text, tally_ids(row, ids));
            shown++;
        } else {
            left += tally->row[i].count;
        }
    if (left)
        printf("  %9zu  of other kinds\n", left);
}

/* "SOURCE: temperature 0.6, top_k 20" of what is given there. */
static bool print_dictionary(const char *source, const char *words, const struct engine_values *values)
{
    char shown[64];
    bool any = false;
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++) {
        if (values->at[p].kind == ENGINE_ABSENT)
            continue;
        if (!any)
            printf("%s%s:", source, words);
        printf("%s %s %s", any ? "," : "", engine_parameter_names[p],
               route_value_text(&values->at[p], shown));
        any = true;
    }
    return any;
}

/* What "filtered" hides on this server: of which backend, what noise is made from, how much is sorted, what fails. */
static void print_hidden(const struct route_view *view)
{
    static const struct {
        const char *words;
        enum engine_parameter parameter;
        double value;
    } filters[] = {
        {"top_k 20", ENGINE_TOP_K, 20}, {"top_k 2000", ENGINE_TOP_K, 2000}, {"min_p 0.1", ENGINE_MIN_P, 0.1}};
    char text[ROUTE_TEXT], before[ROUTE_TEXT] = "filtered";
    bool by_rank = false, bounded = false;
    for (size_t i = 0; i < sizeof filters / sizeof *filters && !view->engine->staged; i++) {
        const struct route_state state =
            route_state_with(view, filters[i].parameter,
                             filters[i].parameter == ENGINE_TOP_K ? engine_integer((int64_t)filters[i].value)
                                                                  : engine_float(filters[i].value));
        if (strcmp(route_state_text(&state, text), before) == 0)
            continue;
        printf("a batch with %s %s%s\n", filters[i].words, state.why ? "" : "takes ", text);
        strcpy(before, text);
        by_rank |= !state.why && state.path.noise == ENGINE_NOISE_RANK;
        bounded |= !state.why && state.path.top_k_bound;
    }
    if (by_rank)
        printf("(by rank: noise goes with the place in the sorted row, so a neighbour that filters gives a "
               "seeded request other "
               "tokens)\n");
    if (bounded)
        printf("(sorted: as many as the batch's largest top_k while every request has one; the law is the "
               "same, from "
               "the same generator state the tokens are others)\n");
}

static void print_server(struct traffic *traffic)
{
    const struct route_server *server = &traffic->server;
    const struct route_view *now = traffic_view(traffic, ROLE_NOW);
    char path[ROUTE_TEXT], text[64];
    if (server->nothing_merged)
        printf("%s says nothing of default sampling params: the server merged none\n", server->source);
    if (server->source && print_dictionary(server->source, server->from_log ? " says the server merged" : "",
                                           &server->at.generation_config))
        printf("%s\n", now->server.neutral_defaults ? " (not read: sampling_defaults openai)" : "");
    if (print_dictionary("preferred parameters", "", &server->at.preferred))
        putchar('\n');
    printf("a request that asks for nothing %s%s", now->plain.why ? "" : "takes ",
           route_state_text(&now->plain, path));
    if (now->plain.path.backend != ENGINE_BACKEND_UNSET && !now->plain.why)
        printf("; backend %s", engine_backend_names[now->plain.path.backend]);
    printf("%s\n", server->at.deterministic ? "; deterministic inference" : "");
    print_hidden(now);
    if (server->at.gumbel_switch)
        printf(
            "switch \"%s\": off only as 0, false, no or n; other text than 1, true, yes or y draws a warning "
            "and counts as on\n",
            route_value_text(&(struct engine_value){.kind = ENGINE_TEXT, .text = server->at.gumbel_switch},
                             text));
}

static void print_outlived(const struct walk *walk, double first)
{
    const struct walk_outlived *longest = &walk->longest;
    char path[ROUTE_TEXT], times[32] = "once";
    if (!walk->outlived)
        return;
    if (walk->outlived > 1)
        snprintf(times, sizeof times, "%zu times", walk->outlived);
    printf("  sticky: %s a path outlived the requests that need it, %.3f s in all\n", times,
           walk->outlived_seconds);
    printf("  longest, %.3f s: %s, brought by %s, from %.3f s, when %s finished, to %.3f s\n",
           longest->to - longest->from, route_state_text(&longest->state, path), longest->cause,
           longest->from - first, longest->last, longest->to - first);
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void print_shares(const struct walk *walk)
{
    char path[ROUTE_TEXT];
    printf("  %-24s %9s %9s %9s %16s\n", "path", "time", "tokens", "outlived", "prompts' steps");
    for (size_t i = 0; i < walk->shares; i++) {
        const struct walk_share *share = &walk->share[i];
        printf("  %-24s %7.2f %% %7.2f %% %7.2f %% %16zu\n", route_state_text(&share->state, path),
               percent(share->seconds, walk->busy), percent(share->sequence_seconds, walk->sequence_seconds),
               percent(share->outlived, walk->busy), share->prefills);
    }
}

static void print_time(struct traffic *traffic, const struct report_text *report)
{
    const struct walk *walk = &traffic->walk[0];
    printf("\nover time: %.3f s with requests, %.3f s idle, at most %zu request%s", walk->busy, walk->idle,
           walk->peak, PLURAL(walk->peak));
    if (walk->sequence_peak != (int64_t)walk->peak)
        printf(", %" PRId64 " rows,", walk->sequence_peak);
    printf(
        " at a time\n(by time: steps are taken to be equally long, each row to draw one token a step; of "
        "equal "
        "times requests\nfinish first; a prompt's own step takes no time; outlived: no running request needs "
        "that path)\n");
    print_shares(walk);
    print_outlived(walk, traffic->order.first);
    printf("changes of the batch's path, from the first arrival on\n%s", report->changes_text);
    if (walk->changes > FULL_CHANGES)
        printf("  and %zu more (--json has all)\n", walk->changes - FULL_CHANGES);
}

static void print_batch(struct traffic *traffic)
{
    const struct route_total *total = &traffic->total[0];
    char path[ROUTE_TEXT];
    if (!total->taken)
        return;
    printf("\nall %zu", total->taken);
    if (total->sequences != (int64_t)total->taken)
        printf(", %" PRId64 " rows,", total->sequences);
    printf(" as one batch: %s, since %s\n", route_state_text(&total->batch, path), total->cause);
}

/* `whole`: on this very path; else on one of its kind. */
static double seconds_on(const struct walk *walk, const struct route_state *state, bool whole)
{
    double seconds = 0;
    for (size_t i = 0; i < walk->shares; i++) {
        const struct route_state *own = &walk->share[i].state;
        if (whole ? route_state_same(own, state)
                  : !own->why && !state->why && own->path.kind == state->path.kind)
            seconds += walk->share[i].seconds;
    }
    return seconds;
}

/* Some path takes another part of the time in b than in a. */
static bool time_differs(const struct walk *a, const struct walk *b, bool whole)
{
    for (size_t i = 0; i < a->shares; i++) {
        const struct route_state *state = &a->share[i].state;
        if (fabs(seconds_on(a, state, whole) - seconds_on(b, state, whole)) > 1e-9 * (a->busy + b->busy))
            return true;
    }
    return false;
}

/* The batch, or the running batch over time, takes other paths. Articles do not speak of what a path's name hides. */
static bool batch_differs(const struct traffic *traffic, enum route_role role)
{
    const struct route_total *now = traffic_total(traffic, ROLE_NOW), *then = traffic_total(traffic, role);
    const struct walk *a = traffic_walk(traffic, ROLE_NOW), *b = traffic_walk(traffic, role);
    const bool whole = route_views_alike(traffic, 0, traffic->role[role]);
    if (traffic->order.timed)
        return time_differs(a, b, whole) || time_differs(b, a, whole);
    if ((now->taken != 0) != (then->taken != 0) || !now->batch.why != !then->batch.why)
        return true;
    return whole ? !route_state_same(&now->batch, &then->batch)
                 : now->batch.path.kind != then->batch.path.kind;
}

/* Another view of the same traffic: what differs for requests, and for the batch. */
static void print_other(struct traffic *traffic, enum route_role role, const char *words)
{
    const struct route_total *now = traffic_total(traffic, ROLE_NOW);
    struct route_total *then = &traffic->total[traffic->role[role]];
    const char *name = traffic_view(traffic, role)->name;
    char before[ROUTE_TEXT], after[ROUTE_TEXT];
    const bool batch = batch_differs(traffic, role);
    if (!batch && !tally_total(&then->difference)) {
        printf("%s %s: nothing changes\n", words, name);
        return;
    }
    printf("%s %s, of %zu request%s %zu differ%s%s\n", words, name, traffic->requests,
           PLURAL(traffic->requests), tally_total(&then->difference),
           tally_total(&then->difference) == 1 ? "s" : "",
           batch ? ", and so does the batch" : "; the batch does not");
    report_tally(&then->difference, ROWS);
    if (batch && traffic->order.timed)
        print_shares(traffic_walk(traffic, role));
    else if (batch)
        printf("  all as one batch: %s -> %s\n", now->taken ? route_state_text(&now->batch, before) : "none",
               then->taken ? route_state_text(&then->batch, after) : "none");
}

void report_text_end(struct report_text *report, struct traffic *traffic, bool drop)
{
    fclose(report->requests);
    fclose(report->changes);
    if (!drop) {
        const struct route_total *now = &traffic->total[0];
        printf("%s as %s: %zu request%s%s\n", traffic->view[0].name,
               engine_reading_names[traffic->options->reading], traffic->requests, PLURAL(traffic->requests),
               traffic->interrupted ? " until it was interrupted" : "");
        if (tally_total(&traffic->skipped)) {
            printf("skipped bad lines: %zu (behind the colons, their numbers)\n",
                   tally_total(&traffic->skipped));
            report_tally(&traffic->skipped, ROWS);
        }
        print_server(traffic);
        printf("\n%s", report->requests_text);
        if (traffic->requests > FULL_REQUESTS)
            printf("  and %zu more (--json has all)\n", traffic->requests - FULL_REQUESTS);
        printf("\neach alone (%zu refused)\n", now->refused);
        report_tally(&traffic->alone, ROWS);
        if (traffic->order.timed)
            print_time(traffic, report);
        else
            print_batch(traffic);
        report_advice(traffic);
        putchar('\n');
        print_other(traffic, ROLE_READING, "as");
        print_other(traffic, ROLE_OTHER_READING, "as");
        if (traffic->options->vs) {
            putchar('\n');
            print_other(traffic, ROLE_VS, "with");
        }
    }
    free(report->requests_text);
    free(report->changes_text);
}
