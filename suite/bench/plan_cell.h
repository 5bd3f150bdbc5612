/* plan_cell.h: one cell of a bench plan. */
#ifndef SAMPLEGATE_BENCH_PLAN_CELL_H
#define SAMPLEGATE_BENCH_PLAN_CELL_H
#include "suite/bench/plan.h"

/* "over" may name one of the plan's first `cells`. The cell is zeroed first. */
int bench_cell_read(const struct bench_plan *plan, struct bench_cell *cell, const struct json_cursor *at,
                    struct trouble *trouble);
/* The cell that `key` names. */
int bench_cell_named(const struct bench_plan *plan, const struct json_cursor *at, const char *key,
                     const struct bench_cell **cell, struct trouble *trouble);
#endif
