/* test_row.c: rows under parameters: every rule draws from the filtered weights, on every instruction set;
 * SGLang's filtered path against its own tokens; orders, empty rows, refusals.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernels/exponential.h"
#include "kernels/philox.h"
#include "kernels/row.h"
#include "kernels/rules.h"
#include "kernels/seeded.h"
#include "kernels/softmax.h"

#define VOCAB 300
#define DRAWS 40
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const float inf_ = INFINITY;
static const char *const isas[] = {"baseline", "avx2", "avx512"};

static struct sampler_row *row_with(enum sampler_rule rule, enum sampler_values kind, const float *values,
                                    size_t vocab, const struct sampler_parameters *parameters)
{
    enum sampler_status status;
    struct sampler_row *row = sampler_row_make(rule, kind, values, vocab, parameters, &status);
    if (!row)
        fail_msg("%s: %s", sampler_rule_name(rule), sampler_status_text(status));
    assert_int_equal(status, SAMPLER_OK);
    return row;
}

static uint32_t kept_bits(const struct sampler_row *row, size_t vocab)
{
    uint8_t kept[32];
    uint32_t bits = 0;
    assert_true(vocab <= 32);
    sampler_row_kept(row, kept);
    for (size_t i = 0; i < vocab; i++)
        bits |= (uint32_t)kept[i] << i;
    return bits;
}

static void logits_fill(float *logits, uint32_t k)
{
    for (uint32_t i = 0; i < VOCAB; i++)
        logits[i] = (float)(philox_word(17, PHILOX_STREAM_TABLE, k, i) % 97) / 16; /* ties everywhere */
}

/* The token of a rule from weights, by its scalar definition. */
static int32_t token_of_definition(enum sampler_rule rule, const float *weights, uint64_t seed,
                                   uint64_t position)
{
    static float q[VOCAB], torch_q[VOCAB], logs_2025[VOCAB];
    static double logs[VOCAB];
    for (uint32_t i = 0; i < VOCAB; i++) {
        const uint32_t word = philox_word(seed, PHILOX_STREAM_RACE, position, i);
        q[i] = exponential_of_word(word);
        torch_q[i] = torch_exponential_of_word(word);
        logs[i] = seeded_log(weights[i]);
        logs_2025[i] = seeded_2025_log(weights[i]);
    }
    switch (rule) {
    case RULE_GREEDY:
        return rule_greedy_weights(weights, VOCAB);
    case RULE_CATEGORICAL:
        return rule_categorical(weights, VOCAB,
                                philox_word(seed, PHILOX_STREAM_CATEGORICAL, position, 0) |
                                    (uint64_t)philox_word(seed, PHILOX_STREAM_CATEGORICAL, position, 1)
                                        << 32);
    case RULE_RACE:
        return rule_race(weights, q, VOCAB);
    case RULE_GUMBEL:
        return rule_gumbel(weights, q, VOCAB);
    case RULE_TORCH_RACE:
        return rule_torch_race(weights, torch_q, VOCAB);
    case RULE_SEEDED:
        return rule_seeded(logs, VOCAB, seed, position);
    default:
        return rule_seeded_2025(logs_2025, VOCAB, seed, position);
    }
}

/* Softmax, then the filter, then the rule: what each executor must give. */
static void every_rule_on_filtered_weights(void **state)
{
    (void)state;
    const struct filter_parameters filters[] = {
        {-1, 1, 0}, {7, 1, 0}, {-1, 0.8, 0}, {-1, 1, 0.2}, {40, 0.5, 0.01}};
    static float logits[VOCAB], weights[VOCAB];
    uint8_t kept[VOCAB], row_kept[VOCAB];
    for (uint32_t k = 0; k < COUNT(filters) * 3; k++) {
        struct sampler_parameters parameters = sampler_parameters_none();
        parameters.filter = filters[k % COUNT(filters)];
        parameters.filter_rule = filter_rule_at(k % 5);
        parameters.temperature = 0.7;
        logits_fill(logits, k);
        softmax(logits, VOCAB, 0.7f, weights);
        assert_int_equal(filter_row(parameters.filter_rule, &parameters.filter, weights, VOCAB, kept),
                         FILTER_OK);
        for (int rule = 0; rule < RULE_COUNT; rule++)
            for (size_t s = 0; s < COUNT(isas) && loops_of(isas[s]); s++) {
                enum sampler_status status;
                struct sampler_row *row = row_make(loops_of(isas[s]), (enum sampler_rule)rule, SAMPLER_LOGITS,
                                                   logits, VOCAB, &parameters, &status);
                int32_t token[DRAWS];
                assert_non_null(row);
                sampler_draw(row, k, 90, DRAWS, token);
                for (uint64_t d = 0; d < DRAWS; d++)
                    assert_int_equal(token[d],
                                     token_of_definition((enum sampler_rule)rule, weights, k, 90 + d));
                sampler_row_kept(row, row_kept);
                for (size_t i = 0; i < VOCAB; i++)
                    assert_int_equal(row_kept[i], rule == RULE_GREEDY ? (int32_t)i == token[0] : kept[i]);
                sampler_row_free(row);
            }
    }
}

