/* child.h: run the built programs as a user would, and look at what they said, left behind and wrote.
 *
 * A test's commands are lines for sh, in a scratch folder of its own, with $B the build folder. What a
 * command prints is kept in `child`; processes it leaves running fail the test that ran it. */
#ifndef SAMPLEGATE_CLI_CHILD_H
#define SAMPLEGATE_CLI_CHILD_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILD_SECONDS                                                                                        \
    60 /* a command that takes longer hangs: generous, for a busy machine under a sanitizer */

/* The command of the moment: one at a time. */
static struct {
    pid_t pid;
    char command[4096];
    FILE *streams[2]; /* its stdout and stderr */
    char out[64 << 10], err[16 << 10];
    int exit; /* 128 + signal if it was killed, as sh counts */
} child;

static inline void child_pause(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

/* What a test that failed left running. */
static inline void child_abandon(void)
{
    if (child.pid <= 0)
        return;
    killpg(child.pid, SIGKILL);
    waitpid(child.pid, NULL, 0);
    child.pid = 0;
}

__attribute__((format(printf, 1, 2))) static inline void child_start(const char *format, ...)
{
    child_abandon();
    va_list list;
    va_start(list, format);
    vsnprintf(child.command, sizeof child.command, format, list);
    va_end(list);
    for (int i = 0; i < 2; i++)
        assert_non_null(child.streams[i] = tmpfile());
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        setpgid(0, 0);
        for (int i = 0; i < 2; i++)
            dup2(fileno(child.streams[i]), i + 1);
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        execl("/bin/sh", "sh", "-c", child.command, (char *)NULL);
        _exit(127);
    }
    setpgid(child.pid, child.pid);
}

/* Orphans become this process's children (child_scratch asks for it), so none can hide. */
static inline void child_no_orphans(void)
{
    pid_t pid = 0;
    for (int i = 0; i < 200; i++) {
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0)
            return;
        child_pause(10);
    }
    fail_msg("%s\nleft a process running", child.command);
}

static inline void child_wait(void)
{
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < 100 * CHILD_SECONDS && !(ended = waitpid(child.pid, &status, WNOHANG)); i++)
        child_pause(10);
    if (!ended) {
        killpg(child.pid, SIGKILL);
        waitpid(child.pid, &status, 0);
    }
    child.pid = 0;
    char *const texts[] = {child.out, child.err};
    const size_t bytes[] = {sizeof child.out, sizeof child.err};
    for (int i = 0; i < 2; i++) {
        rewind(child.streams[i]);
        texts[i][fread(texts[i], 1, bytes[i] - 1, child.streams[i])] = '\0';
        fclose(child.streams[i]);
    }
    child.exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (!ended)
        fail_msg("%s\nhangs; it printed\n%s%s", child.command, child.out, child.err);
    child_no_orphans();
}

static inline void child_expect(int exit)
{
    if (child.exit != exit)
        fail_msg("%s\nexit %d, expected %d; it printed\n%s%s", child.command, child.exit, exit, child.out,
                 child.err);
}

static inline void child_says(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("%s\n'%s' is not in what it printed:\n%s", child.command, words, text);
}

/* It judged: `words` are on stdout, stderr is silent. */
static inline void child_judged(int exit, const char *words)
{
    child_wait();
    child_expect(exit);
    child_says(child.out, words);
    if (*child.err)
        fail_msg("%s\nprinted on stderr: %s", child.command, child.err);
}

/* It could not: one line on stderr, with `words`. */
static inline void child_refused(int exit, const char *words)
{
    child_wait();
    child_expect(exit);
    child_says(child.err, words);
    if (strncmp(child.err, "samplegate: ", 12) ||
        strchr(child.err, '\n') != child.err + strlen(child.err) - 1)
        fail_msg("%s\nprinted something else than one line of samplegate's:\n%s", child.command, child.err);
}

/* A wrong argument: one sentence with `words`, and where help is, as every command of argp's says it. */
static inline void child_usage(const char *words)
{
    child_wait();
    child_expect(2);
    child_says(child.err, words);
    const char *second = strchr(child.err, '\n');
    if (strncmp(child.err, "samplegate ", 11) || !second || strncmp(second, "\nTry `samplegate ", 17))
        fail_msg("%s\nprinted something else than a sentence and where help is:\n%s", child.command,
                 child.err);
    assert_string_equal(child.out, "");
}

static inline void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Owned: free. */
static inline char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s\nwrote no %s", child.command, path);
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getdelim(&text, &room, '\0', file);
    fclose(file);
    return length < 0 ? strdup("") : text;
}

/* FOLDER/results.jsonl is whole: JSON on every line, a verdict on the last, this one. Returns the state of a
 * cell in it: static storage, "" if the cell is not there. */
static inline const char *report_state(const char *folder, const char *verdict, const char *cell)
{
    static char state[32];
    char path[512];
    bool ends = false;
    snprintf(path, sizeof path, "%s/results.jsonl.partial", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    char *text = read_text(path);
    *state = '\0';
    for (char *save, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        cJSON *event = cJSON_Parse(line);
        if (!event)
            fail_msg("%s\nwrote a line that is not JSON: %s", child.command, line);
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(event, "cell")),
                   *now = cJSON_GetStringValue(cJSON_GetObjectItem(event, "state")),
                   *word = cJSON_GetStringValue(cJSON_GetObjectItem(event, "verdict"));
        if (name && now && !strcmp(name, cell))
            snprintf(state, sizeof state, "%s", now);
        ends = word && !strcmp(word, verdict);
        cJSON_Delete(event);
    }
    free(text);
    if (!ends)
        fail_msg("%s\n%s does not end in the verdict %s", child.command, path, verdict);
    return state;
}

/* What a run that judged nothing leaves in its --out folder. */
static inline void report_absent(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    strcat(path, ".partial");
    assert_int_not_equal(access(path, F_OK), 0);
}

static char child_folder[PATH_MAX];

/* Group setup: a scratch folder to be in, $B, and the duty of a parent to orphans. */
static inline int child_scratch(void **state)
{
    (void)state;
    char build[PATH_MAX];
    const char *given = getenv("SAMPLEGATE_BUILD"), *base = getenv("TMPDIR");
    if (!given || !realpath(given, build)) {
        fprintf(stderr, "SAMPLEGATE_BUILD must name the folder of the built programs; it %s%s\n",
                given ? "is " : "is not set", given ? given : "");
        return -1;
    }
    setenv("B", build, 1);
    unsetenv("MAKEFLAGS");
    setenv("NO_COLOR", "1", 1);
    snprintf(child_folder, sizeof child_folder, "%s/samplegate-XXXXXX", base ? base : "/tmp");
    return !mkdtemp(child_folder) || chdir(child_folder) || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) ? -1
                                                                                                      : 0;
}

static inline int child_sweep(void **state)
{
    (void)state;
    child_abandon();
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", child_folder);
    return chdir("/") || system(command) ? -1 : 0;
}
#endif
