/* results.c: write results.jsonl line by line and give it its name at the end. */
#include "suite/report/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite/json/utf8.h"

static char *join(const char *before, const char *after)
{
    char *path;
    if (asprintf(&path, "%s%s", before, after) < 0)
        abort();
    return path;
}

int results_open(struct results *results, const char *directory, bool echo, struct trouble *trouble)
{
    *results = (struct results){.echo = echo};
    if (!directory)
        return 0;
    if (mkdir(directory, 0777) && errno != EEXIST)
        return trouble_set(trouble, EXIT_DAMAGED, "--out: %s: %s", directory, strerror(errno));
    results->path = join(directory, "/results.jsonl");
    char *partial = join(results->path, ".partial");
    results->file = fopen(partial, "we");
    int failed =
        results->file ? 0 : trouble_set(trouble, EXIT_DAMAGED, "--out: %s: %s", partial, strerror(errno));
    free(partial);
    return failed;
}

void results_event(struct results *results, cJSON *event)
{
    char *line = cJSON_PrintUnformatted(event);
    if (!line)
        abort();
    utf8_force(line); /* a worker's stderr is any bytes, and cut anywhere */
    if (results->file && (fprintf(results->file, "%s\n", line) < 0 || fflush(results->file)) &&
        !results->failed)
        results->failed = errno;
    if (results->echo && (printf("%s\n", line) < 0 || fflush(stdout)) && !results->echo_failed)
        results->echo_failed = errno;
    free(line);
    cJSON_Delete(event);
}

int results_close(struct results *results, struct trouble *trouble)
{
    int failed = results->failed;
    if (results->file) {
        char *partial = join(results->path, ".partial");
        if (fsync(fileno(results->file)) && !failed)
            failed = errno;
        if (fclose(results->file) && !failed)
            failed = errno;
        if (!failed && rename(partial, results->path))
            failed = errno;
        if (failed)
            trouble_set(trouble, EXIT_DAMAGED,
                        "%s: the report cannot be written: %s (what was written is in %s)", results->path,
                        strerror(failed), partial);
        free(partial);
    }
    if (results->echo_failed)
        trouble_set(trouble, EXIT_DAMAGED, "standard output: the report cannot be written: %s",
                    strerror(results->echo_failed));
    free(results->path);
    *results = (struct results){0};
    return trouble->exit ? -1 : 0;
}

void results_abandon(struct results *results)
{
    if (results->file) {
        char *partial = join(results->path, ".partial");
        fclose(results->file);
        unlink(partial);
        free(partial);
    }
    free(results->path);
    *results = (struct results){0};
}
