/* lines.c: a file of any length, line by line, in the memory of its longest line. */
#include "suite/route/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite/json/text.h"
#include "suite/judge/worker.h"

#define FIRST_ROOM ((size_t)256 << 10)

int lines_open(struct lines *lines, const char *path, struct trouble *trouble)
{
    bool standard = strcmp(path, "-") == 0;
    *lines = (struct lines){.name = standard ? "standard input" : path};
    do /* of a named pipe it waits for who writes */
        lines->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    while (lines->fd < 0 && errno == EINTR && !worker_stop_all);
    lines->open = lines->fd >= 0;
    return lines->open || worker_stop_all
               ? 0
               : trouble_set(trouble, EXIT_USAGE, "%s: cannot be read: %s", path, strerror(errno));
}

/* Room for more behind what is there, one byte of it for the NUL. */
static int make_room(struct lines *lines, struct trouble *trouble)
{
    if (lines->from) {
        memmove(lines->buffer, lines->buffer + lines->from, lines->to - lines->from);
        lines->to -= lines->from;
        lines->from = 0;
    }
    if (lines->to + 1 < lines->room)
        return 0;
    if (lines->room > TEXT_BYTES_MAX)
        return trouble_set(trouble, EXIT_USAGE, "%s:%zu: a line of more than %zu bytes", lines->name,
                           lines->line + 1, TEXT_BYTES_MAX);
    size_t room = lines->room ? 2 * lines->room : FIRST_ROOM;
    char *larger = realloc(lines->buffer, room);
    if (!larger)
        return trouble_set(trouble, EXIT_USAGE, "%s:%zu: out of memory", lines->name, lines->line + 1);
    lines->buffer = larger;
    lines->room = room;
    return 0;
}

static int read_more(struct lines *lines, struct trouble *trouble)
{
    if (make_room(lines, trouble))
        return -1;
    ssize_t got;
    do
        got = read(lines->fd, lines->buffer + lines->to, lines->room - lines->to - 1);
    while (got < 0 && errno == EINTR && !worker_stop_all);
    if (got < 0 && !worker_stop_all)
        return trouble_set(trouble, EXIT_USAGE, "%s: cannot be read: %s", lines->name, strerror(errno));
    lines->ended = got == 0;
    lines->to += got > 0 ? (size_t)got : 0;
    return 0;
}

int lines_next(struct lines *lines, char **text, size_t *bytes, struct trouble *trouble)
{
    char *end = NULL;
    size_t looked = 0;
    for (;;) {
        lines->interrupted = worker_stop_all;
        if (lines->interrupted)
            return 0;
        size_t there = lines->to - lines->from;
        end = there > looked ? memchr(lines->buffer + lines->from + looked, '\n', there - looked) : NULL;
        looked = there;
        if (end)
            break;
        if (lines->ended && there == 0)
            return 0;
        if (lines->ended) {
            end = lines->buffer + lines->to; /* the last one has no end */
            break;
        }
        if (read_more(lines, trouble))
            return -1;
    }
    *text = lines->buffer + lines->from;
    *bytes = (size_t)(end - *text);
    lines->from += *bytes + (end < lines->buffer + lines->to);
    *end = 0;
    lines->line++;
    return 1;
}

void lines_close(struct lines *lines)
{
    if (lines->open && lines->fd != STDIN_FILENO)
        close(lines->fd);
    free(lines->buffer);
    *lines = (struct lines){0};
}
