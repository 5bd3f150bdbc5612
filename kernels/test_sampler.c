/* test_sampler.c: every instruction set of this machine gives the token of the scalar definition, for every
 * kind of row.
 *
 * The definition is test_rows.h's: no loop of loops.c. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "kernels/row.h"
#include "kernels/test_rows.h"

#define DRAWS_MAX 64
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const isas[] = {"baseline", "avx2", "avx512"};

/* The CDF of `weights`, as rule_categorical adds it up. */
static void cdf_check(const uint64_t *cdf, size_t vocab)
{
    const int scale = fixed_point_scale(weights[rule_greedy_weights(weights, vocab)], FIXED_POINT_CDF_BITS);
    uint64_t sum = 0;
    for (size_t i = 0; i < vocab; i++)
        assert_true(cdf[i] == (sum += fixed_point_of(weights[i], scale)));
}

/* Every rule and instruction set on the row in `values`, draws (seed, first .. first + draws - 1). */
static void row_check(enum sampler_values kind, size_t vocab, double temperature, uint64_t seed,
                      uint64_t first, size_t draws, const char *what)
{
    static int32_t expected[RULE_COUNT][DRAWS_MAX];
    weights_fill(kind, vocab, temperature);
    for (size_t d = 0; d < draws; d++) {
        noise_fill(seed, first + d, vocab);
        for (int rule = 0; rule < RULE_COUNT; rule++)
            expected[rule][d] = token_of_definition((enum sampler_rule)rule, kind, vocab, seed, first + d);
    }
    for (size_t s = 0; s < COUNT(isas); s++)
        for (int rule = 0; rule < RULE_COUNT && loops_of(isas[s]); rule++) {
            struct sampler_row *row =
                row_new(loops_of(isas[s]), (enum sampler_rule)rule, kind, values, vocab, temperature);
            int32_t token[DRAWS_MAX];
            assert_non_null(row);
            if (row->weights)
                assert_memory_equal(row->weights, weights, vocab * sizeof *weights);
            if (row->cdf)
                cdf_check(row->cdf, vocab);
            memset(token, 0x55, sizeof token);
            sampler_draw(row, seed, first, draws, token);
            for (size_t d = 0; d < draws; d++)
                if (token[d] != expected[rule][d])
                    fail_msg("%s, %s, %s, vocab %zu, draw %zu: token %d, by definition %d", what, isas[s],
                             sampler_rule_name((enum sampler_rule)rule), vocab, d, token[d],
                             expected[rule][d]);
            sampler_row_free(row);
        }
}

static void small_vocabularies(void **state)
{
    (void)state;
    for (size_t vocab = 1; vocab <= 70; vocab++)
        for (int kind = 0; kind < 2; kind++) {
            row_fill(ROW_ORDINARY, (enum sampler_values)kind, vocab, (uint32_t)vocab);
            row_check((enum sampler_values)kind, vocab, 1, vocab, 0, DRAWS_MAX, "ordinary");
        }
}

static void edge_rows(void **state)
{
    (void)state;
    const size_t vocabs[] = {1, 2, 3, 17, 63, 64, 65, 129, 257, 1000};
    char what[32];
    for (int row = 0; row < ROW_KINDS; row++)
        for (size_t v = 0; v < COUNT(vocabs); v++)
            for (int kind = 0; kind < 2; kind++) {
                row_fill((enum row_kind)row, (enum sampler_values)kind, vocabs[v], 7);
                snprintf(what, sizeof what, "kind of row %d", row);
                row_check((enum sampler_values)kind, vocabs[v], 1, UINT64_C(0x8000000000000001),
                          UINT64_MAX - 5, 12, what);
            }
}

static void wide_vocabularies(void **state)
{
    (void)state;
    const size_t vocabs[] = {50257, 128256, 151936};
    const int rows[] = {ROW_ORDINARY, ROW_FLAT, ROW_FEW_LEVELS, ROW_NAN};
    for (size_t v = 0; v < COUNT(vocabs); v++)
        for (size_t r = 0; r < COUNT(rows); r++) {
            const enum sampler_values kind = r % 2 ? SAMPLER_PROBABILITIES : SAMPLER_LOGITS;
            row_fill((enum row_kind)rows[r], kind, vocabs[v], (uint32_t)v);
            row_check(kind, vocabs[v], r % 2 ? 1 : 0.7, 12345 + r, UINT64_C(0xfffffffe), 3, "wide");
        }
}

