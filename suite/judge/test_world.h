/* test_world.h: an old and a new session made by hand, of one certified cell of two tokens. */
#ifndef SAMPLEGATE_TEST_WORLD_H
#define SAMPLEGATE_TEST_WORLD_H
#include <stdlib.h>
#include <string.h>

#include "suite/judge/verdict.h"

#define DRAWS 4000

/* Two tokens, even odds; one certified cell of 4,000 draws. */
struct world {
    struct table table;
    struct plan_cell cell;
    struct plan plan;
    double pmf[2];
    struct session session[2]; /* old, new */
    struct cell_result result[2];
    struct cell_change change[1];
};

static inline void fill(struct world *world, int which, uint64_t zeros)
{
    struct cell_result *result = &world->result[which];
    struct session *session = &world->session[which];
    *session = (struct session){.plan = &world->plan, .cell = result, .plain = 10};
    *result = (struct cell_result){.cell = &world->cell,
                                   .selected = true,
                                   .state = CELL_RAN,
                                   .pmf = world->pmf,
                                   .heaviest = 0.5,
                                   .bound_cells = 2};
    for (int stage = 0; stage < 2; stage++) {
        struct cell_counts *counts = &result->counts[stage];
        counts->vocab = 2;
        counts->draws = DRAWS;
        counts->pooled = calloc(2, sizeof *counts->pooled);
        counts->pooled[0] = zeros;
        counts->pooled[1] = DRAWS - zeros;
    }
    result->token = calloc(DRAWS, sizeof *result->token);
    for (uint64_t d = zeros; d < DRAWS; d++)
        result->token[d] = 1;
    result->bound = (struct tv_bound){.observed = 0.001, .upper = 0.008};
}

static inline struct world *world_new(void)
{
    struct world *world = calloc(1, sizeof *world);
    strcpy(world->table.name, "tie-2");
    world->table.vocab = 2;
    world->cell = (struct plan_cell){.family = FAMILY_EQUIVALENCE,
                                     .name = "tie-2",
                                     .table = &world->table,
                                     .temperature = 1,
                                     .draws = DRAWS,
                                     .epsilon = 0.01,
                                     .certify = CERTIFY_IDS};
    world->plan = (struct plan){.name = "made", .batches = 1, .cell = &world->cell, .cells = 1};
    world->pmf[0] = world->pmf[1] = 0.5;
    fill(world, 0, 2000);
    fill(world, 1, 2001);
    return world;
}

static inline void reject(struct world *world, int which, const char *name)
{
    struct statistic *statistic = evidence_add(&world->result[which].evidence, &check_registry[1], name);
    statistic->flagged = statistic->confirmed = true;
}

static inline void world_free(struct world *world)
{
    for (int i = 0; i < 2; i++) {
        free(world->result[i].token);
        free(world->result[i].counts[0].pooled);
        free(world->result[i].counts[1].pooled);
        evidence_free(&world->result[i].evidence);
    }
    free(world);
}
#endif
