/* golden.h: find the goldens, check their hashes, and recompute them with the C code (`samplegate golden verify`). */
#ifndef SAMPLEGATE_GOLDEN_H
#define SAMPLEGATE_GOLDEN_H
#include <stddef.h>
#include "suite/trouble.h"

/* The directory: `given` if not NULL, else the source tree's golden/ of this build if it is there, else the installed one. Writes path. */
int golden_directory(const char *given, char *path, size_t bytes, struct trouble *trouble);

/* One line a golden: what was compared. */
typedef void (*golden_report)(void *context, const char *file, const char *what, size_t cases, size_t left_out);

/* Check SHA256SUMS (every file listed, none unlisted), recompute every family, then hold the recorded answers of engines'
 * wheels against it. exit 99 and the word "damaged" for a hash or a file that cannot be read, or a record without one of its
 * cases; exit 99 and "golden disagrees" (file#case, golden value, our value) or "witness disagrees" for a value. */
int golden_verify(const char *directory, golden_report report, void *context, struct trouble *trouble);
#endif
