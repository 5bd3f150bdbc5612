/* test_mixed_rows.c: rows where every kind of number meets every other, under random filters: each instruction
 * set, prepared or not, on one thread or several, gives the token and the kept ids of the scalar definition.
 *
 * SAMPLEGATE_EXHAUSTIVE=1: many more rows; a number above 1: so many. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernels/draws.h"
#include "kernels/filter_scalar.h"
#include "kernels/row.h"
#include "kernels/test_rows.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define MIXED_VOCAB 5000
#define DRAWS 20 /* more than a row that is not prepared takes */

static const char *const isas[] = {"baseline", "avx2", "avx512"};

/* The words of one case, in order. */
struct words {
    uint64_t seed;
    uint32_t next;
};

static uint32_t word_of(struct words *words)
{
    return philox_word(words->seed, PHILOX_STREAM_TABLE, 4242, words->next++);
}

static float number_of(struct words *words, uint32_t kind)
{
    static const float odd[] = {0,     -0.0f,     NAN,       -NAN,      INFINITY,      -INFINITY,      1,
                                0.25f, 0x1p-149f, 0x1p-126f, 0x1p-127f, 3.4028235e38f, -3.4028235e38f, -1};
    const uint32_t word = word_of(words);
    const float unit = (float)(word >> 8) * 0x1p-24f;
    switch (kind) {
    case 0:
        return kernel_float(word); /* any pattern at all */
    case 1:
        return odd[word % COUNT(odd)];
    case 2:
        return kernel_float(word & 0x007fffffu); /* denormal */
    case 3:
        return ldexpf(1 + unit, (int)(word % 277) - 149);
    case 4:
        return 40 * unit - 20;
    case 5:
        return (float)(word % 4) * 0.125f;
    case 6:
        return kernel_float(0x3f000000u + word % 3); /* neighbours */
    default:
        return unit;
    }
}

/* One or two kinds, in a proportion of the row's own. */
static size_t row_mix(struct words *words)
{
    static const size_t edges[] = {1, 2, 3, 15, 16, 17, 63, 64, 65, 1023, 1024, 1025, 4096, 4097};
    const uint32_t pick = word_of(words);
    const size_t vocab = pick % 3 ? 1 + word_of(words) % (pick % 3 == 1 ? 100 : MIXED_VOCAB)
                                  : edges[word_of(words) % COUNT(edges)];
    const uint32_t most = word_of(words) % 8, few = word_of(words) % 8, one_in = 1 + word_of(words) % 200;
    for (size_t i = 0; i < vocab; i++)
        values[i] = number_of(words, word_of(words) % one_in == 0 ? few : most);
    return vocab;
}

static struct sampler_parameters parameters_mix(struct words *words, enum sampler_values kind)
{
    static const int64_t ks[] = {-1, -1, 1, 2, 7, 64, 1000, INT64_MAX};
    static const double ps[] = {1, 1, 1e-300, 0.1, 0.5, 0.95, 1 - 0x1p-53, 7};
    static const double min_ps[] = {0, 0, 1, 0.05, 1e-40, 5e-324};
    static const double temperatures[] = {1, 0.7, 1e-30, 1e30, 2};
    struct sampler_parameters parameters = sampler_parameters_none();
    size_t rules = 0;
    while (filter_rule_at(rules))
        rules++;
    parameters.filter =
        (struct filter_parameters){ks[word_of(words) % COUNT(ks)], ps[word_of(words) % COUNT(ps)],
                                   min_ps[word_of(words) % COUNT(min_ps)]};
    parameters.filter_rule = filter_rule_at(word_of(words) % rules);
    if (kind == SAMPLER_LOGITS)
        parameters.temperature = temperatures[word_of(words) % COUNT(temperatures)];
    return parameters;
}

/* `weights`, kept[vocab] and whether there is anything to draw from. */
static int defined_weights(const struct sampler_parameters *parameters, enum sampler_values kind,
                           size_t vocab, uint8_t *kept)
{
    const float t = (float)parameters->temperature;
    const struct filter_parameters *f = &parameters->filter;
    const int filtered = (f->top_k > 0 && (uint64_t)f->top_k < vocab) || f->top_p < 1 || f->min_p > 0;
    const int last = filtered && parameters->filter_rule->temperature_last && kind == SAMPLER_LOGITS;
    int some = 1;
    weights_fill(kind, vocab, last ? 1 : t);
    if (filtered)
        some = filter_row_scalar(parameters->filter_rule, f, weights, vocab, kept) == FILTER_OK;
    if (last && some) {
        static float left[MIXED_VOCAB];
        for (size_t i = 0; i < vocab; i++)
            left[i] = kept[i] ? values[i] : -INFINITY;
        softmax(left, vocab, t, weights);
    }
    for (size_t i = 0; i < vocab; i++) {
        kept[i] = (uint8_t)kernel_weight_valid(weights[i]);
        log_weights[i] = seeded_log(weights[i]);
        log_weights_2025[i] = seeded_2025_log(weights[i]);
    }
    return some;
}

