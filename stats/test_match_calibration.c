/* test_match_calibration.c: false-alarm rates of the match statistics, measured on independent draws.
 *
 * As a test: a second or two. As a tool: `test_match_calibration REPLICATES FILE` writes the record that
 * golden/calibration/ keeps; 1e6 replicates take ten minutes of two cores. At one place the tails are exact and
 * discrete, and over the places Bonferroni is a bound, so the rates lie below the level; the rule is that no
 * rate is above it: the lower end of the exact 99.9 % interval of each is at most the level.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/binomial.h"
#include "stats/tests.h"
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
#define ROWS 8
#define DRAWS_MAX 512

#define LEVELS 5
static const double level[LEVELS] = {1e-2, 1e-3, 1e-4, 2e-5, 1e-5};
enum statistic { LAGS, LANES, BETWEEN, IN_CALL, STATISTICS };
static const char *const statistics[STATISTICS] = {"match, lags", "match, lags of 8 lanes",
                                                   "match, two sequences", "match, 8 rows of a batch"};
enum shape { FLAT, ZIPF };
static const struct table {
    const char *name;
    enum shape shape;
    size_t vocab, draws;
} tables[] = {{"tie-2", FLAT, 2, 128},  {"uniform-20", FLAT, 20, 128}, {"uniform-20", FLAT, 20, 512},
              {"zipf-3", ZIPF, 3, 128}, {"zipf-257", ZIPF, 257, 512},  {"flat-4096", FLAT, 4096, 512}};
#define TABLES (sizeof tables / sizeof *tables)

struct record {
    uint64_t trials[STATISTICS], rejected[STATISTICS][2][LEVELS];
    size_t looks[STATISTICS];
};

/* Half the replicates of one table: every other seed. */
struct job {
    const struct table *table;
    uint64_t replicates, first;
    struct record record;
};

static void note(struct record *record, enum statistic statistic, struct match match)
{
    record->trials[statistic]++;
    record->looks[statistic] = match.looks;
    for (size_t l = 0; l < LEVELS; l++) {
        record->rejected[statistic][0][l] += !(match.upper.p > level[l]); /* NaN counts as a rejection */
        record->rejected[statistic][1][l] += !(match.lower.p > level[l]);
    }
}

static void *work(void *argument)
{
    struct job *job = argument;
    const size_t vocab = job->table->vocab, draws = job->table->draws, half = draws / 2;
    double *pmf = malloc(vocab * sizeof *pmf), sum = 0;
    int32_t token[DRAWS_MAX];
    for (size_t i = 0; i < vocab; i++)
        sum += pmf[i] = job->table->shape == ZIPF ? 1 / (double)(i + 1) : 1;
    for (size_t i = 0; i < vocab; i++)
        pmf[i] /= sum;
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_ran_discrete_t *law = gsl_ran_discrete_preproc(vocab, pmf);
    gsl_rng_set(generator, SEED + 2 * (unsigned long)(job->table - tables) + job->first);
    for (uint64_t r = 0; r < job->replicates; r++) {
        for (size_t d = 0; d < draws; d++)
            token[d] = (int32_t)gsl_ran_discrete(generator, law);
        note(&job->record, LAGS, match_lags(token, draws, 1, MATCH_LAGS_MAX, pmf, vocab));
        note(&job->record, LANES, match_lags(token, draws / ROWS, ROWS, MATCH_LAGS_MAX, pmf, vocab));
        note(&job->record, BETWEEN, match_between(token, token + half, half, MATCH_LAGS_MAX, pmf, vocab));
        note(&job->record, IN_CALL, match_rows(token, draws / ROWS, ROWS, pmf, vocab));
    }
    gsl_ran_discrete_free(law);
    gsl_rng_free(generator);
    free(pmf);
    return NULL;
}

static struct record measure(const struct table *table, uint64_t replicates)
{
    pthread_t thread[2];
    struct job job[2] = {{table, (replicates + 1) / 2, 0, {{0}, {{{0}}}, {0}}},
                         {table, replicates / 2, 1, {{0}, {{{0}}}, {0}}}};
    for (size_t t = 0; t < 2; t++)
        pthread_create(&thread[t], NULL, work, &job[t]);
    for (size_t t = 0; t < 2; t++)
        pthread_join(thread[t], NULL);
    for (size_t s = 0; s < STATISTICS; s++) {
        job[0].record.trials[s] += job[1].record.trials[s];
        for (size_t l = 0; l < 2 * LEVELS; l++)
            job[0].record.rejected[s][l / LEVELS][l % LEVELS] +=
                job[1].record.rejected[s][l / LEVELS][l % LEVELS];
    }
    return job[0].record;
}

