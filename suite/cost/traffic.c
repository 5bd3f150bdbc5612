/* traffic.c: requests as an engine takes them, counted by what they cost. */
#include "suite/cost/traffic.h"

#include <stdio.h>
#include <string.h>

#include "suite/judge/progress.h"
#include "suite/route/lines.h"

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
        if (engine->resolve(traffic->reading, &traffic->server, e, &empty, &resolved, &refusal) == 0 &&
            engine_construct(engine, traffic->reading, &resolved.values, &refusal) == 0)
            traffic->defaults[e] = resolved.values;
    }
}

/* The passes that one value opens where all others are the defaults. */
static unsigned opened_by(const struct cost_traffic *traffic, enum engine_parameter parameter,
                          const struct engine_value *value)
{
    struct engine_values alone = traffic->defaults[ENGINE_GENERATE];
    struct engine_flags flags;
    struct engine_refusal refusal;
    alone.at[parameter] = *value;
    return traffic->engine->flags(traffic->reading, &traffic->server, &alone, &flags, &refusal)
               ? 0
               : cost_mask(&flags);
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

/* `requests` that are alike. */
static void count_parameters(struct cost_traffic *traffic, enum engine_endpoint endpoint,
                             const struct engine_values *values, size_t requests)
{
    const struct engine_values *defaults = &traffic->defaults[ENGINE_GENERATE];
    if (values->at[ENGINE_TEMPERATURE].number != traffic->defaults[endpoint].at[ENGINE_TEMPERATURE].number)
        traffic->off[ENGINE_TEMPERATURE] += requests;
    for (enum engine_parameter p = ENGINE_TEMPERATURE + 1; p < COST_TABLED; p++)
        if (values->at[p].number != defaults->at[p].number && opened_by(traffic, p, &values->at[p]))
            traffic->off[p] += requests;
    for (enum engine_parameter p = 0; p < COST_RECORDED; p++)
        values_add(&traffic->values[p], &values->at[p], requests);
    traffic->seeded += engine_is_set(&values->at[ENGINE_SEED]) ? requests : 0;
}

/* Of each prompt all tokens but the last have a row; the last one's is the one that is drawn from. */
static void count_prompt_rows(struct cost_traffic *traffic, const struct engine_values *values,
                              const struct request_prompts *prompts)
{
    const struct engine_value *most = &values->at[ENGINE_TRUNCATE_PROMPT_TOKENS];
    int64_t tokens = prompts->tokens, longest = prompts->longest;
    if (!engine_is_set(&values->at[ENGINE_PROMPT_LOGPROBS]))
        return;
    traffic->prompt_logprobs += (size_t)prompts->prompts;
    if (tokens < 0) {
        traffic->unknown_prompts += (size_t)prompts->prompts;
        return;
    }
    if (most->kind == ENGINE_INTEGER && most->integer < longest) {
        longest = most->integer;
        tokens = longest * prompts->prompts < tokens ? longest * prompts->prompts : tokens;
    }
    if (tokens > prompts->prompts)
        traffic->prompt_rows += tokens - prompts->prompts;
    if (longest - 1 > traffic->widest_prompt)
        traffic->widest_prompt = longest - 1;
}

static void count_forks(struct cost_traffic *traffic, const struct engine_forks *forks, size_t requests)
{
    if (forks->sequences <= 1)
        return;
    traffic->forked += requests;
    traffic->forked_sequences += forks->sequences * (int64_t)requests;
    traffic->widest = forks->sequences > traffic->widest ? forks->sequences : traffic->widest;
    traffic->preempted = forks->preempted;
    traffic->last_preempted = forks->last_preempted;
}

static void compare_readings(struct cost_traffic *traffic, const struct request *request,
                             const struct engine_values *values, const struct cost_outcome *outcome)
{
    struct cost_outcome other;
    char text[TALLY_TEXT];
    for (enum engine_reading reading = 0; reading < ENGINE_READINGS; reading++) {
        if (reading == traffic->reading)
            continue;
        cost_outcome(traffic->engine, reading, &traffic->server, request->endpoint, values, &other);
        if (*cost_difference(outcome, &other, text))
            tally_add(&traffic->difference[reading], text, request->id);
    }
}

static void take(struct cost_traffic *traffic, struct request *request)
{
    struct engine_values values;
    struct cost_outcome outcome;
    struct request_prompts prompts;
    char text[TALLY_TEXT];
    request_values(request, traffic->engine, &values);
    request_prompts(request, traffic->engine, &prompts);
    cost_outcome(traffic->engine, traffic->reading, &traffic->server, request->endpoint, &values, &outcome);
    compare_readings(traffic, request, &values, &outcome);
    if (outcome.refused) {
        tally_add(&traffic->refused, cost_refusal(&outcome, text), request->id);
        return;
    }
    const size_t requests = (size_t)prompts.prompts;
    const int64_t sequences = prompts.prompts * outcome.forks.sequences;
    traffic->lines++;
    traffic->requests += requests;
    for (int pass = 0; pass < COST_PASSES; pass++)
        if (outcome.mask >> pass & 1) {
            traffic->pass[pass] += requests;
            traffic->pass_sequences[pass] += sequences;
        }
    traffic->draws[outcome.draw] += requests;
    traffic->sequences[outcome.draw] += sequences;
    count_parameters(traffic, request->endpoint, &outcome.values, requests);
    count_prompt_rows(traffic, &outcome.values, &prompts);
    count_forks(traffic, &outcome.forks, requests);
    if (request->timed)
        running_arrive(&traffic->running, request->arrival,
                       (struct running_request){request->finish, requests, sequences, outcome.mask});
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
    *traffic = (struct cost_traffic){
        .engine = options->engine, .reading = options->reading, .server.vocab = options->vocab};
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
    for (enum engine_reading reading = 0; reading < ENGINE_READINGS; reading++)
        tally_sort(&traffic->difference[reading]);
    return 0;
}

void cost_traffic_free(struct cost_traffic *traffic)
{
    running_free(&traffic->running);
}