static void row_check(const struct loops *loops, enum sampler_rule rule, enum sampler_values kind,
                      size_t vocab, const struct sampler_parameters *parameters, uint64_t seed,
                      const int32_t *expected, const uint8_t *expected_kept)
{
    static uint8_t kept[MIXED_VOCAB];
    enum sampler_status status;
    int32_t token[DRAWS], one[DRAWS];
    struct sampler_row *row = row_make(loops, rule, kind, values, vocab, parameters, &status);
    assert_non_null(row);
    memset(token, 0x55, sizeof token);
    sampler_draw_threads(row, seed, 7, DRAWS, 1 + seed % 3, token);
    for (size_t d = 0; d < DRAWS; d++)
        sampler_draw(row, seed, 7 + d, 1, &one[d]); /* few draws are not prepared */
    for (size_t d = 0; d < DRAWS; d++)
        if (token[d] != expected[d] || one[d] != expected[d])
            fail_msg("%s, %s, case %llu, vocab %zu, draw %zu: prepared %d, alone %d, defined %d", loops->name,
                     sampler_rule_name(rule), (unsigned long long)seed, vocab, d, token[d], one[d],
                     expected[d]);
    sampler_row_kept(row, kept);
    for (size_t i = 0; i < vocab && rule != RULE_GREEDY; i++)
        if (kept[i] != expected_kept[i])
            fail_msg("%s, %s, case %llu, vocab %zu, id %zu: kept %d, defined %d", loops->name,
                     sampler_rule_name(rule), (unsigned long long)seed, vocab, i, kept[i], expected_kept[i]);
    if (row->weights && rule != RULE_GREEDY && memcmp(row->weights, weights, vocab * sizeof *weights) != 0)
        for (size_t i = 0; i < vocab; i++)
            if (kernel_bits(row->weights[i]) != kernel_bits(weights[i]) && !(isnan(weights[i])))
                fail_msg("%s, %s, case %llu, vocab %zu, id %zu: weight %a, defined %a", loops->name,
                         sampler_rule_name(rule), (unsigned long long)seed, vocab, i, (double)row->weights[i],
                         (double)weights[i]);
    sampler_row_free(row);
}

/* Unprepared rows of probabilities. */
static void rows_check(const struct loops *loops, enum sampler_rule rule, size_t vocab, uint64_t seed,
                       const int32_t *expected)
{
    int32_t token[DRAWS];
    draws_call(loops, rule, values, DRAWS, vocab, 0, seed, 7, token);
    for (size_t d = 0; d < DRAWS; d++)
        if (token[d] != expected[d])
            fail_msg("%s, %s, case %llu, vocab %zu, row %zu: unprepared %d, defined %d", loops->name,
                     sampler_rule_name(rule), (unsigned long long)seed, vocab, d, token[d], expected[d]);
}

static void mixed_case(uint64_t seed)
{
    static uint8_t kept[MIXED_VOCAB];
    struct words words = {seed, 0};
    const size_t vocab = row_mix(&words);
    const enum sampler_values kind = word_of(&words) % 2 ? SAMPLER_LOGITS : SAMPLER_PROBABILITIES;
    const struct sampler_parameters parameters = parameters_mix(&words, kind);
    const int some = defined_weights(&parameters, kind, vocab, kept);
    int32_t expected[RULE_COUNT][DRAWS];
    for (uint64_t d = 0; d < DRAWS; d++) {
        noise_fill(seed, 7 + d, vocab);
        for (int rule = 0; rule < RULE_COUNT; rule++) {
            const enum sampler_rule r = (enum sampler_rule)rule;
            expected[r][d] = some || r == RULE_GREEDY ? token_of_definition(r, kind, vocab, seed, 7 + d)
                                                      : SAMPLER_INVALID_ROW;
        }
    }
    if (kind == SAMPLER_PROBABILITIES) /* no filter touches what greedy takes */
        for (size_t d = 0; d < DRAWS; d++)
            expected[RULE_GREEDY][d] = rule_greedy_weights(values, vocab);
    for (size_t s = 0; s < COUNT(isas) && loops_of(isas[s]); s++)
        for (int rule = 0; rule < RULE_COUNT; rule++)
            row_check(loops_of(isas[s]), (enum sampler_rule)rule, kind, vocab, &parameters, seed,
                      expected[rule], kept);
    if (kind == SAMPLER_LOGITS)
        return;
    weights_fill(kind, vocab, 1);
    static const enum sampler_rule unprepared[] = {RULE_RACE, RULE_GUMBEL, RULE_SEEDED};
    for (size_t r = 0; r < COUNT(unprepared); r++) {
        for (uint64_t d = 0; d < DRAWS; d++) {
            noise_fill(seed, 7 + d, vocab);
            expected[0][d] = token_of_definition(unprepared[r], kind, vocab, seed, 7 + d);
        }
        for (size_t s = 0; s < COUNT(isas) && loops_of(isas[s]); s++)
            rows_check(loops_of(isas[s]), unprepared[r], vocab, seed, expected[0]);
    }
}

static void mixed_rows(void **state)
{
    (void)state;
    const char *text = getenv("SAMPLEGATE_EXHAUSTIVE");
    const unsigned long asked = text ? strtoul(text, NULL, 10) : 150;
    const uint64_t cases = asked == 0 ? 20 : asked == 1 ? 20000 : asked;
    for (uint64_t seed = 0; seed < cases; seed++)
        mixed_case(seed);
    print_message("%llu rows of mixed numbers, %d draws by %d rules, no differences\n",
                  (unsigned long long)cases, DRAWS, RULE_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mixed_rows)};
    return cmocka_run_group_tests_name("mixed_rows", tests, NULL, NULL);
}
