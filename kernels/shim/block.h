/* block.h: barriers, shared arrays and the running of blocks in the host shim (part of shim.h).
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_BLOCK_H
#define SAMPLEGATE_SHIM_BLOCK_H

inline void shim_barrier(struct shim_site site)
{
    shim.thread[shim.current].site = site;
    shim_wait(SHIM_AT_BARRIER);
}
#define __syncthreads() shim_barrier(SHIM_SITE)

/* The first thread of a block that comes by makes the array new. */
template <class T, size_t N> inline T *shim_shared_enter(struct shim_shared<T, N> &shared, const char *name)
{
    if (shared.block != shim.blocks) {
        shared.block = shim.blocks;
        FIBER_UNPOISON(&shared, sizeof shared);
        memset(shared.item, SHIM_FILL, sizeof shared.item);
        memset(shared.before, SHIM_GUARD, sizeof shared.before);
        memset(shared.after, SHIM_GUARD, sizeof shared.after);
        FIBER_POISON(shared.before, sizeof shared.before);
        FIBER_POISON(shared.after, sizeof shared.after);
        shared.array = {name, shared.before, shared.after, shim.arrays};
        shim.arrays = &shared.array;
    }
    return shared.item;
}

FIBER_UNCHECKED inline void shim_guards_check()
{
    for (const struct shim_array *array = shim.arrays; array; array = array->next)
        for (int byte = 0; byte < SHIM_GUARD_BYTES; byte++) {
            if (array->before[byte] != SHIM_GUARD)
                shim_fail("shared array '%s' was written before its start", array->name);
            if (array->after[byte] != SHIM_GUARD)
                shim_fail("shared array '%s' was written past its end", array->name);
        }
}

/* Why a thread that waits in a shuffle will wait for ever. */
inline void shim_shuffle_stuck(unsigned waiting)
{
    const struct shim_thread *const thread = &shim.thread[waiting];
    const unsigned first = waiting / SHIM_WARP * SHIM_WARP;
    for (unsigned lane = 0; lane < SHIM_WARP; lane++) {
        const struct shim_thread *const other = &shim.thread[first + lane];
        if (!(thread->mask >> lane & 1) || shim_meets(other, thread))
            continue;
        if (other->state == SHIM_ENDED)
            shim_fail("thread %u waits at %s:%d, mask %08x, for thread %u, which ended", waiting,
                      thread->site.file, thread->site.line, thread->mask, first + lane);
        else
            shim_fail("thread %u waits at %s:%d, mask %08x, for thread %u, which waits at %s:%d%s", waiting,
                      thread->site.file, thread->site.line, thread->mask, first + lane, other->site.file,
                      other->site.line,
                      other->state == SHIM_AT_BARRIER ? ", a barrier" : " with another mask");
    }
}

/* Nobody is ready: all wait at one barrier, or the kernel is wrong. */
inline void shim_barrier_finish()
{
    unsigned first = 0;
    while (first < blockDim.x && shim.thread[first].state != SHIM_AT_BARRIER)
        first++;
    for (unsigned t = 0; t < blockDim.x && !shim.failed; t++) {
        const struct shim_site mine = shim.thread[t].site, site = shim.thread[first % blockDim.x].site;
        if (shim.thread[t].state == SHIM_AT_SHUFFLE)
            shim_shuffle_stuck(t);
        else if (shim.thread[t].state == SHIM_ENDED && first < blockDim.x)
            shim_fail("thread %u ended while thread %u waits at a barrier (%s:%d)", t, first, site.file,
                      site.line);
        else if (shim.thread[t].state == SHIM_AT_BARRIER && mine.line != site.line)
            shim_fail("threads %u and %u wait at different barriers (%s:%d and %s:%d)", first, t, site.file,
                      site.line, mine.file, mine.line);
    }
    shim_guards_check();
    for (unsigned t = 0; t < blockDim.x && !shim.failed; t++)
        shim_set_ready(t);
}

