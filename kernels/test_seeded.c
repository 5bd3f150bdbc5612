/* test_seeded.c: the hash-keyed rules against the known answers of SGLang's own wheels, libm, and plain
 * integers. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernels/sampler.h"
#include "kernels/seeded.h"

#define VOCAB_MAX 151936
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const float nan_ = NAN, inf_ = INFINITY;
static float weights[VOCAB_MAX];
static double logs[VOCAB_MAX];

/* A row of the known answers by its name; its size. */
static size_t row_named(const char *name)
{
    if (strncmp(name, "halves", 6) == 0) {
        for (int i = 0; i < 8; i++)
            weights[name[6] ? 7 - i : i] = ldexpf(1, i < 7 ? -1 - i : -7);
        return 8;
    }
    assert_memory_equal(name, "uniform-", 8);
    const size_t vocab = strtoul(name + 8, NULL, 10);
    assert_true(vocab > 0 && vocab <= VOCAB_MAX);
    for (size_t i = 0; i < vocab; i++)
        weights[i] = (float)(1 / (double)vocab);
    return vocab;
}

static void check_hash(const char *rest)
{
    int64_t seed;
    uint64_t position;
    uint32_t column, expected;
    assert_int_equal(
        sscanf(rest, "%" SCNd64 " %" SCNu64 " %" SCNu32 " %" SCNx32, &seed, &position, &column, &expected),
        4);
    assert_int_equal(seeded_hash((uint64_t)seed, position, column), expected);
}

static void check_gumbel(const char *rest)
{
    uint32_t hash;
    double expected;
    int start;
    assert_int_equal(sscanf(rest, "%" SCNx32 " %n%lf", &hash, &start, &expected), 2);
    const double digits = (double)(strcspn(rest + start, "\n") - strcspn(rest + start, ".") - 1);
    assert_true(fabs(seeded_gumbel(hash) - expected) <= 0.51 * pow(10, -digits) + 1e-16 * fabs(expected));
}

/* The definition and the executors, on the row as probabilities. */
static void check_tokens(const char *rest)
{
    char name[32];
    int64_t seed, position;
    int used, step;
    assert_int_equal(sscanf(rest, "%31s %" SCNd64 " %" SCNd64 "%n", name, &seed, &position, &used), 3);
    const size_t vocab = row_named(name);
    for (size_t i = 0; i < vocab; i++)
        logs[i] = seeded_log(weights[i]);
    struct sampler_row *row = sampler_row_new(RULE_SEEDED, SAMPLER_PROBABILITIES, weights, vocab, 1);
    assert_non_null(row);
    for (int32_t expected, token; sscanf(rest + used, "%" SCNd32 "%n", &expected, &step) == 1; used += step) {
        assert_int_equal(rule_seeded(logs, vocab, (uint64_t)seed, (uint64_t)position), expected);
        sampler_draw_seeded(row, &seed, &position, 1, &token);
        assert_int_equal(token, expected);
        sampler_draw(row, (uint64_t)seed, (uint64_t)position, 1, &token);
        assert_int_equal(token, expected);
        position++;
    }
    sampler_row_free(row);
}

static void known_answers(void **state)
{
    (void)state;
    FILE *file = fopen(SAMPLEGATE_SOURCE_DIR "/golden/kat/seeded.txt", "r");
    assert_non_null(file);
    char line[512];
    int hashes = 0, gumbels = 0, rows = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "hash ", 5) == 0 && ++hashes)
            check_hash(line + 5);
        if (strncmp(line, "gumbel ", 7) == 0 && ++gumbels)
            check_gumbel(line + 7);
        if (strncmp(line, "tokens ", 7) == 0 && ++rows)
            check_tokens(line + 7);
    }
    fclose(file);
    assert_true(hashes == 20 && gumbels == 5 && rows == 11);
}

/* With all others at log-probability 0: the noise of 1208 is 22.18, that of the best other id (1009) between
 * 8.68 and 8.78. */
static void largest_noise(void **state)
{
    (void)state;
    for (size_t i = 0; i < 1300; i++)
        logs[i] = 0;
    logs[1208] = -13.4;
    assert_int_equal(rule_seeded(logs, 1300, 7847, 12345), 1208);
    logs[1208] = -13.5;
    assert_int_equal(rule_seeded(logs, 1300, 7847, 12345), 1009);
}

/* -log(-log u) of libm, where no clamp applies; both sides are good to a few ulp of the inner logarithm. */
static void noise_of_libm(void **state)
{
    (void)state;
    for (uint64_t h = 1; h < UINT32_MAX; h += h < 1000 || h > UINT32_MAX - 1000 ? 1 : 30011) {
        const double inner = log((double)h / 4294967295.0), expected = -log(-inner);
        const double got = seeded_gumbel((uint32_t)h);
        if (!(fabs(got - expected) <= 4e-16 + 4e-16 * fabs(expected)))
            fail_msg("hash %" PRIu64 ": %.17g, libm %.17g", h, got, expected);
    }
}