/* Parameters that ask for nothing leave sampler_row_new's row, NaN and all. */
static void nothing_asked(void **state)
{
    (void)state;
    static float logits[VOCAB];
    const struct sampler_parameters none = sampler_parameters_none();
    const struct penalties no_penalties = penalties_none();
    struct sampler_parameters off = none;
    off.filter = (struct filter_parameters){VOCAB, 1.5, 0};
    off.penalties = &no_penalties;
    logits_fill(logits, 1);
    logits[33] = NAN;
    logits[34] = -inf_;
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        struct sampler_row *plain =
            sampler_row_new((enum sampler_rule)rule, SAMPLER_LOGITS, logits, VOCAB, 1);
        struct sampler_row *same[] = {row_with((enum sampler_rule)rule, SAMPLER_LOGITS, logits, VOCAB, &none),
                                      row_with((enum sampler_rule)rule, SAMPLER_LOGITS, logits, VOCAB, &off)};
        int32_t expected[DRAWS], token[DRAWS];
        sampler_draw(plain, 5, 0, DRAWS, expected);
        for (size_t s = 0; s < COUNT(same); s++) {
            sampler_draw(same[s], 5, 0, DRAWS, token);
            assert_memory_equal(token, expected, sizeof token);
            sampler_row_free(same[s]);
        }
        sampler_row_free(plain);
    }
}

/* golden/kat/seeded.txt, lines "filtered": what SGLang's wheels drew where the noise goes by rank. */
static void filtered_known_answers(void **state)
{
    (void)state;
    FILE *file = fopen(SAMPLEGATE_SOURCE_DIR "/golden/kat/seeded.txt", "r");
    char line[256];
    int lines = 0;
    float reversed[8];
    for (int i = 0; i < 8; i++)
        reversed[7 - i] = ldexpf(1, i < 7 ? -1 - i : -7);
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        int64_t seed, position;
        struct sampler_parameters parameters = sampler_parameters_none();
        int used = 0, step;
        if (sscanf(line, "filtered halves-reversed %" SCNd64 " %" SCNd64 " %" SCNd64 " %lf%n", &seed,
                   &position, &parameters.filter.top_k, &parameters.filter.top_p, &used) != 4)
            continue;
        parameters.seeded_by_rank = 1;
        parameters.filter_rule = filter_rule_of("sglang-pytorch");
        struct sampler_row *row = row_with(RULE_SEEDED, SAMPLER_PROBABILITIES, reversed, 8, &parameters);
        for (int32_t expected, token; sscanf(line + used, "%" SCNd32 "%n", &expected, &step) == 1;
             used += step) {
            sampler_draw_seeded(row, &seed, &position, 1, &token);
            assert_int_equal(token, expected);
            position++;
        }
        sampler_row_free(row);
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, 3);
}