/* A categorical draw is a search in a row's CDF: 300 draws a vocabulary and instruction set against the definition's
 * walk along the weights, 10,000 with SAMPLEGATE_EXHAUSTIVE=1. */
static void categorical_draws(void **state)
{
    (void)state;
    const char *exhaustive = getenv("SAMPLEGATE_EXHAUSTIVE");
    const size_t draws = exhaustive && *exhaustive == '1' ? 10000 : 300;
    const size_t vocabs[] = {1, 2, 64, 257, 4099, 32768, 50257, 128256, 151936};
    const enum row_kind rows[] = {ROW_ORDINARY, ROW_FLAT, ROW_FEW_LEVELS, ROW_NAN, ROW_DENORMAL};
    const uint64_t seed = UINT64_C(0x300000001), first = UINT64_C(0xffffffff) - draws / 2;
    int32_t *token = malloc(draws * sizeof *token), *expected = malloc(draws * sizeof *expected);
    assert_true(token && expected);
    for (size_t v = 0; v < COUNT(vocabs); v++)
        for (size_t r = 0; r < COUNT(rows); r++) {
            row_fill(rows[r], SAMPLER_PROBABILITIES, vocabs[v], 5);
            weights_fill(SAMPLER_PROBABILITIES, vocabs[v], 1);
            const size_t share = draws / COUNT(rows);
            for (size_t d = 0; d < share; d++)
                expected[d] =
                    token_of_definition(RULE_CATEGORICAL, SAMPLER_PROBABILITIES, vocabs[v], seed, first + d);
            for (size_t s = 0; s < COUNT(isas) && loops_of(isas[s]); s++) {
                struct sampler_row *row =
                    row_new(loops_of(isas[s]), RULE_CATEGORICAL, SAMPLER_PROBABILITIES, values, vocabs[v], 1);
                assert_non_null(row);
                memset(token, 0x55, draws * sizeof *token);
                sampler_draw(row, seed, first, share, token);
                assert_memory_equal(token, expected, share * sizeof *token);
                memset(token, 0x55, draws * sizeof *token);
                sampler_draw_threads(row, seed, first, share, 2, token);
                assert_memory_equal(token, expected, share * sizeof *token);
                sampler_row_free(row);
            }
        }
    free(token);
    free(expected);
}

/* Three ways to draw the same tokens. */
static void entrances_agree(void **state)
{
    (void)state;
    const size_t vocabs[] = {5, 64, 200, 1001};
    const enum sampler_rule rules[] = {RULE_RACE, RULE_GUMBEL};
    for (size_t v = 0; v < COUNT(vocabs); v++)
        for (size_t r = 0; r < COUNT(rules); r++) {
            int64_t seed[DRAWS_MAX], position[DRAWS_MAX];
            int32_t token[DRAWS_MAX], seeded[DRAWS_MAX];
            row_fill(ROW_MINUS_INFINITY, SAMPLER_LOGITS, vocabs[v], 3);
            struct sampler_row *row = sampler_row_new(rules[r], SAMPLER_LOGITS, values, vocabs[v], 1.5);
            assert_non_null(row);
            for (size_t d = 0; d < DRAWS_MAX; d++) {
                seed[d] = -9;
                position[d] = -20 + (int64_t)d;
            }
            sampler_draw(row, (uint64_t)-9, (uint64_t)-20, DRAWS_MAX, token);
            sampler_draw_seeded(row, seed, position, DRAWS_MAX, seeded);
            assert_memory_equal(token, seeded, sizeof token);
            for (size_t d = 0; d < DRAWS_MAX; d++) {
                float *q = malloc(vocabs[v] * sizeof *q); /* exact size: an overrun shows */
                assert_non_null(q);
                sampler_noise((uint64_t)seed[d], (uint64_t)position[d], vocabs[v], q);
                assert_int_equal(sampler_draw_with_noise(row, q), token[d]);
                free(q);
            }
            sampler_row_free(row);
        }
}

static void noise_is_the_definition(void **state)
{
    (void)state;
    const size_t vocabs[] = {1, 3, 64, 67, 5000};
    for (size_t s = 0; s < COUNT(isas); s++)
        for (size_t v = 0; v < COUNT(vocabs) && loops_of(isas[s]); v++) {
            float *q = malloc(vocabs[v] * sizeof *q);
            assert_non_null(q);
            noise_fill(UINT64_MAX - 2, UINT64_C(0x123456789), vocabs[v]);
            loops_of(isas[s])->noise(UINT64_MAX - 2, UINT64_C(0x123456789), vocabs[v], q);
            assert_memory_equal(q, race_q, vocabs[v] * sizeof *q);
            free(q);
        }
}

