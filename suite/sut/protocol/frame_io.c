/* frame_io.c: whole frames through file descriptors, within a given time.
 *
 * A frame's length is only believed as bytes arrive: the buffer grows with them, so a broken length costs
 * nothing. The caller ignores SIGPIPE; a reader that has gone is then FRAME_IO (EPIPE).
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/protocol/frame_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PIECE ((uint64_t)1 << 20)
#define SLICE_MS 100
#define LARGEST_CALL ((uint64_t)1 << 30) /* Linux moves at most 2^31 - 4096 bytes a call */

const volatile bool *frame_stop;

struct transfer {
    int fd;
    bool limited;
    int64_t deadline; /* milliseconds of the monotonic clock */
    char *why;
    size_t why_bytes;
};

__attribute__((format(printf, 3, 4))) static enum frame_result
result(const struct transfer *transfer, enum frame_result kind, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(transfer->why, transfer->why_bytes, format, list);
    va_end(list);
    return kind;
}

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct transfer transfer_start(int fd, int timeout_ms, char *why, size_t why_bytes)
{
    struct transfer transfer = {.fd = fd, .limited = timeout_ms >= 0, .why = why, .why_bytes = why_bytes};
    if (transfer.limited)
        transfer.deadline = clock_ms() + timeout_ms;
    if (why_bytes)
        why[0] = '\0';
    return transfer;
}

/* Until fd can move bytes, or the time is up, or whoever waits is told to stop: hence in slices. Without a
 * limit the read or write itself waits. */
static enum frame_result transfer_wait(const struct transfer *transfer, short events)
{
    while (transfer->limited) {
        int64_t left = transfer->deadline - clock_ms();
        struct pollfd poll_fd = {.fd = transfer->fd, .events = events};
        int ready = poll(&poll_fd, 1, left < 0 ? 0 : left < SLICE_MS ? (int)left : SLICE_MS);
        if (ready > 0)
            break;
        if (ready < 0 && errno != EINTR)
            return result(transfer, FRAME_IO, "poll: %s", strerror(errno));
        if ((ready == 0 && left <= SLICE_MS) || (frame_stop && *frame_stop))
            return result(transfer, FRAME_TIMEOUT, "no %s in the time given",
                          events == POLLIN ? "answer" : "progress");
    }
    return FRAME_OK;
}

/* Reads until to[bytes] is full or the input ends; *got says how much came. */
static enum frame_result transfer_read(const struct transfer *transfer, uint8_t *to, uint64_t bytes,
                                       uint64_t *got)
{
    for (*got = 0; *got < bytes;) {
        enum frame_result ready = transfer_wait(transfer, POLLIN);
        if (ready != FRAME_OK)
            return ready;
        uint64_t want = bytes - *got < LARGEST_CALL ? bytes - *got : LARGEST_CALL;
        ssize_t count = read(transfer->fd, to + *got, want);
        if (count == 0)
            return FRAME_OK;
        if (count > 0)
            *got += (uint64_t)count;
        else if (errno != EINTR && errno != EAGAIN)
            return result(transfer, FRAME_IO, "read: %s", strerror(errno));
    }
    return FRAME_OK;
}

static enum frame_result transfer_write(const struct transfer *transfer, const uint8_t *from, uint64_t bytes)
{
    while (bytes) {
        enum frame_result ready = transfer_wait(transfer, POLLOUT);
        if (ready != FRAME_OK)
            return ready;
        ssize_t count = write(transfer->fd, from, bytes < LARGEST_CALL ? bytes : LARGEST_CALL);
        if (count >= 0) {
            from += count;
            bytes -= (uint64_t)count;
        } else if (errno != EINTR && errno != EAGAIN)
            return result(transfer, FRAME_IO, "write: %s", strerror(errno));
    }
    return FRAME_OK;
}

static enum frame_result read_document(const struct transfer *transfer, struct frame *frame, uint64_t bytes)
{
    uint8_t *buffer = NULL;
    for (uint64_t have = 0, room = 0; have < bytes;) {
        room = have == 0 ? FIRST_PIECE : 2 * room;
        if (room > bytes)
            room = bytes;
        buffer = frame_memory(realloc(buffer, room));
        uint64_t got;
        enum frame_result kind = transfer_read(transfer, buffer + have, room - have, &got);
        have += got;
        if (kind == FRAME_OK && have < room)
            kind = result(transfer, FRAME_BROKEN,
                          "the input ended after %" PRIu64 " of a frame's %" PRIu64 " bytes", have, bytes);
        if (kind != FRAME_OK) {
            free(buffer);
            return kind;
        }
    }
    return frame_parse(frame, buffer, bytes, transfer->why, transfer->why_bytes);
}

enum frame_result frame_read(int fd, struct frame *frame, int timeout_ms, char *why, size_t why_bytes)
{
    struct transfer transfer = transfer_start(fd, timeout_ms, why, why_bytes);
    uint8_t head[8];
    uint64_t got, bytes = 0;
    enum frame_result kind = transfer_read(&transfer, head, sizeof head, &got);
    if (kind != FRAME_OK)
        return kind;
    if (got == 0)
        return result(&transfer, FRAME_END, "end of input");
    if (got < sizeof head)
        return result(&transfer, FRAME_BROKEN,
                      "the input ended after %" PRIu64 " of the 8 bytes of a frame's length", got);
    for (int i = 7; i >= 0; i--)
        bytes = bytes << 8 | head[i];
    if (bytes > FRAME_BYTES_MAX)
        return result(&transfer, FRAME_BROKEN, "a frame of %" PRIu64 " bytes; %" PRIu64 " are accepted",
                      bytes, FRAME_BYTES_MAX);
    kind = read_document(&transfer, frame, bytes);
    if (kind != FRAME_OK)
        frame_free(frame);
    return kind;
}

enum frame_result frame_write(int fd, const struct frame *frame, int timeout_ms, char *why, size_t why_bytes)
{
    struct transfer transfer = transfer_start(fd, timeout_ms, why, why_bytes);
    size_t order[FRAME_ARRAYS_MAX];
    uint64_t bytes, total;
    char *head = frame_head(frame, order, &bytes, &total);
    /* A blocking write of a large array would outlast any deadline. The flag is shared with whoever shares
     * the descriptor, so it is set only where a limit asks for it, and put back. */
    int flags = transfer.limited ? fcntl(fd, F_GETFL) : -1;
    if (flags >= 0)
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    enum frame_result kind =
        total <= FRAME_BYTES_MAX
            ? transfer_write(&transfer, (const uint8_t *)head, bytes)
            : result(&transfer, FRAME_BROKEN, "a frame of %" PRIu64 " bytes; %" PRIu64 " are accepted", total,
                     FRAME_BYTES_MAX);
    for (size_t i = 0; kind == FRAME_OK && i < frame->arrays; i++) {
        const struct frame_array *array = &frame->array[order[i]];
        kind = transfer_write(&transfer, array->data, array->bytes);
    }
    if (flags >= 0)
        fcntl(fd, F_SETFL, flags);
    free(head);
    return kind;
}
