/* test_cuda_filter.c: filters, edits and kept sets on the device, through the host shim, against the scalar definition:
 * penalty_row, softmax, filter_row_scalar and the rules, one after the other. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "kernels/test_cuda_staged.h"

static void staged_expect(const struct staged_case *at, const struct schedule *schedule)
{
    static const struct cuda_functions linked = {cuda_draw, cuda_workspace_new, cuda_workspace_free};
    char text[200];
    shim_schedule(schedule->order, schedule->seed);
    if (staged_wrong(at, &linked, text))
        fail_msg("%s, vocab %zu, %s: %s", sampler_rule_name(at->rule), at->vocab, schedule->name, text);
}

static const struct filter_parameters asked[] = {
    {-1, 1, 0},       {1, 1, 0},           {7, 1, 0},
    {-1, 0.5, 0},     {-1, 0x1p-40, 0},    {-1, 1, 0.25},
    {5, 0.75, 0.125}, {40, 0.95, 0.03125}, {1 << 30, 0.999999, 0},
    {3, 0.3, 1},      {-1, 0.9, 0.5},      {17, 0x1.999999999999ap-1, 0},
};

/* Every filter rule on every kind of row; sampler rules, schedules and dtypes in turn. */
static void rules_and_rows(void **state)
{
    (void)state;
    const size_t vocabs[] = {1, 2, 19, 150, 401};
    size_t turn = 0;
    for (size_t f = 0; filter_rule_at(f); f++)
        for (int row = 0; row < ROW_KINDS; row++)
            for (size_t v = 0; v < COUNT(vocabs); v++) {
                struct staged_case at = staged_case_of((enum sampler_rule)(turn % RULE_COUNT),
                                                       (enum sampler_values)(turn / 3 % 2), vocabs[v]);
                at.filter_rule = filter_rule_at(f);
                at.parameters = asked;
                at.draws = COUNT(asked);
                row_fill((enum row_kind)row, at.kind, at.vocab, (uint32_t)turn);
                staged_expect(&at, &schedules[turn % COUNT(schedules)]);
                turn++;
            }
}

/* Masses that fall on a cut exactly: equal weights, and p a fraction of them. */
static void exact_fractions(void **state)
{
    (void)state;
    const size_t vocabs[] = {8, 20, 64, 250};
    static struct filter_parameters fractions[24];
    for (size_t i = 0; i < COUNT(fractions); i++) {
        const double p = (double)(i / 3 + 1) / 10;
        fractions[i] = (struct filter_parameters){i % 5 == 0 ? (int64_t)i + 2 : -1,
                                                  i % 3 == 0   ? p
                                                  : i % 3 == 1 ? nextafter(p, 2)
                                                               : nextafter(p, 0),
                                                  0};
    }
    for (size_t f = 0; filter_rule_at(f); f++)
        for (size_t v = 0; v < COUNT(vocabs); v++)
            for (int row = 0; row < 2; row++) {
                struct staged_case at = staged_case_of(RULE_RACE, SAMPLER_PROBABILITIES, vocabs[v]);
                at.filter_rule = filter_rule_at(f);
                at.parameters = fractions;
                at.draws = COUNT(fractions);
                row_fill(row ? ROW_FEW_LEVELS : ROW_FLAT, at.kind, at.vocab, 3);
                staged_expect(&at, &schedules[f % COUNT(schedules)]);
            }
}

/* A rule of our own: what no engine does, and the code has. */
static void other_orders(void **state)
{
    (void)state;
    const struct filter_rule rules[] = {
        {"split, top_p first", FILTER_TIES_HIGHEST, FILTER_TIES_HIGHEST, FILTER_SPLIT, FILTER_TOP_P_FIRST, 1,
         0},
        {"split, joint", FILTER_TIES_LOWEST, FILTER_TIES_HIGHEST, FILTER_SPLIT, FILTER_JOINT, 0, 0},
        {"temperature last, joint", FILTER_TIES_HIGHEST, FILTER_TIES_ALL, FILTER_AT_MOST, FILTER_JOINT, 1, 1},
    };
    for (size_t f = 0; f < COUNT(rules); f++)
        for (int row = 0; row < ROW_KINDS; row++)
            for (int kind = 0; kind < 2; kind++) {
                struct staged_case at = staged_case_of(RULE_GUMBEL, (enum sampler_values)kind, 137);
                at.filter_rule = &rules[f];
                at.parameters = asked;
                at.draws = COUNT(asked);
                row_fill((enum row_kind)row, at.kind, at.vocab, 11);
                staged_expect(&at, &schedules[row % (int)COUNT(schedules)]);
            }
}

/* A wide row: every digit of the weights and of the ids. */
static void wide_rows(void **state)
{
    (void)state;
    const enum row_kind rows[] = {ROW_ORDINARY, ROW_FEW_LEVELS};
    static const struct filter_parameters wide[] = {{50, 0.9, 0}, {7001, 1, 0}, {-1, 0.5, 0}};
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t f = 0; f < 4; f += 3) {
            struct staged_case at = staged_case_of(RULE_RACE, SAMPLER_LOGITS, 20011);
            at.filter_rule = filter_rule_at(f);
            at.parameters = wide;
            at.draws = COUNT(wide);
            row_fill(rows[r], at.kind, at.vocab, 2);
            staged_expect(&at, &schedules[r]);
        }
}

