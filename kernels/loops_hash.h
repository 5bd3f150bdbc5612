/* loops_hash.h: draws whose noise are hashes of the column (seeded.h), through the filter of candidates.h;
 * included by loops.c alone, compiled for each instruction set.
 *
 * What the hash makes of the column alone is kept for a tile of columns. Limits are in column order.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_LOOPS_HASH_H
#define SAMPLEGATE_LOOPS_HASH_H
#include "kernels/scores.h"

#define HASH_STEP 64   /* columns */
#define HASH_TILE 1024 /* columns */
#define HASH_FLIP 0x7fffffffu

/* What a draw brings. */
struct hash {
    enum sampler_rule rule;
    uint32_t start;
};

static struct hash hash_of(enum sampler_rule rule, const struct draw *draw)
{
    return (struct hash){rule, rule == RULE_SEEDED ? seeded_hash_start(draw->seed, draw->position)
                                                   : seeded_2025_start(draw->seed, draw->position)};
}

/* What a column brings. */
static inline uint32_t hash_spread(enum sampler_rule rule, uint32_t column)
{
    return rule == RULE_SEEDED ? seeded_spread(column) : seeded_2025_spread(column);
}

/* The word of a column: the hash; of the linear one, its 24 bits on top. */
static inline uint32_t hash_word(const struct hash *hash, uint32_t spread)
{
    return hash->rule == RULE_SEEDED ? seeded_hash_finish(hash->start, spread)
                                     : seeded_2025_finish(hash->start, spread) << 8;
}

/* noise[HASH_STEP] = n - 2^31. */
#define HASH_NOISE(name, finish)                                                                             \
    static inline void name(uint32_t start, const uint32_t *spread, int32_t *noise)                          \
    {                                                                                                        \
        for (size_t l = 0; l < HASH_STEP; l++)                                                               \
            noise[l] = (int32_t)(finish ^ HASH_FLIP);                                                        \
    }
HASH_NOISE(hash_noise_seeded, seeded_hash_finish(start, spread[l]))
HASH_NOISE(hash_noise_2025, seeded_2025_finish(start, spread[l]) << 8)

static inline void hash_noise(const struct hash *hash, const uint32_t *spread, int32_t *noise)
{
    if (hash->rule == RULE_SEEDED)
        hash_noise_seeded(hash->start, spread, noise);
    else
        hash_noise_2025(hash->start, spread, noise);
}

static void hash_candidates(enum sampler_rule rule, const struct candidates *row, struct draw *draw,
                            size_t draws)
{
    uint32_t spread[HASH_TILE];
    for (size_t first = 0; first < 4 * row->slots; first += HASH_TILE) {
        const size_t columns = 4 * row->slots - first < HASH_TILE ? 4 * row->slots - first : HASH_TILE;
        for (uint32_t l = 0; l < columns; l++)
            spread[l] = hash_spread(rule, 4 * row->block[(first + l) / 4] + l % 4);
        for (size_t d = 0; d < draws; d++) {
            const struct hash hash = hash_of(rule, &draw[d]);
            for (size_t step = 0; step < columns; step += HASH_STEP) {
                const int32_t *const limit = row->limit + first + step;
                int32_t noise[HASH_STEP], within = 0;
                hash_noise(&hash, spread + step, noise);
                for (size_t l = 0; l < HASH_STEP; l++)
                    within |= noise[l] <= limit[l];
                for (uint32_t l = 0; l < HASH_STEP && within; l++)
                    if (noise[l] <= limit[l])
                        draw_take(&draw[d], &scores[rule], row->vocab,
                                  4 * row->block[(first + step + l) / 4] + l % 4,
                                  (uint32_t)noise[l] ^ HASH_FLIP);
            }
        }
    }
}

static void hash_rows(enum sampler_rule rule, size_t vocab, struct draw *draw, size_t draws)
{
    uint32_t spread[HASH_TILE];
    for (size_t first = 0; first < vocab; first += HASH_TILE) {
        for (uint32_t l = 0; l < HASH_TILE; l++)
            spread[l] = hash_spread(rule, (uint32_t)first + l);
        const size_t left = vocab - first < HASH_TILE ? vocab - first : HASH_TILE;
        for (size_t d = 0; d < draws; d++) {
            const struct hash hash = hash_of(rule, &draw[d]);
            float scale = draw_scale(&draw[d], &scores[rule]);
            for (size_t step = 0; step < left; step += HASH_STEP) {
                const float *weights = draw[d].weights + first + step;
                int32_t noise[HASH_STEP], within = 0;
                float tail[HASH_STEP] = {0};
                if (left - step < HASH_STEP)
                    weights = memcpy(tail, weights, (left - step) * sizeof *tail);
                hash_noise(&hash, spread + step, noise);
                for (size_t l = 0; l < HASH_STEP; l++)
                    within |= (float)noise[l] <= draw_limit(weights[l], scale);
                if (!within)
                    continue;
                for (uint32_t l = 0; l < HASH_STEP; l++)
                    if ((float)noise[l] <= draw_limit(weights[l], scale))
                        draw_take(&draw[d], &scores[rule], vocab, (uint32_t)(first + step) + l,
                                  (uint32_t)noise[l] ^ HASH_FLIP);
                scale = draw_scale(&draw[d], &scores[rule]);
            }
        }
    }
}
#endif
