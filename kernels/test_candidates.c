/* test_candidates.c: the candidate filter loses no winner: filtered draws against the same draws with every
 * column scored, noise built around the filter's thresholds, and one hash of all tokens for every build.
 *
 * Every column is scored by the loops that take noise (test_sampler.c holds them to rules.h) on noise that the
 * same test holds to philox.h, or by `whole`. SAMPLEGATE_EXHAUSTIVE=1: 10,000 draws of each
 * wide row and ten million near inputs (minutes); unset: fewer; 0: fewest, for valgrind.
 * SPDX-License-Identifier: MIT */
#include <openssl/sha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernels/draws.h"
#include "kernels/near_inputs.h"
#include "kernels/row.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define PINNED_PATH SAMPLEGATE_SOURCE_DIR "/golden/kat/tokens.txt"

static const char *const isas[] = {"baseline", "avx2", "avx512"};
static const enum sampler_rule rules[] = {RULE_RACE, RULE_GUMBEL, RULE_TORCH_RACE, RULE_SEEDED,
                                          RULE_SEEDED_2025};

/* 0 fewest, 1 as usual, 2 exhaustive. */
static int effort(void)
{
    const char *exhaustive = getenv("SAMPLEGATE_EXHAUSTIVE");
    return !exhaustive ? 1 : *exhaustive == '1' ? 2 : 0;
}

static const struct loops *loops_best(void)
{
    return loops_of("avx512") ? loops_of("avx512") : loops_of("avx2") ? loops_of("avx2") : &loops_baseline;
}

/* Rows of a shape that only integers and fp32 products decide. */
enum shape { SHAPE_FLAT, SHAPE_WIDE, SHAPE_PEAKED, SHAPE_TINY, SHAPE_HUGE, SHAPE_TIES, SHAPES };

static void shape_fill(enum shape shape, size_t vocab, float *weight)
{
    static const float spread[SHAPES] = {0, 0x1p-6f, 0x1p-4f, 0x1p-6f, 0x1p-6f, 0};
    static const float scale[SHAPES] = {1, 1, 1, 0x1p-70f, 0x1p60f, 0x1p-20f};
    for (uint32_t i = 0; i < vocab; i++) {
        const uint32_t word = philox_word(11, PHILOX_STREAM_TABLE, (uint64_t)shape, i);
        const float bell =
            (float)((word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24)) - 510;
        const float level = shape == SHAPE_TIES && i ? (float)(word % 3) : 1;
        weight[i] = level * scale[shape] * elementary_exp(bell * spread[shape]) / (float)vocab;
    }
}

/* Every column scored. */
struct unfiltered {
    const float *weight, *columns; /* as the rule's `columns` (row.h) */
    size_t vocab;
    float *q; /* [vocab] */
    uint32_t *words;
};

static int32_t unfiltered_token(const struct unfiltered *all, enum sampler_rule rule, uint64_t seed,
                                uint64_t position)
{
    const struct loops *loops = loops_best();
    struct draw draw = {.seed = seed, .position = position, .weights = all->columns, .best = -HUGE_VAL};
    switch (rule) {
    case RULE_RACE:
        loops->noise(seed, position, all->vocab, all->q);
        return loops->race_with_noise(all->weight, all->q, all->vocab);
    case RULE_GUMBEL:
        loops->noise(seed, position, all->vocab, all->q);
        return loops->gumbel_with_noise(all->weight, all->q, all->vocab);
    case RULE_TORCH_RACE:
        for (uint32_t i = 0; i < all->vocab; i += 4) {
            const struct philox_block block = philox_block(seed, PHILOX_STREAM_RACE, position, i / 4);
            for (uint32_t c = 0; c < 4 && i + c < all->vocab; c++)
                all->words[i + c] = block.word[c];
        }
        loops->torch_exponential(all->words, all->q, all->vocab);
        return loops->torch_with_noise(all->weight, all->q, all->vocab);
    default:
        loops->whole(rule, all->vocab, &draw);
        return draw.token;
    }
}

