/* results.c: write results.jsonl line by line and give it its name at the end. */
#include "suite/report/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join(const char *directory, const char *name)
{
    size_t bytes = strlen(directory) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (!path)
        abort();
    snprintf(path, bytes, "%s/%s", directory, name);
    return path;
}

int results_open(struct results *results, const char *directory, bool echo, struct trouble *trouble)
{
    *results = (struct results){.echo = echo};
    if (!directory)
        return 0;
    if (mkdir(directory, 0777) && errno != EEXIST)
        return trouble_set(trouble, EXIT_DAMAGED, "%s: %s", directory, strerror(errno));
    char *partial = join(directory, "results.jsonl.partial");
    results->path = join(directory, "results.jsonl");
    results->file = fopen(partial, "w");
    int failed = results->file ? 0 : trouble_set(trouble, EXIT_DAMAGED, "%s: %s", partial, strerror(errno));
    free(partial);
    return failed;
}

void results_event(struct results *results, cJSON *event)
{
    char *line = cJSON_PrintUnformatted(event);
    if (!line)
        abort();
    if (results->file && (fprintf(results->file, "%s\n", line) < 0 || fflush(results->file)))
        results->failed = true;
    if (results->echo && (printf("%s\n", line) < 0 || fflush(stdout)))
        results->failed = true;
    free(line);
    cJSON_Delete(event);
}

int results_close(struct results *results, struct trouble *trouble)
{
    int failed = 0;
    if (results->file) {
        char *partial = malloc(strlen(results->path) + 9);
        if (!partial)
            abort();
        sprintf(partial, "%s.partial", results->path);
        bool bad = results->failed || fflush(results->file) || fsync(fileno(results->file));
        bad |= fclose(results->file) != 0;
        if (bad || rename(partial, results->path))
            failed = trouble_set(trouble, EXIT_DAMAGED,
                                 "%s: the report cannot be written: %s (what was written is in %s)",
                                 results->path, strerror(errno), partial);
        free(partial);
    } else if (results->failed) {
        failed = trouble_set(trouble, EXIT_DAMAGED, "standard output: the report cannot be written");
    }
    free(results->path);
    *results = (struct results){0};
    return failed;
}
