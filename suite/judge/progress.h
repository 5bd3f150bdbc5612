/* progress.h: one line on stderr while work goes on, if stderr is a terminal. */
#ifndef SAMPLEGATE_PROGRESS_H
#define SAMPLEGATE_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>

struct progress {
    bool shown;
    const char *word; /* "stage", unless the caller counts something else */
    int stage;
    double last; /* seconds, when it was last drawn */
};

void progress_begin(struct progress *progress, int stage);
void progress_show(struct progress *progress, const char *label, const char *cell, size_t done, size_t total);
/* The same of work whose end is not known: "12345 requests routed". */
void progress_count(struct progress *progress, const char *what, size_t done);
void progress_end(struct progress *progress);
#endif
