/* test_fault_worker.c: the faulty worker misbehaves as its modes say, and behaves in mode "none".
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/test_child.h"

static const float logits[4] = {0, 1, 2, 3};
static char errors[4096];

static struct child worker(const char *mode)
{
    const char *const words[] = {mode, NULL};
    return child_start("fault-worker", words);
}

/* A hello has been exchanged. */
static struct child worker_greeted(const char *mode)
{
    struct child child = worker(mode);
    struct frame message = {0}, answer = {0};
    frame_set(&message, "message", "hello");
    frame_set(&message, "protocol", FRAME_PROTOCOL);
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "message", "hello");
    assert_entry(&answer, "protocol", strcmp(mode, "old-protocol") ? FRAME_PROTOCOL : "0");
    frame_free(&message);
    frame_free(&answer);
    return child;
}

/* Asks for ten tokens and waits `timeout_ms` for the answer. */
static enum frame_result sample(const struct child *child, struct frame *answer, int timeout_ms)
{
    char why[256];
    struct frame message = sample_message(logits, 4, 10);
    assert_int_equal(frame_write(child->to, &message, -1, why, sizeof why), FRAME_OK);
    frame_free(&message);
    return frame_read(child->from, answer, timeout_ms, why, sizeof why);
}

static int worker_kill(struct child *child)
{
    kill(child->pid, SIGKILL);
    return child_end(child, errors, sizeof errors);
}

static void wrong_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        uint64_t draws;
        int32_t last;
        const char *chunk;
    } wrong[] = {
        {"none", 10, 0, "3"}, {"out-of-range", 10, 4, "3"}, {"negative", 10, -7, "3"},
        {"short", 9, 0, "3"}, {"wrong-chunk", 10, 0, "4"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct child child = worker_greeted(wrong[i].mode);
        struct frame answer = {0};
        assert_int_equal(sample(&child, &answer, 20000), FRAME_OK);
        assert_entry(&answer, "message", "tokens");
        assert_entry(&answer, "chunk", wrong[i].chunk);
        const struct frame_array *token = frame_find(&answer, "token");
        assert_int_equal(token->shape[0], wrong[i].draws);
        assert_int_equal(((const int32_t *)token->data)[token->shape[0] - 1], wrong[i].last);
        frame_free(&answer);
        assert_int_equal(child_end(&child, errors, sizeof errors), 0);
    }
}

static void no_answer(void **state)
{
    (void)state;
    struct frame answer = {0}, message = {0};
    char why[256];
    struct child child = worker_greeted("hang");
    assert_int_equal(sample(&child, &answer, 100), FRAME_TIMEOUT);
    worker_kill(&child);
    child = worker("no-hello");
    frame_set(&message, "message", "hello");
    assert_int_equal(frame_write(child.to, &message, -1, why, sizeof why), FRAME_OK);
    assert_int_equal(frame_read(child.from, &answer, 100, why, sizeof why), FRAME_TIMEOUT);
    frame_free(&message);
    worker_kill(&child);
}

static void dead(void **state)
{
    (void)state;
    struct frame answer = {0};
    struct child child = worker_greeted("crash");
    assert_int_equal(sample(&child, &answer, 20000), FRAME_END);
    int status = child_end(&child, errors, sizeof errors);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);

    child = worker_greeted("die-midway");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sample(&child, &answer, 20000), FRAME_OK);
        frame_free(&answer);
    }
    assert_int_equal(sample(&child, &answer, 20000), FRAME_END);
    status = child_end(&child, errors, sizeof errors);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    child = worker("exit-early");
    assert_int_equal(child_read(&child, &answer), FRAME_END);
    status = child_end(&child, errors, sizeof errors);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_contains(errors, "ImportError");
}

static void broken_frames(void **state)
{
    (void)state;
    static const char *const mode[] = {"broken-frame", "truncated", "huge"};
    struct frame answer = {0}, message = {0};
    char why[256];
    for (size_t i = 0; i < 3; i++) {
        struct child child = worker_greeted(mode[i]);
        assert_int_equal(sample(&child, &answer, 20000), FRAME_BROKEN);
        worker_kill(&child);
    }
    struct child child = worker("chatter");
    frame_set(&message, "message", "hello");
    assert_int_equal(frame_write(child.to, &message, -1, why, sizeof why), FRAME_OK);
    assert_int_equal(child_read(&child, &answer), FRAME_BROKEN); /* text read as a length */
    frame_free(&message);
    worker_kill(&child);
}

static void odd_words(void **state)
{
    (void)state;
    struct child child = worker_greeted("old-protocol");
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
    child = worker_greeted("unsupported");
    struct frame answer = {0};
    assert_int_equal(sample(&child, &answer, 20000), FRAME_OK);
    assert_entry(&answer, "message", "unsupported");
    frame_free(&answer);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
    child = worker("nonsense");
    int status = child_end(&child, errors, sizeof errors);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    assert_contains(errors, "die-midway");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_tokens),  cmocka_unit_test(no_answer), cmocka_unit_test(dead),
        cmocka_unit_test(broken_frames), cmocka_unit_test(odd_words),
    };
    return cmocka_run_group_tests_name("fault-worker", tests, NULL, NULL);
}
