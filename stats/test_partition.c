/* test_partition.c: what every partition promises, on many shapes, and known cell counts.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/partition.h"
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct partition *(*maker)(const double *pmf, size_t vocab, double draws, double floor);

static double weight_flat(size_t id)
{
    (void)id;
    return 1;
}
static double weight_zipf(size_t id)
{
    return 1 / (double)(id + 1);
}
static double weight_scattered(size_t id) /* heavy and light ids mixed, a third masked, ties */
{
    return id % 3 == 1 ? 0 : exp2(-(double)(id * 2654435761U % 97) / 4);
}
static double weight_head(size_t id)
{
    return id == 77 ? 1e6 : 1;
}
static double weight_octaves(size_t id)
{
    return exp2(-(double)id);
}
static double (*const weights[])(size_t) = {weight_flat, weight_zipf, weight_scattered, weight_head,
                                            weight_octaves};

static double *made(double (*weight)(size_t), size_t vocab)
{
    double *pmf = malloc(vocab * sizeof *pmf), sum = 0;
    for (size_t id = 0; id < vocab; id++)
        sum += pmf[id] = weight(id);
    for (size_t id = 0; id < vocab; id++)
        pmf[id] /= sum;
    return pmf;
}

/* Masses are the sums of their ids and make 1; every id of positive probability is in a cell, no other is. */
static void check_cover(const struct partition *partition, const double *pmf, size_t vocab)
{
    double *sum = calloc(partition->cells, sizeof *sum), total = 0;
    assert_true(partition->vocab == vocab && partition->cells >= 1);
    for (size_t id = 0; id < vocab; id++) {
        assert_true((partition->cell_of[id] == PARTITION_NONE) == (pmf[id] == 0));
        if (pmf[id] > 0) {
            assert_true(partition->cell_of[id] < partition->cells);
            sum[partition->cell_of[id]] += pmf[id];
        }
    }
    for (size_t k = 0; k < partition->cells; k++) {
        assert_true(fabs(sum[k] - partition->mass[k]) <= 1e-12);
        total += partition->mass[k];
    }
    assert_true(fabs(total - 1) < 1e-9);
    free(sum);
}

static void check_floor(const struct partition *partition, double draws, double floor)
{
    for (size_t k = 0; k < partition->cells && partition->cells > 1; k++)
        assert_true(partition->mass[k] * draws >= floor * (1 - 1e-8));
}

static void test_promises(void **state)
{
    (void)state;
    const maker makers[] = {partition_rank, partition_id, partition_fine};
    const size_t vocabs[] = {1, 2, 20, 257, 5000};
    const double draws[] = {1, 39, 400, 1e5, 1e9}, floors[] = {20, 50};
    for (size_t w = 0; w < 5; w++) {
        for (size_t v = 0; v < 5; v++) {
            double *pmf = made(weights[w], vocabs[v]);
            for (size_t m = 0; m < 3 * 5 * 2; m++) {
                double n = draws[m / 3 % 5], floor = floors[m / 15];
                struct partition *one = makers[m % 3](pmf, vocabs[v], n, floor);
                struct partition *two = makers[m % 3](pmf, vocabs[v], n, floor);
                check_cover(one, pmf, vocabs[v]);
                check_floor(one, n, floor);
                assert_memory_equal(one->cell_of, two->cell_of, vocabs[v] * sizeof *one->cell_of);
                partition_free(one);
                partition_free(two);
            }
            struct partition *ids = partition_ids(pmf, vocabs[v]), *bins = partition_bins(pmf, vocabs[v]);
            check_cover(ids, pmf, vocabs[v]);
            check_cover(bins, pmf, vocabs[v]);
            assert_true(bins->cells <= 64);
            partition_free(ids);
            partition_free(bins);
            free(pmf);
        }
    }
}

static void test_rank_cells(void **state)
{
    (void)state;
    size_t vocab = 151936;
    double *pmf = made(weight_zipf, vocab);
    struct partition *rank = partition_rank(pmf, vocab, 1e8, 20);
    /* 32 single, then four cells a doubling: 32..64, ..., 65536..131072 are 12 doublings, and the rest is one
     * cell. */
    assert_int_equal(rank->cells, 32 + 12 * 4 + 1);
    for (uint32_t id = 0; id < 32; id++)
        assert_int_equal(rank->cell_of[id], id);
    assert_int_equal(rank->cell_of[39], 32);
    assert_int_equal(rank->cell_of[40], 33);
    assert_int_equal(rank->cell_of[64], 36);
    assert_int_equal(rank->cell_of[79], 36);
    assert_int_equal(rank->cell_of[80], 37);
    for (size_t id = 1; id < vocab; id++)
        assert_true(rank->cell_of[id] >= rank->cell_of[id - 1]);
    partition_free(rank);
    free(pmf);
}

