/* fine.c: chi-square with every id singly that can stand alone.
 * Sees: independent errors of many tokens.   Cannot see: one rare token (see token.c), dependence.
 * Its p-values were checked by simulation to 1e-4 only, so it has its own part of the error budget. */
#include "suite/checks/equivalence/pearson.h"

#define ALL_IDS_SINGLE 32 /* up to here the rank partition holds every id singly already */

void check_fine(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    if (in->vocab > ALL_IDS_SINGLE)
        pearson_add(evidence, check, "upper", STATISTIC_FINE, PEARSON_UPPER,
                    partition_fine(in->pmf, in->vocab, (double)in->counts->draws, in->floor),
                    in->counts->pooled);
}
