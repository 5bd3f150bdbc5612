/* repro.c: `samplegate repro PLAN/CELL`: run one cell again and print every statistic. */
#include <stdlib.h>
#include <string.h>

#include "suite/cli/cli.h"

struct arguments {
    struct cli_options common;
    const char *sut, *id;
};

static const struct argp_option options[] = {
    {"sut", 's', "SPEC", 0, "The sampler (see `samplegate run --help`; default reference)", 0}, {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        break;
    case 's':
        arguments->sut = text;
        break;
    case ARGP_KEY_ARG:
        if (arguments->id)
            argp_error(state, "unexpected argument '%s'", text);
        arguments->id = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->id || !strrchr(arguments->id, '/') || !strrchr(arguments->id, '/')[1])
            argp_error(state, "the cell to run again is needed, as a failure prints it: PLAN/CELL");
        if (arguments->common.plan != cli_defaults.plan ||
            arguments->common.session.cells != cli_defaults.session.cells)
            argp_error(state, "PLAN/CELL says it all: --plan and --cell have no place here");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_repro(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_judging, 0, NULL, 0}, {0}};
    static const struct argp argp = {options,
                                     parse,
                                     "PLAN/CELL",
                                     "Run one cell again, with the same draws, and print every statistic. "
                                     "PLAN/CELL takes the place of --plan and --cell.",
                                     children,
                                     NULL,
                                     NULL};
    struct arguments arguments = {.common = cli_defaults, .sut = "reference"};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    char *id = strdup(arguments.id);
    if (!id)
        abort();
    char *cell = strrchr(id, '/');
    *cell++ = '\0';
    struct cli_options common = arguments.common;
    common.plan = id;
    common.session.cells = cell;
    common.cell_word = "PLAN/CELL";
    struct trouble trouble = {0};
    struct plan plan = {0};
    struct spec spec = {0};
    struct session session = {0};
    struct results results = {0};
    struct recorder recorder = {0};
    cli_catch_signals();
    recorder_open(&recorder, common.out, "recording");
    common.session.recorder = &recorder;
    int exit;
    if (cli_plan(&plan, &common, &trouble) || spec_parse(&spec, arguments.sut, &trouble) ||
        results_open(&results, common.out, common.json, &trouble) ||
        session_run(&session, &plan, &spec, &common.session, &trouble)) {
        exit = cli_trouble(&trouble);
    } else {
        exit = cli_conclude("repro", &session, NULL, &common, true, &results);
    }
    results_abandon(&results);
    recorder_abandon(&recorder);
    session_free(&session);
    spec_free(&spec);
    plan_free(&plan);
    free(id);
    return exit;
}
