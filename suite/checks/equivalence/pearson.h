/* pearson.h: one chi-square of a cell's counts over a partition, as a statistic: shared by the checks that
 * differ only in the partition or the side. */
#ifndef SAMPLEGATE_PEARSON_H
#define SAMPLEGATE_PEARSON_H
#include "stats/partition.h"
#include "suite/checks/check.h"

enum pearson_side { PEARSON_UPPER, PEARSON_LOWER };

/* Takes ownership of the partition; adds nothing if it has fewer than two cells. */
void pearson_add(struct evidence *evidence, const struct check *check, const char *name,
                 enum statistic_kind kind, enum pearson_side side, struct partition *partition,
                 const uint64_t *counts);
#endif
