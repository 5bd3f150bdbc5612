/* bench_limit.c: how near the reference's draws come to what this machine's instructions allow.
 *
 * Usage: bench-limit [DRAWS]   (DRAWS: also so many draws of one row on two threads; the published experiment
 * has 200,000). Everything is CPU time of this thread, the least of five for a rate, medians of five for draws.
 *
 * The limit: the instructions of one unit of loops_race.h (LANES blocks, 4 LANES columns) counted by kind, each
 * kind at the rate that this machine showed for it alone, all of them at the rate of the fastest kind, and the
 * slowest of these. Nothing else is in it: no load, no branch, no latency. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "kernels/draws.h"
#include "kernels/philox.h"
#include "kernels/row.h"

#define VOCAB 151936
#define DRAWS 400
#define REPEATS 5

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double median(double *x)
{
    for (size_t i = 1; i < REPEATS; i++)
        for (size_t j = i; j > 0 && x[j] < x[j - 1]; j--) {
            const double swap = x[j];
            x[j] = x[j - 1];
            x[j - 1] = swap;
        }
    return x[REPEATS / 2];
}

enum kind { PRODUCT, SHIFT, LOGIC, COMPARE, KINDS };

/* One instruction set: instructions of a unit by kind, and the rates measured, per nanosecond. */
struct machine {
    const char *isa;
    double columns, count[KINDS], rate[KINDS], mix;
};