/* A mix of 64 bits (the finaliser of MurmurHash3), for orders only. */
inline uint64_t shim_mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

inline void shim_order_threads(unsigned threads)
{
    for (unsigned t = 0; t < threads; t++)
        shim.at[t] = shim.order == SHIM_REVERSE ? threads - 1 - t : t;
    for (unsigned left = threads; shim.order == SHIM_PERMUTED && left > 1; left--) {
        const unsigned pick = (unsigned)(shim_mix(shim.seed ^ shim_mix(shim.blocks << 10 | left)) % left);
        const unsigned other = shim.at[left - 1];
        shim.at[left - 1] = shim.at[pick];
        shim.at[pick] = other;
    }
    for (unsigned t = 0; t < threads; t++)
        shim.place[shim.at[t]] = t;
}

/* The first ready thread of the order, or SHIM_THREADS_MAX. */
inline unsigned shim_next()
{
    for (unsigned word = 0; word * 64 < blockDim.x; word++)
        if (shim.ready[word])
            return shim.at[word * 64 + (unsigned)__builtin_ctzll(shim.ready[word])];
    return SHIM_THREADS_MAX;
}

inline bool shim_all_ended()
{
    for (unsigned t = 0; t < blockDim.x; t++)
        if (shim.thread[t].state != SHIM_ENDED)
            return false;
    return true;
}

inline void shim_block(unsigned block)
{
    blockIdx = {block, 0, 0};
    shim.blocks++;
    shim.arrays = nullptr;
    shim_order_threads(blockDim.x);
    for (unsigned t = 0; t < blockDim.x; t++) {
        fiber_prepare(&shim.thread[t].fiber, shim_thread_main);
        shim_set_ready(t);
    }
    while (!shim.failed) {
        shim.current = shim_next();
        if (shim.current < SHIM_THREADS_MAX) {
            threadIdx = {shim.current, 0, 0};
            fiber_switch(&shim.caller, &shim.thread[shim.current].fiber, false);
        } else if (shim_all_ended()) {
            shim_guards_check();
            return;
        } else {
            shim_barrier_finish();
        }
    }
}

/* Stacks that were left in the middle still carry AddressSanitizer's marks. */
inline void shim_abandon(unsigned threads)
{
    for (unsigned t = 0; t < threads; t++)
        FIBER_UNPOISON(shim.thread[t].fiber.stack, shim.thread[t].fiber.bytes);
    memset(shim.ready, 0, sizeof shim.ready);
    memset(shim.at_shuffle, 0, sizeof shim.at_shuffle);
}

template <class Kernel> inline void shim_launch(unsigned blocks, unsigned threads, Kernel kernel)
{
    gridDim = {blocks, 1, 1};
    blockDim = {threads, 1, 1};
    blockIdx = {0, 0, 0};
    if (shim.failed)
        return;
    if (threads == 0 || threads > SHIM_THREADS_MAX || blocks == 0) {
        shim_fail("a launch of %u blocks of %u threads", blocks, threads);
        return;
    }
    shim.call = [](const void *self) { (*static_cast<const Kernel *>(self))(); };
    shim.kernel = &kernel;
    for (unsigned b = 0; b < blocks && !shim.failed; b++)
        shim_block(shim.order == SHIM_FORWARD   ? b
                   : shim.order == SHIM_REVERSE ? blocks - 1 - b
                                                : (unsigned)((b + shim.seed) % blocks));
    if (shim.failed)
        shim_abandon(threads);
}
/* Now, or when the graph is launched that is being captured. */
template <class Kernel> inline void shim_submit(unsigned blocks, unsigned threads, Kernel kernel)
{
    if (shim_capture.on)
        shim_capture.work.push_back([=]() { shim_launch(blocks, threads, kernel); });
    else
        shim_launch(blocks, threads, kernel);
}
#endif
