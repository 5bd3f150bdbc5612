/* text.c: whole files as text, and SHA-256 as text. */
#include "suite/json/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* A descriptor that was handed over (`<(command)` of a shell, standard input), under whatever name. */
static bool is_handed_over(const char *path)
{
    return !strncmp(path, "/dev/fd/", 8) || !strcmp(path, "/dev/stdin") ||
           !strncmp(path, "/proc/self/fd/", 14);
}

/* Only what ends by itself: to open a named pipe, or a terminal, may wait for ever. -1: and why. */
static int open_file(const char *path, const char **why)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &about)) {
        *why = strerror(errno);
    } else if (S_ISDIR(about.st_mode)) {
        *why = strerror(EISDIR);
    } else if (!S_ISREG(about.st_mode) && !is_handed_over(path)) {
        *why = "it is no regular file";
    } else {
        fcntl(fd, F_SETFL, 0);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

char *text_read(const char *path, size_t *bytes, const char **why)
{
    int fd = open_file(path, why);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!stream) {
        if (fd >= 0) {
            *why = strerror(errno);
            close(fd);
        }
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
