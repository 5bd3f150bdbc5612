/* test_host_time.c: samplegate-host times the calls it says it times: tokens of the last one, rules by name, rows used again,
 * and a clear word about bad messages.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/test_child.h"
#include "kernels/sampler.h"

#define VOCAB 40
#define ROWS 3
#define SEED 38117
#define WARMUP 2
#define CALLS 5

static float logits[ROWS * VOCAB];
static const int32_t row_index[ROWS] = {2, 0, 1};
static char errors[4096];

static struct frame time_message(bool rows)
{
    static const uint64_t shape[] = {ROWS, VOCAB}, draws[] = {ROWS};
    struct frame message = {0};
    frame_set(&message, "message", "time");
    frame_set(&message, "cell", "c");
    frame_set_u64(&message, "chunk", 3);
    frame_set_u64(&message, "warmup", WARMUP);
    frame_set_u64(&message, "calls", CALLS);
    frame_set_u64(&message, "fill", 4);
    if (!rows)
        return message;
    frame_set(&message, "kind", "logits");
    frame_set_u64(&message, "draws", ROWS);
    frame_set_u64(&message, "batch", ROWS);
    frame_set_u64(&message, "seed", SEED);
    frame_add(&message, "values", FRAME_F32, 2, shape, logits);
    frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
    return message;
}

static struct child host(const char *program, const char *word, const char *option)
{
    const char *const words[] = {word, option, NULL};
    return child_start(program, words);
}

static void host_end(struct child *child)
{
    assert_int_equal(child_end(child, errors, sizeof errors), 0);
    assert_string_equal(errors, "");
}

static const int64_t *times_of(const struct frame *answer, const char *name)
{
    const struct frame_array *array = frame_find(answer, name);
    assert_true(array && array->dtype == FRAME_I64 && array->rank == 1 && array->shape[0] == CALLS);
    return array->data;
}

/* Times are there, and in an order that clocks allow. */
static void assert_times(const struct frame *answer, bool queues)
{
    assert_entry(answer, "message", "times");
    assert_entry(answer, "cell", "c");
    assert_entry(answer, "chunk", "3");
    assert_entry(answer, "queue", queues ? "device" : "none");
    assert_int_equal(answer->arrays, queues ? 5 : 3);
    const int64_t *alone = times_of(answer, "host_ns"), *cpu = times_of(answer, "cpu_ns");
    for (int i = 0; i < CALLS; i++) {
        assert_true(alone[i] > 0 && cpu[i] >= 0);
        if (queues)
            assert_true(times_of(answer, "sync_ns")[i] >= alone[i] &&
                        times_of(answer, "host_full_ns")[i] > 0);
    }
}

/* The last call's tokens are those of the kernels: call `call` of reference:RULE has the seed behind it. */
static void assert_last_tokens(const struct frame *answer, enum sampler_rule rule, uint64_t seed,
                               uint64_t first)
{
    const struct frame_array *token = frame_find(answer, "token");
    assert_true(token && token->shape[0] == ROWS);
    for (int d = 0; d < ROWS; d++) {
        int32_t expected;
        struct sampler_row *row =
            sampler_row_new(rule, SAMPLER_LOGITS, logits + VOCAB * row_index[d], VOCAB, 1);
        sampler_draw(row, seed, first + (uint64_t)d, 1, &expected);
        sampler_row_free(row);
        assert_int_equal(((const int32_t *)token->data)[d], expected);
    }
}

static void ask(const struct child *child, struct frame *message, struct frame *answer)
{
    child_ask(child, message, answer);
    frame_free(message);
}

