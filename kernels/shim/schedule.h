/* schedule.h: in which order the host shim lets the threads of a block run; for tests, C and C++.
 *
 * A thread runs until it must wait (a barrier, a shuffle); then the first ready thread in the order runs. So
 * each order lets some threads get as far ahead of the others as barriers allow: what is wrong without a
 * barrier shows under at least one of the orders, not under all. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_SCHEDULE_H
#define SAMPLEGATE_SHIM_SCHEDULE_H
#include <stdint.h>

enum shim_order {
    SHIM_FORWARD, /* low threads and blocks first */
    SHIM_REVERSE, /* high ones first */
    SHIM_PERMUTED /* each block in an order of its own, made from the seed */
};

#ifdef __cplusplus
extern "C" {
#endif
/* For all launches from now on. Launches are made by one thread at a time. */
void shim_schedule(enum shim_order order, uint64_t seed);
/* Calls of the runtime so far that take or give back memory, or wait for the device. */
unsigned long shim_waits_made(void);
#ifdef __cplusplus
}
#endif
#endif
