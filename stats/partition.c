/* partition.c: gathers the ids of a vocabulary into cells for testing, from the pmf and the planned draws
 * alone.
 *
 * Sees:         nothing by itself; it decides what the chi-square sees: rank cells temperature and
 *               tails, id cells index order, fine cells one token at a time.
 * Cannot see:   observed counts, so a token that never came cannot drop out of the test.
 * False alarms: the floor on the expected count keeps the chi-square's.
 * Source:       Cochran (1954) for pooling; the floors are in error_budget.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/gather.h"
#include "stats/partition.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define RANK_SINGLE 32 /* heaviest ids that are offered as cells of their own */
#define RANK_STEP 8    /* width of the first four cells after them; it doubles with the rank */
#define ID_BLOCKS 128.0
#define ROUNDING 1e-9 /* 400 * 0.05 may fall short of 20, and 64 / 128 of a half, by a rounding */

static double smallest_mass(double draws, double least)
{
    return draws > 0 ? least / draws * (1 - ROUNDING) : INFINITY;
}

/* Cells along rank, closed after each rank (fine) or where four cells a doubling of rank end. */
static struct partition *along_rank(const double *pmf, size_t vocab, double smallest, bool fine)
{
    size_t live, step = RANK_STEP;
    struct ranked *ranked = gather_ranking(pmf, vocab, &live);
    struct gather gather = gather_begin(vocab, smallest);
    if (!ranked || !gather.partition) {
        free(ranked);
        partition_free(gather.partition);
        return NULL;
    }
    for (size_t i = 0; i < live; i++) {
        size_t rank = i + 1;
        gather_add(&gather, ranked[i].id, ranked[i].p);
        while (rank > 8 * step)
            step *= 2;
        if (fine || rank <= RANK_SINGLE || rank % step == 0)
            gather_close(&gather);
    }
    free(ranked);
    return gather_end(&gather);
}

struct partition *partition_rank(const double *pmf, size_t vocab, double draws, double least)
{
    return along_rank(pmf, vocab, smallest_mass(draws, least), false);
}

struct partition *partition_fine(const double *pmf, size_t vocab, double draws, double least)
{
    return along_rank(pmf, vocab, smallest_mass(draws, least), true);
}

struct partition *partition_id(const double *pmf, size_t vocab, double draws, double least)
{
    struct gather gather = gather_begin(vocab, smallest_mass(draws, least));
    double before = 0, block = 1;
    if (!gather.partition)
        return NULL;
    for (size_t id = 0; id < vocab; id++) {
        if (!(pmf[id] > 0))
            continue;
        gather_add(&gather, (uint32_t)id, pmf[id]);
        before += pmf[id];
        /* A heavy id may pass several block ends at once; they are one. */
        double passed = before * ID_BLOCKS + ROUNDING;
        if (passed >= block && block < ID_BLOCKS) {
            gather_close(&gather);
            block = floor(passed) + 1;
        }
    }
    return gather_end(&gather);
}

struct partition *partition_ids(const double *pmf, size_t vocab)
{
    struct gather gather = gather_begin(vocab, 0);
    if (!gather.partition)
        return NULL;
    for (size_t id = 0; id < vocab; id++) {
        if (pmf[id] > 0) {
            gather_add(&gather, (uint32_t)id, pmf[id]);
            gather_close(&gather);
        }
    }
    return gather_end(&gather);
}

void partition_free(struct partition *partition)
{
    if (!partition)
        return;
    free(partition->cell_of);
    free(partition->mass);
    free(partition);
}

void partition_count(const struct partition *partition, const uint64_t *counts, uint64_t *observed)
{
    for (size_t k = 0; k < partition->cells; k++)
        observed[k] = 0;
    for (size_t id = 0; id < partition->vocab; id++) {
        if (partition->cell_of[id] != PARTITION_NONE)
            observed[partition->cell_of[id]] += counts[id];
    }
}
