/* test_kill_table.c: the list of checks and the list of mutants name each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "suite/checks/check.h"
#include "suite/sut/mutants/about.h"
#include "suite/sut/mutants/engines.h"

static const struct mutant_about *(*const tables[])(size_t index) = {mutant_about, engine_mutant_about,
                                                                     vllm_mutant_about};

static const struct mutant_about *mutant_named(const char *id)
{
    const struct mutant_about *about;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; (about = tables[t](i)); i++)
            if (!strcmp(about->id, id))
                return about;
    return NULL;
}

static void a_checks_mutant_is_made_for_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < check_registry_count; i++) {
        const struct check *check = &check_registry[i];
        const struct mutant_about *about = mutant_named(check->mutant);
        if (!about)
            fail_msg("%s names the mutant %s, which there is not", check->key, check->mutant);
        if (!about->check || strcmp(about->check, check->key) != 0)
            fail_msg("%s names the mutant %s, which is for %s", check->key, check->mutant,
                     about->check ? about->check : "no check");
        assert_string_equal(about->cell, check->mutant_cell);
    }
}

static void a_mutant_is_told_from_the_others(void **state)
{
    (void)state;
    const struct mutant_about *about;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        assert_null(tables[t](0)->check);
        for (size_t i = 0; (about = tables[t](i)); i++) {
            assert_ptr_equal(mutant_named(about->id), about);
            assert_int_equal(i > 0, about->check != NULL);
            assert_in_range(about->kind, 0, MUTANT_KINDS - 1);
            assert_int_equal(about->sentence[strlen(about->sentence) - 1], '.');
            assert_true(strlen(about->published) > 3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_checks_mutant_is_made_for_it),
                                       cmocka_unit_test(a_mutant_is_told_from_the_others)};
    return cmocka_run_group_tests_name("kill table", tests, NULL, NULL);
}
