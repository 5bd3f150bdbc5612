/* loops_race.h: draws whose noise are Philox words, through the filter of candidates.h; included by loops.c
 * alone, compiled for each instruction set.
 *
 * The first two rounds of Philox are split: what depends on the block only (and on the high halves of seed and
 * position, the same for all draws at hand) is kept for a tile of blocks, what depends on the draw only is a
 * constant. Noise is kept as n - 2^31 (candidates.h), which makes both comparisons signed. A unit is LANES
 * blocks: element 2 i of its first vector is column 1 of the block in lane i, 2 i + 1 column 0; the second has
 * columns 3 and 2. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_LOOPS_RACE_H
#define SAMPLEGATE_LOOPS_RACE_H
#include "kernels/loops_limits.h"
#include "kernels/philox.h"

#define TILE 256 /* blocks */
#define UNIT_COLUMNS (4 * LANES)
/* So many independent units hide the latency of products, measured with gcc 12 on Zen 4; clang unrolls only if
 * told the very number. */
#define STEP_UNITS 4
#define STEP_BLOCKS (STEP_UNITS * LANES)
#define DRAWS_AT_ONCE 64
#define NOISE_FLIP 0x7fffffffu /* word ^ this = n - 2^31 */

/* Words 0, 1 and 2 after two rounds, less what the draw adds to 0 and 2; low halves. */
struct tile {
    uint64_t a[TILE], b[TILE], c[TILE];
};

static void tile_fill(struct tile *tile, const uint32_t *block, size_t blocks, uint32_t high)
{
    const lanes m0 = LANES_SET(PHILOX_M4x32_0), m1 = LANES_SET(PHILOX_M4x32_1), k = LANES_SET(high);
    for (size_t i = 0; i < blocks; i += LANES) {
        const lanes first = LANES_MULTIPLY(LANES_LOAD_WORDS(block + i), m0);
        const lanes second = LANES_MULTIPLY(LANES_XOR(LANES_HIGH(first), k), m1);
        LANES_STORE(tile->a + i, LANES_HIGH(second));
        LANES_STORE(tile->b + i, second);
        LANES_STORE(tile->c + i, first);
    }
}

/* What a draw brings to the eight rounds that are left; low halves, but for the last key. */
struct rounds {
    uint64_t a, c, d, key[8][2];
};

static uint32_t rounds_high(const struct draw *draw)
{
    return (uint32_t)(draw->position >> 32) ^ (uint32_t)(draw->seed >> 32);
}

static void rounds_fill(struct rounds *rounds, const struct draw *draw)
{
    uint32_t key0 = (uint32_t)draw->seed, key1 = (uint32_t)(draw->seed >> 32);
    const uint64_t first = PHILOX_M4x32_1 * (uint64_t)(uint32_t)draw->position;
    const uint32_t word = (uint32_t)(first >> 32) ^ PHILOX_STREAM_RACE ^ key0;
    const uint64_t second = PHILOX_M4x32_0 * (uint64_t)word;
    key0 += PHILOX_W32_0;
    key1 += PHILOX_W32_1;
    rounds->a = (uint32_t)first ^ key0;
    rounds->c = (uint32_t)(second >> 32) ^ key1;
    rounds->d = (uint32_t)second;
    for (size_t r = 0; r < 8; r++) {
        key0 += PHILOX_W32_0;
        key1 += PHILOX_W32_1;
        rounds->key[r][0] = key0;
        rounds->key[r][1] = key1;
    }
    for (size_t i = 0; i < 2; i++)
        rounds->key[7][i] = rounds->key[7][i] << 32 ^ ((uint64_t)NOISE_FLIP << 32 | NOISE_FLIP);
}

static inline __attribute__((always_inline)) void round_of_units(lanes word[][4], size_t units,
                                                                 const uint64_t key[2])
{
    const lanes m0 = LANES_SET(PHILOX_M4x32_0), m1 = LANES_SET(PHILOX_M4x32_1);
#pragma GCC unroll 4
    for (size_t u = 0; u < units; u++) {
        const lanes product0 = LANES_MULTIPLY(word[u][0], m0), product1 = LANES_MULTIPLY(word[u][2], m1);
        word[u][0] = LANES_XOR3(LANES_HIGH(product1), word[u][1], LANES_SET(key[0]));
        word[u][1] = product1;
        word[u][2] = LANES_XOR3(LANES_HIGH(product0), word[u][3], LANES_SET(key[1]));
        word[u][3] = product0;
    }
}

