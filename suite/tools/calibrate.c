/* calibrate.c: `make calibrate`: is the gate honest end to end? Runs the clean reference through plan quick
 * on fresh seeds.
 *
 * Usage: calibrate RUNS [FIRST_SEED]. No run may be rejected, and the first-stage p-values of each statistic
 * must be uniform over the runs (Kolmogorov-Smirnov; discrete tails are randomised between p and p_beyond).
 * The token check is left out of the second part: its p is a Bonferroni bound, not a uniform variable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sampler.h"
#include "suite/golden/golden.h"
#include "suite/judge/session.h"

#define FAMILY_LEVEL                                                                                         \
    1e-3 /* false-alarm probability of the whole uniformity part, split over the statistics */

struct series {
    const char *check, *cell;
    char name[40];
    double *p;
    size_t count;
};

struct collection {
    struct series *series;
    size_t count, runs;
};

static struct series *series_of(struct collection *all, const struct statistic *statistic, const char *cell)
{
    for (size_t i = 0; i < all->count; i++) {
        struct series *one = &all->series[i];
        if (one->check == statistic->check->key && one->cell == cell && !strcmp(one->name, statistic->name))
            return one;
    }
    all->series = realloc(all->series, (all->count + 1) * sizeof *all->series);
    if (!all->series)
        abort();
    struct series *new = &all->series[all->count++];
    *new =
        (struct series){.check = statistic->check->key, .cell = cell, .p = calloc(all->runs, sizeof(double))};
    memcpy(new->name, statistic->name, sizeof new->name);
    return new;
}

/* A uniform variate that depends on the seed and the statistic only, so that a run can be repeated. */
static double jitter(uint64_t seed, size_t index)
{
    float q;
    sampler_noise(seed, index, 1, &q);
    return exp(-(double)q); /* the reference's own Exp(1), back to the uniform it came from */
}

static size_t collect(struct collection *all, const struct session *session, uint64_t seed)
{
    size_t rejected = 0;
    for (size_t i = 0; i < session->plan->cells; i++) {
        const struct cell_result *result = &session->cell[i];
        for (size_t s = 0; s < result->evidence.count; s++) {
            const struct statistic *statistic = &result->evidence.statistic[s];
            rejected += statistic->confirmed;
            if (statistic->violation || !strcmp(statistic->check->key, "equivalence.token") ||
                !strcmp(statistic->check->key, "equivalence.support") ||
                !strcmp(statistic->check->key, "agreement.near-tie"))
                continue;
            struct series *series = series_of(all, statistic, result->cell->name);
            double p = statistic->tail.p, beyond = statistic->tail.p_beyond;
            series->p[series->count++] = beyond + jitter(seed, i * 1000 + s) * (p - beyond);
        }
    }
    return rejected;
}

int main(int argc, char **argv)
{
    char golden[4096], *end;
    struct trouble trouble = {0};
    struct plan plan = {0};
    struct spec spec = {0};
    struct collection all = {0};
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    all.runs = argc > 1 ? strtoul(argv[1], &end, 10) : 0;
    if (all.runs == 0 || all.runs > 100000) {
        fprintf(stderr, "usage: calibrate RUNS [FIRST_SEED]\n");
        return EXIT_USAGE;
    }
    if (golden_directory(NULL, golden, sizeof golden, &trouble) ||
        plan_load(&plan, "quick", golden, &trouble) || spec_parse(&spec, "reference", &trouble)) {
        fprintf(stderr, "calibrate: %s\n", trouble.text);
        return trouble.exit;
    }
    size_t bad_runs = 0, ran = 0;
    for (uint64_t seed = first; seed < first + all.runs; seed++) {
        struct session session = {0};
        struct session_options options = {.checks = "", .cells = "", .jobs = 2, .timeout = 300, .label = ""};
        plan.seed = seed;
        if (session_run(&session, &plan, &spec, &options, &trouble))
            break;
        size_t rejected = collect(&all, &session, seed);
        if (rejected)
            printf("seed %llu: %zu statistics of the clean reference rejected\n", (unsigned long long)seed,
                   rejected);
        bad_runs += rejected > 0;
        ran++;
        session_free(&session);
    }
    size_t crooked = 0;
    double smallest = 1;
    for (size_t i = 0; i < all.count; i++) {
        struct series *series = &all.series[i];
        double p = uniform_test(series->p, series->count);
        smallest = p < smallest ? p : smallest;
        if (p < FAMILY_LEVEL / (double)all.count) {
            crooked++;
            printf("%s on %s, %s: p-values of %zu runs are not uniform (KS p = %.1e)\n", series->check,
                   series->cell, series->name, series->count, p);
        }
        free(series->p);
    }
    if (trouble.exit)
        fprintf(stderr, "calibrate: %s\n", trouble.text);
    printf("calibrate: %zu of %zu runs of plan quick from seed %llu: %zu rejected; %zu statistics, %zu not "
           "uniform (smallest KS p %.1e, level %.1e)\n",
           ran, all.runs, (unsigned long long)first, bad_runs, all.count, crooked, smallest,
           FAMILY_LEVEL / (double)all.count);
    free(all.series);
    spec_free(&spec);
    plan_free(&plan);
    return trouble.exit ? trouble.exit : bad_runs || crooked || ran == 0 ? EXIT_FAIL : EXIT_PASS;
}
