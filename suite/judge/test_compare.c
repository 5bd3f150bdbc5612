/* test_compare.c: the verdict on an upgrade, from sessions made by hand: the first of error, different,
 * identical, equivalent, inconclusive that holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "suite/judge/test_world.h"

static void expect(struct world *world, const char *word, int exit)
{
    struct verdict verdict =
        verdict_compare(&world->session[0], &world->session[1], world->change, NULL, false);
    assert_string_equal(verdict.word, word);
    assert_int_equal(verdict.exit, exit);
}

static void equal_tokens_are_identical(void **state)
{
    (void)state;
    struct world *world = world_new();
    memcpy(world->result[1].token, world->result[0].token, DRAWS * sizeof(int32_t));
    expect(world, "identical", EXIT_PASS);
    assert_int_equal(world->change[0].same, DRAWS);
    world->result[1].token[17] ^= 1; /* one token in 4,000 */
    expect(world, "equivalent", EXIT_PASS);
    world_free(world);
}

static void too_few_rows_are_not_identical(void **state)
{
    (void)state;
    struct world *world = world_new();
    memcpy(world->result[1].token, world->result[0].token, DRAWS * sizeof(int32_t));
    world->result[1].bound.upper = 0.02;
    world->cell.draws = 1374; /* 0.01 at 1e-6 needs 1,375 */
    expect(world, "inconclusive", EXIT_INCONCLUSIVE);
    world->cell.draws = 1375;
    expect(world, "identical", EXIT_PASS);
    world->result[1].heaviest = 0.95; /* such rows agree whatever the sampler does */
    expect(world, "inconclusive", EXIT_INCONCLUSIVE);
    world_free(world);
}

static void certificates_make_equivalent(void **state)
{
    (void)state;
    struct world *world = world_new();
    expect(world, "equivalent", EXIT_PASS);
    world->result[1].bound.upper = 0.0101;
    expect(world, "inconclusive", EXIT_INCONCLUSIVE);
    world->result[1].bound.upper = 0.008;
    world->cell.certify = CERTIFY_NONE; /* failing to reject is never equivalent */
    expect(world, "inconclusive", EXIT_INCONCLUSIVE);
    world->cell.certify = CERTIFY_IDS;
    for (int i = 0; i < 2; i++) { /* every cell must have run, on both */
        world->result[i].state = CELL_SKIPPED;
        expect(world, "inconclusive", EXIT_INCONCLUSIVE);
        world->result[i].state = CELL_RAN;
    }
    world_free(world);
}

static void a_promise_given_up_is_told(void **state)
{
    (void)state;
    struct world *world = world_new();
    world->cell.family = FAMILY_DETERMINISM;
    world->result[1].state = CELL_SKIPPED;
    strcpy(world->result[1].why, "the sampler takes no seeds");
    struct verdict verdict =
        verdict_compare(&world->session[0], &world->session[1], world->change, NULL, false);
    assert_int_equal(verdict.exit, EXIT_INCONCLUSIVE);
    assert_non_null(strstr(verdict.sentence, "new gives it up: the sampler takes no seeds"));
    world->result[0].state = CELL_SKIPPED; /* old never had it */
    verdict = verdict_compare(&world->session[0], &world->session[1], world->change, NULL, false);
    assert_null(strstr(verdict.sentence, "gives it up"));
    world_free(world);
}

static void a_new_rejection_is_different(void **state)
{
    (void)state;
    struct world *world = world_new();
    reject(world, 1, "upper");
    struct verdict verdict =
        verdict_compare(&world->session[0], &world->session[1], world->change, NULL, false);
    assert_string_equal(verdict.word, "different");
    assert_int_equal(verdict.exit, EXIT_FAIL);
    assert_true(verdict.within_epsilon);
    /* U is for independent draws: too many equal pairs, and the counts (2,001 of 4,000) do not explain them. */
    world->result[1].evidence.statistic[0].dependence = true;
    world->result[1].counts[1].rows = (struct pair_counts){.pairs = 2000, .equal = 1200};
    verdict = verdict_compare(&world->session[0], &world->session[1], world->change, NULL, false);
    assert_false(verdict.within_epsilon);
    /* As many as the counts explain: the law is another one, the draws are independent. */
    world->result[1].counts[1].rows.equal = 1010;
    verdict = verdict_compare(&world->session[0], &world->session[1], world->change, NULL, false);
    assert_true(verdict.within_epsilon);
    world->result[1].bound.upper = 0.5;
    verdict = verdict_compare(&world->session[0], &world->session[1], world->change, NULL, false);
    assert_false(verdict.within_epsilon);
    world_free(world);
}