static void test_id_cells(void **state)
{
    (void)state;
    double *pmf = made(weight_scattered, 5000);
    struct partition *id = partition_id(pmf, 5000, 1e9, 20);
    uint32_t last = 0;
    assert_true(id->cells > 100 && id->cells <= 128);
    for (size_t i = 0; i < 5000; i++) {
        if (id->cell_of[i] == PARTITION_NONE)
            continue;
        assert_true(id->cell_of[i] == last || id->cell_of[i] == last + 1);
        last = id->cell_of[i];
    }
    partition_free(id);
    free(pmf);
    pmf = made(weight_flat, 128256);
    id = partition_id(pmf, 128256, 20000, 20);
    assert_int_equal(id->cells, 128);
    for (size_t k = 0; k < 128; k++)
        assert_true(fabs(id->mass[k] * 128 - 1) < 1e-9); /* 1,002 ids each */
    partition_free(id);
    free(pmf);
}

static void test_fine_cells(void **state)
{
    (void)state;
    double *pmf = made(weight_flat, 151936);
    struct partition *fine = partition_fine(pmf, 151936, 20000, 20);
    assert_int_equal(fine->cells,
                     151936 / 152); /* 152 ids reach 20; the short last cell goes to the one before */
    assert_true(fabs(fine->mass[998] * 151936 - (152 + 151936 % 152)) < 1e-6);
    partition_free(fine);
    fine = partition_fine(pmf, 151936, 151936 * 20.0, 20);
    assert_int_equal(fine->cells, 151936);
    partition_free(fine);
    free(pmf);
    pmf = made(weight_zipf, 1000);
    fine = partition_fine(pmf, 1000, 1e4, 20);
    size_t single = 0;
    while (pmf[single] * 1e4 >= 20)
        single++;
    for (uint32_t id = 0; id < single; id++)
        assert_int_equal(fine->cell_of[id], id);
    assert_true(fine->cell_of[single] == fine->cell_of[single + 1]);
    partition_free(fine);
    free(pmf);
}

static void test_poor_vocabulary(void **state)
{
    (void)state;
    double *pmf = made(weight_head, 1000);
    struct partition *rank = partition_rank(pmf, 1000, 10000, 20); /* the tail expects 10 */
    assert_int_equal(rank->cells, 1);
    partition_free(rank);
    rank = partition_rank(pmf, 1000, 0, 20);
    assert_int_equal(rank->cells, 1);
    partition_free(rank);
    free(pmf);
    partition_free(NULL);
}

static void test_ties_go_by_id(void **state)
{
    (void)state;
    double pmf[40];
    for (size_t id = 0; id < 40; id++)
        pmf[id] = 1.0 / 40;
    struct partition *bins = partition_bins(pmf, 40), *rank = partition_rank(pmf, 40, 1e6, 20);
    for (uint32_t id = 0; id < 4; id++)
        assert_int_equal(bins->cell_of[id], id);
    for (uint32_t id = 0; id < 32; id++)
        assert_int_equal(rank->cell_of[id], id);
    partition_free(bins);
    partition_free(rank);
}

static void test_bins(void **state)
{
    (void)state;
    double *pmf = made(weight_octaves, 1000); /* denormals at the end */
    struct partition *bins = partition_bins(pmf, 1000);
    assert_int_equal(bins->cells, 64);
    for (uint32_t id = 0; id < 63; id++)
        assert_int_equal(bins->cell_of[id], id);
    assert_int_equal(bins->cell_of[64], 63);
    partition_free(bins);
    free(pmf);

    size_t vocab = 151936;
    pmf = made(weight_flat, vocab);
    bins = partition_bins(pmf, vocab);
    assert_int_equal(bins->cells, 4 + 16);
    for (size_t k = 4; k < 20; k++)
        assert_true(fabs(bins->mass[k] - 1.0 / 16) < 2e-5);
    for (size_t id = 5; id < vocab; id++)
        assert_true(bins->cell_of[id] == bins->cell_of[id - 1] ||
                    bins->cell_of[id] == bins->cell_of[id - 1] + 1);
    partition_free(bins);
    free(pmf);

    pmf = made(weight_scattered, 5000);
    bins = partition_bins(pmf, 5000);
    for (size_t k = 4; k < bins->cells; k++) {
        int octave = 0, other;
        bool seen = false;
        assert_true(bins->mass[k] <= 1.0 / 16 + 0.01);
        for (size_t id = 0; id < 5000; id++) {
            if (bins->cell_of[id] != k)
                continue;
            frexp(pmf[id], &other);
            assert_true(!seen || other == octave);
            octave = other;
            seen = true;
        }
    }
    partition_free(bins);
    free(pmf);
}

static void test_count(void **state)
{
    (void)state;
    double pmf[5] = {0.25, 0, 0.25, 0.25, 0.25};
    uint64_t counts[5] = {1, 100, 2, 3, 4}, observed[4];
    struct partition *ids = partition_ids(pmf, 5);
    assert_int_equal(ids->cells, 4);
    partition_count(ids, counts, observed);
    for (uint64_t k = 0; k < 4; k++)
        assert_true(observed[k] == k + 1);
    partition_free(ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promises),
        cmocka_unit_test(test_rank_cells),
        cmocka_unit_test(test_id_cells),
        cmocka_unit_test(test_fine_cells),
        cmocka_unit_test(test_poor_vocabulary),
        cmocka_unit_test(test_ties_go_by_id),
        cmocka_unit_test(test_bins),
        cmocka_unit_test(test_count),
    };
    return cmocka_run_group_tests_name("stats/partition", tests, NULL, NULL);
}
