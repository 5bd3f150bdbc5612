/* text.c: whole files as text, and SHA-256 as text. */
#include "suite/json/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

static char *read_stream(FILE *stream, size_t *bytes, const char **why)
{
    char *text = NULL;
    size_t room = 0, used = 0;
    while (!feof(stream) && !ferror(stream) && used <= TEXT_BYTES_MAX) {
        if (room - used < 2) {
            room = room ? room * 2 : 1 << 16;
            char *larger = realloc(text, room);
            if (!larger) {
                free(text);
                *why = "out of memory";
                return NULL;
            }
            text = larger;
        }
        used += fread(text + used, 1, room - used - 1, stream);
    }
    if (ferror(stream) || used > TEXT_BYTES_MAX) {
        *why = ferror(stream) ? strerror(errno) : "longer than 64 MiB";
        free(text);
        return NULL;
    }
    text[used] = 0;
    *bytes = used;
    return text;
}

char *text_read(const char *path, size_t *bytes, const char **why)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        *why = strerror(errno);
        return NULL;
    }
    char *text = read_stream(stream, bytes, why);
    fclose(stream);
    return text;
}

void text_sha256(const void *data, size_t bytes, char hex[65])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(data, bytes, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}
