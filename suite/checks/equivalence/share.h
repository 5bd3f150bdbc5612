/* share.h: the smallest change of a share that an exact tail of this many expected draws could have seen. */
#ifndef SAMPLEGATE_SHARE_H
#define SAMPLEGATE_SHARE_H
#include "suite/checks/check.h"

/* Fills in smallest_effect from `expected`, for the side that sees too much (upper) or too little; `tests`:
 * how many the level is divided by (Bonferroni). From 2 (sqrt X - sqrt E), which is nearly standard normal
 * for any count. */
void share_effect(struct statistic *statistic, bool upper, double tests);
#endif
