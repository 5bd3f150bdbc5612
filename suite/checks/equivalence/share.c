/* share.c: the smallest change of a share that an exact tail of this many expected draws could have seen. */
#include "suite/checks/equivalence/share.h"

#include <math.h>
#include <stdio.h>

void share_effect(struct statistic *statistic, bool upper, double tests)
{
    double step = normal_detectable(BUDGET_STAGE_ONE / tests, 0.999) / 2 / sqrt(statistic->expected);
    char *text = statistic->smallest_effect;
    size_t bytes = sizeof statistic->smallest_effect;
    if (upper && step < 0.4)
        snprintf(text, bytes, "a share %.2g %% too large", 100 * ((1 + step) * (1 + step) - 1));
    else if (upper)
        snprintf(text, bytes, "a share %.2g times too large", (1 + step) * (1 + step));
    else if (step < 1)
        snprintf(text, bytes, "a share %.2g %% too small", 100 * (1 - (1 - step) * (1 - step)));
    else
        snprintf(text, bytes, "nothing: too few draws to miss it");
}
