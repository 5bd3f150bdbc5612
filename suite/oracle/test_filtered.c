/* test_filtered.c: filters against hand-computed vectors, and against brute force in integers on every small row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "suite/oracle/filtered.h"

struct vector {
    double weights[8];
    size_t vocab;
    struct law_limits limits;
    const char *filter;
    double pmf[8]; /* what is left, by hand */
};

#define ROW(...) {__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)
#define P(p)                                                                                                 \
    {                                                                                                        \
        -1, p, 0                                                                                             \
    }

static const struct vector vectors[] = {
    /* 1/2 is reached by the first id: the mass above the second is p exactly. */
    {ROW(2, 1, 1), P(.5), "vllm-0.5.0", {1, 0, 0}},
    {ROW(2, 1, 1), P(.5), "llama.cpp", {1, 0, 0}},
    {ROW(2, 1, 1), P(.5), "tensorrt-llm-torch", {2. / 3, 1. / 3, 0}},
    {ROW(2, 1, 1), P(.5), "sglang-pytorch", {2. / 3, 1. / 3, 0}},
    {ROW(2, 1, 1), P(.5), "flashinfer-joint", {1, 0, 0}},
    {ROW(2, 1, 1), P(.5), "tensorrt-llm-cpp", {1, 0, 0}},
    /* Four ties. */
    {ROW(1, 1, 1, 1), P(.5), "vllm-v1", {0, 0, .5, .5}},
    {ROW(1, 1, 1, 1), P(.5), "hf-transformers", {0, 0, .5, .5}},
    {ROW(1, 1, 1, 1), P(.5), "llama.cpp", {.5, .5, 0, 0}},
    {ROW(1, 1, 1, 1), P(.5), "tensorrt-llm-torch", {1. / 3, 1. / 3, 1. / 3, 0}},
    {ROW(1, 1, 1, 1), P(.5), "flashinfer-top-k-first", {.25, .25, .25, .25}},
    {ROW(1, 1, 1, 1), P(.5), "tensorrt-llm-cpp", {.5, .5, 0, 0}},
    {ROW(1, 1, 1, 1), P(.01), "vllm-0.5.0", {0, 0, 0, 1}},
    {ROW(1, 1, 1, 1), P(.01), "sglang-pytorch", {1, 0, 0, 0}},
    {ROW(1, 1, 1, 1), P(.01), "flashinfer-joint", {.25, .25, .25, .25}},
    /* 1/2, 1/4, 1/8, 1/8 at 3/4 and 5/8: the C++ kernels give the last id what is left up to p. */
    {ROW(4, 2, 1, 1), P(.75), "tensorrt-llm-torch", {4. / 7, 2. / 7, 1. / 7, 0}},
    {ROW(4, 2, 1, 1), P(.75), "flashinfer-joint", {2. / 3, 1. / 3, 0, 0}},
    {ROW(4, 2, 1, 1), P(.75), "tensorrt-llm-cpp", {2. / 3, 1. / 3, 0, 0}},
    {ROW(4, 2, 1, 1), P(.625), "tensorrt-llm-cpp", {4. / 5, 1. / 5, 0, 0}},
    {ROW(4, 3, 3), P(.5), "vllm-0.5.0", {4. / 7, 0, 3. / 7}},
    {ROW(4, 3, 3), P(.5), "llama.cpp", {4. / 7, 3. / 7, 0}},
    {ROW(4, 3, 3), P(.5), "flashinfer-joint", {.4, .3, .3}},
    {ROW(4, 3, 3), P(.5), "tensorrt-llm-cpp", {4. / 5, 1. / 5, 0}},
    /* Order: of the 86 that top_k 4 leaves, 80 are more than .82; of the whole 100 they are less. */
    {ROW(35, 25, 20, 5, 5, 5, 5), {4, .82, 0}, "flashinfer-joint", {.35, .25, .2, .05, .05, .05, .05}},
    {ROW(35, 25, 20, 6, 5, 5, 4), {4, .82, 0}, "flashinfer-joint", {35. / 86, 25. / 86, 20. / 86, 6. / 86}},
    {ROW(35, 25, 20, 6, 5, 5, 4), {4, .82, 0}, "flashinfer-top-k-first", {35. / 80, 25. / 80, 20. / 80, 0}},
    /* min_p 1/4 leaves 8, 4, 2. First: 12 above the third is more than .8 of 14. Last: it is less than .8 of 16. */
    {ROW(8, 4, 2, 1, 1), {-1, .8, .25}, "vllm-v1", {8. / 12, 4. / 12, 0}},
    {ROW(8, 4, 2, 1, 1), {-1, .8, .25}, "vllm-0.5.0", {8. / 14, 4. / 14, 2. / 14}},
    /* Two ids tie where k ends. */
    {ROW(1, 3, 2, 2), {2, 1, 0}, "sglang-pytorch", {0, .6, .4, 0}},
    {ROW(1, 3, 2, 2), {2, 1, 0}, "vllm-v1", {0, 3. / 7, 2. / 7, 2. / 7}},
    {ROW(2, 2, 1), {1, 1, 0}, "tensorrt-llm-cpp", {1, 0, 0}},
    {ROW(2, 2, 1), {1, 1, 0}, "tensorrt-llm-torch", {.5, .5, 0}},
    {ROW(2, 2, 1), {1, .1, 0}, "vllm-0.5.0", {0, 1, 0}},
    {ROW(8, 4, 2, 2), {-1, 1, .25}, "llama.cpp", {.5, .25, .125, .125}},
    {ROW(8, 4, 2, 1), {-1, 1, 1}, "llama.cpp", {1, 0, 0, 0}},
    {ROW(4, 4, 2), {-1, 1, 1}, "flashinfer-joint", {.5, .5, 0}},
};

