/* judge.c: `samplegate judge RECORDING...`: the verdict on a worker's output made elsewhere. */
#include "suite/cli/cli.h"

#define RECORDINGS_MAX 256

struct arguments {
    struct cli_options common;
    char *file[RECORDINGS_MAX];
    size_t files;
    bool plan_given;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        break;
    case ARGP_KEY_ARG:
        if (arguments->files == RECORDINGS_MAX)
            argp_error(state, "more than %d recordings", RECORDINGS_MAX);
        arguments->file[arguments->files++] = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->files)
            argp_error(state, "a recording is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* What the user does not say is as the recording's run had it. */
static void as_recorded(struct cli_options *common, const struct recording *recording)
{
    const char *plan = frame_get(&recording->hello, "plan"), *seed = frame_get(&recording->hello, "seed"),
               *cells = frame_get(&recording->hello, "selected_cells"),
               *checks = frame_get(&recording->hello, "selected_checks");
    if (!common->plan)
        common->plan = plan ? plan : cli_defaults.plan;
    if (!common->seed)
        common->seed = seed;
    if (!*common->session.cells && cells)
        common->session.cells = cells;
    if (!*common->session.checks && checks)
        common->session.checks = checks;
    if (*recording->early)
        fprintf(stderr, "samplegate: %s: what is whole is judged\n", recording->early);
}

int cli_judge(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_judging, 0, NULL, 0}, {0}};
    static const struct argp argp = {NULL,
                                     parse,
                                     "RECORDING...",
                                     "Judge what a worker answered to `samplegate requests`. The plan is the "
                                     "one the recording names, unless --plan says which file holds it. "
                                     "Second-stage chunks are looked at only where the first raised a flag.",
                                     children,
                                     NULL,
                                     NULL};
    struct arguments arguments = {.common = cli_defaults};
    arguments.common.plan = NULL;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct cli_options *common = &arguments.common;
    struct trouble trouble = {0};
    struct plan plan = {0};
    struct recording recording = {0};
    struct session session = {0};
    struct results results = {0};
    struct recorder recorder = {0};
    cli_catch_signals();
    int exit = EXIT_PASS;
    if (recording_open(&recording, arguments.file, arguments.files, &trouble))
        exit = cli_trouble(&trouble);
    if (!exit)
        as_recorded(common, &recording);
    recorder_open(&recorder, common->out, "recording");
    common->session.recorder = &recorder;
    if (!exit &&
        (cli_plan(&plan, common, &trouble) || results_open(&results, common->out, common->json, &trouble) ||
         session_replay(&session, &plan, &recording, &common->session, &trouble)))
        exit = cli_trouble(&trouble);
    if (!exit) {
        exit = cli_conclude("judge", &session, NULL, common, false, &results);
    }
    results_abandon(&results);
    recorder_abandon(&recorder);
    session_free(&session);
    recording_free(&recording);
    plan_free(&plan);
    return exit;
}
