/* share.h: the smallest change of a share that an exact tail could have seen, in words. */
#ifndef SAMPLEGATE_SHARE_H
#define SAMPLEGATE_SHARE_H
#include "suite/checks/check.h"

/* Fills in smallest_effect from `expected`, for the side that sees too much (upper) or too little; `tests`:
 * how many the level is divided by (Bonferroni). */
void share_effect(struct statistic *statistic, bool upper, double tests);
#endif
