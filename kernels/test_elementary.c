/* test_elementary.c: every output of log, exp and the two Exp(1) maps: error, rounding and one hash for all
 * builds.
 *
 * SAMPLEGATE_EXHAUSTIVE=1 takes every input (a minute or two); unset, every 61st; 0, every 4093rd (for
 * valgrind). Each output is compared with a double reference, and with MPFR where the double cannot tell on
 * which side of a rounding boundary it lies; MPFR also judges the double reference, on spread inputs (a
 * million each when exhaustive). The baseline loops have no FMA instruction and are slow: they take a coarser
 * stride, with its own pinned hash. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "kernels/elementary_reference.h"
#include "kernels/loops.h"

#define PINNED_PATH SAMPLEGATE_SOURCE_DIR "/golden/kat/elementary.txt"
#define BLOCK 4096
#define NEAR                                                                                                 \
    1e-7 /* ulp: closer to a rounding boundary than this, MPFR decides; the double is good to a tenth of it  \
          */

/* One sweep, shared by its threads. */
struct sweep {
    const struct loops *loops;
    int function, with_reference;
    uint64_t stride, inputs;
    atomic_uint_fast64_t next_block;
    pthread_mutex_t lock;
    uint64_t hash, misrounded, near;
    double worst; /* ulp */
    uint32_t worst_input;
};

struct block {
    uint32_t input[BLOCK];
    float output[BLOCK];
    double error[BLOCK]; /* ulp, absolute */
};

static void block_map(const struct loops *loops, int function, struct block *block)
{
    float argument[BLOCK];
    memcpy(argument, block->input, sizeof argument);
    switch (function) {
    case SWEEP_EXPONENTIAL:
        loops->exponential(block->input, block->output, BLOCK);
        break;
    case SWEEP_TORCH_EXPONENTIAL:
        loops->torch_exponential(block->input, block->output, BLOCK);
        break;
    case SWEEP_LOG:
        loops->log(argument, block->output, BLOCK);
        break;
    default:
        loops->exp(argument, block->output, BLOCK);
    }
}

/* What one pass over a block finds; errors are absolute, in ulp, and kept as the bits of a double (ordered
 * alike). */
struct findings {
    uint64_t hash, worst, misrounded, near;
};

/* The passes, written to vectorise: fixed trip counts, and the padding of the last block masked out. */
REFERENCE_INLINE void block_fill_of(int function, struct block *block, uint64_t first, uint64_t stride)
{
    for (uint64_t k = 0; k < BLOCK; k++)
        block->input[k] = sweep_input(function, (first + k) * stride);
}

REFERENCE_INLINE void block_errors_of(int function, struct block *restrict block)
{
    for (size_t k = 0; k < BLOCK; k++) {
        const double error = reference_error(reference_value(function, block->input[k]), block->output[k]);
        block->error[k] = reference_double(reference_bits(error) & ~(UINT64_C(1) << 63));
    }
}

REFERENCE_INLINE void block_find(const struct block *block, size_t n, struct findings *findings)
{
    const int64_t low = (int64_t)reference_bits(0.5 - NEAR), high = (int64_t)reference_bits(0.5 + NEAR);
    const int64_t half = (int64_t)reference_bits(0.5);
    int64_t worst = 0, misrounded = 0, near = 0;
    for (int64_t k = 0; k < BLOCK; k++) {
        const int64_t error = (int64_t)reference_bits(block->error[k]) & -(int64_t)(k < (int64_t)n);
        worst = error > worst ? error : worst;
        misrounded += error > half;
        near += (error > low) & (error < high);
    }
    findings->worst = (uint64_t)worst;
    findings->misrounded = (uint64_t)misrounded;
    findings->near = (uint64_t)near;
}

REFERENCE_INLINE void block_hash(const struct block *block, size_t n, struct findings *findings)
{
    uint64_t hash = 0;
    for (int64_t k = 0; k < BLOCK; k++)
        hash += sweep_mix(block->input[k], kernel_bits(block->output[k])) &
                (uint64_t) - (int64_t)(k < (int64_t)n);
    findings->hash = hash;
}