/* Invalid weights are never drawn, and a row of nothing else has no token. */
static void invalid_weights(void **state)
{
    (void)state;
    const float odd[] = {nan_, -1, 0, inf_, -0.0f, 0x1p-149f, -inf_}, none[] = {0, nan_, inf_, -1};
    struct sampler_row *row = sampler_row_new(RULE_SEEDED, SAMPLER_PROBABILITIES, odd, COUNT(odd), 1);
    int32_t token[200];
    assert_non_null(row);
    sampler_draw(row, 1, 0, COUNT(token), token);
    for (size_t d = 0; d < COUNT(token); d++)
        assert_int_equal(token[d], 5);
    sampler_row_free(row);
    row = sampler_row_new(RULE_SEEDED, SAMPLER_PROBABILITIES, none, COUNT(none), 1);
    assert_non_null(row);
    sampler_draw(row, 1, 0, 1, token);
    assert_int_equal(token[0], SAMPLER_INVALID_ROW);
    sampler_row_free(row);
}

/* The published line of 2025 in wrapping integers and libm; a token may differ only where the two best are
 * closer than fp32 can tell. */
static void linear_form(void **state)
{
    (void)state;
    const size_t vocab = 20;
    const uint64_t seeds[] = {0, 1, 42, UINT64_MAX, UINT64_C(1) << 32, INT64_MAX};
    size_t near = 0, draws = 0;
    row_named("uniform-20");
    struct sampler_row *row = sampler_row_new(RULE_SEEDED_2025, SAMPLER_PROBABILITIES, weights, vocab, 1);
    assert_non_null(row);
    for (size_t s = 0; s < COUNT(seeds); s++)
        for (uint64_t position = 0; position < 2000; position++, draws++) {
            const uint64_t step = seeds[s] * 19349663 ^ position * 73856093;
            double best = -1e9, second = -1e9;
            int32_t expected = -1, token;
            for (uint64_t column = 0; column < vocab; column++) {
                const uint64_t hash = (step * UINT64_C(8589934591)) ^ (column * 479001599);
                const double u = (double)(float)(hash % 16777216) / 16777216;
                const double score = -log(-log((double)((float)u + 1e-9f)) + 1e-9) + log(0.05 + 1e-9);
                if (score > best) {
                    second = best;
                    best = score;
                    expected = (int32_t)column;
                } else if (score > second)
                    second = score;
            }
            sampler_draw(row, seeds[s], position, 1, &token);
            if (token != expected) {
                assert_true(best - second < 4e-6);
                near++;
            }
        }
    assert_true(near * 1000 < draws);
    sampler_row_free(row);
}

/* Why the linear form had to go: 8589934591 = -1 modulo 2^24, so two draws differ by an exclusive or alone,
 * and a row has no two equal u. */
static void linear_form_is_linear(void **state)
{
    (void)state;
    static uint8_t seen[1 << 24];
    const uint32_t one = seeded_2025_start(7, 11), other = seeded_2025_start(8, 500);
    for (uint32_t column = 0; column < VOCAB_MAX; column++) {
        const uint32_t a = (uint32_t)(seeded_2025_uniform(one, column) * 0x1p24f);
        const uint32_t b = (uint32_t)(seeded_2025_uniform(other, column) * 0x1p24f);
        assert_int_equal(a ^ b, (one ^ other) & 0xffffff);
        assert_int_equal(seen[a], 0);
        seen[a] = 1;
    }
}

/* As torch answers: NaN wins, zero competes with log e. */
static void linear_form_odd_rows(void **state)
{
    (void)state;
    const float with_nan[] = {1, nan_, 1, nan_}, negative[] = {1, 1, -1}, zeros[] = {0, 0, 0};
    const struct {
        const float *row;
        size_t vocab;
        int32_t token; /* -1: any id */
    } cases[] = {{with_nan, 4, 1}, {negative, 3, 2}, {zeros, 3, -1}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct sampler_row *row =
            sampler_row_new(RULE_SEEDED_2025, SAMPLER_PROBABILITIES, cases[c].row, cases[c].vocab, 1);
        unsigned seen = 0;
        assert_non_null(row);
        for (uint64_t position = 0; position < 64; position++) {
            int32_t token;
            sampler_draw(row, 3, position, 1, &token);
            assert_in_range(token, 0, cases[c].vocab - 1);
            if (cases[c].token >= 0)
                assert_int_equal(token, cases[c].token);
            seen |= 1u << token;
        }
        if (cases[c].token < 0)
            assert_int_equal(seen, 7);
        sampler_row_free(row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),        cmocka_unit_test(largest_noise),
        cmocka_unit_test(noise_of_libm),        cmocka_unit_test(invalid_weights),
        cmocka_unit_test(linear_form),          cmocka_unit_test(linear_form_is_linear),
        cmocka_unit_test(linear_form_odd_rows),
    };
    return cmocka_run_group_tests_name("seeded", tests, NULL, NULL);
}