static void an_old_rejection_does_not_block(void **state)
{
    (void)state;
    struct world *world = world_new();
    reject(world, 1, "upper");
    reject(world, 0, "upper");
    expect(world, "equivalent", EXIT_PASS);
    assert_int_equal(world->change[0].preexisting, 1);
    /* The same statistic, but another law in both stages: new, after all. */
    for (int stage = 0; stage < 2; stage++) {
        world->result[1].counts[stage].pooled[0] = 2600;
        world->result[1].counts[stage].pooled[1] = DRAWS - 2600;
    }
    expect(world, "different", EXIT_FAIL);
    world_free(world);
}

static void another_statistic_does_not_excuse(void **state)
{
    (void)state;
    struct world *world = world_new();
    reject(world, 1, "upper");
    reject(world, 0, "lower"); /* the other side */
    expect(world, "different", EXIT_FAIL);
    world_free(world);
}

static void what_only_old_shows_is_fixed(void **state)
{
    (void)state;
    struct world *world = world_new();
    reject(world, 0, "upper");
    evidence_add(&world->result[1].evidence, &check_registry[1], "upper");
    expect(world, "equivalent", EXIT_PASS);
    assert_int_equal(world->change[0].fixed, 1);
    world_free(world);
}

static void a_new_impossible_id_blocks(void **state)
{
    (void)state;
    struct world *world = world_new();
    world->pmf[0] = 0;
    world->pmf[1] = 1;
    for (int i = 0; i < 2; i++) {
        reject(world, i, "impossible");
        world->result[i].evidence.statistic[0].violation = true;
    }
    expect(world, "equivalent", EXIT_PASS); /* old drew it, too */
    world->result[0].counts[0].pooled[0] = world->result[0].counts[1].pooled[0] = 0;
    expect(world, "different", EXIT_FAIL);
    world_free(world);
}

/* Old loses one token, new another: one law over ranks, where both are in one cell, but not the same defect. */
static void another_lost_token_does_not_excuse(void **state)
{
    (void)state;
    enum { VOCAB = 400, EACH = 100, LOST = 100 };
    static double pmf[VOCAB];
    struct world *world = world_new();
    world->table.vocab = VOCAB;
    for (size_t id = 0; id < VOCAB; id++)
        pmf[id] = 1.0 / VOCAB;
    for (int i = 0; i < 2; i++) {
        world->result[i].pmf = pmf;
        for (int stage = 0; stage < 2; stage++) {
            struct cell_counts *counts = &world->result[i].counts[stage];
            free(counts->pooled);
            counts->pooled = calloc(VOCAB, sizeof *counts->pooled);
            counts->vocab = VOCAB;
            counts->draws = VOCAB * EACH;
            for (size_t id = 0; id < VOCAB; id++)
                counts->pooled[id] = id == LOST ? 0 : id == LOST + 1 ? 2 * EACH : EACH;
        }
        reject(world, i, "lower");
    }
    expect(world, "equivalent", EXIT_PASS); /* the same token: pre-existing */
    for (int stage = 0; stage < 2; stage++) {
        world->result[1].counts[stage].pooled[LOST] = 2 * EACH;
        world->result[1].counts[stage].pooled[LOST + 1] = 0;
    }
    expect(world, "different", EXIT_FAIL);
    world_free(world);
}

static void more_dependence_does_not_excuse(void **state)
{
    (void)state;
    struct world *world = world_new();
    for (int i = 0; i < 2; i++) {
        reject(world, i, "rows/upper");
        world->result[i].evidence.statistic[0].dependence = true;
        for (int stage = 0; stage < 2; stage++)
            world->result[i].counts[stage].rows = (struct pair_counts){.pairs = 2000, .equal = 1200};
    }
    expect(world, "equivalent", EXIT_PASS);
    for (int stage = 0; stage < 2; stage++)
        world->result[1].counts[stage].rows.equal = 1500;
    expect(world, "different", EXIT_FAIL);
    world_free(world);
}

static void a_second_look_cut_short_fixes_nothing(void **state)
{
    (void)state;
    struct world *world = world_new();
    reject(world, 0, "upper");
    evidence_add(&world->result[1].evidence, &check_registry[1], "upper")->flagged = true;
    world->result[1].state = CELL_STOPPED;
    expect(world, "inconclusive", EXIT_INCONCLUSIVE);
    assert_int_equal(world->change[0].fixed, 0);
    world_free(world);
}