/* The function as a constant in each loop. */
#define FOR_FUNCTION(function, call)                                                                         \
    switch (function) {                                                                                      \
    case SWEEP_EXPONENTIAL:                                                                                  \
        call(SWEEP_EXPONENTIAL);                                                                             \
        break;                                                                                               \
    case SWEEP_TORCH_EXPONENTIAL:                                                                            \
        call(SWEEP_TORCH_EXPONENTIAL);                                                                       \
        break;                                                                                               \
    case SWEEP_LOG:                                                                                          \
        call(SWEEP_LOG);                                                                                     \
        break;                                                                                               \
    default:                                                                                                 \
        call(SWEEP_EXP);                                                                                     \
    }

REFERENCE_INLINE void block_start(const struct sweep *sweep, struct block *block, uint64_t first){
#define FILL(function) block_fill_of(function, block, first, sweep->stride)
    FOR_FUNCTION(sweep->function, FILL)}

REFERENCE_INLINE
    void block_finish(const struct sweep *sweep, struct block *block, size_t n, struct findings *findings)
{
#define ERRORS(function) block_errors_of(function, block)
    block_hash(block, n, findings);
    if (sweep->with_reference) {
        FOR_FUNCTION(sweep->function, ERRORS)
        block_find(block, n, findings);
    }
}

/* The same code for a machine with wide vectors and for any other. */
#define WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))
WIDE static void block_start_wide(const struct sweep *sweep, struct block *block, uint64_t first)
{
    block_start(sweep, block, first);
}

WIDE static void block_finish_wide(const struct sweep *sweep, struct block *block, size_t n,
                                   struct findings *findings)
{
    block_finish(sweep, block, n, findings);
}

static void block_start_any(const struct sweep *sweep, struct block *block, uint64_t first)
{
    block_start(sweep, block, first);
}

static void block_finish_any(const struct sweep *sweep, struct block *block, size_t n,
                             struct findings *findings)
{
    block_finish(sweep, block, n, findings);
}

/* Outputs so near a rounding boundary that the double cannot tell: let MPFR say whether they are rounded
 * wrongly. */
static void block_decide(const struct sweep *sweep, const struct block *block, size_t n,
                         struct findings *findings)
{
    for (size_t k = 0; k < n; k++)
        if (fabs(block->error[k] - 0.5) < NEAR) {
            double off;
            const double exact =
                fabs(reference_error_mpfr(sweep->function, block->input[k], block->output[k], &off));
            findings->misrounded += (uint64_t)(exact > 0.5) - (uint64_t)(block->error[k] > 0.5);
        }
}

static void sweep_add(struct sweep *sweep, const struct block *block, size_t n,
                      const struct findings *findings)
{
    pthread_mutex_lock(&sweep->lock);
    sweep->hash += findings->hash;
    if (sweep->with_reference) {
        sweep->misrounded += findings->misrounded;
        sweep->near += findings->near;
        for (size_t k = 0; k < n && findings->worst > reference_bits(sweep->worst); k++)
            if (reference_bits(block->error[k]) == findings->worst) {
                sweep->worst = block->error[k];
                sweep->worst_input = block->input[k];
            }
    }
    pthread_mutex_unlock(&sweep->lock);
}

static void *sweep_thread(void *argument)
{
    struct sweep *sweep = argument;
    struct block *block = malloc(sizeof *block);
    if (!block)
        abort();
    const int wide = loops_of("avx512") != NULL;
    for (;;) {
        const uint64_t first = sweep->next_block++ * BLOCK;
        if (first >= sweep->inputs)
            break;
        const size_t n = sweep->inputs - first < BLOCK ? (size_t)(sweep->inputs - first) : BLOCK;
        struct findings findings = {0};
        (wide ? block_start_wide : block_start_any)(sweep, block, first);
        block_map(sweep->loops, sweep->function, block);
        (wide ? block_finish_wide : block_finish_any)(sweep, block, n, &findings);
        if (findings.near)
            block_decide(sweep, block, n, &findings);
        sweep_add(sweep, block, n, &findings);
    }
    free(block);
    return NULL;
}

