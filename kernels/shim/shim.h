/* shim.h: enough of CUDA to run a kernel on the host: blocks one after another, the threads of a block as
 * fibers.
 *
 * Has __syncthreads, __shfl_xor_sync, __shfl_down_sync, __shfl_sync, atomicAdd, atomicMax, shared memory
 * (CUDA_SHARED of launch.h) and the runtime's memory calls. A launch that does what CUDA leaves undefined
 * ends with an error whose text says what: a barrier that not all threads reach, or not the same one; a
 * shuffle whose mask names a lane that does not come to it with the same mask, leaves out the caller, or does
 * not hold the lane that is read; a write past an end of a shared array. Not seen: races between two barriers
 * that no order of threads (schedule.h) brings out. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_H
#define SAMPLEGATE_SHIM_H
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <functional>
#include <tuple>
#include <vector>
#include "kernels/shim/fiber.h"
#include "kernels/shim/schedule.h"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __noinline__ __attribute__((noinline))
#define __threadfence() ((void)0) /* blocks run one after another */

#define SHIM_WARP 32u
#define SHIM_THREADS_MAX 1024u
#define SHIM_GUARD_BYTES 128
#define SHIM_GUARD 0x9d
#define SHIM_FILL 0xa5

struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};

/* Hidden: two libraries made of .cu files may be loaded at once. */
#define SHIM_OWN __attribute__((visibility("hidden"))) inline

/* Launches that are recorded, not made. */
struct shim_recording {
    bool on, broken;
    std::vector<std::function<void()>> work;
};
SHIM_OWN struct shim_recording shim_capture;

struct shim_index {
    unsigned x, y, z;
};
SHIM_OWN struct shim_index threadIdx, blockIdx, blockDim, gridDim;

enum shim_state { SHIM_READY, SHIM_AT_BARRIER, SHIM_AT_SHUFFLE, SHIM_ENDED };

/* A line of a .cu file; compared by line, since one kernel is one file. */
struct shim_site {
    const char *file;
    int line;
};

struct shim_thread {
    struct fiber fiber;
    enum shim_state state;
    struct shim_site site; /* where it waits */
    uint32_t mask;         /* of the shuffle it waits in */
    unsigned source;       /* the lane it reads there */
    uint64_t value;        /* what it gives; afterwards, what it got */
};

/* A shared array of the running block. */
struct shim_array {
    const char *name;
    const unsigned char *before, *after; /* [SHIM_GUARD_BYTES] each */
    struct shim_array *next;
};

template <class T, size_t N> struct shim_shared {
    alignas(16) unsigned char before[SHIM_GUARD_BYTES];
    T item[N];
    unsigned char after[SHIM_GUARD_BYTES]; /* bytes, so that it begins where the array ends */
    struct shim_array array;
    uint64_t block; /* number of the block that entered it last */
};

struct shim_run {
    enum shim_order order;
    uint64_t seed;
    uint64_t blocks;     /* started since the process began */
    struct fiber caller; /* the thread of the process that launches */
    struct shim_thread thread[SHIM_THREADS_MAX];
    unsigned current;
    unsigned at[SHIM_THREADS_MAX]; /* thread at each place of the order */
    unsigned place[SHIM_THREADS_MAX];
    uint64_t ready[SHIM_THREADS_MAX / 64];             /* a bit for each place */
    uint32_t at_shuffle[SHIM_THREADS_MAX / SHIM_WARP]; /* a bit for each lane that waits in a shuffle */
    struct shim_array *arrays;
    void (*call)(const void *);
    const void *kernel;
    bool failed;
    char trouble[256];
};
SHIM_OWN struct shim_run shim;

extern "C" __attribute__((used)) inline void shim_schedule(enum shim_order order, uint64_t seed)
{
    shim.order = order;
    shim.seed = seed;
}

/* The launch ends here; the first reason stays. */
template <class... Arguments> inline void shim_fail(const char *format, Arguments... arguments)
{
    if (shim.failed)
        return;
    shim.failed = true;
    const int used = snprintf(shim.trouble, sizeof shim.trouble, "shim: block %u: ", blockIdx.x);
    snprintf(shim.trouble + used, sizeof shim.trouble - (size_t)used, format, arguments...);
}

inline void shim_set_ready(unsigned thread)
{
    shim.thread[thread].state = SHIM_READY;
    shim.ready[shim.place[thread] / 64] |= UINT64_C(1) << shim.place[thread] % 64;
}

/* Called by the running thread: let others run until it is ready again. Does not return once a launch failed.
 */
inline void shim_wait(enum shim_state state)
{
    struct shim_thread *const self = &shim.thread[shim.current];
    self->state = state;
    shim.ready[shim.place[shim.current] / 64] &= ~(UINT64_C(1) << shim.place[shim.current] % 64);
    fiber_switch(&self->fiber, &shim.caller, state == SHIM_ENDED);
}

inline void shim_thread_main()
{
    fiber_entered(&shim.caller);
    shim.call(shim.kernel);
    shim_wait(SHIM_ENDED);
}

#include "kernels/shim/warp.h"
#include "kernels/shim/block.h"
#include "kernels/shim/runtime.h"
#include "kernels/shim/graph.h"
#endif
