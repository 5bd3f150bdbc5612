/* philox.h: the random words, Philox4x32-10 of Random123, under one fixed counter layout, on host and device.
 *
 * key = (seed low, seed high); counter = (column / 4, stream, position low, position high); the word of a
 * column is output[column mod 4]. So a word depends on (seed, stream, position, column) alone, never on a
 * thread or a batch. Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC11. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_PHILOX_H
#define SAMPLEGATE_PHILOX_H
#include <Random123/philox.h>
#include <stdint.h>
#include "kernels/arithmetic.h"

/* What the words are for; a stream never shares words with another. */
enum philox_stream {
    PHILOX_STREAM_RACE = 0, /* column i: the Exp(1) noise of id i */
    PHILOX_STREAM_CATEGORICAL =
        1,                  /* columns 0 and 1: low and high half of the one 64-bit uniform of a draw */
    PHILOX_STREAM_TABLE = 2 /* rows of numbers made by formula */
};

struct philox_block {
    uint32_t word[4];
};

/* The words of columns 4 block .. 4 block + 3. */
static inline KERNEL_HD struct philox_block philox_block(uint64_t seed, uint32_t stream, uint64_t position,
                                                         uint32_t block)
{
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t counter = {{block, stream, (uint32_t)position, (uint32_t)(position >> 32)}};
    counter = philox4x32_R(10, counter, key);
    struct philox_block out = {{counter.v[0], counter.v[1], counter.v[2], counter.v[3]}};
    return out;
}

static inline KERNEL_HD uint32_t philox_word(uint64_t seed, uint32_t stream, uint64_t position,
                                             uint32_t column)
{
    return philox_block(seed, stream, position, column / 4).word[column % 4];
}
#endif
