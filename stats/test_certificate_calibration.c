/* test_certificate_calibration.c: how often the certificate over all ids falls short, of laws at the very distance it
 * excludes.
 *
 * As a test: some seconds. As a tool: `test_certificate_calibration REPLICATES FILE` writes the record that
 * golden/calibration/ keeps; 1e4 replicates take ten minutes of two cores. Draws are those that certify an exact sampler
 * at 1 - 1e-6; the rule is that no rate of false certificates at a level is above it: the lower end of the exact 99.9 %
 * interval of each is at most the level.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/binomial.h"
#include "stats/certificate.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_version.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#define SEED 38117
#define INTERVAL_SIDE 5e-4
#define PLANNED 1e-6

#define LEVELS 3
static const double level[LEVELS] = {1e-2, 1e-3, 1e-4};

enum shape { FLAT, ZIPF, NORMAL, HEAD };
static const struct table {
    const char *name;
    enum shape shape;
    size_t vocab;
    double epsilon;
    uint64_t part; /* of the replicates, 1 / part: wide tables cost more */
} tables[] = {{"flat-2000", FLAT, 2000, 0.05, 1},
              {"zipf-2000", ZIPF, 2000, 0.05, 1},
              {"normal-2000", NORMAL, 2000, 0.05, 1},
              {"head-2000", HEAD, 2000, 0.0075, 1},
              {"normal-151936", NORMAL, 151936, 0.01, 100}};
#define TABLES (sizeof tables / sizeof *tables)

/* Laws at distance epsilon: some ids gain and others lose in proportion to a power of p. */
enum adversary { TIGHT, RELATIVE, HEAVIEST, ONE_GAINS, LIGHT_GAIN, LIGHT_LOSE, ADVERSARIES };
static const char *const adversaries[ADVERSARIES] = {"every other id gains, by p^(2/3)",
                                                     "every other id gains, by p",
                                                     "every other of the 50 heaviest gains",
                                                     "the lightest id gains",
                                                     "the lighter half gains",
                                                     "the lightest ids are lost"};

struct record {
    uint64_t trials[ADVERSARIES], certified[ADVERSARIES][LEVELS];
    double draws;
};

struct job {
    const struct table *table;
    uint64_t replicates, first;
    struct record record;
};

/* pmf[vocab], heaviest first. */
static void law_fill(const struct table *table, double *pmf)
{
    const size_t vocab = table->vocab;
    double sum = 0;
    for (size_t i = 0; i < vocab; i++) {
        const double rank = ((double)i + 0.5) / (double)vocab;
        pmf[i] = table->shape == FLAT     ? 1
                 : table->shape == ZIPF   ? 1 / (double)(i + 1)
                 : table->shape == NORMAL ? exp(3 * gsl_cdf_ugaussian_Qinv(rank))
                 : i == 0                 ? 0.98
                                          : 0.02 / (double)(vocab - 1);
        sum += pmf[i];
    }
    for (size_t i = 0; i < vocab; i++)
        pmf[i] /= sum;
}

/* In which direction an id moves, and how strongly. */
static double move_of(enum adversary adversary, const double *pmf, size_t vocab, size_t i)
{
    const double side = i % 2 ? -1 : 1;
    switch (adversary) {
    case TIGHT:
        return side * pow(pmf[i], 2.0 / 3);
    case RELATIVE:
        return side * pmf[i];
    case HEAVIEST:
        return i < 50 ? side * pmf[i] : 0;
    case ONE_GAINS:
        return i + 1 == vocab ? 1 : -pmf[i];
    case LIGHT_GAIN:
        return i >= vocab / 2 ? pmf[i] : -pmf[i];
    default:
        return i == 0 ? 1 : 0; /* the rest is done below */
    }
}

/* What the losers lose in all if each loses `scale` times its part, and no more than it has. */
static double lost_at(enum adversary adversary, const double *pmf, size_t vocab, double scale)
{
    double lost = 0;
    for (size_t i = 0; i < vocab; i++)
        lost += fmin(pmf[i], fmax(0, -scale * move_of(adversary, pmf, vocab, i)));
    return lost;
}

