/* hello.c: what a host says about its sampler: capabilities in words, versions, and hashes of files.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void host_say(struct host_text *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(why->text, sizeof why->text, format, list);
    va_end(list);
}

void *host_memory(void *memory)
{
    if (!memory) {
        fprintf(stderr, "samplegate-host: out of memory\n");
        abort();
    }
    return memory;
}

static const struct {
    uint64_t bit;
    const char *word;
} option_word[] = {
    {SAMPLEGATE_TAKES_LOGITS, "logits"},
    {SAMPLEGATE_TAKES_PROBABILITIES, "probabilities"},
    {SAMPLEGATE_TEMPERATURE, "temperature"},
    {SAMPLEGATE_NOISE_IN, "noise"},
    {SAMPLEGATE_SEEDED, "seeded"},
    {SAMPLEGATE_TOP_K, "top_k"},
    {SAMPLEGATE_TOP_P, "top_p"},
    {SAMPLEGATE_MIN_P, "min_p"},
    {SAMPLEGATE_PENALTIES, "penalties"},
    {SAMPLEGATE_LOGIT_BIAS, "logit_bias"},
    {SAMPLEGATE_ALLOWED_MASK, "allowed_mask"},
    {SAMPLEGATE_MIN_TOKENS, "min_tokens"},
    {SAMPLEGATE_LOGPROB_OUT, "logprob_out"},
    {SAMPLEGATE_KEPT_OUT, "kept_out"},
    {SAMPLEGATE_PATH_OUT, "path_out"},
};

void host_option_words(uint64_t options, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof option_word / sizeof *option_word; i++)
        if (options & option_word[i].bit && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? " " : "", option_word[i].word);
}

void host_hello_capabilities(struct host_sut *sut, bool probabilities_first)
{
    const uint64_t both = SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES;
    char text[256];
    host_option_words(sut->capabilities & both, text, sizeof text);
    if (probabilities_first && (sut->capabilities & both) == both)
        strcpy(text, "probabilities logits");
    frame_set(&sut->hello, "takes", text);
    host_option_words(sut->capabilities & ~both, text, sizeof text);
    frame_set(&sut->hello, "capabilities", text);
}

void host_hello_build(struct host_sut *sut)
{
    frame_set(&sut->hello, "version:samplegate-host", HOST_VERSION);
#ifdef __clang__
    frame_set(&sut->hello, "version:compiler", __VERSION__);
#else
    frame_set(&sut->hello, "version:compiler", "gcc " __VERSION__);
#endif
}

/* A pipe would be waited for, and a device may have no end. NULL, and why. */
static FILE *open_file(const char *path, struct host_text *why)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = NULL;
    if (fd < 0)
        host_say(why, "cannot open %s: %s", path, strerror(errno));
    else if (fstat(fd, &about) || S_ISDIR(about.st_mode))
        host_say(why, "cannot read %s: %s", path, strerror(S_ISDIR(about.st_mode) ? EISDIR : errno));
    else if (!S_ISREG(about.st_mode))
        host_say(why, "cannot read %s: it is no regular file", path);
    else
        file = host_memory(fdopen(fd, "rb"));
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

int host_hello_file(struct host_sut *sut, const char *path, struct host_text *why)
{
    FILE *file = open_file(path, why);
    if (!file)
        return -1;
    EVP_MD_CTX *hash = host_memory(EVP_MD_CTX_new());
    EVP_DigestInit_ex(hash, EVP_sha256(), NULL);
    unsigned char piece[1 << 16], digest[32];
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, file)) > 0)
        EVP_DigestUpdate(hash, piece, got);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    EVP_DigestFinal_ex(hash, digest, NULL);
    EVP_MD_CTX_free(hash);
    if (failed) {
        host_say(why, "cannot read %s: %s", path, strerror(failed));
        return -1;
    }
    char hex[65];
    for (int i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    size_t key_bytes = strlen(path) + sizeof "file:";
    char *key = host_memory(malloc(key_bytes));
    snprintf(key, key_bytes, "file:%s", path);
    frame_set(&sut->hello, key, hex);
    free(key);
    return 0;
}

void host_sut_close(struct host_sut *sut)
{
    if (sut->close)
        sut->close(sut->self);
    frame_free(&sut->hello);
}
