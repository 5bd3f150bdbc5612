/* regularity.c: the lower tail of chi-square over ranks and over ids.
 * Sees: noise that fills the unit interval too evenly (lattices, counters without a hash), which every upper
 * tail passes. */
#include "suite/checks/equivalence/pearson.h"

void check_regularity(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    double draws = (double)in->counts->draws;
    pearson_add(evidence, check, "rank/lower", STATISTIC_PLAIN, PEARSON_LOWER,
                partition_rank(in->pmf, in->vocab, draws, in->floor), in->counts->pooled);
    pearson_add(evidence, check, "id/lower", STATISTIC_PLAIN, PEARSON_LOWER,
                partition_id(in->pmf, in->vocab, draws, in->floor), in->counts->pooled);
}