/* q[vocab] at `distance` from pmf; -1 where this adversary cannot be so far from it. */
static int adversary_fill(enum adversary adversary, const double *pmf, size_t vocab, double distance,
                          double *q)
{
    double gain = 0, low = 0, high = 1e9, left = distance;
    for (size_t i = 0; i < vocab; i++)
        gain += fmax(0, move_of(adversary, pmf, vocab, i));
    if (adversary != LIGHT_LOSE && lost_at(adversary, pmf, vocab, high) < distance)
        return -1;
    while (high - low > 1e-15 * high)
        if (lost_at(adversary, pmf, vocab, (low + high) / 2) < distance)
            low = (low + high) / 2;
        else
            high = (low + high) / 2;
    for (size_t i = 0; i < vocab; i++) {
        const double move = move_of(adversary, pmf, vocab, i);
        q[i] = pmf[i] + (move > 0 ? distance * move / gain : -fmin(pmf[i], -high * move));
    }
    for (size_t i = vocab - 1; adversary == LIGHT_LOSE && i > 0 && left > 0; i--) {
        const double lost = fmin(left, pmf[i]);
        q[i] = pmf[i] - lost;
        left -= lost;
    }
    return 0;
}

static void replicate(struct job *job, gsl_rng *generator, enum adversary adversary, const double *pmf,
                      const double *q, unsigned *drawn, uint64_t *counts)
{
    const struct table *table = job->table;
    gsl_ran_multinomial(generator, table->vocab, (unsigned)job->record.draws, q, drawn);
    for (size_t i = 0; i < table->vocab; i++)
        counts[i] = drawn[i];
    job->record.trials[adversary]++;
    for (size_t l = 0; l < LEVELS; l++) /* NaN counts as certified */
        job->record.certified[adversary][l] +=
            !(tv_certificate(counts, pmf, table->vocab, table->epsilon, level[l]) > table->epsilon);
}

static void *work(void *argument)
{
    struct job *job = argument;
    const size_t vocab = job->table->vocab;
    double *pmf = malloc(vocab * sizeof *pmf), *q = malloc(vocab * sizeof *q);
    unsigned *drawn = malloc(vocab * sizeof *drawn);
    uint64_t *counts = malloc(vocab * sizeof *counts);
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(generator, SEED + 2 * (unsigned long)(job->table - tables) + job->first);
    law_fill(job->table, pmf);
    job->record.draws = tv_certificate_draws_needed(pmf, vocab, job->table->epsilon, PLANNED);
    for (int a = 0; a < ADVERSARIES; a++)
        if (adversary_fill((enum adversary)a, pmf, vocab, job->table->epsilon, q) == 0)
            for (uint64_t r = 0; r < job->replicates; r++)
                replicate(job, generator, (enum adversary)a, pmf, q, drawn, counts);
    gsl_rng_free(generator);
    free(pmf);
    free(q);
    free(drawn);
    free(counts);
    return NULL;
}

static struct record measure(const struct table *table, uint64_t replicates)
{
    pthread_t thread[2];
    struct job job[2] = {{.table = table, .replicates = (replicates + 1) / 2},
                         {.table = table, .replicates = replicates / 2, .first = 1}};
    for (size_t t = 0; t < 2; t++)
        pthread_create(&thread[t], NULL, work, &job[t]);
    for (size_t t = 0; t < 2; t++)
        pthread_join(thread[t], NULL);
    for (size_t a = 0; a < ADVERSARIES; a++) {
        job[0].record.trials[a] += job[1].record.trials[a];
        for (size_t l = 0; l < LEVELS; l++)
            job[0].record.certified[a][l] += job[1].record.certified[a][l];
    }
    return job[0].record;
}

/* Prints each breach of the rule; returns how many. */
static size_t breaches(const struct table *table, const struct record *record)
{
    size_t count = 0;
    for (size_t a = 0; a < ADVERSARIES; a++)
        for (size_t l = 0; l < LEVELS && record->trials[a]; l++) {
            const double hits = (double)record->certified[a][l], trials = (double)record->trials[a];
            if (clopper_pearson_lower(hits, trials, INTERVAL_SIDE) <= level[l])
                continue;
            fprintf(stderr, "%s, %s: %.0f of %.0f certified at %g\n", table->name, adversaries[a], hits,
                    trials, level[l]);
            count++;
        }
    return count;
}

