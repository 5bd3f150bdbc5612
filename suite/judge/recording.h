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
};

/* Read whole files (several: parts of one run). Checks the frames and that all hellos agree. exit 2. Owned:
 * recording_free. */
int recording_open(struct recording *recording, char *const *files, size_t count, struct trouble *trouble);
void recording_free(struct recording *recording);
/* The answer to a request (its cell, stage, batch and chunk), borrowed, or NULL if the recording lacks it. */
const struct frame *recording_find(const struct recording *recording, const struct frame *request);
#endif
