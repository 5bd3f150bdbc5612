/* seeds.c: mutants that draw on the wrong seed.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

#include <unistd.h>

void mutant_seed_first(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        batch->request[d].seed = batch->request[0].seed;
}

void mutant_seed_short(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].seed &= UINT32_MAX;
}

void mutant_seed_magnitude(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded && (int64_t)batch->request[d].seed < 0)
            batch->request[d].seed = -batch->request[d].seed;
}

/* Then the noise is the engine's own, which moves on from call to call. */
void mutant_seed_sentinel(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded && batch->request[d].seed + 1 <= 1)
            batch->request[d].seed = batch->memory->calls_ever + UINT64_C(0x5eed00000000);
}

void mutant_seed_ignored(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].seed = batch->memory->seed;
}

/* The seed of an engine's first call is captured with its graph. */
void mutant_seed_captured(struct mutant_batch *batch)
{
    if (batch->memory->calls_ever == 0)
        batch->memory->captured = batch->request[0].seed;
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].seed = batch->memory->captured;
}

void mutant_seed_process(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].seed ^= (uint64_t)getpid() << 20;
}

void mutant_seed_place(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].seed ^= (uint64_t)d << 40;
}

void mutant_seed_prefill(struct mutant_batch *batch)
{
    if (batch->request[0].seeded)
        batch->request[0].seed = ~batch->request[0].seed;
}

/* The second of two neighbours takes the child of its own seed, which is its parent's. */
/* Calls of other sizes are padded up to a power of two, and their last row is drawn as the padding: as the first row. */
void mutant_seed_padded(struct mutant_batch *batch)
{
    const size_t draws = batch->draws;
    if (draws & (draws - 1) && batch->request[draws - 1].seeded) {
        batch->request[draws - 1].seed = batch->request[0].seed;
        batch->request[draws - 1].position = batch->request[0].position;
    }
}

/* A block of threads takes 64 rows; the rows of the next blocks have the first block's seeds. */
void mutant_seed_block(struct mutant_batch *batch)
{
    for (size_t d = 64; d < batch->draws; d++)
        if (batch->request[d].seeded) {
            batch->request[d].seed = batch->request[d - 64].seed;
            batch->request[d].position = batch->request[d - 64].position;
        }
}

void mutant_seed_child(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].seed &= ~UINT64_C(1);
}

void mutant_seed_default(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (!batch->request[d].seeded)
            batch->request[d].seed = 0;
}
