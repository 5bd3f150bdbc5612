/* frame.h: the duplex protocol between judge and worker: a u64 little-endian length, then one safetensors document.
 *
 * A safetensors document is a u64 little-endian header length, a JSON header, and the arrays' bytes. The message lives
 * in the header's "__metadata__", an object of strings; a 64-bit integer is a decimal string there.
 *
 * message     | direction | metadata (besides "message")                                   | arrays
 * hello       | -> worker | protocol, plan, plan_sha256                                     |
 * hello       | -> judge  | protocol, plan, plan_sha256 (echoed), name, version, device, takes ("logits",
 *             |           | "probabilities" or both, a space between; preferred first), dtype (f32 f16 bf16: what values
 *             |           | must be handed over as), capabilities (words: temperature noise seeded top_k top_p min_p
 *             |           | penalties logit_bias allowed_mask min_tokens kept_out route resolve), contract (JSON
 *             |           | text: samplegate.h), times (rules that a `time` message may name, its own first;
 *             |           | "own": it has one and needs no name; absent: it cannot be timed), any number of
 *             |           | "file:PATH" = SHA-256 hex, "version:NAME" = text                  |
 * sample      | -> worker | cell, stage, batch (draws a call), chunk, draws, seed, kind ("logits" | "probabilities"),
 *             |           | kept ("1": asked for; else absent), columns (the vocabulary, where rows are
 *             |           | padded; absent: row_stride)                                       |
 *             |           |   | values [rows, row_stride], of which the first `columns` of each row are the vocabulary and the
 *             |           |   | others are nobody's; vocab below is that number; optional row_index I32 [draws] (absent: every draw from row 0),
 *             |           |   | temperature F64 [1] or [draws], noise F32 [draws, vocab], seeds I64 [draws], positions I64 [draws];
 *             |           |   | top_k, min_tokens I64 and top_p, min_p, repetition_penalty, frequency_penalty,
 *             |           |   | presence_penalty F64, [1] or [draws]; prompt_tokens, output_tokens, stop_ids I64 [n] with
 *             |           |   | prompt_offsets, output_offsets, stop_offsets I64 [draws + 1]: draw d has tokens[offsets[d] ..
 *             |           |   | offsets[d + 1]); logit_bias F32, allowed U8 (0: banned) [rows, vocab]
 * tokens      | -> judge  | cell, stage, batch, chunk (echoed)                              | token I32 [draws]; if asked, kept U8 [rows, vocab]: 1 for
 *             |           |   | what the parameters of a row's first draw leave; 0, and 0 for rows without a draw
 * ask         | -> worker | cell, stage, chunk, question (a JSON array of questions, as in    |
 *             |           | engines/ask.h: "path", "history" need the word route; "effective", |
 *             |           | "normalize" the word resolve)                                     |
 * answer      | -> judge  | cell, stage, chunk (echoed), text (a JSON array: their answers)   |
 * time        | -> worker | cell, chunk, rule (of hello's `times`; absent: its own), warmup, calls, fill |
 *             |           | and, with rows, draws, batch (the same: one call), seed, kind, columns as for sample | as for sample; or none: the
 *             |           |   | rows and parameters of the time message before
 * times       | -> judge  | cell, chunk, rule (echoed), queue ("none": a call returns when its tokens are there; "device": |
 *             |           | they are there once the device is waited for)                     | I64 [calls], nanoseconds: host_ns, from a call to
 *             |           |   | its return, the queue empty before; cpu_ns, what the process used of all its cores in that time; with queue
 *             |           |   | "device" sync_ns, of the same calls until the device is done (cpu_ns too), and host_full_ns, call to return
 *             |           |   | behind `fill` others that were not waited for; token I32 [draws] of the last call
 * unsupported | -> judge  | cell, stage, batch, chunk, text                                 |
 * error       | -> judge  | text, and cell, stage, batch, chunk if known                    |
 *
 * `warmup` calls that are not timed come before `calls` that are, all of the same rows and each with other noise; what a
 * call needs, and an engine would have, is prepared before. A worker restarts its unseeded noise from `seed` at every sample message, then makes ceil(draws / batch) calls in order, so a chunk can be
 * redone alone. End of input ends the worker. A recording is the worker's output, byte for byte; a requests file its input. One that a
 * judge kept says in messages "ended" how cells ended that did not run (suite/judge/recorder.h).
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_FRAME_H
#define SAMPLEGATE_FRAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_PROTOCOL "1"
#define FRAME_BYTES_MAX ((uint64_t)1 << 32) /* a longer frame is a broken one */
#define FRAME_ARRAYS_MAX 32

enum frame_dtype { FRAME_F32, FRAME_F16, FRAME_BF16, FRAME_F64, FRAME_I32, FRAME_I64, FRAME_U8 };

struct frame_array {
    char name[32];
    enum frame_dtype dtype;
    size_t rank;
    uint64_t shape[3];
    const void *data; /* borrowed: from the frame's buffer when read, from the caller when written */
    uint64_t bytes;
};

struct frame_entry {
    char *key, *value;
};

/* One message. A frame that was read owns its buffer; one being built borrows its arrays. Zero-initialise, frame_free. */
struct frame {
    uint8_t *buffer;
    struct frame_entry *entry;
    size_t entries;
    struct frame_array array[FRAME_ARRAYS_MAX];
    size_t arrays;
};

enum frame_result {
    FRAME_OK = 0,
    FRAME_END = 1,     /* clean end of input between two frames */
    FRAME_BROKEN = 2,  /* not a frame: `why` says what is wrong */
    FRAME_TIMEOUT = 3, /* nothing, or not all of it, within the time given */
    FRAME_IO = 4       /* read or write failed: `why` has strerror */
};

size_t frame_dtype_bytes(enum frame_dtype dtype);

/* Build. The string is copied. frame_set_u64 writes a decimal string. Out of memory aborts. */
void frame_set(struct frame *frame, const char *key, const char *value);
void frame_set_u64(struct frame *frame, const char *key, uint64_t value);
void frame_add(struct frame *frame, const char *name, enum frame_dtype dtype, size_t rank,
               const uint64_t *shape, const void *data);

/* Look up. NULL, or false, if absent (or for u64: not a plain decimal number). */
const char *frame_get(const struct frame *frame, const char *key);
bool frame_get_u64(const struct frame *frame, const char *key, uint64_t *value);
const struct frame_array *frame_find(const struct frame *frame, const char *name);

/* NULL, or a flag that a signal handler sets: whoever waits within a time given then gives up as FRAME_TIMEOUT, in 0.1 s. */
extern const volatile bool *frame_stop;

/* Write one whole frame to fd (restarting on EINTR and short writes). timeout_ms < 0 waits for ever. */
enum frame_result frame_write(int fd, const struct frame *frame, int timeout_ms, char *why, size_t why_bytes);
/* Read one whole frame from fd into a zeroed struct. The arrays' offsets, shapes and sizes have been checked. */
enum frame_result frame_read(int fd, struct frame *frame, int timeout_ms, char *why, size_t why_bytes);
void frame_free(struct frame *frame);
#endif
