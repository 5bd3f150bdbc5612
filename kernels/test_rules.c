/* test_rules.c: the scalar rules, softmax and fixed point on cases worked out by hand, at every edge.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernels/rules.h"
#include "kernels/softmax.h"
#include "kernels/test_choices.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const float nan_ = NAN, inf_ = INFINITY;

static void argmax_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(choices); i++) {
        const struct choice_case *c = &choices[i];
        const int32_t got[] = {rule_race(c->weight, c->q, c->vocab), rule_gumbel(c->weight, c->q, c->vocab),
                               rule_torch_race(c->weight, c->q, c->vocab)};
        if (got[0] != c->race || got[1] != c->gumbel || got[2] != c->torch)
            fail_msg("%s: race %d (want %d), gumbel %d (want %d), torch-race %d (want %d)", c->what, got[0],
                     c->race, got[1], c->gumbel, got[2], c->torch);
    }
}

static void greedy(void **state)
{
    (void)state;
    const float ties[] = {1, 3, 3, 2}, odd[] = {nan_, -inf_, -5, nan_, -4}, top[] = {1, inf_, nan_, inf_};
    const float none[] = {nan_, -inf_, nan_}, lowest[] = {-3.4028235e38f, -inf_};
    assert_int_equal(rule_greedy_logits(ties, 4), 1);
    assert_int_equal(rule_greedy_logits(odd, 5), 4);
    assert_int_equal(rule_greedy_logits(top, 4), 1);
    assert_int_equal(rule_greedy_logits(none, 3), -1);
    assert_int_equal(rule_greedy_logits(lowest, 2), 0);
    const float weights[] = {0, -1, TINY, inf_, TINY, nan_}, zeros[] = {0, -0.0f, -1};
    assert_int_equal(rule_greedy_weights(weights, 6), 2);
    assert_int_equal(rule_greedy_weights(zeros, 3), -1);
}

static void categorical(void **state)
{
    (void)state;
    const uint64_t half = UINT64_C(1) << 63, last = UINT64_MAX;
    const float even[] = {1, 1}, quarter[] = {1, 3}, holes[] = {0, nan_, 2, 0, -1, 2, inf_};
    assert_int_equal(rule_categorical(even, 2, 0), 0);
    assert_int_equal(rule_categorical(even, 2, half - 1), 0);
    assert_int_equal(rule_categorical(even, 2, half), 1);
    assert_int_equal(rule_categorical(even, 2, last), 1);
    assert_int_equal(rule_categorical(quarter, 2, half / 2 - 1), 0);
    assert_int_equal(rule_categorical(quarter, 2, half / 2), 1);
    assert_int_equal(rule_categorical(holes, 7, 0), 2);
    assert_int_equal(rule_categorical(holes, 7, half), 5);
    assert_int_equal(rule_categorical(holes, 7, last), 5);
    /* One unit is 2^-44 of the power of two above the largest, here 2^-43; a quarter of that has no mass;
     * half a unit is rounded up. */
    const float small[] = {0x1p-46f, 1, 0x1p-44f};
    assert_int_equal(rule_categorical(small, 3, 0), 1);
    assert_int_equal(rule_categorical(small, 3, last), 2);
    const float denormal[] = {TINY, TINY, 2 * TINY};
    assert_int_equal(rule_categorical(denormal, 3, half / 2), 1);
    assert_int_equal(rule_categorical(denormal, 3, half), 2);
    const float large[] = {3e38f, 3e38f, 3e38f, 3e38f};
    assert_int_equal(rule_categorical(large, 4, last), 3);
    assert_int_equal(rule_categorical(large, 4, half), 2);
    const float none[] = {0, nan_, -inf_, inf_};
    assert_int_equal(rule_categorical(none, 4, half), -1);
    assert_int_equal(rule_categorical(even, 1, last), 0);
}

/* The largest vocabulary with the largest masses: the total stays below 2^64, so every id has its own share.
 */
static void categorical_widest(void **state)
{
    (void)state;
    const size_t vocab = FIXED_POINT_VOCAB_MAX;
    float *weights = malloc(vocab * sizeof *weights);
    assert_non_null(weights);
    for (size_t i = 0; i < vocab; i++)
        weights[i] = 0x1.fffffep+0f;
    for (uint64_t i = 0; i < vocab; i += 104729) {
        assert_int_equal(rule_categorical(weights, vocab, (i << 44) + (UINT64_C(1) << 43)), i);
        if (i)
            assert_int_equal(rule_categorical(weights, vocab, (i << 44) - 1), i - 1);
    }
    assert_int_equal(rule_categorical(weights, vocab, UINT64_MAX), vocab - 1);
    free(weights);
}

