/* requests.c: `samplegate requests PLAN -o FILE`: every request of both stages, for a worker that cannot be
 * connected.
 *
 * The file is a worker's whole input: `samplegate-host reference < FILE > RECORDING`, then `samplegate judge
 * RECORDING`. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite/checks/family.h"
#include "suite/cli/cli.h"
#include "suite/judge/chunk.h"

struct arguments {
    const char *plan, *golden, *out, *cells;
    const char *takes, *dtype, *like;
    bool noise;
};

enum { KEY_GOLDEN = 256, KEY_CELL, KEY_NOISE, KEY_LIKE };
static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Where to write (needed)", 0},
    {"takes", 't', "KIND", 0, "What the sampler is handed: logits (default) or probabilities", 0},
    {"dtype", 'd', "DTYPE", 0, "f32 (default), f16 or bf16", 0},
    {"noise", KEY_NOISE, 0, 0, "The sampler takes noise: also the agreement cells (large)", 0},
    {"like", KEY_LIKE, "RECORDING", 0,
     "Ask for all that this sampler announced and claims in an earlier recording, of any plan", 0},
    {"cell", KEY_CELL, "PREFIX", 0, "Only cells whose name starts so", 0},
    {"golden", KEY_GOLDEN, "DIR", 0, "Goldens and plans", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'o':
        arguments->out = text;
        break;
    case 't':
        if (strcmp(text, "logits") && strcmp(text, "probabilities"))
            argp_error(state, "--takes: '%s' is unknown; accepted: logits, probabilities", text);
        arguments->takes = text;
        break;
    case 'd':
        if (strcmp(text, "f32") && strcmp(text, "f16") && strcmp(text, "bf16"))
            argp_error(state, "--dtype: '%s' is unknown; accepted: f32, f16, bf16", text);
        arguments->dtype = text;
        break;
    case KEY_NOISE:
        arguments->noise = true;
        break;
    case KEY_LIKE:
        arguments->like = text;
        break;
    case KEY_CELL:
        arguments->cells = text;
        break;
    case KEY_GOLDEN:
        arguments->golden = text;
        break;
    case ARGP_KEY_ARG:
        if (arguments->plan)
            argp_error(state, "unexpected argument '%s'", text);
        arguments->plan = text;
        break;
    case ARGP_KEY_END:
        if (!arguments->plan || !arguments->out)
            argp_error(state, "a plan and -o FILE are needed");
        if (arguments->like && (arguments->takes || arguments->dtype || arguments->noise))
            argp_error(state, "--like says it all: --takes, --dtype and --noise have no place here");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int put(int fd, const struct frame *frame, const char *file, struct trouble *trouble)
{
    char why[256] = "";
    if (worker_stop_all)
        return trouble_set(trouble, EXIT_INTERRUPTED, "%s: interrupted, not written", file);
    if (frame_write(fd, frame, -1, why, sizeof why) == FRAME_OK)
        return 0;
    return trouble_set(trouble, EXIT_DAMAGED, "%s: %s", file, why);
}

static int put_script(int fd, struct session *session, struct cell_result *result, const char *file,
                      struct trouble *trouble)
{
    char why[1024] = "";
    if (session_script(session, result, 2, why, sizeof why) == CELL_ERROR)
        return trouble_set(trouble, EXIT_DAMAGED, "golden damaged: cell %s: %s", result->cell->name, why);
    for (int stage = 0; stage < 2; stage++)
        for (size_t i = 0; i < result->script[stage].lines; i++)
            if (put(fd, &result->script[stage].line[i].request, file, trouble))
                return -1;
    return 0;
}

static int put_cell(int fd, const struct session *session, size_t cell, const char *file,
                    struct trouble *trouble)
{
    for (int stage = 1; stage <= 2; stage++) {
        size_t count;
        struct plan_chunk *chunks = plan_chunks(session->plan, cell, stage, &count);
        float *room = NULL; /* for the noise */
        size_t values = 0;
        int failed = 0;
        for (size_t c = 0; c < count && !failed; c++) {
            struct frame request = {0};
            const float *noise = chunk_noise(session, &chunks[c], &room, &values);
            chunk_request(session, &chunks[c], noise, &request);
            failed = put(fd, &request, file, trouble);
            frame_free(&request);
        }
        free(room);
        free(chunks);
        if (failed)
            return -1;
        if (session->plan->cell[cell].family == FAMILY_AGREEMENT)
            break; /* nothing to look at twice: a disagreement beyond rounding is settled at once */
    }
    return 0;
}