static void sweep_run(struct sweep *sweep)
{
    pthread_t thread[8];
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const long threads = online < 1 ? 1 : online > 8 ? 8 : online;
    pthread_mutex_init(&sweep->lock, NULL);
    for (long t = 0; t < threads; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, sweep_thread, sweep), 0);
    for (long t = 0; t < threads; t++)
        pthread_join(thread[t], NULL);
    pthread_mutex_destroy(&sweep->lock);
}

/* Sweep one function on one instruction set and hold the result against the pinned line. */
static void sweep_check(const char *isa, int function, uint64_t stride, int with_reference)
{
    struct sweep sweep = {.loops = loops_of(isa), .function = function, .with_reference = with_reference};
    struct sweep_pinned pinned;
    if (!sweep.loops)
        return;
    sweep.stride = stride;
    sweep.inputs = (sweep_inputs(function) + stride - 1) / stride;
    sweep_run(&sweep);
    print_message("%s %" PRIu64 " %" PRIu64 " %016" PRIx64 " (%s)", sweep_name(function), stride,
                  sweep.inputs, sweep.hash, isa);
    if (with_reference)
        print_message(" misrounded %" PRIu64 ", %" PRIu64 " decided by MPFR, worst %.4f ulp at 0x%08" PRIx32,
                      sweep.misrounded, sweep.near, sweep.worst, sweep.worst_input);
    print_message("\n");
    assert_int_equal(sweep_pinned_read(PINNED_PATH, function, stride, &pinned), 0);
    assert_int_equal(sweep.inputs, pinned.inputs);
    assert_int_equal(sweep.hash, pinned.hash);
    if (with_reference) {
        assert_true(sweep.worst <= pinned.ulp);
        assert_int_equal(sweep.misrounded, pinned.misrounded);
    }
}

/* Strides of this run: the reference and vector loops, and the baseline loops. */
static uint64_t stride_of(int baseline)
{
    const char *exhaustive = getenv("SAMPLEGATE_EXHAUSTIVE");
    if (!exhaustive || !*exhaustive)
        return baseline ? 4093 : 61;
    return strcmp(exhaustive, "0") == 0 ? 4093 : baseline ? 61 : 1;
}

static void every_output(void **state)
{
    (void)state;
    const char *best = loops_of("avx512") ? "avx512" : loops_of("avx2") ? "avx2" : "baseline";
    for (int function = 0; function < SWEEP_COUNT; function++) {
        const int only_baseline = strcmp(best, "baseline") == 0;
        sweep_check(best, function, stride_of(only_baseline), 1);
        if (strcmp(best, "avx512") == 0)
            sweep_check("avx2", function, stride_of(0), 0);
        if (!only_baseline)
            sweep_check("baseline", function, stride_of(1), 0);
    }
}

/* MPFR judges outputs and the double reference on inputs spread over each range. */
static void mpfr_on_spread_inputs(void **state)
{
    (void)state;
    const char *best = loops_of("avx512") ? "avx512" : loops_of("avx2") ? "avx2" : "baseline";
    const uint64_t stride = stride_of(0), samples = stride == 1 ? 1000000 : stride == 61 ? 40000 : 2000;
    for (int function = 0; function < SWEEP_COUNT; function++) {
        static struct block block;
        struct sweep_pinned pinned;
        assert_int_equal(sweep_pinned_read(PINNED_PATH, function, stride, &pinned), 0);
        double worst = 0, off = 0;
        for (uint64_t first = 0; first < samples; first += BLOCK) {
            for (uint64_t k = 0; k < BLOCK; k++)
                block.input[k] = sweep_input(
                    function, (first + k) % samples * (sweep_inputs(function) / samples) + (first + k) % 97);
            block_map(loops_of(best), function, &block);
            for (size_t k = 0; k < BLOCK && first + k < samples; k++) {
                double reference_off;
                const double error =
                    fabs(reference_error_mpfr(function, block.input[k], block.output[k], &reference_off));
                worst = error > worst ? error : worst;
                off = reference_off > off ? reference_off : off;
            }
        }
        print_message("%s: MPFR on %" PRIu64
                      " inputs: worst %.4f ulp, double reference off by at most %.1e ulp\n",
                      sweep_name(function), samples, worst, off);
        assert_true(worst <= pinned.ulp);
        assert_true(off < NEAR / 2);
    }
}

