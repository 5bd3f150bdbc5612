/* report_json.c: what given traffic costs, as JSON, one object a line. */
#include <stdio.h>
#include <stdlib.h>

#include "suite/cost/remedies.h"
#include "suite/cost/report.h"
#include "suite/cost/status.h"

static cJSON *event(const char *name)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "event", name);
    return json;
}

static void print(cJSON *json)
{
    char *line = cJSON_PrintUnformatted(json);
    puts(line);
    free(line);
    cJSON_Delete(json);
}

static void add_bytes(cJSON *json, double tensors, double reads, double writes)
{
    cJSON_AddNumberToObject(json, "tensors", tensors);
    cJSON_AddNumberToObject(json, "reads", reads);
    cJSON_AddNumberToObject(json, "writes", writes);
}

static void print_tally(const char *name, const struct tally *tally)
{
    for (size_t i = 0; i < tally->rows; i++) {
        cJSON *json = event(name);
        cJSON_AddStringToObject(json, "text", tally->row[i].text);
        cJSON_AddNumberToObject(json, "requests", (double)tally->row[i].count);
        print(json);
    }
}

static void print_traffic(const struct cost_traffic *traffic, const struct cost_options *options,
                          const struct cost_step *step)
{
    cJSON *json = event("traffic");
    cJSON_AddStringToObject(json, "engine", options->engine->name);
    cJSON_AddNumberToObject(json, "vocab", (double)options->vocab);
    cJSON_AddStringToObject(json, "dtype", cost_dtype_names[options->dtype]);
    cJSON_AddStringToObject(json, "as", engine_reading_names[traffic->reading]);
    cJSON_AddNumberToObject(json, "lines", (double)traffic->lines);
    cJSON_AddNumberToObject(json, "requests", (double)traffic->requests);
    cJSON_AddNumberToObject(json, "refused", (double)tally_total(&traffic->refused));
    cJSON_AddNumberToObject(json, "skipped", (double)tally_total(&traffic->skipped));
    cJSON_AddBoolToObject(json, "timed", traffic->order.timed);
    cJSON_AddNumberToObject(json, "sequences", (double)cost_sequences(traffic));
    cJSON_AddNumberToObject(json, "rows", (double)cost_rows(step));
    print(json);
    print_tally("refused", &traffic->refused);
    print_tally("skipped", &traffic->skipped);
}

static void print_stages(const struct cost_traffic *traffic, const struct cost_step *step)
{
    double tensors = 0, reads = 0, writes = 0;
    for (enum engine_stage s = 0; s < ENGINE_STAGES; s++) {
        const struct cost_bytes bytes = cost_stage(step, s);
        const double share = cost_stage_share(traffic, step, s);
        cJSON *json = event("stage");
        cJSON_AddStringToObject(json, "stage", engine_stage_names[s]);
        cJSON_AddNumberToObject(json, "share", share);
        add_bytes(json, (double)bytes.tensors, (double)bytes.reads, (double)bytes.writes);
        print(json);
        tensors += share * (double)bytes.tensors;
        reads += share * (double)bytes.reads;
        writes += share * (double)bytes.writes;
    }
    cJSON *json = event("estimate");
    cJSON_AddNumberToObject(json, "two_tensors", (double)cost_two_tensors(step));
    add_bytes(json, tensors, reads, writes);
    print(json);
}

static void print_parameters(const struct cost_traffic *traffic, const struct cost_step *step)
{
    for (size_t i = 0; i < COST_TABLED; i++) {
        const enum engine_parameter p = cost_tabled[i];
        const enum cost_pass pass = cost_pass_of(traffic, p);
        cJSON *json = event("parameter");
        cJSON_AddStringToObject(json, "parameter", engine_parameter_names[p]);
        cJSON_AddNumberToObject(json, "default", traffic->defaults[ENGINE_GENERATE].at[p].number);
        cJSON_AddItemToObject(json, "opens",
                              pass < COST_PASSES ? cJSON_CreateString(cost_pass_flag[pass])
                                                 : cJSON_CreateNull());
        cJSON_AddNumberToObject(json, "off_default", (double)traffic->off[p]);
        cJSON_AddNumberToObject(json, "share", (double)traffic->off[p] / (double)traffic->requests);
        cJSON_AddNumberToObject(json, "bytes", pass < COST_PASSES ? cost_pass_bytes(traffic, step, pass) : 0);
        print(json);
    }
}

