/* test_table.c: table formulas against hand calculations and a Philox written from its paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/oracle/table.h"

static int read_text(struct table *table, const char *text, struct trouble *trouble)
{
    struct json_file file;
    if (json_parse(&file, "t", text, strlen(text), 2, trouble))
        return -1;
    struct json_cursor root = json_root(&file);
    int result = table_read(table, &root, trouble);
    json_close(&file);
    return result;
}

static struct table table_of(const char *text)
{
    struct table table;
    struct trouble trouble = {0};
    if (read_text(&table, text, &trouble))
        fail_msg("%s: %s", text, trouble.text);
    return table;
}

static void check_units(const char *text, const double *units, size_t vocab)
{
    struct table table = table_of(text);
    assert_int_equal(table.vocab, vocab);
    for (size_t i = 0; i < vocab; i++)
        if ((double)table.logits[i] * 1024 != units[i])
            fail_msg("%s: logit %zu is %g units, expected %g", text, i, (double)table.logits[i] * 1024,
                     units[i]);
    table_free(&table);
}

static void small_tables(void **state)
{
    (void)state;
    check_units("{\"name\":\"a\",\"kind\":\"list\",\"logits\":[1993,710,0,-1048576,1048576]}",
                (const double[]){1993, 710, 0, -1048576, 1048576}, 5);
    check_units("{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":3}", (const double[]){0, 0, 0}, 3);
    check_units("{\"name\":\"a\",\"kind\":\"head\",\"vocab\":4,\"head\":2,\"gap\":131072}",
                (const double[]){0, 0, 131072, 0}, 4);
    check_units("{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":7,\"masked\":{\"every\":3,\"first\":1}}",
                (const double[]){0, -INFINITY, 0, 0, -INFINITY, 0, 0}, 7);
    check_units("{\"name\":\"a\",\"kind\":\"list\",\"logits\":[5,6],\"masked\":{\"every\":2,\"first\":0}}",
                (const double[]){-INFINITY, 6}, 2);
    /* ln 2 = 0.693147, ln 3 = 1.098612, ln 4 = 1.386294, ln 5 = 1.609438, each times 1024 */
    check_units("{\"name\":\"a\",\"kind\":\"zipf\",\"vocab\":5}",
                (const double[]){0, -710, -1125, -1420, -1648}, 5);
}

/* The distance of every -1024 ln(i + 1) from the nearest half is beyond any error of log, so that every
 * library rounds alike; and the table holds that rounding. */
static void zipf_rounding(void **state)
{
    (void)state;
    struct table table = table_of("{\"name\":\"a\",\"kind\":\"zipf\",\"vocab\":1048576}");
    long double nearest = 1;
    size_t nearest_id = 0;
    for (size_t i = 0; i < table.vocab; i++) {
        long double exact = 1024 * logl((long double)i + 1), part = exact - floorl(exact);
        long double expected = -(floorl(exact) + (part > 0.5L ? 1 : 0));
        if ((long double)table.logits[i] * 1024 != expected)
            fail_msg("id %zu: %.9g units, expected %.9Lg", i, (double)table.logits[i] * 1024, expected);
        if (i > 0 && fabsl(part - 0.5L) < nearest) {
            nearest = fabsl(part - 0.5L);
            nearest_id = i;
        }
    }
    print_message("nearest to a half: id %zu, %.3Lg units away\n", nearest_id, nearest);
    assert_true(nearest > 1e-9L); /* the error of 1024 * log() is below 4e-12 units */
    table_free(&table);
}

/* Philox4x32-10 after Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011),
 * section 4. */
