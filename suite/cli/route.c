/* route.c: `samplegate route`: which sampler path the given traffic takes, why, and what to change. */
#include <string.h>

#include "suite/cli/cli.h"
#include "suite/route/route.h"

enum { KEY_ENGINE = 256, KEY_VS, KEY_AS, KEY_CONFIG, KEY_SERVER, KEY_REQUESTS, KEY_LOG, KEY_SKIP, KEY_JSON };
static const struct argp_option options[] = {
    {"engine", KEY_ENGINE, "NAME", 0, "The engine that serves the traffic, such as sglang-0.5.20", 0},
    {"vs", KEY_VS, "NAME", 0, "Another engine: say what it would change for the same traffic", 0},
    {"as", KEY_AS, "READING", 0,
     "Where the published article's code (article-port), its sentences (article-prose) and the engine "
     "(upstream, "
     "the default) differ: which to follow; the others are compared",
     0},
    {"generation-config", KEY_CONFIG, "FILE", 0, "The model's generation_config.json", 0},
    {"server", KEY_SERVER, "FILE", 0,
     "The server's flags as a JSON object: sampling_defaults, preferred, deterministic, switch, device, "
     "backend, "
     "generation_config",
     0},
    {"log", KEY_LOG, "FILE", 0,
     "The server's start-up log, which says what was merged from the model's generation_config", 0},
    {"requests", KEY_REQUESTS, "FILE.jsonl", 0,
     "The traffic, one object a line: endpoint (chat, completions, responses, generate), body (as sent), and "
     "optionally id, arrival, finish (seconds), prompt_tokens; \"-\" is standard input. Without it: a plain "
     "request on each endpoint",
     0},
    {"skip-bad", KEY_SKIP, 0, 0, "Count lines that cannot be read instead of stopping at the first", 0},
    {"json", KEY_JSON, 0, 0, "One object a line: requests, changes of the batch's path, a summary", 0},
    {0}};

static const struct engine *engine_named(struct argp_state *state, const char *option, const char *name)
{
    char names[400] = "";
    for (size_t i = 0; i < engine_count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 engine_table[i]->name);
    if (!engine_find(name))
        argp_error(state, "--%s: '%s' is unknown; accepted: %s", option, name, names);
    return engine_find(name);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct route_options *route = state->input;
    switch (key) {
    case KEY_ENGINE:
        route->engine = engine_named(state, "engine", text);
        break;
    case KEY_VS:
        route->vs = engine_named(state, "vs", text);
        break;
    case KEY_AS:
        route->reading = cli_reading(state, text);
        break;
    case KEY_CONFIG:
        route->config = text;
        break;
    case KEY_SERVER:
        route->server = text;
        break;
    case KEY_LOG:
        route->log = text;
        break;
    case KEY_REQUESTS:
        route->requests = text;
        break;
    case KEY_SKIP:
        route->skip_bad = true;
        break;
    case KEY_JSON:
        route->json = true;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (!route->engine)
            argp_error(state, "--engine is needed, such as --engine %s",
                       engine_table[engine_count - 1]->name);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_route(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Which path the sampler takes for each request alone and for the batch they share, where each "
        "parameter comes from, what one neighbour costs, and what would change it.",
        NULL,
        NULL,
        NULL};
    struct route_options route = {.reading = ENGINE_UPSTREAM};
    struct trouble trouble = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &route);
    cli_catch_signals();
    int exit = route_run(&route, &trouble);
    return cli_finish(exit, &trouble);
}
