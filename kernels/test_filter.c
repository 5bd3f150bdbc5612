/* test_filter.c: filters by hand at every edge, and engines' rules on the vectors that tell them apart.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernels/filter.h"

#define SMALL 24
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const float nan_ = NAN, inf_ = INFINITY;

/* What stays, as bits: id 0 is bit 0. The row is copied; what left must be 0, what stays untouched. */
static uint32_t kept_of(const struct filter_rule *rule, const float *row, size_t vocab, int64_t k, double p,
                        double min_p)
{
    const struct filter_parameters parameters = {k, p, min_p};
    float weights[SMALL];
    uint8_t kept[SMALL];
    uint32_t bits = 0;
    memcpy(weights, row, vocab * sizeof *row);
    memset(kept, 0x55, sizeof kept);
    assert_int_equal(filter_row(rule, &parameters, weights, vocab, kept), FILTER_OK);
    for (size_t i = 0; i < vocab; i++) {
        assert_in_range(kept[i], 0, 1);
        if (rule->boundary != FILTER_SPLIT)
            assert_true(weights[i] == (kept[i] ? row[i] : 0));
        bits |= (uint32_t)kept[i] << i;
    }
    return bits;
}

static uint32_t kept_by(const char *name, const float *row, size_t vocab, int64_t k, double p, double min_p)
{
    const struct filter_rule *rule = filter_rule_of(name);
    assert_non_null(rule);
    return kept_of(rule, row, vocab, k, p, min_p);
}

#define ID(i) (1u << (i))

/* Six rows on which no two of vLLM/HF, llama.cpp, TensorRT-LLM's torch sampler and FlashInfer agree
 * throughout; exact rationals worked out by hand. A stable ascending sort is assumed for vLLM and HF. */
static void top_p_of_engines(void **state)
{
    (void)state;
    const struct {
        float row[4];
        size_t vocab;
        double p;
        uint32_t vllm, llama, tensorrt, flashinfer, sglang;
    } cases[] = {
        {{0.5f, 0.25f, 0.25f}, 3, 0.5, 1, 1, 3, 1, 3},
        {{0.25f, 0.25f, 0.25f, 0.25f}, 4, 0.5, ID(2) | ID(3), 3, 7, 15, 7},
        {{0.25f, 0.25f, 0.25f, 0.25f}, 4, 0.01, ID(3), 1, 1, 15, 1},
        {{0.5f, 0.25f, 0.125f, 0.125f}, 4, 0.75, 3, 3, 7, 3, 7},
        {{0.5f, 0.25f, 0.125f, 0.125f}, 4, 0.625, 3, 3, 3, 3, 3},
        {{0.4f, 0.3f, 0.3f}, 3, 0.5, ID(0) | ID(2), 3, 3, 7, 3},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        const struct {
            const char *rule;
            uint32_t kept;
        } expected[] = {
            {"vllm-0.5.0", cases[c].vllm},
            {"vllm-v1", cases[c].vllm},
            {"hf-transformers", cases[c].vllm},
            {"llama.cpp", cases[c].llama},
            {"tensorrt-llm-torch", cases[c].tensorrt},
            {"flashinfer-joint", cases[c].flashinfer},
            {"flashinfer-top-k-first", cases[c].flashinfer},
            {"sglang-pytorch", cases[c].sglang},
        };
        for (size_t e = 0; e < COUNT(expected); e++) {
            const uint32_t got = kept_by(expected[e].rule, cases[c].row, cases[c].vocab, -1, cases[c].p, 0);
            if (got != expected[e].kept)
                fail_msg("row %zu, %s: keeps %x, by hand %x", c, expected[e].rule, got, expected[e].kept);
        }
    }
}

