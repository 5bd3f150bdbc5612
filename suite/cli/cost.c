/* cost.c: `samplegate cost`: what the sampling parameters of given traffic cost, and what to change. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suite/cli/cli.h"
#include "suite/cost/cost.h"

enum {
    KEY_ENGINE = 256,
    KEY_VOCAB,
    KEY_BATCH,
    KEY_DTYPE,
    KEY_REQUESTS,
    KEY_AS,
    KEY_SKIP,
    KEY_JSON,
    KEY_RECORD,
    KEY_MODEL,
    KEY_CONCURRENCY,
    KEY_BANDWIDTH,
    KEY_TPOT /* the last: one for each enum cost_tpot */
};

static const struct argp_option options[] = {
    {"engine", KEY_ENGINE, "NAME", 0, "vllm-0.5.0, whose sampler runs in stages that parameters switch on",
     1},
    {"vocab", KEY_VOCAB, "V", 0, "Columns of the logits", 1},
    {"batch", KEY_BATCH, "N", 0,
     "Rows of logits in a step (default: the most sequences of the traffic that run at once, up to 256)", 1},
    {"dtype", KEY_DTYPE, "TYPE", 0, "Of the logits: float16 (default), bfloat16, float32", 1},
    {"requests", KEY_REQUESTS, "FILE.jsonl", 0,
     "The traffic, one object a line: endpoint (chat, completions, generate), body (as sent), and optionally "
     "id, "
     "arrival, finish (seconds), prompt_tokens (of an echoed prompt, which has a row of logits each); \"-\" "
     "is "
     "standard input. Without it: one request of defaults",
     1},
    {"as", KEY_AS, "READING", 0,
     "Where the published article's code (article-port), its sentences (article-prose) and the engine "
     "(upstream, the default) differ: which to follow; the others are compared",
     1},
    {"skip-bad", KEY_SKIP, 0, 0, "Count lines that cannot be read instead of stopping at the first", 1},
    {"json", KEY_JSON, 0, 0, "One object a line, the record last", 1},
    {"record", KEY_RECORD, 0, 0, "Print the record alone, as JSON that is YAML too", 1},
    {0, 0, 0, 0, "Taken into the record, and into its status:", 2},
    {"model-name", KEY_MODEL, "NAME", 0, "The model served", 2},
    {"concurrency", KEY_CONCURRENCY, "N", 0, "Requests at a time", 2},
    {"tpot-default-params", KEY_TPOT + TPOT_DEFAULT, "MS", 0, "Measured time per output token, all defaults",
     2},
    {"tpot-top-p-top-k-on", KEY_TPOT + TPOT_TOP_P_TOP_K, "MS", 0, "The same with top_p or top_k on", 2},
    {"tpot-min-p-on", KEY_TPOT + TPOT_MIN_P, "MS", 0, "With min_p on", 2},
    {"tpot-penalties-on", KEY_TPOT + TPOT_PENALTIES, "MS", 0, "With penalties on", 2},
    {"bandwidth", KEY_BANDWIDTH, "GB/S", 0,
     "Of the device's memory: holds the bytes against --tpot-default-params", 2},
    {0}};

static const char *name_of(int key)
{
    const struct argp_option *option = options;
    while (option->key != key)
        option++;
    return option->name;
}

static int64_t whole(struct argp_state *state, int key, const char *text, int64_t most)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (*end || end == text || errno || value < 1 || value > most)
        argp_error(state, "--%s: '%s' is not a whole number from 1 to %lld", name_of(key), text,
                   (long long)most);
    return value;
}

static double positive(struct argp_state *state, int key, const char *unit, const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    if (*end || end == text || !(value > 0) || !(value <= 1e9))
        argp_error(state, "--%s: '%s' is not a number of %s above 0", name_of(key), text, unit);
    return value;
}

static const struct engine *engine_named(struct argp_state *state, const char *name)
{
    const struct engine *engine = engine_find(name);
    char names[400] = "";
    for (size_t i = 0; i < engine_count; i++)
        if (engine_table[i]->staged)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "",
                     engine_table[i]->name);
    if (!engine || !engine->staged)
        argp_error(state, "--engine: '%s' %s; accepted: %s", name,
                   engine ? "has no stages that parameters switch on" : "is unknown", names);
    return engine;
}

static enum cost_dtype dtype_named(struct argp_state *state, const char *name)
{
    enum cost_dtype dtype = 0;
    while (dtype < COST_DTYPES && strcmp(cost_dtype_names[dtype], name) != 0)
        dtype++;
    if (dtype == COST_DTYPES)
        argp_error(state, "--dtype: '%s' is unknown; accepted: float16, bfloat16, float32", name);
    return dtype;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct cost_options *cost = state->input;
    switch (key) {
    case KEY_ENGINE:
        cost->engine = engine_named(state, text);
        break;
    case KEY_VOCAB:
        cost->vocab = whole(state, key, text, COST_VOCAB_MAX);
        break;
    case KEY_BATCH:
        cost->batch = whole(state, key, text, COST_BATCH_MAX);
        break;
    case KEY_DTYPE:
        cost->dtype = dtype_named(state, text);
        break;
    case KEY_REQUESTS:
        cost->requests = text;
        break;
    case KEY_AS:
        cost->reading = cli_reading(state, text);
        break;
    case KEY_SKIP:
        cost->skip_bad = true;
        break;
    case KEY_JSON:
        cost->json = true;
        break;
    case KEY_RECORD:
        cost->record = true;
        break;
    case KEY_MODEL:
        cost->model_name = text;
        break;
    case KEY_CONCURRENCY:
        cost->concurrency = whole(state, key, text, COST_BATCH_MAX);
        break;
    case KEY_BANDWIDTH:
        cost->bandwidth = positive(state, key, "GB/s", text);
        break;
    case KEY_TPOT + TPOT_DEFAULT:
    case KEY_TPOT + TPOT_TOP_P_TOP_K:
    case KEY_TPOT + TPOT_MIN_P:
    case KEY_TPOT + TPOT_PENALTIES:
        cost->tpot[key - KEY_TPOT] = positive(state, key, "milliseconds", text);
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (!cost->engine || !cost->vocab)
            argp_error(state, "--engine and --vocab are needed, such as --engine vllm-0.5.0 --vocab 128000");
        if (cost->json && cost->record)
            argp_error(state, "--json ends with the record: --record has no place beside it");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_cost(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "What a sampling step of given traffic moves in memory, stage by stage; which parameters open which "
        "stage, how "
        "many requests set them and who else bears that; what forks multiply; what to change, in which order."
        "\vThe record's status is the first that holds. \"amplified by forks\": best_of and n make at least "
        "5% more "
        "sequences than there are requests. \"sampling visible\": a measured TPOT of a pass that this "
        "traffic runs is "
        "at least 5% above --tpot-default-params; or, without such a pair, the step's bytes at --bandwidth "
        "take at "
        "least 5% of --tpot-default-params; or, without these, a request opens a pass or 8 N V of the "
        "largest step is 64 MB or "
        "more. "
        "\"sampling negligible\": else.",
        NULL,
        NULL,
        NULL};
    struct cost_options cost = {.dtype = COST_FLOAT16, .reading = ENGINE_UPSTREAM};
    struct trouble trouble = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &cost);
    cli_catch_signals();
    const int exit = cost_run(&cost, &trouble);
    return cli_finish(exit, &trouble);
}
