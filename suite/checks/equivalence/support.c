/* support.c: ids of probability zero must never come.
 * No error probability: one draw is a defect. */
#include <stdio.h>

#include "suite/checks/check.h"

void check_support(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    struct support found = support_test(in->counts->pooled, in->pmf, in->vocab);
    struct statistic *statistic = evidence_add(evidence, check, "impossible");
    statistic->tail = (struct tail){1, 1};
    statistic->value = (double)found.draws;
    statistic->violation = found.draws > 0;
    if (found.draws)
        snprintf(statistic->text, sizeof statistic->text,
                 "id %zu has probability 0 and was drawn (%llu such draws in all)", found.id,
                 (unsigned long long)found.draws);
}
