/* test_bench_plan.c: the shipped bench plans load, and each way to get one wrong is refused in words that help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "suite/bench/plan.h"

#define GOLDEN SAMPLEGATE_SOURCE_DIR "/golden"

static const char rule[] =
    "{\"schema\": \"samplegate-bench-1\", \"name\": \"mine\", \"notes\": \"n\", \"seed\": \"7\", \"about\": "
    "\"rule\",\n"
    "\"hands_over\": \"probabilities\", \"rules\": [\"multinomial\", \"race\"], \"warmup\": 3, \"calls\": "
    "20, \"blocks\": 5,\n"
    "\"sessions\": 2, \"tables\": [{\"name\": \"six\", \"kind\": \"flat\", \"vocab\": 6}],\n"
    "\"cells\": [{\"name\": \"a\", \"table\": \"six\", \"batches\": [1, 8], \"temperature\": 0.7}]}";
static const char parameters[] =
    "{\"schema\": \"samplegate-bench-1\", \"name\": \"mine\", \"notes\": \"n\", \"seed\": \"7\", \"about\": "
    "\"parameters\",\n"
    "\"hands_over\": \"logits\", \"warmup\": 3, \"calls\": 20, \"blocks\": 5, \"sessions\": 2,\n"
    "\"tables\": [{\"name\": \"six\", \"kind\": \"flat\", \"vocab\": 6}],\n"
    "\"cells\": [{\"name\": \"plain\", \"table\": \"six\", \"batches\": [1, 9], \"temperature\": 0},\n"
    "{\"name\": \"noisy\", \"table\": \"six\", \"batches\": [4], \"copies\": 2, \"samples\": 3, \"over\": "
    "\"plain\", \"series\": \"s\",\n"
    "\"history\": {\"prompt\": 5, \"output\": 2}, \"parameters\": {\"presence_penalty\": 0.5},\n"
    "\"neighbour\": {\"one_in\": 2, \"parameters\": {\"top_k\": 3}}}],\n"
    "\"remedies\": [{\"action\": \"quiet\", \"costs\": \"nothing\", \"from\": \"noisy\", \"to\": "
    "\"plain\"}]}";

static char path[] = "/tmp/samplegate-bench-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int drop_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int load_changed(struct bench_plan *plan, const char *good, const char *from, const char *to,
                        struct trouble *trouble)
{
    const char *place = strstr(good, from);
    if (!place)
        fail_msg("%s is not in the plan", from);
    FILE *file = fopen(path, "w");
    if (!file)
        fail_msg("%s cannot be written", path);
    fprintf(file, "%.*s%s%s", (int)(place - good), good, to, place + strlen(from));
    fclose(file);
    return bench_plan_load(plan, path, GOLDEN, trouble);
}

static void shipped_plans(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum bench_about about;
        size_t cells;
    } shipped[] = {{"bench-38117", BENCH_ABOUT_RULE, 2}, {"bench-vllm-0.5.0", BENCH_ABOUT_PARAMETERS, 24}};
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        struct bench_plan plan;
        struct trouble trouble = {0};
        if (bench_plan_load(&plan, shipped[i].name, GOLDEN, &trouble))
            fail_msg("%s", trouble.text);
        assert_string_equal(plan.name, shipped[i].name);
        assert_int_equal(plan.about, shipped[i].about);
        assert_int_equal(plan.cells, shipped[i].cells);
        assert_int_equal(strlen(plan.sha256), 64);
        bench_plan_free(&plan);
    }
}

/* The published numbers stand in the published plan. */
static void as_published(void **state)
{
    (void)state;
    struct bench_plan plan;
    struct trouble trouble = {0};
    assert_int_equal(bench_plan_load(&plan, "bench-38117", GOLDEN, &trouble), 0);
    assert_int_equal(plan.calls, 200);
    assert_int_equal(plan.warmup, 30);
    assert_int_equal(plan.sessions, 3);
    assert_string_equal(plan.rule[0], "multinomial");
    assert_string_equal(plan.rule[1], "race");
    const uint32_t batches[] = {1, 8, 32, 64};
    const size_t vocab[] = {32768, 151936};
    for (size_t c = 0; c < 2; c++) {
        assert_int_equal(plan.cell[c].table->vocab, vocab[c]);
        assert_int_equal(plan.cell[c].batches, 4);
        assert_memory_equal(plan.cell[c].batch, batches, sizeof batches);
    }
    bench_plan_free(&plan);
}