static void assert_bits(float value, uint32_t bits)
{
    assert_int_equal(kernel_bits(value), bits);
}

static void special_values(void **state)
{
    (void)state;
    assert_bits(elementary_log(1.0f), 0);
    assert_bits(elementary_log(0.0f), 0xff800000u);
    assert_bits(elementary_log(-0.0f), 0xff800000u);
    assert_bits(elementary_log(kernel_float(KERNEL_INFINITY_BITS)), KERNEL_INFINITY_BITS);
    const uint32_t not_a_log[] = {0x80000001u, 0xbf800000u, 0xff7fffffu, 0xff800000u,
                                  0x7f800001u, 0x7fc00000u, 0xffffffffu};
    for (size_t i = 0; i < sizeof not_a_log / sizeof *not_a_log; i++)
        assert_bits(elementary_log(kernel_float(not_a_log[i])), KERNEL_NAN_BITS);
    assert_bits(elementary_exp(0.0f), 0x3f800000u);
    assert_bits(elementary_exp(-0.0f), 0x3f800000u);
    assert_bits(elementary_exp(kernel_float(0xff800000u)), 0);
    assert_bits(elementary_exp(kernel_float(0x7f800000u)), KERNEL_INFINITY_BITS);
    assert_bits(elementary_exp(-3.0e38f), 0);
    assert_bits(elementary_exp(3.0e38f), KERNEL_INFINITY_BITS);
    assert_bits(elementary_exp(-103.0f), 1);                  /* e^-103 = 1.32 * 2^-149 */
    assert_bits(elementary_exp(0x1.62e42ep+6f), 0x7f7fff84u); /* the last float below 128 ln 2: finite */
    assert_bits(elementary_exp(0x1.62e43p+6f), KERNEL_INFINITY_BITS);
    const uint32_t nans[] = {0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffc00000u};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
        assert_bits(elementary_exp(kernel_float(nans[i])), KERNEL_NAN_BITS);
}

static void ends_of_the_noise(void **state)
{
    (void)state;
    assert_true(exponential_of_word(UINT32_MAX) == 0x1p-33f);       /* -ln(1 - 2^-33) */
    assert_true(exponential_of_word(UINT32_MAX - 1) == 0x1.8p-32f); /* 3 2^-33, the square far below an ulp */
    assert_true(exponential_of_word(0) == 0x1.6dfb52p+4f);          /* 33 ln 2 = 22.8738 */
    assert_true(torch_exponential_of_word(0) == 0x1.6dfb52p+4f);    /* u = 2^-33 */
    assert_true(torch_exponential_of_word(UINT32_MAX) == 0x1p-24f); /* u = 1, clamped */
    assert_true(torch_exponential_of_word(0xfffffe81u) == 0x1p-24f); /* rounds up to u = 1 - 2^-24, clamped */
    assert_true(torch_exponential_of_word(0xfffffe00u) == 0x1p-23f); /* u = 1 - 2^-23 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values),
        cmocka_unit_test(ends_of_the_noise),
        cmocka_unit_test(mpfr_on_spread_inputs),
        cmocka_unit_test(every_output),
    };
    return cmocka_run_group_tests_name("elementary", tests, NULL, NULL);
}
