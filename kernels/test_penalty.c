/* test_penalty.c: penalties, bias, masks and min_tokens by hand: each alone, at its edges, and where engines'
 * orders differ. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "kernels/penalty.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const float nan_ = NAN, inf_ = INFINITY;

static void row_check(const char *rule, const struct penalties *penalties, float temperature,
                      const float *row, const float *expected, size_t vocab)
{
    float logits[8];
    assert_non_null(penalty_rule_of(rule));
    memcpy(logits, row, vocab * sizeof *row);
    assert_int_equal(penalty_row(penalty_rule_of(rule), penalties, temperature, logits, vocab), PENALTY_OK);
    for (size_t i = 0; i < vocab; i++)
        if (kernel_bits(logits[i]) != kernel_bits(expected[i]))
            fail_msg("%s, id %zu: %a, by hand %a", rule, i, (double)logits[i], (double)expected[i]);
}

/* The same for every rule. */
static void rows_check(const struct penalties *penalties, const float *row, const float *expected,
                       size_t vocab)
{
    for (size_t r = 0; penalty_rule_at(r); r++)
        row_check(penalty_rule_at(r)->name, penalties, 1, row, expected, vocab);
}

static void nothing(void **state)
{
    (void)state;
    const struct penalties none = penalties_none();
    const float row[] = {1, -2, 0, -0.0f, inf_, -inf_, nan_, 0x1p-149f};
    rows_check(&none, row, row, 8);
}

/* Divided above zero, multiplied at and below it; by presence in prompt or output, not by count. */
static void repetition(void **state)
{
    (void)state;
    const int64_t prompt[] = {0, 1, 2, 0, 5, 7}, output[] = {3, 3, 3};
    struct penalties penalties = penalties_none();
    penalties.repetition = 2;
    penalties.prompt = prompt;
    penalties.prompt_tokens = COUNT(prompt);
    penalties.output = output;
    penalties.output_tokens = COUNT(output);
    const float row[] = {3, -3, 0, 8, 8, -inf_, 1, inf_}, expected[] = {1.5f, -6, 0, 4, 8, -inf_, 1, inf_};
    rows_check(&penalties, row, expected, 8);
    penalties.repetition = 0.5;
    const float rewarded[] = {6, -1.5f, 0, 16, 8, -inf_, 1, inf_};
    rows_check(&penalties, row, rewarded, 8);
}

/* By the count in the output; the prompt counts for TensorRT-LLM's C++ kernels only. */
static void frequency_and_presence(void **state)
{
    (void)state;
    const int64_t prompt[] = {0, 1, 1}, output[] = {1, 2, 2, 2};
    struct penalties penalties = penalties_none();
    penalties.frequency = 0.25;
    penalties.presence = -1;
    penalties.prompt = prompt;
    penalties.prompt_tokens = COUNT(prompt);
    penalties.output = output;
    penalties.output_tokens = COUNT(output);
    const float row[] = {1, 1, 1, 1}, expected[] = {1, 1.75f, 1.25f, 1},
                with_prompt[] = {1.75f, 1.25f, 1.25f, 1};
    row_check("sglang", &penalties, 1, row, expected, 4);
    row_check("vllm-0.5.0", &penalties, 1, row, expected, 4);
    row_check("vllm-v1", &penalties, 1, row, expected, 4);
    row_check("tensorrt-llm-cpp", &penalties, 1, row, with_prompt, 4);
    /* Three times fp32(0.1) is rounded before it is subtracted. */
    penalties.frequency = 0.1;
    penalties.presence = 0;
    const float rounded[] = {1, 1 - 0.1f, 1 - 3 * 0.1f, 1};
    row_check("sglang", &penalties, 1, row, rounded, 4);
}

static void masks_and_bias(void **state)
{
    (void)state;
    const float row[] = {1, 2, 3, nan_}, bias[] = {0.5f, -100, inf_, 1};
    const uint8_t allowed[] = {1, 255, 0, 0};
    struct penalties penalties = penalties_none();
    penalties.logit_bias = bias;
    const float biased[] = {1.5f, -98, inf_, nan_};
    rows_check(&penalties, row, biased, 4);
    penalties.logit_bias = NULL;
    penalties.allowed = allowed;
    const float masked[] = {1, 2, -inf_, -inf_};
    rows_check(&penalties, row, masked, 4);
}

