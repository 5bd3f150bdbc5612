/* isa.c: which instruction set's loops to run.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/loops.h"

static int machine_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int machine_has_avx512(void)
{
    return machine_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}

const struct loops *loops_of(const char *isa)
{
    if (strcmp(isa, "baseline") == 0)
        return &loops_baseline;
    if (strcmp(isa, "avx2") == 0)
        return machine_has_avx2() ? &loops_avx2 : NULL;
    if (strcmp(isa, "avx512") == 0)
        return machine_has_avx512() ? &loops_avx512 : NULL;
    return NULL;
}

static const struct loops *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    const char *override = getenv("SAMPLEGATE_ISA");
    if (override && *override)
        chosen = loops_of(override);
    else
        chosen = machine_has_avx512() ? &loops_avx512 : machine_has_avx2() ? &loops_avx2 : &loops_baseline;
}

const struct loops *loops_chosen(void)
{
    pthread_once(&once, choose);
    return chosen;
}
