/* bench.c: `samplegate bench`: time samplers, side by side or one against the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite/bench/report.h"
#include "suite/cli/cli.h"
#include "suite/golden/golden.h"

struct arguments {
    const char *sut[BENCH_SUTS_MAX], *vs, *plan, *golden, *out;
    size_t suts;
    struct bench_options options;
    long calls, warmup, sessions; /* 0 (warmup -1): the plan's */
    double claimed, limit;
    bool cpu, allow_unclear, json, markdown;
};

enum {
    KEY_VS = 256,
    KEY_GOLDEN,
    KEY_CELL,
    KEY_TIMEOUT,
    KEY_CALLS,
    KEY_WARMUP,
    KEY_SESSIONS,
    KEY_CLAIMED,
    KEY_LIMIT,
    KEY_CPU,
    KEY_ALLOW,
    KEY_JSON,
    KEY_MARKDOWN
};

static const struct argp_option options[] = {
    {"sut", 's', "SPEC", 0,
     "The sampler, as for run (default reference); may be given several times: side by side, in turn", 0},
    {"vs", KEY_VS, "SPEC", 0,
     "Hold the sampler against this one: paired and interleaved, each under the rule it was opened with; "
     "SAME, "
     "FASTER, SLOWER or UNCLEAR",
     0},
    {"plan", 'p', "NAME|FILE", 0, "What to time: bench-38117 (the default), bench-vllm-0.5.0, or a file", 0},
    {"cell", KEY_CELL, "PREFIX", 0, "Only cells whose name starts so", 0},
    {"calls", KEY_CALLS, "N", 0, "Timed calls a session, instead of the plan's", 0},
    {"warmup", KEY_WARMUP, "N", 0, "Untimed calls before them, instead of the plan's", 0},
    {"sessions", KEY_SESSIONS, "N", 0, "Sessions, each with fresh workers, instead of the plan's", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "A worker that takes longer for one block hangs (default 300)", 0},
    {"claimed", KEY_CLAIMED, "RATIO", 0,
     "Of a claimed speed-up of decoding, such as 1.75: the step time that it would need for the saving "
     "measured",
     0},
    {"fail-slower", KEY_LIMIT, "RATIO", 0,
     "With --vs: exit 1 if the sampler takes more than so many times the other's time, 3 if that is unclear, "
     "0 if it "
     "does not",
     0},
    {"cpu", KEY_CPU, 0, 0,
     "With --vs: compare what the processes used of their cores, not the time that passed; for machines that "
     "others use, "
     "too",
     0},
    {"allow-inconclusive", KEY_ALLOW, 0, 0, "Exit 0 where it is unclear", 0},
    {"out", 'o', "DIR", 0, "Write bench.json there", 0},
    {"json", KEY_JSON, 0, 0, "Google Benchmark's JSON on stdout, instead of text", 0},
    {"markdown", KEY_MARKDOWN, 0, 0, "Tables as Markdown", 0},
    {"golden", KEY_GOLDEN, "DIR", 0, "Goldens and plans", 0},
    {0}};

static double number(struct argp_state *state, const char *name, const char *text, double above,
                     const char *what)
{
    char *end;
    const double value = strtod(text, &end);
    if (*end || end == text || !(value > above) || !(value <= 1e6))
        argp_error(state, "--%s: '%s' is not %s above %g", name, text, what, above);
    return value;
}

