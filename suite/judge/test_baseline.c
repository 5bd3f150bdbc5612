/* test_baseline.c: the verdict on a run that is held against an earlier one, from sessions made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "suite/judge/test_world.h"

static struct verdict run(struct world *world)
{
    return verdict_run(&world->session[1], &world->session[0], world->change, NULL, false);
}

static void a_baseline_excuses_what_it_shows(void **state)
{
    (void)state;
    struct world *world = world_new();
    reject(world, 1, "upper");
    world->result[1].bound.upper = 0.5; /* nothing can be certified of a law that is known to be another */
    struct verdict verdict = verdict_run(&world->session[1], NULL, NULL, NULL, false);
    assert_string_equal(verdict.word, "fail");
    assert_string_equal(run(world).word, "fail"); /* the baseline passes here */
    reject(world, 0, "upper");
    verdict = run(world);
    assert_string_equal(verdict.word, "pass");
    assert_int_equal(verdict.exit, EXIT_PASS);
    assert_int_equal(verdict.preexisting, 1);
    assert_int_equal(world->result[1].evidence.statistic[0].standing, STANDING_PREEXISTING);
    reject(world, 1, "lower");
    verdict = run(world);
    assert_string_equal(verdict.word, "fail");
    assert_non_null(strstr(verdict.sentence, "1 of 2 statistics newly rejected"));
    world_free(world);
}

static void a_baseline_does_not_make_a_certificate(void **state)
{
    (void)state;
    struct world *world = world_new();
    world->result[1].bound.upper = 0.5;
    assert_string_equal(run(world).word, "inconclusive");
    reject(world, 0, "upper"); /* fixed, but not certified */
    evidence_add(&world->result[1].evidence, &check_registry[1], "upper");
    struct verdict verdict = run(world);
    assert_string_equal(verdict.word, "inconclusive");
    assert_int_equal(verdict.fixed, 1);
    world_free(world);
}

/* A violation is settled in stage one; what became of the cell after that makes it worthless. */
static void a_baseline_that_erred_excuses_nothing(void **state)
{
    (void)state;
    struct world *world = world_new();
    for (int i = 0; i < 2; i++) {
        reject(world, i, "impossible");
        world->result[i].evidence.statistic[0].violation = true;
    }
    assert_string_equal(run(world).word, "pass");
    world->result[0].state = CELL_ERROR;
    struct verdict verdict = run(world);
    assert_string_equal(verdict.word, "fail");
    assert_true(world->change[0].unjudged);
    assert_non_null(strstr(verdict.sentence, "1 cell not judged in the baseline"));
    world_free(world);
}

/* Without counts there is nothing to tell two defects apart. */
static void a_violation_of_another_family_is_known_by_name(void **state)
{
    (void)state;
    struct world *world = world_new();
    world->cell.family = FAMILY_AGREEMENT;
    for (int i = 0; i < 2; i++) {
        reject(world, i, "beyond-rounding");
        world->result[i].evidence.statistic[0].violation = true;
    }
    assert_string_equal(run(world).word, "pass");
    reject(world, 1, "another");
    assert_string_equal(run(world).word, "fail");
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_baseline_excuses_what_it_shows),
        cmocka_unit_test(a_baseline_does_not_make_a_certificate),
        cmocka_unit_test(a_baseline_that_erred_excuses_nothing),
        cmocka_unit_test(a_violation_of_another_family_is_known_by_name),
    };
    return cmocka_run_group_tests_name("baseline", tests, NULL, NULL);
}
