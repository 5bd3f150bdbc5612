/* test_calibration.c: false-alarm rates of every statistic, measured on simulated multinomial counts of a
 * correct sampler.
 *
 * As a test: a few seconds, enough to see a statistic that rejects several times too often.
 * As a tool: `test_calibration REPLICATES FILE` writes the record that golden/calibration/ keeps; 1e7
 * replicates take half an hour of one core. All statistics of a table are computed on the same counts. Tables
 * are chosen where the approximations are worst: expectations at the floor, few cells, contrasts at the limit
 * of skewness. The rule: the lower end of the exact 99.9 % interval of each measured rate is at most twice
 * the level.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/binomial.h"
#include "stats/error_budget.h"
#include "stats/partition.h"
#include "stats/test_calibration_tables.h"
#include "stats/tests.h"
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_version.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define THREADS 2
#define BLOCK 500 /* replicates that share a seed; even, for pairs */
#define SEED 38117
#define INTERVAL_SIDE 5e-4

/* Rejections by statistic, tail (0 upper, 1 lower) and level; trials 0: the statistic is not used on this
 * table. */
struct record {
    uint64_t trials[STATISTICS], rejected[STATISTICS][2][LEVELS];
    size_t cells[STATISTICS];
    double skew[STATISTICS];
};

struct job {
    const struct table *table;
    size_t vocab; /* ids, or cells of a fine partition */
    double *pmf, *log_p, *position;
    size_t heaviest, lightest;
    struct partition *rank[2], *id[2];
    bool contrast[2];
    uint64_t blocks;
    atomic_ullong next;
    pthread_mutex_t lock;
    struct record total;
};

/* What one thread knows already. The p-values are functions of X^2 and of the count alone, so nothing is lost
 * by not asking again: X^2 between two values that gave no p below the largest level gives none either, and a
 * count's tails stay the same. */
struct memory {
    double quiet_from[STATISTICS], quiet_to[STATISTICS];
    struct binomial_tails *heaviest, *lightest; /* [draws + 1]; upper.p 0 and lower.p 0: not asked yet */
};

static void note(struct record *record, enum statistic statistic, struct tail upper, struct tail lower)
{
    record->trials[statistic]++;
    for (size_t l = 0; l < statistics[statistic].levels; l++) {
        record->rejected[statistic][0][l] += !(upper.p > level[l]); /* NaN counts as a rejection */
        record->rejected[statistic][1][l] += !(lower.p > level[l]);
    }
}

static void note_cells(struct record *record, struct memory *memory, enum statistic statistic,
                       const struct partition *partition, double draws, const uint64_t *counts,
                       uint64_t *observed)
{
    double distance = 0;
    if (partition->cells < 2)
        return;
    partition_count(partition, counts, observed);
    for (size_t k = 0; k < partition->cells; k++) {
        double expected = draws * partition->mass[k], excess = (double)observed[k] - expected;
        distance += excess * excess / expected;
    }
    if (distance >= memory->quiet_from[statistic] && distance <= memory->quiet_to[statistic]) {
        record->trials[statistic]++;
        return;
    }
    struct chi_square test = chi_square_test(observed, partition->mass, partition->cells);
    note(record, statistic, test.upper, test.lower);
    if (test.upper.p > level[0] && test.lower.p > level[0]) {
        memory->quiet_from[statistic] = fmin(memory->quiet_from[statistic], distance);
        memory->quiet_to[statistic] = fmax(memory->quiet_to[statistic], distance);
    }
}

static void note_binomial(struct record *record, struct binomial_tails *known, enum statistic statistic,
                          uint64_t hits, uint64_t draws, double p)
{
    if (known[hits].upper.p == 0 && known[hits].lower.p == 0)
        known[hits] = binomial_test(hits, draws, p);
    note(record, statistic, known[hits].upper, known[hits].lower);
}

static void note_two_sample(struct record *record, enum statistic statistic,
                            const struct partition *partition, const uint64_t *a, const uint64_t *b,
                            uint64_t *observed)
{
    if (partition->cells < 2)
        return;
    partition_count(partition, a, observed);
    partition_count(partition, b, observed + partition->cells);
    struct chi_square test = two_sample_test(observed, observed + partition->cells, partition->cells);
    note(record, statistic, test.upper, test.lower);
}

