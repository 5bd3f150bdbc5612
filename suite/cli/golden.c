/* golden.c: `samplegate golden verify`: recompute the goldens with this build. */
#include <string.h>

#include "suite/cli/cli.h"
#include "suite/golden/golden.h"

struct arguments {
    const char *golden;
    bool verify;
};

static const struct argp_option options[] = {
    {"golden", 'g', "DIR", 0,
     "The directory (default: the installed one beside this program, else the source tree's)", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'g':
        arguments->golden = text;
        break;
    case ARGP_KEY_ARG:
        if (arguments->verify || strcmp(text, "verify"))
            argp_error(state, "unexpected argument '%s'; accepted: verify", text);
        arguments->verify = true;
        break;
    case ARGP_KEY_END:
        if (!arguments->verify)
            argp_error(state, "what to do is needed; accepted: verify");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void line(void *context, const char *file, const char *what, size_t cases, size_t left_out)
{
    (void)context;
    printf("%-28s %6zu %s", file, cases, what);
    if (left_out)
        printf(", %zu left out as too near to call", left_out);
    putchar('\n');
}

int cli_golden(int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse,
                                     "verify",
                                     "Check the goldens' hashes, recompute every value with this build's "
                                     "code, then compare with what the engines' released wheels answered. "
                                     "Exit 99 and the word 'damaged' or 'disagrees' otherwise.",
                                     NULL,
                                     NULL,
                                     NULL};
    struct arguments arguments = {0};
    struct trouble trouble = {0};
    char directory[4096];
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (golden_directory(arguments.golden, directory, sizeof directory, &trouble) ||
        golden_verify(directory, line, NULL, &trouble))
        return cli_trouble(&trouble);
    printf("golden verify: all agree (%s)\n", directory);
    return cli_finish(EXIT_PASS, &trouble);
}
