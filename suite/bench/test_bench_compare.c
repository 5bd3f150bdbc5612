/* test_bench_compare.c: the verdict on simulated ratios: how often equal samplers are called slower or faster, that a tenth is
 * seen, and that every reason to stay UNCLEAR is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "suite/bench/compare.h"

#define SESSIONS 3
#define PAIRS 10
#define RUNS 20000

/* Ratios around `centre`: noise of each pair, a bias of each process, one pair in ten disturbed. */
static void simulate(gsl_rng *rng, double centre, double noise, double bias, double *ratios)
{
    for (size_t s = 0; s < SESSIONS; s++) {
        const double of_session = bias * gsl_ran_ugaussian(rng);
        for (size_t i = 0; i < PAIRS; i++) {
            double off = noise * gsl_ran_ugaussian(rng);
            if (gsl_rng_uniform(rng) < 0.1)
                off += gsl_ran_cauchy(rng, 0.3);
            ratios[s * PAIRS + i] = centre * exp(of_session + off);
        }
    }
}

static void counted(double centre, double noise, double bias, unsigned verdicts[4])
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 38117);
    memset(verdicts, 0, 4 * sizeof *verdicts);
    for (int run = 0; run < RUNS; run++) {
        double ratios[SESSIONS * PAIRS];
        simulate(rng, centre, noise, bias, ratios);
        verdicts[bench_compare_ratios(ratios, SESSIONS, PAIRS, 1, 0).verdict]++;
    }
    gsl_rng_free(rng);
}

/* Of equal samplers, noisy or biased by process: SAME or UNCLEAR. The interval alone would let one run in a hundred go; the
 * margin and the sessions' agreement leave less than one in 400, biases of 1 % a process included. */
static void equal_samplers(void **state)
{
    (void)state;
    static const struct {
        double noise, bias;
    } worlds[] = {{0.003, 0}, {0.01, 0},     {0.03, 0},    {0.1, 0},
                  {0.3, 0},   {0.003, 0.01}, {0.01, 0.01}, {0.03, 0.01}};
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) {
        unsigned verdicts[4];
        counted(1, worlds[w].noise, worlds[w].bias, verdicts);
        const unsigned wrong = verdicts[BENCH_FASTER] + verdicts[BENCH_SLOWER];
        if (wrong > RUNS / 400)
            fail_msg("noise %g, bias %g: %u of %d runs of equal samplers told apart", worlds[w].noise,
                     worlds[w].bias, wrong, RUNS);
        if (w == 0) /* and a quiet machine says so */
            assert_true(verdicts[BENCH_SAME] > RUNS * 99 / 100);
    }
}

/* The planted defect: a tenth slower, and a tenth faster. */
static void a_tenth_is_seen(void **state)
{
    (void)state;
    unsigned verdicts[4];
    counted(1.1, 0.03, 0.01, verdicts);
    assert_true(verdicts[BENCH_SLOWER] > RUNS * 99 / 100);
    assert_int_equal(verdicts[BENCH_FASTER] + verdicts[BENCH_SAME], 0);
    counted(1 / 1.1, 0.03, 0.01, verdicts);
    assert_true(verdicts[BENCH_FASTER] > RUNS * 99 / 100);
    assert_int_equal(verdicts[BENCH_SLOWER] + verdicts[BENCH_SAME], 0);
}

static struct bench_comparison of_sessions(const double *centre, size_t sessions, double noise, double limit)
{
    double ratios[4 * PAIRS];
    for (size_t s = 0; s < sessions; s++)
        for (size_t i = 0; i < PAIRS; i++)
            ratios[s * PAIRS + i] = centre[s] * (1 + noise * ((double)i - 4.5) / 4.5);
    return bench_compare_ratios(ratios, sessions, PAIRS, 1, limit);
}

static void reasons(void **state)
{
    (void)state;
    static const struct {
        double centre[4], noise;
        size_t sessions;
        enum bench_verdict verdict;
        const char *why;
    } cases[] = {
        {{1, 1, 1}, 0.005, 3, BENCH_SAME, "within 2 %"},
        {{1, 1, 1}, 0.2, 3, BENCH_UNCLEAR, "holds 1 and reaches beyond"},
        {{1.03, 1.03, 1.03}, 0.05, 3, BENCH_UNCLEAR, "the interval holds a difference of 2 %"},
        {{1.1, 1.1, 1.1}, 0.01, 3, BENCH_SLOWER, "every session agrees"},
        {{0.9, 0.9, 0.9}, 0.01, 3, BENCH_FASTER, "every session agrees"},
        {{1.1, 1.1, 1.1}, 0.01, 2, BENCH_UNCLEAR, "2 sessions: processes differ, 3 are needed"},
        {{1.2, 1.2, 1.2, 1.01}, 0.02, 4, BENCH_UNCLEAR, "the sessions disagree"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bench_comparison made =
            of_sessions(cases[i].centre, cases[i].sessions, cases[i].noise, 0);
        if (made.verdict != cases[i].verdict || !strstr(made.why, cases[i].why))
            fail_msg("%zu: %s, %s", i, bench_verdict_names[made.verdict], made.why);
    }
    const double three[3] = {1, 1, 1};
    const struct bench_comparison few = bench_compare_ratios(three, 3, 1, 1, 0);
    assert_int_equal(few.verdict, BENCH_UNCLEAR);
    assert_non_null(strstr(few.why, "3 pairs give no interval"));
}

/* A limit is past, kept, or neither. */
static void limits(void **state)
{
    (void)state;
    const double slow[] = {1.1, 1.1, 1.1}, same[] = {1, 1, 1}, near[] = {1.05, 1.05, 1.05};
    struct bench_comparison made = of_sessions(slow, 3, 0.01, 1.05);
    assert_true(made.past_limit && !made.within_limit);
    made = of_sessions(same, 3, 0.01, 1.05);
    assert_true(!made.past_limit && made.within_limit);
    made = of_sessions(near, 3, 0.02, 1.05);
    assert_true(!made.past_limit && !made.within_limit);
    made = of_sessions(slow, 2, 0.01, 1.05); /* too few sessions to accuse anybody */
    assert_true(!made.past_limit && !made.within_limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_samplers), cmocka_unit_test(a_tenth_is_seen),
                                       cmocka_unit_test(reasons), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
