/* engine.c: an engine's routing and defaults behind the host: it answers questions and draws no tokens.
 *
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/sut/engines/ask.h"
#include "suite/sut/host/builtin.h"

#define ENGINE_DEFAULT "sglang-0.5.20"

static enum host_answer engine_sut_ask(void *self, const char *questions, char **answers,
                                       struct host_text *why)
{
    const struct engine *const *engine = self;
    struct engine_why reason;
    enum engine_reply reply = engine_ask(*engine, questions, answers, &reason);
    if (reply == ENGINE_ANSWERED)
        return HOST_ANSWERED;
    host_say(why, "%s", reason.text);
    return reply == ENGINE_UNSUPPORTED ? HOST_UNSUPPORTED : HOST_ERROR;
}

static const struct engine *named(const char *name, struct host_text *why)
{
    const struct engine *engine = engine_find(name);
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < engine_count; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", engine_table[i]->name);
    if (!engine)
        host_say(why, "engine '%.64s' is not known; known:%s; or PATH.so,id=ID", name, known);
    return engine;
}

/* PATH.so exports samplegate_engine(id). The library stays loaded: its engine is used until the end. */
static const struct engine *loaded(const char *path, const char *id, struct host_text *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    engine_function function = NULL;
    if (!library) {
        host_say(why, "cannot load %s", dlerror());
        return NULL;
    }
    *(void **)&function = dlsym(library, ENGINE_SYMBOL);
    if (!function) {
        host_say(why, "%s exports no function " ENGINE_SYMBOL ": no engine", path);
        return NULL;
    }
    const struct engine *engine = function(id);
    if (!engine)
        host_say(why, "%s has no engine id=%.64s", path, id);
    else if (engine->size != sizeof *engine)
        host_say(why, "%s: its struct engine has %zu bytes, this host's has %zu", path, engine->size,
                 sizeof *engine);
    return engine && engine->size == sizeof *engine ? engine : NULL;
}

static void hello(struct host_sut *sut, const struct engine *engine)
{
    char readings[128] = "", contract[256];
    size_t used = 0;
    for (int i = 0; i < ENGINE_READINGS; i++)
        used += (size_t)snprintf(readings + used, sizeof readings - used, "%s%s", i ? " " : "",
                                 engine_reading_names[i]);
    snprintf(contract, sizeof contract, "{\"engine\": \"%s\", \"readings\": \"%s\"}", engine->name, readings);
    frame_set(&sut->hello, "name", engine->name);
    frame_set(&sut->hello, "version", HOST_VERSION);
    frame_set(&sut->hello, "device", "cpu");
    frame_set(&sut->hello, "takes", "");
    frame_set(&sut->hello, "dtype", "f32");
    frame_set(&sut->hello, "capabilities", "route resolve");
    frame_set(&sut->hello, "contract", contract);
    host_hello_build(sut);
}

int host_engine_open(struct host_sut *sut, const char *word, char **options, int count, struct host_text *why)
{
    const char *name = strchr(word, ':') ? strchr(word, ':') + 1 : ENGINE_DEFAULT;
    const bool file = strchr(name, '/') != NULL;
    const int taken = file && count > 0 && strncmp(options[0], "id=", 3) == 0;
    if (count > taken) {
        host_say(why, "option '%.64s' is not known to %s; known: %s", options[taken], word,
                 file ? "id=ID" : "none");
        return -1;
    }
    if (file && host_hello_file(sut, name, why))
        return -1;
    const struct engine *engine = file ? loaded(name, taken ? options[0] + 3 : "", why) : named(name, why);
    if (!engine)
        return -1;
    hello(sut, engine);
    const struct engine **self = host_memory(malloc(sizeof *self));
    *self = engine;
    sut->self = self;
    sut->ask = engine_sut_ask;
    sut->close = free;
    return file ? 0 : builtin_file(sut, why);
}
