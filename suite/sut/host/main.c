/* main.c: samplegate-host, the process that runs a sampler beside the judge.
 *
 *   samplegate-host reference[:RULE] [values=logits|probabilities] [filters=ENGINE] [penalties=ENGINE]
 *                   [noise=id|rank]
 *   samplegate-host cuda[:RULE] [values=logits|probabilities]
 *   samplegate-host engine[:NAME]
 *   samplegate-host engine:PATH.so id=ID
 *   samplegate-host PATH.so [device=cpu|cuda] [key=value ...]
 *
 * Frames come on stdin and go to stdout. Exit 0 at the end of input, 2 if the sampler cannot be opened, 1 if
 * the stream breaks. SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int usage(void)
{
    fprintf(stderr, "usage: samplegate-host reference[:RULE] [values=logits|probabilities] [filters=ENGINE]\n"
                    "                       [penalties=ENGINE] [noise=id|rank]\n"
                    "       samplegate-host cuda[:RULE] [values=logits|probabilities]\n"
                    "       samplegate-host engine[:NAME] | engine:PATH.so id=ID\n"
                    "       samplegate-host PATH.so [device=cpu|cuda] [key=value ...]\n");
    return 2;
}

/* A copy of a standard stream that no library knows about; the stream itself then leads to `instead`. */
static int stream_take(int stream, int instead)
{
    int taken = fcntl(stream, F_DUPFD_CLOEXEC, 3);
    if (taken < 0 || dup2(instead, stream) < 0)
        return -1;
    return taken;
}

/* "KIND" or "KIND:...". */
static bool word_is(const char *word, const char *kind)
{
    const size_t length = strlen(kind);
    return strncmp(word, kind, length) == 0 && (word[length] == '\0' || word[length] == ':');
}

int main(int argc, char **argv)
{
    /* Before anything else: libraries print to stdout, and a plug-in might read stdin. */
    int output = stream_take(STDOUT_FILENO, STDERR_FILENO);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int input = nothing < 0 ? -1 : stream_take(STDIN_FILENO, nothing);
    if (output < 0 || input < 0) {
        fprintf(stderr, "samplegate-host: stdin and stdout must be open: %s\n", strerror(errno));
        return 2;
    }
    close(nothing);
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2 || argv[1][0] == '-')
        return usage();

    struct host_sut sut = {0};
    struct host_text why = {0};
    int opened = word_is(argv[1], "reference") ? host_reference_open(&sut, argv[1], argv + 2, argc - 2, &why)
                 : word_is(argv[1], "engine")  ? host_engine_open(&sut, argv[1], argv + 2, argc - 2, &why)
                 : word_is(argv[1], "cuda")    ? host_cuda_open(&sut, argv[1], argv + 2, argc - 2, &why)
                                               : host_plugin_open(&sut, argv[1], argv + 2, argc - 2, &why);
    if (opened) {
        fprintf(stderr, "samplegate-host: %s\n", why.text);
        host_sut_close(&sut);
        return 2;
    }
    int status = host_serve(&sut, input, output);
    host_sut_close(&sut);
    return status;
}
