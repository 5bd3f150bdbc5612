/* warp.h: shuffles and atomics of the host shim (part of shim.h).
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_WARP_H
#define SAMPLEGATE_SHIM_WARP_H

/* The lanes of `mask` have all come: each gets the value of the lane it reads. */
inline void shim_shuffle_finish(unsigned first, uint32_t mask)
{
    uint64_t given[SHIM_WARP];
    for (unsigned lane = 0; lane < SHIM_WARP; lane++)
        given[lane] = mask >> lane & 1 ? shim.thread[first + lane].value : 0;
    for (unsigned lane = 0; lane < SHIM_WARP; lane++) {
        if (!(mask >> lane & 1))
            continue;
        struct shim_thread *const thread = &shim.thread[first + lane];
        if (!(mask >> thread->source & 1))
            shim_fail("thread %u reads lane %u, which is not in mask %08x (%s:%d)", first + lane,
                      thread->source, mask, thread->site.file, thread->site.line);
        thread->value = given[thread->source];
        shim_set_ready(first + lane);
    }
    shim.at_shuffle[first / SHIM_WARP] &= ~mask;
}

/* A thread that waits in the shuffle of another. */
inline bool shim_meets(const struct shim_thread *thread, const struct shim_thread *other)
{
    return thread->state == SHIM_AT_SHUFFLE && thread->mask == other->mask &&
           thread->site.line == other->site.line;
}

/* Lanes that the block has in the warp of thread `first`. */
inline uint32_t shim_lanes(unsigned first)
{
    const unsigned count = blockDim.x - first;
    return count < SHIM_WARP ? (1u << count) - 1 : 0xffffffffu;
}

/* Have all lanes of the mask come to the shuffle of the thread? */
inline bool shim_shuffle_complete(unsigned first, const struct shim_thread *thread)
{
    uint32_t here = shim.at_shuffle[first / SHIM_WARP] & thread->mask;
    if (here != thread->mask)
        return false;
    for (unsigned lane = 0; lane < SHIM_WARP; lane++)
        if (here >> lane & 1 && !shim_meets(&shim.thread[first + lane], thread))
            return false;
    return true;
}

/* The running thread waits for the lanes of its mask, then has the value of lane `source`. */
inline uint64_t shim_shuffle(uint32_t mask, uint64_t value, unsigned source, struct shim_site site)
{
    const unsigned self = shim.current, lane = self % SHIM_WARP, first = self - lane;
    struct shim_thread *const thread = &shim.thread[self];
    if (!(mask >> lane & 1))
        shim_fail("thread %u is not in its own mask %08x (%s:%d)", self, mask, site.file, site.line);
    if (mask & ~shim_lanes(first))
        shim_fail("mask %08x names lane %d, but the block has %u threads (%s:%d)", mask,
                  __builtin_ctz(mask & ~shim_lanes(first)), blockDim.x, site.file, site.line);
    thread->state = SHIM_AT_SHUFFLE;
    thread->site = site;
    thread->mask = mask;
    thread->source = source;
    thread->value = value;
    shim.at_shuffle[first / SHIM_WARP] |= 1u << lane;
    if (!shim.failed && shim_shuffle_complete(first, thread))
        shim_shuffle_finish(first, mask);
    if (shim.failed || thread->state == SHIM_AT_SHUFFLE)
        shim_wait(SHIM_AT_SHUFFLE);
    return thread->value;
}

template <class T> inline T shim_shuffle_any(uint32_t mask, T value, unsigned source, struct shim_site site)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = shim_shuffle(mask, bits, source, site);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* As in CUDA, a lane beyond the warp is the caller's own. */
inline unsigned shim_lane_below(unsigned distance)
{
    const unsigned lane = shim.current % SHIM_WARP;
    return lane + distance < SHIM_WARP ? lane + distance : lane;
}

#define SHIM_SITE (shim_site{__FILE__, __LINE__})
#define __shfl_sync(mask, value, lane) shim_shuffle_any(mask, value, (lane) % SHIM_WARP, SHIM_SITE)
#define __shfl_xor_sync(mask, value, bits)                                                                   \
    shim_shuffle_any(mask, value, (shim.current ^ (bits)) % SHIM_WARP, SHIM_SITE)
#define __shfl_down_sync(mask, value, distance)                                                              \
    shim_shuffle_any(mask, value, shim_lane_below(distance), SHIM_SITE)

/* A thread gives way at barriers and shuffles only, so these need nothing more. */
template <class T> inline T atomicAdd(T *place, T value)
{
    const T old = *place;
    *place = old + value;
    return old;
}

template <class T> inline T atomicOr(T *place, T value)
{
    const T old = *place;
    *place = old | value;
    return old;
}

template <class T> inline T atomicMax(T *place, T value)
{
    const T old = *place;
    *place = old > value ? old : value;
    return old;
}
#endif
