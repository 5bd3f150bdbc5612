/* recorder.h: keep what a sampler answers, as it comes, in a file that recording.h reads: judged again, it gives the same
 * verdict, and a later run can take it as its baseline.
 *
 * The file holds the worker's hello (with plan, plan_sha256, seed, and what --cell and --check selected), every answer that
 * was accepted, and, for a cell that did not run to its end, how it ended: message "ended", cell, stage, state (skipped,
 * error or stopped), text. It is written as PATH.partial and takes its name when it is whole. */
#ifndef SAMPLEGATE_RECORDER_H
#define SAMPLEGATE_RECORDER_H
#include "suite/judge/plan.h"
#include "suite/sut/protocol/frame.h"

struct session_options;

/* Zero-initialise. Every function does nothing with NULL, or with one that was not opened. */
struct recorder {
    char *path;       /* the final name, or NULL: not open */
    int fd;           /* of PATH.partial, once there was a hello; else -1 */
    char failed[256]; /* what became of the first write that failed, or "": nothing is written after it */
};

/* DIRECTORY/NAME, nothing if directory is NULL. The file is begun by the hello: a recording that is judged again has been
 * read by then, and may lie under the same name. */
void recorder_open(struct recorder *recorder, const char *directory, const char *name);
void recorder_hello(struct recorder *recorder, const struct frame *hello, const struct plan *plan,
                    const struct session_options *options);
void recorder_answer(struct recorder *recorder, const struct frame *answer);
void recorder_ended(struct recorder *recorder, const char *cell, int stage, const char *state,
                    const char *why);
/* Give the file its name. exit 99 if anything could not be written: what was is left in PATH.partial. */
int recorder_close(struct recorder *recorder, struct trouble *trouble);
/* Nothing was judged: remove what was begun. Does nothing after recorder_close. */
void recorder_abandon(struct recorder *recorder);
#endif
