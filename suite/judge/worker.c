/* worker.c: start, ask and stop one child process. */
#include "suite/judge/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOMENT 100 /* looks at a child that seems to have ended: half a second */

volatile bool worker_stop_all;

/* After fork: only async-signal-safe calls. On failure the parent reads errno from `report`. */
static _Noreturn void child(const struct spec *spec, char **environment, int in, int out, int errors,
                            int report)
{
    setpgid(0, 0); /* a terminal's Ctrl-C reaches the judge alone, which then stops its workers */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL); /* what is ignored would stay so in the worker */
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(errors, 2) >= 0)
        execvpe(spec->argv[0], spec->argv, environment);
    int code = errno;
    if (write(report, &code, sizeof code) < 0)
        _exit(126);
    _exit(127);
}

/* This process's environment with the spec's variables put in front (the first of a name wins in getenv). */
static char **merged_environment(const struct spec *spec)
{
    extern char **environ;
    size_t mine = 0, theirs = 0;
    while (spec->environment[mine])
        mine++;
    while (environ[theirs])
        theirs++;
    char **merged = calloc(mine + theirs + 1, sizeof *merged);
    if (!merged)
        abort();
    memcpy(merged, spec->environment, mine * sizeof *merged);
    size_t count = mine;
    for (size_t i = 0; i < theirs; i++) {
        bool replaced = false;
        for (size_t j = 0; j < mine; j++)
            replaced |= !strncmp(environ[i], spec->environment[j],
                                 (size_t)(strchr(spec->environment[j], '=') - spec->environment[j]) + 1);
        if (!replaced)
            merged[count++] = environ[i];
    }
    return merged;
}

