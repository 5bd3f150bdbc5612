/* scan.h: refuse, with line and column, every text that is not exactly one strict JSON value. */
#ifndef SAMPLEGATE_SCAN_H
#define SAMPLEGATE_SCAN_H
#include <stddef.h>
#include "suite/trouble.h"

#define SCAN_DEPTH_MAX 64  /* objects and arrays inside each other */
#define SCAN_NUMBER_MAX 60 /* characters of a number; cJSON 1.7 silently cuts one after 63 */

/* text[bytes], followed by a NUL that is not part of it. Lines and columns start at 1; a column is a character (a code
 * point), not a byte. Returns 0, or -1 with `exit` and "NAME:LINE:COLUMN: what is wrong and what is accepted". */
int scan_json(const char *name, const char *text, size_t bytes, int exit, struct trouble *trouble);

/* The text of a member, in the caller's text: the key without its quotes, escapes as they stand. */
struct scan_member {
    const struct scan_member *inside; /* the member whose object this one is in; NULL: the outermost object */
    const char *key, *value;
    size_t key_bytes, value_bytes;
};
/* Called for each member of an object once its value was read: inner ones before outer ones. Arrays between `member` and
 * `inside` do not show. */
typedef void (*scan_visit)(void *context, const struct scan_member *member);

/* One JSON value as clients send it and Python's json reads it, which takes what scan_json refuses: a key given twice (the
 * last counts), numbers that a double cannot hold, NaN, Infinity and -Infinity, \u0000 and lone surrogates. Errors say
 * NAME:LINE:COLUMN, text beginning at `line`, and exit 2. */
int scan_sent(const char *name, size_t line, const char *text, size_t bytes, scan_visit visit, void *context,
              struct trouble *trouble);
#endif
