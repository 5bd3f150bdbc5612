/* threads.c: many draws of one row on several threads, each a run of neighbouring draws: the same tokens.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include "kernels/sampler.h"

#define THREADS_MAX 256

struct part {
    const struct sampler_row *row;
    uint64_t seed, first_position;
    size_t draws;
    int32_t *token;
    pthread_t thread;
    int started;
};

static void *part_draw(void *argument)
{
    const struct part *part = argument;
    sampler_draw(part->row, part->seed, part->first_position, part->draws, part->token);
    return NULL;
}

void sampler_draw_threads(const struct sampler_row *row, uint64_t seed, uint64_t first_position, size_t draws,
                          size_t threads, int32_t *token)
{
    struct part part[THREADS_MAX];
    const size_t most = threads < THREADS_MAX ? threads : THREADS_MAX;
    const size_t parts = most > draws ? draws : most;
    for (size_t p = 0; p < parts; p++) {
        const size_t first = draws / parts * p + (p < draws % parts ? p : draws % parts);
        part[p] = (struct part){.row = row,
                                .seed = seed,
                                .first_position = first_position + first,
                                .draws = draws / parts + (p < draws % parts),
                                .token = token + first};
        /* The last one is this thread's; so is what finds no thread. */
        part[p].started = p + 1 < parts && pthread_create(&part[p].thread, NULL, part_draw, &part[p]) == 0;
        if (!part[p].started)
            part_draw(&part[p]);
    }
    for (size_t p = 0; p < parts; p++)
        if (part[p].started)
            pthread_join(part[p].thread, NULL);
}