/* What was left out by --cell, --check or --budget makes another plan: neither word may be said of it. */
static void a_part_of_the_plan_is_inconclusive(void **state)
{
    (void)state;
    for (int equal = 0; equal < 2; equal++)
        for (int i = 0; i < 2; i++) {
            struct world *world = world_new();
            if (equal)
                memcpy(world->result[1].token, world->result[0].token, DRAWS * sizeof(int32_t));
            struct plan_cell cells[2] = {world->cell, world->cell};
            struct cell_result results[2][2] = {{world->result[0], world->result[0]},
                                                {world->result[1], world->result[1]}};
            struct cell_change changes[2];
            world->plan.cell = cells;
            world->plan.cells = 2;
            world->session[0].cell = results[0];
            world->session[1].cell = results[1];
            results[i][1].state = CELL_STOPPED;
            struct verdict verdict =
                verdict_compare(&world->session[0], &world->session[1], changes, NULL, false);
            assert_string_equal(verdict.word, "inconclusive");
            results[i][1].state = CELL_RAN;
            results[0][1].selected = results[1][1].selected = false;
            verdict = verdict_compare(&world->session[0], &world->session[1], changes, NULL, false);
            assert_string_equal(verdict.word, "inconclusive");
            world_free(world);
        }
    struct world *world = world_new();
    for (int i = 0; i < 2; i++)
        world->session[i].options.checks = "equivalence";
    expect(world, "equivalent", EXIT_PASS);
    for (int i = 0; i < 2; i++)
        world->session[i].options.checks = "equivalence.support";
    expect(world, "inconclusive", EXIT_INCONCLUSIVE);
    world_free(world);
}

static void a_token_that_differs_beside_the_head_is_not_identical(void **state)
{
    (void)state;
    struct world *world = world_new();
    struct cell_result results[2][2];
    struct plan_cell cells[2] = {world->cell, world->cell};
    struct cell_change changes[2];
    for (int i = 0; i < 2; i++) {
        results[i][0] = results[i][1] = world->result[0]; /* the same tokens */
        results[i][1].heaviest = 0.95;
        world->session[i].cell = results[i];
    }
    world->plan.cell = cells;
    world->plan.cells = 2;
    struct verdict verdict = verdict_compare(&world->session[0], &world->session[1], changes, NULL, false);
    assert_string_equal(verdict.word, "identical");
    results[1][1].token = world->result[1].token; /* one of 4,000 is another */
    verdict = verdict_compare(&world->session[0], &world->session[1], changes, NULL, false);
    assert_string_equal(verdict.word, "equivalent");
    assert_int_equal(changes[1].rows, 0);
    assert_int_equal(changes[1].differ, 1);
    world_free(world);
}

static void what_is_required_must_have_run(void **state)
{
    (void)state;
    const char *const gpu[] = {"gpu", NULL}, *const noise[] = {"noise", NULL};
    for (int i = 0; i < 2; i++) {
        struct world *world = world_new();
        world->session[i].sut.device = "cpu";
        world->session[1 - i].sut.device = "cuda:0 made";
        world->session[1 - i].sut.noise = true;
        for (int n = 0; n < 2; n++) {
            struct verdict verdict =
                verdict_compare(&world->session[0], &world->session[1], world->change, n ? noise : gpu, true);
            assert_string_equal(verdict.word, "fail");
            assert_int_equal(verdict.exit, EXIT_FAIL);
        }
        world->session[i].sut.device = "cuda:0 made";
        struct verdict verdict =
            verdict_compare(&world->session[0], &world->session[1], world->change, gpu, false);
        assert_string_equal(verdict.word, "equivalent");
        world_free(world);
    }
}

static void an_error_of_either_comes_first(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world *world = world_new();
        reject(world, 1, "upper");
        world->result[i].state = CELL_ERROR;
        expect(world, "error", EXIT_FAIL);
        world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_tokens_are_identical),
        cmocka_unit_test(too_few_rows_are_not_identical),
        cmocka_unit_test(certificates_make_equivalent),
        cmocka_unit_test(a_promise_given_up_is_told),
        cmocka_unit_test(a_new_rejection_is_different),
        cmocka_unit_test(an_old_rejection_does_not_block),
        cmocka_unit_test(another_statistic_does_not_excuse),
        cmocka_unit_test(what_only_old_shows_is_fixed),
        cmocka_unit_test(a_new_impossible_id_blocks),
        cmocka_unit_test(another_lost_token_does_not_excuse),
        cmocka_unit_test(more_dependence_does_not_excuse),
        cmocka_unit_test(a_second_look_cut_short_fixes_nothing),
        cmocka_unit_test(a_part_of_the_plan_is_inconclusive),
        cmocka_unit_test(a_token_that_differs_beside_the_head_is_not_identical),
        cmocka_unit_test(what_is_required_must_have_run),
        cmocka_unit_test(an_error_of_either_comes_first),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