static void fixed_point(void **state)
{
    (void)state;
    assert_int_equal(fixed_point_of(1, 43), UINT64_C(1) << 43);
    assert_int_equal(fixed_point_of(1.5f, 0), 2);
    assert_int_equal(fixed_point_of(1.25f, 0), 1);
    assert_int_equal(fixed_point_of(0.5f, 0), 1);
    assert_int_equal(fixed_point_of(0x1.fffffep-2f, 0), 0);
    assert_int_equal(fixed_point_of(0x1p-60f, 0), 0);
    assert_int_equal(fixed_point_of(TINY, 149), 1);
    assert_int_equal(fixed_point_of(5 * TINY, 150), 10);
    assert_int_equal(fixed_point_of(-1, 10), 0);
    assert_int_equal(fixed_point_of(nan_, 10), 0);
    assert_int_equal(fixed_point_of(inf_, 10), 0);
    const float largest[] = {TINY, 3 * TINY, 0x1p-127f, 0x1p-126f, 0.75f, 1, 3.4028235e38f};
    for (size_t i = 0; i < COUNT(largest); i++) {
        const uint64_t mass = fixed_point_of(largest[i], fixed_point_scale(largest[i], FIXED_POINT_CDF_BITS));
        assert_true(mass >> 43 == 1);
    }
    const uint64_t factors[] = {0, 1, UINT64_MAX, UINT64_C(0x123456789abcdef0), UINT64_C(0xffffffff00000001)};
    for (size_t i = 0; i < COUNT(factors); i++)
        for (size_t j = 0; j < COUNT(factors); j++)
            assert_true(fixed_point_multiply_high(factors[i], factors[j]) ==
                        (uint64_t)((__extension__(unsigned __int128) factors[i]) * factors[j] >> 64));
}

static void softmax_rows(void **state)
{
    (void)state;
    float p[4];
    const float row[] = {1, -2, 0.5f, -inf_};
    softmax(row, 4, 0.5f, p);
    double sum = 0, expected[3];
    for (size_t i = 0; i < 3; i++)
        sum += expected[i] = exp((double)row[i] / 0.5);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(p[i] / (expected[i] / sum) - 1) < 2.5 * 0x1p-23);
    assert_true(p[3] == 0);
    /* Equal logits, however large, share evenly. */
    const float large[] = {3e38f, 3e38f, -3e38f};
    softmax(large, 3, 1, p);
    assert_true(p[0] == 0.5f && p[1] == 0.5f && p[2] == 0);
    /* NaN poisons its own id only. */
    const float with_nan[] = {nan_, 0, 0};
    softmax(with_nan, 3, 1, p);
    assert_true(kernel_bits(p[0]) == KERNEL_NAN_BITS && p[1] == 0.5f && p[2] == 0.5f);
    /* No softmax: +inf, all -inf, all NaN, and a quotient that overflows. */
    const float no_softmax[][2] = {{inf_, 0}, {-inf_, -inf_}, {nan_, nan_}, {nan_, inf_}};
    for (size_t i = 0; i < COUNT(no_softmax); i++) {
        softmax(no_softmax[i], 2, 1, p);
        assert_true(kernel_bits(p[0]) == KERNEL_NAN_BITS && kernel_bits(p[1]) == KERNEL_NAN_BITS);
    }
    const float overflow[] = {2, 1};
    softmax(overflow, 2, 0x1p-128f, p);
    assert_true(isnan(p[0]) && isnan(p[1]));
    /* e^-95 is denormal: e^-95 = 0x1.8a8...p-138, in units of 2^-149: 5.5e-42 / 1.4e-45 */
    const float gap[] = {0, -95};
    softmax(gap, 2, 1, p);
    assert_true(fabs(p[1] / TINY - exp(-95.0) / 0x1p-149) <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argmax_rules),       cmocka_unit_test(greedy),      cmocka_unit_test(categorical),
        cmocka_unit_test(categorical_widest), cmocka_unit_test(fixed_point), cmocka_unit_test(softmax_rows),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
