/* test_select.c: exact selection against the scalar definition, on every instruction set: the same kept ids and
 * the same weights, bit for bit.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernels/filter_scalar.h"
#include "kernels/loops.h"
#include "kernels/philox.h"
#include "kernels/select.h"
#include "kernels/softmax.h"

#define VOCAB_MAX (1 << 20)
#define COUNT(a) (sizeof(a) / sizeof *(a))
static const char *const isas[] = {"baseline", "avx2", "avx512"};

static float row[VOCAB_MAX], expected[VOCAB_MAX], got[VOCAB_MAX];
static uint8_t expected_kept[VOCAB_MAX], got_kept[VOCAB_MAX];
static uint32_t ids[VOCAB_MAX];

/* Rows by formula; `k` varies the numbers. */
enum kind {
    KIND_WIDE,     /* softmax of logits over 12 nats */
    KIND_STEEP,    /* over 60 nats: most weights round to no unit */
    KIND_NARROW,   /* within a part in 10^4: the keys of most ids share their upper bits */
    KIND_FLAT,     /* all equal */
    KIND_LEVELS,   /* three weights */
    KIND_ODD,      /* NaN, infinities, negatives and zeros among others */
    KIND_DENORMAL, /* nothing normal */
    KIND_HUGE,
    KIND_DESCENDING,
    KIND_ASCENDING,
    KIND_HEAD, /* one id with nearly all mass over a flat tail */
    KIND_ONE,
    KIND_NONE,
    KINDS
};

/* SAMPLEGATE_EXHAUSTIVE=1: more of everything. */
static int exhaustive(void)
{
    const char *value = getenv("SAMPLEGATE_EXHAUSTIVE");
    return value && strcmp(value, "1") == 0;
}

static uint32_t word_at(uint32_t k, size_t i)
{
    return philox_word(7, PHILOX_STREAM_TABLE, k, (uint32_t)i);
}

static void row_fill(enum kind kind, size_t vocab, uint32_t k)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -1, 0, -0.0f, -NAN, 0x1p-149f};
    for (size_t i = 0; i < vocab; i++) {
        const uint32_t word = word_at(k, i);
        const float unit = (float)(word >> 8) * 0x1p-24f;
        switch (kind) {
        case KIND_STEEP:
            row[i] = elementary_exp(60 * (unit - 1));
            break;
        case KIND_NARROW:
            row[i] = 0x1p-17f * (1 + 1e-4f * unit);
            break;
        case KIND_FLAT:
            row[i] = 0x1.8p-17f;
            break;
        case KIND_LEVELS:
            row[i] = (float)(1 + word % 3);
            break;
        case KIND_ODD:
            row[i] = word % 3 ? odd[word / 3 % COUNT(odd)] : unit;
            break;
        case KIND_DENORMAL:
            row[i] = kernel_float(word % 5000);
            break;
        case KIND_HUGE:
            row[i] = 3e38f * unit;
            break;
        case KIND_DESCENDING:
            row[i] = 1.0f / (float)(i + 1);
            break;
        case KIND_ASCENDING:
            row[i] = 1.0f / (float)(vocab - i);
            break;
        case KIND_HEAD:
            row[i] = i == word_at(k, VOCAB_MAX) % vocab ? 0.96f : 0x1p-22f;
            break;
        case KIND_ONE:
            row[i] = i == word_at(k, VOCAB_MAX) % vocab ? 0.5f : 0;
            break;
        case KIND_NONE:
            row[i] = odd[word % (COUNT(odd) - 1)];
            break;
        default:
            row[i] = elementary_exp(12 * (unit - 1));
            break;
        }
    }
}

/* One row on one instruction set, or all (isa NULL): what differs from the definition, or NULL. */
static const char *difference(const char *isa, const struct filter_rule *rule,
                              const struct filter_parameters *parameters, size_t vocab,
                              enum filter_status status)
{
    const struct weight_loops *loops = weight_loops_of(isa);
    memcpy(got, row, vocab * sizeof *row);
    memset(got_kept, 0x55, vocab);
    if (select_row(loops, rule, parameters, got, vocab, got_kept) != status)
        return "status";
    if (memcmp(got_kept, expected_kept, vocab) != 0)
        return "kept";
    if (memcmp(got, expected, vocab * sizeof *got) != 0)
        return "weights";
    const size_t count = select_ids(loops, rule, parameters, row, vocab, ids);
    size_t seen = 0;
    for (size_t i = 0; i < vocab; i++)
        if (expected_kept[i] && (seen >= count || ids[seen++] != i))
            return "ids";
    return seen == count ? NULL : "number of ids";
}

