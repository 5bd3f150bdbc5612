/* main.c: `samplegate COMMAND`: each command is a file beside this one. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite/cli/cli.h"
#include "suite/version.h"

static const struct command {
    const char *name, *sentence;
    int (*main)(int argc, char **argv);
} commands[] = {
    {"run", "judge one sampler", cli_run},
    {"compare", "gate an upgrade from one sampler to another", cli_compare},
    {"list", "the checks, with the mutant each must catch, and the plans", cli_list},
    {"explain", "who is hurt when a check fails, and the smallest effect it sees", cli_explain},
    {"repro", "run one cell again and print every statistic", cli_repro},
    {"golden", "verify: recompute the goldens with this build", cli_golden},
    {"requests", "write a plan's requests to a file, for a sampler that lives elsewhere", cli_requests},
    {"judge", "judge the recording that such a sampler's worker made", cli_judge},
    {"route", "which sampler path an engine takes for given requests, why, and what would change it",
     cli_route},
    {"cost", "what the sampling parameters of given requests cost an engine, and what to change", cli_cost},
    {"bench", "time samplers, side by side or one against another", cli_bench},
};

static void usage(FILE *file)
{
    fprintf(file, "Usage: samplegate COMMAND [OPTION...]\nPoint it at a token sampler and get a verdict a "
                  "release can hang on.\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(file, "  %-9s %s\n", commands[i].name, commands[i].sentence);
    fprintf(file, "\n`samplegate COMMAND --help` lists a command's options.\n"
                  "Exit: 0 passes, 1 a check fails or errs, 2 usage or bad input, 3 inconclusive, 77 nothing "
                  "could run,\n"
                  "99 golden damaged or report not written, 130 interrupted (results kept).\n");
}

/* With one of them closed, a worker's pipe would take its number, and what is printed would go there. */
static void open_standard_streams(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
        ;
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    open_standard_streams();
    argp_err_exit_status = EXIT_USAGE;
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return EXIT_PASS;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("samplegate " SAMPLEGATE_VERSION);
        return EXIT_PASS;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], commands[i].name)) {
            char name[64];
            snprintf(name, sizeof name, "samplegate %s", commands[i].name);
            argv[1] = name; /* argp prints it */
            return commands[i].main(argc - 1, argv + 1);
        }
    fprintf(stderr,
            "samplegate: unknown command '%s'; accepted: run, compare, list, explain, repro, golden, "
            "requests, judge, route, cost, bench\n",
            argv[1]);
    return EXIT_USAGE;
}
