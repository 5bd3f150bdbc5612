/* test_cuda_fused.c: the kernels that read a row once, through the host shim, where their short cuts could go wrong:
 * scores too near to tell apart, noise at the ends of its range, 16-bit rows, rows that begin anywhere; and a launch
 * takes no memory and waits for nothing. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "kernels/test_cuda.h"

/* Every half and every brain, against the formula of the format. */
static void narrow_exactly(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 1u << 16; bits++) {
        const int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
        const float size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                           : exponent     ? ldexpf((float)(1024 + mantissa), exponent - 25)
                                          : ldexpf((float)mantissa, -24);
        const float expected = bits >> 15 ? -size : size, got = narrow_f16((uint16_t)bits);
        if (!(isnan(expected) && isnan(got)) && kernel_bits(expected) != kernel_bits(got))
            fail_msg("f16 %04x: %a, not %a", bits, (double)got, (double)expected);
        assert_int_equal(kernel_bits(narrow_bf16((uint16_t)bits)), bits << 16);
    }
}

/* Rows in 16 bits, and rows of each dtype that begin and end anywhere. */
static void rows_of_every_dtype(void **state)
{
    (void)state;
    enum { DRAWS = 3 };
    const size_t vocabs[] = {1, 3, 4, 7, 130, 301};
    for (size_t v = 0; v < COUNT(vocabs); v++)
        for (int32_t dtype = NARROW_NOT; dtype <= NARROW_BF16; dtype++)
            for (int kind = 0; kind < 2; kind++)
                for (size_t start = 0; start < 4; start++) {
                    const size_t vocab = vocabs[v], size = dtype == NARROW_NOT ? 4 : 2;
                    row_fill(start == 3 ? ROW_MINUS_INFINITY : ROW_ORDINARY, (enum sampler_values)kind, vocab,
                             (uint32_t)(vocab + start));
                    char *row = malloc((start + vocab) * size);
                    assert_non_null(row);
                    for (size_t i = 0; i < vocab; i++) {
                        const uint32_t bits = kernel_bits(values[i]);
                        /* For f16 any bits of the right sign and below 8 will do. */
                        const uint16_t narrow = (uint16_t)(dtype == NARROW_BF16 ? bits >> 16
                                                           : isinf(values[i])   ? 0xfc00u
                                                                                : (bits >> 13) % 0x4800u);
                        memcpy(row + (start + i) * size, size == 4 ? (const void *)&values[i] : &narrow,
                               size);
                        values[i] = narrow_value(row, dtype, start + i);
                    }
                    weights_fill((enum sampler_values)kind, vocab, 1);
                    for (int rule = 0; rule < RULE_COUNT; rule++) {
                        int32_t expected[DRAWS];
                        for (size_t d = 0; d < DRAWS; d++) {
                            noise_fill(5, d, vocab);
                            expected[d] = token_of_definition((enum sampler_rule)rule,
                                                              (enum sampler_values)kind, vocab, 5, d);
                        }
                        const struct cuda_draws call = {.rule = rule,
                                                        .kind = kind,
                                                        .dtype = dtype,
                                                        .values = row + start * size,
                                                        .rows = 1,
                                                        .vocab = (int64_t)vocab,
                                                        .row_stride = (int64_t)vocab,
                                                        .draws = DRAWS,
                                                        .seed = 5};
                        expect_tokens(call, expected, "dtype and start");
                    }
                    free(row);
                }
}

static void near_ties(void **state)
{
    (void)state;
    enum { ROWS = 240 };
    const enum sampler_rule rules[] = {RULE_RACE, RULE_GUMBEL, RULE_TORCH_RACE, RULE_SEEDED};
    static int32_t expected[ROWS];
    for (size_t r = 0; r < COUNT(rules); r++)
        for (int kind = 0; kind < 2; kind++)
            expect_tokens(near_ties_make(rules[r], (enum sampler_values)kind, ROWS, expected), expected,
                          "near ties");
}

/* Positions where an id's word is all but the largest or the smallest: its noise is at an end of the grid. Its weight is
 * such that the best of the others scores a little more, the same, or a little less. */