static void tokens_compare(const int32_t *token, const int32_t *expected, size_t draws, const char *isa,
                           enum sampler_rule rule, size_t vocab, enum shape shape, const char *way)
{
    for (size_t d = 0; d < draws; d++)
        if (token[d] != expected[d])
            fail_msg("%s, %s, %s, vocab %zu, shape %d, draw %zu: token %d, every column scored %d", way, isa,
                     sampler_rule_name(rule), vocab, shape, d, token[d], expected[d]);
}

/* One row, one rule: prepared, on two threads, and straight from the weights, on every instruction set. */
static size_t row_compare(enum sampler_rule rule, enum shape shape, size_t vocab, size_t draws)
{
    const uint64_t seed = UINT64_C(0x300000001),
                   first = UINT64_C(0xffffffff) - draws / 2; /* the high half moves */
    float *weight = malloc(vocab * sizeof *weight);
    int32_t *expected = malloc(draws * sizeof *expected), *token = malloc(draws * sizeof *token);
    struct draw *draw = malloc(draws * sizeof *draw);
    float *q = malloc(vocab * sizeof *q);
    uint32_t *words = malloc(vocab * sizeof *words);
    assert_true(weight && expected && token && draw && q && words);
    shape_fill(shape, vocab, weight);
    struct sampler_row *row = row_new(loops_best(), rule, SAMPLER_PROBABILITIES, weight, vocab, 1);
    assert_non_null(row);
    const struct unfiltered all = {weight, row->columns ? row->columns : weight, vocab, q, words};
    for (size_t d = 0; d < draws; d++)
        expected[d] = unfiltered_token(&all, rule, seed, first + d);
    sampler_row_free(row);
    for (size_t s = 0; s < COUNT(isas) && loops_of(isas[s]); s++) {
        row = row_new(loops_of(isas[s]), rule, SAMPLER_PROBABILITIES, weight, vocab, 1);
        assert_non_null(row);
        sampler_draw(row, seed, first, draws, token);
        tokens_compare(token, expected, draws, isas[s], rule, vocab, shape, "prepared");
        memset(token, 0x55, draws * sizeof *token);
        sampler_draw_threads(row, seed, first, draws, 2, token);
        tokens_compare(token, expected, draws, isas[s], rule, vocab, shape, "two threads");
        for (size_t d = 0; d < draws; d++)
            draw[d] = (struct draw){
                .seed = seed, .position = first + d, .weights = row->columns ? row->columns : row->weights};
        draws_of_rows(loops_of(isas[s]), rule, vocab, draw, draws);
        for (size_t d = 0; d < draws; d++)
            token[d] = draw[d].token;
        tokens_compare(token, expected, draws, isas[s], rule, vocab, shape, "rows");
        sampler_row_free(row);
    }
    free(q);
    free(words);
    free(weight);
    free(expected);
    free(token);
    free(draw);
    return draws;
}

static void every_draw(const size_t *vocabs, size_t count, size_t draws)
{
    for (size_t v = 0; v < count; v++)
        for (size_t r = 0; r < COUNT(rules); r++) {
            size_t done = 0;
            for (int shape = 0; shape < SHAPES; shape++)
                done += row_compare(rules[r], (enum shape)shape, vocabs[v], draws / SHAPES + 1);
            print_message("%s, vocab %zu: %zu draws, no differences\n", sampler_rule_name(rules[r]),
                          vocabs[v], done);
        }
}

static void narrow_rows(void **state)
{
    (void)state;
    static const size_t vocabs[] = {1, 2, 3, 4, 5, 31, 64, 65, 129, 1000, 1025, 4099};
    static const size_t draws[] = {60, 2000, 20000};
    every_draw(vocabs, COUNT(vocabs), draws[effort()]);
}

