/* plan.h: what a run does, written before the run; the SHA-256 of the file's bytes is in every result. */
#ifndef SAMPLEGATE_PLAN_H
#define SAMPLEGATE_PLAN_H
#include <stddef.h>
#include <stdint.h>
#include "suite/oracle/parameters.h"
#include "suite/oracle/table.h"

#define PLAN_BATCHES_MAX 8
#define PLAN_CHUNK_DRAWS_MAX 65536

enum cell_family {
    FAMILY_EQUIVALENCE, /* draws are counted */
    FAMILY_AGREEMENT,   /* draws on shared noise are compared */
    FAMILY_BOUNDARY,    /* this and what follows: a script (suite/checks/family.h) */
    FAMILY_DETERMINISM,
    FAMILY_DEPENDENCE,
    FAMILY_REPLAY,
    FAMILY_PREDICATE,
    FAMILY_DEFAULTS,
    FAMILIES
};
extern const char *const cell_family_names[FAMILIES + 1]; /* ends in NULL */

enum cell_certify {
    CERTIFY_NONE,
    CERTIFY_IDS,
    CERTIFY_BINS,
    CERTIFY_IDS_ASYMPTOTIC /* stats/certificate.h */
};

/* A share of a cell's draws made at one batch size: numerator / denominator; the shares of a plan sum to 1.
 */
struct plan_batch {
    uint32_t size;
    uint64_t numerator, denominator;
};

struct plan_cell {
    enum cell_family family;
    char name[64];             /* letters, digits, '-', '.', '_'; unique in the plan */
    const struct table *table; /* of the plan; NULL where the family's golden holds the rows */
    double temperature;        /* 1 if absent */
    uint64_t draws;            /* of the first stage; 0 where the family's golden decides */
    size_t pad;                /* columns behind the vocabulary of every row; 0: one dense row */
    double epsilon;            /* the total variation that still counts as equivalent */
    enum cell_certify certify;
    char published[32]; /* a figure to print beside ours, or "" */
    bool parametered;   /* family equivalence: filters, penalties, biases or bans are asked for */
    struct law_parameters parameters;
};

struct plan {
    char name[64];
    char given[4096]; /* as the user named it: NAME or FILE, for messages that say what to type */
    char sha256[65];
    char golden_dir[4096]; /* where it may look for expectations */
    uint64_t seed;
    struct plan_batch batch[PLAN_BATCHES_MAX];
    size_t batches;
    struct table *table;
    size_t tables;
    struct plan_cell *cell;
    size_t cells;
};

/* Engines compute in fp32: beyond it (or, if `positive`, where it rounds to 0) no sampler can do what is asked, and the plan
 * is wrong, not the sampler. */
bool plan_fits_fp32(double value, bool positive);
/* The path of a plan's file. exit 2, with the plans there are, if a NAME is none of them; shipped plans for `samplegate
 * bench` are called bench-SOMETHING. */
int plan_find(const char *name_or_file, const char *golden_dir, bool bench, char *path, size_t bytes,
              struct trouble *trouble);
/* NAME (of golden_dir/plans/NAME.json) or FILE (a word with '/' or ending in .json). Owned: plan_free. */
int plan_load(struct plan *plan, const char *name_or_file, const char *golden_dir, struct trouble *trouble);
void plan_free(struct plan *plan);

/* One chunk: a fixed slice of a cell's draws at one batch size. */
struct plan_chunk {
    size_t cell, batch; /* indices */
    int stage;          /* 1 or 2 */
    uint64_t index;     /* within (cell, stage, batch) */
    uint64_t draws;
    uint64_t seed; /* plan_seed of "batch size/index" */
};

/* The first 63 bits of SHA-256("plan_sha256/seed/cell name/stage/what"): big-endian: any
 * signed 64-bit seed holds it. */
uint64_t plan_seed(const struct plan *plan, const struct plan_cell *cell, int stage, const char *what);

/* All chunks of one cell and stage (stage two draws twice as much), in order of batch, then index. A chunk
 * has min(65536, 2^28 / vocab) draws rounded down to a multiple of 64 (64 at least; agreement cells: 2^23 /
 * vocab, since they carry their noise); the last of a batch may be shorter. Draws of a batch: the share
 * rounded down, the remainder going to the last. Owned: free. */
struct plan_chunk *plan_chunks(const struct plan *plan, size_t cell, int stage, size_t *count);
#endif