/* TensorRT-LLM's C++ kernels leave the last id only its share up to p: masses of the same six rows. */
static void split_boundary(void **state)
{
    (void)state;
    const struct {
        float row[4];
        size_t vocab;
        double p;
        float left[4];
    } cases[] = {
        {{0.5f, 0.25f, 0.25f}, 3, 0.5, {0.5f}},
        {{0.25f, 0.25f, 0.25f, 0.25f}, 4, 0.5, {0.25f, 0.25f}},
        {{0.25f, 0.25f, 0.25f, 0.25f}, 4, 0x1p-7, {0x1p-7f}},
        {{0.5f, 0.25f, 0.125f, 0.125f}, 4, 0.75, {0.5f, 0.25f}},
        {{0.5f, 0.25f, 0.125f, 0.125f}, 4, 0.625, {0.5f, 0.125f}},
        {{0.5f, 0.25f, 0.125f, 0.125f}, 4, 0x1p-1074, {0x1p-44f}}, /* one unit at least */
        {{4, 4, 8}, 3, 0.625, {2, 0, 8}},
    };
    const struct filter_rule *rule = filter_rule_of("tensorrt-llm-cpp");
    assert_non_null(rule);
    for (size_t c = 0; c < COUNT(cases); c++)
        for (int with_min_p = 0; with_min_p < 2; with_min_p++) {
            const struct filter_parameters parameters = {-1, cases[c].p, with_min_p ? 0x1p-20 : 0};
            float weights[4] = {0};
            uint8_t kept[4];
            memcpy(weights, cases[c].row, cases[c].vocab * sizeof *weights);
            assert_int_equal(filter_row(rule, &parameters, weights, cases[c].vocab, kept), FILTER_OK);
            for (size_t i = 0; i < cases[c].vocab; i++)
                if (weights[i] != cases[c].left[i] || kept[i] != (cases[c].left[i] > 0))
                    fail_msg("row %zu, id %zu: %a, by hand %a", c, i, (double)weights[i],
                             (double)cases[c].left[i]);
        }
    /* 2/5, 3/10, 3/10 at 1/2 leaves 4 : 1. */
    float thirds[] = {0.4f, 0.3f, 0.3f};
    uint8_t kept[3];
    const struct filter_parameters half = {-1, 0.5, 0};
    assert_int_equal(filter_row(rule, &half, thirds, 3, kept), FILTER_OK);
    assert_true(fabsf(thirds[0] / thirds[1] - 4) < 1e-5f && thirds[2] == 0);
}

/* top_k with top_p, ties at k, and min_p before or after: cases from engines' own reports. */
static void orders_of_engines(void **state)
{
    (void)state;
    /* SGLang's regression case: joint keeps four, k first leaves .05 of .85 outside the nucleus. */
    const float nine[] = {0.35f, 0.25f, 0.2f, 0.05f, 0.03f, 0.03f, 0.03f, 0.03f, 0.03f};
    assert_int_equal(kept_by("sglang-pytorch", nine, 9, 4, 0.82, 0), 15);
    assert_int_equal(kept_by("flashinfer-joint", nine, 9, 4, 0.82, 0), 15);
    assert_int_equal(kept_by("flashinfer-top-k-first", nine, 9, 4, 0.82, 0), 7);
    assert_int_equal(kept_by("vllm-0.5.0", nine, 9, 4, 0.82, 0), 7);
    /* Ties at the k-th. */
    const float tied[] = {0.4f, 0.2f, 0.2f, 0.1f, 0.1f};
    assert_int_equal(kept_by("flashinfer-joint", tied, 5, 2, 0.45, 0), 7);
    assert_int_equal(kept_by("flashinfer-joint", tied, 5, 2, 1, 0), 7);
    assert_int_equal(kept_by("vllm-0.5.0", tied, 5, 2, 1, 0), 7);
    assert_int_equal(kept_by("sglang-pytorch", tied, 5, 2, 1, 0), 3);
    assert_int_equal(kept_by("llama.cpp", tied, 5, 4, 1, 0), 15);
    /* vLLM's upgrade: min_p moved in front of top_p. */
    float head[24] = {0.4f, 0.2f, 0.12f, 0.08f};
    for (size_t i = 4; i < 24; i++)
        head[i] = 0.01f;
    assert_int_equal(kept_by("vllm-0.5.0", head, 24, -1, 0.89, 0.1), 15);
    assert_int_equal(kept_by("vllm-v1", head, 24, -1, 0.89, 0.1), 7);
    /* top_p first, on ties that top_k counts from the other end: {0 1} of the nucleus, then its highest. */
    const struct filter_rule other = {
        "", FILTER_TIES_HIGHEST, FILTER_TIES_LOWEST, FILTER_BELOW, FILTER_TOP_P_FIRST, 0, 0};
    const struct filter_rule joint = {
        "", FILTER_TIES_HIGHEST, FILTER_TIES_LOWEST, FILTER_BELOW, FILTER_JOINT, 0, 0};
    const float flat[] = {1, 1, 1, 1};
    assert_int_equal(kept_of(&other, flat, 4, 1, 0.5, 0), ID(1));
    assert_int_equal(kept_of(&joint, flat, 4, 3, 0.5, 0), ID(1)); /* {1 2 3} and {0 1} */
}

