/* test_registry.c: the one list of checks is whole: keys, goldens and cells exist, prefixes select what they
 * say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "suite/checks/check.h"

static void every_entry_names_what_exists(void **state)
{
    (void)state;
    struct plan plan = {0};
    struct trouble trouble = {0};
    assert_int_equal(plan_load(&plan, "gate", SAMPLEGATE_SOURCE_DIR "/golden", &trouble), 0);
    for (size_t i = 0; i < check_registry_count; i++) {
        const struct check *check = &check_registry[i];
        char path[4096];
        snprintf(path, sizeof path, SAMPLEGATE_SOURCE_DIR "/golden/%s", check->golden);
        assert_int_equal(access(path, R_OK), 0);
        const char *family = check->family == FAMILY_EQUIVALENCE ? "equivalence." : "agreement.";
        assert_int_equal(strncmp(check->key, family, strlen(family)), 0);
        /* Sentences end in a full stop; kinds of defect are phrases. */
        assert_int_equal(check->sentence[strlen(check->sentence) - 1], '.');
        assert_int_equal(check->effect[strlen(check->effect) - 1], '.');
        assert_null(strchr(check->sees, '.'));
        assert_null(strchr(check->blind, '.'));
        assert_true(strlen(check->sees) > 5 && strlen(check->blind) > 5);
        size_t cell = 0;
        while (cell < plan.cells && strcmp(plan.cell[cell].name, check->mutant_cell))
            cell++;
        assert_true(cell < plan.cells);
        assert_int_equal(plan.cell[cell].family, check->family);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(check->key, check_registry[j].key);
    }
    plan_free(&plan);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_entry_names_what_exists),
                                       cmocka_unit_test(prefixes_end_at_a_dot)};
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