static void by_hand(void **state)
{
    (void)state;
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
        const struct vector *vector = &vectors[v];
        double pmf[8];
        uint8_t kept[8];
        law_filtered(law_filter_of(vector->filter), &vector->limits, vector->weights, vector->vocab, pmf,
                     kept);
        for (size_t i = 0; i < vector->vocab; i++)
            if (fabs(pmf[i] - vector->pmf[i]) > 1e-15 || kept[i] != (vector->pmf[i] > 0))
                fail_msg("vector %zu, %s: id %zu has %.17g, by hand %.17g", v, vector->filter, i, pmf[i],
                         vector->pmf[i]);
    }
}

/* Where an id stands in a row, in integers. */
struct place {
    long heavier, heavier_ids, before, before_ids; /* of larger weights; also of equal ones that go first */
};

static struct place place_of(const int *w, const int *alive, int vocab, int i, int high_first)
{
    struct place place = {0, 0, 0, 0};
    for (int j = 0; j < vocab; j++) {
        if (!alive[j] || j == i)
            continue;
        int first = w[j] > w[i] || (w[j] == w[i] && (high_first ? j > i : j < i));
        place.heavier += w[j] > w[i] ? w[j] : 0;
        place.heavier_ids += w[j] > w[i];
        place.before += first ? w[j] : 0;
        place.before_ids += first;
    }
    return place;
}

/* Each engine's sentence, id by id; p in sixteenths, min_p in quarters. */
static void keep_top_k(const char *name, const int *w, const int *alive, int vocab, int k, int *keeps)
{
    int exact =
        !strcmp(name, "sglang-pytorch") || !strcmp(name, "llama.cpp") || !strcmp(name, "tensorrt-llm-cpp");
    for (int i = 0; i < vocab; i++) {
        struct place place = place_of(w, alive, vocab, i, 0);
        keeps[i] = alive[i] && (k < 0 || (exact ? place.before_ids : place.heavier_ids) < k);
    }
}

static void keep_top_p(const char *name, const int *w, const int *alive, int vocab, int p16, int *keeps)
{
    int together = !strncmp(name, "flashinfer", 10),
        high = !strncmp(name, "vllm", 4) || !strncmp(name, "hf", 2);
    int equal = !strcmp(name, "sglang-pytorch") || !strcmp(name, "tensorrt-llm-torch");
    long total = 0;
    for (int i = 0; i < vocab; i++)
        total += alive[i] ? w[i] : 0;
    for (int i = 0; i < vocab; i++) {
        struct place place = place_of(w, alive, vocab, i, high);
        long above = 16 * (together ? place.heavier : place.before), share = p16 * total;
        keeps[i] = alive[i] && (p16 >= 16 || above < share || (equal && above == share));
    }
}

