/* positions.c: mutants whose noise does not move from token to token as it should.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

void mutant_position_ignored(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].position = 0;
}

/* The sign of a 32-bit position is lost. */
void mutant_position_short(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].position &= INT32_MAX;
}

/* A position has 16 bits: text beyond 65,536 tokens repeats its noise. */
void mutant_position_16_bits(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].position &= UINT16_MAX;
}

/* Four positions share one block of noise. */
void mutant_position_window(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].position &= ~UINT64_C(3);
}

/* The state stands still once the warm-up of two draws is over. */
void mutant_position_frozen(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded && batch->request[d].position > 2)
            batch->request[d].position = 2;
}

void mutant_rows_paired(struct mutant_batch *batch)
{
    for (size_t d = 1; d < batch->draws; d += 2) {
        batch->request[d].seed = batch->request[d - 1].seed;
        batch->request[d].position = batch->request[d - 1].position;
    }
}

/* Only where the caller gives no positions: every second call draws as the one before it did. */
void mutant_calls_paired(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (!batch->request[d].seeded && batch->memory->calls % 2)
            batch->request[d].position -= batch->memory->before_draws;
}
