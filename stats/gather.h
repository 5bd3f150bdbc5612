/* gather.h: the steps that every partition is made of. Internal to stats/. */
#ifndef SAMPLEGATE_GATHER_H
#define SAMPLEGATE_GATHER_H
#include "stats/partition.h"

struct ranked {
    double p;
    uint32_t id;
};

/* Ids of positive probability, heaviest first, ties by id: ranked[*live]. Owned: free. NULL: out of memory.
 */
struct ranked *gather_ranking(const double *pmf, size_t vocab, size_t *live);

/* A partition being filled, one open cell at a time. */
struct gather {
    struct partition *partition;
    double open;     /* mass of the cell being filled */
    double smallest; /* mass below which a cell may not be closed */
};

/* partition->cell_of all PARTITION_NONE, no cells. NULL partition: out of memory. */
struct gather gather_begin(size_t vocab, double smallest);
void gather_add(struct gather *gather, uint32_t id, double p);
/* Closes the open cell if it is heavy enough. */
void gather_close(struct gather *gather);
/* Closes what is open, merging it into the cell before if it is too light. Returns the partition. */
struct partition *gather_end(struct gather *gather);
#endif
