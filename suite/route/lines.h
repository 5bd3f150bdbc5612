/* lines.h: a file of any length, line by line, in the memory of its longest line. */
#ifndef SAMPLEGATE_ROUTE_LINES_H
#define SAMPLEGATE_ROUTE_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include "suite/trouble.h"

/* Zero-initialise; lines_close. */
struct lines {
    const char *name; /* borrowed, for messages */
    int fd;
    bool open, ended, interrupted;
    char *buffer;
    size_t room, from, to; /* what was read and not yet given away */
    size_t line;           /* the number of the one given last; the first is 1 */
};

/* "-" is standard input. */
int lines_open(struct lines *lines, const char *path, struct trouble *trouble);
/* The next line without its end, NUL behind it, the caller's to change until the next call. 1: there it is, 0: no
 * more, or `interrupted` by a signal that set worker_stop_all, -1: trouble. */
int lines_next(struct lines *lines, char **text, size_t *bytes, struct trouble *trouble);
void lines_close(struct lines *lines);
#endif
