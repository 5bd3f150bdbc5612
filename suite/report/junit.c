/* junit.c: DIR/junit.xml, one test case a (check, cell). */
#include "suite/report/junit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite/json/utf8.h"

/* Text as XML 1.0 allows it: what it forbids, and bytes that are not UTF-8, become '?'. */
static void escaped(FILE *file, const char *text)
{
    uint32_t value;
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        length = utf8_read(text, left, &value);
        const char *entity = *text == '<'   ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '&' ? "&amp;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (!length || (value < ' ' && value != '\n' && value != '\t') || value == 0xfffe ||
            value == 0xffff) {
            fputc('?', file);
            length = length ? length : 1;
        } else if (entity) {
            fputs(entity, file);
        } else {
            fwrite(text, 1, length, file);
        }
    }
}

static void element(FILE *file, const char *name, const char *message)
{
    fprintf(file, "    <%s message=\"", name);
    escaped(file, message);
    fprintf(file, "\"/>\n");
}

struct totals {
    size_t cases, failures, errors, skipped;
};

/* What a check says of a cell: the element to nest in its test case, or NULL if it passed. */
static const char *outcome(const struct cell_result *result, const struct check *check, char *message,
                           size_t bytes)
{
    const char *word = NULL;
    snprintf(message, bytes, "%s", result->why);
    if (result->state == CELL_ERROR)
        return "error";
    if (result->state != CELL_RAN)
        return "skipped";
    for (size_t s = 0; s < result->evidence.count; s++) {
        const struct statistic *statistic = &result->evidence.statistic[s];
        if (statistic->check != check || !statistic->confirmed)
            continue;
        bool known = statistic->standing == STANDING_PREEXISTING;
        if (word && known)
            continue; /* a new rejection is told rather than an old one */
        snprintf(message, bytes, "%s%s: %s. %s", known ? "pre-existing: " : "", statistic->name,
                 statistic->text, check->effect);
        word = known ? "skipped" : "failure";
        if (!known)
            break;
    }
    return word;
}

/* Which of the check's statistics on this cell only the old sampler shows: "" if none. */
static void fixed(const struct cell_result *result, const struct check *check, char *names, size_t bytes)
{
    *names = '\0';
    for (size_t s = 0; s < result->evidence.count; s++) {
        const struct statistic *statistic = &result->evidence.statistic[s];
        size_t used = strlen(names);
        if (statistic->check == check && statistic->standing == STANDING_FIXED)
            snprintf(names + used, bytes - used, "%s%s", used ? ", " : "", statistic->name);
    }
}

static void add_case(FILE *file, const struct session *session, size_t cell, const struct check *check,
                     struct totals *totals)
{
    char message[2048], names[512];
    const char *word = outcome(&session->cell[cell], check, message, sizeof message);
    fixed(&session->cell[cell], check, names, sizeof names);
    totals->cases++;
    totals->failures += word && !strcmp(word, "failure");
    totals->errors += word && !strcmp(word, "error");
    totals->skipped += word && !strcmp(word, "skipped");
    fprintf(file, "  <testcase classname=\"samplegate.%s\" name=\"%s on %s\"%s", session->plan->name,
            check->key, session->cell[cell].cell->name, word || *names ? ">\n" : "/>\n");
    if (!word && !*names)
        return;
    if (word)
        element(file, word, message);
    if (*names)
        fprintf(file, "    <system-out>fixed: %s</system-out>\n", names);
    fprintf(file, "  </testcase>\n");
}

static void add_verdict(FILE *file, const struct session *session, const struct verdict *verdict,
                        double seconds, struct totals *totals)
{
    totals->cases++;
    totals->failures += verdict->exit != EXIT_PASS;
    fprintf(file, "  <testcase classname=\"samplegate.%s\" name=\"verdict: %s\" time=\"%.3f\"",
            session->plan->name, verdict->word, seconds);
    if (verdict->exit == EXIT_PASS) {
        fprintf(file, "/>\n");
        return;
    }
    fprintf(file, ">\n");
    element(file, "failure", verdict->sentence);
    fprintf(file, "  </testcase>\n");
}

static int write_file(const char *directory, const char *head, const char *body, struct trouble *trouble)
{
    char *path, *partial;
    if (asprintf(&path, "%s/junit.xml", directory) < 0 || asprintf(&partial, "%s.partial", path) < 0)
        abort();
    FILE *file = fopen(partial, "we");
    bool bad =
        !file || fprintf(file, "%s%s</testsuite>\n", head, body) < 0 || fflush(file) || fsync(fileno(file));
    int cause = bad ? errno : 0;
    bad |= file && fclose(file);
    if (!bad && rename(partial, path)) {
        bad = true;
        cause = errno;
    }
    if (bad) {
        unlink(partial);
        trouble_set(trouble, EXIT_DAMAGED, "%s: the report cannot be written: %s", path,
                    strerror(cause ? cause : errno));
    }
    free(path);
    free(partial);
    return bad ? -1 : 0;
}

int junit_write(const char *directory, const struct session *session, const struct verdict *verdict,
                double seconds, struct trouble *trouble)
{
    if (!directory)
        return 0;
    char *body = NULL, *head = NULL;
    size_t body_bytes, head_bytes;
    struct totals totals = {0};
    FILE *file = open_memstream(&body, &body_bytes);
    if (!file)
        abort();
    for (size_t i = 0; i < check_registry_count; i++)
        for (size_t c = 0; c < session->plan->cells; c++)
            if (session->cell[c].selected && check_looks_at(&check_registry[i], session->cell[c].cell) &&
                check_selected(&check_registry[i], session->options.checks))
                add_case(file, session, c, &check_registry[i], &totals);
    add_verdict(file, session, verdict, seconds, &totals);
    fclose(file);
    file = open_memstream(&head, &head_bytes);
    if (!file)
        abort();
    fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
    escaped(file, session->spec ? session->spec->text : "recording");
    fprintf(file, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
            totals.cases, totals.failures, totals.errors, totals.skipped, seconds);
    fclose(file);
    int failed = write_file(directory, head, body, trouble);
    free(body);
    free(head);
    return failed;
}