static void noise_at_the_ends(void **state)
{
    (void)state;
    enum { VOCAB = 64, ROWS = 120 };
    static float tensor[ROWS * VOCAB];
    static int32_t row_index[ROWS], expected[ROWS];
    static int64_t seeds[ROWS], positions[ROWS];
    size_t found = 0;
    uint32_t ids[ROWS];
    for (int64_t position = 0; found < ROWS && position < 1 << 22; position++)
        for (uint32_t id = 0; id < 8 && found < ROWS; id++) {
            const uint32_t word = philox_word(3, PHILOX_STREAM_RACE, (uint64_t)position, id);
            if (word < 0xffffffffu - 8192 && word > 8192)
                continue;
            ids[found] = id;
            positions[found++] = position;
        }
    assert_int_equal(found, ROWS);
    for (int rule = RULE_RACE; rule <= RULE_TORCH_RACE; rule++)
        for (int kind = 0; kind < 2; kind++) {
            for (size_t d = 0; d < ROWS; d++) {
                const uint64_t position = (uint64_t)positions[d];
                const uint32_t id = ids[d], other = 8 + (uint32_t)(d % 56);
                const double gap = log(noise_of((enum sampler_rule)rule, position, id)) -
                                   log(noise_of((enum sampler_rule)rule, position, other));
                for (size_t i = 0; i < VOCAB; i++)
                    values[i] = kind == SAMPLER_LOGITS ? -60 : 0;
                values[other] = kind == SAMPLER_LOGITS ? 0 : 0.25f;
                values[id] = kind == SAMPLER_LOGITS ? (float)gap : (float)(0.25 * exp(gap));
                values[id] = step(values[id], (int)(d % 5) - 2);
                memcpy(tensor + d * VOCAB, values, VOCAB * sizeof *values);
                row_index[d] = (int32_t)d;
                seeds[d] = 3;
                weights_fill((enum sampler_values)kind, VOCAB, 1);
                noise_fill(3, position, VOCAB);
                expected[d] = token_of_definition((enum sampler_rule)rule, (enum sampler_values)kind, VOCAB,
                                                  3, position);
            }
            const struct cuda_draws call = {.rule = rule,
                                            .kind = kind,
                                            .values = tensor,
                                            .rows = ROWS,
                                            .vocab = VOCAB,
                                            .row_stride = VOCAB,
                                            .draws = ROWS,
                                            .row_index = row_index,
                                            .seeds = seeds,
                                            .positions = positions};
            expect_tokens(call, expected, "noise at the ends");
        }
}

/* Hash 0 is noise of -709.8: where the heaviest id has it, one whose softmax is 0 does not win, whatever y - log q says. */
static void hash_zero(void **state)
{
    (void)state;
    enum { VOCAB = 16 };
    const int64_t seed = 1337, position = 84944;
    const uint32_t id = 6;
    assert_int_equal(seeded_hash((uint64_t)seed, (uint64_t)position, id), 0);
    for (int gap = 50; gap <= 800; gap += 50) {
        for (uint32_t i = 0; i < VOCAB; i++)
            values[i] = i == id ? 0 : -(float)gap - (float)i / 8;
        weights_fill(SAMPLER_LOGITS, VOCAB, 1);
        const int32_t expected =
            token_of_definition(RULE_SEEDED, SAMPLER_LOGITS, VOCAB, (uint64_t)seed, (uint64_t)position);
        const struct cuda_draws call = {.rule = RULE_SEEDED,
                                        .kind = SAMPLER_LOGITS,
                                        .values = values,
                                        .rows = 1,
                                        .vocab = VOCAB,
                                        .row_stride = VOCAB,
                                        .draws = 1,
                                        .seeds = &seed,
                                        .positions = &position};
        expect_tokens(call, &expected, "hash 0");
    }
}

/* One workspace for launch after launch, of every size. */
static void workspace_again(void **state)
{
    (void)state;
    enum { DRAWS = 20, VOCAB = 200 };
    int32_t token[DRAWS];
    struct cuda_workspace workspace;
    assert_null(cuda_workspace_new(&workspace, DRAWS, 0));
    workspace.columns = 16;
    row_fill(ROW_ORDINARY, SAMPLER_LOGITS, VOCAB, 4);
    struct sampler_row *row = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, values, VOCAB, 1);
    assert_non_null(row);
    for (int launch = 0; launch < 60; launch++) {
        const struct cuda_draws call = {.rule = RULE_RACE,
                                        .kind = SAMPLER_LOGITS,
                                        .values = values,
                                        .rows = 1,
                                        .vocab = VOCAB,
                                        .row_stride = VOCAB,
                                        .draws = 1 + launch * 7 % DRAWS,
                                        .seed = (uint64_t)launch,
                                        .workspace = workspace,
                                        .token = token};
        const unsigned long before = shim_waits_made();
        assert_null(cuda_draw(&call, NULL));
        assert_int_equal(shim_waits_made(), before); /* no memory taken, no waiting */
        for (int64_t d = 0; d < call.draws; d++) {
            int32_t expected;
            sampler_draw(row, call.seed, (uint64_t)d, 1, &expected);
            assert_int_equal(token[d], expected);
            assert_int_equal(workspace.counters[d], 0);
        }
    }
    sampler_row_free(row);
    cuda_workspace_free(&workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_exactly), cmocka_unit_test(rows_of_every_dtype),
        cmocka_unit_test(near_ties),      cmocka_unit_test(noise_at_the_ends),
        cmocka_unit_test(hash_zero),      cmocka_unit_test(workspace_again),
    };
    return cmocka_run_group_tests_name("cuda, one reading of a row", tests, NULL, NULL);
}
