/* provenance.c: PROVENANCE.json must say where every golden came from, and what it tells of must be there, records of
 * witnesses too: a file that went with its line of SHA256SUMS is missed here.
 *
 * It is written for people; here it counts as naming a file when the file's path is one of its keys or
 * strings. */
#include <stdio.h>
#include <string.h>

#include "suite/golden/files.h"
#include "suite/golden/outcome.h"

/* Whether some key or string at or below this node is the path. Nesting is bounded by the scanner. */
static bool names(const cJSON *node, const char *path)
{
    for (; node; node = node->next)
        if ((node->string && strcmp(node->string, path) == 0) ||
            (cJSON_IsString(node) && strcmp(node->valuestring, path) == 0) || names(node->child, path))
            return true;
    return false;
}

/* <family>/<check>.json: neither a plan, which is an input, nor what the writers of goldens or the readers of
 * texts keep. */
static bool is_family_file(const char *path)
{
    static const char *const others[] = {"plans/", "model/", "witness/", "kat/", "schema/"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(path, others[i], strlen(others[i])) == 0)
            return false;
    size_t length = strlen(path);
    return strchr(path, '/') && length > 5 && strcmp(path + length - 5, ".json") == 0;
}

int golden_check_provenance(const char *directory, size_t *files, struct trouble *damaged)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/PROVENANCE.json", directory);
    struct json_file file;
    if (json_open(&file, name, EXIT_DAMAGED, damaged))
        return -1;
    struct golden_files found;
    int failed = golden_files_find(&found, directory, damaged);
    *files = 0;
    for (size_t i = 0; i < found.files && !failed; i++)
        if (is_family_file(found.path[i])) {
            ++*files;
            if (!names(file.root, found.path[i]))
                failed = trouble_set(damaged, EXIT_DAMAGED, "%s: does not say where %s comes from", name,
                                     found.path[i]);
        }
    const cJSON *told = cJSON_GetObjectItemCaseSensitive(file.root, "files");
    for (const cJSON *one = cJSON_IsObject(told) ? told->child : NULL; one && !failed; one = one->next)
        if (!golden_files_have(&found, one->string))
            failed = trouble_set(damaged, EXIT_DAMAGED, "%s: says where %s comes from, which is not there",
                                 name, one->string);
    golden_files_free(&found);
    json_close(&file);
    return failed;
}
