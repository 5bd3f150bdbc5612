/* test_certificate.c: a certificate over all ids refuses what the bins let pass: ids that trade mass with their neighbours.
 * Only the support is tested here, so that no statistic speaks first. */
#include "suite/cli/child.h"

/* 420,000 draws: what the planning arithmetic gives for 2,000 flat ids at 0.02, and a tenth more. */
static void run(const char *certify, const char *sut)
{
    child_start(
        "echo '{\"schema\":\"samplegate-plan-1\",\"name\":\"flat\",\"notes\":\"\",\"seed\":\"1\",\"batches\":"
        "[{\"size\":64,\"share\":\"1\"}],\"tables\":[{\"name\":\"flat\",\"kind\":\"flat\",\"vocab\":2000}],"
        "\"cells\":[{\"family\":\"equivalence\",\"name\":\"flat\",\"table\":\"flat\",\"draws\":420000,"
        "\"epsilon\":0.02,\"certify\":\"%s\"}]}' > flat.json; "
        "\"$B\"/samplegate run --plan ./flat.json --check equivalence.support --out out --sut %s",
        certify, sut);
}

static void over_all_ids(void **state)
{
    (void)state;
    run("ids-asymptotic", "reference");
    child_judged(0, " all ids~  0.02   certified");
    assert_non_null(strstr(child.out, "  ~: asymptotic, "));
    assert_non_null(strstr(child.out, "over all ids, of wide ones asymptotically"));
    run("ids-asymptotic", "\"$B\"/mutants.so,id=ripple");
    child_judged(3, " all ids~  0.02   inconclusive");
}

static void over_bins(void **state)
{
    (void)state;
    run("bins", "\"$B\"/mutants.so,id=ripple");
    child_judged(0, " 20 bins   0.02   certified");
    assert_null(strstr(child.out, "~"));
}

static void results_say_which(void **state)
{
    (void)state;
    run("ids-asymptotic", "reference > said; cat out/results.jsonl");
    child_judged(0, "\"over\":\"ids\",\"asymptotic\":true,\"resolution\":2000,\"epsilon\":0.02,"
                    "\"certify\":\"ids-asymptotic\",\"certified\":true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_all_ids),
        cmocka_unit_test(over_bins),
        cmocka_unit_test(results_say_which),
    };
    return cmocka_run_group_tests_name("cli/certificate", tests, child_scratch, child_sweep);
}
