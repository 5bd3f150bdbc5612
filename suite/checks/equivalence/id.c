/* id.c: chi-square over contiguous blocks of ids of equal mass.
 * Sees: order of ties, drifting cumulative sums, block boundaries.   Cannot see: what happens within a block.
 */
#include "suite/checks/equivalence/pearson.h"

#define ALL_IDS_SINGLE 32 /* up to here the rank partition holds every id singly already */

void check_id(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    if (in->vocab > ALL_IDS_SINGLE)
        pearson_add(evidence, check, "upper", STATISTIC_PLAIN, PEARSON_UPPER,
                    partition_id(in->pmf, in->vocab, (double)in->counts->draws, in->floor),
                    in->counts->pooled);
}
