/* text.h: whole files as text, and SHA-256 as text. */
#ifndef SAMPLEGATE_TEXT_H
#define SAMPLEGATE_TEXT_H
#include <stddef.h>

#define TEXT_BYTES_MAX ((size_t)64 << 20) /* nothing we read is near it; /dev/zero is beyond it */

/* The bytes of a file, with a NUL behind them that `bytes` does not count. NULL, and a reason in `why`, if it cannot be
 * opened or read, is no regular file (a pipe is taken as /dev/fd/N or /dev/stdin only, never waited for under a name of its
 * own), or is longer than TEXT_BYTES_MAX. Owned: free. */
char *text_read(const char *path, size_t *bytes, const char **why);

/* SHA-256 of data[bytes] in lower-case hexadecimal. */
void text_sha256(const void *data, size_t bytes, char hex[65]);
#endif
