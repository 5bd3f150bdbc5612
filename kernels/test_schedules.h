/* test_schedules.h: the orders of threads under which every test of a kernel is made.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_TEST_SCHEDULES_H
#define SAMPLEGATE_TEST_SCHEDULES_H
#include "kernels/shim/schedule.h"

static const struct schedule {
    const char *name;
    enum shim_order order;
    uint64_t seed;
} schedules[] = {{"forward", SHIM_FORWARD, 0},
                 {"reverse", SHIM_REVERSE, 0},
                 {"permuted", SHIM_PERMUTED, 38117},
                 {"permuted otherwise", SHIM_PERMUTED, 38118}};
#endif
