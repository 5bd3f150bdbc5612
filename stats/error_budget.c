/* error_budget.c: how a run's false-alarm probability is split over its p-values in two stages.
 *
 * Sees:         nothing by itself.
 * Cannot see:   how well each p-value was checked; golden/calibration/ has that.
 * False alarms: m plain statistics at most m * 1e-4 * (5e-3 / m) = 5e-7, 50 fine ones at most 50 * 1e-8
 *               = 5e-7, because the stages use disjoint draws.
 * Source:       Bonferroni within a stage; independence between the stages.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/error_budget.h"
#include <math.h>

double budget_level(int stage, enum statistic_kind kind, size_t plain)
{
    if (stage == 1)
        return BUDGET_STAGE_ONE;
    if (stage != 2)
        return NAN;
    if (kind == STATISTIC_FINE)
        return BUDGET_FINE;
    return BUDGET_STAGE_TWO / (plain > 1 ? (double)plain : 1);
}

double budget_total(size_t plain, size_t fine)
{
    double each_plain = budget_level(1, STATISTIC_PLAIN, plain) * budget_level(2, STATISTIC_PLAIN, plain);
    double each_fine = budget_level(1, STATISTIC_FINE, plain) * budget_level(2, STATISTIC_FINE, plain);
    return (double)plain * each_plain + (double)fine * each_fine;
}
