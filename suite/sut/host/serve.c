/* serve.c: read messages, have the sampler answer, write the answers, until the input ends.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy_entries(struct frame *to, const struct frame *from, const char *const *keys)
{
    for (; *keys; keys++)
        if (frame_get(from, *keys))
            frame_set(to, *keys, frame_get(from, *keys));
}

static void answer_hello(struct frame *answer, const struct host_sut *sut, const struct frame *message)
{
    static const char *const echoed[] = {"plan", "plan_sha256", NULL};
    frame_set(answer, "message", "hello");
    frame_set(answer, "protocol", FRAME_PROTOCOL);
    copy_entries(answer, message, echoed);
    for (size_t i = 0; i < sut->hello.entries; i++)
        frame_set(answer, sut->hello.entry[i].key, sut->hello.entry[i].value);
}

/* Tokens and kept live in *token and *kept until the answer is written. */
static void answer_sample(struct frame *answer, const struct host_sut *sut, const struct frame *message,
                          int32_t **token, uint8_t **kept)
{
    static const char *const echoed[] = {"cell", "stage", "batch", "chunk", NULL};
    struct host_request request;
    struct host_text why = {0};
    enum host_answer kind = HOST_ERROR;
    copy_entries(answer, message, echoed);
    const char *unknown = host_request_unknown(message);
    if (unknown) {
        host_say(&why, "this host knows no array %s", unknown);
        kind = HOST_UNSUPPORTED;
    } else if (!sut->sample) {
        host_say(&why, "it answers questions and draws no tokens");
        kind = HOST_UNSUPPORTED;
    } else if (host_request_read(&request, message, &why) == 0) {
        uint64_t missing = request.options & ~sut->capabilities;
        if (missing) {
            char needed[256];
            host_option_words(missing, needed, sizeof needed);
            host_say(&why, "the sampler does not announce: %s", needed);
            kind = HOST_UNSUPPORTED;
        } else {
            *token = host_memory(calloc((size_t)request.draws, sizeof **token));
            if (request.options & SAMPLEGATE_KEPT_OUT)
                *kept = host_memory(calloc((size_t)request.rows, (size_t)request.columns));
            request.kept = *kept;
            kind = sut->sample(sut->self, &request, *token, &why);
        }
    }
    if (kind == HOST_TOKENS) {
        uint64_t shape[1] = {(uint64_t)request.draws};
        frame_set(answer, "message", "tokens");
        frame_add(answer, "token", FRAME_I32, 1, shape, *token);
        uint64_t rows[2] = {(uint64_t)request.rows, (uint64_t)request.columns};
        if (*kept)
            frame_add(answer, "kept", FRAME_U8, 2, rows, *kept);
    } else {
        frame_set(answer, "message", kind == HOST_ERROR ? "error" : "unsupported");
        frame_set(answer, "text", why.text);
    }
}

static void answer_ask(struct frame *answer, const struct host_sut *sut, const struct frame *message)
{
    static const char *const echoed[] = {"cell", "stage", "chunk", NULL};
    const char *questions = frame_get(message, "question");
    struct host_text why = {"it draws tokens and answers no questions"};
    enum host_answer kind = HOST_UNSUPPORTED;
    char *answers = NULL;
    copy_entries(answer, message, echoed);
    if (!questions) {
        host_say(&why, "the message has no question");
        kind = HOST_ERROR;
    } else if (sut->ask) {
        kind = sut->ask(sut->self, questions, &answers, &why);
    }
    frame_set(answer, "message",
              kind == HOST_ANSWERED ? "answer"
              : kind == HOST_ERROR  ? "error"
                                    : "unsupported");
    frame_set(answer, "text", kind == HOST_ANSWERED ? answers : why.text);
    free(answers);
}

/* Arrays live in *times until the answer is written. */
static void answer_time(struct frame *answer, const struct host_sut *sut, struct frame *message,
                        struct host_timer *timer, struct host_times *times)
{
    static const char *const echoed[] = {"cell", "chunk", "rule", NULL};
    struct host_text why = {0};
    copy_entries(answer, message, echoed);
    const enum host_answer kind = host_time(timer, sut, message, times, &why);
    if (kind != HOST_TOKENS) {
        frame_set(answer, "message", kind == HOST_ERROR ? "error" : "unsupported");
        frame_set(answer, "text", why.text);
        return;
    }
    const uint64_t calls[1] = {times->calls}, draws[1] = {(uint64_t)times->draws};
    frame_set(answer, "message", "times");
    frame_set(answer, "queue", times->sync ? "device" : "none");
    frame_add(answer, "host_ns", FRAME_I64, 1, calls, times->host);
    frame_add(answer, "cpu_ns", FRAME_I64, 1, calls, times->cpu);
    if (times->sync) {
        frame_add(answer, "sync_ns", FRAME_I64, 1, calls, times->sync);
        frame_add(answer, "host_full_ns", FRAME_I64, 1, calls, times->full);
    }
    frame_add(answer, "token", FRAME_I32, 1, draws, times->token);
}

static enum frame_result answer_message(const struct host_sut *sut, struct frame *message,
                                        struct host_timer *timer, int output, char *why, size_t why_bytes)
{
    struct frame answer = {0};
    struct host_times times = {0};
    int32_t *token = NULL;
    uint8_t *kept = NULL;
    const char *name = frame_get(message, "message");
    if (name && strcmp(name, "hello") == 0)
        answer_hello(&answer, sut, message);
    else if (name && strcmp(name, "sample") == 0)
        answer_sample(&answer, sut, message, &token, &kept);
    else if (name && strcmp(name, "ask") == 0)
        answer_ask(&answer, sut, message);
    else if (name && strcmp(name, "time") == 0)
        answer_time(&answer, sut, message, timer, &times);
    else {
        struct host_text text;
        host_say(&text, "message '%.32s' is not known; hello, sample, ask and time are",
                 name ? name : "(absent)");
        frame_set(&answer, "message", "error");
        frame_set(&answer, "text", text.text);
    }
    enum frame_result written = frame_write(output, &answer, -1, why, why_bytes);
    frame_free(&answer);
    host_times_free(&times);
    free(token);
    free(kept);
    return written;
}

static int serve(struct host_sut *sut, struct host_timer *timer, int input, int output)
{
    for (;;) {
        struct frame message = {0};
        char why[256];
        enum frame_result result = frame_read(input, &message, -1, why, sizeof why);
        if (result == FRAME_END)
            return 0;
        if (result == FRAME_OK) {
            result = answer_message(sut, &message, timer, output, why, sizeof why);
            frame_free(&message);
        }
        if (result != FRAME_OK) {
            fprintf(stderr, "samplegate-host: %s\n", why);
            return 1;
        }
    }
}

int host_serve(struct host_sut *sut, int input, int output)
{
    struct host_timer timer = {0};
    const int status = serve(sut, &timer, input, output);
    host_timer_free(&timer);
    return status;
}
