/* test_philox.c: Philox against Random123's published vectors, and the counter layout of DESIGN against a
 * plain Philox. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "kernels/philox.h"

/* Ten rounds in 64-bit integers, from the paper's definition. */
static void philox_plain(const uint32_t counter[4], const uint32_t key[2], uint32_t word[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (uint32_t round = 0; round < 10; round++) {
        const uint64_t p0 = UINT64_C(0xD2511F53) * c0, p1 = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ (key[0] + round * 0x9E3779B9u);
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ (key[1] + round * 0xBB67AE85u);
        c3 = (uint32_t)p0;
    }
    const uint32_t out[4] = {c0, c1, c2, c3};
    for (size_t j = 0; j < 4; j++)
        word[j] = out[j];
}

static void known_answers(void **state)
{
    (void)state;
    FILE *file = fopen(SAMPLEGATE_SOURCE_DIR "/golden/kat/philox4x32.txt", "r");
    assert_non_null(file);
    char line[256];
    int vectors = 0;
    while (fgets(line, sizeof line, file)) {
        uint32_t c[4], k[2], expected[4], plain[4];
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line,
                                "%" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32
                                " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32,
                                &c[0], &c[1], &c[2], &c[3], &k[0], &k[1], &expected[0], &expected[1],
                                &expected[2], &expected[3]),
                         10);
        const struct philox_block block =
            philox_block(k[0] | (uint64_t)k[1] << 32, c[1], c[2] | (uint64_t)c[3] << 32, c[0]);
        philox_plain(c, k, plain);
        for (size_t j = 0; j < 4; j++) {
            assert_int_equal(block.word[j], expected[j]);
            assert_int_equal(plain[j], expected[j]);
        }
        vectors++;
    }
    fclose(file);
    assert_int_equal(vectors, 3);
}

static void layout(void **state)
{
    (void)state;
    const uint64_t seeds[] = {0, 1, UINT64_C(0xfedcba9876543210), UINT64_MAX};
    const uint64_t positions[] = {0, 7, UINT64_C(0x100000000), UINT64_C(0x0123456789abcdef), UINT64_MAX};
    const uint32_t columns[] = {0, 1, 2, 3, 4, 5, 151935, (1u << 20) - 1, UINT32_MAX};
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++)
        for (size_t p = 0; p < sizeof positions / sizeof *positions; p++)
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
                for (uint32_t stream = 0; stream < 3; stream++) {
                    const uint32_t counter[4] = {columns[c] / 4, stream, (uint32_t)positions[p],
                                                 (uint32_t)(positions[p] >> 32)};
                    const uint32_t key[2] = {(uint32_t)seeds[s], (uint32_t)(seeds[s] >> 32)};
                    uint32_t word[4];
                    philox_plain(counter, key, word);
                    assert_int_equal(philox_word(seeds[s], stream, positions[p], columns[c]),
                                     word[columns[c] % 4]);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers), cmocka_unit_test(layout)};
    return cmocka_run_group_tests_name("philox", tests, NULL, NULL);
}
