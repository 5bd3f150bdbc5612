/* plan.h: what a benchmark times, written before it runs; the SHA-256 of the file's bytes is in every result.
 *
 * golden/schema/bench.schema.json has the form. A plan is about the drawing rule (cells differ in table and batch, and each
 * is timed under every rule that the plan names), or about parameters (cells differ in what their rows ask for). */
#ifndef SAMPLEGATE_BENCH_PLAN_H
#define SAMPLEGATE_BENCH_PLAN_H
#include "suite/oracle/law.h"
#include "suite/oracle/parameters.h"
#include "suite/oracle/table.h"

#define BENCH_RULES_MAX 4
#define BENCH_BATCHES_MAX 8
#define BENCH_ROWS_MAX 4096 /* logits rows of one call */

enum bench_about { BENCH_ABOUT_RULE, BENCH_ABOUT_PARAMETERS };
extern const char *const bench_about_names[]; /* "rule", "parameters", NULL */

/* What a row asks for. */
struct bench_ask {
    double temperature; /* 0: greedy */
    struct law_parameters parameters;
};

struct bench_cell {
    char name[64];
    const struct table *table;         /* row r is the table's, turned by r / rows of its length */
    uint32_t batch[BENCH_BATCHES_MAX]; /* N: requests */
    size_t batches;
    struct bench_ask ask;
    struct bench_ask neighbour;           /* what the first rows ask for instead */
    uint32_t neighbours, neighbour_share; /* so many rows, or one in so many; both 0: none */
    uint32_t copies;                      /* rows a request: what n and best_of make of it in a decode step */
    uint32_t samples;                     /* tokens drawn of each row: best_of in the prompt's step */
    const struct bench_cell *over;        /* the cell it is held against, or NULL */
    char series[64]; /* cells of one series are fitted together, time against 8 N V; "": none */
};

/* An action and the two cells that show what it does. */
struct bench_remedy {
    char *action, *costs;
    const struct bench_cell *from, *to;
    uint32_t from_batch, to_batch; /* 0: each batch that both have */
};

struct bench_plan {
    char name[64], given[4096], sha256[65];
    uint64_t seed;
    enum bench_about about;
    enum value_kind kind; /* what is handed over, where the sampler takes it */
    char rule[BENCH_RULES_MAX][32];
    size_t rules;
    uint32_t warmup, calls, blocks, fill, sessions;
    struct table *table;
    size_t tables;
    struct bench_cell *cell;
    size_t cells;
    struct bench_remedy *remedy;
    size_t remedies;
};

/* As plan_load of suite/judge/plan.h. Owned: bench_plan_free. */
int bench_plan_load(struct bench_plan *plan, const char *name_or_file, const char *golden_dir,
                    struct trouble *trouble);
void bench_plan_free(struct bench_plan *plan);

/* Rows of logits in one call, draws in it, and how many of the rows are neighbours. */
size_t bench_rows(const struct bench_cell *cell, uint32_t batch);
size_t bench_draws(const struct bench_cell *cell, uint32_t batch);
size_t bench_neighbours(const struct bench_cell *cell, uint32_t batch);
/* Does every row ask for temperature 0? */
bool bench_greedy(const struct bench_cell *cell);
#endif
