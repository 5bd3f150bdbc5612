/* test_select_defect.c: test_select rejects selection with a planted defect: bounds of a row's sum without their
 * error, and halves of a unit rounded to even. The build makes one test_select of each.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void rejected(const char *defect)
{
    char path[4096], command[4352], line[1024];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    int other = 0;
    assert_true(length > 0);
    path[length] = 0;
    char *slash = strstr(path, "/kernels/test_select_defect");
    assert_non_null(slash);
    *slash = 0;
    snprintf(command, sizeof command, "exec '%s/%s' 2>&1", path, defect);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out))
        other |=
            strstr(line, ": other ") != NULL || strstr(line, ": runtime error: "); /* UBSan comes first */
    const int status = pclose(out);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) > 0);
    assert_true(other);
}

static void sum_without_error(void **state)
{
    (void)state;
    rejected("select-defect-sum");
}

static void halves_to_even(void **state)
{
    (void)state;
    rejected("select-defect-halves");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_without_error),
        cmocka_unit_test(halves_to_even),
    };
    return cmocka_run_group_tests_name("select, planted defects", tests, NULL, NULL);
}