static int spawn(struct worker *worker, const struct spec *spec, struct trouble *trouble)
{
    *worker = (struct worker){.pid = -1, .in = -1, .out = -1, .errors = tmpfile()};
    int to[2], from[2], report[2];
    if (!worker->errors || fcntl(fileno(worker->errors), F_SETFD, FD_CLOEXEC) || pipe2(to, O_CLOEXEC) ||
        pipe2(from, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
        return trouble_set(trouble, EXIT_USAGE, "%s: cannot start a worker: %s", spec->text, strerror(errno));
    char **environment = merged_environment(spec);
    pid_t pid = fork();
    if (pid == 0)
        child(spec, environment, to[0], from[1], fileno(worker->errors), report[1]);
    free(environment);
    close(to[0]);
    close(from[1]);
    close(report[1]);
    worker->in = to[1];
    worker->out = from[0];
    worker->pid = pid;
    int code = pid < 0 ? errno : 0;
    if (pid > 0) {
        setpgid(pid, pid); /* also here: whoever comes first */
        if (read(report[0], &code, sizeof code) < 0)
            code = 0;
    }
    close(report[0]);
    return code ? trouble_set(trouble, EXIT_USAGE, "%s: cannot run %s: %s", spec->text, spec->argv[0],
                              strerror(code))
                : 0;
}

/* The last lines of the child's stderr, on one line, appended to `why`. */
static void quote_errors(const struct worker *worker, char *why, size_t why_bytes)
{
    char tail[401];
    int fd = fileno(worker->errors);
    off_t end = lseek(fd, 0, SEEK_END), start = end > 400 ? end - 400 : 0;
    ssize_t length = pread(fd, tail, sizeof tail - 1, start);
    if (length <= 0)
        return;
    tail[length] = '\0';
    while (length > 0 && tail[length - 1] == '\n')
        tail[--length] = '\0';
    trouble_flatten(tail);
    size_t used = strlen(why);
    snprintf(why + used, why_bytes - used, "; its stderr ends: %s%s", start ? "..." : "", tail);
}

/* How the child ended, if it did: looked at so many times, 5 ms apart. */
static void describe_end(struct worker *worker, int looks, char *why, size_t why_bytes)
{
    int status = 0;
    for (int i = 0; i < looks && worker->pid > 0; i++) {
        if (waitpid(worker->pid, &status, WNOHANG) == worker->pid) {
            killpg(worker->pid, SIGKILL); /* what it leaves behind */
            worker->pid = -1;
            size_t used = strlen(why);
            if (WIFSIGNALED(status))
                snprintf(why + used, why_bytes - used, " (killed by signal %d, %s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
            else
                snprintf(why + used, why_bytes - used, " (exit %d)", WEXITSTATUS(status));
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* Wait until it begins to answer, dies, or time is up; returns the seconds left. Its own children may hold its end of the pipe, so that no
 * end of file tells of its death. */
static double await(const struct worker *worker, double timeout)
{
    struct pollfd out = {.fd = worker->out, .events = POLLIN};
    double left = timeout;
    for (; left > 0 && !worker_stop_all && poll(&out, 1, 100) <= 0; left -= 0.1) {
        siginfo_t end = {0};
        if (!waitid(P_PID, (id_t)worker->pid, &end, WEXITED | WNOHANG | WNOWAIT) && end.si_pid) {
            killpg(worker->pid, SIGKILL); /* the pipe ends with the last who holds it */
            break;
        }
    }
    return left;
}

/* The whole answer within the time given: half of one that never ends is a hang, too. */
static enum worker_result receive(struct worker *worker, struct frame *reply, double timeout, char *why,
                                  size_t why_bytes)
{
    char detail[256] = "";
    *reply = (struct frame){0};
    double left = await(worker, timeout);
    enum frame_result result =
        frame_read(worker->out, reply, (int)(fmax(left, 0) * 1000), detail, sizeof detail);
    if (result == FRAME_OK)
        return WORKER_OK;
    if (worker_stop_all)
        return WORKER_STOPPED;
    if (result == FRAME_TIMEOUT) {
        snprintf(why, why_bytes, "the worker hangs: no answer within %g s", timeout);
        describe_end(worker, 1, why, why_bytes);
    } else {
        if (result == FRAME_END)
            snprintf(why, why_bytes, "the worker died");
        else
            snprintf(why, why_bytes, "the worker's answer is broken: %s", detail);
        describe_end(worker, MOMENT, why, why_bytes);
    }
    quote_errors(worker, why, why_bytes);
    return WORKER_LOST;
}

enum worker_result worker_ask(struct worker *worker, const struct frame *request, struct frame *reply,
                              double timeout, char *why, size_t why_bytes)
{
    char detail[256] = "";
    enum frame_result sent = frame_write(worker->in, request, (int)(timeout * 1000), detail, sizeof detail);
    if (sent == FRAME_OK)
        return receive(worker, reply, timeout, why, why_bytes);
    if (worker_stop_all)
        return WORKER_STOPPED;
    if (sent == FRAME_TIMEOUT)
        snprintf(why, why_bytes, "the worker hangs: it took no request within %g s", timeout);
    else
        snprintf(why, why_bytes, "the worker died");
    describe_end(worker, MOMENT, why, why_bytes);
    quote_errors(worker, why, why_bytes);
    return WORKER_LOST;
}

int worker_start(struct worker *worker, const struct spec *spec, const struct plan *plan, double timeout,
                 struct sut *sut, struct trouble *trouble)
{
    if (spawn(worker, spec, trouble))
        return -1;
    struct frame request = {0}, reply = {0};
    frame_set(&request, "message", "hello");
    frame_set(&request, "protocol", FRAME_PROTOCOL);
    frame_set(&request, "plan", plan->name);
    frame_set(&request, "plan_sha256", plan->sha256);
    char why[900] = "";
    enum worker_result result = worker_ask(worker, &request, &reply, timeout, why, sizeof why);
    frame_free(&request);
    if (result == WORKER_STOPPED)
        return trouble_set(trouble, EXIT_INTERRUPTED, "interrupted");
    if (result == WORKER_LOST)
        return trouble_set(trouble, EXIT_USAGE, "%s: no hello: %s", spec->text, why);
    return sut_read(sut, &reply, spec->text, trouble);
}

void worker_stop(struct worker *worker)
{
    if (worker->in >= 0)
        close(worker->in);
    if (worker->pid > 0) {
        int status;
        pid_t group = worker->pid;
        for (int i = 0; i < 40 && worker->pid > 0 && !worker_stop_all; i++) {
            if (waitpid(worker->pid, &status, WNOHANG) == worker->pid)
                worker->pid = -1;
            else
                nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        }
        killpg(group, SIGKILL);
        if (worker->pid > 0)
            waitpid(worker->pid, &status, 0);
    }
    if (worker->out >= 0)
        close(worker->out);
    if (worker->errors)
        fclose(worker->errors);
    *worker = (struct worker){.pid = -1, .in = -1, .out = -1};
}