/* Every edge of every parameter on one row; one rule that keeps exactly k and one that keeps ties. */
static void edges(void **state)
{
    (void)state;
    const float row[] = {2, 8, 4, 1, 1};
    const double last = 1 - 0x1p-53;
    const struct {
        int64_t k;
        double p, min_p;
        uint32_t exact, ties;
    } cases[] = {
        {-1, 1, 0, 31, 31},
        {5, 1, 0, 31, 31},
        {6, 1, 0, 31, 31},
        {INT64_MAX, 1, 0, 31, 31},
        {4, 1, 0, 15, 31},
        {3, 1, 0, 7, 7},
        {1, 1, 0, ID(1), ID(1)},
        {-1, 0x1p-1074, 0, ID(1), ID(1)},
        {-1, 1e-9, 0, ID(1), ID(1)},
        {-1, 0.5, 0, ID(1) | ID(2), ID(1)},
        {-1, 0x1.fffffffffffffp-2, 0, ID(1), ID(1)}, /* half of 16 is 8: just below and just above it */
        {-1, 0x1.0000000000001p-1, 0, ID(1) | ID(2), ID(1) | ID(2)},
        {-1, 0.875, 0, 15, 7},
        {-1, 0.9375, 0, 31, 31},
        {-1, last, 0, 31, 31},
        {-1, 1.5, 0, 31, 31},
        {-1, inf_, 0, 31, 31},
        {-1, 1, -0.0, 31, 31},
        {-1, 1, 1e-60, 31, 31},
        {-1, 1, 0.125, 31, 31},
        {-1, 1, 0.1250001, 7, 7},
        {-1, 1, 0.25, 7, 7},
        {-1, 1, 0.5, ID(1) | ID(2), ID(1) | ID(2)},
        {-1, 1, 1, ID(1), ID(1)},
        {2, 0x1p-1074, 1, ID(1), ID(1)},
        {3, 0.875, 0.5, ID(1) | ID(2), ID(1) | ID(2)},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        const uint32_t exact = kept_by("sglang-pytorch", row, 5, cases[c].k, cases[c].p, cases[c].min_p);
        const uint32_t ties = kept_by("flashinfer-joint", row, 5, cases[c].k, cases[c].p, cases[c].min_p);
        if (exact != cases[c].exact || ties != cases[c].ties)
            fail_msg("case %zu: keeps %x and %x, by hand %x and %x", c, exact, ties, cases[c].exact,
                     cases[c].ties);
    }
}

/* Rows that hold more than positive weights, one id, no id. */
static void odd_rows(void **state)
{
    (void)state;
    const float one[] = {0.25f}, odd[] = {nan_, 0, inf_, -1, 4, 0x1p-149f, -0.0f, 4, -inf_};
    const float denormal[] = {0x1p-149f, 0x1p-148f, 0x1p-149f}, huge[] = {3e38f, 3e38f, 3e38f};
    const float none[] = {nan_, 0, inf_, -1, -inf_};
    for (size_t r = 0; filter_rule_at(r); r++) {
        const struct filter_rule *rule = filter_rule_at(r);
        assert_int_equal(kept_of(rule, one, 1, 1, 0.5, 1), 1);
        assert_int_equal(kept_of(rule, odd, 9, -1, 1, 0), ID(4) | ID(5) | ID(7));
        assert_int_equal(kept_of(rule, odd, 9, 9, 1, 0x1p-140), ID(4) | ID(7));
        assert_int_equal(kept_of(rule, odd, 9, 3, 1, 0), ID(4) | ID(5) | ID(7));
        assert_int_equal(kept_of(rule, denormal, 3, -1, 1, 1), ID(1));
        assert_int_equal(kept_of(rule, denormal, 3, 1, 0.25, 0), ID(1));
        assert_int_equal(kept_of(rule, huge, 3, 3, 0.9, 0), 7);
        for (int64_t k = -1; k < 4; k += 4) {
            const struct filter_parameters parameters = {k, 0.5, 0.5};
            float weights[5];
            uint8_t kept[5];
            memcpy(weights, none, sizeof weights);
            assert_int_equal(filter_row(rule, &parameters, weights, 5, kept), FILTER_NO_WEIGHT);
            for (size_t i = 0; i < 5; i++)
                assert_true(weights[i] == 0 && kept[i] == 0);
        }
    }
}