/* Noise by rank: the token is the id at the rank that the sorted row draws with noise by id. */
static void rank_is_the_column(void **state)
{
    (void)state;
    static float weights[VOCAB], sorted[VOCAB];
    static uint32_t id[VOCAB];
    struct sampler_parameters by_rank = sampler_parameters_none();
    by_rank.seeded_by_rank = 1;
    by_rank.filter.top_k = 50;
    for (uint32_t i = 0; i < VOCAB; i++)
        weights[i] =
            (float)(1 + philox_word(8, PHILOX_STREAM_TABLE, 0, i) % 16); /* logs exact enough to tie alike */
    size_t n = 0;
    for (int level = 16; level > 0; level--)
        for (uint32_t i = 0; i < VOCAB; i++)
            if (weights[i] == (float)level) {
                sorted[n] = n < 50 ? weights[i] : 0;
                id[n++] = i;
            }
    const struct sampler_parameters none = sampler_parameters_none();
    struct sampler_row *row = row_with(RULE_SEEDED, SAMPLER_PROBABILITIES, weights, VOCAB, &by_rank);
    struct sampler_row *ranks = row_with(RULE_SEEDED, SAMPLER_PROBABILITIES, sorted, VOCAB, &none);
    for (uint64_t position = 0; position < 500; position++) {
        int32_t token, rank;
        sampler_draw(row, 77, position, 1, &token);
        sampler_draw(ranks, 77, position, 1, &rank);
        assert_int_equal(token, id[rank]);
    }
    sampler_row_free(row);
    sampler_row_free(ranks);
}

/* Logits 3 2 1 0 -1, p = .9, T = 2: the nucleus of the tempered row is four ids, that of the row itself
 * three. */
static void temperature_last(void **state)
{
    (void)state;
    const float logits[] = {3, 2, 1, 0, -1};
    struct sampler_parameters parameters = sampler_parameters_none();
    parameters.temperature = 2;
    parameters.filter.top_p = 0.9;
    parameters.filter_rule = filter_rule_of("vllm-0.5.0");
    struct sampler_row *row = row_with(RULE_RACE, SAMPLER_LOGITS, logits, 5, &parameters);
    assert_int_equal(kept_bits(row, 5), 15);
    sampler_row_free(row);
    parameters.filter_rule = filter_rule_of("llama.cpp");
    row = row_with(RULE_RACE, SAMPLER_LOGITS, logits, 5, &parameters);
    assert_int_equal(kept_bits(row, 5), 7);
    /* Tempered all the same. */
    for (int i = 0; i < 2; i++)
        assert_true(fabs(row->weights[i] / row->weights[i + 1] - exp(0.5)) < 1e-6);
    sampler_row_free(row);
    /* With penalties too: 3 / 2 is the first logit before the filter. */
    const int64_t output[] = {0};
    struct penalties penalties = penalties_none();
    penalties.repetition = 2;
    penalties.output = output;
    penalties.output_tokens = 1;
    parameters.penalties = &penalties;
    row = row_with(RULE_RACE, SAMPLER_LOGITS, logits, 5, &parameters);
    assert_true(fabs(row->weights[1] / row->weights[0] - exp(0.25)) < 1e-6);
    sampler_row_free(row);
}

/* l = 2, T = 1/2, presence 1, repetition 1.2 beside 0: weights e^(4/3) and e^(7/3) to 1. */
static void penalties_and_temperature(void **state)
{
    (void)state;
    const float logits[] = {2, 0};
    const int64_t output[] = {0};
    struct penalties penalties = penalties_none();
    penalties.presence = 1;
    penalties.repetition = 1.2;
    penalties.output = output;
    penalties.output_tokens = 1;
    struct sampler_parameters parameters = sampler_parameters_none();
    parameters.temperature = 0.5;
    parameters.penalties = &penalties;
    const struct {
        const char *rule;
        double logit;
    } cases[] = {{"vllm-0.5.0", 4.0 / 3}, {"tensorrt-llm-cpp", 7.0 / 3}, {"sglang", 5.0 / 3}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        parameters.penalty_rule = penalty_rule_of(cases[c].rule);
        struct sampler_row *row = row_with(RULE_GUMBEL, SAMPLER_LOGITS, logits, 2, &parameters);
        assert_true(fabs(log(row->weights[0] / row->weights[1]) - cases[c].logit) < 1e-6);
        sampler_row_free(row);
    }
    /* Greedy: the argmax after the edits, whatever the filters. */
    penalties.presence = 3;
    parameters.filter.top_p = 0x1p-30;
    struct sampler_row *row = row_with(RULE_GREEDY, SAMPLER_LOGITS, logits, 2, &parameters);
    int32_t token;
    sampler_draw(row, 0, 0, 1, &token);
    assert_int_equal(token, 1);
    assert_int_equal(kept_bits(row, 2), 2);
    sampler_row_free(row);
}

