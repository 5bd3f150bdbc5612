/* plugin.c: a sampler in a shared object behind the host.
 *
 * The plug-in is a stranger: its table is checked before use, and every token buffer is poisoned and fenced,
 * so that a token it did not write or a write past the buffer becomes an error that names the draw. What it
 * does to the process (a crash, an endless loop) is the judge's to notice. SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FENCE 256            /* words before and after the tokens */
#define POISON (-0x5a5a5a5b) /* neither an id nor -1 */

struct plugin {
    void *library;
    const struct samplegate_plugin *table;
    void *instance;
    int64_t prepared_draws, prepared_rows, prepared_columns;
    int64_t room;        /* draws a call that the buffers below can hold */
    int32_t *buffer;     /* [FENCE + room + FENCE] */
    int32_t *row_zero;   /* [room] */
    double *temperature; /* [room] */
};

static const char *status_word(int status)
{
    return status == SAMPLEGATE_UNSUPPORTED ? "UNSUPPORTED"
           : status == SAMPLEGATE_INVALID   ? "INVALID"
           : status == SAMPLEGATE_FAILED    ? "FAILED"
                                            : "a status that samplegate.h does not have";
}

static enum host_answer status_answer(const char *function, int status, struct host_text *why)
{
    if (status == SAMPLEGATE_OK)
        return HOST_TOKENS;
    host_say(why, "the plug-in's %s() answered %s (%d)", function, status_word(status), status);
    return status == SAMPLEGATE_UNSUPPORTED ? HOST_UNSUPPORTED : HOST_ERROR;
}

static enum host_answer plugin_prepare(struct plugin *plugin, const struct host_request *request,
                                       struct host_text *why)
{
    int64_t draws = request->batch < request->draws ? request->batch : request->draws;
    if (draws > plugin->room) {
        plugin->room = draws;
        plugin->buffer =
            host_memory(realloc(plugin->buffer, (size_t)(draws + 2 * FENCE) * sizeof *plugin->buffer));
        plugin->temperature =
            host_memory(realloc(plugin->temperature, (size_t)draws * sizeof *plugin->temperature));
        free(plugin->row_zero);
        plugin->row_zero = host_memory(calloc((size_t)draws, sizeof *plugin->row_zero));
    }
    if (draws <= plugin->prepared_draws && request->rows <= plugin->prepared_rows &&
        request->columns <= plugin->prepared_columns)
        return HOST_TOKENS;
    plugin->prepared_draws = draws > plugin->prepared_draws ? draws : plugin->prepared_draws;
    plugin->prepared_rows = request->rows > plugin->prepared_rows ? request->rows : plugin->prepared_rows;
    plugin->prepared_columns =
        request->columns > plugin->prepared_columns ? request->columns : plugin->prepared_columns;
    if (!plugin->table->prepare)
        return HOST_TOKENS;
    return status_answer("prepare",
                         plugin->table->prepare(plugin->instance, plugin->prepared_draws,
                                                plugin->prepared_rows, plugin->prepared_columns),
                         why);
}

static void call_fill(struct samplegate_call *call, struct plugin *plugin, const struct host_request *request,
                      int64_t first, int64_t draws)
{
    *call = (struct samplegate_call){.size = sizeof *call, .options = request->options};
    call->values = (struct samplegate_tensor){.size = sizeof call->values,
                                              .data = request->values,
                                              .dtype = (int32_t)request->dtype,
                                              .device = SAMPLEGATE_CPU,
                                              .rows = request->rows,
                                              .columns = request->columns,
                                              .row_stride = request->columns};
    call->values_kind = (int32_t)request->kind;
    call->draws = draws;
    call->row_index = request->row_index ? request->row_index + first : plugin->row_zero;
    call->noise = request->noise ? request->noise + first * request->columns : NULL;
    call->seed = request->seeds ? request->seeds + first : NULL;
    call->position = request->positions ? request->positions + first : NULL;
    if (request->options & SAMPLEGATE_TEMPERATURE) {
        for (int64_t d = 0; d < draws; d++)
            plugin->temperature[d] = host_request_temperature(request, first + d);
        call->temperature = plugin->temperature;
    }
    call->token = plugin->buffer + FENCE;
}

/* After a call of draws first .. first + draws - 1: were all tokens written, and nothing else? */
static enum host_answer buffer_check(const int32_t *buffer, int64_t first, int64_t draws,
                                     struct host_text *why)
{
    const int32_t *before = buffer, *token = buffer + FENCE, *after = token + draws;
    for (int i = 0; i < FENCE; i++)
        if (before[i] != POISON || after[i] != POISON) {
            host_say(why,
                     "the plug-in wrote %s its token buffer in the call of draws %" PRId64 " to %" PRId64
                     " of the chunk",
                     before[i] != POISON ? "before" : "past the end of", first, first + draws - 1);
            return HOST_ERROR;
        }
    for (int64_t d = 0; d < draws; d++)
        if (token[d] == POISON) {
            host_say(why,
                     "the plug-in answered OK but wrote no token for draw %" PRId64
                     " of the chunk (draw %" PRId64 " of a call of %" PRId64 ")",
                     first + d, d, draws);
            return HOST_ERROR;
        }
    return HOST_TOKENS;
}