static void refusals(void **state)
{
    (void)state;
    const struct {
        struct filter_parameters parameters;
        enum filter_status status;
    } cases[] = {
        {{0, 1, 0}, FILTER_BAD_TOP_K},
        {{-2, 1, 0}, FILTER_BAD_TOP_K},
        {{INT64_MIN, 1, 0}, FILTER_BAD_TOP_K},
        {{1, 0, 0}, FILTER_BAD_TOP_P},
        {{1, -0.0, 0}, FILTER_BAD_TOP_P},
        {{1, -1, 0}, FILTER_BAD_TOP_P},
        {{1, NAN, 0}, FILTER_BAD_TOP_P},
        {{1, 1, -0x1p-1074}, FILTER_BAD_MIN_P},
        {{1, 1, 1.0000000001}, FILTER_BAD_MIN_P},
        {{1, 1, NAN}, FILTER_BAD_MIN_P},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        float weights[] = {1, 2};
        uint8_t kept[] = {7, 7};
        assert_int_equal(filter_row(filter_rule_at(0), &cases[c].parameters, weights, 2, kept),
                         cases[c].status);
        assert_true(weights[0] == 1 && weights[1] == 2 && kept[0] == 7 && kept[1] == 7);
    }
    size_t rules = 0;
    while (filter_rule_at(rules)) {
        assert_ptr_equal(filter_rule_of(filter_rule_at(rules)->name), filter_rule_at(rules));
        rules++;
    }
    assert_true(rules > 0);
    assert_null(filter_rule_of("sglang"));
}

/* The widest row: all equal, so every sum is at its largest; and one heavier id. */
static void widest(void **state)
{
    (void)state;
    const size_t vocab = (size_t)1 << 20;
    float *weights = malloc(vocab * sizeof *weights);
    uint8_t *kept = malloc(vocab);
    assert_true(weights && kept);
    const struct {
        const char *rule;
        int64_t k;
        double p;
        size_t first, count; /* the ids that stay are first .. first + count - 1 */
    } cases[] = {
        {"sglang-pytorch", 1000, 1, 0, 1000},        {"sglang-pytorch", -1, 0.5, 0, (1 << 19) + 1},
        {"llama.cpp", -1, 0.5, 0, 1 << 19},          {"vllm-0.5.0", -1, 0x1p-20, (1 << 20) - 1, 1},
        {"vllm-0.5.0", -1, 1 - 0x1p-53, 0, 1 << 20}, {"vllm-0.5.0", 5, 1, 0, 1 << 20},
        {"flashinfer-joint", 7, 0.1, 0, 1 << 20},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        for (size_t i = 0; i < vocab; i++)
            weights[i] = 0x1.fffffep-21f;
        const struct filter_parameters parameters = {cases[c].k, cases[c].p, 0};
        assert_int_equal(filter_row(filter_rule_of(cases[c].rule), &parameters, weights, vocab, kept),
                         FILTER_OK);
        for (size_t i = 0; i < vocab; i++)
            if (kept[i] != (i >= cases[c].first && i < cases[c].first + cases[c].count))
                fail_msg("case %zu: kept[%zu] is %d", c, i, kept[i]);
    }
    free(weights);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_p_of_engines),
        cmocka_unit_test(split_boundary),
        cmocka_unit_test(orders_of_engines),
        cmocka_unit_test(edges),
        cmocka_unit_test(odd_rows),
        cmocka_unit_test(refusals),
        cmocka_unit_test(widest),
    };
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