/* A filter over a row without one weight: no rule draws, not even the engines' own lines. */
static void empty_rows(void **state)
{
    (void)state;
    const float rows[][3] = {{-inf_, -inf_, -inf_}, {NAN, NAN, NAN}, {inf_, 0, 1}, {NAN, -inf_, NAN}};
    struct sampler_parameters parameters = sampler_parameters_none();
    parameters.filter.top_k = 2;
    for (size_t r = 0; r < COUNT(rows); r++)
        for (int rule = RULE_CATEGORICAL; rule < RULE_COUNT; rule++) {
            struct sampler_row *row =
                row_with((enum sampler_rule)rule, SAMPLER_LOGITS, rows[r], 3, &parameters);
            int32_t token;
            sampler_draw(row, 1, 1, 1, &token);
            assert_int_equal(token, SAMPLER_INVALID_ROW);
            assert_int_equal(kept_bits(row, 3), 0);
            sampler_row_free(row);
        }
}

static void refusals(void **state)
{
    (void)state;
    const float row[] = {1, 2};
    const struct filter_rule odd = {"", FILTER_TIES_LOWEST, FILTER_TIES_LOWEST, FILTER_SPLIT, FILTER_JOINT, 0,
                                    1};
    const int64_t outside[] = {2};
    struct penalties penalties[4];
    struct sampler_parameters bad[9];
    for (size_t i = 0; i < COUNT(penalties); i++)
        penalties[i] = penalties_none();
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = sampler_parameters_none();
    penalties[0].repetition = 0;
    penalties[1].stop = outside;
    penalties[1].stops = 1;
    penalties[2].min_tokens = -1;
    bad[0].temperature = 0;
    bad[1].filter.top_k = 0;
    bad[2].filter.top_p = 0;
    bad[3].filter.min_p = 2;
    for (size_t i = 0; i < 3; i++)
        bad[4 + i].penalties = &penalties[i];
    bad[7].seeded_by_rank = 1;
    bad[8].filter_rule = &odd;
    const enum sampler_status expected[] = {
        SAMPLER_BAD_TEMPERATURE, SAMPLER_BAD_TOP_K,       SAMPLER_BAD_TOP_P,
        SAMPLER_BAD_MIN_P,       SAMPLER_BAD_PENALTY,     SAMPLER_BAD_TOKEN,
        SAMPLER_BAD_MIN_TOKENS,  SAMPLER_BAD_COMBINATION, SAMPLER_BAD_COMBINATION};
    enum sampler_status status;
    for (size_t i = 0; i < COUNT(expected); i++)
        for (int rule = RULE_GREEDY; rule <= RULE_RACE; rule++) {
            assert_null(sampler_row_make((enum sampler_rule)rule, SAMPLER_LOGITS, row, 2, &bad[i], &status));
            assert_int_equal(status, expected[i]);
            assert_true(strlen(sampler_status_text(status)) > 10);
        }
    const struct sampler_parameters none = sampler_parameters_none();
    struct sampler_parameters with_penalties = none, tempered = none;
    with_penalties.penalties = &penalties[3];
    tempered.temperature = 0.5;
    assert_null(sampler_row_make(RULE_RACE, SAMPLER_PROBABILITIES, row, 2, &with_penalties, &status));
    assert_int_equal(status, SAMPLER_BAD_COMBINATION);
    assert_null(sampler_row_make(RULE_RACE, SAMPLER_PROBABILITIES, row, 2, &tempered, &status));
    assert_int_equal(status, SAMPLER_BAD_TEMPERATURE);
    assert_null(sampler_row_make(RULE_RACE, SAMPLER_LOGITS, row, 0, &none, &status));
    assert_int_equal(status, SAMPLER_BAD_VOCAB);
    assert_null(row_make(NULL, RULE_RACE, SAMPLER_LOGITS, row, 2, &none, &status));
    assert_int_equal(status, SAMPLER_BAD_ISA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_on_filtered_weights),
        cmocka_unit_test(nothing_asked),
        cmocka_unit_test(filtered_known_answers),
        cmocka_unit_test(rank_is_the_column),
        cmocka_unit_test(temperature_last),
        cmocka_unit_test(penalties_and_temperature),
        cmocka_unit_test(empty_rows),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("row", tests, NULL, NULL);
}