static enum host_answer plugin_sample(void *self, const struct host_request *request, int32_t *token,
                                      struct host_text *why)
{
    struct plugin *plugin = self;
    enum host_answer answer = plugin_prepare(plugin, request, why);
    if (answer == HOST_TOKENS)
        answer = status_answer("reset", plugin->table->reset(plugin->instance, request->seed), why);
    for (int64_t first = 0; answer == HOST_TOKENS && first < request->draws; first += request->batch) {
        int64_t draws = request->draws - first < request->batch ? request->draws - first : request->batch;
        struct samplegate_call call;
        call_fill(&call, plugin, request, first, draws);
        for (int64_t i = 0; i < draws + 2 * FENCE; i++)
            plugin->buffer[i] = POISON;
        answer = status_answer("sample", plugin->table->sample(plugin->instance, &call), why);
        if (answer == HOST_TOKENS)
            answer = buffer_check(plugin->buffer, first, draws, why);
        if (answer == HOST_TOKENS)
            memcpy(token + first, plugin->buffer + FENCE, (size_t)draws * sizeof *token);
    }
    return answer;
}

static void plugin_close(void *self)
{
    struct plugin *plugin = self;
    if (plugin->instance)
        plugin->table->close(plugin->instance);
    if (plugin->library)
        dlclose(plugin->library);
    free(plugin->buffer);
    free(plugin->row_zero);
    free(plugin->temperature);
    free(plugin);
}

static int plugin_load(struct plugin *plugin, const char *path, struct host_text *why)
{
    /* dlopen searches the system's folders for a bare name; the user means this folder. */
    char here[4096];
    snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
    plugin->library = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!plugin->library) {
        host_say(why, "cannot load %s", dlerror());
        return -1;
    }
    samplegate_plugin_function function = NULL;
    *(void **)&function = dlsym(plugin->library, SAMPLEGATE_PLUGIN_SYMBOL);
    if (!function) {
        host_say(why, "%s exports no function %s: not a samplegate plug-in", path, SAMPLEGATE_PLUGIN_SYMBOL);
        return -1;
    }
    const struct samplegate_plugin *table = function();
    if (!table || table->size < offsetof(struct samplegate_plugin, reserved)) {
        host_say(why, "%s: %s() returned no table", path, SAMPLEGATE_PLUGIN_SYMBOL);
        return -1;
    }
    if (table->abi_version != SAMPLEGATE_ABI_VERSION) {
        host_say(why, "%s was built for plug-in ABI %" PRIu32 "; this host has %u", path, table->abi_version,
                 SAMPLEGATE_ABI_VERSION);
        return -1;
    }
    if (table->size < sizeof *table) {
        host_say(why, "%s: its struct samplegate_plugin has %zu bytes; ABI %u has %zu", path, table->size,
                 SAMPLEGATE_ABI_VERSION, sizeof *table);
        return -1;
    }
    if (!table->name || !table->version || !table->open || !table->sample || !table->reset || !table->close) {
        host_say(why, "%s: its table lacks one of name, version, open, sample, reset, close", path);
        return -1;
    }
    if (!(table->capabilities & (SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES))) {
        host_say(why, "%s takes neither logits nor probabilities", path);
        return -1;
    }
    plugin->table = table;
    return 0;
}

static int plugin_start(struct plugin *plugin, const char *path, char **options, int count,
                        struct host_text *why)
{
    size_t bytes = 1;
    for (int i = 0; i < count; i++)
        bytes += strlen(options[i]) + 1;
    char *text = host_memory(calloc(bytes, 1)), *end = text;
    for (int i = 0; i < count; i++) {
        end = stpcpy(end, i ? "," : "");
        end = stpcpy(end, options[i]);
    }
    char error[512] = "";
    int status = plugin->table->open(text, SAMPLEGATE_CPU, &plugin->instance, error, sizeof error);
    free(text);
    if (status == SAMPLEGATE_OK)
        return 0;
    error[sizeof error - 1] = '\0';
    error[strcspn(error, "\n")] = '\0';
    plugin->instance = NULL;
    host_say(why, "%s: open() answered %s: %s", path, status_word(status),
             error[0] ? error : "(no reason given)");
    return -1;
}

int host_plugin_open(struct host_sut *sut, const char *path, char **options, int count, struct host_text *why)
{
    struct plugin *plugin = host_memory(calloc(1, sizeof *plugin));
    /* The hash first: a missing file is then told in the system's words. */
    if (host_hello_file(sut, path, why) || plugin_load(plugin, path, why) ||
        plugin_start(plugin, path, options, count, why)) {
        plugin_close(plugin);
        return -1;
    }
    const struct samplegate_plugin *table = plugin->table;
    frame_set(&sut->hello, "name", table->name);
    frame_set(&sut->hello, "version", table->version);
    frame_set(&sut->hello, "device", "cpu");
    frame_set(&sut->hello, "dtype", "f32");
    frame_set(&sut->hello, "contract", table->contract ? table->contract : "{}");
    sut->capabilities = table->capabilities;
    host_hello_capabilities(sut, false);
    host_hello_build(sut);
    sut->self = plugin;
    sut->sample = plugin_sample;
    sut->close = plugin_close;
    return 0;
}