/* Every penalty rule, with and without filters, each draw with lists and numbers of its own. */
static void edits(void **state)
{
    (void)state;
    enum { VOCAB = 90 };
    static float bias[VOCAB];
    static uint8_t allowed[VOCAB];
    static const int64_t prompt[] = {3, 3, 5, 80, 89, 0}, output[] = {5, 5, 5, 7, 3, 89, 12, 5},
                         stop[] = {2, 44, 3};
    static struct penalties each[8];
    for (size_t i = 0; i < VOCAB; i++) {
        bias[i] = (float)(i % 7) - 3;
        allowed[i] = i % 5 != 1;
    }
    for (size_t d = 0; d < COUNT(each); d++)
        each[d] = (struct penalties){.repetition = d % 2 ? 1.3 : 0.7,
                                     .frequency = (double)(d % 3) * 0.4 - 0.1,
                                     .presence = (double)(d % 4) * 0.3,
                                     .prompt = prompt,
                                     .prompt_tokens = d % (COUNT(prompt) + 1),
                                     .output = output,
                                     .output_tokens = (d * 3) % (COUNT(output) + 1),
                                     .logit_bias = bias,
                                     .allowed = allowed,
                                     .min_tokens = (int64_t)(d % 5),
                                     .stop = stop,
                                     .stops = d % 4};
    for (size_t p = 0; penalty_rule_at(p); p++)
        for (int rule = 0; rule < RULE_COUNT; rule++)
            for (int row = ROW_ORDINARY; row <= ROW_MINUS_INFINITY; row++) {
                struct staged_case at = staged_case_of((enum sampler_rule)rule, SAMPLER_LOGITS, VOCAB);
                at.penalty_rule = penalty_rule_at(p);
                at.penalties = each;
                at.filter_rule = filter_rule_at((size_t)(rule + row) % 9);
                at.parameters = row == ROW_ORDINARY ? NULL : asked + 3;
                at.draws = COUNT(each);
                row_fill((enum row_kind)row, at.kind, VOCAB, (uint32_t)rule);
                staged_expect(&at, &schedules[rule % (int)COUNT(schedules)]);
            }
}

/* Parameters that are none give no token, and harm no neighbour. */
static void bad_parameters(void **state)
{
    (void)state;
    const struct filter_parameters bad[] = {{0, 1, 0},   {3, 1, 0},  {-2, 1, 0},  {-1, 0, 0},  {-1, NAN, 0},
                                            {-1, -1, 0}, {3, 1, -1}, {3, 1, 1.5}, {3, 1, NAN}, {2, 0.5, 1}};
    struct staged_case at = staged_case_of(RULE_RACE, SAMPLER_LOGITS, 30);
    at.filter_rule = filter_rule_at(0);
    at.parameters = bad;
    at.draws = COUNT(bad);
    row_fill(ROW_ORDINARY, at.kind, at.vocab, 1);
    staged_expect(&at, &schedules[0]);
    static const int64_t outside[] = {4, 30}, below[] = {-1};
    const struct penalties penalties[] = {{.repetition = 1},
                                          {.repetition = 0},
                                          {.repetition = INFINITY},
                                          {.repetition = 1, .frequency = NAN},
                                          {.repetition = 1, .presence = 1e300},
                                          {.repetition = 1, .min_tokens = -1},
                                          {.repetition = 2, .prompt = outside, .prompt_tokens = 1},
                                          {.repetition = 2, .output = outside, .output_tokens = 2},
                                          {.repetition = 2, .stop = below, .stops = 1},
                                          {.repetition = 2, .frequency = 1}};
    at = staged_case_of(RULE_GREEDY, SAMPLER_LOGITS, 30);
    at.penalty_rule = penalty_rule_at(0);
    at.penalties = penalties;
    at.draws = COUNT(penalties);
    staged_expect(&at, &schedules[1]);
}

static void refusals(void **state)
{
    (void)state;
    const float row[] = {1, 2};
    const int64_t top_k[] = {1};
    const uint8_t here[] = {1};
    uint8_t kept[2];
    int32_t token[1];
    struct cuda_workspace workspace;
    assert_null(cuda_workspace_new(&workspace, 1, 2));
    const struct cuda_draws good = {.rule = RULE_RACE,
                                    .kind = SAMPLER_LOGITS,
                                    .values = row,
                                    .rows = 1,
                                    .vocab = 2,
                                    .row_stride = 2,
                                    .draws = 1,
                                    .workspace = workspace,
                                    .filters = {.top_k = top_k},
                                    .token = token};
    const unsigned long before = shim_waits_made();
    assert_null(cuda_draw(&good, NULL));
    assert_int_equal(shim_waits_made(), before); /* no memory taken, no waiting */
    assert_int_equal(token[0], 1);
    struct cuda_draws bad[5];
    const char *const says[] = {"need a workspace", "need a workspace", "edits are for logits",
                                "cannot split", "come together"};
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].workspace.rows = NULL;
    bad[1].workspace.vocab = 1;
    bad[2].edits.on = 1;
    bad[2].kind = SAMPLER_PROBABILITIES;
    bad[3].filters.rule = (struct filter_rule){.boundary = FILTER_SPLIT, .temperature_last = 1};
    bad[4].kept = kept;
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *why = cuda_draw(&bad[i], NULL);
        assert_non_null(why);
        if (!strstr(why, says[i]))
            fail_msg("'%s', without '%s'", why, says[i]);
    }
    bad[4].kept_here = here;
    assert_null(cuda_draw(&bad[4], NULL));
    assert_int_equal(kept[0], 0);
    assert_int_equal(kept[1], 1);
    cuda_workspace_free(&workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_and_rows), cmocka_unit_test(exact_fractions), cmocka_unit_test(other_orders),
        cmocka_unit_test(wide_rows),      cmocka_unit_test(edits),           cmocka_unit_test(bad_parameters),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests_name("cuda, filters and edits", tests, NULL, NULL);
}
