/* spec.c: parse a SUT's specification into the command that starts its worker. */
#include "suite/judge/spec.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite/installed.h"

#define KINDS                                                                                                \
    "reference[:RULE], cuda[:RULE], engine[:NAME], python:NAME, python:FILE.py, PATH/TO/PLUGIN.so, "         \
    "exec:COMMAND, recording:FILE"

static char *copy(const char *text)
{
    char *out = strdup(text);
    if (!out)
        abort();
    return out;
}

static int word(struct spec *spec, const char *text, struct trouble *trouble)
{
    size_t n = 0;
    while (spec->argv[n])
        n++;
    if (n == SPEC_WORDS_MAX)
        return trouble_set(trouble, EXIT_USAGE, "%s: more than %d words", spec->text, SPEC_WORDS_MAX);
    spec->argv[n] = copy(text);
    return 0;
}

/* The host program lies beside this one, in a build tree as in an installation. */
static int host_program(char *path, size_t bytes, struct trouble *trouble)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return trouble_set(trouble, EXIT_USAGE, "/proc/self/exe: %s", strerror(errno));
    self[length] = '\0';
    snprintf(path, bytes, "%s/samplegate-host", dirname(self));
    if (access(path, X_OK))
        return trouble_set(trouble, EXIT_USAGE, "%s: %s (it is built with samplegate and must lie beside it)",
                           path, strerror(errno));
    return 0;
}

static int host_script(char *path, size_t bytes, struct trouble *trouble)
{
    char installed[PATH_MAX - 16];
    installed_path(installed, sizeof installed, "workers");
    const char *const places[] = {installed, SAMPLEGATE_SOURCE_DIR "/suite/sut/workers"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, bytes, "%s/host.py", places[i]);
        if (!access(path, R_OK))
            return 0;
    }
    return trouble_set(trouble, EXIT_USAGE, "host.py not found in %s or %s", places[0], places[1]);
}

static int file_exists(const struct spec *spec, const char *path, struct trouble *trouble)
{
    if (access(path, R_OK))
        return trouble_set(trouble, EXIT_USAGE, "%s: %s: %s", spec->text, path, strerror(errno));
    return 0;
}

/* ",key=value,..." -> words and environment. */
static int options(struct spec *spec, char *list, struct trouble *trouble)
{
    size_t variables = 0;
    for (char *save, *item = strtok_r(list, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        if (!strchr(item, '=') || item[0] == '=')
            return trouble_set(trouble, EXIT_USAGE, "%s: option '%s' is not key=value", spec->text, item);
        if (strncmp(item, "env.", 4)) {
            if (word(spec, item, trouble))
                return -1;
            continue;
        }
        if (item[4] == '=' || variables == SPEC_WORDS_MAX)
            return trouble_set(trouble, EXIT_USAGE, "%s: option '%s' is not env.NAME=VALUE", spec->text,
                               item);
        spec->environment[variables++] = copy(item + 4);
    }
    return 0;
}

static int python(struct spec *spec, char *name, struct trouble *trouble)
{
    char interpreter[PATH_MAX] = "python3", script[PATH_MAX];
    char *venv = strchr(name, '@');
    if (venv) {
        *venv++ = '\0';
        snprintf(interpreter, sizeof interpreter, "%s/bin/python3", venv);
        if (access(interpreter, X_OK))
            return trouble_set(trouble, EXIT_USAGE, "%s: %s: %s (@VENV names a virtual environment's folder)",
                               spec->text, interpreter, strerror(errno));
    }
    if (!*name)
        return trouble_set(trouble, EXIT_USAGE, "%s: python: needs an engine's name or a FILE.py",
                           spec->text);
    if (strchr(name, '/') && file_exists(spec, name, trouble))
        return -1;
    if (host_script(script, sizeof script, trouble))
        return -1;
    return word(spec, interpreter, trouble) || word(spec, script, trouble) || word(spec, name, trouble) ? -1
                                                                                                        : 0;
}

static int native(struct spec *spec, const char *name, struct trouble *trouble)
{
    char host[PATH_MAX];
    if (host_program(host, sizeof host, trouble))
        return -1;
    return word(spec, host, trouble) || word(spec, name, trouble) ? -1 : 0;
}

/* "KIND" or "KIND:...". */
static bool of_kind(const char *head, const char *kind)
{
    size_t length = strlen(kind);
    return !strncmp(head, kind, length) && (head[length] == '\0' || head[length] == ':');
}

int spec_parse(struct spec *spec, const char *text, struct trouble *trouble)
{
    *spec = (struct spec){.text = copy(text)};
    if (!strncmp(text, "recording:", 10)) {
        spec->recording = copy(text + 10);
        return file_exists(spec, spec->recording, trouble);
    }
    if (!strncmp(text, "exec:", 5)) {
        if (!text[5 + strspn(text + 5, " ")])
            return trouble_set(trouble, EXIT_USAGE, "%s: exec: needs a command", text);
        return word(spec, "/bin/sh", trouble) || word(spec, "-c", trouble) || word(spec, text + 5, trouble)
                   ? -1
                   : 0;
    }
    char *head = copy(text), *list = strchr(head, ',');
    if (list)
        *list++ = '\0';
    int failed;
    if (!strncmp(head, "python:", 7))
        failed = python(spec, head + 7, trouble);
    else if (!strncmp(head, "engine:", 7) && strchr(head, '/'))
        failed = file_exists(spec, head + 7, trouble) || native(spec, head, trouble);
    else if (of_kind(head, "reference") || of_kind(head, "cuda") || of_kind(head, "engine"))
        failed = native(spec, head, trouble);
    else if (strchr(head, '/'))
        failed = file_exists(spec, head, trouble) || native(spec, head, trouble);
    else
        failed = trouble_set(trouble, EXIT_USAGE, "'%s' is not a sampler; accepted: " KINDS, text);
    if (!failed && list)
        failed = options(spec, list, trouble);
    free(head);
    return failed ? -1 : 0;
}

void spec_free(struct spec *spec)
{
    for (size_t i = 0; spec->argv[i]; i++)
        free(spec->argv[i]);
    for (size_t i = 0; spec->environment[i]; i++)
        free(spec->environment[i]);
    free(spec->recording);
    free(spec->text);
    *spec = (struct spec){0};
}
