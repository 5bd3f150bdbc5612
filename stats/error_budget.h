/* error_budget.h: how a run's false-alarm probability is split over its p-values in two stages.
 *
 * A statistic fails a sampler only when it is rejected twice, the second time on fresh draws, twice as many. With m plain
 * statistics: alpha1 = 1e-4 and alpha2 = 5e-3 / m, so m * alpha1 * alpha2 = 5e-7. Fine partitions, whose p-values were
 * checked by simulation to 1e-4 only, take 1e-4 in both stages and are at most 50 a run: 50 * 1e-8 = 5e-7. Together 1e-6,
 * whatever the dependence between statistics within a stage. */
#ifndef SAMPLEGATE_ERROR_BUDGET_H
#define SAMPLEGATE_ERROR_BUDGET_H
#include <stddef.h>

enum statistic_kind { STATISTIC_PLAIN, STATISTIC_FINE };

#define BUDGET_STAGE_ONE 1e-4   /* alpha1 of every statistic */
#define BUDGET_STAGE_TWO 5e-3   /* alpha2 of m plain statistics, divided by m */
#define BUDGET_FINE 1e-4        /* alpha2 of a fine statistic */
#define BUDGET_FINE_MAX 50      /* fine statistics in a run */
#define BUDGET_CERTIFICATE 1e-6 /* alpha of U */
#define BUDGET_SECOND_DRAWS 2   /* the second stage draws this many times the first */
#define BUDGET_POWER 0.999      /* a smallest effect is one that is seen so often */
#define FLOOR_STAGE_ONE 20.0    /* least expected count of a cell at alpha1 */
#define FLOOR_STAGE_TWO 50.0    /* and at alpha2 */

/* The level at which stage 1 or 2 rejects one statistic of a run with `plain` plain statistics. */
double budget_level(int stage, enum statistic_kind kind, size_t plain);
/* The false-alarm probability of the whole run. */
double budget_total(size_t plain, size_t fine);
#endif
