/* files.h: which files a golden directory holds. Internal to suite/golden/. */
#ifndef SAMPLEGATE_GOLDEN_FILES_H
#define SAMPLEGATE_GOLDEN_FILES_H
#include <stdbool.h>
#include <stddef.h>
#include "suite/trouble.h"

struct golden_files {
    char **path; /* relative to the directory, sorted */
    size_t files;
};

/* Every file below the directory that SHA256SUMS must list: all but SHA256SUMS itself, README*, *.py, .gitignore and what
 * lies in __pycache__. Refuses what is neither file nor folder. Owned: golden_files_free, also after a failure. */
int golden_files_find(struct golden_files *files, const char *directory, struct trouble *damaged);
bool golden_files_have(const struct golden_files *files, const char *path);
void golden_files_free(struct golden_files *files);
#endif
