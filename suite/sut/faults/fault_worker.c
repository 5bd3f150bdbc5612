/* fault_worker.c: a worker that misbehaves in one chosen way, so that the judge's answer to it can be tested.
 *
 *   fault-worker MODE      MODE "none" behaves: it answers token 0 for every draw.
 * SPDX-License-Identifier: MIT */
#include "suite/sut/protocol/frame.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *sentence;
} mode[] = {
    {"none", "answers token 0 for every draw"},
    {"crash", "aborts on the first sample"},
    {"hang", "never answers a sample"},
    {"exit-early", "exits with status 3 before hello"},
    {"out-of-range", "answers the vocabulary's size as a token"},
    {"negative", "answers token -7"},
    {"short", "answers one token fewer than asked"},
    {"broken-frame", "writes garbage after hello"},
    {"truncated", "writes half a frame and exits"},
    {"huge", "writes a frame length of 2^60"},
    {"wrong-chunk", "echoes another chunk number"},
    {"no-hello", "never answers hello"},
    {"chatter", "prints to stdout before hello"},
    {"die-midway", "answers three samples and is killed on the fourth"},
    {"old-protocol", "says hello in protocol 0"},
    {"unsupported", "answers unsupported to every sample"},
    {"times", "behaves, and answers message time, too: 1,000 ns a call"},
    {"times-short", "answers one time fewer than calls"},
    {"times-negative", "answers times below 0"},
    {"times-inflated", "answers times longer than passed"},
    {"times-cpu", "answers more time of its cores than any machine has"},
    {"times-sync", "has calls on a device that are done before they return"},
    {"times-device", "has calls on a device that are done long after the answer came"},
    {"times-flip", "queues its calls on a device in every other message"},
    {"times-escape", "answers errors that would colour a terminal"},
    {"times-outside", "answers the vocabulary's size as the last call's token"},
    {"times-masked", "answers times, and token 0 whatever its probability"},
    {"times-wrong-chunk", "answers the time of another block"},
    {"times-hang", "never answers a time"},
};

static const char *chosen;

static int is(const char *name)
{
    return strcmp(chosen, name) == 0;
}

static void hang(void)
{
    for (;;)
        pause();
}

/* Raw bytes where a frame should be. The mode ends here if nobody reads them. */
static void write_raw(const void *bytes, size_t count)
{
    if (write(STDOUT_FILENO, bytes, count) != (ssize_t)count)
        exit(1);
}

static void send_frame(const struct frame *answer)
{
    char why[256];
    if (frame_write(STDOUT_FILENO, answer, -1, why, sizeof why) != FRAME_OK) {
        fprintf(stderr, "fault-worker: %s\n", why);
        exit(1);
    }
}

static void copy_entry(struct frame *to, const struct frame *from, const char *key)
{
    if (frame_get(from, key))
        frame_set(to, key, frame_get(from, key));
}

static void answer_hello(const struct frame *message)
{
    if (is("no-hello"))
        hang();
    if (is("chatter")) {
        printf("Loading checkpoint shards: 100%%\n");
        fflush(stdout);
    }
    struct frame answer = {0};
    frame_set(&answer, "message", "hello");
    frame_set(&answer, "protocol", is("old-protocol") ? "0" : FRAME_PROTOCOL);
    copy_entry(&answer, message, "plan");
    copy_entry(&answer, message, "plan_sha256");
    frame_set(&answer, "name", is("times-escape") ? "\033[5mfault-worker" : "fault-worker");
    frame_set(&answer, "version", chosen);
    frame_set(&answer, "device", "cpu");
    frame_set(&answer, "takes", "logits probabilities");
    frame_set(&answer, "dtype", "f32");
    frame_set(&answer, "capabilities", "temperature noise seeded");
    frame_set(&answer, "contract", "{}");
    if (!strncmp(chosen, "times", 5))
        frame_set(&answer, "times", "own");
    send_frame(&answer);
    frame_free(&answer);
}

/* The modes that answer a sample with something other than a frame of tokens. */
static void sample_misbehave(void)
{
    static const char garbage[] = "\x10\0\0\0\0\0\0\0this is no frame";
    static const char half[] = "\x40\0\0\0\0\0\0\0\x30\0\0\0\0\0\0\0{\"__metadata__\":";
    static const char huge[] = "\0\0\0\0\0\0\0\x10";
    static int samples;
    samples++;
    if (is("crash"))
        abort();
    if (is("hang"))
        hang();
    if (is("die-midway") && samples > 3)
        raise(SIGKILL);
    if (is("broken-frame"))
        write_raw(garbage, sizeof garbage - 1);
    if (is("truncated")) {
        write_raw(half, sizeof half - 1);
        exit(0);
    }
    if (is("huge")) {
        write_raw(huge, sizeof huge - 1);
        hang();
    }
}

