/* installed.h: where `make install` puts what the programs read: ../share/samplegate as seen from bin/, so that an
 * installation may be staged (DESTDIR) or moved. */
#ifndef SAMPLEGATE_INSTALLED_H
#define SAMPLEGATE_INSTALLED_H
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Into path: share/samplegate/BELOW beside this program's folder, whether it exists or not; "" if too long. */
static inline void installed_path(char *path, size_t bytes, const char *below)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length < 0 ? 0 : length] = '\0';
    for (int up = 0; up < 2; up++) { /* the program, then bin/ */
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
    }
    int written = snprintf(path, bytes, "%s/share/samplegate/%s", self, below);
    if (written < 0 || (size_t)written >= bytes)
        path[0] = '\0';
}
#endif
