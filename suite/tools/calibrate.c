/* calibrate.c: `make calibrate`: is the gate honest end to end? Runs the clean reference through plan quick, and
 * through the dependence cells of plan card, on fresh seeds.
 *
 * Usage: calibrate RUNS [FIRST_SEED [PLAN]]. No run may be rejected, and the first-stage p-values of each statistic
 * must be uniform over the runs (Kolmogorov-Smirnov; discrete tails are randomised between p and p_beyond). Where
 * p is a Bonferroni bound, not a uniform variable, it must not be too small (Kolmogorov-Smirnov on that side). */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sampler.h"
#include "suite/golden/golden.h"
#include "suite/judge/session.h"

#define FAMILY_LEVEL                                                                                         \
    1e-3 /* false-alarm probability of the whole uniformity part, split over the statistics */

static const struct {
    const char *plan, *checks, *spec;
} suites[] = {{"quick", "", "reference"},
              {"card", "dependence", "reference"},
              {"card", "dependence", "reference:seeded"}};

struct series {
    const char *check, *cell;
    char name[40];
    bool bound;
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
    *new = (struct series){.check = statistic->check->key,
                           .cell = cell,
                           .bound = statistic->bound,
                           .p = calloc(all->runs, sizeof(double))};
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
            double p = statistic->tail.p, beyond = statistic->tail.p_beyond;
            if (!statistic->bound && beyond == 1) /* a question without a probability */
                continue;
            struct series *series = series_of(all, statistic, result->cell->name);
            series->p[series->count++] =
                statistic->bound ? p : beyond + jitter(seed, i * 1000 + s) * (p - beyond);
        }
    }
    return rejected;
}

/* How many statistics have p-values that an honest one would not; frees them. */
static size_t crooked_series(struct collection *all, double *smallest)
{
    size_t crooked = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct series *series = &all->series[i];
        double p = (series->bound ? uniform_test_small : uniform_test)(series->p, series->count);
        *smallest = fmin(*smallest, p);
        if (!(p >= FAMILY_LEVEL / (double)all->count)) {
            crooked++;
            printf("%s on %s, %s: p-values of %zu runs are %s (KS p = %.1e)\n", series->check, series->cell,
                   series->name, series->count, series->bound ? "too small" : "not uniform", p);
        }
        free(series->p);
    }
    free(all->series);
    return crooked;
}

/* All runs of one suite; 0 if it is honest. */
static int calibrate(size_t suite, const char *golden, size_t runs, uint64_t first, struct trouble *trouble)
{
    struct plan plan = {0};
    struct spec spec = {0};
    struct collection all = {.runs = runs};
    size_t bad_runs = 0, ran = 0;
    double smallest = 1;
    int failed = plan_load(&plan, suites[suite].plan, golden, trouble) ||
                 spec_parse(&spec, suites[suite].spec, trouble);
    for (uint64_t seed = first; !failed && seed < first + runs; seed++) {
        struct session session = {0};
        struct session_options options = {
            .checks = suites[suite].checks, .cells = "", .jobs = 2, .timeout = 300, .label = ""};
        plan.seed = seed;
        failed = session_run(&session, &plan, &spec, &options, trouble);
        size_t rejected = failed ? 0 : collect(&all, &session, seed);
        if (rejected)
            printf("seed %llu: %zu statistics of the clean %s rejected\n", (unsigned long long)seed, rejected,
                   suites[suite].spec);
        bad_runs += rejected > 0;
        ran += !failed;
        session_free(&session);
    }
    size_t statistics = all.count, crooked = crooked_series(&all, &smallest);
    if (!failed)
        printf("calibrate: %zu runs of %s on plan %s%s%s from seed %llu: %zu rejected; %zu statistics, %zu "
               "of them "
               "with crooked p-values (smallest KS p %.1e, level %.1e)\n",
               ran, suites[suite].spec, plan.name, *suites[suite].checks ? ", " : "", suites[suite].checks,
               (unsigned long long)first, bad_runs, statistics, crooked, smallest,
               FAMILY_LEVEL / (double)statistics);
    fflush(stdout);
    spec_free(&spec);
    plan_free(&plan);
    return failed || bad_runs || crooked || statistics == 0;
}

int main(int argc, char **argv)
{
    char golden[4096], *end;
    struct trouble trouble = {0};
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    size_t runs = argc > 1 ? strtoul(argv[1], &end, 10) : 0, asked = 0;
    int failed = 0;
    if (runs == 0 || runs > 100000 || argc > 4) {
        fprintf(stderr, "usage: calibrate RUNS [FIRST_SEED [PLAN]]\n");
        return EXIT_USAGE;
    }
    if (golden_directory(NULL, golden, sizeof golden, &trouble)) {
        fprintf(stderr, "calibrate: %s\n", trouble.text);
        return trouble.exit;
    }
    for (size_t suite = 0; suite < sizeof suites / sizeof *suites && !trouble.exit; suite++)
        if (argc < 4 || !strcmp(argv[3], suites[suite].plan)) {
            failed |= calibrate(suite, golden, runs, first, &trouble);
            asked++;
        }
    if (!asked)
        trouble_set(&trouble, EXIT_USAGE, "plan %.60s is not calibrated; quick and card are", argv[3]);
    if (trouble.exit)
        fprintf(stderr, "calibrate: %s\n", trouble.text);
    return trouble.exit ? trouble.exit : failed ? EXIT_FAIL : EXIT_PASS;
}
