/* compare.c: `samplegate compare`: gate an upgrade from one sampler to another. */
#include <stdlib.h>

#include "suite/cli/cli.h"

struct arguments {
    struct cli_options common;
    const char *old, *new;
};

enum { KEY_OLD = 512, KEY_NEW };
static const struct argp_option options[] = {
    {"old", KEY_OLD, "SPEC", 0, "The sampler now in use (see `samplegate run --help`)", 0},
    {"new", KEY_NEW, "SPEC", 0, "The sampler to replace it", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        break;
    case KEY_OLD:
        arguments->old = text;
        break;
    case KEY_NEW:
        arguments->new = text;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (!arguments->old || !arguments->new)
            argp_error(state, "both --old SPEC and --new SPEC are needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int both(const struct arguments *arguments, const struct plan *plan, const struct spec *specs,
                struct session *sessions, struct recorder *recorders, struct trouble *trouble)
{
    static const char *const labels[] = {"old", "new"};
    for (int i = 0; i < 2; i++) {
        struct session_options each = arguments->common.session;
        each.keep_tokens = true;
        each.label = labels[i];
        each.recorder = &recorders[i];
        if (session_run(&sessions[i], plan, &specs[i], &each, trouble))
            return -1;
    }
    return 0;
}

static struct verdict report(const struct arguments *arguments, const struct plan *plan,
                             struct session *sessions, struct results *results)
{
    const struct cli_options *common = &arguments->common;
    const struct session *old = &sessions[0];
    struct session *new = &sessions[1];
    struct cell_change *change = calloc(plan->cells, sizeof *change);
    if (!change)
        abort();
    struct verdict verdict = verdict_compare(old, new, change, common->require, common->allow_inconclusive);
    double seconds = old->seconds + new->seconds;
    results_event(results,
                  event_run("compare", plan, common->session.jobs, (const struct session *[]){old, new},
                            (const char *[]){"old", "new"}, 2));
    events_session(results, old, "old");
    events_session(results, new, "new");
    for (size_t i = 0; i < plan->cells; i++)
        results_event(results, event_change(&old->cell[i], &change[i]));
    results_event(results, event_verdict(&verdict, new, seconds));
    if (!common->json) {
        terminal_header(plan, common->session.jobs);
        terminal_session(old, "old", false);
        terminal_session(new, "new", false);
        putchar('\n');
        terminal_differences(old, new);
        terminal_changes(plan, change);
        terminal_verdict(&verdict, seconds);
    }
    free(change);
    return verdict;
}

int cli_compare(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_judging, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Gate an upgrade: identical, equivalent, different or inconclusive. The new sampler is judged "
        "against the exact law, and so is the old one, so that what the old one shows too does not block.",
        children,
        NULL,
        NULL};
    struct arguments arguments = {.common = cli_defaults};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct trouble trouble = {0};
    struct plan plan = {0};
    struct spec specs[2] = {0};
    struct session sessions[2] = {0};
    struct results results = {0};
    struct recorder recorders[2] = {{0}, {0}};
    cli_catch_signals();
    /* What is new today is the baseline of tomorrow. */
    recorder_open(&recorders[0], arguments.common.out, "recording.old");
    recorder_open(&recorders[1], arguments.common.out, "recording");
    int exit;
    if (cli_plan(&plan, &arguments.common, &trouble) || spec_parse(&specs[0], arguments.old, &trouble) ||
        spec_parse(&specs[1], arguments.new, &trouble) ||
        results_open(&results, arguments.common.out, arguments.common.json, &trouble) ||
        both(&arguments, &plan, specs, sessions, recorders, &trouble)) {
        bool keep = trouble.exit == EXIT_INTERRUPTED && sessions[0].cell;
        sessions[0].interrupted = keep; /* before new began: what old has is reported alone */
        exit = keep ? cli_conclude("compare", &sessions[0], NULL, &arguments.common, false, &results)
                    : cli_trouble(&trouble);
    } else {
        struct verdict verdict = report(&arguments, &plan, sessions, &results);
        results_close(&results, &trouble);
        for (int i = 0; i < 2; i++)
            recorder_close(&recorders[i], &trouble);
        junit_write(arguments.common.out, &sessions[1], &verdict, sessions[0].seconds + sessions[1].seconds,
                    &trouble);
        exit = cli_finish(verdict.exit, &trouble);
    }
    results_abandon(&results);
    for (int i = 0; i < 2; i++) {
        recorder_abandon(&recorders[i]);
        session_free(&sessions[i]);
        spec_free(&specs[i]);
    }
    plan_free(&plan);
    return exit;
}