static void note_all(struct record *record, struct memory *memory, const struct job *job,
                     const uint64_t *counts, uint64_t *observed)
{
    for (int f = 0; f < 2; f++) {
        note_cells(record, memory, f ? RANK_50 : RANK_20, job->rank[f], job->table->draws, counts, observed);
        note_cells(record, memory, f ? ID_50 : ID_20, job->id[f], job->table->draws, counts, observed);
    }
    for (int c = 0; c < 2; c++) {
        if (job->contrast[c]) {
            struct contrast test =
                contrast_test(counts, job->pmf, c ? job->position : job->log_p, job->vocab);
            note(record, c ? CONTRAST_ID : CONTRAST_LOG, test.upper, test.lower);
        }
    }
    note_binomial(record, memory->heaviest, BINOMIAL_HEAVIEST, counts[job->heaviest], job->table->draws,
                  job->pmf[job->heaviest]);
    note_binomial(record, memory->lightest, BINOMIAL_LIGHTEST, counts[job->lightest], job->table->draws,
                  job->pmf[job->lightest]);
    struct token_tails token = token_test(counts, job->pmf, job->vocab);
    note(record, TOKEN, token.upper, token.lower);
}

static void *work(void *argument)
{
    struct job *job = argument;
    size_t vocab = job->vocab;
    struct record *record = calloc(1, sizeof *record);
    gsl_rng *generator = gsl_rng_alloc(gsl_rng_mt19937);
    unsigned *drawn = malloc(vocab * sizeof *drawn);
    uint64_t *counts = malloc(2 * vocab * sizeof *counts), *observed = malloc(2 * vocab * sizeof *observed);
    enum statistic fine = job->table->fine < FLOOR_STAGE_TWO ? FINE_20 : FINE_50;
    struct memory memory = {.heaviest = calloc(job->table->draws + 1, sizeof *memory.heaviest),
                            .lightest = calloc(job->table->draws + 1, sizeof *memory.lightest)};
    for (size_t s = 0; s < STATISTICS; s++) {
        memory.quiet_from[s] = INFINITY;
        memory.quiet_to[s] = -INFINITY;
    }
    for (uint64_t block; (block = atomic_fetch_add(&job->next, 1)) < job->blocks;) {
        gsl_rng_set(generator, SEED + 1000003 * (unsigned long)(job->table - tables) + block);
        for (size_t r = 0; r < BLOCK; r++) {
            uint64_t *now = counts + (r % 2) * vocab;
            gsl_ran_multinomial(generator, vocab, job->table->draws, job->pmf, drawn);
            for (size_t i = 0; i < vocab; i++)
                now[i] = drawn[i];
            if (job->table->fine > 0) {
                struct chi_square test = chi_square_test(now, job->pmf, vocab);
                note(record, fine, test.upper, test.lower);
                continue;
            }
            note_all(record, &memory, job, now, observed);
            for (int f = 0; f < 2 && r % 2; f++)
                note_two_sample(record, f ? TWO_SAMPLE_50 : TWO_SAMPLE_20, job->rank[f], counts,
                                counts + vocab, observed);
        }
    }
    pthread_mutex_lock(&job->lock);
    for (size_t s = 0; s < STATISTICS; s++) {
        job->total.trials[s] += record->trials[s];
        for (size_t l = 0; l < LEVELS; l++) {
            job->total.rejected[s][0][l] += record->rejected[s][0][l];
            job->total.rejected[s][1][l] += record->rejected[s][1][l];
        }
    }
    pthread_mutex_unlock(&job->lock);
    gsl_rng_free(generator);
    free(record);
    free(drawn);
    free(counts);
    free(observed);
    free(memory.heaviest);
    free(memory.lightest);
    return NULL;
}

static double *filled(const struct table *table)
{
    double *pmf = malloc(table->vocab * sizeof *pmf), sum = 0;
    table->fill(pmf, table->vocab);
    for (size_t i = 0; i < table->vocab; i++)
        sum += pmf[i];
    for (size_t i = 0; i < table->vocab; i++)
        pmf[i] /= sum;
    return pmf;
}