static void everything_is_read(void **state)
{
    (void)state;
    struct bench_plan plan;
    struct trouble trouble = {0};
    if (load_changed(&plan, parameters, "\"mine\"", "\"mine\"", &trouble))
        fail_msg("%s", trouble.text);
    const struct bench_cell *plain = &plan.cell[0], *noisy = &plan.cell[1];
    assert_true(bench_greedy(plain) && !bench_greedy(noisy));
    assert_ptr_equal(noisy->over, plain);
    assert_string_equal(noisy->series, "s");
    assert_string_equal(plain->series, "");
    assert_int_equal(bench_rows(noisy, 4), 8);
    assert_int_equal(bench_draws(noisy, 4), 24);
    assert_int_equal(bench_neighbours(noisy, 4), 4);
    assert_int_equal(bench_neighbours(plain, 9), 0);
    assert_int_equal(noisy->ask.parameters.edits.prompt.count, 5);
    assert_int_equal(noisy->ask.parameters.edits.output.count, 2);
    for (size_t i = 0; i < 5; i++) /* multiples of 7919, within the vocabulary */
        assert_int_equal(noisy->ask.parameters.edits.prompt.id[i], (int64_t)i * 7919 % 6);
    assert_true(noisy->ask.parameters.edits.presence == 0.5);
    assert_int_equal(noisy->neighbour.parameters.limits.top_k, 3);
    assert_ptr_equal(plan.remedy[0].from, noisy);
    assert_ptr_equal(plan.remedy[0].to, plain);
    assert_int_equal(plan.fill, 1100);
    bench_plan_free(&plan);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *plan, *from, *to, *said;
    } bad[] = {
        {rule, "samplegate-bench-1", "samplegate-plan-1", "accepted: samplegate-bench-1"},
        {rule, "\"temperature\": 0.7", "\"temperature\": 0",
         "temperature 0 is greedy: an argmax, which never calls the drawing rule"},
        {rule, "\"temperature\": 0.7", "\"temperature\": -1", "temperature: must be from 0"},
        {rule, "\"temperature\": 0.7", "\"parameters\": {}", "parameters"},
        {rule, "\"temperature\": 0.7", "\"temperature\": 1e-60", "is not what fp32 can hold"},
        {parameters, "\"presence_penalty\": 0.5", "\"presence_penalty\": -1e300",
         "is not what fp32 can hold"},
        {rule, "\"vocab\": 6}],\n\"cells\": [{\"name\": \"a\", \"table\": \"six\", \"batches\": [1, 8]",
         "\"vocab\": 1048576}],\n\"cells\": [{\"name\": \"a\", \"table\": \"six\", \"batches\": [1, 4096]",
         "cells[0]: a call of its largest batch hands over 4294967296 values; accepted: at most 268435456"},
        {parameters,
         "\"copies\": 2, \"samples\": 3, \"over\": \"plain\", \"series\": \"s\",\n\"history\": {\"prompt\": "
         "5",
         "\"copies\": 64, \"samples\": 16, \"over\": \"plain\", \"series\": \"s\",\n\"history\": "
         "{\"prompt\": 65536",
         "ids; accepted: at most 67108864"},
        {rule, "\"rules\": [\"multinomial\", \"race\"], ", "",
         "\"rules\" is for a plan that is about the rule"},
        {rule, "\"race\"", "\"multinomial\"", "\"multinomial\" is there already"},
        {rule, "[1, 8]", "[8, 1]", "sizes must rise"},
        {rule, "[1, 8]", "[]", "must have 1 to 8 sizes, has 0"},
        {rule, "[1, 8]", "[1, 5000]", "4096"},
        {rule, "\"blocks\": 5", "\"blocks\": 21", "\"blocks\" must be at most \"calls\""},
        {rule, "\"table\": \"six\"", "\"table\": \"seven\"", "its tables are: six"},
        {rule, "\"sessions\": 2", "\"sessions\": 0", "sessions: must be an integer from 1"},
        {rule, "\"sessions\": 2", "\"session\": 2", "session"},
        {parameters, "\"hands_over\": \"logits\"", "\"hands_over\": \"probabilities\"", "hands over logits"},
        {parameters, "\"over\": \"plain\"", "\"over\": \"noisy\"",
         "names none of the cells so far; there are: plain"},
        {parameters, "\"series\": \"s\"", "\"series\": \"s t\"", "\"series\" must be"},
        {parameters, "\"one_in\": 2", "\"one_in\": 2, \"rows\": 1", "needs \"rows\""},
        {parameters, "\"one_in\": 2, ", "", "needs \"rows\""},
        {parameters, "\"top_k\": 3", "\"top_k\": 0", "\"top_k\" has a value that no sampler may accept"},
        {parameters, "\"presence_penalty\": 0.5", "\"prompt\": [1]", "has no place beside lists"},
        {parameters, "\"copies\": 2", "\"copies\": 65", "copies: must be an integer from 1 to 64"},
        {parameters, "\"from\": \"noisy\"", "\"from\": \"loud\"", "there are: plain, noisy"},
        {parameters, "\"from\": \"noisy\"", "\"from\": \"noisy\", \"from_batch\": 4", "come together"},
        {parameters, "\"name\": \"noisy\"", "\"name\": \"plain\"", "a cell named \"plain\" is there already"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bench_plan plan;
        struct trouble trouble = {0};
        assert_int_equal(load_changed(&plan, bad[i].plan, bad[i].from, bad[i].to, &trouble), -1);
        assert_int_equal(trouble.exit, EXIT_USAGE);
        if (!strstr(trouble.text, bad[i].said) || !strstr(trouble.text, path))
            fail_msg("%zu: '%s' is not in: %s", i, bad[i].said, trouble.text);
    }
}

static void unknown_plan(void **state)
{
    (void)state;
    struct bench_plan plan;
    struct trouble trouble = {0};
    assert_int_equal(bench_plan_load(&plan, "nosuch", GOLDEN, &trouble), -1);
    assert_non_null(strstr(trouble.text, "there are: bench-38117"));
    assert_null(strstr(trouble.text, "gate"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shipped_plans), cmocka_unit_test(as_published),
                                       cmocka_unit_test(everything_is_read), cmocka_unit_test(refusals),
                                       cmocka_unit_test(unknown_plan)};
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