static void write_table(FILE *file, const struct table *table, const struct record *record)
{
    const char *between = "";
    fprintf(file, "    {\"table\": \"%s\", \"vocab\": %zu, \"epsilon\": %g, \"draws\": %.0f, \"laws\": [\n",
            table->name, table->vocab, table->epsilon, record->draws);
    for (size_t a = 0; a < ADVERSARIES; a++) {
        const double trials = (double)record->trials[a];
        if (trials == 0)
            continue;
        fprintf(file, "%s      {\"law\": \"%s\", \"replicates\": %.0f, \"certified\": [", between,
                adversaries[a], trials);
        between = ",\n";
        for (size_t l = 0; l < LEVELS; l++) {
            const double hits = (double)record->certified[a][l];
            fprintf(file,
                    "%s{\"level\": %g, \"wrongly\": %.0f, \"times\": %.3f, \"from\": %.3f, \"to\": %.3f}",
                    l ? ", " : "", level[l], hits, hits / trials / level[l],
                    clopper_pearson_lower(hits, trials, INTERVAL_SIDE) / level[l],
                    clopper_pearson_upper(hits, trials, INTERVAL_SIDE) / level[l]);
        }
        fprintf(file, "]}");
    }
    fprintf(file, "\n    ]}");
}

static uint64_t replicates_of(const struct table *table, uint64_t replicates)
{
    return replicates / table->part > 2 ? replicates / table->part : 2;
}

static int record_all(uint64_t replicates, const char *path)
{
    char date[16];
    time_t now = time(NULL);
    size_t broken = 0;
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 2;
    }
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(file,
            "{\n  \"schema\": \"samplegate-calibration-1\",\n"
            "  \"notes\": \"Laws at the total variation epsilon, at the draws that certify an exact sampler "
            "at 1 - "
            "%g. wrongly: how often one was certified within epsilon; times: that rate over the level, from "
            "and to: "
            "its exact 99.9 %% interval.\",\n"
            "  \"rule\": \"from is at most 1\",\n  \"program\": \"stats/test_certificate_calibration.c\",\n  "
            "\"replicates\": %llu,\n"
            "  \"generator\": \"gsl_rng_mt19937, gsl_ran_multinomial, two seeds a table\",\n  \"seed\": "
            "\"%d\",\n  \"gsl\": \"%s\",\n"
            "  \"compiler\": \"%s\",\n  \"date\": \"%s\",\n  \"tables\": [\n",
            PLANNED, (unsigned long long)replicates, SEED, gsl_version, __VERSION__, date);
    for (size_t i = 0; i < TABLES; i++) {
        struct record record = measure(&tables[i], replicates_of(&tables[i], replicates));
        broken += breaches(&tables[i], &record);
        write_table(file, &tables[i], &record);
        fprintf(file, "%s\n", i + 1 < TABLES ? "," : "");
    }
    fprintf(file, "  ]\n}\n");
    if (ferror(file) | fclose(file)) {
        perror(path);
        return 2;
    }
    return broken > 0;
}

static void test_false_certificates(void **state)
{
    (void)state;
    for (size_t i = 0; i < TABLES && tables[i].part == 1; i++) {
        struct record record = measure(&tables[i], 100);
        size_t laws = 0;
        assert_int_equal(breaches(&tables[i], &record), 0);
        for (size_t a = 0; a < ADVERSARIES; a++)
            laws += record.trials[a] == 100;
        assert_true(laws >= 5);
    }
}

int main(int count, char **argument)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_certificates)};
    if (count == 1)
        return cmocka_run_group_tests_name("stats/certificate_calibration", tests, NULL, NULL);
    double replicates = count == 3 ? strtod(argument[1], NULL) : 0;
    if (!(replicates >= 1 && replicates <= 1e12)) {
        fprintf(stderr, "usage: %s [REPLICATES FILE], such as 1e4 certificate.json\n", argument[0]);
        return 2;
    }
    return record_all((uint64_t)replicates, argument[2]);
}