static void job_begin(struct job *job, const struct table *table)
{
    const double floors[2] = {FLOOR_STAGE_ONE, FLOOR_STAGE_TWO};
    job->table = table;
    job->vocab = table->vocab;
    job->pmf = filled(table);
    if (table->fine > 0) {
        struct partition *cells = partition_fine(job->pmf, table->vocab, table->draws, table->fine);
        job->vocab = cells->cells;
        memcpy(job->pmf, cells->mass, cells->cells * sizeof *cells->mass);
        job->total.cells[table->fine < FLOOR_STAGE_TWO ? FINE_20 : FINE_50] = cells->cells;
        partition_free(cells);
        return;
    }
    job->log_p = malloc(job->vocab * sizeof *job->log_p);
    job->position = malloc(job->vocab * sizeof *job->position);
    for (size_t i = 0; i < job->vocab; i++) {
        job->log_p[i] = log(job->pmf[i]);
        job->position[i] = 2 * (double)i / (double)job->vocab - 1;
        job->heaviest = job->pmf[i] > job->pmf[job->heaviest] ? i : job->heaviest;
        job->lightest = job->pmf[i] <= job->pmf[job->lightest] ? i : job->lightest;
    }
    for (int f = 0; f < 2; f++) {
        job->rank[f] = partition_rank(job->pmf, job->vocab, table->draws, floors[f]);
        job->id[f] = partition_id(job->pmf, job->vocab, table->draws, floors[f]);
        job->total.cells[f ? RANK_50 : RANK_20] = job->rank[f]->cells;
        job->total.cells[f ? TWO_SAMPLE_50 : TWO_SAMPLE_20] = job->rank[f]->cells;
        job->total.cells[f ? ID_50 : ID_20] = job->id[f]->cells;
    }
    job->total.skew[CONTRAST_LOG] = contrast_skew(job->pmf, job->log_p, job->vocab, table->draws);
    job->total.skew[CONTRAST_ID] = contrast_skew(job->pmf, job->position, job->vocab, table->draws);
    job->contrast[0] = job->total.skew[CONTRAST_LOG] <= CONTRAST_SKEW_MAX;
    job->contrast[1] = job->total.skew[CONTRAST_ID] <= CONTRAST_SKEW_MAX;
}

static struct record measure(const struct table *table, uint64_t replicates)
{
    pthread_t thread[THREADS];
    struct job job = {.blocks = (replicates / table->divisor + BLOCK - 1) / BLOCK,
                      .lock = PTHREAD_MUTEX_INITIALIZER};
    job_begin(&job, table);
    for (size_t t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, work, &job);
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int f = 0; f < 2; f++) {
        partition_free(job.rank[f]);
        partition_free(job.id[f]);
    }
    free(job.pmf);
    free(job.log_p);
    free(job.position);
    return job.total;
}

/* The rule. */
static bool holds(uint64_t rejected, uint64_t trials, double at)
{
    return clopper_pearson_lower((double)rejected, (double)trials, INTERVAL_SIDE) <= 2 * at;
}

/* Prints each breach of the rule; returns how many. */
static size_t breaches(const struct table *table, const struct record *record)
{
    size_t count = 0;
    for (size_t s = 0; s < STATISTICS; s++) {
        for (size_t t = 0; t < 2 && record->trials[s] > 0; t++) {
            for (size_t l = 0; l < statistics[s].levels; l++) {
                if (holds(record->rejected[s][t][l], record->trials[s], level[l]))
                    continue;
                fprintf(stderr, "%s, %u draws: %s, %s tail: %llu of %llu rejected at %g\n", table->name,
                        table->draws, statistics[s].name, t ? "lower" : "upper",
                        (unsigned long long)record->rejected[s][t][l], (unsigned long long)record->trials[s],
                        level[l]);
                count++;
            }
        }
    }
    return count;
}