static void keep_min_p(const int *w, int *alive, int vocab, int m4, int largest)
{
    for (int i = 0; i < vocab; i++)
        alive[i] = alive[i] && 4 * w[i] >= m4 * largest;
}

enum { VOCAB = 5, ROWS = 1024 };

static void brute_force(const char *name, const int *w, int k, int p16, int m4, int *alive)
{
    int by_k[VOCAB], by_p[VOCAB], largest = 0;
    int joint = !strcmp(name, "sglang-pytorch") || !strcmp(name, "flashinfer-joint");
    for (int i = 0; i < VOCAB; i++) {
        alive[i] = w[i] > 0;
        largest = w[i] > largest ? w[i] : largest;
    }
    if (!strcmp(name, "vllm-v1"))
        keep_min_p(w, alive, VOCAB, m4, largest);
    keep_top_k(name, w, alive, VOCAB, k, by_k);
    keep_top_p(name, w, joint ? alive : by_k, VOCAB, p16, by_p);
    for (int i = 0; i < VOCAB; i++)
        alive[i] = by_k[i] && by_p[i];
    keep_min_p(w, alive, VOCAB, m4, largest);
}

/* Every row of five weights from 0 to 3, with top_k, p and min_p around and on their edges. */
static void every_small_row(void **state)
{
    (void)state;
    static const int ks[] = {-1, 1, 2, 4, 6}, ps[] = {1, 4, 8, 12, 15, 16}, ms[] = {0, 1, 2, 4};
    for (int code = 1; code < ROWS; code++) {
        int w[VOCAB];
        double weights[VOCAB];
        for (int i = 0, rest = code; i < VOCAB; i++, rest /= 4)
            weights[i] = w[i] = rest % 4;
        for (int c = 0; c < 5 * 6 * 4; c++)
            for (size_t f = 0; law_filter_at(f); f++) {
                int k = ks[c % 5], p16 = ps[c / 5 % 6], m4 = ms[c / 30], alive[VOCAB];
                const char *name = law_filter_name(law_filter_at(f));
                const struct law_limits limits = {k, p16 / 16., m4 / 4.};
                uint8_t kept[VOCAB];
                struct law_filtered result =
                    law_filtered(law_filter_at(f), &limits, weights, VOCAB, NULL, kept);
                brute_force(name, w, k, p16, m4, alive);
                size_t count = 0;
                for (int i = 0; i < VOCAB; i++) {
                    count += kept[i];
                    if (kept[i] != alive[i])
                        fail_msg("%s, weights %d %d %d %d %d, k %d, p %d/16, min_p %d/4: id %d", name, w[0],
                                 w[1], w[2], w[3], w[4], k, p16, m4, i);
                }
                assert_int_equal(result.kept, count);
            }
    }
}

static double margin_of(const char *name, const double *weights, size_t vocab, struct law_limits limits)
{
    struct law_filtered left = law_filtered(law_filter_of(name), &limits, weights, vocab, NULL, NULL);
    return fmin(left.mass_margin, left.weight_margin);
}

