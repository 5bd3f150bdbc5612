/* file.c: read a whole JSON file and hand it to the scanner, then to cJSON. */
#include <stdlib.h>
#include <string.h>

#include "suite/json/json.h"
#include "suite/json/scan.h"
#include "suite/json/text.h"

/* Takes ownership of text. */
static int parse_owned(struct json_file *file, const char *name, char *text, size_t bytes, int exit,
                       struct trouble *trouble)
{
    *file = (struct json_file){.path = strdup(name), .text = text, .bytes = bytes, .exit = exit};
    int failed = file->path ? scan_json(name, text, bytes, exit, trouble)
                            : trouble_set(trouble, exit, "%s: out of memory", name);
    if (!failed) {
        file->root = cJSON_ParseWithLength(text, bytes);
        if (!file->root)
            failed = trouble_set(trouble, exit, "%s: cannot be parsed (out of memory?)", name);
    }
    if (failed)
        json_close(file);
    return failed;
}

int json_open(struct json_file *file, const char *path, int exit, struct trouble *trouble)
{
    *file = (struct json_file){0};
    const char *why = NULL;
    size_t bytes;
    char *text = text_read(path, &bytes, &why);
    if (!text)
        return trouble_set(trouble, exit, "%s: cannot be read: %s", path, why);
    return parse_owned(file, path, text, bytes, exit, trouble);
}

int json_parse(struct json_file *file, const char *name, const char *text, size_t bytes, int exit,
               struct trouble *trouble)
{
    *file = (struct json_file){0};
    char *copy = malloc(bytes + 1);
    if (!copy)
        return trouble_set(trouble, exit, "%s: out of memory", name);
    if (bytes)
        memcpy(copy, text, bytes);
    copy[bytes] = 0;
    return parse_owned(file, name, copy, bytes, exit, trouble);
}

void json_close(struct json_file *file)
{
    cJSON_Delete(file->root);
    free(file->text);
    free(file->path);
    *file = (struct json_file){0};
}
