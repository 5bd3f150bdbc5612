/* check.h: what a check is: a question about the counts of one cell, answered by p-values or by an
 * impossibility.
 *
 * To add one: a file suite/checks/<family>/<check>.c with its evaluate function, the mutant that it kills in
 * suite/sut/mutants/, and one row in <family>/rows.h. */
#ifndef SAMPLEGATE_CHECK_H
#define SAMPLEGATE_CHECK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "stats/error_budget.h"
#include "stats/tests.h"
#include "suite/judge/plan.h"
#include "suite/judge/script.h"

struct sut;

/* Pairs of draws, no draw in two pairs of a kind, and how many were two times the same token. */
struct pair_counts {
    uint64_t pairs, equal;
};

/* Tokens of one cell and stage, counted: integers, so chunks merge in any order. */
struct cell_counts {
    size_t vocab, batches;
    uint64_t *batch[PLAN_BATCHES_MAX]; /* [vocab] each */
    uint64_t *pooled;                  /* [vocab] */
    uint64_t batch_draws[PLAN_BATCHES_MAX], draws;
    struct pair_counts rows;  /* neighbours in one call */
    struct pair_counts calls; /* the same row of two calls, one after the other */
};

/* Shared noise: how the SUT's tokens compare with exact arithmetic on the same noise. */
struct agreement_counts {
    uint64_t rows, mismatches; /* all rows; rows where the token differs from the exact one */
    uint64_t near_ties;        /* rows whose exact gap is within the rounding bound: only these may differ */
    uint64_t
        expected_e12; /* near-tie rows to expect, times 1e12: an integer, so that chunks merge in any order */
    uint64_t unexplained; /* mismatches beyond the bound */
    double worst_gap;     /* nats, of the worst unexplained mismatch */
    uint64_t worst_row;
    int32_t worst_token, worst_exact;
};

/* What a check looks at. */
struct check_input {
    const struct plan *plan;
    const struct plan_cell *cell;
    const double *pmf; /* [vocab] the exact law; NULL without a table */
    size_t vocab;
    int stage;
    double floor;                     /* least expected count of a cell of a partition at this stage */
    const struct cell_counts *counts; /* family equivalence */
    const struct agreement_counts *agreement; /* family agreement */
    const struct script *script;              /* every other family: the answered lines of this stage */
    const struct sut *sut;
};

/* How a statistic stands against an older sampler, or a baseline. */
enum standing {
    STANDING_NONE,
    STANDING_PREEXISTING, /* rejected, but what the old one shows, too */
    STANDING_FIXED        /* what only the old one shows */
};

/* One answer. A violation needs no probability: it cannot happen in a correct sampler. */
struct statistic {
    const struct check *check;
    char name[40]; /* unique within (cell, check): "batch-32/upper" */
    bool violation;
    bool dependence; /* it looks at draws together: once it is rejected, no bound on the law holds */
    bool bound;      /* p is never too small, but not uniform: the worst of many, after Bonferroni */
    enum statistic_kind kind;
    struct tail tail;
    double value, expected;
    char smallest_effect[64]; /* what this statistic could just have seen, or "" */
    char text[400];           /* observed against expected, in words, when it is rejected */
    /* filled in by the judge: */
    double level; /* at which it was rejected or not, in its last stage */
    bool flagged; /* in stage one */
    bool looked_twice;
    bool confirmed; /* in stage two, or at once for a violation */
    struct tail tail2;
    enum standing standing;
};

struct evidence {
    struct statistic *statistic;
    size_t count;
    char damaged
        [256]; /* an expectation that was there when the script was built cannot be read: nothing is judged */
};

/* A zeroed statistic of `check` appended to the list; the pointer is valid until the next call. */
struct statistic *evidence_add(struct evidence *evidence, const struct check *check, const char *name);
/* The statistic of the same check and name, or NULL. */
struct statistic *evidence_find(const struct evidence *evidence, const struct statistic *like);
void evidence_damaged(struct evidence *evidence, const char *why);
void evidence_free(struct evidence *evidence);

struct check {
    const char *key; /* "equivalence.rank": family, dot, name */
    enum cell_family family;
    const char *golden;       /* file under golden/ that holds the expectation */
    const char *mutant;       /* one that this check, run alone, must reject */
    const char *mutant_cell;  /* "PLAN/CELL" where it does */
    const char *sentence;     /* for users: what is promised */
    const char *effect;       /* who is hurt when it is broken, and how */
    const char *sees, *blind; /* kinds of defect it finds, and kinds it cannot */
    void (*evaluate)(const struct check *check, const struct check_input *input, struct evidence *evidence);
};

extern const struct check check_registry[];
extern const size_t check_registry_count;

/* Does the check look at such a cell? Those of a family do, but where each cell is one golden's: that golden's alone. */
bool check_looks_at(const struct check *check, const struct plan_cell *cell);
/* Does a --check PREFIX select this key? "" selects all; a prefix ends at a dot or at the key's end. */
bool check_selected(const struct check *check, const char *prefix);

void check_support(const struct check *, const struct check_input *, struct evidence *);
void check_rank(const struct check *, const struct check_input *, struct evidence *);
void check_id(const struct check *, const struct check_input *, struct evidence *);
void check_fine(const struct check *, const struct check_input *, struct evidence *);
void check_batch(const struct check *, const struct check_input *, struct evidence *);
void check_regularity(const struct check *, const struct check_input *, struct evidence *);
void check_token(const struct check *, const struct check_input *, struct evidence *);
void check_contrast(const struct check *, const struct check_input *, struct evidence *);
void check_tail(const struct check *, const struct check_input *, struct evidence *);
void check_edge(const struct check *, const struct check_input *, struct evidence *);
void check_near_tie(const struct check *, const struct check_input *, struct evidence *);
void check_boundary_kept(const struct check *, const struct check_input *, struct evidence *);
void check_boundary_support(const struct check *, const struct check_input *, struct evidence *);
void check_boundary_mass(const struct check *, const struct check_input *, struct evidence *);
void check_boundary_refused(const struct check *, const struct check_input *, struct evidence *);
void check_determinism_batch(const struct check *, const struct check_input *, struct evidence *);
void check_determinism_process(const struct check *, const struct check_input *, struct evidence *);
void check_determinism_neighbour(const struct check *, const struct check_input *, struct evidence *);
void check_determinism_seed(const struct check *, const struct check_input *, struct evidence *);
void check_determinism_tokens(const struct check *, const struct check_input *, struct evidence *);
void check_replay_batch(const struct check *, const struct check_input *, struct evidence *);
void check_replay_kept(const struct check *, const struct check_input *, struct evidence *);
void check_replay_tokens(const struct check *, const struct check_input *, struct evidence *);
void check_row(const struct check *, const struct check_input *, struct evidence *);
void check_position(const struct check *, const struct check_input *, struct evidence *);
void check_seed(const struct check *, const struct check_input *, struct evidence *);
void check_questions(const struct check *, const struct check_input *, struct evidence *);
#endif
