/* test_stages.c: the bytes of a step's stages against the published figure and sums worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "suite/cost/stages.h"

static struct cost_step step_of(int64_t vocab, enum cost_dtype dtype, enum engine_draw draw, int64_t count)
{
    int64_t rows[ENGINE_DRAWS] = {0};
    rows[draw] = count;
    return cost_step_of(vocab, dtype, rows);
}

/* Bytes a logit. */
static void is(struct cost_step step, enum engine_stage stage, uint64_t tensors, uint64_t reads,
               uint64_t writes)
{
    const struct cost_bytes bytes = cost_stage(&step, stage);
    const uint64_t logits = (uint64_t)(cost_rows(&step) * step.vocab);
    assert_int_equal(bytes.tensors, tensors * logits);
    assert_int_equal(bytes.reads, reads * logits);
    assert_int_equal(bytes.writes, writes * logits);
}

/* "V = 128,000 and N = 64: some 65 MB" */
static void two_tensors(void **state)
{
    (void)state;
    const struct cost_step step = step_of(128000, COST_FLOAT16, ENGINE_DRAW_RANDOM, 64);
    assert_int_equal(cost_two_tensors(&step), 65536000);
    assert_int_equal(cost_stage(&step, ENGINE_STAGE_SOFTMAX).tensors, 65536000);
    assert_int_equal(cost_stage(&step, ENGINE_STAGE_SOFTMAX).reads, 64 * 128000 * 2 * 2);
}

/* The operations that a step of the release was seen to make, each with its inputs and its result. */
static void every_stage_of_half_logits(void **state)
{
    (void)state;
    const struct cost_step random = step_of(1000, COST_BFLOAT16, ENGINE_DRAW_RANDOM, 3);
    is(random, ENGINE_STAGE_MIN_TOKENS, 0, 0, 0);
    /* reads: 8 + 8 counts, 2 masks, 1, 3 reset, 2 sign, 4 quotient, 4 product, 5 choice, 8 and 4, 1 and 4 */
    is(random, ENGINE_STAGE_PENALTIES, 33, 54, 39);
    is(random, ENGINE_STAGE_TEMPERATURE, 0, 2, 2);
    /* reads: sort 2, mask 2, fill 3, softmax 2, sum 2, mask 2, fill 3, inverse 8, gather 8 + 2 */
    is(random, ENGINE_STAGE_TOP_P_TOP_K, 26, 34, 30);
    is(random, ENGINE_STAGE_MIN_P, 3, 9, 5);
    is(random, ENGINE_STAGE_SOFTMAX, 8, 4, 8);
    is(random, ENGINE_STAGE_SAMPLE, 8, 16, 12);
    is(random, ENGINE_STAGE_LOGPROBS, 5, 13, 5);
    is(step_of(1000, COST_FLOAT16, ENGINE_DRAW_GREEDY, 2), ENGINE_STAGE_SAMPLE, 4, 8, 4);
    is(step_of(1000, COST_FLOAT16, ENGINE_DRAW_RANDOM_SEED, 2), ENGINE_STAGE_SAMPLE, 8, 16, 12);
}

static void every_pass_of_float_logits(void **state)
{
    (void)state;
    const struct cost_step random = step_of(7, COST_FLOAT32, ENGINE_DRAW_RANDOM, 1);
    is(random, ENGINE_STAGE_PENALTIES, 45, 78, 57);
    is(random, ENGINE_STAGE_TEMPERATURE, 0, 4, 4);
    is(random, ENGINE_STAGE_TOP_P_TOP_K, 34, 50, 42);
    is(random, ENGINE_STAGE_MIN_P, 5, 17, 9);
    is(random, ENGINE_STAGE_SOFTMAX, 8, 8, 8);
    is(random, ENGINE_STAGE_SAMPLE, 8, 16, 12);
}

/* What was allocated in all: greedy 17, random 21 bytes a logit; a prompt of best_of 4 makes 64. */
static void sums_of_what_was_allocated(void **state)
{
    (void)state;
    static const enum engine_stage always[] = {ENGINE_STAGE_TEMPERATURE, ENGINE_STAGE_SOFTMAX,
                                               ENGINE_STAGE_SAMPLE, ENGINE_STAGE_LOGPROBS};
    struct cost_step steps[] = {step_of(10, COST_FLOAT16, ENGINE_DRAW_GREEDY, 1),
                                step_of(10, COST_FLOAT16, ENGINE_DRAW_RANDOM, 1),
                                step_of(10, COST_FLOAT16, ENGINE_DRAW_RANDOM, 1)};
    static const uint64_t expected[] = {170, 210, 640};
    steps[2].columns[ENGINE_DRAW_RANDOM] = 4;
    for (size_t i = 0; i < 3; i++) {
        uint64_t sum = 0;
        for (size_t s = 0; s < 4; s++)
            sum += cost_stage(&steps[i], always[s]).tensors;
        assert_int_equal(sum, expected[i]);
    }
}

/* Two candidates a row, whose ranks are asked for each. */
static void beams(void **state)
{
    (void)state;
    const struct cost_step beam = step_of(10, COST_FLOAT16, ENGINE_DRAW_BEAM, 4);
    is(beam, ENGINE_STAGE_SAMPLE, 8, 12, 8);
    is(beam, ENGINE_STAGE_LOGPROBS, 10, 18, 10);
}

static void kinds_add_up(void **state)
{
    (void)state;
    const struct cost_step step = cost_step_of(100, COST_FLOAT16, (const int64_t[ENGINE_DRAWS]){3, 1, 1, 0});
    const struct cost_bytes sample = cost_stage(&step, ENGINE_STAGE_SAMPLE);
    assert_int_equal(cost_rows(&step), 5);
    assert_int_equal(sample.tensors, 100 * (3 * 4 + 2 * 8));
    assert_int_equal(sample.reads, 100 * (3 * 8 + 2 * 16));
    assert_int_equal(sample.writes, 100 * (3 * 4 + 2 * 12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tensors),
        cmocka_unit_test(every_stage_of_half_logits),
        cmocka_unit_test(every_pass_of_float_logits),
        cmocka_unit_test(sums_of_what_was_allocated),
        cmocka_unit_test(beams),
        cmocka_unit_test(kinds_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
