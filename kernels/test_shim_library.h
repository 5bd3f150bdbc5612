/* test_shim_library.h: load what the build made of a .cu file for a test, and see a child's end.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_TEST_SHIM_LIBRARY_H
#define SAMPLEGATE_TEST_SHIM_LIBRARY_H
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* BUILD/tests/NAME; this test is BUILD/tests/kernels/test_*. Stays loaded. */
static inline void *shim_library(const char *name)
{
    char path[4096 + 64];
    const ssize_t length = readlink("/proc/self/exe", path, 4096);
    assert_true(length > 0);
    path[length] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(path, '/') = '\0';
    snprintf(path + strlen(path), 64, "/%s", name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return library;
}

static inline void *shim_library_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        fail_msg("%s", dlerror());
    return symbol;
}

/* In a child: what the shim said, on stderr. */
static inline void shim_child_says(const char *why)
{
    fprintf(stderr, "%s\n", why ? why : "no error");
    _exit(0);
}

/* Run `child` in a process of its own. An overflow is caught by the shim, which says `words`; or, when this
 * is built with AddressSanitizer, by that, at a line of `file`. */
static inline void shim_overflow_expect(void (*child)(void), const char *words, const char *file)
{
    int error[2];
    assert_int_equal(pipe(error), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(error[1], STDERR_FILENO);
        close(error[0]);
        child();
        _exit(1);
    }
    close(error[1]);
    char text[1 << 16];
    size_t used = 0;
    for (ssize_t got;
         used < sizeof text - 1 && (got = read(error[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(error[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
#ifdef __SANITIZE_ADDRESS__
    (void)words;
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 0 ||
        !strstr(text, "AddressSanitizer: use-after-poison") || !strstr(text, file))
        fail_msg("AddressSanitizer did not stop it in %s:\n%s", file, text);
#else
    (void)file;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !strstr(text, words))
        fail_msg("'%s', not '%s'", text, words);
#endif
}
#endif
