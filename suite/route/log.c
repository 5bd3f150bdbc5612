/* log.c: what a server says at start-up that it merged from the model's generation_config. */
#include <stdlib.h>
#include <string.h>

#include "suite/route/lines.h"
#include "suite/route/server.h"

#define SAID "Using default chat sampling params from model generation config"

/* A Python dictionary of numbers, strings and the like as JSON: its quotes, and the names of three constants. Owned. */
static char *as_json(const char *text, size_t bytes)
{
    static const struct {
        const char *python, *json;
    } words[] = {{"None", "null"}, {"True", "true"}, {"False", "false"}};
    char *json = malloc(2 * bytes + 1), *to = json; /* a " in single quotes gets a backslash */
    char quote = 0;
    if (!json)
        abort();
    for (size_t i = 0; i < bytes; i++) {
        size_t w = 0;
        while (!quote && w < 3 && strncmp(text + i, words[w].python, strlen(words[w].python)) != 0)
            w++;
        if (!quote && w < 3) {
            to = stpcpy(to, words[w].json);
            i += strlen(words[w].python) - 1;
        } else if (quote && text[i] == '\\' && i + 1 < bytes) {
            if (text[i + 1] != '\'')
                *to++ = '\\';
            *to++ = text[++i];
        } else if (text[i] == quote || (!quote && (text[i] == '\'' || text[i] == '"'))) {
            quote = quote ? 0 : text[i];
            *to++ = '"';
        } else {
            if (quote && text[i] == '"')
                *to++ = '\\';
            *to++ = text[i];
        }
    }
    *to = 0;
    return json;
}

/* From the first brace to its mate. */
static size_t dictionary_bytes(const char *text)
{
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; text[i]; i++) {
        if (quote && text[i] == '\\' && text[i + 1]) {
            i++;
        } else if (quote) {
            quote = text[i] == quote ? 0 : quote;
        } else if (text[i] == '\'' || text[i] == '"') {
            quote = text[i];
        } else {
            depth += (text[i] == '{') - (text[i] == '}');
            if (depth == 0)
                return i + 1;
        }
    }
    return 0;
}

int route_log_find(const char *path, char **json, struct trouble *trouble)
{
    struct lines lines;
    char *text;
    size_t bytes;
    int more, found = 0;
    *json = NULL;
    if (lines_open(&lines, path, trouble))
        return -1;
    while ((more = lines_next(&lines, &text, &bytes, trouble)) > 0) {
        const char *said = memmem(text, bytes, SAID, strlen(SAID)), *brace = said ? strchr(said, '{') : NULL;
        size_t length = brace ? dictionary_bytes(brace) : 0;
        if (!said)
            continue;
        free(*json);
        *json = NULL;
        found = 1;
        if (length == 0) {
            more = trouble_set(trouble, EXIT_USAGE, "%s:%zu: \"%s\" is not followed by a dictionary, {...}",
                               path, lines.line, SAID);
            break;
        }
        *json = as_json(brace, length);
    }
    lines_close(&lines);
    return more < 0 ? -1 : found;
}
