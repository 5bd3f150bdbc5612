/* test_law.c: the exact law against closed forms and long double, and the 16-bit roundings against every
 * value they have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "suite/oracle/law.h"
#include "suite/oracle/rounding.h"

#define ULP 0x1p-53

/* A small generator for inputs (xorshift64*, Vigna 2016). */
static uint64_t random_state = 0x9e3779b97f4a7c15;
static double random_unit(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)(random_state * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

/* valgrind computes long double in double, where exp of -700 is known to 1e-13 only. */
static double reference_error(void)
{
    volatile long double one = 1;
    return one + 0x1p-60L > one ? 4 * ULP : 4e-13;
}

static void assert_near(double value, long double expected, double relative, const char *what)
{
    if (!(fabsl((long double)value - expected) <= (long double)relative * fabsl(expected)))
        fail_msg("%s: %.17g, expected %.17Lg", what, value, expected);
}

static void small_laws(void **state)
{
    (void)state;
    double pmf[8];
    law_of_logits((const float[]){3, 3, 3, 3}, 4, 0.3, pmf);
    for (int i = 0; i < 4; i++)
        assert_true(pmf[i] == 0.25);
    law_of_logits((const float[]){-INFINITY, 5, -INFINITY}, 3, 1, pmf);
    assert_true(pmf[0] == 0 && pmf[1] == 1 && pmf[2] == 0);
    law_of_logits((const float[]){-INFINITY, -INFINITY}, 2, 1, pmf);
    assert_true(pmf[0] == 0 && pmf[1] == 0);
    law_of_logits((const float[]){0, 1}, 2, 1, pmf); /* the logistic function at 1, to 19 digits */
    assert_near(pmf[1], 0.7310585786300048793L, 2 * ULP, "logistic(1)");
    assert_near(pmf[0], 0.2689414213699951207L, 2 * ULP, "logistic(-1)");
    law_of_logits((const float[]){0, 1}, 2, 0.5, pmf);
    assert_near(pmf[1], 0.8807970779778824440L, 2 * ULP, "logistic(2)");
    law_of_logits((const float[]){700, 0}, 2, 1, pmf); /* logistic(-700), to 19 digits */
    assert_near(pmf[1], 9.859676543759770857e-305L, 4 * ULP, "exp(-700)");
    law_of_logits((const float[]){1, 0}, 2, 1e-300, pmf);
    assert_true(pmf[0] == 1 && pmf[1] == 0);
    law_of_logits((const float[]){FLT_MAX, -FLT_MAX}, 2, DBL_MAX, pmf);
    assert_true(pmf[0] == 0.5 && pmf[1] == 0.5);
    law_of_probabilities((const float[]){2, 0, 6, -1, NAN}, 5, pmf);
    assert_true(pmf[0] == 0.25 && pmf[1] == 0 && pmf[2] == 0.75 && pmf[3] == 0 && pmf[4] == 0);
    law_of_probabilities((const float[]){0, 0}, 2, pmf);
    assert_true(pmf[0] == 0 && pmf[1] == 0);
}

/* Logits of very different exponents, where l - max is inexact, and temperatures that are no power of two. */
static void laws_by_long_double(void **state)
{
    (void)state;
    enum { VOCAB = 1000 };
    static float logits[VOCAB];
    static double pmf[VOCAB];
    double tolerance = reference_error();
    for (int trial = 0; trial < 50; trial++) {
        double temperature = exp(4 * random_unit() - 3);
        float most = -INFINITY;
        for (int i = 0; i < VOCAB; i++) {
            logits[i] = (float)((random_unit() - 0.5) * exp2(12 * random_unit() - 3));
            most = fmaxf(most, logits[i]);
        }
        long double total = 0;
        for (int i = 0; i < VOCAB; i++)
            total += expl(((long double)logits[i] - (long double)most) / (long double)temperature);
        law_of_logits(logits, VOCAB, temperature, pmf);
        double sum = 0;
        for (int i = 0; i < VOCAB; i++) {
            long double exact =
                expl(((long double)logits[i] - (long double)most) / (long double)temperature) / total;
            if (exact > 1e-300L)
                assert_near(pmf[i], exact, tolerance, "softmax");
            sum += pmf[i];
        }
        assert_true(fabs(sum - 1) < 1e-13);
    }
}

/* One heavy weight and a million light ones: a plain sum in double would lose what the compensated one keeps.
 */
static void sums_compensated(void **state)
{
    (void)state;
    enum { VOCAB = 1 << 20 };
    static float weights[VOCAB];
    static double pmf[VOCAB];
    weights[0] = 1;
    for (int i = 1; i < VOCAB; i++)
        weights[i] = 0x1p-60f;
    law_of_probabilities(weights, VOCAB, pmf);
    double exact = 1 / (1 + (VOCAB - 1) * 0x1p-60);
    assert_true(pmf[0] == exact && exact < 1);
    assert_true(pmf[1] == 0x1p-60 * exact);
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* IEEE 754 binary16 decoded by its definition. */
static double half_value(unsigned bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                    : ldexp(1024 + fraction, (int)exponent - 25);
    return bits & 0x8000 ? -value : value;
}

/* Nearest of all finite halves, and 65536 in infinity's place, ties to the even pattern. */
static unsigned half_by_search(float value)
{
    unsigned low = 0, high = 0x7c00;
    double magnitude = fabs((double)value), above;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (half_value(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    above = high == 0x7c00 ? 65536 : half_value(high);
    double to_low = magnitude - half_value(low), to_high = above - magnitude;
    unsigned nearest = to_low < to_high || (to_low == to_high && low % 2 == 0) ? low : high;
    return nearest | (signbit(value) ? 0x8000 : 0);
}

static void check_half(float value)
{
    unsigned expected = half_by_search(value), got = law_bits(value, VALUE_F16);
    if (got != expected)
        fail_msg("half of %a: bits %04x, expected %04x", (double)value, got, expected);
    double rounded = (double)law_round(value, VALUE_F16);
    assert_true(rounded == half_value(expected) && !signbit(rounded) == !signbit(value));
}

static void halves(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x7c00;
         bits++) { /* every finite half, both its midpoints and what is beside them */
        double above = bits == 0x7bff ? 65536 : half_value(bits + 1);
        float exact = (float)half_value(bits), middle = (float)((half_value(bits) + above) / 2);
        check_half(exact);
        check_half(-exact);
        check_half(middle);
        check_half(-middle);
        check_half(nextafterf(middle, 0));
        check_half(nextafterf(middle, INFINITY));
    }
    assert_int_equal(law_bits(65519.996f, VALUE_F16), 0x7bff);
    assert_int_equal(law_bits(65520, VALUE_F16), 0x7c00);
    assert_int_equal(law_bits(-FLT_MAX, VALUE_F16), 0xfc00);
    assert_int_equal(law_bits(-INFINITY, VALUE_F16), 0xfc00);
    assert_int_equal(law_bits(FLT_TRUE_MIN, VALUE_F16), 0);
    assert_int_equal(law_bits(-0.0f, VALUE_F16), 0x8000);
    assert_int_equal(law_bits(NAN, VALUE_F16) & 0x7fff, 0x7e00);
    assert_true(isnan(law_round(NAN, VALUE_F16)));
    assert_true(isinf(law_round(65520, VALUE_F16)));
}

/* bfloat16 is the upper half of fp32: adding half a unit, less one where the last bit kept is 0, rounds to
 * even, and its carry walks into the exponent and to infinity as it should. */
static void brain_floats(void **state)
{
    (void)state;
    for (uint64_t step = 0; step <= UINT32_MAX; step += 4093) {
        uint32_t bits = (uint32_t)step;
        float value = float_of(bits);
        if (isnan(value)) {
            assert_true(isnan(law_round(value, VALUE_BF16)));
            assert_int_equal(law_bits(value, VALUE_BF16) & 0x7fc0, 0x7fc0);
            continue;
        }
        uint32_t expected = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        if (law_bits(value, VALUE_BF16) != expected || bits_of(law_round(value, VALUE_BF16)) != expected
                                                                                                    << 16)
            fail_msg("bf16 of %a: %04x, expected %04x", (double)value, law_bits(value, VALUE_BF16), expected);
    }
    assert_int_equal(law_bits(1 + 0x1p-8f, VALUE_BF16), 0x3f80);     /* a tie to even, down */
    assert_int_equal(law_bits(1 + 0x1.8p-7f, VALUE_BF16), 0x3f82);   /* and up */
    assert_int_equal(law_bits(FLT_MAX, VALUE_BF16), 0x7f80);         /* overflow */
    assert_int_equal(law_bits(FLT_TRUE_MIN, VALUE_BF16), 0);         /* underflow */
    assert_int_equal(law_bits(0x1p-133f, VALUE_BF16), 1);            /* the least denormal */
    assert_int_equal(law_bits(0x1p-134f, VALUE_BF16), 0);            /* half of it: a tie to even */
    assert_int_equal(law_bits(-0x1.0002p-134f, VALUE_BF16), 0x8001); /* a little more */
    assert_true(bits_of(law_round(1.1f, VALUE_F32)) == bits_of(1.1f));
}

static void values_handed_over(void **state)
{
    (void)state;
    float values[3];
    double pmf[3];
    /* A third is 0.333984375 in bfloat16; the three sum to more than 1 and their law is still a third each.
     */
    law_hand_over((const float[]){2, 2, 2}, 3, 1, VALUE_PROBABILITIES, VALUE_BF16, values, pmf);
    for (int i = 0; i < 3; i++)
        assert_true(values[i] == 0.333984375f && fabs(pmf[i] - 1.0 / 3) < 2 * ULP);
    /* exp(-20) is 0 in fp16 as a probability, and an ordinary logit. */
    law_hand_over((const float[]){20, 0}, 2, 1, VALUE_PROBABILITIES, VALUE_F16, values, pmf);
    assert_true(values[0] == 1 && values[1] == 0 && pmf[0] == 1 && pmf[1] == 0);
    law_hand_over((const float[]){20, 0}, 2, 1, VALUE_LOGITS, VALUE_F16, values, pmf);
    assert_true(values[0] == 20 && values[1] == 0);
    assert_near(pmf[1], 2.0611536181902035814e-9L, 4 * ULP, "logistic(-20)"); /* 1 / (1 + e^20) */
    /* 1993 units are 1.9462890625: 1.9453125 in bfloat16. The law is of that, at this temperature. */
    law_hand_over((const float[]){1993 * 0x1p-10f, 0}, 2, 2, VALUE_LOGITS, VALUE_BF16, values, pmf);
    assert_true(values[0] == 1.9453125f);
    assert_near(pmf[0], 1 / (1 + expl(-0.97265625L)), 4 * ULP, "logistic(1.9453125 / 2)");
    /* In fp32 the probabilities are rounded once and no more. */
    law_hand_over((const float[]){1, 0}, 2, 1, VALUE_PROBABILITIES, VALUE_F32, values, pmf);
    assert_true(values[0] == 0.7310585786300049f && values[1] == 0.2689414213699951f);
    assert_near(pmf[0], (long double)values[0] / ((long double)values[0] + (long double)values[1]), 2 * ULP,
                "fp32");
}

static void choices_by_hand(void **state)
{
    (void)state;
    struct exact_choice choice =
        law_choose((const double[]){0.5, 0.25, 0.25}, (const float[]){1, 0.25f, 4}, 3);
    assert_int_equal(choice.token, 1);
    assert_int_equal(choice.second, 0);
    assert_near(choice.gap, 0.693147180559945309L, 2 * ULP, "ln 2");
    choice = law_choose((const double[]){0.25, 0.5, 0.25}, (const float[]){0.5f, 1, 0.5f},
                        3); /* all three equal */
    assert_int_equal(choice.token, 0);
    assert_int_equal(choice.second, 1);
    assert_true(choice.gap == 0);
    choice =
        law_choose((const double[]){0.1, 0.7, 0.2}, (const float[]){1, 1, 1}, 3); /* the best comes second */
    assert_int_equal(choice.token, 1);
    assert_int_equal(choice.second, 2);
    choice =
        law_choose((const double[]){0, 1, 0}, (const float[]){0, 3, 1}, 3); /* 0/0 and 0/1 are not live */
    assert_int_equal(choice.token, 1);
    assert_int_equal(choice.second, -1);
    assert_true(isinf(choice.gap) && choice.gap > 0);
    choice = law_choose((const double[]){0, 0}, (const float[]){1, 1}, 2);
    assert_int_equal(choice.token, -1);
    choice =
        law_choose((const double[]){0.5, 0.5}, (const float[]){1, 0.99999994f}, 2); /* one fp32 step apart */
    assert_int_equal(choice.token, 1);
    assert_near(choice.gap, 0x1p-24L, 1e-7, "one step");
}

/* The choice and its gap against a sort-free search in long double. */
static void choices_by_long_double(void **state)
{
    (void)state;
    enum { VOCAB = 100 };
    for (int trial = 0; trial < 500; trial++) {
        double pmf[VOCAB];
        float q[VOCAB];
        for (int i = 0; i < VOCAB; i++) {
            pmf[i] = i % 7 == 3 ? 0 : random_unit();
            q[i] = (float)-log1p(-random_unit()) + FLT_MIN;
        }
        int best = -1, second = -1;
        for (int i = 0; i < VOCAB; i++)
            if (pmf[i] > 0 && (best < 0 || (long double)pmf[i] * (long double)q[best] >
                                               (long double)pmf[best] * (long double)q[i]))
                best = i;
        for (int i = 0; i < VOCAB; i++)
            if (i != best && pmf[i] > 0 &&
                (second < 0 ||
                 (long double)pmf[i] * (long double)q[second] > (long double)pmf[second] * (long double)q[i]))
                second = i;
        struct exact_choice choice = law_choose(pmf, q, VOCAB);
        assert_int_equal(choice.token, best);
        assert_int_equal(choice.second, second);
        long double gap = logl((long double)pmf[best] / (long double)q[best]) -
                          logl((long double)pmf[second] / (long double)q[second]);
        assert_true(fabsl((long double)choice.gap - gap) < 1e-13L);
    }
}

static void gaps_by_hand(void **state)
{
    (void)state;
    const double pmf[] = {0.5, 0.25, 0.25, 0};
    const float q[] = {1, 0.25f, 0.5f, 2}; /* scores 0.5, 1, 0.5, 0 */
    assert_near(law_gap(pmf, q, 1, 0), 0.693147180559945309L, 2 * ULP, "ln 2");
    assert_true(law_gap(pmf, q, 0, 1) == -law_gap(pmf, q, 1, 0));
    assert_true(law_gap(pmf, q, 0, 2) == 0);
    assert_true(isinf(law_gap(pmf, q, 1, 3)) && law_gap(pmf, q, 1, 3) > 0);
    struct exact_choice choice = law_choose(pmf, q, 4);
    assert_true(law_gap(pmf, q, choice.token, choice.second) == choice.gap);
    assert_true(law_rounding_between(pmf, q, 1, 0, VALUE_LOGITS) ==
                law_rounding_bound(0.25, 0.25, 0.5, 1, VALUE_LOGITS));
}

/* How often the gap is within g, exactly, against the density times a small g; and what races of real noise show. */
static void ties_as_often_as_told(void **state)
{
    (void)state;
    const double pmf[] = {0.6, 0.3, 0.1, 0};
    long double g = 1e-5L, beyond = 0;
    for (size_t i = 0; i < 3; i++)
        beyond += (long double)pmf[i] / ((long double)pmf[i] + (1 - (long double)pmf[i]) * expl(g));
    assert_near(law_tie_density(pmf, 4), (1 - beyond) / g, 2e-5, "density");
    assert_true(law_tie_density((const double[]){0, 1, 0}, 3) == 0);
    enum { RACES = 200000 };
    int near = 0;
    for (int race = 0; race < RACES; race++) {
        float q[4];
        for (int i = 0; i < 4; i++)
            q[i] = (float)-log1p(-random_unit()) + FLT_MIN;
        near += law_choose(pmf, q, 4).gap <= 0.02;
    }
    assert_true(fabs(near - RACES * 0.02 * 0.54) < 4.5 * sqrt(RACES * 0.02 * 0.54)); /* 1 - 0.46 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_laws),       cmocka_unit_test(laws_by_long_double),
        cmocka_unit_test(sums_compensated), cmocka_unit_test(halves),
        cmocka_unit_test(brain_floats),     cmocka_unit_test(values_handed_over),
        cmocka_unit_test(choices_by_hand),  cmocka_unit_test(choices_by_long_double),
        cmocka_unit_test(gaps_by_hand),     cmocka_unit_test(ties_as_often_as_told),
    };
    return cmocka_run_group_tests_name("exact law", tests, NULL, NULL);
}
