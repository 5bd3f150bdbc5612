/* record.c: the published record of a sampling cost, field by field, as JSON. */
#include <stdlib.h>
#include <string.h>

#include "suite/cost/status.h"

static void add_number(cJSON *object, const char *key, double value)
{
    cJSON_AddItemToObject(object, key, value > 0 ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

static cJSON *sampling_params(struct cost_traffic *traffic)
{
    static const enum engine_parameter published[] = {ENGINE_TEMPERATURE,
                                                      ENGINE_TOP_P,
                                                      ENGINE_TOP_K,
                                                      ENGINE_MIN_P,
                                                      ENGINE_PRESENCE_PENALTY,
                                                      ENGINE_FREQUENCY_PENALTY,
                                                      ENGINE_REPETITION_PENALTY,
                                                      ENGINE_SEED,
                                                      ENGINE_BEST_OF,
                                                      ENGINE_N,
                                                      ENGINE_USE_BEAM_SEARCH};
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        cJSON_AddItemToObject(object, engine_parameter_names[published[i]],
                              values_json(&traffic->values[published[i]]));
    return object;
}

static cJSON *batch(const struct cost_traffic *traffic, const struct cost_options *options,
                    const struct cost_step *step)
{
    cJSON *object = cJSON_CreateObject();
    bool mixed = false;
    for (enum cost_pass pass = 0; pass < COST_PASSES; pass++)
        mixed |= cost_is_mixed(traffic, pass);
    cJSON_AddNumberToObject(object, "num_seqs", (double)cost_rows(step));
    cJSON_AddNumberToObject(object, "vocab_size", (double)options->vocab);
    cJSON_AddBoolToObject(object, "do_top_p_top_k", traffic->pass[COST_TOP_P_TOP_K] > 0);
    cJSON_AddBoolToObject(object, "do_min_p", traffic->pass[COST_MIN_P] > 0);
    cJSON_AddBoolToObject(object, "do_penalties", traffic->pass[COST_PENALTIES] > 0);
    cJSON_AddBoolToObject(object, "param_mixed", mixed);
    return object;
}

void cost_record(struct cost_traffic *traffic, const struct cost_options *options, cJSON *record)
{
    static const char *const tpots[] = {"tpot_default_params", "tpot_top_p_top_k_on", "tpot_min_p_on",
                                        "tpot_penalties_on"};
    const struct cost_step step = cost_traffic_step(traffic, options);
    char reason[STATUS_REASON];
    cJSON *workload, *perf;
    cJSON_AddItemToObject(record, "sampling_params", sampling_params(traffic));
    cJSON_AddItemToObject(record, "batch", batch(traffic, options, &step));
    workload = cJSON_AddObjectToObject(record, "workload");
    cJSON_AddItemToObject(workload, "model_name",
                          options->model_name ? cJSON_CreateString(options->model_name) : cJSON_CreateNull());
    add_number(workload, "concurrency", (double)options->concurrency);
    perf = cJSON_AddObjectToObject(record, "perf");
    for (int t = 0; t < TPOTS; t++)
        add_number(perf, tpots[t], options->tpot[t]);
    cJSON_AddNumberToObject(perf, "sampling_tensor_bytes", (double)cost_two_tensors(&step));
    cJSON_AddStringToObject(record, "status", cost_status_names[cost_status(traffic, options, reason)]);
}

/* cJSON indents by tabs, which YAML forbids; within a string a tab is an escape. */
char *cost_record_text(const cJSON *record)
{
    char *tabbed = cJSON_Print(record), *text = malloc(2 * strlen(tabbed) + 1), *to = text;
    bool indent = true;
    if (!text)
        abort();
    for (const char *from = tabbed; *from; from++) {
        if (*from == '\t')
            to = stpcpy(to, indent ? "  " : " ");
        else
            *to++ = *from;
        indent = *from == '\n' || (indent && *from == '\t');
    }
    *to = 0;
    free(tabbed);
    return text;
}