/* The noise of `units` units; round by round, so that their chains of products overlap. */
static inline __attribute__((always_inline)) void
unit_noise(const struct tile *tile, size_t slot, const struct rounds *rounds, size_t units, lanes noise[][2])
{
    const lanes m0 = LANES_SET(PHILOX_M4x32_0), m1 = LANES_SET(PHILOX_M4x32_1);
    lanes word[STEP_UNITS][4];
#pragma GCC unroll 4
    for (size_t u = 0; u < units; u++) {
        word[u][0] = LANES_XOR(LANES_LOAD(tile->a + slot + u * LANES), LANES_SET(rounds->a));
        word[u][1] = LANES_LOAD(tile->b + slot + u * LANES);
        word[u][2] = LANES_XOR(LANES_LOAD(tile->c + slot + u * LANES), LANES_SET(rounds->c));
        word[u][3] = LANES_SET(rounds->d);
    }
#pragma GCC unroll 7
    for (size_t r = 0; r < 7; r++)
        round_of_units(word, units, rounds->key[r]);
#pragma GCC unroll 4
    for (size_t u = 0; u < units; u++) {
        noise[u][0] = LANES_XOR3(LANES_MULTIPLY(word[u][2], m1), LANES_LOW_UP(word[u][1]),
                                 LANES_SET(rounds->key[7][0]));
        noise[u][1] = LANES_XOR3(LANES_MULTIPLY(word[u][0], m0), LANES_LOW_UP(word[u][3]),
                                 LANES_SET(rounds->key[7][1]));
    }
}

/* Blocks first, first + 1, ... in the order of lanes into which a shuffle puts their columns. */
static void blocks_fill(uint32_t *block, size_t first, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++)
        block[i] = (uint32_t)(first + i / LANES * LANES + i % LANES / 2 + i % 2 * (LANES / 2));
}

/* The words of one unit in the order of columns, of blocks from blocks_fill. */
static inline void unit_words(const struct tile *tile, size_t slot, const struct rounds *rounds,
                              uint32_t words[4 * LANES])
{
    lanes noise[1][2];
    uint32_t element[UNIT_COLUMNS];
    unit_noise(tile, slot, rounds, 1, noise);
    LANES_STORE(element, noise[0][0]);
    LANES_STORE(element + 2 * LANES, noise[0][1]);
    for (size_t l = 0; l < UNIT_COLUMNS; l++) {
        const size_t lane = l % (2 * LANES) / 2, column = l / (2 * LANES) * 2 + 1 - l % 2;
        words[4 * (lane / 2 + lane % 2 * (LANES / 2)) + column] = element[l] ^ NOISE_FLIP;
    }
}

/* One draw on one tile of blocks. */
struct scan {
    const struct score *score;
    size_t vocab;
    const struct tile *tile;
    const uint32_t *block;
    size_t slots; /* a multiple of STEP_BLOCKS */
    const struct rounds *rounds;
    struct draw *draw;
};

/* Score the columns of a step whose noise is within the limit. */
static __attribute__((noinline)) void step_take(const struct scan *scan, size_t slot, const int32_t *limit)
{
    lanes noise[STEP_UNITS][2];
    unit_noise(scan->tile, slot, scan->rounds, STEP_UNITS, noise);
    for (size_t half = 0; half < 2 * STEP_UNITS; half++) {
        const int32_t *const at = limit + half * 2 * LANES;
        int32_t element[2 * LANES];
        if (REJECTS_ARE_ALL(REJECTS_ABOVE(REJECTS_ALL, noise[half / 2][half % 2], LANES_LOAD(at))))
            continue;
        LANES_STORE(element, noise[half / 2][half % 2]);
        for (uint32_t l = 0; l < 2 * LANES; l++)
            if (element[l] <= at[l]) {
                const uint32_t block = scan->block[slot + half / 2 * LANES + l / 2];
                draw_take(scan->draw, scan->score, scan->vocab,
                          4 * block + (uint32_t)(half % 2 * 2) + 1 - l % 2,
                          (uint32_t)element[l] ^ NOISE_FLIP);
            }
    }
}

/* limit[4 slots] as a row keeps them. */
static void scan_limits(const struct scan *scan, const int32_t *limit)
{
    for (size_t slot = 0; slot < scan->slots; slot += STEP_BLOCKS) {
        lanes_rejects rejects = REJECTS_ALL;
        lanes noise[STEP_UNITS][2];
        unit_noise(scan->tile, slot, scan->rounds, STEP_UNITS, noise);
#pragma GCC unroll 4
        for (size_t u = 0; u < STEP_UNITS; u++) {
            const int32_t *const at = limit + 4 * slot + u * UNIT_COLUMNS;
            rejects = REJECTS_ABOVE(rejects, noise[u][0], LANES_LOAD(at));
            rejects = REJECTS_ABOVE(rejects, noise[u][1], LANES_LOAD(at + 2 * LANES));
        }
        if (!REJECTS_ARE_ALL(rejects))
            step_take(scan, slot, limit + 4 * slot);
    }
}

