/* test_candidates_defect.c: filters with a planted defect lose winners, and near_inputs.h shows it: without the
 * words for rounding, and without the tie rule. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernels/near_inputs.h"

extern const struct loops loops_defect_words, loops_defect_ties;

static void defect_shows(const struct loops *loops, enum sampler_rule rule)
{
    const char *exhaustive = getenv("SAMPLEGATE_EXHAUSTIVE");
    const size_t inputs = exhaustive && *exhaustive == '0' ? 20000 : 60000;
    const struct near_result result = near_run(loops, loops_of("baseline"), rule, inputs);
    print_message("%s, %s: %zu near inputs, %zu winners at the bound, %zu differences\n", loops->name,
                  sampler_rule_name(rule), result.inputs, result.winners, result.differences);
    assert_true(result.differences > 0);
}

static void no_words(void **state)
{
    (void)state;
    defect_shows(&loops_defect_words, RULE_TORCH_RACE);
}

static void no_tie_rule(void **state)
{
    (void)state;
    defect_shows(&loops_defect_ties, RULE_RACE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_words),
        cmocka_unit_test(no_tie_rule),
    };
    return cmocka_run_group_tests_name("candidates, planted defects", tests, NULL, NULL);
}
