/* test_registry.c: the one list of checks is whole: keys, goldens and cells exist, prefixes select what they
 * say. */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "suite/checks/check.h"
#include "suite/oracle/law.h"

/* The family of the cell "PLAN/CELL", FAMILIES if there is none. */
static enum cell_family family_of_cell(const char *meeting)
{
    struct plan plan = {0};
    struct trouble trouble = {0};
    char name[64];
    enum cell_family family = FAMILIES;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(meeting, "/"), meeting);
    assert_int_equal(plan_load(&plan, name, SAMPLEGATE_SOURCE_DIR "/golden", &trouble), 0);
    for (size_t i = 0; i < plan.cells; i++)
        if (!strcmp(plan.cell[i].name, meeting + strcspn(meeting, "/") + 1))
            family = plan.cell[i].family;
    plan_free(&plan);
    return family;
}

static void every_entry_names_what_exists(void **state)
{
    (void)state;
    for (size_t i = 0; i < check_registry_count; i++) {
        const struct check *check = &check_registry[i];
        char path[4096];
        snprintf(path, sizeof path, SAMPLEGATE_SOURCE_DIR "/golden/%s", check->golden);
        assert_int_equal(access(path, R_OK), 0);
        const char *family = cell_family_names[check->family];
        assert_int_equal(strncmp(check->key, family, strlen(family)), 0);
        assert_int_equal(check->key[strlen(family)], '.');
        /* Sentences end in a full stop; kinds of defect are phrases. */
        assert_int_equal(check->sentence[strlen(check->sentence) - 1], '.');
        assert_int_equal(check->effect[strlen(check->effect) - 1], '.');
        assert_null(strchr(check->sees, '.'));
        assert_null(strchr(check->blind, '.'));
        assert_true(strlen(check->sees) > 5 && strlen(check->blind) > 5);
        assert_int_equal(family_of_cell(check->mutant_cell), check->family);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(check->key, check_registry[j].key);
    }
}

static void prefixes_end_at_a_dot(void **state)
{
    (void)state;
    const struct check *rank = &check_registry[1];
    assert_string_equal(rank->key, "equivalence.rank");
    assert_true(check_selected(rank, ""));
    assert_true(check_selected(rank, "equivalence"));
    assert_true(check_selected(rank, "equivalence."));
    assert_true(check_selected(rank, "equivalence.rank"));
    assert_false(check_selected(rank, "equivalence.ran"));
    assert_false(check_selected(rank, "equivalence.rank."));
    assert_false(check_selected(rank, "agreement"));
}

/* Laws from one sure token to a nearly flat row, each at few and at many draws: a p-value that is no number would
 * never be rejected. */
static void every_p_value_is_a_probability(void **state)
{
    (void)state;
    enum { VOCAB = 1000, TEMPERATURES = 120 };
    static float logits[VOCAB];
    static double pmf[VOCAB];
    static uint64_t drawn[VOCAB];
    for (int i = 0; i < VOCAB; i++)
        logits[i] = (float)(nearbyint(-1024 * log(i + 1)) / 1024);
    struct table table = {.name = "zipf-1000", .vocab = VOCAB};
    struct plan_cell cell = {.family = FAMILY_EQUIVALENCE, .name = "made", .table = &table};
    struct plan plan = {
        .batch = {{.size = 1, .numerator = 1, .denominator = 1}}, .batches = 1, .cell = &cell, .cells = 1};
    for (int t = 1; t <= TEMPERATURES; t++)
        for (int many = 0; many < 2; many++) {
            double wanted = many ? 1e6 : 1;
            /* Most in steps of 0.001, where the sum of the first ids' probabilities may round to above 1. */
            law_of_logits(logits, VOCAB, t <= 100 ? 0.001 * t : 0.01 * pow(1.5, t - 100), pmf);
            struct cell_counts counts = {.vocab = VOCAB, .batches = 1, .batch = {drawn}, .pooled = drawn};
            for (int i = VOCAB - 1; i >= 0; i--) {
                drawn[i] =
                    (uint64_t)(i ? nearbyint(wanted * pmf[i]) : fmax(1, wanted - (double)counts.draws));
                counts.draws += drawn[i];
            }
            counts.batch_draws[0] = counts.draws;
            counts.calls = (struct pair_counts){.pairs = counts.draws / 2, .equal = counts.draws / 2};
            struct check_input input = {.plan = &plan,
                                        .cell = &cell,
                                        .pmf = pmf,
                                        .vocab = VOCAB,
                                        .stage = 1,
                                        .floor = FLOOR_STAGE_ONE,
                                        .counts = &counts};
            for (size_t c = 0; c < check_registry_count; c++) {
                struct evidence evidence = {0};
                if (check_registry[c].family == FAMILY_EQUIVALENCE)
                    check_registry[c].evaluate(&check_registry[c], &input, &evidence);
                for (size_t s = 0; s < evidence.count; s++)
                    if (!(evidence.statistic[s].tail.p >= 0 && evidence.statistic[s].tail.p <= 1))
                        fail_msg("temperature %d, %s %s: p is %g", t, check_registry[c].key,
                                 evidence.statistic[s].name, evidence.statistic[s].tail.p);
                evidence_free(&evidence);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_entry_names_what_exists),
                                       cmocka_unit_test(prefixes_end_at_a_dot),
                                       cmocka_unit_test(every_p_value_is_a_probability)};
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
