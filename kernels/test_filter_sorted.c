/* test_filter_sorted.c: filters against a plain sort, on thousands of small rows full of ties, with every
 * combination of options.
 *
 * Masses are small integers; their comparison with p times the total is exact, as a product and its rounding
 * error. SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernels/filter.h"
#include "kernels/philox.h"

#define SMALL 24
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const float *sorted_row;
static int sorted_highest;

static int rank_compare(const void *a, const void *b)
{
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    if (sorted_row[i] != sorted_row[j])
        return sorted_row[i] > sorted_row[j] ? -1 : 1;
    return (i < j ? -1 : i > j) * (sorted_highest ? -1 : 1);
}

static size_t ranks_of(const float *row, size_t vocab, uint32_t alive, enum filter_ties ties, size_t *id)
{
    size_t n = 0;
    for (size_t i = 0; i < vocab; i++)
        if (alive >> i & 1)
            id[n++] = i;
    sorted_row = row;
    sorted_highest = ties == FILTER_TIES_HIGHEST;
    qsort(id, n, sizeof *id, rank_compare);
    return n;
}

static uint32_t sorted_top_k(const float *row, size_t vocab, uint32_t alive, int64_t k, enum filter_ties ties)
{
    size_t id[SMALL], n = ranks_of(row, vocab, alive, ties, id);
    uint32_t kept = 0;
    if (k < 0)
        return alive;
    for (size_t r = 0; r < n; r++)
        if ((int64_t)r < k || (ties == FILTER_TIES_ALL && row[id[r]] == row[id[k - 1]]))
            kept |= 1u << id[r];
    return kept;
}

static uint32_t sorted_top_p(const float *row, size_t vocab, uint32_t alive, double p,
                             const struct filter_rule *rule, size_t *last, float *last_weight)
{
    size_t id[SMALL], n = ranks_of(row, vocab, alive, rule->top_p_ties, id);
    double total = 0, above = 0, larger = 0;
    uint32_t kept = 0;
    if (p >= 1)
        return alive;
    for (size_t r = 0; r < n; r++)
        total += (double)row[id[r]];
    const double share = p * total, share_rest = fma(p, total, -share);
    for (size_t r = 0; r < n; r++) {
        if (r == 0 || row[id[r]] != row[id[r - 1]])
            larger = above;
        const double before = rule->top_p_ties == FILTER_TIES_ALL ? larger : above;
        const double over = before == share ? -share_rest : before - share; /* its sign is exact */
        if (rule->boundary == FILTER_AT_MOST ? over <= 0 : over < 0) {
            kept |= 1u << id[r];
            *last = id[r];
            *last_weight = (float)fmin((double)row[id[r]], share - before);
        }
        above += (double)row[id[r]];
    }
    return kept;
}

static uint32_t sorted_filters(const struct filter_rule *rule, const float *row, size_t vocab, int64_t k,
                               double p, double min_p, size_t *last, float *last_weight)
{
    float largest = 0;
    uint32_t alive = 0, above = 0;
    for (size_t i = 0; i < vocab; i++)
        largest = fmaxf(largest, row[i]);
    for (size_t i = 0; i < vocab; i++) {
        alive |= (uint32_t)(row[i] > 0) << i;
        above |= (uint32_t)((double)row[i] >= min_p * (double)largest) << i;
    }
    if (rule->min_p_first)
        alive &= above;
    if (rule->order == FILTER_JOINT)
        alive = sorted_top_k(row, vocab, alive, k, rule->top_k_ties) &
                sorted_top_p(row, vocab, alive, p, rule, last, last_weight);
    else if (rule->order == FILTER_TOP_K_FIRST)
        alive = sorted_top_p(row, vocab, sorted_top_k(row, vocab, alive, k, rule->top_k_ties), p, rule, last,
                             last_weight);
    else
        alive = sorted_top_k(row, vocab, sorted_top_p(row, vocab, alive, p, rule, last, last_weight), k,
                             rule->top_k_ties);
    return alive & above;
}

/* Rows of small integers (ties everywhere, exact sums), parameters on exact boundaries and off them, every
 * combination of options. */
static void against_a_sort(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 6000; round++) {
        uint32_t word[SMALL + 8];
        float row[SMALL] = {0};
        for (uint32_t i = 0; i < COUNT(word); i++)
            word[i] = philox_word(3, PHILOX_STREAM_TABLE, round, i);
        const size_t vocab = 1 + word[SMALL] % (SMALL - 1);
        const uint32_t levels = 1 + word[SMALL + 1] % 9;
        float total = 0;
        for (size_t i = 0; i < vocab; i++)
            total += row[i] = (float)(word[i] % levels + (i == 0 ? 1 : 0));
        const float scale = ldexpf(1, (int)(word[SMALL + 2] % 200) - 100);
        const int64_t k = word[SMALL + 3] % 3 ? (int64_t)(1 + word[SMALL + 3] / 3 % (vocab + 1)) : -1;
        const double on = (1 + word[SMALL + 4] / 4 % (uint32_t)total) / (double)total;
        const double p = word[SMALL + 4] % 4 == 0   ? 1
                         : word[SMALL + 4] % 4 == 1 ? (word[SMALL + 4] + 1.0) * 0x1p-32
                                                    : on;
        const double min_p = word[SMALL + 5] % 2 ? (double)(word[SMALL + 5] / 2 % 17) / 16 : 0;
        struct filter_rule rule = {
            "",
            (enum filter_ties)(word[SMALL + 6] % 3),
            (enum filter_ties)(word[SMALL + 6] / 3 % 3),
            (enum filter_boundary)(word[SMALL + 6] / 9 % 3),
            (enum filter_order)(word[SMALL + 6] / 27 % 3),
            (int)(word[SMALL + 6] / 81 % 2),
            0,
        };
        size_t last = 0;
        float last_weight = 0;
        const uint32_t expected = sorted_filters(&rule, row, vocab, k, p, min_p, &last, &last_weight);
        float weights[SMALL];
        uint8_t kept[SMALL];
        uint32_t got = 0;
        const struct filter_parameters parameters = {k, p, min_p};
        for (size_t i = 0; i < vocab; i++)
            weights[i] = row[i] * scale;
        assert_int_equal(filter_row(&rule, &parameters, weights, vocab, kept), FILTER_OK);
        for (size_t i = 0; i < vocab; i++)
            got |= (uint32_t)kept[i] << i;
        if (got != expected)
            fail_msg("round %u: vocab %zu, k %d, p %.17g, min_p %g, rule %d %d %d %d %d: keeps %x, a sort %x",
                     round, vocab, (int)k, p, min_p, (int)rule.top_k_ties, (int)rule.top_p_ties,
                     (int)rule.boundary, (int)rule.order, rule.min_p_first, got, expected);
        const int split = rule.boundary == FILTER_SPLIT && rule.top_p_ties != FILTER_TIES_ALL && p < 1;
        for (size_t i = 0; i < vocab; i++) {
            const float whole = kept[i] ? row[i] : 0;
            const float want = split && i == last && kept[i] ? last_weight : whole;
            if (!(fabsf(weights[i] / scale - want) <= (want == whole ? 0 : 0x1p-40f + 1e-6f * want)))
                fail_msg("round %u, id %zu: weight %a, expected %a", round, i, (double)(weights[i] / scale),
                         (double)want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_a_sort),
    };
    return cmocka_run_group_tests_name("filter, sorted", tests, NULL, NULL);
}
