/* test_plan.c: the shipped plans load, and each way to get a plan wrong is refused in words that help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "suite/judge/plan.h"

#define GOLDEN SAMPLEGATE_SOURCE_DIR "/golden"

static const char good[] =
    "{\"schema\": \"samplegate-plan-1\", \"name\": \"mine\", \"notes\": \"n\", \"seed\": "
    "\"18446744073709551615\",\n"
    "\"batches\": [{\"size\": 1, \"share\": \"1/3\"}, {\"size\": 65536, \"share\": \"2/3\"}],\n"
    "\"tables\": [{\"name\": \"two\", \"kind\": \"flat\", \"vocab\": 2}, {\"name\": \"six\", \"kind\": "
    "\"flat\", \"vocab\": 6}],\n"
    "\"cells\": [{\"family\": \"equivalence\", \"name\": \"a\", \"table\": \"six\", \"temperature\": 0.7, "
    "\"draws\": 1000000000, "
    "\"epsilon\": 0.01, \"certify\": \"bins\", \"published\": \"0.0023\", \"pad\": 65536},\n"
    "{\"family\": \"agreement\", \"name\": \"b\", \"table\": \"two\", \"draws\": 7}]}";

static char path[] = "/tmp/samplegate-plan-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int drop_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* Load `good` with the first `from` replaced by `to`. */
static int load_changed(struct plan *plan, const char *from, const char *to, struct trouble *trouble)
{
    const char *place = strstr(good, from);
    if (!place)
        fail_msg("%s is not in the plan", from);
    FILE *file = fopen(path, "w");
    if (!file)
        fail_msg("%s cannot be written", path);
    fprintf(file, "%.*s%s%s", (int)(place - good), good, to, place + strlen(from));
    fclose(file);
    return plan_load(plan, path, GOLDEN, trouble);
}

static void shipped_plans(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t tables, cells_at_least;
    } plans[] = {{"quick", 7, 8}, {"gate", 14, 17}, {"pair", 8, 8}, {"published-38117", 3, 5}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct plan plan;
        struct trouble trouble = {0};
        if (plan_load(&plan, plans[i].name, GOLDEN, &trouble))
            fail_msg("%s", trouble.text);
        assert_string_equal(plan.name, plans[i].name);
        assert_true(plan.tables >= plans[i].tables && plan.cells >= plans[i].cells_at_least);
        plan_free(&plan);
    }
}

static void every_field(void **state)
{
    (void)state;
    struct plan plan;
    struct trouble trouble = {0};
    if (load_changed(&plan, "mine", "mine", &trouble))
        fail_msg("%s", trouble.text);
    assert_string_equal(plan.name, "mine");
    assert_true(plan.seed == UINT64_MAX);
    assert_int_equal(plan.batches, 2);
    assert_int_equal(plan.batch[1].size, 65536);
    assert_int_equal(plan.batch[1].numerator, 2);
    assert_int_equal(plan.batch[1].denominator, 3);
    assert_int_equal(plan.tables, 2);
    assert_int_equal(plan.cells, 2);
    const struct plan_cell *a = &plan.cell[0], *b = &plan.cell[1];
    assert_true(a->family == FAMILY_EQUIVALENCE && a->certify == CERTIFY_BINS && a->temperature == 0.7);
    assert_true(a->epsilon == 0.01 && a->draws == 1000000000 && a->table == &plan.table[1]);
    assert_string_equal(a->name, "a");
    assert_true(a->pad == 65536 && b->pad == 0);
    assert_string_equal(a->published, "0.0023");
    assert_true(b->family == FAMILY_AGREEMENT && b->certify == CERTIFY_NONE && b->temperature == 1);
    assert_true(b->draws == 7 && b->table == &plan.table[0]);
    assert_string_equal(b->published, "");
    plan_free(&plan);
    assert_null(plan.cell);
}

/* The hash is of the file's bytes, not of its values: one more byte that changes no value changes it. */
static void hash_of_bytes(void **state)
{
    (void)state;
    struct plan first, same, other;
    struct trouble trouble = {0};
    assert_int_equal(load_changed(&first, "mine", "mine", &trouble), 0);
    assert_int_equal(load_changed(&same, "mine", "mine", &trouble), 0);
    assert_int_equal(load_changed(&other, "0.7", "0.70", &trouble), 0);
    assert_int_equal(strspn(first.sha256, "0123456789abcdef"), 64);
    assert_string_equal(first.sha256, same.sha256);
    assert_string_not_equal(first.sha256, other.sha256);
    plan_free(&first);
    plan_free(&same);
    plan_free(&other);
}