static void write_tail(FILE *file, const struct record *record, size_t s, size_t t)
{
    fprintf(file, ", \"%s\": [", t ? "lower" : "upper");
    for (size_t l = 0; l < statistics[s].levels; l++) {
        double hits = (double)record->rejected[s][t][l], trials = (double)record->trials[s];
        fprintf(file, "%s{\"level\": %g, \"rejected\": %.0f, \"times\": %.3f, \"from\": %.3f, \"to\": %.3f}",
                l ? ", " : "", level[l], hits, hits / trials / level[l],
                clopper_pearson_lower(hits, trials, INTERVAL_SIDE) / level[l],
                clopper_pearson_upper(hits, trials, INTERVAL_SIDE) / level[l]);
    }
    fprintf(file, "]");
}

static void write_table(FILE *file, const struct table *table, const struct record *record)
{
    const char *separator = "";
    fprintf(file, "    {\"table\": \"%s\", \"vocab\": %zu, \"draws\": %u, \"statistics\": [\n", table->name,
            table->vocab, table->draws);
    for (size_t s = 0; s < STATISTICS; s++) {
        bool dropped = record->trials[s] == 0 && record->skew[s] > CONTRAST_SKEW_MAX;
        if (record->trials[s] == 0 && !dropped)
            continue;
        fprintf(file, "%s      {\"statistic\": \"%s\"", separator, statistics[s].name);
        separator = ",\n";
        if (record->cells[s] > 0)
            fprintf(file, ", \"cells\": %zu", record->cells[s]);
        if (record->skew[s] > 0 && isfinite(record->skew[s]))
            fprintf(file, ", \"skew\": %.4f", record->skew[s]);
        fprintf(file, ", \"replicates\": %llu", (unsigned long long)record->trials[s]);
        for (size_t t = 0; t < 2 && !dropped; t++)
            write_tail(file, record, s, t);
        fprintf(file, "}");
    }
    fprintf(file, "\n    ]}");
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
    fprintf(
        file,
        "{\n  \"schema\": \"samplegate-calibration-1\",\n"
        "  \"notes\": \"Simulated multinomial counts of a correct sampler; all statistics of a table on the "
        "same counts, two-sample on pairs of them. times: measured rate over the level, from and to: its "
        "exact "
        "99.9 %% interval. A contrast with 0 replicates is above the limit of skewness and not used.\",\n"
        "  \"rule\": \"from is at most 2\",\n  \"program\": \"stats/test_calibration.c\",\n"
        "  \"replicates\": %llu,\n  \"generator\": \"gsl_rng_mt19937, gsl_ran_multinomial, %d replicates a "
        "seed\",\n  \"seed\": \"%d\",\n  \"gsl\": \"%s\",\n  \"compiler\": \"%s\",\n  \"date\": \"%s\",\n"
        "  \"tables\": [\n",
        (unsigned long long)replicates, BLOCK, SEED, gsl_version, __VERSION__, date);
    for (size_t i = 0; i < TABLES; i++) {
        struct record record = measure(&tables[i], replicates);
        broken += breaches(&tables[i], &record);
        write_table(file, &tables[i], &record);
        fprintf(file, "%s\n", i + 1 < TABLES ? "," : "");
        fprintf(stderr, "%s, %u draws: done\n", tables[i].name, tables[i].draws);
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
    size_t broken = 0, used = 0;
    for (size_t i = 0; i < TABLES; i++) {
        struct record record = measure(&tables[i], 20000);
        broken += breaches(&tables[i], &record);
        for (size_t s = 0; s < STATISTICS; s++)
            used += record.trials[s] > 0;
    }
    assert_true(used > 80);
    assert_int_equal(broken, 0);
}

int main(int count, char **argument)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_false_alarms)};
    if (count == 1)
        return cmocka_run_group_tests_name("stats/calibration", tests, NULL, NULL);
    double replicates = count == 3 ? strtod(argument[1], NULL) : 0;
    if (!(replicates >= 1 && replicates <= 1e12)) {
        fprintf(stderr, "usage: %s [REPLICATES FILE], such as 1e7 statistics.json\n", argument[0]);
        return 2;
    }
    return record_all((uint64_t)replicates, argument[2]);
}