static int put_all(int fd, struct session *session, const char *file, struct trouble *trouble)
{
    struct frame hello = {0};
    frame_set(&hello, "message", "hello");
    frame_set(&hello, "protocol", FRAME_PROTOCOL);
    frame_set(&hello, "plan", session->plan->name);
    frame_set(&hello, "plan_sha256", session->plan->sha256);
    int failed = put(fd, &hello, file, trouble);
    frame_free(&hello);
    for (size_t i = 0; i < session->plan->cells && !failed; i++)
        if (session->cell[i].selected && session->cell[i].state == CELL_PENDING)
            failed = family_scripted(session->plan->cell[i].family)
                         ? put_script(fd, session, &session->cell[i], file, trouble)
                         : put_cell(fd, session, i, file, trouble);
    return failed;
}

/* A file takes its name when it is whole. What is there and is no file (a pipe, a terminal) is written to as
 * it is: renaming would replace it. */
static void write_file(struct session *session, const char *file, struct trouble *trouble)
{
    struct stat status;
    bool direct = !stat(file, &status) && !S_ISREG(status.st_mode);
    char partial[4096];
    int length = snprintf(partial, sizeof partial, "%s%s", file, direct ? "" : ".partial");
    if (length < 0 || (size_t)length >= sizeof partial) {
        trouble_set(trouble, EXIT_USAGE, "-o: the path is longer than %zu bytes", sizeof partial - 9);
        return;
    }
    int fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        trouble_set(trouble, EXIT_DAMAGED, "%s: %s", partial, strerror(errno));
        return;
    }
    int failed = put_all(fd, session, file, trouble);
    if (close(fd) && !failed)
        failed = trouble_set(trouble, EXIT_DAMAGED, "%s: %s", file, strerror(errno));
    if (!direct && !failed && rename(partial, file))
        failed = trouble_set(trouble, EXIT_DAMAGED, "%s: %s", file, strerror(errno));
    if (!direct && failed)
        unlink(partial);
}

/* A stand-in for the hello that a connected worker would have sent. */
static int assume(struct sut *sut, const struct arguments *arguments, struct trouble *trouble)
{
    const char *takes = arguments->takes ? arguments->takes : "logits",
               *dtype = arguments->dtype ? arguments->dtype : "f32";
    sut->kind = strcmp(takes, "logits") ? VALUE_PROBABILITIES : VALUE_LOGITS;
    sut->dtype = !strcmp(dtype, "f32") ? VALUE_F32 : !strcmp(dtype, "f16") ? VALUE_F16 : VALUE_BF16;
    sut->noise = arguments->noise;
    sut->temperature = true;
    if (!arguments->like)
        return 0;
    struct recording recording;
    int failed = recording_open(&recording, (char *[]){(char *)(uintptr_t)arguments->like}, 1, trouble);
    if (!failed) {
        struct frame hello = recording.hello;
        recording.hello = (struct frame){0}; /* sut_read takes it over */
        failed = sut_read(sut, &hello, arguments->like, trouble);
    }
    recording_free(&recording);
    return failed;
}

int cli_requests(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "PLAN",
        "Write every request of both stages to FILE. Where the engine lives, feed it to a worker and keep "
        "what it answers: samplegate-host reference < FILE > RECORDING, or python3 host.py torch < FILE > "
        "RECORDING. Then: samplegate judge RECORDING.",
        NULL,
        NULL,
        NULL};
    struct arguments arguments = {.cells = ""};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    struct cli_options common = cli_defaults;
    common.plan = arguments.plan;
    common.golden = arguments.golden;
    common.session.cells = arguments.cells;
    struct trouble trouble = {0};
    struct plan plan = {0};
    struct session session = {.options = common.session};
    cli_catch_signals();
    if (!cli_plan(&plan, &common, &trouble)) {
        session.plan = &plan;
        if (!assume(&session.sut, &arguments, &trouble) && !session_prepare(&session, &trouble))
            write_file(&session, arguments.out, &trouble);
    }
    session_free(&session);
    plan_free(&plan);
    return cli_finish(EXIT_PASS, &trouble);
}
