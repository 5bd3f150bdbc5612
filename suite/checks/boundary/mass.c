/* mass.c: each kept id has its renormalised share (exact binomial tails, the most extreme one of the cell's after
 * Bonferroni over cases and ids).
 * Sees: a kept id that never comes, shares not renormalised, the wrong penalty or temperature. Cannot see: one unit of
 * rounding; ids of less than about a hundredth that are lost (smallest_effect says it). */
#include <math.h>
#include <stdio.h>

#include "suite/checks/boundary/found.h"

struct worst {
    struct tail tail;
    uint64_t hits, draws;
    double mass;
    int32_t id;
    const struct boundary_ask *ask;
};

static void consider(struct worst *worst, struct tail tail, const struct worst *seen)
{
    if (worst->ask && tail.p >= worst->tail.p)
        return;
    *worst = *seen;
    worst->tail = tail;
}

/* Both tails of each id of one case. */
static void look(const struct boundary_ask *ask, const struct script_line *line, struct worst *few,
                 struct worst *many)
{
    for (size_t k = 0; k < ask->expect.kept; k++) {
        struct worst seen = {
            .draws = ask->draws, .mass = ask->expect.mass[k], .id = ask->expect.id[k], .ask = ask};
        for (size_t d = ask->row; d < line->draws; d += ask->rows)
            seen.hits += line->token[d] == seen.id;
        struct binomial_tails tails = binomial_test(seen.hits, seen.draws, fmin(seen.mass, 1));
        consider(few, tails.lower, &seen);
        consider(many, tails.upper, &seen);
    }
}

static struct statistic *tell(struct evidence *evidence, const struct check *check, const char *name,
                              const struct worst *worst, double ids)
{
    struct statistic *statistic = evidence_add(evidence, check, name);
    statistic->tail = (struct tail){1, 1};
    if (!worst->ask)
        return statistic;
    statistic->tail = (struct tail){fmin(1, ids * worst->tail.p), fmin(1, ids * worst->tail.p_beyond)};
    statistic->value = (double)worst->hits;
    statistic->expected = (double)worst->draws * worst->mass;
    snprintf(statistic->text, sizeof statistic->text,
             "case %.40s: id %d drawn %llu times of %llu, %.1f expected", worst->ask->of.id, worst->id,
             (unsigned long long)worst->hits, (unsigned long long)worst->draws, statistic->expected);
    return statistic;
}

void check_boundary_mass(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    struct boundary_asks asks;
    struct worst few = {.ask = NULL}, many = {.ask = NULL};
    size_t ids = 0;
    boundary_found_open(&asks, in, evidence);
    for (size_t i = 0; i < asks.count; i++) {
        const struct boundary_ask *ask = &asks.ask[i];
        const struct script_line *line = boundary_line(in, ask);
        if (ask->expect.refused || ask->expect.kept < 2)
            continue;
        ids += ask->expect.kept;
        if (line->state == LINE_ANSWERED)
            look(ask, line, &few, &many);
    }
    ids += ids == 0; /* no case with a choice */
    const double draws = BOUNDARY_DRAWS, level = BUDGET_STAGE_ONE / (double)ids;
    struct statistic *statistic = tell(evidence, check, "few", &few, (double)ids);
    snprintf(statistic->smallest_effect, sizeof statistic->smallest_effect,
             "a kept id of %.1f %% that never comes", 100 * (1 - pow(level, 1 / draws)));
    statistic = tell(evidence, check, "many", &many, (double)ids);
    snprintf(statistic->smallest_effect, sizeof statistic->smallest_effect, "a share of 0.5 that is %.2f",
             0.5 + normal_detectable(level, 0.999) * sqrt(0.25 / draws));
    boundary_asks_free(&asks);
}
