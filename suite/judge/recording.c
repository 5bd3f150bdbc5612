/* recording.c: read and index a worker's recorded output. */
#include "suite/judge/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite/judge/worker.h"

static const char *text(const struct frame *frame, const char *key)
{
    const char *value = frame_get(frame, key);
    return value ? value : "";
}

static int take_hello(struct recording *recording, struct frame *frame, const char *file,
                      struct trouble *trouble)
{
    static const char *const keys[] = {"name", "version", "dtype", "plan", "plan_sha256", "seed"},
                             *const selections[] = {"selected_cells", "selected_checks"};
    if (!recording->hello.entries) {
        recording->hello = *frame;
        return 0;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !failed; i++)
        if (strcmp(text(&recording->hello, keys[i]), text(frame, keys[i])))
            failed = trouble_set(trouble, EXIT_USAGE, "%s: %s is '%s', but '%s' in the recording before it",
                                 file, keys[i], text(frame, keys[i]), text(&recording->hello, keys[i]));
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++)
        if (strcmp(text(&recording->hello, selections[i]), text(frame, selections[i])))
            frame_set(&recording->hello, selections[i], ""); /* parts of one plan */
    frame_free(frame);
    return failed;
}

/* Does the file end within the frame that begins at `at`? Not told of a pipe. */
static bool ends_within(int fd, off_t at)
{
    struct stat status;
    uint8_t head[8];
    uint64_t bytes = 0;
    if (at < 0 || fstat(fd, &status))
        return false;
    if (pread(fd, head, sizeof head, at) < (ssize_t)sizeof head)
        return true;
    for (int i = 7; i >= 0; i--)
        bytes = bytes << 8 | head[i];
    return bytes <= FRAME_BYTES_MAX && bytes > (uint64_t)(status.st_size - at) - sizeof head;
}

static void note_early(struct recording *recording, const char *file, size_t frame)
{
    const char *end = strrchr(file, '.');
    if (frame)
        snprintf(recording->early, sizeof recording->early, "%.200s ends within frame %zu", file, frame);
    else if (end && !strcmp(end, ".partial") && !*recording->early)
        snprintf(recording->early, sizeof recording->early, "the run that wrote %.200s was killed", file);
}

static int read_file(struct recording *recording, const char *file, struct trouble *trouble)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC), failed = 0;
    if (fd < 0 && errno == EINTR && worker_stop_all) /* of a named pipe it waits for who writes */
        return trouble_set(trouble, EXIT_INTERRUPTED, "%s: interrupted", file);
    if (fd < 0)
        return trouble_set(trouble, EXIT_USAGE, "%s: %s", file, strerror(errno));
    note_early(recording, file, 0);
    for (size_t n = 0; !failed; n++) {
        off_t at = lseek(fd, 0, SEEK_CUR);
        struct frame frame = {0};
        char why[256] = "";
        enum frame_result result = frame_read(fd, &frame, -1, why, sizeof why);
        if (result == FRAME_END && n > 0)
            break;
        if (result == FRAME_BROKEN && n > 0 && ends_within(fd, at)) {
            note_early(recording, file, n);
            break;
        }
        if (result != FRAME_OK) {
            failed =
                trouble_set(trouble, EXIT_USAGE, "%s: frame %zu: %s (a recording is a worker's whole output)",
                            file, n, result == FRAME_END ? "the file is empty" : why);
        } else if (!strcmp(text(&frame, "message"), "hello")) {
            failed = take_hello(recording, &frame, file, trouble);
        } else if (n == 0) {
            failed = trouble_set(trouble, EXIT_USAGE, "%s: the first frame is '%s', not 'hello'", file,
                                 text(&frame, "message"));
            frame_free(&frame);
        } else {
            struct frame *grown = realloc(recording->answer, (recording->answers + 1) * sizeof *grown);
            if (!grown)
                abort();
            recording->answer = grown;
            recording->answer[recording->answers++] = frame;
        }
    }
    close(fd);
    return failed;
}

/* Order of (cell, stage, batch, chunk); all are short strings, so any total order will do. */
static int compare(const void *a, const void *b)
{
    static const char *const keys[] = {"cell", "stage", "batch", "chunk"};
    for (size_t i = 0; i < 4; i++) {
        int order = strcmp(text(a, keys[i]), text(b, keys[i]));
        if (order)
            return order;
    }
    return 0;
}

int recording_open(struct recording *recording, char *const *files, size_t count, struct trouble *trouble)
{
    *recording = (struct recording){0};
    for (size_t i = 0; i < count; i++)
        if (read_file(recording, files[i], trouble))
            return -1;
    if (recording->answers)
        qsort(recording->answer, recording->answers, sizeof *recording->answer, compare);
    return 0;
}

const struct frame *recording_find(const struct recording *recording, const struct frame *request)
{
    return recording->answers
               ? bsearch(request, recording->answer, recording->answers, sizeof *request, compare)
               : NULL;
}

const struct frame *recording_ended(const struct recording *recording, const char *cell, int stage)
{
    struct frame key = {0};
    frame_set(&key, "cell", cell);
    frame_set_u64(&key, "stage", (uint64_t)stage);
    const struct frame *found = recording_find(recording, &key);
    frame_free(&key);
    return found && !strcmp(text(found, "message"), "ended") ? found : NULL;
}

void recording_free(struct recording *recording)
{
    for (size_t i = 0; i < recording->answers; i++)
        frame_free(&recording->answer[i]);
    free(recording->answer);
    frame_free(&recording->hello);
    *recording = (struct recording){0};
}
