/* room.h: device memory that grows with what is copied into it. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_HOST_ROOM_H
#define SAMPLEGATE_HOST_ROOM_H
#include "kernels/cuda.h"
#include "suite/sut/host/host.h"

/* Zero-initialise; room_free. */
struct room {
    void *memory;
    size_t bytes;
};

/* At least `bytes` of device memory, with what lies at `from` (if not NULL) on its way there in the order of `stream`.
 * NULL with why on failure. */
void *room_take(struct room *room, const void *from, size_t bytes, void *stream, struct host_text *why);
void room_free(struct room *room);
#endif