/* The caller's noise may hold anything. */
static void noise_from_outside(void **state)
{
    (void)state;
    const float odd[] = {0, -0.0f, NAN, INFINITY, -INFINITY, -1, 0x1p-149f, 0x1p-127f, 3e38f};
    const enum sampler_rule rules[] = {RULE_RACE, RULE_GUMBEL, RULE_TORCH_RACE};
    const size_t vocab = 131;
    float q[131];
    for (int kind = 0; kind < ROW_KINDS; kind++)
        for (size_t o = 0; o <= COUNT(odd); o++)
            for (size_t s = 0; s < COUNT(isas); s++)
                for (size_t r = 0; r < COUNT(rules) && loops_of(isas[s]); r++) {
                    row_fill((enum row_kind)kind, SAMPLER_PROBABILITIES, vocab, 1);
                    memcpy(weights, values, sizeof *weights * vocab);
                    noise_fill(o, 5, vocab);
                    memcpy(q, race_q, sizeof q);
                    for (size_t i = o % 7; i < vocab && o < COUNT(odd); i += 13)
                        q[i] = odd[o];
                    const int32_t expected[] = {rule_race(weights, q, vocab), rule_gumbel(weights, q, vocab),
                                                rule_torch_race(weights, q, vocab)};
                    struct sampler_row *row =
                        row_new(loops_of(isas[s]), rules[r], SAMPLER_PROBABILITIES, values, vocab, 1);
                    assert_non_null(row);
                    assert_int_equal(sampler_draw_with_noise(row, q), expected[r]);
                    sampler_row_free(row);
                }
}

static void refusals(void **state)
{
    (void)state;
    const float row[] = {1, 2};
    const double temperatures[] = {0, -1, NAN, INFINITY, 1e-60, 1e60};
    for (size_t t = 0; t < COUNT(temperatures); t++)
        assert_null(sampler_row_new(RULE_RACE, SAMPLER_LOGITS, row, 2, temperatures[t]));
    assert_null(sampler_row_new(RULE_RACE, SAMPLER_PROBABILITIES, row, 2, 0.5));
    assert_null(sampler_row_new(RULE_RACE, SAMPLER_LOGITS, row, 0, 1));
    assert_null(sampler_row_new(RULE_RACE, SAMPLER_LOGITS, row, ((size_t)1 << 20) + 1, 1));
    assert_null(sampler_row_new(RULE_COUNT, SAMPLER_LOGITS, row, 2, 1));
    sampler_row_free(NULL);
    const enum sampler_rule without_noise[] = {RULE_GREEDY, RULE_CATEGORICAL, RULE_SEEDED, RULE_SEEDED_2025};
    for (size_t r = 0; r < COUNT(without_noise); r++) {
        struct sampler_row *greedy = sampler_row_new(without_noise[r], SAMPLER_LOGITS, row, 2, 1);
        assert_non_null(greedy);
        assert_int_equal(sampler_draw_with_noise(greedy, row), -2);
        sampler_row_free(greedy);
    }
    for (int rule = 0; rule < RULE_COUNT; rule++)
        assert_int_equal(sampler_rule_of(sampler_rule_name((enum sampler_rule)rule)), rule);
    assert_null(sampler_rule_name(RULE_COUNT));
    assert_int_equal(sampler_rule_of("Race"), -1);
}

/* The choice is made once in a process, so each override is tried in a child, before the parent has chosen.
 */
static void isa_override(void **state)
{
    (void)state;
    const char *const tried[] = {"baseline", "avx2", "avx512", "sse9"};
    for (size_t t = 0; t < COUNT(tried); t++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const float row[] = {1, 2};
            setenv("SAMPLEGATE_ISA", tried[t], 1);
            const char *isa = sampler_isa();
            struct sampler_row *made = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, row, 2, 1);
            const int available = loops_of(tried[t]) != NULL;
            const int right = available ? isa && strcmp(isa, tried[t]) == 0 && made : !isa && !made;
            sampler_row_free(made);
            _exit(right ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(isa_override),       cmocka_unit_test(refusals),
        cmocka_unit_test(small_vocabularies), cmocka_unit_test(edge_rows),
        cmocka_unit_test(wide_vocabularies),  cmocka_unit_test(categorical_draws),
        cmocka_unit_test(entrances_agree),    cmocka_unit_test(noise_is_the_definition),
        cmocka_unit_test(noise_from_outside),
    };
    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