static void bad_plans_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *what;
    } bad[] = {
        {"samplegate-plan-1", "samplegate-plan-2",
         "schema: \"samplegate-plan-2\" is unknown; accepted: samplegate-plan-1"},
        {"\"notes\"", "\"note\"",
         "unknown key \"note\"; accepted: schema, name, notes, seed, batches, tables, cells"},
        {"\"n\"", "5", "notes: must be a string"},
        {"\"mine\"", "\"my plan\"", "\"name\" must be 1 to 63 letters, digits, '-', '.' or '_'"},
        {"\"18446744073709551615\"", "38117", "seed: must be a string"},
        {"18446744073709551615", "-1", "seed: must be a decimal integer"},
        {"\"seed\": \"18446744073709551615\",", "", "\"seed\" is missing"},
        {"\"size\": 1,", "\"size\": 0,", "batches[0].size: must be an integer from 1 to 65536, is 0"},
        {"65536", "65537", "batches[1].size: must be an integer from 1 to 65536, is 65537"},
        {"65536", "1", "batches[1]: size 1 is there already"},
        {"\"size\": 1,", "\"size\": 1, \"sise\": 1,",
         "batches[0]: unknown key \"sise\"; accepted: size, share"},
        {"1/3", "1/4", "the shares must sum to exactly 1, they sum to 11/12"},
        {"1/3", "333333/1000000", "the shares must sum to exactly 1"},
        {"1/3", "1", "the shares must sum to exactly 1, they sum to 5/3"},
        {"1/3", "0/3", "batches[0]: \"share\" must be \"1\" or a fraction such as \"3/8\""},
        {"1/3", "4/3", "batches[0]: \"share\" must be"},
        {"1/3", "1/0", "batches[0]: \"share\" must be"},
        {"1/3", "1/1000001", "batches[0]: \"share\" must be"},
        {"1/3", "1/3 ", "batches[0]: \"share\" must be"},
        {"1/3", "-1/3", "batches[0]: \"share\" must be"},
        {"1/3", "0.333", "batches[0]: \"share\" must be"},
        {"1/3", "1/", "batches[0]: \"share\" must be"},
        {"1/3", "", "batches[0]: \"share\" must be"},
        {"1/3", "18446744073709551617/3", "batches[0]: \"share\" must be"},
        {"[{\"size\": 1, \"share\": \"1/3\"}, {\"size\": 65536, \"share\": \"2/3\"}]", "[]",
         "batches: must have 1 to 8 entries, has 0"},
        {"[{\"size\": 1, \"share\": \"1/3\"}, {\"size\": 65536, \"share\": \"2/3\"}]",
         "[{\"size\":1,\"share\":\"1/999983\"},{\"size\":2,\"share\":\"1/999979\"},{\"size\":3,\"share\":\"1/"
         "999961\"},"
         "{\"size\":4,\"share\":\"1/999959\"}]",
         "common denominator is beyond 2^61"},
        {"\"six\", \"kind\"", "\"two\", \"kind\"", "tables[1]: a table named \"two\" is there already"},
        {"\"vocab\": 6", "\"vocab\": 0", "tables[1].vocab: must be an integer from 1 to 1048576, is 0"},
        {"\"family\": \"equivalence\"", "\"family\": \"equivalent\"",
         "cells[0].family: \"equivalent\" is unknown; accepted: equivalence, agreement"},
        {"\"table\": \"six\"", "\"table\": \"seven\"",
         "cells[0]: \"table\" names no table of this plan; its tables are: two, six"},
        {"\"name\": \"b\"", "\"name\": \"a\"", "cells[1]: a cell named \"a\" is there already"},
        {"\"name\": \"b\"", "\"name\": \"b/c\"", "cells[1]: \"name\" must be 1 to 63 letters"},
        {"1000000000", "1000000001",
         "cells[0].draws: must be an integer from 1 to 1000000000, is 1000000001"},
        {"\"draws\": 7", "\"draws\": 0", "cells[1].draws: must be an integer"},
        {"\"draws\": 7", "\"draw\": 7",
         "cells[1]: unknown key \"draw\"; accepted: family, name, table, temperature, draws, published"},
        {", \"draws\": 7", "", "cells[1]: \"draws\" is missing"},
        {"\"draws\": 7", "\"draws\": 7, \"epsilon\": 0.1", "cells[1]: unknown key \"epsilon\""},
        {"\"draws\": 7", "\"draws\": 7, \"certify\": \"none\"", "cells[1]: unknown key \"certify\""},
        {"\"epsilon\": 0.01, ", "", "cells[0]: \"epsilon\" is missing"},
        {"0.01", "0", "cells[0]: \"epsilon\" must be above 0 and below 1, is 0"},
        {"0.01", "1", "cells[0]: \"epsilon\" must be above 0 and below 1, is 1"},
        {"0.01", "-0.01", "cells[0].epsilon: must be from 0 to 1"},
        {"\"certify\": \"bins\", ", "", "cells[0]: \"certify\" is missing"},
        {"\"pad\": 65536", "\"pad\": 65537", "cells[0].pad: must be an integer from 1 to 65536, is 65537"},
        {"\"pad\": 65536", "\"pad\": 0", "cells[0].pad: must be an integer from 1 to 65536, is 0"},
        {"\"pad\": 65536", "\"pad\": 1.5", "cells[0].pad: must be an integer"},
        {"\"draws\": 7", "\"draws\": 7, \"pad\": 3", "cells[1]: unknown key \"pad\""},
        {"\"bins\"", "\"all\"", "cells[0].certify: \"all\" is unknown; accepted: none, ids, bins, ids-asymptotic"},
        {"0.7", "0", "cells[0]: \"temperature\" must be above 0"},
        {"0.7", "-1", "cells[0].temperature: must be from 0"},
        {"0.7", "1e-60", "cells[0]: \"temperature\" must be what fp32 can hold"},
        {"0.7", "1e60", "cells[0]: \"temperature\" must be what fp32 can hold"},
        {"\"family\": \"agreement\", \"name\": \"b\", \"table\": \"two\", \"draws\": 7",
         "\"family\": \"dependence\", \"name\": \"b\", \"table\": \"two\", \"draws\": 1048577",
         "cells[1].draws: must be an integer from 1 to 1048576, is 1048577"},
        {"0.7", "\"hot\"", "cells[0].temperature: must be a number, is a string"},
        {"0.7", "1e999", ":4:81: 1e999 is larger than a double can hold"},
        {"\"0.0023\"", "0.0023", "cells[0].published: must be a string"},
        {"0.0023", "0.00230000000000000000000000000000", "cells[0]: \"published\" may have at most 31 bytes"},
        {"\"seed\"", "\"name\"", ":1:63: key \"name\" is already in this object"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct plan plan;
        struct trouble trouble = {0};
        if (load_changed(&plan, bad[i].from, bad[i].to, &trouble) != -1)
            fail_msg("%s instead of %s was accepted", bad[i].to, bad[i].from);
        assert_int_equal(trouble.exit, EXIT_USAGE);
        if (!strstr(trouble.text, bad[i].what) || strncmp(trouble.text, path, strlen(path)) != 0)
            fail_msg("%s: expected %s, got %s", bad[i].to, bad[i].what, trouble.text);
        assert_null(plan.table);
        assert_null(plan.cell);
    }
}

