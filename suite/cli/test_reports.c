/* test_reports.c: junit.xml and `explain` as a reader of them finds them. */
#include "suite/cli/child.h"

static size_t count(const char *text, const char *words)
{
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
        found++;
    return found;
}

static void contains(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("%s\nis not in\n%s", words, text);
}

static void junit_of_a_failure(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate run --plan quick --cell masked --sut "
                "\"$B\"/mutants.so,id=leak-masked --out fails");
    child_judged(1, "verdict: fail");
    char *xml = read_text("fails/junit.xml");
    contains(xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
    assert_int_equal(count(xml, "<testcase "), 11); /* ten checks of the family, and the verdict */
    assert_int_equal(count(xml, "<failure "), 2);
    contains(xml, "name=\"equivalence.support on masked-1000\">\n    <failure message=\"impossible: id ");
    contains(xml, "failures=\"2\" errors=\"0\" skipped=\"0\"");
    free(xml);
}

static void junit_of_what_was_known(void **state)
{
    (void)state;
    child_start(
        "exec \"$B\"/samplegate compare --plan quick --cell masked --old \"$B\"/mutants.so,id=leak-masked "
        "--new \"$B\"/mutants.so,id=leak-masked --out known --allow-inconclusive");
    child_wait();
    child_expect(0);
    char *xml = read_text("known/junit.xml");
    contains(xml, "<skipped message=\"pre-existing: impossible: id ");
    assert_int_equal(count(xml, "<failure "), 0);
    free(xml);
}

static void junit_quotes_what_xml_reserves(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate run --plan quick --cell peaked --out dies "
                "--sut \"exec:test '<&' != \\\"a\\\" && exec '$B'/fault-worker crash\"");
    child_wait();
    child_expect(1);
    char *xml = read_text("dies/junit.xml");
    contains(xml, "<testsuite name=\"exec:test '&lt;&amp;' != &quot;a&quot; &amp;&amp; exec");
    contains(xml, "<error message=\"");
    free(xml);
}

static void explain_says_who_is_hurt_and_how_much_is_seen(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate explain equivalence.contrast --plan quick");
    child_judged(0, "equivalence.contrast\n  promises ");
    const char *hurt = strstr(child.out, "who is hurt"), *sees = strstr(child.out, "  sees "),
               *effect = strstr(child.out, "a temperature off by ");
    assert_true(hurt && sees && effect && hurt < sees && sees < effect);
    child_start("exec \"$B\"/samplegate explain dependence.seed --plan card");
    child_judged(0, "one draw in ");
    child_start("exec \"$B\"/samplegate explain dependence.seed");
    child_judged(0, "--plan card has cells");
    /* A flat row has fewer draws than ids: an ideal sampler draws all the same. */
    child_start("exec \"$B\"/samplegate explain equivalence --plan gate | grep -A 1 flat-128256");
    child_judged(0, "flat-128256             20000  upper                chi2 distance 4.8e-03");
    assert_null(strstr(child.out, "distance inf"));
    child_start("exec \"$B\"/samplegate explain equivalence.rnak");
    child_refused(2, "equivalence.rank");
    child_start("exec \"$B\"/samplegate explain");
    child_usage("a check is needed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(junit_of_a_failure),
        cmocka_unit_test(junit_of_what_was_known),
        cmocka_unit_test(junit_quotes_what_xml_reserves),
        cmocka_unit_test(explain_says_who_is_hurt_and_how_much_is_seen),
    };
    return cmocka_run_group_tests_name("cli/reports", tests, child_scratch, child_sweep);
}