static void the_reference(void **state)
{
    (void)state;
    struct child child = host("samplegate-host", "reference:race", NULL);
    struct frame message = {0}, answer = {0};
    frame_set(&message, "message", "hello");
    frame_set(&message, "protocol", FRAME_PROTOCOL);
    ask(&child, &message, &answer);
    assert_entry(&answer, "times", "race greedy categorical gumbel torch-race seeded seeded-2025");
    frame_free(&answer);
    static const char *const rules[] = {NULL, "gumbel", "categorical", "greedy"};
    static const enum sampler_rule meant[] = {RULE_RACE, RULE_GUMBEL, RULE_CATEGORICAL, RULE_GREEDY};
    for (int i = 0; i < 4; i++) { /* rows come with the first message only */
        message = time_message(i == 0);
        if (rules[i])
            frame_set(&message, "rule", rules[i]);
        ask(&child, &message, &answer);
        assert_times(&answer, false);
        assert_last_tokens(&answer, meant[i], SEED + WARMUP + CALLS - 1, 0);
        frame_free(&answer);
    }
    host_end(&child);
}

/* Rows of probabilities in turn, which the reference draws from as they lie, and out of turn, which it prepares. */
static void rows_of_probabilities(void **state)
{
    (void)state;
    static const int32_t orders[2][ROWS] = {{0, 1, 2}, {1, 0, 2}};
    static const uint64_t shape[] = {ROWS, VOCAB}, draws[] = {ROWS};
    static float weights[ROWS * VOCAB];
    static const enum sampler_rule rules[] = {RULE_RACE, RULE_GUMBEL, RULE_SEEDED, RULE_CATEGORICAL};
    for (int i = 0; i < ROWS * VOCAB; i++)
        weights[i] = (float)(i * 37 % 11) / 200;
    struct child child = host("samplegate-host", "reference:race", NULL);
    for (int i = 0; i < 8; i++) {
        struct frame message = time_message(true), answer = {0};
        message.arrays = 0;
        frame_set(&message, "kind", "probabilities");
        frame_set(&message, "rule", sampler_rule_name(rules[i / 2]));
        frame_add(&message, "values", FRAME_F32, 2, shape, weights);
        frame_add(&message, "row_index", FRAME_I32, 1, draws, orders[i % 2]);
        ask(&child, &message, &answer);
        assert_times(&answer, false);
        const int32_t *token = frame_find(&answer, "token")->data;
        for (int d = 0; d < ROWS; d++) {
            int32_t expected;
            struct sampler_row *row = sampler_row_new(rules[i / 2], SAMPLER_PROBABILITIES,
                                                      weights + VOCAB * orders[i % 2][d], VOCAB, 1);
            sampler_draw(row, SEED + WARMUP + CALLS - 1, (uint64_t)d, 1, &expected);
            sampler_row_free(row);
            assert_int_equal(token[d], expected);
        }
        frame_free(&answer);
    }
    host_end(&child);
}

/* Through the host shim: calls queue, and the token is that of the last one behind the full queue. */
static void a_device(void **state)
{
    (void)state;
    if (access(build_path("tests/shim-host"), X_OK))
        skip();
    struct child child = host("tests/shim-host", "cuda:race", NULL);
    const uint64_t calls = WARMUP + CALLS + 4 + CALLS;
    for (int i = 0; i < 2; i++) {
        struct frame message = time_message(i == 0), answer = {0};
        if (i == 1)
            frame_set(&message, "rule", "gumbel");
        ask(&child, &message, &answer);
        assert_times(&answer, true);
        assert_last_tokens(&answer, i ? RULE_GUMBEL : RULE_RACE, SEED, (calls - 1) * ROWS);
        frame_free(&answer);
    }
    host_end(&child);
}

