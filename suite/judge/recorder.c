/* recorder.c: write a session's answers to a file as they come, and give it its name at the end. */
#include "suite/judge/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite/json/utf8.h"
#include "suite/judge/session.h"

static char *join(const char *before, const char *between, const char *after)
{
    char *path;
    if (asprintf(&path, "%s%s%s", before, between, after) < 0)
        abort();
    return path;
}

void recorder_open(struct recorder *recorder, const char *directory, const char *name)
{
    *recorder = (struct recorder){.path = directory ? join(directory, "/", name) : NULL, .fd = -1};
}

static void put(struct recorder *recorder, const struct frame *frame)
{
    if (!*recorder->failed)
        (void)frame_write(recorder->fd, frame, -1, recorder->failed, sizeof recorder->failed);
}

void recorder_hello(struct recorder *recorder, const struct frame *hello, const struct plan *plan,
                    const struct session_options *options)
{
    struct frame frame = {0};
    if (!recorder || !recorder->path)
        return;
    for (size_t i = 0; i < hello->entries; i++)
        frame_set(&frame, hello->entry[i].key, hello->entry[i].value);
    char *partial = join(recorder->path, ".partial", "");
    recorder->fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (recorder->fd < 0)
        snprintf(recorder->failed, sizeof recorder->failed, "%s", strerror(errno));
    free(partial);
    frame_set(&frame, "plan", plan->name);
    frame_set(&frame, "plan_sha256", plan->sha256);
    frame_set_u64(&frame, "seed", plan->seed);
    frame_set(&frame, "selected_cells", options->cells);
    frame_set(&frame, "selected_checks", options->checks);
    put(recorder, &frame);
    frame_free(&frame);
}

void recorder_answer(struct recorder *recorder, const struct frame *answer)
{
    if (recorder && recorder->path)
        put(recorder, answer);
}

void recorder_ended(struct recorder *recorder, const char *cell, int stage, const char *state,
                    const char *why)
{
    struct frame frame = {0};
    if (!recorder || !recorder->path)
        return;
    frame_set(&frame, "message", "ended");
    frame_set(&frame, "cell", cell);
    frame_set_u64(&frame, "stage", (uint64_t)stage);
    frame_set(&frame, "state", state);
    char *text = join(why, "", "");
    utf8_force(text);
    frame_set(&frame, "text", text);
    free(text);
    put(recorder, &frame);
    frame_free(&frame);
}

/* Done with; the partial file is what the caller made of it. */
static void finish(struct recorder *recorder, char *partial)
{
    if (recorder->fd >= 0)
        close(recorder->fd);
    free(partial);
    free(recorder->path);
    *recorder = (struct recorder){0};
}

int recorder_close(struct recorder *recorder, struct trouble *trouble)
{
    if (!recorder || !recorder->path)
        return 0;
    char *partial = join(recorder->path, ".partial", "");
    if (!*recorder->failed && (fsync(recorder->fd) || rename(partial, recorder->path)))
        snprintf(recorder->failed, sizeof recorder->failed, "%s", strerror(errno));
    int failed = *recorder->failed
                     ? trouble_set(trouble, EXIT_DAMAGED, "%s: the recording cannot be written: %s", partial,
                                   recorder->failed)
                     : 0;
    finish(recorder, partial);
    return failed;
}

void recorder_abandon(struct recorder *recorder)
{
    if (!recorder->path)
        return;
    char *partial = join(recorder->path, ".partial", "");
    if (recorder->fd >= 0)
        unlink(partial);
    finish(recorder, partial);
}
