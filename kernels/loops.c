/* loops.c: the inner loops, compiled once for each instruction set; ISA names the set: baseline, avx2 or
 * avx512.
 *
 * Draws go through the filter of candidates.h, in loops_race.h and loops_hash.h; the rest is the arithmetic of
 * the scalar headers, in loops the compiler vectorises. SPDX-License-Identifier: MIT */
#include "kernels/loops.h"
#include "kernels/loops_hash.h"
#include "kernels/loops_race.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

static void candidates(enum sampler_rule rule, const struct candidates *row, struct draw *draw, size_t draws)
{
    if (score_is_hashed(rule))
        hash_candidates(rule, row, draw, draws);
    else
        race_candidates(&scores[rule], row, draw, draws);
}

static void rows(enum sampler_rule rule, size_t vocab, struct draw *draw, size_t draws)
{
    if (score_is_hashed(rule))
        hash_rows(rule, vocab, draw, draws);
    else
        race_rows(&scores[rule], vocab, draw, draws);
}

static void whole(enum sampler_rule rule, size_t vocab, struct draw *draw)
{
    const struct hash hash = hash_of(rule, draw);
    for (uint32_t column = 0; column < vocab; column++)
        draw_take(draw, &scores[rule], vocab, column,
                  score_is_hashed(rule)
                      ? hash_word(&hash, hash_spread(rule, column))
                      : philox_word(draw->seed, PHILOX_STREAM_RACE, draw->position, column));
}

#define GROUP 64

/* The running best of each lane and the group it came from. */
struct lead {
    float score[GROUP];
    uint32_t group[GROUP];
};

static inline void lead_take(struct lead *lead, const float score[GROUP], size_t group)
{
    for (size_t l = 0; l < GROUP; l++) {
        const uint32_t larger = kernel_mask(score[l] > lead->score[l]);
        lead->score[l] =
            kernel_float(kernel_select(larger, kernel_bits(score[l]), kernel_bits(lead->score[l])));
        lead->group[l] = kernel_select(larger, (uint32_t)group, lead->group[l]);
    }
}

/* Largest score, then lowest column. */
static inline int32_t lead_column(const struct lead *lead)
{
    size_t first = 0;
    for (size_t l = 1; l < GROUP; l++)
        if (lead->score[l] > lead->score[first] ||
            (lead->score[l] == lead->score[first] && lead->group[l] < lead->group[first]))
            first = l;
    return (int32_t)(lead->group[first] * GROUP + first);
}

/* -inf for a weight that must not win. */
static inline float noise_race(float weight, float q)
{
    const uint32_t valid = kernel_mask(kernel_weight_valid(weight));
    return kernel_float(kernel_select(valid, kernel_bits(kernel_divide(weight, q)), 0xff800000u));
}

static inline float noise_gumbel(float weight, float q)
{
    const uint32_t valid = kernel_mask(kernel_weight_valid(weight));
    const float score = kernel_subtract(elementary_log(weight), elementary_log(q));
    return kernel_float(kernel_select(valid, kernel_bits(score), 0xff800000u));
}

static inline float noise_torch(float weight, float q)
{
    return kernel_divide(weight, q);
}

#define WITH_NOISE(name, score_of)                                                                           \
    static int32_t name(const float *weights, const float *q, size_t vocab)                                  \
    {                                                                                                        \
        struct lead lead = {.group = {0}};                                                                   \
        for (size_t l = 0; l < GROUP; l++)                                                                   \
            lead.score[l] = -INFINITY;                                                                       \
        for (size_t group = 0; group * GROUP < vocab; group++) {                                             \
            const size_t left = vocab - group * GROUP < GROUP ? vocab - group * GROUP : GROUP;               \
            float score[GROUP], weight[GROUP], noise[GROUP];                                                 \
            for (size_t l = left; l < GROUP; l++) {                                                          \
                weight[l] = -INFINITY;                                                                       \
                noise[l] = 1;                                                                                \
            }                                                                                                \
            memcpy(weight, weights + group * GROUP, left * sizeof *weight);                                  \
            memcpy(noise, q + group * GROUP, left * sizeof *noise);                                          \
            for (size_t l = 0; l < GROUP; l++)                                                               \
                score[l] = score_of(weight[l], noise[l]);                                                    \
            lead_take(&lead, score, group);                                                                  \
        }                                                                                                    \
        return lead_column(&lead);                                                                           \
    }
WITH_NOISE(race_with_noise, noise_race)
WITH_NOISE(gumbel_with_noise, noise_gumbel)
WITH_NOISE(torch_with_noise, noise_torch)

static void noise(uint64_t seed, uint64_t position, size_t vocab, float *q)
{
    const struct draw draw = {.seed = seed, .position = position};
    struct tile tile;
    struct rounds rounds;
    uint32_t block[TILE], words[4 * TILE];
    rounds_fill(&rounds, &draw);
    for (size_t column = 0; column < vocab; column += 4 * TILE) {
        const size_t left = vocab - column < 4 * TILE ? vocab - column : 4 * TILE;
        blocks_fill(block, column / 4, TILE);
        tile_fill(&tile, block, TILE, rounds_high(&draw));
        for (size_t slot = 0; slot < TILE; slot += LANES)
            unit_words(&tile, slot, &rounds, words + 4 * slot);
        for (size_t i = 0; i < left; i++)
            q[column + i] = exponential_of_word(words[i]);
    }
}

#define MAP(name, from, function)                                                                            \
    static void name(const from *restrict x, float *restrict y, size_t n)                                    \
    {                                                                                                        \
        for (size_t i = 0; i < n; i++)                                                                       \
            y[i] = function(x[i]);                                                                           \
    }
MAP(exponential, uint32_t, exponential_of_word)
MAP(torch_exponential, uint32_t, torch_exponential_of_word)
MAP(log_map, float, elementary_log)
MAP(exp_map, float, elementary_exp)

const struct loops PASTE(loops_, ISA) = {
    .name = TEXT(ISA),
    .limits = limits,
    .candidates = candidates,
    .rows = rows,
    .whole = whole,
    .race_with_noise = race_with_noise,
    .gumbel_with_noise = gumbel_with_noise,
    .torch_with_noise = torch_with_noise,
    .noise = noise,
    .exponential = exponential,
    .torch_exponential = torch_exponential,
    .log = log_map,
    .exp = exp_map,
};
