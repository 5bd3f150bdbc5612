/* trouble.h: one way to report what went wrong: a sentence and the exit code it deserves. */
#ifndef SAMPLEGATE_TROUBLE_H
#define SAMPLEGATE_TROUBLE_H

/* DESIGN: 0 passes, 1 a check fails or errs, 2 usage or bad input, 3 inconclusive, 77 nothing could run, 99 golden
 * damaged or a report that cannot be written, 130 interrupted. */
enum exit_code {
    EXIT_PASS = 0,
    EXIT_FAIL = 1,
    EXIT_USAGE = 2,
    EXIT_INCONCLUSIVE = 3,
    EXIT_NOTHING_RAN = 77,
    EXIT_DAMAGED = 99,
    EXIT_INTERRUPTED = 130
};

/* Functions that can fail return 0, or -1 after filling this in. The first trouble wins. */
struct trouble {
    int exit; /* 0: none */
    char text[1024];
};

/* The text becomes one line (trouble_flatten). Returns -1, so that a caller can write `return trouble_set(...)`. */
__attribute__((format(printf, 3, 4))) int trouble_set(struct trouble *trouble, int exit, const char *format, ...);
/* Make control characters spaces: one line, with nothing in it that a terminal would obey. */
void trouble_flatten(char *text);
#endif