static void compare(const struct filter_rule *rule, const struct filter_parameters *parameters, size_t vocab,
                    const char *what)
{
    memcpy(expected, row, vocab * sizeof *row);
    const enum filter_status status = filter_row_scalar(rule, parameters, expected, vocab, expected_kept);
    for (size_t i = 0; i < COUNT(isas); i++) {
        if (!loops_of(isas[i]))
            continue;
        const char *differs = difference(isas[i], rule, parameters, vocab, status);
        if (differs)
            fail_msg("%s, %s, vocab %zu, k %lld, p %a, min_p %a, rule %s %d %d %d %d %d: other %s", isas[i],
                     what, vocab, (long long)parameters->top_k, parameters->top_p, parameters->min_p,
                     rule->name, (int)rule->top_k_ties, (int)rule->top_p_ties, (int)rule->boundary,
                     (int)rule->order, rule->min_p_first, differs);
    }
}

/* Any of the combinations of options, those of engines and those of none. */
static struct filter_rule rule_of(uint32_t word)
{
    if (word % 2 == 0)
        for (size_t r = 0;; r++)
            if (!filter_rule_at(r))
                return *filter_rule_at(word / 2 % r);
    word /= 2;
    return (struct filter_rule){"none",
                                (enum filter_ties)(word % 3),
                                (enum filter_ties)(word / 3 % 3),
                                (enum filter_boundary)(word / 9 % 3),
                                (enum filter_order)(word / 27 % 3),
                                (int)(word / 81 % 2),
                                0};
}

static const size_t vocabs[] = {1,   2,   3,    15,   16,   17,   63,   64,  65,
                                127, 129, 1000, 4095, 4096, 4097, 8191, 9000};

static void every_kind(void **state)
{
    (void)state;
    static const int64_t ks[] = {-1, 1, 2, 20, 50, 119, 120, 121, 500, 5000, 100000};
    static const double ps[] = {1, 1e-9, 0.1, 0.5, 0.9, 0.95, 0.999, 1 - 0x1p-53, 0x1p-1074};
    static const double min_ps[] = {0, 0, 0.05, 1e-6, 1, 1e-44, -0.0};
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (size_t v = 0; v < COUNT(vocabs); v++)
            for (uint32_t round = 0; round < (exhaustive() ? 600u : 12u); round++) {
                const uint32_t k = kind << 16 | (uint32_t)v << 8 | round, word = word_at(k, VOCAB_MAX + 1);
                const struct filter_rule rule = rule_of(word_at(k, VOCAB_MAX + 2));
                const struct filter_parameters parameters = {ks[word % COUNT(ks)], ps[word / 16 % COUNT(ps)],
                                                             min_ps[word / 256 % COUNT(min_ps)]};
                if (round % 4 == 0)
                    row_fill((enum kind)kind, vocabs[v], k);
                compare(&rule, &parameters, vocabs[v], "kind");
            }
}

/* Every k and, by every mass that lies above an id, every boundary of top_p: on it, and a step of a double to
 * either side. Small rows, of few levels or none, so that the boundary falls among ties, too. */
static void every_boundary(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < (exhaustive() ? 2000u : 40u); round++) {
        const size_t vocab = 1 + word_at(round, 0) % 90;
        uint64_t total = 0;
        for (size_t i = 0; i < vocab; i++)
            total += (uint64_t)(row[i] = (float)(word_at(round, i + 1) % (round % 2 ? 5u : 100000u)));
        if (total == 0)
            row[0] = 1, total = 1;
        for (size_t i = 0; i < vocab; i++) {
            const struct filter_rule rule = rule_of(word_at(round, 1000 + i));
            uint64_t above = 0;
            for (size_t j = 0; j < vocab; j++)
                above += row[j] > row[i] ? (uint64_t)row[j] : 0;
            const double share = (double)(above + (uint64_t)row[i]) / (double)total;
            const double ps[] = {share, nextafter(share, 0), nextafter(share, 2)};
            for (size_t j = 0; j < COUNT(ps); j++) {
                const struct filter_parameters parameters = {j == 2 ? (int64_t)i + 1 : -1, ps[j], 0};
                if (ps[j] > 0)
                    compare(&rule, &parameters, vocab, "boundary");
            }
            const struct filter_parameters parameters = {(int64_t)i + 1, 1, 0};
            compare(&rule, &parameters, vocab, "top_k");
        }
    }
}

