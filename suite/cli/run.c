/* run.c: `samplegate run`: judge one sampler. */
#include <sys/stat.h>

#include "suite/cli/cli.h"

struct arguments {
    struct cli_options common;
    const char *sut, *baseline;
};

enum { KEY_BASELINE = 512 };

static const struct argp_option options[] = {
    {"sut", 's', "SPEC", 0,
     "The sampler: reference[:RULE], cuda[:RULE], engine[:NAME], python:torch[@VENV][,rule=multinomial], "
     "python:FILE.py, PATH/TO/PLUGIN.so, "
     "exec:COMMAND, recording:FILE (default reference)",
     0},
    {"baseline", KEY_BASELINE, "DIR|FILE", 0,
     "An earlier run of the same plan (its --out folder, or the recording in it): what it shows, too, is "
     "pre-existing and "
     "does not fail this run",
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
    case KEY_BASELINE:
        arguments->baseline = text;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* The older sampler, judged from what it answered. Both are owned by the caller, whatever happens. */
static int judge_baseline(const struct arguments *arguments, const struct plan *plan,
                          struct recording *recording, struct session *baseline, struct trouble *trouble)
{
    char file[4096];
    struct stat status;
    struct trouble cause = {0};
    struct session_options replay = arguments->common.session;
    replay.label = "baseline";
    replay.budget = 0;
    replay.recorder = NULL;
    bool folder = !stat(arguments->baseline, &status) && S_ISDIR(status.st_mode);
    snprintf(file, sizeof file, "%s%s", arguments->baseline, folder ? "/recording" : "");
    if (recording_open(recording, (char *[]){file}, 1, &cause) ||
        session_replay(baseline, plan, recording, &replay, &cause))
        return trouble_set(trouble, cause.exit, "--baseline: %s", cause.text);
    return baseline->interrupted ? trouble_set(trouble, EXIT_INTERRUPTED, "interrupted") : 0;
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
    struct cli_options *common = &arguments.common;
    struct trouble trouble = {0};
    struct plan plan = {0};
    struct spec spec = {0};
    struct session session = {0}, baseline = {0};
    struct recording recording = {0};
    struct recorder recorder = {0};
    struct results results = {0};
    cli_catch_signals();
    recorder_open(&recorder, common->out, "recording");
    common->session.recorder = &recorder;
    int exit = EXIT_PASS;
    if (cli_plan(&plan, common, &trouble) || spec_parse(&spec, arguments.sut, &trouble) ||
        (arguments.baseline && judge_baseline(&arguments, &plan, &recording, &baseline, &trouble)) ||
        results_open(&results, common->out, common->json, &trouble) ||
        session_run(&session, &plan, &spec, &common->session, &trouble)) {
        exit = cli_trouble(&trouble);
    } else {
        exit = cli_conclude("run", &session, arguments.baseline ? &baseline : NULL, common, false, &results);
    }
    results_abandon(&results);
    recorder_abandon(&recorder);
    session_free(&session);
    session_free(&baseline);
    recording_free(&recording);
    spec_free(&spec);
    plan_free(&plan);
    return exit;
}
