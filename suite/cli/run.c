/* run.c: `samplegate run`: judge one sampler. */
#include "suite/cli/cli.h"

struct arguments {
    struct cli_options common;
    const char *sut;
};

static const struct argp_option options[] = {{"sut", 's', "SPEC", 0,
                                              "The sampler: reference[:RULE], engine[:NAME], "
                                              "python:torch[@VENV][,rule=multinomial], PATH/TO/PLUGIN.so, "
                                              "exec:COMMAND, recording:FILE (default reference)",
                                              0},
                                             {0}};

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
        argp_error(state, "unexpected argument '%s'", text);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int cli_run(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_judging, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Judge one sampler: draw what the plan says, test it against the exact law, certify its distance.",
        children,
        NULL,
        NULL};
    struct arguments arguments = {.common = cli_defaults, .sut = "reference"};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    const struct cli_options *common = &arguments.common;
    struct trouble trouble = {0};
    struct plan plan = {0};
    struct spec spec = {0};
    struct session session = {0};
    struct results results = {0};
    cli_catch_signals();
    int exit = EXIT_PASS;
    if (cli_plan(&plan, common, &trouble) || spec_parse(&spec, arguments.sut, &trouble) ||
        results_open(&results, common->out, common->json, &trouble) ||
        session_run(&session, &plan, &spec, &common->session, &trouble)) {
        exit = cli_trouble(&trouble);
    } else {
        exit = cli_conclude("run", &session, common, false, &results);
    }
    results_abandon(&results);
    session_free(&session);
    spec_free(&spec);
    plan_free(&plan);
    return exit;
}
