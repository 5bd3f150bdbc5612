/* rank.c: chi-square over ranks.
 * Sees: temperature, leaks, truncated tails.   Cannot see: single tokens, index-order defects, dependence. */
#include "suite/checks/equivalence/pearson.h"

void check_rank(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    pearson_add(evidence, check, "upper", STATISTIC_PLAIN, PEARSON_UPPER,
                partition_rank(in->pmf, in->vocab, (double)in->counts->draws, in->floor), in->counts->pooled);
}
