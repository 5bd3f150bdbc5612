/* contrast.c: two directions in which samplers err, each tested with all the power the draws have.
 * temperature: h = log p, the derivative of the law along 1/T.   leak: h = 1/(V p) clipped, a mixture with
 * the uniform law. A contrast too skewed for the normal law at this number of draws is not made. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "suite/checks/check.h"

#define LEAK_CLIP                                                                                            \
    100.0 /* ids lighter than 1 / (100 V) count as that light: keeps the variance finite in far tails */

static void smallest_effect(struct statistic *statistic, const struct check_input *in, const double *h)
{
    bool temperature = statistic->name[0] == 't';
    double effect = (temperature ? contrast_detectable_temperature : contrast_detectable_leak)(
        in->pmf, h, in->vocab, (double)in->counts->draws, BUDGET_STAGE_ONE, BUDGET_POWER);
    snprintf(statistic->smallest_effect, sizeof statistic->smallest_effect,
             temperature ? "a temperature off by %.2g %%" : "a leak of %.2g %%", 100 * effect);
}

static void add(struct evidence *evidence, const struct check *check, const struct check_input *in,
                const double *h, const char *direction)
{
    if (contrast_skew(in->pmf, h, in->vocab, (double)in->counts->draws) > CONTRAST_SKEW_MAX)
        return;
    struct contrast test = contrast_test(in->counts->pooled, in->pmf, h, in->vocab);
    if (!isfinite(test.z))
        return; /* h is constant on the support: nothing to see */
    for (int side = 0; side < 2; side++) {
        char name[40];
        snprintf(name, sizeof name, "%s/%s", direction, side ? "lower" : "upper");
        struct statistic *statistic = evidence_add(evidence, check, name);
        statistic->tail = side ? test.lower : test.upper;
        statistic->value = test.z;
        statistic->expected = 0;
        smallest_effect(statistic, in, h);
        snprintf(statistic->text, sizeof statistic->text,
                 "mean of h %.6g in the draws, %.6g expected (z = %+.2f)", test.observed, test.expected,
                 test.z);
    }
}

void check_contrast(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    double *h = malloc(in->vocab * sizeof *h);
    if (!h)
        abort();
    for (size_t i = 0; i < in->vocab; i++)
        h[i] = in->pmf[i] > 0 ? log(in->pmf[i]) : 0;
    add(evidence, check, in, h, "temperature");
    for (size_t i = 0; i < in->vocab; i++)
        h[i] = in->pmf[i] > 0 ? fmin(1 / ((double)in->vocab * in->pmf[i]), LEAK_CLIP) : 0;
    add(evidence, check, in, h, "leak");
    free(h);
}