/* p on the mass above one id of a wide row, and a step of a double to either side: a unit of 2^-44 decides. */
static void unit_boundaries(size_t vocab, uint32_t k)
{
    float largest = 0;
    for (size_t i = 0; i < vocab; i++)
        if (kernel_weight_valid(row[i]) && row[i] > largest)
            largest = row[i];
    if (largest == 0)
        return;
    memset(expected_kept, FILTER_KEPT, vocab);
    const struct filter_view view = {row, expected_kept, vocab,
                                     fixed_point_scale(largest, FIXED_POINT_CDF_BITS)};
    const uint64_t total = filter_mass_above(&view, 0);
    for (uint32_t round = 0; round < 6; round++) {
        const uint32_t word = word_at(k, VOCAB_MAX + 10 + round);
        const uint64_t rank = round < 3 ? 1 + word % 19 : 1 + word % vocab;
        const struct filter_cut cut = filter_top_k(&view, rank, FILTER_TIES_ALL);
        const uint64_t above = filter_mass_above(&view, cut.pivot);
        const double share = (double)above / (double)total;
        const double ps[] = {share, nextafter(share, 0), nextafter(share, 2)};
        for (size_t j = 0; j < COUNT(ps); j++) {
            const struct filter_parameters parameters = {round < 3 ? 20 : -1, ps[j], 0};
            const struct filter_rule rule = rule_of(round < 2 ? 0 : word >> 8);
            if (ps[j] > 0 && ps[j] < 1)
                compare(&rule, &parameters, vocab, "unit");
            memset(expected_kept, FILTER_KEPT, vocab);
        }
    }
}

static void wide_boundaries(void **state)
{
    (void)state;
    static const size_t wide[] = {32768, 50257, 128256, 151936, VOCAB_MAX};
    static const enum kind kinds[] = {KIND_WIDE,   KIND_STEEP, KIND_NARROW,
                                      KIND_LEVELS, KIND_ODD,   KIND_DESCENDING};
    for (uint32_t k = 0; k < COUNT(kinds); k++)
        for (size_t v = k % 2; v < (exhaustive() ? COUNT(wide) : 3); v += exhaustive() ? 1 : 2) {
            row_fill(kinds[k], wide[v], 50 + k);
            unit_boundaries(wide[v], 50 + k);
        }
}

static void wide_rows(void **state)
{
    (void)state;
    static const size_t wide[] = {32768, 50257, 128256, 151936, VOCAB_MAX};
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (size_t v = 0; v < COUNT(wide); v += kind == KIND_WIDE || kind == KIND_FLAT ? 1 : 3) {
            const uint32_t word = word_at(kind, v);
            const struct filter_rule rule = rule_of(word_at(kind, 100 + v));
            row_fill((enum kind)kind, wide[v], kind);
            const struct filter_parameters cases[] = {
                {20, 0.95, 0}, {-1, 0.95, 0}, {1000 + word % 40000, 0.5 + 0.4 * (word >> 8) * 0x1p-24, 0}};
            for (size_t c = 0; c < COUNT(cases); c++)
                compare(c ? &rule : filter_rule_at(0), &cases[c], wide[v], "wide");
        }
}

/* Softmax bit for bit that of softmax.h, odd logits and temperatures included. */
static void softmax_as_defined(void **state)
{
    (void)state;
    static const float temperatures[] = {1, 0.7f, 1e-30f, 1e30f, 0x1p-149f};
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (size_t v = 0; v < COUNT(vocabs); v++)
            for (size_t t = 0; t < COUNT(temperatures); t++) {
                row_fill((enum kind)kind, vocabs[v], kind);
                for (size_t i = 0; i < vocabs[v]; i++)
                    if (kind != KIND_NONE && !isinf(row[i]))
                        row[i] = (float)(kind % 2 ? 1 : 40) * row[i] - 3;
                softmax(row, vocabs[v], temperatures[t], expected);
                for (size_t i = 0; i < COUNT(isas); i++) {
                    if (!loops_of(isas[i]))
                        continue;
                    weight_loops_of(isas[i])->softmax(row, vocabs[v], temperatures[t], got);
                    if (memcmp(got, expected, vocabs[v] * sizeof *got) != 0)
                        fail_msg("%s, kind %u, vocab %zu, temperature %a", isas[i], kind, vocabs[v],
                                 (double)temperatures[t]);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),      cmocka_unit_test(every_boundary),     cmocka_unit_test(wide_rows),
        cmocka_unit_test(wide_boundaries), cmocka_unit_test(softmax_as_defined),
    };
    return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
