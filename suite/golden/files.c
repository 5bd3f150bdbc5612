/* files.c: which files a golden directory holds. */
#include "suite/golden/files.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

static int path_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_exempt(const char *name)
{
    size_t length = strlen(name);
    return strcmp(name, "SHA256SUMS") == 0 || strncmp(name, "README", 6) == 0 ||
           strcmp(name, ".gitignore") == 0 || (length > 3 && strcmp(name + length - 3, ".py") == 0);
}

static int add(struct golden_files *files, const char *path, struct trouble *damaged)
{
    char **larger = realloc(files->path, (files->files + 1) * sizeof *larger);
    char *copy = strdup(path);
    if (larger)
        files->path = larger;
    if (!larger || !copy) {
        free(copy);
        return trouble_set(damaged, EXIT_DAMAGED, "%s: out of memory", path);
    }
    files->path[files->files++] = copy;
    return 0;
}

static int visit(struct golden_files *files, FTS *tree, FTSENT *entry, size_t prefix, struct trouble *damaged)
{
    switch (entry->fts_info) {
    case FTS_D:
        if (strcmp(entry->fts_name, "__pycache__") == 0)
            fts_set(tree, entry, FTS_SKIP);
        return 0;
    case FTS_DP:
        return 0;
    case FTS_F:
        return is_exempt(entry->fts_name) ? 0 : add(files, entry->fts_path + prefix, damaged);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return trouble_set(damaged, EXIT_DAMAGED, "%s: cannot be read: %s", entry->fts_path,
                           strerror(entry->fts_errno));
    default:
        return trouble_set(damaged, EXIT_DAMAGED, "%s: neither a plain file nor a folder", entry->fts_path);
    }
}

int golden_files_find(struct golden_files *files, const char *directory, struct trouble *damaged)
{
    *files = (struct golden_files){0};
    char *root = strdup(directory);
    if (!root)
        return trouble_set(damaged, EXIT_DAMAGED, "%s: out of memory", directory);
    size_t length = strlen(root);
    while (length > 1 && root[length - 1] == '/')
        root[--length] = 0;
    char *const roots[] = {root, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    int failed = tree ? 0 : trouble_set(damaged, EXIT_DAMAGED, "%s: %s", directory, strerror(errno));
    for (FTSENT *entry; !failed && (entry = fts_read(tree));)
        failed = visit(files, tree, entry, length + 1, damaged);
    if (tree)
        fts_close(tree);
    free(root);
    if (files->files)
        qsort(files->path, files->files, sizeof *files->path, path_order);
    return failed;
}

bool golden_files_have(const struct golden_files *files, const char *path)
{
    return files->files && bsearch(&path, files->path, files->files, sizeof *files->path, path_order);
}

void golden_files_free(struct golden_files *files)
{
    for (size_t i = 0; i < files->files; i++)
        free(files->path[i]);
    free(files->path);
    *files = (struct golden_files){0};
}
