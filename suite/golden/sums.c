/* sums.c: SHA256SUMS against the files that are there: none changed, none missing, none unlisted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/golden/files.h"
#include "suite/golden/outcome.h"
#include "suite/json/text.h"

#define HEX_DIGITS 64
#define PATH_AT (HEX_DIGITS + 2) /* two spaces, or a space and a '*', as sha256sum writes them */

struct sum {
    const char *path, *hex; /* in the text of SHA256SUMS, which was cut into strings */
};

static int sum_order(const void *a, const void *b)
{
    return strcmp(((const struct sum *)a)->path, ((const struct sum *)b)->path);
}

/* Cut one line into hex and path. */
static bool read_line(char *line, struct sum *sum)
{
    if (strspn(line, "0123456789abcdef") != HEX_DIGITS || line[HEX_DIGITS] != ' ' ||
        (line[HEX_DIGITS + 1] != ' ' && line[HEX_DIGITS + 1] != '*'))
        return false;
    line[HEX_DIGITS] = 0;
    *sum = (struct sum){.path = line + PATH_AT, .hex = line};
    return sum->path[0] && sum->path[0] != '/' && !strstr(sum->path, "..");
}

/* All lines of text, which is cut. Owned: free(*sum). */
static int read_sums(const char *name, char *text, struct sum **sum, size_t *sums, struct trouble *damaged)
{
    size_t lines = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    *sum = malloc(lines * sizeof **sum);
    if (!*sum)
        return trouble_set(damaged, EXIT_DAMAGED, "%s: out of memory", name);
    *sums = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) && (*line || rest);)
        if (!read_line(line, &(*sum)[(*sums)++]))
            return trouble_set(
                damaged, EXIT_DAMAGED,
                "%s:%zu: expected a line of sha256sum: 64 lower-case hexadecimal digits, two spaces, a path "
                "below this folder",
                name, *sums);
    if (*sums == 0)
        return trouble_set(damaged, EXIT_DAMAGED, "%s: lists no file", name);
    qsort(*sum, *sums, sizeof **sum, sum_order);
    for (size_t i = 1; i < *sums; i++)
        if (strcmp((*sum)[i - 1].path, (*sum)[i].path) == 0)
            return trouble_set(damaged, EXIT_DAMAGED, "%s: lists %s twice", name, (*sum)[i].path);
    return 0;
}

static int check_file(const char *directory, const struct sum *sum, struct trouble *damaged)
{
    char path[4096], hex[65];
    snprintf(path, sizeof path, "%s/%s", directory, sum->path);
    size_t bytes;
    const char *why;
    char *text = text_read(path, &bytes, &why);
    if (!text)
        return trouble_set(damaged, EXIT_DAMAGED, "%s: listed in SHA256SUMS, cannot be read: %s", path, why);
    text_sha256(text, bytes, hex);
    free(text);
    return strcmp(hex, sum->hex) == 0
               ? 0
               : trouble_set(damaged, EXIT_DAMAGED, "%s: its SHA-256 is %s, SHA256SUMS has %s", path, hex,
                             sum->hex);
}

static int check_all(const char *directory, const char *name, char *text, size_t *files,
                     struct trouble *damaged)
{
    struct sum *sum = NULL;
    size_t sums = 0;
    struct golden_files found = {0};
    int failed = read_sums(name, text, &sum, &sums, damaged) || golden_files_find(&found, directory, damaged);
    for (size_t i = 0; i < sums && !failed; i++)
        failed = check_file(directory, &sum[i], damaged);
    for (size_t i = 0; i < found.files && !failed; i++) {
        struct sum wanted = {.path = found.path[i]};
        if (!bsearch(&wanted, sum, sums, sizeof *sum, sum_order))
            failed = trouble_set(damaged, EXIT_DAMAGED, "%s/%s: is not listed in SHA256SUMS", directory,
                                 found.path[i]);
    }
    golden_files_free(&found);
    free(sum);
    *files = sums;
    return failed ? -1 : 0;
}

int golden_check_sums(const char *directory, size_t *files, struct trouble *damaged)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/SHA256SUMS", directory);
    size_t bytes;
    const char *why;
    char *text = text_read(name, &bytes, &why);
    if (!text)
        return trouble_set(damaged, EXIT_DAMAGED, "%s: cannot be read: %s", name, why);
    int failed = strlen(text) == bytes ? check_all(directory, name, text, files, damaged)
                                       : trouble_set(damaged, EXIT_DAMAGED, "%s: holds a NUL byte", name);
    free(text);
    return failed;
}