/* The limits of one unit from weights[UNIT_COLUMNS], whose blocks lie in the order of blocks_fill. */
static inline void unit_limits(const float *weights, lanes_float scale, lanes_float limit[2])
{
    const lanes_float zero = LANES_FLOAT_SET(CANDIDATES_ZERO);
    const lanes_float low = LANES_FLOAT_LOAD(weights), high = LANES_FLOAT_LOAD(weights + 2 * LANES);
    limit[0] = LANES_FMA(LANES_SHUFFLE(low, high, 0x11), scale, zero);
    limit[1] = LANES_FMA(LANES_SHUFFLE(low, high, 0xbb), scale, zero);
}

/* weights[4 slots] in column order. */
static void scan_weights(const struct scan *scan, const float *weights)
{
    lanes_float scale = LANES_FLOAT_SET(draw_scale(scan->draw, scan->score));
    for (size_t slot = 0; slot < scan->slots; slot += STEP_BLOCKS) {
        lanes_rejects rejects = REJECTS_ALL;
        lanes noise[STEP_UNITS][2];
        unit_noise(scan->tile, slot, scan->rounds, STEP_UNITS, noise);
#pragma GCC unroll 4
        for (size_t u = 0; u < STEP_UNITS; u++) {
            lanes_float limit[2];
            unit_limits(weights + 4 * slot + u * UNIT_COLUMNS, scale, limit);
            rejects = REJECTS_NOT_WITHIN(rejects, noise[u][0], limit[0]);
            rejects = REJECTS_NOT_WITHIN(rejects, noise[u][1], limit[1]);
        }
        if (!REJECTS_ARE_ALL(rejects)) {
            int32_t whole[STEP_UNITS * UNIT_COLUMNS];
            for (size_t u = 0; u < STEP_UNITS; u++) {
                float part[UNIT_COLUMNS];
                lanes_float limit[2];
                unit_limits(weights + 4 * slot + u * UNIT_COLUMNS, scale, limit);
                LANES_FLOAT_STORE(part, limit[0]);
                LANES_FLOAT_STORE(part + 2 * LANES, limit[1]);
                for (size_t l = 0; l < UNIT_COLUMNS; l++)
                    whole[u * UNIT_COLUMNS + l] = limit_of(part[l]);
            }
            step_take(scan, slot, whole);
            scale = LANES_FLOAT_SET(draw_scale(scan->draw, scan->score));
        }
    }
}

/* Many draws of one prepared row. */
static void race_candidates(const struct score *score, const struct candidates *row, struct draw *draw,
                            size_t draws)
{
    struct tile tile;
    struct rounds rounds[DRAWS_AT_ONCE];
    for (size_t first = 0; first < draws; first += DRAWS_AT_ONCE) {
        const size_t count = draws - first < DRAWS_AT_ONCE ? draws - first : DRAWS_AT_ONCE;
        for (size_t d = 0; d < count; d++)
            rounds_fill(&rounds[d], &draw[first + d]);
        for (size_t slot = 0; slot < row->slots; slot += TILE) {
            const size_t slots = row->slots - slot < TILE ? row->slots - slot : TILE;
            for (size_t d = 0; d < count; d++) {
                struct draw *const this = &draw[first + d];
                if (d == 0 || rounds_high(this) != rounds_high(this - 1))
                    tile_fill(&tile, row->block + slot, slots, rounds_high(this));
                const struct scan scan = {score, row->vocab, &tile, row->block + slot,
                                          slots, &rounds[d], this};
                scan_limits(&scan, row->limit + 4 * slot);
            }
        }
    }
}

/* Draws, each of its own row, straight from the weights. */
static void race_rows(const struct score *score, size_t vocab, struct draw *draw, size_t draws)
{
    struct tile tile;
    struct rounds rounds[DRAWS_AT_ONCE];
    uint32_t block[TILE];
    float tail[4 * TILE];
    for (size_t first = 0; first < draws; first += DRAWS_AT_ONCE) {
        const size_t count = draws - first < DRAWS_AT_ONCE ? draws - first : DRAWS_AT_ONCE;
        for (size_t d = 0; d < count; d++)
            rounds_fill(&rounds[d], &draw[first + d]);
        for (size_t column = 0; column < vocab; column += 4 * TILE) {
            const size_t left = vocab - column < 4 * TILE ? vocab - column : 4 * TILE;
            const size_t slots = (left + 4 * STEP_BLOCKS - 1) / (4 * STEP_BLOCKS) * STEP_BLOCKS;
            blocks_fill(block, column / 4, slots);
            for (size_t d = 0; d < count; d++) {
                struct draw *const this = &draw[first + d];
                const float *weights = this->weights + column;
                if (d == 0 || rounds_high(this) != rounds_high(this - 1))
                    tile_fill(&tile, block, slots, rounds_high(this));
                if (left < 4 * slots) {
                    memset(tail, 0, 4 * slots * sizeof *tail);
                    weights = memcpy(tail, weights, left * sizeof *tail);
                }
                const struct scan scan = {score, vocab, &tile, block, slots, &rounds[d], this};
                scan_weights(&scan, weights);
            }
        }
    }
}
#endif
