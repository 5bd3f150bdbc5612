/* recording.h: a worker's output made elsewhere, indexed by chunk, to be judged here with the same verdict.
 */
#ifndef SAMPLEGATE_RECORDING_H
#define SAMPLEGATE_RECORDING_H
#include <stddef.h>
#include "suite/trouble.h"
#include "suite/sut/protocol/frame.h"

struct recording {
    struct frame hello;
    struct frame *answer;
    size_t answers;
    char early[300]; /* which file ends early, and where: what it lacks is lacking for that reason; or "" */
};

/* Read files (several: parts of one run). Checks the frames and that all hellos agree. A file that ends within a frame, or
 * is called .partial, ends early: what is whole of it is there. exit 2. Owned: recording_free. */
int recording_open(struct recording *recording, char *const *files, size_t count, struct trouble *trouble);
void recording_free(struct recording *recording);
/* The answer to a request (its cell, stage, batch and chunk), borrowed, or NULL if the recording lacks it. */
const struct frame *recording_find(const struct recording *recording, const struct frame *request);
/* How a cell ended in this stage, as a recorder wrote it (message "ended"), or NULL if it ran, or nobody said. */
const struct frame *recording_ended(const struct recording *recording, const char *cell, int stage);
#endif