static void philox_by_paper(const uint32_t counter[4], uint32_t key0, uint32_t key1, uint32_t out[4])
{
    memcpy(out, counter, 4 * sizeof *out);
    for (int round = 0; round < 10; round++) {
        uint64_t a = UINT64_C(0xD2511F53) * out[0], b = UINT64_C(0xCD9E8D57) * out[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ out[1] ^ key0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ out[3] ^ key1, (uint32_t)a};
        memcpy(out, next, sizeof next);
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
}

static void normal_words(void **state)
{
    (void)state;
    uint32_t words[8];
    /* The known answers that ship with Random123 for this generator. */
    philox_by_paper((const uint32_t[]){0, 0, 0, 0}, 0, 0, words);
    assert_memory_equal(words, ((const uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}), 16);
    philox_by_paper((const uint32_t[]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822,
                    0x299f31d0, words);
    assert_memory_equal(words, ((const uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}), 16);
    for (int sigma = 1; sigma <= 10; sigma += 3) {
        char text[128];
        snprintf(text, sizeof text, "{\"name\":\"a\",\"kind\":\"normal\",\"vocab\":4099,\"sigma\":%d}",
                 sigma);
        struct table table = table_of(text);
        for (uint32_t i = 0; i < table.vocab; i++) {
            philox_by_paper((const uint32_t[]){i, 2, 0, 0}, 0, 0, words);
            philox_by_paper((const uint32_t[]){i, 2, 1, 0}, 0, 0, words + 4);
            double sum = 0;
            for (int w = 0; w < 6; w++)
                sum += (double)(words[w] >> 16) + (double)(words[w] & 0xffff);
            assert_true((double)table.logits[i] * 1024 == floor(sigma * (sum - 393210) / 64));
        }
        table_free(&table);
    }
}

/* Mean 0 and standard deviation sigma, each within five standard errors (floor shifts the mean by half a
 * unit). */
static void normal_moments(void **state)
{
    (void)state;
    struct table table = table_of("{\"name\":\"a\",\"kind\":\"normal\",\"vocab\":151936,\"sigma\":3}");
    double n = (double)table.vocab, sum = 0, squares = 0;
    for (size_t i = 0; i < table.vocab; i++) {
        sum += (double)table.logits[i];
        squares += (double)table.logits[i] * (double)table.logits[i];
    }
    double mean = sum / n, deviation = sqrt(squares / n - mean * mean);
    print_message("normal, sigma 3: mean %.4f, standard deviation %.4f\n", mean, deviation);
    assert_true(fabs(mean) < 5 * 3 / sqrt(n));
    assert_true(fabs(deviation - 3) < 5 * 3 / sqrt(2 * n));
    table_free(&table);
}

static void bad_tables_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } bad[] = {
        {"[]", "t: must be an object, is an array"},
        {"{\"name\":\"a\"}", "\"kind\" is missing"},
        {"{\"name\":\"a\",\"kind\":\"gauss\"}",
         "kind: \"gauss\" is unknown; accepted: list, flat, zipf, head, normal"},
        {"{\"kind\":\"flat\",\"vocab\":3}", "\"name\" is missing"},
        {"{\"name\":\"a b\",\"kind\":\"flat\",\"vocab\":3}", "\"name\" must be 1 to 63 letters"},
        {"{\"name\":\"\",\"kind\":\"flat\",\"vocab\":3}", "\"name\" must be 1 to 63 letters"},
        {"{\"name\":\"0123456789012345678901234567890123456789012345678901234567890123\",\"kind\":\"flat\","
         "\"vocab\":3}",
         "\"name\" must be 1 to 63 letters"},
        {"{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":3,\"sigma\":1}",
         "unknown key \"sigma\"; accepted: name, kind, vocab, masked"},
        {"{\"name\":\"a\",\"kind\":\"flat\"}", "\"vocab\" is missing"},
        {"{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":0}",
         "vocab: must be an integer from 1 to 1048576, is 0"},
        {"{\"name\":\"a\",\"kind\":\"zipf\",\"vocab\":1048577}",
         "vocab: must be an integer from 1 to 1048576, is 1048577"},
        {"{\"name\":\"a\",\"kind\":\"zipf\",\"vocab\":2.5}", "vocab: must be an integer"},
        {"{\"name\":\"a\",\"kind\":\"list\",\"logits\":[]}", "logits: must have 1 to 1048576 logits, has 0"},
        {"{\"name\":\"a\",\"kind\":\"list\",\"logits\":[0,1048577]}",
         "logits[1]: must be an integer from -1048576 to 1048576, is 1048577"},
        {"{\"name\":\"a\",\"kind\":\"list\",\"logits\":[0,0.5]}", "logits[1]: must be an integer"},
        {"{\"name\":\"a\",\"kind\":\"list\",\"logits\":[0,null]}", "logits[1]: must be an integer, is null"},
        {"{\"name\":\"a\",\"kind\":\"head\",\"vocab\":4,\"head\":4,\"gap\":1}",
         "head: must be an integer from 0 to 3, is 4"},
        {"{\"name\":\"a\",\"kind\":\"head\",\"vocab\":4,\"head\":0,\"gap\":0}",
         "gap: must be an integer from 1 to 131072, is 0"},
        {"{\"name\":\"a\",\"kind\":\"head\",\"vocab\":4,\"head\":0,\"gap\":131073}",
         "gap: must be an integer"},
        {"{\"name\":\"a\",\"kind\":\"normal\",\"vocab\":4,\"sigma\":11}",
         "sigma: must be an integer from 1 to 10, is 11"},
        {"{\"name\":\"a\",\"kind\":\"normal\",\"vocab\":4}", "\"sigma\" is missing"},
        {"{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":4,\"masked\":3}",
         "masked: must be an object, is a number"},
        {"{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":4,\"masked\":{\"every\":1,\"first\":0}}",
         "masked.every: must be an integer from 2 to 64, is 1"},
        {"{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":4,\"masked\":{\"every\":3,\"first\":3}}",
         "masked.first: must be an integer from 0 to 2, is 3"},
        {"{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":4,\"masked\":{\"every\":3,\"first\":0,\"last\":1}}",
         "masked: unknown key \"last\"; accepted: every, first"},
        {"{\"name\":\"a\",\"kind\":\"flat\",\"vocab\":1,\"masked\":{\"every\":3,\"first\":0}}",
         "masked: masks every id; at least one must stay"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct table table;
        struct trouble trouble = {0};
        if (read_text(&table, bad[i].text, &trouble) != -1)
            fail_msg("%s was accepted", bad[i].text);
        assert_int_equal(trouble.exit, 2);
        if (!strstr(trouble.text, bad[i].what))
            fail_msg("%s: expected %s, got %s", bad[i].text, bad[i].what, trouble.text);
        assert_null(table.logits);
    }
}

/* A list as long as a table may be is read in linear time. */
static void long_list(void **state)
{
    (void)state;
    size_t vocab = (size_t)TABLE_VOCAB_MAX, bytes = 0, room = vocab * 2 + 64;
    char *text = malloc(room);
    if (!text)
        fail_msg("out of memory");
    bytes = (size_t)snprintf(text, room, "{\"name\":\"a\",\"kind\":\"list\",\"logits\":[0");
    for (size_t i = 1; i < vocab; i++, bytes += 2)
        memcpy(text + bytes, i == vocab - 1 ? ",7" : ",1", 2);
    memcpy(text + bytes, "]}", 3);
    struct table table = table_of(text);
    free(text);
    assert_int_equal(table.vocab, vocab);
    assert_true(table.logits[1] == 0x1p-10f && table.logits[vocab - 1] == 7 * 0x1p-10f);
    table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_tables),       cmocka_unit_test(zipf_rounding),
        cmocka_unit_test(normal_words),       cmocka_unit_test(normal_moments),
        cmocka_unit_test(bad_tables_refused), cmocka_unit_test(long_list),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
