/* test_child.h: start a program of the build beside this test, talk frames with it, and see how it ends.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_TEST_CHILD_H
#define SAMPLEGATE_TEST_CHILD_H
#include "suite/sut/protocol/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int to, from, errors; /* its stdin, stdout and stderr */
};

/* A file of the build directory: this test lies in BUILD/tests/suite/sut/ROOM/. Static storage, two at a
 * time. */
static inline const char *build_path(const char *name)
{
    static char path[2][4096];
    static int turn;
    char *to = path[turn ^= 1];
    ssize_t length = readlink("/proc/self/exe", to, 4000);
    assert_true(length > 0);
    to[length] = '\0';
    for (int up = 0; up < 5; up++)
        *strrchr(to, '/') = '\0';
    snprintf(to + strlen(to), 4096 - strlen(to), "/%s", name);
    return to;
}

/* Words: the program's arguments, NULL-terminated. */
static inline struct child child_start(const char *program, const char *const *words)
{
    int in[2], out[2], err[2];
    const char *argv[8] = {build_path(program)};
    for (size_t i = 0; words[i]; i++)
        argv[i + 1] = words[i];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(in) | pipe(out) | pipe(err), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        for (int i = 0; i < 2; i++) {
            close(in[i]);
            close(out[i]);
            close(err[i]);
        }
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    return (struct child){pid, in[1], out[0], err[0]};
}

static inline enum frame_result child_read(const struct child *child, struct frame *answer)
{
    char why[256];
    return frame_read(child->from, answer, 20000, why, sizeof why);
}

/* One question, one answer. */
static inline void child_ask(const struct child *child, const struct frame *question, struct frame *answer)
{
    char why[256];
    assert_int_equal(frame_write(child->to, question, 20000, why, sizeof why), FRAME_OK);
    assert_int_equal(child_read(child, answer), FRAME_OK);
}

/* Ends the input, collects stderr and returns the wait status. Kills a child that does not end by itself. */
static inline int child_end(struct child *child, char *errors, size_t bytes)
{
    int status;
    close(child->to);
    size_t used = 0;
    ssize_t got;
    while (used + 1 < bytes && (got = read(child->errors, errors + used, bytes - 1 - used)) > 0)
        used += (size_t)got;
    errors[used] = '\0';
    close(child->from);
    close(child->errors);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    return status;
}

/* A sample message over values[vocab] in chunk 3 of cell "c", batch 4. The values are borrowed. */
static inline struct frame sample_message(const float *values, uint64_t vocab, uint64_t draws)
{
    const uint64_t shape[] = {1, vocab};
    struct frame message = {0};
    frame_set(&message, "message", "sample");
    frame_set(&message, "cell", "c");
    frame_set(&message, "kind", "logits");
    frame_set_u64(&message, "stage", 1);
    frame_set_u64(&message, "batch", 4);
    frame_set_u64(&message, "chunk", 3);
    frame_set_u64(&message, "draws", draws);
    frame_set_u64(&message, "seed", 38117);
    frame_add(&message, "values", FRAME_F32, 2, shape, values);
    return message;
}

static inline void assert_entry(const struct frame *frame, const char *key, const char *value)
{
    const char *is = frame_get(frame, key);
    if (!is)
        fail_msg("no %s in the answer", key);
    assert_string_equal(is, value);
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in \"%s\"", part, text ? text : "(null)");
}
#endif