/* Prints each breach of the rule; returns how many. */
static size_t breaches(const struct table *table, const struct record *record)
{
    size_t count = 0;
    for (size_t s = 0; s < STATISTICS; s++)
        for (size_t t = 0; t < 2; t++)
            for (size_t l = 0; l < LEVELS; l++) {
                const double hits = (double)record->rejected[s][t][l], trials = (double)record->trials[s];
                if (clopper_pearson_lower(hits, trials, INTERVAL_SIDE) <= level[l])
                    continue;
                fprintf(stderr, "%s, %zu draws: %s, %s tail: %.0f of %.0f rejected at %g\n", table->name,
                        table->draws, statistics[s], t ? "lower" : "upper", hits, trials, level[l]);
                count++;
            }
    return count;
}

static void write_table(FILE *file, const struct table *table, const struct record *record)
{
    fprintf(file, "    {\"table\": \"%s\", \"vocab\": %zu, \"draws\": %zu, \"statistics\": [\n", table->name,
            table->vocab, table->draws);
    for (size_t s = 0; s < STATISTICS; s++) {
        const double trials = (double)record->trials[s];
        fprintf(file, "      {\"statistic\": \"%s\", \"looks\": %zu, \"replicates\": %.0f", statistics[s],
                record->looks[s], trials);
        for (size_t t = 0; t < 2; t++) {
            fprintf(file, ", \"%s\": [", t ? "lower" : "upper");
            for (size_t l = 0; l < LEVELS; l++) {
                const double hits = (double)record->rejected[s][t][l];
                fprintf(
                    file,
                    "%s{\"level\": %g, \"rejected\": %.0f, \"times\": %.3f, \"from\": %.3f, \"to\": %.3f}",
                    l ? ", " : "", level[l], hits, hits / trials / level[l],
                    clopper_pearson_lower(hits, trials, INTERVAL_SIDE) / level[l],
                    clopper_pearson_upper(hits, trials, INTERVAL_SIDE) / level[l]);
            }
            fprintf(file, "]");
        }
        fprintf(file, "}%s\n", s + 1 < STATISTICS ? "," : "");
    }
    fprintf(file, "    ]}");
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
            "  \"notes\": \"Independent draws. times: measured rate over the level, from and to: its exact "
            "99.9 %% interval.\",\n"
            "  \"rule\": \"from is at most 1\",\n  \"program\": \"stats/test_match_calibration.c\",\n  "
            "\"replicates\": %llu,\n"
            "  \"generator\": \"gsl_rng_mt19937, gsl_ran_discrete, two seeds a table\",\n  \"seed\": "
            "\"%d\",\n  \"gsl\": \"%s\",\n"
            "  \"compiler\": \"%s\",\n  \"date\": \"%s\",\n  \"tables\": [\n",
            (unsigned long long)replicates, SEED, gsl_version, __VERSION__, date);
    for (size_t i = 0; i < TABLES; i++) {
        struct record record = measure(&tables[i], replicates);
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

static void test_false_alarms(void **state)
{
    (void)state;
    for (size_t i = 0; i < TABLES; i++) {
        struct record record = measure(&tables[i], 1000);
        assert_int_equal(breaches(&tables[i], &record), 0);
        for (size_t s = 0; s < STATISTICS; s++)
            assert_true(record.trials[s] == 1000 && record.looks[s] > 1);
    }
}

int main(int count, char **argument)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_alarms)};
    if (count == 1)
        return cmocka_run_group_tests_name("stats/match_calibration", tests, NULL, NULL);
    double replicates = count == 3 ? strtod(argument[1], NULL) : 0;
    if (!(replicates >= 1 && replicates <= 1e12)) {
        fprintf(stderr, "usage: %s [REPLICATES FILE], such as 1e6 match.json\n", argument[0]);
        return 2;
    }
    return record_all((uint64_t)replicates, argument[2]);
}
