/* cli.c: what the commands share. */
#include "suite/cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite/golden/golden.h"
#include "suite/version.h"

const struct cli_options cli_defaults = {.plan = "gate",
                                         .check_word = "--check",
                                         .cell_word = "--cell",
                                         .session = {.checks = "", .cells = "", .timeout = 300, .label = ""}};

enum {
    KEY_GOLDEN = 256,
    KEY_CHECK,
    KEY_CELL,
    KEY_TIMEOUT,
    KEY_BUDGET,
    KEY_JSON,
    KEY_REQUIRE,
    KEY_ALLOW,
    KEY_SEED
};

static const struct argp_option judging_options[] = {
    {"plan", 'p', "NAME|FILE", 0,
     "What to run: quick, pair, gate (the default), release, card, published-38117, or a file", 0},
    {"check", KEY_CHECK, "PREFIX", 0, "Only these checks: equivalence, equivalence.rank, agreement, ...", 0},
    {"cell", KEY_CELL, "PREFIX", 0, "Only cells whose name starts so", 0},
    {"jobs", 'j', "N", 0, "Workers at a time (default: one a core)", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "A worker that takes longer for one chunk hangs (default 300)", 0},
    {"budget", KEY_BUDGET, "SECONDS", 0,
     "Start no chunk later than this; what did not fit is inconclusive, by name", 0},
    {"require", KEY_REQUIRE, "CAP", 0,
     "Fail if this could not run: gpu, all (no cell skipped), or a capability: noise, seeded, top_k, ... "
     "(may be repeated)",
     0},
    {"allow-inconclusive", KEY_ALLOW, 0, 0, "Exit 0 where the verdict is inconclusive", 0},
    {"seed", KEY_SEED, "N", 0, "Use these draws instead of the plan's own", 0},
    {"out", 'o', "DIR", 0,
     "Write results.jsonl, junit.xml and the recording there, which --baseline takes later", 0},
    {"json", KEY_JSON, 0, 0, "Events on stdout, one object a line, instead of text", 0},
    {"golden", KEY_GOLDEN, "DIR", 0,
     "Goldens and plans (default: the installed ones beside this program, else the source tree's)", 0},
    {0}};

static double seconds(struct argp_state *state, const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (*end || end == text || !(value > 0) || value > 1e6)
        argp_error(state, "--%s: '%s' is not a number of seconds above 0", name, text);
    return value;
}

static long whole(struct argp_state *state, const char *name, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*end || end == text || errno || value < low || value > high)
        argp_error(state, "--%s: '%s' is not a whole number from %ld to %ld", name, text, low, high);
    return value;
}

