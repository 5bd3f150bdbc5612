/* test_agree.c: kernels and oracle, written apart, leave the same of many random rows, under every rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/row.h"
#include "suite/oracle/parameters.h"

enum { VOCAB_MAX = 12, TRIALS = 20000 };

/* xorshift64* (Vigna 2016). */
static uint64_t state = 0x9e3779b97f4a7c15;
static unsigned below(unsigned bound)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (unsigned)((state * UINT64_C(2685821657736338717)) >> 33) % bound;
}

/* Limits on and off their edges: k around V; p and min_p sixteenths, or anything. */
static struct law_limits random_limits(size_t vocab)
{
    struct law_limits limits = {-1, 1, 0};
    if (below(2))
        limits.top_k = 1 + (int64_t)below((unsigned)vocab + 2);
    if (below(3))
        limits.top_p = below(2) ? (1 + below(32)) / 32. : (1 + below(1000)) / 1000.;
    if (below(2))
        limits.min_p = below(2) ? below(17) / 16. : below(1000) / 1000.;
    return limits;
}

static void assert_same(const char *what, const char *rule, const float *values, size_t vocab,
                        const struct law_limits *limits, const float *kernels, const double *oracle,
                        double tolerance)
{
    double total = 0;
    for (size_t i = 0; i < vocab; i++)
        total += kernel_weight_valid(kernels[i]) ? (double)kernels[i] : 0;
    for (size_t i = 0; i < vocab; i++) {
        double mass = kernel_weight_valid(kernels[i]) ? (double)kernels[i] / total : 0;
        if (fabs(mass - oracle[i]) <= tolerance && (mass > 0) == (oracle[i] > 0))
            continue;
        char row[256] = "";
        for (size_t j = 0; j < vocab; j++)
            snprintf(row + strlen(row), sizeof row - strlen(row), " %g", (double)values[j]);
        fail_msg(
            "%s, %s, k %lld, p %.17g, min_p %.17g, row%s: id %zu is %.9g to the kernels, %.9g to the oracle",
            what, rule, (long long)limits->top_k, limits->top_p, limits->min_p, row, i, mass, oracle[i]);
    }
}

/* Weights are 64ths, so that ties and exact edges are frequent and every sum is exact. */
static void weights(void **unused)
{
    (void)unused;
    size_t exact = 0, parted = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        const size_t vocab = 1 + below(VOCAB_MAX);
        float values[VOCAB_MAX];
        memset(values, 0, sizeof values);
        for (int units = 64, share; units > 0;
             units -= share) { /* sum 1: p and a mass above an id often meet */
            share = 1 << below(5);
            share = share < units ? share : units;
            values[below((unsigned)vocab)] += (float)share / 64;
        }
        const struct law_limits limits = random_limits(vocab);
        for (size_t r = 0; filter_rule_at(r); r++) {
            const struct filter_rule *rule = filter_rule_at(r);
            struct law_parameters parameters = law_parameters_none();
            parameters.limits = limits;
            float row[VOCAB_MAX];
            double pmf[VOCAB_MAX];
            uint8_t kept[VOCAB_MAX], ours[VOCAB_MAX];
            memcpy(row, values, sizeof row);
            const struct filter_parameters asked = {limits.top_k, limits.top_p, limits.min_p};
            const enum filter_status status = filter_row(rule, &asked, row, vocab, kept);
            struct law_filtered left = law_under(law_filter_of(rule->name), law_editor_at(0), &parameters,
                                                 VALUE_PROBABILITIES, values, vocab, 1, pmf, ours);
            assert_int_equal(status == FILTER_NO_WEIGHT, left.kept == 0);
            const bool edge = left.mass_margin == 0 || left.weight_margin == 0;
            if (!edge && !law_decided(&left))
                continue;
            exact += edge;
            parted += left.kept < vocab;
            assert_same("weights", rule->name, values, vocab, &limits, row, pmf, 1e-6);
            assert_memory_equal(kept, ours, vocab);
        }
    }
    if (exact < TRIALS / 10 || parted < TRIALS)
        fail_msg("%zu exact, %zu parted", exact, parted);
}