static void wide_row(void **state)
{
    static const size_t draws[] = {1, 30, 10000};
    const size_t vocab = *(const size_t *)*state;
    if (vocab == 1u << 20 && effort() == 0)
        skip();
    every_draw(&vocab, 1, vocab == 1u << 20 ? SHAPES * (size_t)effort() : draws[effort()]);
}

/* Every column a near tie with the bound: none that reaches it is lost. */
static void near_inputs(void **state)
{
    (void)state;
    static const size_t inputs[] = {2000, 1000000, 10000000};
    for (size_t r = 0; r < COUNT(rules); r++)
        for (size_t s = 0; s < COUNT(isas) && loops_of(isas[s]); s++) {
            const struct near_result result =
                near_run(loops_of(isas[s]), loops_best(), rules[r], inputs[effort()] / COUNT(rules) + 1);
            print_message("%s, %s: %zu near inputs, %zu winners at the bound, %zu differences\n", isas[s],
                          sampler_rule_name(rules[r]), result.inputs, result.winners, result.differences);
            assert_true(result.winners > result.inputs / 10000);
            assert_int_equal(result.differences, 0);
        }
}

/* golden/kat/tokens.txt: rule, vocab, draws, SHA-256 of the tokens (int32, little-endian) of all shapes. */
static void pinned_tokens(void **state)
{
    (void)state;
    char name[32], pinned[65], line[256];
    size_t vocab, draws, lines = 0;
    FILE *file = fopen(PINNED_PATH, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31s %zu %zu %64s", name, &vocab, &draws, pinned) != 4 || *name == '#')
            continue;
        const int rule = sampler_rule_of(name);
        assert_true(rule >= 0);
        float *weight = malloc(vocab * sizeof *weight);
        int32_t *token = malloc(SHAPES * draws * sizeof *token);
        assert_true(weight && token);
        for (size_t s = 0; s < COUNT(isas) && loops_of(isas[s]); s++)
            for (size_t threads = 1; threads <= 2; threads++) {
                unsigned char digest[SHA256_DIGEST_LENGTH];
                char text[65];
                for (size_t shape = 0; shape < SHAPES; shape++) {
                    shape_fill((enum shape)shape, vocab, weight);
                    struct sampler_row *row = row_new(loops_of(isas[s]), (enum sampler_rule)rule,
                                                      SAMPLER_PROBABILITIES, weight, vocab, 1);
                    assert_non_null(row);
                    sampler_draw_threads(row, 1, 0, draws, threads, token + shape * draws);
                    sampler_row_free(row);
                }
                SHA256((unsigned char *)token, SHAPES * draws * sizeof *token, digest);
                for (size_t i = 0; i < sizeof digest; i++)
                    snprintf(text + 2 * i, 3, "%02x", digest[i]);
                if (strcmp(text, pinned) != 0)
                    fail_msg("%s, %zu threads, %s %zu %zu: %s, pinned %s", isas[s], threads, name, vocab,
                             draws, text, pinned);
            }
        free(weight);
        free(token);
        lines++;
    }
    fclose(file);
    assert_true(lines >= 10);
}

int main(int argc, char **argv)
{
    static size_t vocabs[] = {32768, 50257, 128256, 151936, 1u << 20};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_rows),
        {"wide_row_32768", wide_row, NULL, NULL, &vocabs[0]},
        {"wide_row_50257", wide_row, NULL, NULL, &vocabs[1]},
        {"wide_row_128256", wide_row, NULL, NULL, &vocabs[2]},
        {"wide_row_151936", wide_row, NULL, NULL, &vocabs[3]},
        {"wide_row_1048576", wide_row, NULL, NULL, &vocabs[4]},
        cmocka_unit_test(near_inputs),
        cmocka_unit_test(pinned_tokens),
    };
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL); /* such as 'wide_row_5*' */
    return cmocka_run_group_tests_name("candidates", tests, NULL, NULL);
}
