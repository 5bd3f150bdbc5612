/* test_script.c: scripts are built as frame.h says, and an answer that is not one is told from one that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/judge/script.h"

static const float rows[6] = {0.5f, 0.25f, 0.25f, 1, 0, 0};

static struct script_line *two_rows(struct script *script, enum value_dtype dtype)
{
    struct script_line *line = script_sample(script, "two-rows", 2, 4, 7);
    script_values(script, line, VALUE_PROBABILITIES, dtype, rows, 2, 3);
    return line;
}

static void test_request(void **state)
{
    (void)state;
    struct script script = {0};
    two_rows(&script, VALUE_F32);
    script_ask(&script, "why", "{}");
    script_address(&script, "cell-a", 2);
    const struct frame *sample = &script_find(&script, "two-rows")->request,
                       *ask = &script_find(&script, "why")->request;
    assert_string_equal(frame_get(sample, "message"), "sample");
    assert_string_equal(frame_get(sample, "cell"), "cell-a");
    assert_string_equal(frame_get(sample, "stage"), "2");
    assert_string_equal(frame_get(sample, "chunk"), "0");
    assert_string_equal(frame_get(sample, "batch"), "2");
    assert_string_equal(frame_get(sample, "kind"), "probabilities");
    const struct frame_array *values = frame_find(sample, "values");
    assert_true(values->dtype == FRAME_F32 && values->shape[0] == 2 && values->shape[1] == 3);
    assert_memory_equal(values->data, rows, sizeof rows);
    assert_string_equal(frame_get(ask, "message"), "ask");
    assert_string_equal(frame_get(ask, "chunk"), "1");
    assert_null(frame_get(ask, "batch"));
    assert_null(script_find(&script, "absent"));
    assert_int_equal(script_draws(&script), 4);
    script_free(&script);
}

static void test_half_values(void **state)
{
    (void)state;
    struct script script = {0};
    const struct frame_array *values = frame_find(&two_rows(&script, VALUE_BF16)->request, "values");
    static const uint16_t expected[6] = {0x3f00, 0x3e80, 0x3e80, 0x3f80, 0, 0};
    assert_true(values->dtype == FRAME_BF16);
    assert_memory_equal(values->data, expected, sizeof expected);
    script_free(&script);
}

/* An answer of `message` with these arrays, given to a line that asked for kept or not. */
static bool taken(const char *message, uint64_t tokens, uint64_t kept_columns, bool ask_kept, bool may_refuse,
                  enum line_state expected)
{
    struct script script = {0};
    struct frame answer = {0};
    int32_t token[8] = {0, 1, 9, -1};
    uint8_t kept[16] = {1};
    char why[128] = "";
    struct script_line *line = two_rows(&script, VALUE_F32);
    line->may_refuse = may_refuse;
    if (ask_kept)
        frame_set(&line->request, "kept", "1");
    if (message)
        frame_set(&answer, "message", message);
    frame_set(&answer, "text", "because");
    if (tokens)
        frame_add(&answer, "token", FRAME_I32, 1, &tokens, token);
    if (kept_columns)
        frame_add(&answer, "kept", FRAME_U8, 2, (uint64_t[]){2, kept_columns}, kept);
    bool good = script_take(line, &answer, why, sizeof why);
    assert_true(good == (*why == '\0') || (line->state == LINE_REFUSED && may_refuse));
    if (good)
        assert_true(line->state == expected);
    if (good && expected == LINE_ANSWERED)
        assert_true(line->token == token && (line->kept == kept) == ask_kept);
    if (good && expected != LINE_ANSWERED)
        assert_string_equal(line->text, "because");
    frame_free(&answer);
    script_free(&script);
    return good;
}

static void test_answers(void **state)
{
    (void)state;
    assert_true(taken("tokens", 4, 0, false, false, LINE_ANSWERED));
    assert_true(taken("tokens", 4, 3, true, false, LINE_ANSWERED));
    assert_true(taken("unsupported", 0, 0, false, false, LINE_UNSUPPORTED));
    assert_true(taken("error", 0, 0, false, true, LINE_REFUSED));
    assert_false(taken("error", 0, 0, false, false, LINE_REFUSED));
    assert_false(taken("tokens", 3, 0, false, false, LINE_ANSWERED));
    assert_false(taken("tokens", 4, 0, true, false, LINE_ANSWERED));
    assert_false(taken("tokens", 4, 2, true, false, LINE_ANSWERED));
    assert_false(taken("answer", 0, 0, false, false, LINE_ANSWERED));
    assert_false(taken("hello", 4, 0, false, true, LINE_ANSWERED));
    assert_false(taken(NULL, 4, 0, false, true, LINE_ANSWERED));
}

static void test_question(void **state)
{
    (void)state;
    struct script script = {0};
    struct frame answer = {0};
    char why[128] = "";
    script_ask(&script, "q", "{\"ask\": \"path\"}");
    frame_set(&answer, "message", "answer");
    assert_false(script_take(&script.line[0], &answer, why, sizeof why));
    frame_set(&answer, "text", "{}");
    assert_true(script_take(&script.line[0], &answer, why, sizeof why));
    assert_true(script.line[0].state == LINE_ANSWERED);
    assert_string_equal(script.line[0].text, "{}");
    frame_free(&answer);
    script_free(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_half_values),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_question),
    };
    return cmocka_run_group_tests_name("script", tests, NULL, NULL);
}
