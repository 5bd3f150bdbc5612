/* test_batch.c: draws that depend on each other while every count keeps its law, as the workers' answers would
 * bring them, and what the batch check says to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "suite/judge/chunk.h"

#define VOCAB 10
#define DRAWS 20003 /* the last call is short */

static const double pmf[VOCAB] = {0.30, 0.20, 0.15, 0.10, 0.08, 0.06, 0.05, 0.03, 0.02, 0.01};
static const uint32_t sizes[] = {1, 2, 3, 8, 64};
#define SIZES (sizeof sizes / sizeof *sizes)

static uint64_t random_state;

/* SplitMix64 (Steele, Lea and Flood 2014), on [0, 1). */
static double uniform(void)
{
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int32_t token_of(double u)
{
    int32_t id = 0;
    for (double sum = pmf[0]; u >= sum && id + 1 < VOCAB; sum += pmf[id])
        id++;
    return id;
}

static int by_token(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

enum defect { NONE, SORTED, MIRRORED, LAST_ROW_COPIES, FIRST_ROWS_EQUAL, CALLS_REPEAT };

/* One call after the other; each defect but SORTED leaves the law of every single draw as it is. */
static void draw(enum defect defect, uint32_t batch, int32_t *token)
{
    for (size_t first = 0, call = 0; first < DRAWS; first += batch, call++) {
        size_t rows = DRAWS - first < batch ? DRAWS - first : batch;
        int32_t *row = token + first;
        double u = 0;
        for (size_t r = 0; r < rows; r++) {
            u = defect == MIRRORED && r % 2 ? 1 - u : uniform();
            row[r] = token_of(u);
        }
        if (defect == SORTED)
            qsort(row, rows, sizeof *row, by_token);
        if (defect == LAST_ROW_COPIES && rows > 1)
            row[rows - 1] = row[rows - 2];
        if (defect == FIRST_ROWS_EQUAL && rows > 1)
            row[1] = row[0];
        if (defect == CALLS_REPEAT && call % 5 == 4)
            memcpy(row, row - batch, rows * sizeof *row);
    }
}

/* The smallest p among the statistics of this name's beginning. */
static double smallest(const struct evidence *evidence, const char *begins)
{
    double p = 1;
    size_t found = 0;
    for (size_t s = 0; s < evidence->count; s++)
        if (!strncmp(evidence->statistic[s].name, begins, strlen(begins))) {
            p = evidence->statistic[s].tail.p < p ? evidence->statistic[s].tail.p : p;
            found++;
        }
    assert_int_equal(found, 2);
    return p;
}

/* As a chunk of 20,003 draws at each of these batch sizes would be counted. */
static void evaluate(enum defect defect, const uint32_t *batches, size_t count, struct evidence *evidence)
{
    static int32_t token[DRAWS];
    struct table table = {.name = "made", .vocab = VOCAB};
    struct plan_cell cell = {
        .family = FAMILY_EQUIVALENCE, .name = "made", .table = &table, .temperature = 1, .draws = DRAWS};
    struct plan plan = {.batches = count, .cell = &cell, .cells = 1};
    struct cell_result result = {.cell = &cell};
    struct cell_counts *counts = &result.counts[0];
    struct session session = {.plan = &plan, .cell = &result};
    uint64_t pooled[VOCAB] = {0}, each[SIZES][VOCAB] = {0};
    *counts = (struct cell_counts){.vocab = VOCAB, .batches = count, .pooled = pooled};
    for (size_t b = 0; b < count; b++) {
        plan.batch[b] = (struct plan_batch){.size = batches[b], .numerator = 1, .denominator = count};
        counts->batch[b] = each[b];
        struct plan_chunk chunk = {.batch = b, .stage = 1, .draws = DRAWS};
        draw(defect, batches[b], token);
        chunk_count(&session, &chunk, 0, token);
    }
    struct check_input input = {.plan = &plan,
                                .cell = &cell,
                                .pmf = pmf,
                                .vocab = VOCAB,
                                .stage = 1,
                                .floor = FLOOR_STAGE_ONE,
                                .counts = counts};
    const struct check check = {.key = "equivalence.batch"};
    check_batch(&check, &input, evidence);
}

static void independent_draws_pass(void **state)
{
    (void)state;
    for (int run = 0; run < 50; run++) {
        struct evidence evidence = {0};
        evaluate(NONE, sizes, SIZES, &evidence);
        for (size_t s = 0; s < evidence.count; s++)
            assert_true(evidence.statistic[s].tail.p > 1e-5); /* 50 x 9 of them, from fixed seeds */
        evidence_free(&evidence);
    }
}

/* The least probability of a dependent pair is one row in 64, diluted by the draws at batch 1. */
static void dependent_draws_are_seen(void **state)
{
    (void)state;
    static const struct {
        enum defect defect;
        const char *seen_by;
    } cases[] = {{SORTED, "rows/"},
                 {MIRRORED, "rows/"},
                 {LAST_ROW_COPIES, "rows/"},
                 {FIRST_ROWS_EQUAL, "rows/"},
                 {CALLS_REPEAT, "calls/"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct evidence evidence = {0};
        evaluate(cases[i].defect, sizes, SIZES, &evidence);
        double p = smallest(&evidence, cases[i].seen_by);
        if (p > 1e-9)
            fail_msg("defect %zu: p %.1e", i, p);
        for (size_t s = 0; s < evidence.count; s++)
            assert_true(evidence.statistic[s].dependence == !strstr(evidence.statistic[s].name, "batch-"));
        evidence_free(&evidence);
    }
}

/* No draw is in two pairs of a kind, so the pairs are as many as half the draws at most; batch 1 has no rows. */
static void pairs_by_hand(void **state)
{
    (void)state;
    const struct {
        uint32_t batch;
        uint64_t rows, calls;
    } cases[] = {{1, 0, 10001}, {2, 5001, 10001}, {20003, 10001, 0}, {30000, 10001, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct evidence evidence = {0};
        evaluate(NONE, &cases[i].batch, 1, &evidence);
        unsigned long long rows = 0, calls = 0;
        for (size_t s = 0; s < evidence.count; s++) {
            const struct statistic *statistic = &evidence.statistic[s];
            const char *words = strchr(statistic->text, ':'), *of = words ? strstr(words, " of ") : NULL;
            if (!of)
                continue;
            if (!strcmp(statistic->name, "rows/upper"))
                rows = strtoull(of + 4, NULL, 10);
            if (!strcmp(statistic->name, "calls/upper"))
                calls = strtoull(of + 4, NULL, 10);
        }
        assert_int_equal(rows, cases[i].rows);
        assert_int_equal(calls, cases[i].calls);
        evidence_free(&evidence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_draws_pass),
        cmocka_unit_test(dependent_draws_are_seen),
        cmocka_unit_test(pairs_by_hand),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
