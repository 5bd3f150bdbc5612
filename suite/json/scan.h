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
#endif
