/* share.c: the smallest change of a share that an exact tail of this many expected draws could have seen. */
#include "suite/checks/equivalence/share.h"

#include <math.h>
#include <stdio.h>

void share_effect(struct statistic *statistic, double tests)
{
    double change = normal_detectable(BUDGET_STAGE_ONE / tests, 0.999) / sqrt(statistic->expected);
    if (change < 1)
        snprintf(statistic->smallest_effect, sizeof statistic->smallest_effect, "a share off by %.2g %%",
                 100 * change);
    else
        snprintf(statistic->smallest_effect, sizeof statistic->smallest_effect,
                 "a share %.2g times too large", 1 + change);
}