/* Shares that no binary fraction holds sum to exactly 1. */
static void thirds_accepted(void **state)
{
    (void)state;
    struct plan plan;
    struct trouble trouble = {0};
    assert_int_equal(load_changed(&plan, "{\"size\": 65536, \"share\": \"2/3\"}",
                                  "{\"size\": 2, \"share\": \"1/7\"}, {\"size\": 3, \"share\": \"11/21\"}",
                                  &trouble),
                     0);
    assert_int_equal(plan.batches, 3);
    plan_free(&plan);
}

static void unknown_plan(void **state)
{
    (void)state;
    struct plan plan;
    struct trouble trouble = {0};
    assert_int_equal(plan_load(&plan, "gaet", GOLDEN, &trouble), -1);
    assert_int_equal(trouble.exit, EXIT_USAGE);
    assert_non_null(strstr(trouble.text, "no plan \"gaet\" in " GOLDEN "/plans; there are: "));
    assert_non_null(strstr(trouble.text, "gate, pair, published-38117, quick"));
    trouble = (struct trouble){0};
    assert_int_equal(plan_load(&plan, "gate", "/nonexistent", &trouble), -1);
    assert_non_null(strstr(trouble.text, "/nonexistent/plans: No such file or directory"));
    trouble = (struct trouble){0};
    assert_int_equal(plan_load(&plan, "gaet.json", GOLDEN, &trouble), -1);
    assert_string_equal(trouble.text, "gaet.json: cannot be read: No such file or directory");
}

/* The error budget has room for 50 cells; agreement cells cost none of it. */
static void more_cells_than_the_budget_holds_are_refused(void **state)
{
    (void)state;
    for (int cells = 50; cells <= 51; cells++) {
        char name[] = "/tmp/samplegate-plan-XXXXXX.json";
        int fd = mkstemps(name, 5);
        FILE *file = fdopen(fd, "w");
        assert_non_null(file);
        fprintf(file, "{\"schema\":\"samplegate-plan-1\",\"name\":\"many\",\"seed\":\"1\","
                      "\"batches\":[{\"size\":1,\"share\":\"1\"}],"
                      "\"tables\":[{\"name\":\"two\",\"kind\":\"flat\",\"vocab\":2}],\"cells\":["
                      "{\"family\":\"agreement\",\"name\":\"noise\",\"table\":\"two\",\"draws\":1}");
        for (int i = 0; i < cells; i++)
            fprintf(file,
                    ",{\"family\":\"equivalence\",\"name\":\"c%d\",\"table\":\"two\",\"draws\":1,"
                    "\"epsilon\":0.1,\"certify\":\"none\"}",
                    i);
        fprintf(file, "]}");
        fclose(file);
        struct plan plan;
        struct trouble trouble = {0};
        assert_int_equal(plan_load(&plan, name, "", &trouble), cells == 50 ? 0 : -1);
        if (cells == 51)
            assert_non_null(strstr(trouble.text, "cells[51]: more than 50 cells of family equivalence"));
        plan_free(&plan);
        unlink(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_plans),
        cmocka_unit_test(every_field),
        cmocka_unit_test(hash_of_bytes),
        cmocka_unit_test(bad_plans_refused),
        cmocka_unit_test(thirds_accepted),
        cmocka_unit_test(unknown_plan),
        cmocka_unit_test(more_cells_than_the_budget_holds_are_refused),
    };
    return cmocka_run_group_tests_name("plan", tests, make_file, drop_file);
}
