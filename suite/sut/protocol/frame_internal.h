/* frame_internal.h: what the files of protocol/ share: bytes <-> struct frame, without any file descriptor.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_FRAME_INTERNAL_H
#define SAMPLEGATE_FRAME_INTERNAL_H
#include "suite/sut/protocol/frame.h"

#define FRAME_HEADER_MAX                                                                                     \
    ((uint64_t)1 << 24) /* a JSON header is kilobytes; this bounds what a broken one can cost */
#define FRAME_DTYPES 7

/* Name of a dtype in the JSON header ("F32"). */
extern const char *const frame_dtype_name[FRAME_DTYPES];

/* The safetensors document buffer[bytes] -> frame. The frame takes the buffer (malloc) whatever the result,
 * since arrays point into it; it may be moved to make room for aligned copies. FRAME_OK or FRAME_BROKEN. */
enum frame_result frame_parse(struct frame *frame, uint8_t *buffer, uint64_t bytes, char *why,
                              size_t why_bytes);

/* The bytes before the arrays' data: frame length, header length and JSON header, padded with spaces so that
 * data starts at a multiple of 8 of the document. order[frame->arrays]: the order in which the arrays' bytes
 * must follow. Owned: free. *bytes is its length, *total the length of the whole document. */
char *frame_head(const struct frame *frame, size_t *order, uint64_t *bytes, uint64_t *total);

/* Memory that cannot be had ends the process: no caller could say more. */
void *frame_memory(void *memory);
#endif
