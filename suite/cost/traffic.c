/* traffic.c: requests as an engine takes them, counted by what they cost. */
#include "suite/cost/traffic.h"

#include <stdio.h>
#include <string.h>

#include "suite/judge/progress.h"
#include "suite/route/lines.h"

#define READING ENGINE_UPSTREAM

const enum engine_parameter cost_tabled[] = {ENGINE_TEMPERATURE,
                                             ENGINE_TOP_P,
                                             ENGINE_TOP_K,
                                             ENGINE_MIN_P,
                                             ENGINE_PRESENCE_PENALTY,
                                             ENGINE_FREQUENCY_PENALTY,
                                             ENGINE_REPETITION_PENALTY};

/* What each endpoint makes of an empty body; zero where the engine has none. */
static void find_defaults(struct cost_traffic *traffic)
{
    static const struct engine_values empty;
    const struct engine *engine = traffic->engine;
    for (enum engine_endpoint e = 0; e < ENGINE_ENDPOINTS; e++) {
        struct engine_resolved resolved;
        struct engine_refusal refusal;
        if (engine->resolve(READING, &traffic->server, e, &empty, &resolved, &refusal) == 0 &&
            engine_construct(engine, READING, &resolved.values, &refusal) == 0)
            traffic->defaults[e] = resolved.values;
    }
}

static unsigned mask_of(const struct engine_flags *flags)
{
    return (unsigned)flags->need_penalties << COST_PENALTIES |
           (unsigned)flags->need_top_p_top_k << COST_TOP_P_TOP_K | (unsigned)flags->need_min_p << COST_MIN_P;
}

/* The passes that one value opens where all others are the defaults. */
static unsigned opened_by(const struct cost_traffic *traffic, enum engine_parameter parameter,
                          const struct engine_value *value)
{
    struct engine_values alone = traffic->defaults[ENGINE_GENERATE];
    struct engine_flags flags;
    struct engine_refusal refusal;
    alone.at[parameter] = *value;
    return traffic->engine->flags(READING, &traffic->server, &alone, &flags, &refusal) ? 0 : mask_of(&flags);
}

enum cost_pass cost_pass_of(const struct cost_traffic *traffic, enum engine_parameter parameter)
{
    /* On the far side of every default and threshold, and in range. */
    const struct engine_value value = parameter == ENGINE_TOP_K ? engine_integer(1) : engine_float(0.5);
    const unsigned mask = opened_by(traffic, parameter, &value);
    enum cost_pass pass = 0;
    while (pass < COST_PASSES && !(mask >> pass & 1))
        pass++;
    return pass;
}

static void count_parameters(struct cost_traffic *traffic, enum engine_endpoint endpoint,
                             const struct engine_values *values)
{
    const struct engine_values *defaults = &traffic->defaults[ENGINE_GENERATE];
    traffic->off[ENGINE_TEMPERATURE] +=
        values->at[ENGINE_TEMPERATURE].number != traffic->defaults[endpoint].at[ENGINE_TEMPERATURE].number;
    for (enum engine_parameter p = ENGINE_TEMPERATURE + 1; p < COST_TABLED; p++)
        traffic->off[p] +=
            values->at[p].number != defaults->at[p].number && opened_by(traffic, p, &values->at[p]) != 0;
    for (enum engine_parameter p = 0; p < COST_RECORDED; p++)
        values_add(&traffic->values[p], &values->at[p]);
    traffic->seeded += engine_is_set(&values->at[ENGINE_SEED]);
    traffic->prompt_logprobs += engine_is_set(&values->at[ENGINE_PROMPT_LOGPROBS]);
}

static void count_forks(struct cost_traffic *traffic, const struct engine_forks *forks)
{
    if (forks->sequences <= 1)
        return;
    traffic->forked++;
    traffic->forked_sequences += forks->sequences;
    traffic->widest = forks->sequences > traffic->widest ? forks->sequences : traffic->widest;
    traffic->preempted = forks->preempted;
    traffic->last_preempted = forks->last_preempted;
}