/* -inf until the output has min_tokens tokens. */
static void min_tokens(void **state)
{
    (void)state;
    const float row[] = {1, 2, 3}, without[] = {1, -inf_, 3};
    const int64_t output[] = {0, 2, 0}, stop[] = {1, 1};
    struct penalties penalties = penalties_none();
    penalties.output = output;
    penalties.stop = stop;
    penalties.stops = COUNT(stop);
    penalties.min_tokens = 2;
    for (size_t tokens = 0; tokens <= 3; tokens++) {
        penalties.output_tokens = tokens;
        rows_check(&penalties, row, tokens < 2 ? without : row, 3);
    }
    penalties.min_tokens = INT64_MAX;
    rows_check(&penalties, row, without, 3);
    penalties.stops = 0;
    rows_check(&penalties, row, row, 3);
}

/* l = 2, T = 1/2, presence 1, repetition 1.2: 1.333 where the temperature comes last, 2.333 where it is first
 * (vLLM against TensorRT-LLM's C++ kernels); SGLang subtracts before it divides. */
static void orders(void **state)
{
    (void)state;
    const int64_t output[] = {0};
    struct penalties penalties = penalties_none();
    penalties.presence = 1;
    penalties.repetition = 1.2;
    penalties.output = output;
    penalties.output_tokens = 1;
    const float row[] = {2}, r = 1.2f;
    const float vllm[] = {(2 / r - 1) / 0.5f}, tensorrt[] = {4 / r - 1}, sglang[] = {(2 - 1) / r / 0.5f};
    assert_true(fabsf(vllm[0] - 1.33333f) < 1e-5f && fabsf(tensorrt[0] - 2.33333f) < 1e-5f);
    row_check("vllm-0.5.0", &penalties, 0.5f, row, vllm, 1);
    row_check("vllm-v1", &penalties, 0.5f, row, vllm, 1);
    row_check("tensorrt-llm-cpp", &penalties, 0.5f, row, tensorrt, 1);
    row_check("sglang", &penalties, 0.5f, row, sglang, 1);
    /* A bias before repetition is divided with the logit, one after it is not. */
    const float bias[] = {4};
    penalties.presence = 0;
    penalties.repetition = 2;
    penalties.logit_bias = bias;
    const float before[] = {3}, after[] = {5};
    row_check("vllm-0.5.0", &penalties, 1, row, before, 1);
    row_check("sglang", &penalties, 1, row, after, 1);
}

static void refusals(void **state)
{
    (void)state;
    const int64_t low[] = {0, -1}, high[] = {2};
    struct penalties good = penalties_none(), bad[16];
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    const double repetitions[] = {0, -1, NAN, INFINITY, 1e-60, 1e60};
    for (size_t i = 0; i < 6; i++)
        bad[i].repetition = repetitions[i];
    bad[6].frequency = NAN;
    bad[7].presence = INFINITY;
    bad[8].frequency = 1e60;
    bad[9].min_tokens = -1;
    bad[10].prompt = bad[11].output = bad[12].stop = low;
    bad[13].prompt = bad[14].output = bad[15].stop = high;
    bad[10].prompt_tokens = bad[11].output_tokens = bad[12].stops = 2;
    bad[13].prompt_tokens = bad[14].output_tokens = bad[15].stops = 1;
    for (size_t i = 0; i < COUNT(bad); i++) {
        float logits[] = {1, 2};
        assert_int_equal(penalty_row(penalty_rule_at(0), &bad[i], 1, logits, 2), i < 9 ? PENALTY_BAD_PENALTY
                                                                                 : i == 9
                                                                                     ? PENALTY_BAD_MIN_TOKENS
                                                                                     : PENALTY_BAD_TOKEN);
        assert_true(logits[0] == 1 && logits[1] == 2);
    }
    size_t rules = 0;
    for (const struct penalty_rule *rule; (rule = penalty_rule_at(rules)) != NULL; rules++) {
        unsigned steps = 0, count = 0;
        for (; rule->step[count] != PENALTY_END; count++)
            steps |= 1u << rule->step[count];
        assert_true(count == 7 && steps == 0xfe); /* each once */
        assert_ptr_equal(penalty_rule_of(rule->name), rule);
    }
    assert_true(rules > 0);
    assert_null(penalty_rule_of("vllm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing),
        cmocka_unit_test(repetition),
        cmocka_unit_test(frequency_and_presence),
        cmocka_unit_test(masks_and_bias),
        cmocka_unit_test(min_tokens),
        cmocka_unit_test(orders),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("penalty", tests, NULL, NULL);
}
