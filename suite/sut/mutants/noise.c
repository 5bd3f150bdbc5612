/* noise.c: mutants whose noise is not what the race needs.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"
#include "kernels/exponential.h"

void mutant_stale_position(const struct mutant_draw *draw, float *q)
{
    sampler_noise(draw->request->seed, draw->batch->memory->calls, draw->row->vocab, q);
}

/* The middle of one of 256 intervals: what a bf16 uniform can hold. Scores tie, and the lowest id wins. */
void mutant_short_noise(const struct mutant_draw *draw, float *q)
{
    for (size_t i = 0; i < draw->row->vocab; i++)
        q[i] = exponential_of_word((mutant_word(draw, (uint32_t)i) & 0xff000000u) | 0x00800000u);
}

/* Columns are equally spaced on the circle, and the circle turns by the golden ratio from draw to draw: every
 * flat row has its exact law, and its counts hardly scatter about it. */
void mutant_weyl(const struct mutant_draw *draw, float *q)
{
    const uint64_t vocab = draw->row->vocab, spacing = ((UINT64_C(1) << 32) + vocab / 2) / vocab;
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t start = (uint32_t)((draw->request->position + draw->request->seed) * golden >> 32);
    for (uint64_t i = 0; i < vocab; i++)
        q[i] = exponential_of_word(start + (uint32_t)(i * spacing));
}

/* A product of each of seed, position and column, put together by exclusive or and cut to 24 bits: many of
 * their differences give the same noise. */
void mutant_linear_hash(const struct mutant_draw *draw, float *q)
{
    const uint64_t start =
        draw->request->seed * UINT64_C(0x10001) ^ draw->request->position * UINT64_C(0x8040201);
    for (uint64_t i = 0; i < draw->row->vocab; i++)
        q[i] = exponential_of_word((uint32_t)(start ^ i * UINT64_C(0x9e3779b1)) << 8 | 0x80);
}