static long whole(struct argp_state *state, const char *name, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (*end || end == text || errno || value < low || value > high)
        argp_error(state, "--%s: '%s' is not a whole number from %ld to %ld", name, text, low, high);
    return value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 's':
        if (arguments->suts == BENCH_SUTS_MAX)
            argp_error(state, "--sut: given more than %d times", BENCH_SUTS_MAX);
        arguments->sut[arguments->suts++] = text;
        break;
    case 'p':
        arguments->plan = text;
        break;
    case 'o':
        arguments->out = text;
        break;
    case KEY_VS:
        arguments->vs = text;
        break;
    case KEY_GOLDEN:
        arguments->golden = text;
        break;
    case KEY_CELL:
        arguments->options.cells = text;
        break;
    case KEY_TIMEOUT:
        arguments->options.timeout = number(state, "timeout", text, 0, "a number of seconds");
        break;
    case KEY_CALLS:
        arguments->calls = whole(state, "calls", text, 1, 100000);
        break;
    case KEY_WARMUP:
        arguments->warmup = whole(state, "warmup", text, 0, 100000);
        break;
    case KEY_SESSIONS:
        arguments->sessions = whole(state, "sessions", text, 1, 100);
        break;
    case KEY_CLAIMED:
        arguments->claimed = number(state, "claimed", text, 1, "a ratio such as 1.75,");
        break;
    case KEY_LIMIT:
        arguments->limit = number(state, "fail-slower", text, 0, "a ratio such as 1.05,");
        break;
    case KEY_CPU:
        arguments->cpu = true;
        break;
    case KEY_ALLOW:
        arguments->allow_unclear = true;
        break;
    case KEY_JSON:
        arguments->json = true;
        break;
    case KEY_MARKDOWN:
        arguments->markdown = true;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'", text);
        break;
    case ARGP_KEY_END:
        if (!arguments->suts)
            arguments->sut[arguments->suts++] = "reference";
        if (arguments->vs && arguments->suts > 1)
            argp_error(state, "--vs holds one --sut against another; %zu were given", arguments->suts);
        if (arguments->limit > 0 && !arguments->vs)
            argp_error(state, "--fail-slower needs --vs SPEC: slower than what?");
        if (arguments->cpu && !arguments->vs)
            argp_error(state, "--cpu needs --vs SPEC: it says what is compared");
        if (arguments->json && arguments->markdown)
            argp_error(state, "--json and --markdown exclude each other");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* The plan as asked for: --calls and the like take the place of its numbers. */
static int load(struct bench_plan *plan, const struct arguments *arguments, struct trouble *trouble)
{
    char golden[4096];
    if (golden_directory(arguments->golden, golden, sizeof golden, trouble) ||
        bench_plan_load(plan, arguments->plan, golden, trouble))
        return -1;
    if (arguments->calls)
        plan->calls = (uint32_t)arguments->calls;
    if (arguments->warmup >= 0)
        plan->warmup = (uint32_t)arguments->warmup;
    if (arguments->sessions)
        plan->sessions = (uint32_t)arguments->sessions;
    if (plan->blocks > plan->calls)
        plan->blocks = plan->calls;
    if (arguments->claimed > 0 && plan->about != BENCH_ABOUT_RULE)
        return trouble_set(
            trouble, EXIT_USAGE,
            "--claimed: plan %s is about parameters, some of its cells at temperature 0: its times are no "
            "evidence about the drawing rule; accepted: a plan whose \"about\" is \"rule\", such as "
            "bench-38117",
            plan->name);
    bool found = false;
    for (size_t i = 0; i < plan->cells; i++)
        found |= !strncmp(plan->cell[i].name, arguments->options.cells, strlen(arguments->options.cells));
    if (found)
        return 0;
    char names[800] = "";
    for (size_t i = 0; i < plan->cells; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 plan->cell[i].name);
    return trouble_set(trouble, EXIT_USAGE, "--cell: nothing is called '%s'; there are %s",
                       arguments->options.cells, names);
}

static void path_of(const char *directory, const char *suffix, char path[4096])
{
    snprintf(path, 4096, "%.4000s/bench.json%s", directory, suffix);
}

/* Before an hour of measuring: can DIR/bench.json be written? */
static int out_prepare(const char *directory, struct trouble *trouble)
{
    char partial[4096];
    path_of(directory, ".partial", partial);
    if (mkdir(directory, 0777) && errno != EEXIST)
        return trouble_set(trouble, EXIT_DAMAGED, "--out: %s: %s", directory, strerror(errno));
    unlink(partial); /* a run's that was killed, or what nothing can be written into */
    FILE *file = fopen(partial, "we");
    if (!file)
        return trouble_set(trouble, EXIT_DAMAGED, "--out: %s: %s", partial, strerror(errno));
    fclose(file);
    unlink(partial);
    return 0;
}

/* DIR/bench.json, whole or not at all. */
static void out_write(const char *directory, const char *text, struct trouble *trouble)
{
    char path[4096], partial[4096];
    path_of(directory, "", path);
    path_of(directory, ".partial", partial);
    FILE *file = fopen(partial, "we");
    int failed = file ? 0 : errno;
    if (file && (fprintf(file, "%s\n", text) < 0 || fflush(file) || fsync(fileno(file))))
        failed = errno;
    if (file && fclose(file) && !failed)
        failed = errno;
    if (!failed && rename(partial, path))
        failed = errno;
    if (failed) {
        unlink(partial);
        trouble_set(trouble, EXIT_DAMAGED, "%s: the report cannot be written: %s", path, strerror(failed));
    }
}

/* The exit code, and the verdict's word. */
static int decide(const struct arguments *arguments, const struct bench_report *report, const char **word)
{
    const struct bench *bench = report->bench;
    size_t measured = 0, errors = 0, slower = 0, unclear = 0;
    for (size_t p = 0; p < bench->points; p++)
        for (size_t c = 0; c < bench->contestants; c++) {
            errors += bench->point[p].series[c].state == BENCH_ERROR;
            measured += bench_calls(bench, &bench->point[p].series[c]) > 0;
        }
    for (size_t p = 0; report->comparison && p < bench->points; p++) {
        const struct bench_comparison *made = &report->comparison[p];
        slower += made->past_limit;
        unclear +=
            arguments->limit > 0 ? !made->past_limit && !made->within_limit : made->verdict == BENCH_UNCLEAR;
    }
    *word = bench->interrupted ? "interrupted"
            : errors           ? "error"
            : slower           ? "slower"
            : unclear          ? "unclear"
                               : "measured";
    if (bench->interrupted)
        return EXIT_INTERRUPTED;
    if (errors || slower)
        return EXIT_FAIL;
    if (!measured) {
        *word = "nothing could be timed";
        return EXIT_NOTHING_RAN;
    }
    return unclear && !arguments->allow_unclear ? EXIT_INCONCLUSIVE : EXIT_PASS;
}

static int conclude(const struct arguments *arguments, const struct bench *bench,
                    const struct machine *before)
{
    const struct machine after = machine_look();
    struct trouble trouble = {0};
    struct bench_report report = {.bench = bench,
                                  .before = before,
                                  .after = &after,
                                  .claimed = arguments->claimed,
                                  .markdown = arguments->markdown};
    struct bench_comparison *comparison = NULL;
    if (arguments->vs && bench->contestants == 2) {
        comparison = calloc(bench->points, sizeof *comparison);
        if (!comparison)
            abort();
        for (size_t p = 0; p < bench->points; p++)
            comparison[p] =
                bench_compare(bench, &bench->point[p], bench->points, arguments->limit, arguments->cpu);
        report.comparison = comparison;
    }
    const char *word;
    const int exit = decide(arguments, &report, &word);
    cJSON *json = bench_report_json(&report, word, exit);
    char *text = cJSON_Print(json);
    if (!text)
        abort();
    if (arguments->json) {
        puts(text);
    } else {
        bench_report_head(&report);
        (bench->plan->about == BENCH_ABOUT_RULE ? bench_report_times : bench_report_parameters)(&report);
        if (comparison)
            bench_report_comparison(&report);
        puts(arguments->markdown ? "\n```" : "");
        if (arguments->claimed > 0)
            bench_report_claimed(&report);
        bench_report_missing(&report);
        printf("%s, %.0f s\n", word, bench->seconds);
        if (arguments->markdown)
            puts("```");
    }
    if (arguments->out)
        out_write(arguments->out, text, &trouble);
    free(text);
    cJSON_Delete(json);
    free(comparison);
    return cli_finish(exit, &trouble);
}

int cli_bench(int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse,
                                     NULL,
                                     "Time samplers as a plan says: each call beside the sampler, host-side "
                                     "and synchronized, medians with their "
                                     "interquartile spread, in several sessions."
                                     "\vEnd-to-end decode throughput and several GPUs are out of scope.",
                                     NULL,
                                     NULL,
                                     NULL};
    struct arguments arguments = {
        .plan = "bench-38117", .warmup = -1, .options = {.cells = "", .timeout = 300}};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct trouble trouble = {0};
    struct bench_plan plan = {0};
    struct bench bench = {0};
    struct spec specs[BENCH_SUTS_MAX + 1] = {0};
    cli_catch_signals();
    if (arguments.vs)
        arguments.sut[arguments.suts++] = arguments.vs; /* it is alone so far */
    arguments.options.own_rules = arguments.vs;
    int failed = load(&plan, &arguments, &trouble), exit;
    for (size_t i = 0; i < arguments.suts && !failed; i++)
        failed = spec_parse(&specs[i], arguments.sut[i], &trouble);
    failed = failed || (arguments.out && out_prepare(arguments.out, &trouble));
    const struct machine before = machine_look();
    if (failed || bench_run(&bench, &plan, specs, arguments.suts, &arguments.options, &trouble))
        exit = cli_trouble(&trouble);
    else
        exit = conclude(&arguments, &bench, &before);
    for (size_t i = 0; i < arguments.suts; i++)
        spec_free(&specs[i]);
    bench_free(&bench);
    bench_plan_free(&plan);
    return exit;
}
