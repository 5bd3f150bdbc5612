/* test_host_engine.c: samplegate-host with an engine: it answers questions, draws nothing, and says what it is no engine.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/test_child.h"

#define PATH_OF(engine, batch)                                                                               \
    "[{\"ask\":\"path\",\"engine\":\"" engine "\",\"as\":\"upstream\",\"server\":{},\"batch\":" batch "}]"

static char errors[4096];

static struct child host(const char *word, const char *option)
{
    const char *const words[] = {word, option, NULL};
    return child_start("samplegate-host", words);
}

/* The message of one fresh host's answer must be this, its text contain that. */
static void asked(const char *word, const char *option, const char *question, const char *message,
                  const char *text)
{
    struct child child = host(word, option);
    struct frame ask = {0}, answer = {0};
    frame_set(&ask, "message", "ask");
    frame_set(&ask, "cell", "c");
    frame_set(&ask, "stage", "1");
    frame_set(&ask, "chunk", "3");
    if (question)
        frame_set(&ask, "question", question);
    child_ask(&child, &ask, &answer);
    assert_entry(&answer, "cell", "c");
    assert_entry(&answer, "stage", "1");
    assert_entry(&answer, "chunk", "3");
    assert_entry(&answer, "message", message);
    assert_contains(frame_get(&answer, "text"), text);
    frame_free(&ask);
    frame_free(&answer);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
    assert_string_equal(errors, "");
}

static void questions(void **state)
{
    (void)state;
    asked("engine", NULL, PATH_OF("sglang-0.5.20", "[{}]"), "answer", "[{\"path\":\"gumbel\",");
    asked("engine:sglang-0.5.19", NULL, PATH_OF("sglang-0.5.19", "[{}]"), "answer",
          "[{\"path\":\"multinomial\",");
    asked("engine", NULL, PATH_OF("sglang-0.5.19", "[{}]"), "unsupported",
          "\"sglang-0.5.19\" is not known here");
    asked("engine", NULL, PATH_OF("sglang-0.5.20", "0"), "error", "\"batch\": must be an array");
    asked("engine", NULL, NULL, "error", "the message has no question");
    asked("reference", NULL, PATH_OF("sglang-0.5.20", "[{}]"), "unsupported", "answers no questions");
}

static void from_a_shared_object(void **state)
{
    (void)state;
    char word[4200];
    snprintf(word, sizeof word, "engine:%s", build_path("mutants.so"));
    asked(word, "id=clean-engine", PATH_OF("sglang-0.5.20", "[]"), "answer",
          "a batch needs at least one request");
    asked(word, "id=empty-batch", PATH_OF("sglang-0.5.20", "[]"), "answer", "[{\"path\":\"gumbel\",");
}

static void hello(void **state)
{
    (void)state;
    struct child child = host("engine", NULL);
    struct frame message = {0}, answer = {0};
    frame_set(&message, "message", "hello");
    frame_set(&message, "protocol", FRAME_PROTOCOL);
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "name", "sglang-0.5.20");
    assert_entry(&answer, "takes", "");
    assert_entry(&answer, "capabilities", "route resolve");
    assert_entry(&answer, "contract",
                 "{\"engine\": \"sglang-0.5.20\", \"readings\": \"article-port article-prose upstream\"}");
    frame_free(&message);
    frame_free(&answer);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
}

static void draws_nothing(void **state)
{
    (void)state;
    static const float logits[] = {0, 1};
    struct child child = host("engine", NULL);
    struct frame message = sample_message(logits, 2, 4), answer = {0};
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "message", "unsupported");
    assert_contains(frame_get(&answer, "text"), "draws no tokens");
    frame_free(&message);
    frame_free(&answer);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
}

static void refused(const char *word, const char *option, const char *what)
{
    struct child child = host(word, option);
    int status = child_end(&child, errors, sizeof errors);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    assert_contains(errors, what);
}

static void refusals(void **state)
{
    (void)state;
    char word[4200];
    refused("engine:vllm", NULL,
            "engine 'vllm' is not known; known: sglang-0.5.19 sglang-0.5.20 sglang-0.5.23 vllm-0.5.0; or "
            "PATH.so");
    refused("engine:", NULL, "engine '' is not known");
    refused("engine", "id=x", "option 'id=x' is not known to engine; known: none");
    refused("engine:./absent.so", "id=x", "cannot open ./absent.so: No such file");
    refused("engine:/etc/passwd", "id=x", "cannot load /etc/passwd");
    snprintf(word, sizeof word, "engine:%s", build_path("fault-plugin.so"));
    refused(word, "id=x", "exports no function samplegate_engine: no engine");
    snprintf(word, sizeof word, "engine:%s", build_path("mutants.so"));
    refused(word, "id=x", "has no engine id=x");
    refused(word, "idea=x", "option 'idea=x' is not known");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(questions), cmocka_unit_test(from_a_shared_object),
                                       cmocka_unit_test(hello), cmocka_unit_test(draws_nothing),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests_name("host engine", tests, NULL, NULL);
}
