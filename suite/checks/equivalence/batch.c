/* batch.c: the rank chi-square once more for each batch size alone.
 * Sees: noise shared by the rows of a batch (counts scatter too much), kernels that are wrong at one batch
 * size only. */
#include <stdio.h>

#include "suite/checks/equivalence/pearson.h"

void check_batch(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    for (size_t b = 0; b < in->counts->batches; b++) {
        char name[40];
        snprintf(name, sizeof name, "batch-%u/upper", in->plan->batch[b].size);
        pearson_add(evidence, check, name, STATISTIC_PLAIN, PEARSON_UPPER,
                    partition_rank(in->pmf, in->vocab, (double)in->counts->batch_draws[b], in->floor),
                    in->counts->batch[b]);
    }
}
