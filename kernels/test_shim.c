/* test_shim.c: the host shim runs right kernels right under every order of threads, and says what is wrong
 * with wrong ones. Every test runs on both kinds of fiber switch. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "kernels/shim/probes.h"
#include "kernels/test_schedules.h"
#include "kernels/test_shim_library.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* One of the two libraries of probes. */
static const char *(*run_probe)(enum probe, unsigned, unsigned, uint32_t *);
static void (*set_schedule)(enum shim_order, uint64_t);

static int library_take(const char *name)
{
    void *library = shim_library(name);
    *(void **)&run_probe = shim_library_symbol(library, "shim_probe");
    *(void **)&set_schedule = shim_library_symbol(library, "shim_schedule");
    return 0;
}

static int fast(void **state)
{
    (void)state;
    return library_take("shim-probes.so");
}

static int ucontext(void **state)
{
    (void)state;
    return library_take("shim-probes-ucontext.so");
}

/* out[size] of a probe that must succeed. */
static void probe_run(enum probe probe, unsigned blocks, unsigned threads, uint32_t *out, size_t size)
{
    memset(out, 0, size * sizeof *out);
    const char *why = run_probe(probe, blocks, threads, out);
    if (why)
        fail_msg("probe %d: %s", probe, why);
}

static void right_kernels(void **state)
{
    (void)state;
    static uint32_t out[4096];
    for (size_t s = 0; s < COUNT(schedules); s++) {
        set_schedule(schedules[s].order, schedules[s].seed);
        for (unsigned threads = 32; threads <= 1024; threads *= 2) {
            probe_run(PROBE_SHUFFLES, 1, threads, out, COUNT(out));
            for (unsigned t = 0; t < threads; t++) {
                const unsigned lane = t % 32, base = t - lane;
                assert_int_equal(out[4 * t], base + (lane ^ 5));
                assert_int_equal(out[4 * t + 1], lane + 3 < 32 ? t + 3 : t);
                assert_int_equal(out[4 * t + 2], base + lane * 7 % 32);
                assert_int_equal(out[4 * t + 3], lane < 16 ? t ^ 1 : t ^ 2);
            }
        }
        const unsigned sizes[] = {1, 31, 33, 100, 1000};
        for (size_t i = 0; i < COUNT(sizes); i++) {
            probe_run(PROBE_ROUNDS, 4, sizes[i], out, COUNT(out));
            for (unsigned t = 0; t < 4 * sizes[i]; t++)
                assert_int_equal(out[t], (t % sizes[i] + 5) % sizes[i]);
        }
        probe_run(PROBE_FRESH_SHARED, 3, 32, out, COUNT(out));
        for (unsigned b = 0; b < 3; b++)
            assert_int_equal(out[b], 0xa5a5a5a5u);
    }
}

/* The sum and the maximum, and the order in which threads came: it is what the schedule says. */
static void orders(void **state)
{
    (void)state;
    enum { BLOCKS = 3, THREADS = 40, ALL = BLOCKS * THREADS };
    uint32_t out[3 + ALL], permuted[ALL];
    unsigned same = 0;
    for (size_t s = 0; s < COUNT(schedules); s++) {
        set_schedule(schedules[s].order, schedules[s].seed);
        probe_run(PROBE_ATOMICS, BLOCKS, THREADS, out, COUNT(out));
        assert_int_equal(out[0], BLOCKS * THREADS * (THREADS + 1) / 2);
        assert_int_equal(out[1], (THREADS - 1) * (BLOCKS - 1));
        assert_int_equal(out[2 + ALL], ALL);
        char seen[ALL] = {0};
        for (unsigned t = 0; t < ALL; t++) {
            const uint32_t turn = out[2 + t];
            assert_true(turn < ALL && !seen[turn]);
            seen[turn] = 1;
            if (schedules[s].order == SHIM_FORWARD)
                assert_int_equal(turn, t);
            if (schedules[s].order == SHIM_REVERSE)
                assert_int_equal(turn, ALL - 1 - t);
            if (s == 3)
                same += turn == permuted[t];
            permuted[t] = turn;
        }
    }
    assert_true(same < ALL / 4); /* two seeds, two orders */
}

static void wrong_kernels(void **state)
{
    (void)state;
    static const struct {
        enum probe probe;
        unsigned blocks, threads;
        const char *says;
    } wrong[] = {
        {PROBE_BARRIER_IN_A_BRANCH, 1, 64,
         "thread 7 ended while thread 0 waits at a barrier (kernels/shim/probes.cu:"},
        {PROBE_TWO_BARRIERS, 1, 32, "threads 0 and 16 wait at different barriers"},
        {PROBE_OWN_LANE_LEFT_OUT, 1, 32, "thread 0 is not in its own mask fffffffe"},
        {PROBE_LANE_ENDED, 1, 32, "mask ffffffff, for thread 9, which ended"},
        {PROBE_LANE_AT_BARRIER, 1, 32, "for thread 9, which waits at kernels/shim/probes.cu:"},
        {PROBE_MASKS_DIFFER, 1, 32, "with another mask"},
        {PROBE_SOURCE_OUTSIDE_MASK, 1, 32, "thread 15 reads lane 16, which is not in mask 0000ffff"},
        {PROBE_LANE_NOT_THERE, 1, 40, "mask ffffffff names lane 8, but the block has 40 threads"},
        {PROBE_ROUNDS, 1, 1025, "a launch of 1 blocks of 1025 threads"},
        {PROBE_ROUNDS, 0, 32, "a launch of 0 blocks of 32 threads"},
        {PROBE_ROUNDS, 1, 0, "a launch of 1 blocks of 0 threads"},
    };
    static uint32_t out[4096];
    for (size_t s = 0; s < COUNT(schedules); s++)
        for (size_t i = 0; i < COUNT(wrong); i++) {
            set_schedule(schedules[s].order, schedules[s].seed);
            const char *why = run_probe(wrong[i].probe, wrong[i].blocks, wrong[i].threads, out);
            if (!why || !strstr(why, wrong[i].says) || strncmp(why, "shim: block 0: ", 15) != 0)
                fail_msg("probe %d says '%s', not '%s'", wrong[i].probe, why ? why : "(nothing)",
                         wrong[i].says);
            /* The failure is over: the next launch is as good as the first. */
            probe_run(PROBE_ROUNDS, 2, 64, out, COUNT(out));
            assert_int_equal(out[0], 5);
        }
}

static void past_end_child(void)
{
    uint32_t out[1] = {3};
    shim_child_says(run_probe(PROBE_PAST_THE_END, 1, 32, out));
}

static void before_start_child(void)
{
    uint32_t out[1] = {3};
    shim_child_says(run_probe(PROBE_BEFORE_THE_START, 1, 32, out));
}

static void shared_overflows(void **state)
{
    (void)state;
    set_schedule(SHIM_FORWARD, 0);
    shim_overflow_expect(past_end_child, "shared array 'slot' was written past its end", "probes.cu");
    shim_overflow_expect(before_start_child, "shared array 'slot' was written before its start", "probes.cu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_kernels),
        cmocka_unit_test(orders),
        cmocka_unit_test(wrong_kernels),
        cmocka_unit_test(shared_overflows),
    };
    return cmocka_run_group_tests_name("shim, own fiber switch", tests, fast, NULL) +
           cmocka_run_group_tests_name("shim, ucontext", tests, ucontext, NULL);
}
