/* file.c: read a whole JSON file and hand it to the scanner, then to cJSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/json/json.h"
#include "suite/json/scan.h"

#define JSON_BYTES_MAX ((size_t)64 << 20) /* nothing we read is near it; /dev/zero is beyond it */

/* The text of a stream and its length, one NUL behind it. NULL with a reason. */
static char *stream_text(FILE *stream, size_t *bytes, const char **why)
{
    char *text = NULL;
    size_t room = 0, used = 0;
    while (!feof(stream) && !ferror(stream) && used <= JSON_BYTES_MAX) {
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
    if (ferror(stream) || used > JSON_BYTES_MAX) {
        *why = ferror(stream) ? strerror(errno) : "larger than 64 MiB";
        free(text);
        return NULL;
    }
    text[used] = 0;
    *bytes = used;
    return text;
}

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
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return trouble_set(trouble, exit, "%s: cannot be opened: %s", path, strerror(errno));
    const char *why = NULL;
    size_t bytes = 0;
    char *text = stream_text(stream, &bytes, &why);
    fclose(stream);
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
