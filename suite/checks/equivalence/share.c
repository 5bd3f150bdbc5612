/* share.c: the smallest change of a share that an exact tail could have seen, in words. */
#include "suite/checks/equivalence/share.h"

#include <math.h>
#include <stdio.h>

#define DOUBLE 1.96 /* from about here a factor is easier to read than per cent */

void share_effect(struct statistic *statistic, bool upper, double tests)
{
    double factor = (upper ? share_detectable_upper : share_detectable_lower)(
        statistic->expected, BUDGET_STAGE_ONE / tests, BUDGET_POWER);
    char *text = statistic->smallest_effect;
    size_t bytes = sizeof statistic->smallest_effect;
    if (isnan(factor))
        snprintf(text, bytes, "nothing: too few draws to miss it");
    else if (factor > DOUBLE)
        snprintf(text, bytes, "a share %.2g times too large", factor);
    else
        snprintf(text, bytes, "a share %.2g %% too %s", 100 * fabs(factor - 1), upper ? "large" : "small");
}