/* Logits with a temperature and penalties, through the whole of the kernels' row. */
static void logits(void **unused)
{
    (void)unused;
    size_t judged = 0;
    for (int trial = 0; trial < TRIALS / 8; trial++) {
        const size_t vocab = 1 + below(VOCAB_MAX);
        float values[VOCAB_MAX], bias[VOCAB_MAX] = {0};
        uint8_t allowed[VOCAB_MAX], kept[VOCAB_MAX];
        int64_t prompt[4], output[6], banned[1] = {(int64_t)below((unsigned)vocab)};
        for (size_t i = 0; i < vocab; i++) {
            values[i] = (float)((int)below(80) - 40) / 16;
            allowed[i] = 1;
        }
        for (size_t i = 0; i < 4; i++)
            prompt[i] = (int64_t)below((unsigned)vocab);
        for (size_t i = 0; i < 6; i++)
            output[i] = (int64_t)below((unsigned)vocab);
        struct law_bias one = {(int64_t)below((unsigned)vocab), (double)below(64) / 16 - 2};
        struct law_parameters parameters = law_parameters_none();
        parameters.limits = random_limits(vocab);
        parameters.edits = (struct law_edits){.repetition = (8 + below(16)) / 8.,
                                              .frequency = ((int)below(16) - 4) / 8.,
                                              .presence = ((int)below(16) - 4) / 8.,
                                              .prompt = {prompt, below(5)},
                                              .output = {output, below(7)},
                                              .banned = {banned, below(2)},
                                              .bias = &one,
                                              .biases = below(2)};
        if (parameters.edits.biases)
            bias[one.id] = (float)one.value;
        if (parameters.edits.banned.count)
            allowed[banned[0]] = 0;
        struct penalties penalties = penalties_none();
        penalties.repetition = parameters.edits.repetition;
        penalties.frequency = parameters.edits.frequency;
        penalties.presence = parameters.edits.presence;
        penalties.prompt = prompt;
        penalties.prompt_tokens = parameters.edits.prompt.count;
        penalties.output = output;
        penalties.output_tokens = parameters.edits.output.count;
        penalties.logit_bias = bias;
        penalties.allowed = allowed;
        const double temperature = (4 + below(12)) / 8.;
        for (size_t r = 0; filter_rule_at(r); r++)
            for (size_t e = 0; penalty_rule_at(e); e++) {
                struct sampler_parameters asked = sampler_parameters_none();
                enum sampler_status status;
                double pmf[VOCAB_MAX];
                asked.temperature = temperature;
                asked.filter = (struct filter_parameters){parameters.limits.top_k, parameters.limits.top_p,
                                                          parameters.limits.min_p};
                asked.filter_rule = filter_rule_at(r);
                asked.penalty_rule = penalty_rule_at(e);
                asked.penalties = &penalties;
                /* The order of a temperature that comes in the middle and one that comes last is no engine's. */
                if (asked.filter_rule->temperature_last &&
                    strcmp(asked.penalty_rule->name, "tensorrt-llm-cpp") == 0)
                    continue;
                struct law_filtered left =
                    law_under(law_filter_of(asked.filter_rule->name), law_editor_of(asked.penalty_rule->name),
                              &parameters, VALUE_LOGITS, values, vocab, temperature, pmf, kept);
                if (!law_decided(&left))
                    continue;
                struct sampler_row *row =
                    sampler_row_make(RULE_RACE, SAMPLER_LOGITS, values, vocab, &asked, &status);
                assert_non_null(row);
                if (left.kept == 0)
                    assert_int_equal(row->token, SAMPLER_INVALID_ROW);
                else
                    assert_same(asked.penalty_rule->name, asked.filter_rule->name, values, vocab,
                                &parameters.limits, row->weights, pmf, 1e-5);
                judged++;
                sampler_row_free(row);
            }
    }
    assert_true(judged > TRIALS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(weights), cmocka_unit_test(logits)};
    return cmocka_run_group_tests_name("kernels against oracle", tests, NULL, NULL);
}