static void a_plugin(void **state)
{
    (void)state;
    static const struct {
        const char *option, *message, *said;
    } cases[] = {
        {"id=none", "times", NULL},
        {"id=overflow", "error", "past the end of its token buffer"},
        {"id=unwritten", "error", "wrote no token for draw 2"},
        {"id=status-failed", "error", "sample() answered FAILED"},
        {"id=unsupported", "unsupported", "answered UNSUPPORTED"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct child child = host("samplegate-host", build_path("fault-plugin.so"), cases[i].option);
        struct frame message = time_message(true), answer = {0};
        ask(&child, &message, &answer);
        assert_entry(&answer, "message", cases[i].message);
        if (cases[i].said)
            assert_contains(frame_get(&answer, "text"), cases[i].said);
        else
            assert_times(&answer, false);
        frame_free(&answer);
        message = time_message(true); /* and it lives on */
        frame_set(&message, "rule", "race");
        ask(&child, &message, &answer);
        assert_entry(&answer, "message", "unsupported");
        assert_contains(frame_get(&answer, "text"), "a plug-in has one rule");
        frame_free(&answer);
        host_end(&child);
    }
}

/* A tenth more work is a tenth more time: medians of five, on whatever machine. */
static void a_slower_plugin(void **state)
{
    (void)state;
    static const char *const ids[] = {"id=spin-1000", "id=spin-1100"};
    for (int i = 0; i < 2; i++) {
        struct child child = host("samplegate-host", build_path("fault-plugin.so"), ids[i]);
        struct frame message = time_message(true), answer = {0};
        ask(&child, &message, &answer);
        assert_times(&answer, false);
        for (int c = 0; c < CALLS; c++)
            assert_true(times_of(&answer, "host_ns")[c] >= (i ? 1100000 : 1000000));
        frame_free(&answer);
        host_end(&child);
    }
}

static void bad_messages(void **state)
{
    (void)state;
    static const struct {
        bool rows;
        const char *key, *value, *answer, *said;
    } bad[] = {
        {false, NULL, NULL, "error", "no rows: this message has no values, and none came before it"},
        {true, "calls", "0", "error", "calls is '0'; a whole number of 1 to 1000000 is needed"},
        {true, "calls", "x", "error", "calls is 'x'"},
        {true, "warmup", "-1", "error", "warmup is '-1'"},
        {true, "batch", "2", "error", "one call is timed: batch must be draws"},
        {true, "kept", "1", "error", "kept is not asked for"},
        {true, "rule", "beam", "unsupported", "the reference has no rule 'beam'"},
        {true, "kind", "words", "error", "kind is 'words'"},
    };
    struct child child = host("samplegate-host", "reference", NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct frame message = time_message(bad[i].rows), answer = {0};
        if (bad[i].key)
            frame_set(&message, bad[i].key, bad[i].value);
        ask(&child, &message, &answer);
        assert_entry(&answer, "message", bad[i].answer);
        assert_contains(frame_get(&answer, "text"), bad[i].said);
        frame_free(&answer);
    }
    host_end(&child);
}

/* Arrays without rows, one that nobody knows, and what an engine's host says. */
static void bad_arrays(void **state)
{
    (void)state;
    static const uint64_t draws[] = {ROWS};
    struct child child = host("samplegate-host", "reference", NULL);
    struct frame message = time_message(false), answer = {0};
    frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
    ask(&child, &message, &answer);
    assert_contains(frame_get(&answer, "text"), "arrays come with values, or not at all");
    frame_free(&answer);
    message = time_message(true);
    frame_add(&message, "mood", FRAME_I32, 1, draws, row_index);
    ask(&child, &message, &answer);
    assert_entry(&answer, "message", "unsupported");
    assert_contains(frame_get(&answer, "text"), "knows no array mood");
    frame_free(&answer);
    message = time_message(false); /* what was refused is not kept */
    ask(&child, &message, &answer);
    assert_contains(frame_get(&answer, "text"), "no rows");
    frame_free(&answer);
    host_end(&child);
    child = host("samplegate-host", "engine:sglang-0.5.20", NULL);
    message = time_message(true);
    ask(&child, &message, &answer);
    assert_entry(&answer, "message", "unsupported");
    assert_contains(frame_get(&answer, "text"), "cannot be timed");
    frame_free(&answer);
    host_end(&child);
}

int main(void)
{
    for (int i = 0; i < ROWS * VOCAB; i++)
        logits[i] = (float)(i * 37 % 11) / 4;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference),   cmocka_unit_test(rows_of_probabilities),
        cmocka_unit_test(a_device),        cmocka_unit_test(a_plugin),
        cmocka_unit_test(a_slower_plugin), cmocka_unit_test(bad_messages),
        cmocka_unit_test(bad_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