static void answer_sample(const struct frame *message)
{
    const struct frame_array *values = frame_find(message, "values");
    uint64_t draws = 0, chunk = 0;
    if (!values || !frame_get_u64(message, "draws", &draws) || draws == 0 || draws > 1u << 28)
        exit(1);
    sample_misbehave();
    int32_t *token = calloc(draws, sizeof *token);
    if (!token)
        exit(1);
    if (is("out-of-range") || is("negative"))
        token[draws - 1] = is("negative") ? -7 : (int32_t)values->shape[1];
    uint64_t shape[1] = {is("short") ? draws - 1 : draws};

    struct frame answer = {0};
    copy_entry(&answer, message, "cell");
    copy_entry(&answer, message, "stage");
    copy_entry(&answer, message, "batch");
    copy_entry(&answer, message, "chunk");
    if (is("wrong-chunk") && frame_get_u64(message, "chunk", &chunk))
        frame_set_u64(&answer, "chunk", chunk + 1);
    if (is("unsupported")) {
        frame_set(&answer, "message", "unsupported");
        frame_set(&answer, "text", "this worker supports nothing");
    } else {
        frame_set(&answer, "message", "tokens");
        frame_add(&answer, "token", FRAME_I32, 1, shape, token);
    }
    send_frame(&answer);
    frame_free(&answer);
    free(token);
}

static void answer_time(const struct frame *message)
{
    static uint64_t draws;
    uint64_t calls = 0, chunk = 0;
    const struct frame_array *values = frame_find(message, "values");
    frame_get_u64(message, "draws", &draws); /* or those of the message before */
    if (!frame_get_u64(message, "calls", &calls) || !calls || calls > 1u << 20 || !draws || draws > 1u << 20)
        exit(1);
    if (is("times-hang"))
        hang();
    static int messages;
    const int device = is("times-sync") || is("times-device") || (is("times-flip") && messages++ % 2);
    int64_t *ns = calloc(calls, sizeof *ns), *other = calloc(calls, sizeof *other);
    int32_t *token = calloc(draws, sizeof *token);
    if (!ns || !other || !token)
        exit(1);
    for (uint64_t i = 0; i < calls; i++) {
        ns[i] = is("times-negative") ? -1 : is("times-inflated") ? 1000000000000 : 1000;
        other[i] = is("times-cpu") || is("times-device") ? INT64_MAX : is("times-sync") ? 999 : ns[i];
    }
    for (uint64_t d = 0; d < draws; d++)
        token[d] = is("times-outside") && values ? (int32_t)values->shape[1] : 0;
    const uint64_t shape[1] = {is("times-short") ? calls - 1 : calls}, tokens[1] = {draws};
    struct frame answer = {0};
    frame_set(&answer, "message", "times");
    frame_set(&answer, "queue", device ? "device" : "none");
    if (is("times-escape")) {
        frame_set(&answer, "message", "error");
        frame_set(&answer, "text", "\033[31mred\nand more");
    }
    copy_entry(&answer, message, "cell");
    copy_entry(&answer, message, "chunk");
    if (is("times-wrong-chunk") && frame_get_u64(message, "chunk", &chunk))
        frame_set_u64(&answer, "chunk", chunk + 1);
    frame_add(&answer, "host_ns", FRAME_I64, 1, shape, ns);
    frame_add(&answer, "cpu_ns", FRAME_I64, 1, shape, device ? ns : other);
    if (device) {
        frame_add(&answer, "sync_ns", FRAME_I64, 1, shape, other);
        frame_add(&answer, "host_full_ns", FRAME_I64, 1, shape, ns);
    }
    frame_add(&answer, "token", FRAME_I32, 1, tokens, token);
    send_frame(&answer);
    frame_free(&answer);
    free(ns);
    free(other);
    free(token);
}

static int usage(void)
{
    fprintf(stderr, "usage: fault-worker MODE, where MODE is one of\n");
    for (size_t i = 0; i < sizeof mode / sizeof *mode; i++)
        fprintf(stderr, "  %-17s %s\n", mode[i].name, mode[i].sentence);
    return 2;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof mode / sizeof *mode; i++)
        if (strcmp(mode[i].name, argv[1]) == 0)
            chosen = mode[i].name;
    if (!chosen)
        return usage();
    signal(SIGPIPE, SIG_IGN);
    if (is("exit-early")) {
        fprintf(stderr, "fault-worker: ImportError: no engine here\n");
        return 3;
    }
    for (;;) {
        struct frame message = {0};
        char why[256];
        enum frame_result result = frame_read(STDIN_FILENO, &message, -1, why, sizeof why);
        if (result == FRAME_END)
            return 0;
        if (result != FRAME_OK) {
            fprintf(stderr, "fault-worker: %s\n", why);
            return 1;
        }
        const char *name = frame_get(&message, "message");
        if (name && strcmp(name, "hello") == 0)
            answer_hello(&message);
        else if (name && strcmp(name, "time") == 0)
            answer_time(&message);
        else
            answer_sample(&message);
        frame_free(&message);
    }
}
