/* test_elementary_double.c: the double log against MPFR, over every exponent and where the seeded rule uses
 * it. SPDX-License-Identifier: MIT */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <mpfr.h>
#include "kernels/elementary_double.h"
#include "kernels/philox.h"

#define BOUND 0.63 /* ulp; the largest error found on 3,000,000 inputs of these kinds is 0.6229 */
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Distance of the log from the exact one, in units in the last place there. */
static double error_of(double x)
{
    const double y = elementary_double_log(x);
    mpfr_t exact;
    mpfr_init2(exact, 160);
    mpfr_set_d(exact, x, MPFR_RNDN);
    mpfr_log(exact, exact, MPFR_RNDN);
    double error = y == 0 ? 0 : INFINITY; /* where the exact one is 0 */
    if (!mpfr_zero_p(exact)) {
        const long ulp = mpfr_get_exp(exact) - 53;
        mpfr_d_sub(exact, y, exact, MPFR_RNDN);
        mpfr_mul_2si(exact, exact, -ulp, MPFR_RNDN);
        error = fabs(mpfr_get_d(exact, MPFR_RNDN));
    }
    mpfr_clear(exact);
    return error;
}

static uint64_t random_bits(uint32_t kind, uint32_t i)
{
    return philox_word(5, PHILOX_STREAM_TABLE, kind, 2 * i) |
           (uint64_t)philox_word(5, PHILOX_STREAM_TABLE, kind, 2 * i + 1) << 32;
}

/* All positive doubles by their bits; [1/2, 2); near 1; the grid of the hash; its logarithms. */
static void every_kind(void **state)
{
    (void)state;
    const char *exhaustive = getenv("SAMPLEGATE_EXHAUSTIVE"); /* as in test_elementary.c */
    const uint32_t samples = !exhaustive || !*exhaustive    ? 12000
                             : strcmp(exhaustive, "0") == 0 ? 1000
                                                            : 600000;
    double worst[5] = {0};
    for (uint32_t kind = 0; kind < 5; kind++)
        for (uint32_t i = 0; i < samples; i++) {
            const uint64_t bits = random_bits(kind, i);
            const double grid = (double)((bits >> 32) % UINT32_MAX + 1) / 4294967295.0;
            const double near = 1 + ldexp((double)(int64_t)bits, -63 - (int)(i % 50));
            const double x = kind == 0   ? kernel_double_of(bits % UINT64_C(0x7ff0000000000000))
                             : kind == 1 ? 0.5 + (double)(bits >> 11) * 0x1.8p-53
                             : kind == 2 ? near
                             : kind == 3 ? grid
                                         : -log(grid);
            const double error = x > 0 ? error_of(x) : 0;
            worst[kind] = error > worst[kind] ? error : worst[kind];
        }
    print_message("double log, worst of %u a kind: all %.4f, around 1 %.4f, near 1 %.4f, grid %.4f, its logs "
                  "%.4f ulp\n",
                  samples, worst[0], worst[1], worst[2], worst[3], worst[4]);
    for (uint32_t kind = 0; kind < 5; kind++)
        assert_true(worst[kind] <= BOUND && worst[kind] > 0.4);
}

static void ends_of_ranges(void **state)
{
    (void)state;
    const double around[] = {
        1, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bcdp+0, 0.5, 2, DBL_MAX, DBL_MIN, 0x1p-1074, 0x1p-1073};
    for (size_t i = 0; i < COUNT(around); i++) {
        assert_true(error_of(around[i]) <= BOUND);
        assert_true(around[i] == 0x1p-1074 || error_of(nextafter(around[i], 0)) <= BOUND);
        assert_true(error_of(nextafter(around[i], DBL_MAX)) <= BOUND);
    }
    for (int k = -1074; k < 1024; k++)
        assert_true(error_of(ldexp(1, k)) <= BOUND);
}

static void special_values(void **state)
{
    (void)state;
    const struct {
        uint64_t input, output;
    } cases[] = {
        {UINT64_C(0x3ff0000000000000), 0},
        {0, UINT64_C(0xfff0000000000000)},
        {UINT64_C(1) << 63, UINT64_C(0xfff0000000000000)},
        {KERNEL_DOUBLE_INFINITY_BITS, KERNEL_DOUBLE_INFINITY_BITS},
        {UINT64_C(0xfff0000000000000), KERNEL_DOUBLE_NAN_BITS},
        {UINT64_C(0xbff0000000000000), KERNEL_DOUBLE_NAN_BITS},
        {UINT64_C(0x8000000000000001), KERNEL_DOUBLE_NAN_BITS},
        {UINT64_C(0x7ff0000000000001), KERNEL_DOUBLE_NAN_BITS},
        {UINT64_MAX, KERNEL_DOUBLE_NAN_BITS},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(kernel_double_bits(elementary_double_log(kernel_double_of(cases[i].input))),
                         cases[i].output);
    const uint32_t words[] = {0, 1, 0x7fffffffu, 0x80000000u, UINT32_MAX};
    for (size_t i = 0; i < COUNT(words); i++)
        assert_true(kernel_double_of_word(words[i]) == (double)words[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(ends_of_ranges),
        cmocka_unit_test(special_values),
    };
    return cmocka_run_group_tests_name("elementary, double", tests, NULL, NULL);
}
