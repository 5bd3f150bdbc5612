/* near_tie.c: on shared noise a sampler may differ from exact arithmetic only where the two best are nearer
 * than rounding. Sees: probabilities or scores rounded to bf16, a wrong map from noise to token.   Cannot
 * see: whether the noise itself is sound, and fp32 rounding as such (about one row in ten million). No error
 * probability: the bound is computed, not estimated. */
#include <stdio.h>

#include "suite/checks/check.h"

void check_near_tie(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    const struct agreement_counts *counts = in->agreement;
    struct statistic *statistic = evidence_add(evidence, check, "beyond-rounding");
    statistic->tail = (struct tail){1, 1};
    statistic->value = (double)counts->unexplained;
    statistic->violation = counts->unexplained > 0;
    if (statistic->violation)
        snprintf(statistic->text, sizeof statistic->text,
                 "%llu of %llu rows differ beyond rounding; row %llu: token %d, exact %d, gap %.2e nats",
                 (unsigned long long)counts->unexplained, (unsigned long long)counts->rows,
                 (unsigned long long)counts->worst_row, counts->worst_token, counts->worst_exact,
                 counts->worst_gap);
}
