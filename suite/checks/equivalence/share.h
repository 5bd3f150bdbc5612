/* share.h: the smallest change of a share that an exact tail of this many expected draws could have seen. */
#ifndef SAMPLEGATE_SHARE_H
#define SAMPLEGATE_SHARE_H
#include "suite/checks/check.h"

/* Fills in smallest_effect from `expected`; `tests`: how many the level is divided by (Bonferroni). */
void share_effect(struct statistic *statistic, double tests);
#endif
