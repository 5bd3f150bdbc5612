/* progress.c: one line on stderr while work goes on, if stderr is a terminal. */
#include "suite/judge/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1

void progress_begin(struct progress *progress, int stage)
{
    *progress = (struct progress){.shown = isatty(STDERR_FILENO) == 1, .word = "stage", .stage = stage};
}

/* Whether to draw it now. */
static bool due(struct progress *progress, bool last)
{
    struct timespec t;
    if (!progress->shown)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (now - progress->last < REDRAW_SECONDS && !last)
        return false;
    progress->last = now;
    return true;
}

void progress_count(struct progress *progress, const char *what, size_t done)
{
    if (due(progress, false))
        fprintf(stderr, "\r%zu %s", done, what);
}

void progress_show(struct progress *progress, const char *label, const char *cell, size_t done, size_t total)
{
    if (due(progress, done >= total))
        fprintf(stderr, "\r%s%s%s %d  %3zu %%  %-24s", label, *label ? "  " : "", progress->word,
                progress->stage, 100 * done / total, cell);
}

void progress_end(struct progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r%70s\r", "");
}
