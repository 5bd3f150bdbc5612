/* room.c: device memory that grows with what is copied into it.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/room.h"

void *room_take(struct room *room, const void *from, size_t bytes, void *stream, struct host_text *why)
{
    const char *failed = NULL;
    if (bytes > room->bytes) {
        room_free(room);
        failed = cuda_memory_new(&room->memory, bytes);
        room->bytes = failed ? 0 : bytes;
    }
    if (!failed && from)
        failed = cuda_copy_in(room->memory, from, bytes, stream);
    if (!failed)
        return room->memory;
    host_say(why, "cuda: %zu bytes for the device: %s", bytes, failed);
    return NULL;
}

void room_free(struct room *room)
{
    cuda_memory_free(room->memory);
    *room = (struct room){0};
}
