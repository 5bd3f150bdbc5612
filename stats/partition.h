/* partition.h: ways to gather the ids of a vocabulary into cells before testing or bounding.
 *
 * Power comes from the partition more than from the number of draws: rank cells see temperature and tails, id cells see
 * index-order defects, fine cells see independent per-token errors. Cells are made from the pmf and the planned number
 * of draws, never from the observed counts. Ids of probability 0 are in no cell (the support test has them). */
#ifndef SAMPLEGATE_PARTITION_H
#define SAMPLEGATE_PARTITION_H
#include <stddef.h>
#include <stdint.h>

#define PARTITION_NONE UINT32_MAX /* cell_of of an id with probability 0 */

struct partition {
    size_t vocab, cells;
    uint32_t *cell_of; /* [vocab] */
    double *mass;      /* [cells], sums to 1 up to rounding */
};

/* pmf[vocab] sums to 1; draws: planned; floor: least expected count of a cell (20 in stage one, 50 in stage two).
 * A vocabulary too poor for two cells gives one cell (and no test). Owned: partition_free. NULL: out of memory. */
struct partition *partition_rank(const double *pmf, size_t vocab, double draws, double floor); /* 32 heaviest singly, then 4 cells a doubling of rank */
struct partition *partition_id(const double *pmf, size_t vocab, double draws, double floor);   /* 128 contiguous id blocks of equal mass */
struct partition *partition_fine(const double *pmf, size_t vocab, double draws, double floor); /* every id that reaches the floor singly, the rest pooled along rank */
struct partition *partition_ids(const double *pmf, size_t vocab);  /* every id of positive probability is a cell */
/* The certificate's bins: the four heaviest ids singly, then by octave of p, a bin heavier than 1/16 cut into id blocks
 * of equal mass, 64 at most (lightest octaves pooled). */
struct partition *partition_bins(const double *pmf, size_t vocab);
void partition_free(struct partition *partition);

/* observed[cells] = sums of counts[vocab]. */
void partition_count(const struct partition *partition, const uint64_t *counts, uint64_t *observed);
#endif