static void print_mixed(const struct cost_traffic *traffic, const struct cost_step *step)
{
    for (enum cost_pass pass = 0; pass < COST_PASSES; pass++)
        if (cost_is_mixed(traffic, pass)) {
            cJSON *json = event("mixed");
            cJSON_AddStringToObject(json, "flag", cost_pass_flag[pass]);
            cJSON_AddNumberToObject(json, "requests",
                                    (double)traffic->pass[pass] / (double)traffic->requests);
            cJSON_AddNumberToObject(json, "steps", cost_share(traffic, step, pass));
            print(json);
        }
}

static void print_forks(const struct cost_traffic *traffic)
{
    cJSON *json = event("forks");
    cJSON_AddNumberToObject(json, "requests", (double)traffic->forked);
    cJSON_AddNumberToObject(json, "sequences", (double)traffic->forked_sequences);
    cJSON_AddNumberToObject(json, "widest", (double)traffic->widest);
    cJSON_AddNumberToObject(json, "rows_factor", (double)cost_sequences(traffic) / (double)traffic->requests);
    if (traffic->forked) {
        cJSON_AddStringToObject(json, "preempted", engine_preemption_names[traffic->preempted]);
        cJSON_AddStringToObject(json, "last_preempted", engine_preemption_names[traffic->last_preempted]);
    }
    print(json);
}

static void print_prompts(const struct cost_traffic *traffic, const struct cost_options *options)
{
    cJSON *json = event("prompts");
    cJSON_AddNumberToObject(json, "requests", (double)traffic->prompt_logprobs);
    cJSON_AddNumberToObject(json, "unknown", (double)traffic->unknown_prompts);
    cJSON_AddNumberToObject(json, "rows", (double)traffic->prompt_rows);
    cJSON_AddNumberToObject(json, "widest", (double)traffic->widest_prompt);
    cJSON_AddNumberToObject(
        json, "two_tensors",
        traffic->widest_prompt ? 8 * ((double)traffic->widest_prompt + 1) * (double)options->vocab : 0);
    print(json);
}

static void print_readings(const struct cost_traffic *traffic)
{
    for (enum engine_reading reading = 0; reading < ENGINE_READINGS; reading++) {
        if (reading == traffic->reading)
            continue;
        cJSON *json = event("reading");
        cJSON_AddStringToObject(json, "as", engine_reading_names[reading]);
        cJSON_AddNumberToObject(json, "lines", (double)tally_total(&traffic->difference[reading]));
        cJSON *stages = cJSON_AddArrayToObject(json, "stages");
        for (enum engine_stage s = 0; s < ENGINE_STAGES; s++)
            if (cost_runs(traffic, reading, 0, s))
                cJSON_AddItemToArray(stages, cJSON_CreateString(engine_stage_names[s]));
        print(json);
        print_tally("otherwise", &traffic->difference[reading]);
    }
}

static void print_remedies(const struct cost_traffic *traffic, const struct cost_options *options)
{
    struct remedy remedy[REMEDIES_MAX];
    const size_t remedies = cost_remedies(traffic, options, remedy);
    for (size_t i = 0; i < remedies; i++) {
        cJSON *json = event("remedy");
        cJSON_AddNumberToObject(json, "order", (double)(i + 1));
        cJSON_AddStringToObject(json, "remedy", remedy[i].name);
        cJSON_AddStringToObject(json, "why", remedy[i].why);
        cJSON_AddStringToObject(json, "action", remedy[i].action);
        cJSON_AddStringToObject(json, "costs", remedy[i].costs);
        cJSON_AddNumberToObject(json, "saves", remedy[i].saves);
        print(json);
    }
}

void cost_report_json(struct cost_traffic *traffic, const struct cost_options *options)
{
    const struct cost_step step = cost_traffic_step(traffic, options);
    char reason[STATUS_REASON];
    print_traffic(traffic, options, &step);
    print_stages(traffic, &step);
    print_parameters(traffic, &step);
    print_mixed(traffic, &step);
    print_forks(traffic);
    print_prompts(traffic, options);
    print_remedies(traffic, options);
    print_readings(traffic);
    cJSON *json = event("status"), *record = event("record");
    cost_record(traffic, options, record);
    cJSON_AddStringToObject(json, "status", cost_status_names[cost_status(traffic, options, reason)]);
    cJSON_AddStringToObject(json, "reason", reason);
    print(json);
    print(record);
}