#if defined(__x86_64__)
#    define TIMES 500000
static uint64_t memory[8];
/* Twelve instructions that do not wait for each other, over and over. */
#    define RATE(out, body)                                                                                  \
        do {                                                                                                 \
            double least = 1e9;                                                                              \
            for (int repeat = 0; repeat < REPEATS; repeat++) {                                               \
                const double start = now(CLOCK_THREAD_CPUTIME_ID);                                           \
                for (long k = 0; k < TIMES; k++)                                                             \
                    __asm__ volatile(body ::"r"(memory)                                                      \
                                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",       \
                                       "xmm8", "xmm9", "xmm10", "xmm11");                                    \
                const double time = now(CLOCK_THREAD_CPUTIME_ID) - start;                                    \
                least = time < least ? time : least;                                                         \
            }                                                                                                \
            (out) = 12e-9 * TIMES / least;                                                                   \
        } while (0)
#    define EACH(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11)
#    define MIX(a, b, c) a(0) b(1) c(2) a(3) b(4) c(5) a(6) b(7) c(8) a(9) b(10) c(11)
#    define Z_PRODUCT(i) "vpmuludq %%zmm15, %%zmm" #    i ", %%zmm" #    i "\n"
#    define Z_SHIFT(i) "vpsrlq $32, %%zmm" #    i ", %%zmm" #    i "\n"
#    define Z_LOGIC(i) "vpternlogq $0x96, %%zmm15, %%zmm14, %%zmm" #    i "\n"
#    define Z_COMPARE(i) "vpcmpgtd (%0), %%zmm" #    i ", %%k1\n"
#    define Y_PRODUCT(i) "vpmuludq %%ymm15, %%ymm" #    i ", %%ymm" #    i "\n"
#    define Y_SHIFT(i) "vpsrlq $32, %%ymm" #    i ", %%ymm" #    i "\n"
#    define Y_LOGIC(i) "vpxor %%ymm15, %%ymm" #    i ", %%ymm" #    i "\n"
#    define Y_COMPARE(i) "vpcmpgtd (%0), %%ymm" #    i ", %%ymm" #    i "\n"

static void rates_avx512(struct machine *machine)
{
    RATE(machine->rate[PRODUCT], EACH(Z_PRODUCT));
    RATE(machine->rate[SHIFT], EACH(Z_SHIFT));
    RATE(machine->rate[LOGIC], EACH(Z_LOGIC));
    RATE(machine->rate[COMPARE], EACH(Z_COMPARE));
    RATE(machine->mix, MIX(Z_PRODUCT, Z_SHIFT, Z_LOGIC));
}

static void rates_avx2(struct machine *machine)
{
    RATE(machine->rate[PRODUCT], EACH(Y_PRODUCT));
    RATE(machine->rate[SHIFT], EACH(Y_SHIFT));
    RATE(machine->rate[LOGIC], EACH(Y_LOGIC));
    RATE(machine->rate[COMPARE], EACH(Y_COMPARE));
    RATE(machine->mix, MIX(Y_PRODUCT, Y_SHIFT, Y_LOGIC));
}

/* Dependent additions: one a cycle. */
static double clock_rate(void)
{
    double least = 1e9;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = now(CLOCK_THREAD_CPUTIME_ID);
        uint64_t x = 0;
        for (long k = 0; k < TIMES; k++)
            __asm__ volatile("add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\n"
                             "add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\n"
                             : "+r"(x));
        const double time = now(CLOCK_THREAD_CPUTIME_ID) - start;
        least = time < least ? time : least;
    }
    return 10e-9 * TIMES / least;
}
#endif

/* Seven rounds of two products, shifts and exclusive ors (of three words: one instruction or two), the two
 * splices at the start, the last round, two comparisons (with AVX2 two more for their masks). */
static struct machine machines[] = {
    {"avx512", 32, {16, 16, 18, 2}, {0}, 0},
    {"avx2", 16, {16, 16, 34 + 2, 2}, {0}, 0},
};
#define MACHINES (sizeof machines / sizeof *machines)

/* Nanoseconds per column. */
static double limit_of(const struct machine *machine)
{
    double all = 0, fastest = 0, slowest = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const double time = machine->count[kind] / machine->rate[kind];
        all += machine->count[kind];
        fastest = machine->rate[kind] > fastest ? machine->rate[kind] : fastest;
        slowest = time > slowest ? time : slowest;
    }
    return (all / fastest > slowest ? all / fastest : slowest) / machine->columns;
}

/* softmax of 3 N(0, 1). */
static void row_make_up(float *weight)
{
    double sum = 0;
    for (uint32_t i = 0; i < VOCAB; i++) {
        const struct philox_block block = philox_block(38117, PHILOX_STREAM_TABLE, 0, i);
        const double u = (block.word[0] + 0.5) * 0x1p-32, angle = block.word[1] * 0x1p-32 * 2 * acos(-1);
        weight[i] = (float)exp(3 * sqrt(-2 * log(u)) * cos(angle));
        sum += (double)weight[i];
    }
    for (size_t i = 0; i < VOCAB; i++)
        weight[i] = (float)((double)weight[i] / sum);
}

/* Nanoseconds per column and draw. */
static double draws_time(const struct sampler_row *row, int32_t *token, uint64_t repeat)
{
    const double start = now(CLOCK_THREAD_CPUTIME_ID);
    sampler_draw(row, 1, repeat * DRAWS, DRAWS, token);
    return (now(CLOCK_THREAD_CPUTIME_ID) - start) / ((double)DRAWS * VOCAB) * 1e9;
}

static void published(const float *weight, size_t draws)
{
    int32_t *token = malloc(draws * sizeof *token);
    for (size_t m = 0; m < MACHINES && token; m++) {
        struct sampler_row *row = loops_of(machines[m].isa) ? row_new(loops_of(machines[m].isa), RULE_RACE,
                                                                      SAMPLER_PROBABILITIES, weight, VOCAB, 1)
                                                            : NULL;
        if (!row)
            continue;
        const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
        sampler_draw_threads(row, 1, 0, draws, 2, token);
        printf("%s: %zu draws x %d = %.3g values on two threads: %.2f s, %.2f s of CPU (%.2f s a thread)\n",
               machines[m].isa, draws, VOCAB, (double)draws * VOCAB, now(CLOCK_MONOTONIC) - wall,
               now(CLOCK_PROCESS_CPUTIME_ID) - cpu, (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 2);
        sampler_row_free(row);
    }
    free(token);
}

int main(int argc, char **argv)
{
    char *end = NULL;
    const unsigned long long draws = argc == 2 ? strtoull(argv[1], &end, 10) : 0;
    if (argc > 2 || (argc == 2 && (*end || !draws || draws > 1000000000))) {
        fprintf(stderr, "bench-limit: usage: bench-limit [DRAWS], DRAWS from 1 to 1000000000\n");
        return 2;
    }
    static float weight[VOCAB];
    static int32_t token[DRAWS];
    double time[MACHINES][REPEATS];
    struct sampler_row *row[MACHINES];
    row_make_up(weight);
#if defined(__x86_64__)
    const double clock = clock_rate();
    printf("clock %.2f GHz\n", clock);
    for (size_t m = 0; m < MACHINES; m++) {
        row[m] = loops_of(machines[m].isa)
                     ? row_new(loops_of(machines[m].isa), RULE_RACE, SAMPLER_PROBABILITIES, weight, VOCAB, 1)
                     : NULL;
        if (!row[m])
            continue;
        m == 0 ? rates_avx512(&machines[m]) : rates_avx2(&machines[m]);
        printf(
            "%-6s per cycle: product %.2f, shift %.2f, exclusive or %.2f, compare %.2f; a round's mix %.2f\n",
            machines[m].isa, machines[m].rate[PRODUCT] / clock, machines[m].rate[SHIFT] / clock,
            machines[m].rate[LOGIC] / clock, machines[m].rate[COMPARE] / clock, machines[m].mix / clock);
    }
    for (size_t repeat = 0; repeat < REPEATS; repeat++)
        for (size_t m = 0; m < MACHINES; m++)
            if (row[m])
                time[m][repeat] = draws_time(row[m], token, repeat);
    for (size_t m = 0; m < MACHINES; m++) {
        if (!row[m]) {
            printf("%-6s not run: not on this machine\n", machines[m].isa);
            continue;
        }
        const double limit = limit_of(&machines[m]), middle = median(time[m]);
        printf(
            "%-6s limit %.4f ns a column; race, V = %d, many draws of a row: %.4f (%.4f to %.4f): %.0f %%\n",
            machines[m].isa, limit, VOCAB, middle, time[m][0], time[m][REPEATS - 1], 100 * limit / middle);
        sampler_row_free(row[m]);
    }
    if (draws)
        published(weight, draws);
    return 0;
#else
    printf("not run: no rates for this machine\n");
    return 77;
#endif
}