static void require_known(struct argp_state *state, const char *text)
{
    char known[512] = "gpu, all";
    bool found = !strcmp(text, "gpu") || !strcmp(text, "all");
    for (size_t i = 0; sut_capability_words[i]; i++) {
        found |= !strcmp(text, sut_capability_words[i]);
        strcat(strcat(known, ", "), sut_capability_words[i]); /* a dozen short words */
    }
    if (!found)
        argp_error(state, "--require: '%s' is unknown; accepted: %s", text, known);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct cli_options *options = state->input;
    switch (key) {
    case 'p':
        options->plan = text;
        break;
    case 'o':
        options->out = text;
        break;
    case 'j':
        options->session.jobs = (int)whole(state, "jobs", text, 1, 1024);
        break;
    case KEY_GOLDEN:
        options->golden = text;
        break;
    case KEY_CHECK:
        options->session.checks = text;
        break;
    case KEY_CELL:
        options->session.cells = text;
        break;
    case KEY_TIMEOUT:
        options->session.timeout = seconds(state, "timeout", text);
        break;
    case KEY_BUDGET:
        options->session.budget = seconds(state, "budget", text);
        break;
    case KEY_JSON:
        options->json = true;
        break;
    case KEY_ALLOW:
        options->allow_inconclusive = true;
        break;
    case KEY_SEED:
        whole(state, "seed", text, 0, LONG_MAX);
        options->seed = text;
        options->session.reseeded = true;
        break;
    case KEY_REQUIRE:
        require_known(state, text);
        if (options->requires == CLI_REQUIRE_MAX)
            argp_error(state, "--require: given more than %d times", CLI_REQUIRE_MAX);
        options->require[options->requires ++] = text;
        break;
    case ARGP_KEY_INIT: {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        options->session.jobs = cores < 1 ? 1 : cores > 1024 ? 1024 : (int)cores;
        break;
    }
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp cli_judging = {.options = judging_options, .parser = parse};

enum engine_reading cli_reading(struct argp_state *state, const char *text)
{
    enum engine_reading reading = 0;
    while (reading < ENGINE_READINGS && strcmp(engine_reading_names[reading], text) != 0)
        reading++;
    if (reading == ENGINE_READINGS)
        argp_error(state, "--as: '%s' is unknown; accepted: article-port, article-prose, upstream", text);
    return reading;
}

int cli_trouble(const struct trouble *trouble)
{
    fflush(stdout);
    fprintf(stderr, "samplegate: %s\n", trouble->text);
    return trouble->exit;
}

int cli_plan(struct plan *plan, const struct cli_options *options, struct trouble *trouble)
{
    char golden[4096];
    if (golden_directory(options->golden, golden, sizeof golden, trouble) ||
        plan_load(plan, options->plan, golden, trouble))
        return -1;
    if (options->seed)
        plan->seed = strtoull(options->seed, NULL, 10);
    return cli_check_selection(plan, options, trouble);
}

int cli_check_selection(const struct plan *plan, const struct cli_options *options, struct trouble *trouble)
{
    char names[800] = ""; /* of trouble.text, which holds 1,024 */
    bool check = false, cell = false;
    for (size_t i = 0; i < check_registry_count; i++)
        check |= check_selected(&check_registry[i], options->session.checks);
    for (size_t i = 0; i < plan->cells; i++)
        cell |= !strncmp(plan->cell[i].name, options->session.cells, strlen(options->session.cells));
    if (check && cell)
        return 0;
    for (size_t i = 0; i < (check ? plan->cells : check_registry_count); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                 check ? plan->cell[i].name : check_registry[i].key);
    }
    return trouble_set(trouble, EXIT_USAGE, "%s: nothing is called '%s'; there are %s",
                       check ? options->cell_word : options->check_word,
                       check ? options->session.cells : options->session.checks, names);
}

static void on_signal(int number)
{
    (void)number;
    worker_stop_all = true;
}

void cli_catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal};
    frame_stop = &worker_stop_all;
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    signal(SIGPIPE, SIG_IGN); /* a dead worker is an answer, not our end */
    signal(SIGXFSZ, SIG_IGN); /* a full disk is reported, too */
}

int cli_worst(int a, int b)
{
    static const int order[] = {EXIT_USAGE, EXIT_INTERRUPTED,  EXIT_DAMAGED,
                                EXIT_FAIL,  EXIT_INCONCLUSIVE, EXIT_NOTHING_RAN};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return EXIT_PASS;
}

int cli_finish(int exit, const struct trouble *trouble)
{
    errno = 0;
    bool full = fflush(stdout) || ferror(stdout);
    if (trouble->exit) {
        exit = cli_worst(exit, cli_trouble(trouble));
    } else if (full) {
        fprintf(stderr, "samplegate: standard output: the report cannot be written: %s\n",
                errno ? strerror(errno) : "an earlier write failed");
        exit = cli_worst(exit, EXIT_DAMAGED);
    }
    return exit;
}

int cli_conclude(const char *command, struct session *session, const struct session *baseline,
                 const struct cli_options *options, bool every, struct results *results)
{
    struct trouble trouble = {0};
    int jobs = options->session.jobs;
    struct cell_change *change = baseline ? calloc(session->plan->cells, sizeof *change) : NULL;
    if (baseline && !change)
        abort();
    struct verdict verdict =
        verdict_run(session, baseline, change, options->require, options->allow_inconclusive);
    results_event(results,
                  event_run(command, session->plan, jobs, (const struct session *[]){session, baseline},
                            (const char *[]){"", "baseline"}, baseline ? 2 : 1));
    events_session(results, session, "");
    for (size_t i = 0; baseline && i < session->plan->cells; i++)
        if (session->cell[i].selected)
            results_event(results, event_change(&baseline->cell[i], &change[i]));
    results_event(results, event_verdict(&verdict, session, session->seconds));
    if (!options->json) {
        terminal_header(session->plan, jobs);
        terminal_session(session, "", every);
        if (baseline) {
            putchar('\n');
            terminal_differences(baseline, session);
            terminal_baseline(baseline, session, change);
        }
        terminal_verdict(&verdict, session->seconds);
    }
    free(change);
    results_close(results, &trouble);
    recorder_close(session->options.recorder, &trouble);
    junit_write(options->out, session, &verdict, session->seconds, &trouble);
    return cli_finish(verdict.exit, &trouble);
}