static void take(struct cost_traffic *traffic, struct request *request)
{
    const struct engine *engine = traffic->engine;
    struct engine_values values;
    struct engine_resolved resolved;
    struct engine_flags flags;
    struct engine_forks forks;
    struct engine_refusal refusal;
    char text[TALLY_TEXT];
    request_values(request, engine, &values);
    if (engine->resolve(READING, &traffic->server, request->endpoint, &values, &resolved, &refusal) ||
        engine_construct(engine, READING, &resolved.values, &refusal) ||
        engine->flags(READING, &traffic->server, &resolved.values, &flags, &refusal) ||
        engine->forks(READING, &traffic->server, &resolved.values, 1, &forks, &refusal)) {
        if (refusal.status)
            snprintf(text, sizeof text, "HTTP %d: %s", refusal.status, refusal.text);
        else
            snprintf(text, sizeof text, "fails in the step, for its whole batch: %s", refusal.text);
        tally_add(&traffic->refused, text, request->id);
        return;
    }
    const unsigned mask = mask_of(&flags);
    traffic->requests++;
    for (int pass = 0; pass < COST_PASSES; pass++)
        if (mask >> pass & 1) {
            traffic->pass[pass]++;
            traffic->pass_sequences[pass] += forks.sequences;
        }
    for (int d = 0; d < ENGINE_DRAWS; d++)
        if (flags.draws[d]) {
            traffic->draws[d]++;
            traffic->sequences[d] += forks.sequences;
        }
    count_parameters(traffic, request->endpoint, &resolved.values);
    count_forks(traffic, &forks);
    if (request->timed)
        running_arrive(&traffic->running, request->arrival,
                       (struct running_request){request->finish, forks.sequences, mask});
}

static int take_line(struct cost_traffic *traffic, const struct cost_options *options,
                     const struct lines *lines, char *text, size_t bytes, struct trouble *trouble)
{
    static struct request request;
    struct trouble bad = {0};
    const char *reason = "";
    char number[24];
    if (text[strspn(text, " \t\r")] == 0 && strlen(text) == bytes)
        return 0; /* an empty line is no request */
    if (request_read(&request, lines->name, lines->line, text, bytes, &reason, &bad) == 0 &&
        order_take(&traffic->order, &request, lines, &reason, &bad) == 0) {
        take(traffic, &request);
        return 0;
    }
    if (!options->skip_bad) {
        *trouble = bad;
        return -1;
    }
    snprintf(number, sizeof number, "%zu", lines->line);
    tally_add(&traffic->skipped, reason, number);
    return 0;
}

static int take_file(struct cost_traffic *traffic, const struct cost_options *options,
                     struct trouble *trouble)
{
    struct lines lines;
    struct progress progress;
    char *text;
    size_t bytes;
    int more;
    if (lines_open(&lines, options->requests, trouble))
        return -1;
    progress_begin(&progress, 1);
    while ((more = lines_next(&lines, &text, &bytes, trouble)) > 0) {
        more = take_line(traffic, options, &lines, text, bytes, trouble);
        if (more < 0)
            break;
        if (lines.line % 4096 == 0)
            progress_count(&progress, "requests read", lines.line);
    }
    progress_end(&progress);
    traffic->interrupted = lines.interrupted;
    lines_close(&lines);
    return more < 0 ? -1 : 0;
}

int cost_traffic_read(struct cost_traffic *traffic, const struct cost_options *options,
                      struct trouble *trouble)
{
    char plain[] = "{\"endpoint\": \"completions\", \"body\": {}}";
    const struct lines none = {.name = "a request of defaults"};
    *traffic = (struct cost_traffic){.engine = options->engine, .server.vocab = options->vocab};
    find_defaults(traffic);
    if (options->requests ? take_file(traffic, options, trouble)
                          : take_line(traffic, options, &none, plain, strlen(plain), trouble))
        return -1;
    running_end(&traffic->running);
    if (traffic->requests == 0 && !traffic->interrupted)
        return trouble_set(trouble, EXIT_USAGE, "%s: no request in it would get a token%s%s",
                           options->requests,
                           traffic->refused.rows            ? ": "
                           : tally_total(&traffic->skipped) ? ": all lines are bad"
                                                            : "",
                           traffic->refused.rows ? traffic->refused.row[0].text : "");
    tally_sort(&traffic->refused);
    tally_sort(&traffic->skipped);
    return 0;
}

void cost_traffic_free(struct cost_traffic *traffic)
{
    running_free(&traffic->running);
}