static void margins(void **state)
{
    (void)state;
    const double row[] = {4, 2, 1, 1};
    assert_true(isinf(margin_of("vllm-v1", row, 4, (struct law_limits){-1, 1, 0})));
    assert_true(margin_of("vllm-v1", row, 4, (struct law_limits){-1, .75, 0}) == 0);
    assert_true(margin_of("vllm-v1", row, 4, (struct law_limits){-1, .6875, 0}) == .0625);
    assert_true(margin_of("vllm-v1", row, 4, (struct law_limits){-1, .5625, 0}) == .0625);
    assert_true(margin_of("vllm-v1", row, 4, (struct law_limits){-1, 1e-300, 0}) == .5);
    /* The two ties go at once: the mass above them is 3/4. */
    assert_true(margin_of("flashinfer-joint", row, 4, (struct law_limits){-1, .875, 0}) == .125);
    assert_true(margin_of("llama.cpp", row, 4, (struct law_limits){-1, .875, 0}) == 0);
    /* Weights: .5 against .375; and at .25. */
    assert_true(margin_of("llama.cpp", row, 4, (struct law_limits){-1, 1, .375}) == .25);
    assert_true(margin_of("llama.cpp", row, 4, (struct law_limits){-1, 1, .25}) == 0);
    assert_true(isinf(margin_of("llama.cpp", (const double[]){1, 1}, 2, (struct law_limits){-1, 1, 1})));
    /* top_k parts 2 from 1; where it ends within a tie, the neighbours of the tie count. */
    assert_true(margin_of("llama.cpp", row, 4, (struct law_limits){2, 1, 0}) == .5);
    assert_true(margin_of("llama.cpp", row, 4, (struct law_limits){3, 1, 0}) == .5);
    /* A joint top_p does not look beyond what top_k leaves. */
    const double three[] = {4, 2, 2};
    assert_true(margin_of("sglang-pytorch", three, 3, (struct law_limits){1, .75, 0}) == .5);
    /* One unit of 2^-53 beside the boundary is seen. */
    const double fine[] = {1 + 0x1p-52, 1 - 0x1p-52};
    assert_true(margin_of("llama.cpp", fine, 2, (struct law_limits){-1, .5, 0}) == 0x1p-53);
    /* A million light ids beside a heavy one: a plain sum would lose them, and the boundary with them. */
    enum { WIDE = 1 << 20 };
    static double wide[WIDE];
    wide[0] = 1;
    for (int i = 1; i < WIDE; i++)
        wide[i] = 0x1p-56;
    const double p = 1 / (1 + (WIDE - 1) * 0x1p-56);
    assert_true(p < 1);
    assert_true(margin_of("llama.cpp", wide, WIDE, (struct law_limits){-1, p, 0}) < 0x1p-53);
}

static void odd_rows(void **state)
{
    (void)state;
    const double row[] = {NAN, 2, INFINITY, -1, 2, 0};
    double pmf[6];
    uint8_t kept[6];
    const struct law_limits limits = {2, .9, .1};
    assert_int_equal(law_filtered(law_filter_of("llama.cpp"), &limits, row, 6, pmf, kept).kept, 2);
    assert_true(pmf[1] == .5 && pmf[4] == .5 && pmf[0] == 0 && pmf[2] == 0 && kept[1] && !kept[2]);
    assert_int_equal(law_filtered(law_filter_of("vllm-v1"), &limits, row + 2, 2, pmf, kept).kept, 0);
    assert_true(pmf[0] == 0 && !kept[0]);
    double same[] = {3, 1};
    assert_int_equal(law_filtered(law_filter_of("vllm-v1"), &limits, same, 2, same, NULL).kept, 2);
    assert_true(same[0] == .75 && same[1] == .25);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        struct law_limits limits;
        const char *name;
    } cases[] = {{{-1, 1, 0}, NULL},      {{1, 0x1p-1074, 1}, NULL}, {{INT64_MAX, 2, 0.5}, NULL},
                 {{0, 1, 0}, "top_k"},    {{-2, 1, 0}, "top_k"},     {{-1, 0, 0}, "top_p"},
                 {{-1, -.5, 0}, "top_p"}, {{-1, NAN, 0}, "top_p"},   {{-1, 1, -.1}, "min_p"},
                 {{-1, 1, 1.5}, "min_p"}, {{-1, 1, NAN}, "min_p"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = law_limits_refused(&cases[i].limits);
        if (!cases[i].name)
            assert_null(name);
        else
            assert_string_equal(name, cases[i].name);
    }
    assert_null(law_filter_of("sglang"));
    assert_string_equal(law_filter_name(law_filter_of("vllm-v1")), "vllm-v1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),  cmocka_unit_test(every_small_row), cmocka_unit_test(margins),
        cmocka_unit_test(odd_rows), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("law under filters", tests, NULL, NULL);
}
