/* plan_chunks.c: cut a cell's draws into chunks, the units of work that can be redone alone (plan.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "suite/judge/plan.h"

#define CHUNK_MULTIPLE 64
#define CHUNK_ELEMENTS ((uint64_t)1 << 28)       /* draws * vocab a chunk: the work of about a second */
#define CHUNK_NOISE_ELEMENTS ((uint64_t)1 << 23) /* where the request carries noise: 32 MiB of it */

static uint64_t draws_of_chunk(const struct plan_cell *cell)
{
    uint64_t elements = cell->family == FAMILY_AGREEMENT ? CHUNK_NOISE_ELEMENTS : CHUNK_ELEMENTS;
    uint64_t draws = elements / cell->table->vocab;
    if (draws > PLAN_CHUNK_DRAWS_MAX)
        draws = PLAN_CHUNK_DRAWS_MAX;
    draws -= draws % CHUNK_MULTIPLE;
    return draws ? draws : CHUNK_MULTIPLE;
}

uint64_t plan_seed(const struct plan *plan, const struct plan_cell *cell, int stage, const char *what)
{
    char text[320];
    int length = snprintf(text, sizeof text, "%s/%" PRIu64 "/%s/%d/%.100s", plan->sha256, plan->seed,
                          cell->name, stage, what);
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)text, (size_t)length, digest);
    uint64_t seed = 0;
    for (int i = 0; i < 8; i++)
        seed = seed << 8 | digest[i];
    return seed >> 1;
}

static uint64_t chunk_seed(const struct plan *plan, const struct plan_chunk *chunk)
{
    char what[48];
    snprintf(what, sizeof what, "%" PRIu32 "/%" PRIu64, plan->batch[chunk->batch].size, chunk->index);
    return plan_seed(plan, &plan->cell[chunk->cell], chunk->stage, what);
}

struct plan_chunk *plan_chunks(const struct plan *plan, size_t cell, int stage, size_t *count)
{
    uint64_t total = plan->cell[cell].draws * (stage == 2 ? 2 : 1), rest = total;
    uint64_t most = draws_of_chunk(&plan->cell[cell]);
    uint64_t share[PLAN_BATCHES_MAX];
    size_t chunks = 0, made = 0;
    for (size_t b = 0; b < plan->batches; b++) {
        share[b] =
            b + 1 == plan->batches ? rest : total * plan->batch[b].numerator / plan->batch[b].denominator;
        rest -= share[b];
        chunks += (size_t)((share[b] + most - 1) / most);
    }
    *count = 0;
    struct plan_chunk *chunk = calloc(chunks, sizeof *chunk);
    if (!chunk)
        return NULL;
    for (size_t b = 0; b < plan->batches; b++)
        for (uint64_t begin = 0; begin < share[b]; begin += most) {
            struct plan_chunk *this = &chunk[made++];
            *this = (struct plan_chunk){.cell = cell, .batch = b, .stage = stage, .index = begin / most};
            this->draws = share[b] - begin < most ? share[b] - begin : most;
            this->seed = chunk_seed(plan, this);
        }
    *count = made;
    return chunk;
}
