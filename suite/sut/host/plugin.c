/* plugin.c: a sampler in a shared object behind the host.
 *
 * The plug-in is a stranger: its table is checked before use, and every token buffer is poisoned and fenced,
 * so that a token it did not write or a write past the buffer becomes an error that names the draw. What it
 * does to the process (a crash, an endless loop) is the judge's to notice. SPDX-License-Identifier: MIT */
#include "suite/sut/host/plugin_device.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FENCE 256            /* words before and after the tokens */
#define POISON (-0x5a5a5a5b) /* neither an id nor -1 */
#define KEPT_POISON 0x5a     /* neither 0 nor 1 */
enum { TEMPERATURE, TOP_P, MIN_P, REPETITION, FREQUENCY, PRESENCE, NUMBERS };
enum { TOP_K, MIN_TOKENS, INTEGERS };

struct plugin {
    void *library;
    const struct samplegate_plugin *table;
    void *instance;
    struct plugin_device *device; /* NULL: it samples on the CPU */
    int64_t prepared_draws, prepared_rows, prepared_columns;
    int64_t room;       /* draws a call that the buffers below can hold */
    int32_t *buffer;    /* [FENCE + room + FENCE] */
    int32_t *row_zero;  /* [room] */
    double *numbers;    /* [NUMBERS, room] */
    int64_t *integers;  /* [INTEGERS, room] */
    uint8_t *kept;      /* [rows, columns] of the message in work, and which rows of it have been answered */
    uint8_t *kept_done; /* [rows] */
    struct samplegate_call timed_call,
        timed_lent; /* the call being timed, on the host and as the plug-in sees it */
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
        plugin->numbers =
            host_memory(realloc(plugin->numbers, NUMBERS * (size_t)draws * sizeof *plugin->numbers));
        plugin->integers =
            host_memory(realloc(plugin->integers, INTEGERS * (size_t)draws * sizeof *plugin->integers));
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

static const double *numbers_fill(struct plugin *plugin, int which, const struct host_numbers *numbers,
                                  double off, int64_t first, int64_t draws)
{
    double *to = plugin->numbers + which * plugin->room;
    for (int64_t d = 0; d < draws; d++)
        to[d] = host_number(numbers, first + d, off);
    return to;
}

static const int64_t *integers_fill(struct plugin *plugin, int which, const struct host_integers *integers,
                                    int64_t off, int64_t first, int64_t draws)
{
    int64_t *to = plugin->integers + which * plugin->room;
    for (int64_t d = 0; d < draws; d++)
        to[d] = host_integer(integers, first + d, off);
    return to;
}

/* The parameters that the message asks for; the others stay NULL. */
static void call_fill_parameters(struct samplegate_call *call, struct plugin *plugin,
                                 const struct host_request *request, int64_t first, int64_t draws)
{
    const uint64_t options = request->options;
    const struct host_numbers temperature = {request->temperature, request->temperatures};
    if (options & SAMPLEGATE_TEMPERATURE)
        call->temperature = numbers_fill(plugin, TEMPERATURE, &temperature, 1, first, draws);
    if (options & SAMPLEGATE_TOP_K)
        call->top_k = integers_fill(plugin, TOP_K, &request->top_k, -1, first, draws);
    if (options & SAMPLEGATE_TOP_P)
        call->top_p = numbers_fill(plugin, TOP_P, &request->top_p, 1, first, draws);
    if (options & SAMPLEGATE_MIN_P)
        call->min_p = numbers_fill(plugin, MIN_P, &request->min_p, 0, first, draws);
    if (options & SAMPLEGATE_PENALTIES) {
        call->repetition_penalty =
            numbers_fill(plugin, REPETITION, &request->repetition_penalty, 1, first, draws);
        call->frequency_penalty =
            numbers_fill(plugin, FREQUENCY, &request->frequency_penalty, 0, first, draws);
        call->presence_penalty = numbers_fill(plugin, PRESENCE, &request->presence_penalty, 0, first, draws);
    }
    if (options & SAMPLEGATE_MIN_TOKENS)
        call->min_tokens = integers_fill(plugin, MIN_TOKENS, &request->min_tokens, 0, first, draws);
    if (options & SAMPLEGATE_MIN_TOKENS && request->stop.offset) {
        call->stop_ids = request->stop.id;
        call->stop_offsets = request->stop.offset + first;
    }
    if (options & (SAMPLEGATE_PENALTIES | SAMPLEGATE_MIN_TOKENS) && request->prompt.offset) {
        call->prompt_tokens = request->prompt.id;
        call->prompt_offsets = request->prompt.offset + first;
    }
    if (options & (SAMPLEGATE_PENALTIES | SAMPLEGATE_MIN_TOKENS) && request->output.offset) {
        call->output_tokens = request->output.id;
        call->output_offsets = request->output.offset + first;
    }
    call->logit_bias = request->logit_bias;
    call->allowed = request->allowed;
    call->kept = plugin->kept;
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
                                              .row_stride = request->row_stride};
    call->values_kind = (int32_t)request->kind;
    call->draws = draws;
    call->row_index = request->row_index ? request->row_index + first : plugin->row_zero;
    call->noise = request->noise ? request->noise + first * request->columns : NULL;
    call->seed = request->seeds ? request->seeds + first : NULL;
    call->position = request->positions ? request->positions + first : NULL;
    call_fill_parameters(call, plugin, request, first, draws);
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

/* After a call: rows that were drawn from for the first time, checked and handed on. */
static enum host_answer kept_take(struct plugin *plugin, const struct host_request *request,
                                  const struct samplegate_call *call, struct host_text *why)
{
    for (int64_t d = 0; d < call->draws; d++) {
        const int64_t row = call->row_index[d];
        const uint8_t *from = plugin->kept + row * request->columns;
        if (plugin->kept_done[row])
            continue;
        for (int64_t i = 0; i < request->columns; i++)
            if (from[i] > 1) {
                host_say(why, "the plug-in answered OK but kept of row %" PRId64 " has %s at id %" PRId64,
                         row, from[i] == KEPT_POISON ? "nothing written" : "neither 0 nor 1", i);
                return HOST_ERROR;
            }
        memcpy(request->kept + row * request->columns, from, (size_t)request->columns);
        plugin->kept_done[row] = 1;
    }
    return HOST_TOKENS;
}

static void kept_start(struct plugin *plugin, const struct host_request *request)
{
    if (!request->kept)
        return;
    plugin->kept = host_memory(malloc((size_t)request->rows * (size_t)request->columns));
    plugin->kept_done = host_memory(calloc((size_t)request->rows, 1));
}

static void kept_end(struct plugin *plugin)
{
    free(plugin->kept);
    free(plugin->kept_done);
    plugin->kept = plugin->kept_done = NULL;
}

/* One call on the CPU or on the device, its outputs in the host's memory at the end. */
static enum host_answer call_make(struct plugin *plugin, const struct host_request *request,
                                  const struct samplegate_call *call, bool first_call, struct host_text *why)
{
    const struct plugin_outputs outputs = {plugin->buffer + FENCE, FENCE, plugin->kept};
    struct samplegate_call lent = *call;
    for (int64_t i = 0; i < call->draws + 2 * FENCE; i++)
        plugin->buffer[i] = POISON;
    if (plugin->kept)
        memset(plugin->kept, KEPT_POISON, (size_t)request->rows * (size_t)request->columns);
    if (plugin->device && plugin_device_lend(plugin->device, request, first_call, &outputs, &lent, why))
        return HOST_ERROR;
    enum host_answer answer = status_answer("sample", plugin->table->sample(plugin->instance, &lent), why);
    struct host_text late;
    if (plugin->device && plugin_device_fetch(plugin->device, call, &outputs, &late) &&
        answer == HOST_TOKENS) {
        *why = late;
        return HOST_ERROR;
    }
    return answer;
}

static enum host_answer plugin_sample(void *self, const struct host_request *request, int32_t *token,
                                      struct host_text *why)
{
    struct plugin *plugin = self;
    enum host_answer answer = plugin_prepare(plugin, request, why);
    if (answer == HOST_TOKENS)
        answer = status_answer("reset", plugin->table->reset(plugin->instance, request->seed), why);
    kept_start(plugin, request);
    for (int64_t first = 0; answer == HOST_TOKENS && first < request->draws; first += request->batch) {
        int64_t draws = request->draws - first < request->batch ? request->draws - first : request->batch;
        struct samplegate_call call;
        call_fill(&call, plugin, request, first, draws);
        answer = call_make(plugin, request, &call, first == 0, why);
        if (answer == HOST_TOKENS)
            answer = buffer_check(plugin->buffer, first, draws, why);
        if (answer == HOST_TOKENS && plugin->kept)
            answer = kept_take(plugin, request, &call, why);
        if (answer == HOST_TOKENS)
            memcpy(token + first, plugin->buffer + FENCE, (size_t)draws * sizeof *token);
    }
    kept_end(plugin);
    return answer;
}

static enum host_answer plugin_time_begin(void *self, const struct host_request *request, const char *rule,
                                          struct host_text *why)
{
    struct plugin *plugin = self;
    if (rule) {
        host_say(why, "time: a plug-in has one rule, its own; '%.64s' was asked for", rule);
        return HOST_UNSUPPORTED;
    }
    enum host_answer answer = plugin_prepare(plugin, request, why);
    if (answer == HOST_TOKENS)
        answer = status_answer("reset", plugin->table->reset(plugin->instance, request->seed), why);
    if (answer != HOST_TOKENS)
        return answer;
    call_fill(&plugin->timed_call, plugin, request, 0, request->draws);
    plugin->timed_lent = plugin->timed_call;
    for (int64_t i = 0; i < request->draws + 2 * FENCE; i++)
        plugin->buffer[i] = POISON;
    const struct plugin_outputs outputs = {plugin->buffer + FENCE, FENCE, NULL};
    return plugin->device &&
                   plugin_device_lend(plugin->device, request, true, &outputs, &plugin->timed_lent, why)
               ? HOST_ERROR
               : HOST_TOKENS;
}

static enum host_answer plugin_time_call(void *self, uint64_t index, struct host_text *why)
{
    struct plugin *plugin = self;
    (void)index; /* its noise goes on by itself */
    return status_answer("sample", plugin->table->sample(plugin->instance, &plugin->timed_lent), why);
}

static enum host_answer plugin_time_wait(void *self, struct host_text *why)
{
    return plugin_device_wait(((struct plugin *)self)->device, why) ? HOST_ERROR : HOST_TOKENS;
}

/* The fence and the poison are looked at once: they would show in any call. */
static enum host_answer plugin_time_end(void *self, int32_t *token, struct host_text *why)
{
    struct plugin *plugin = self;
    const struct samplegate_call *call = &plugin->timed_call;
    const struct plugin_outputs outputs = {plugin->buffer + FENCE, FENCE, NULL};
    if (plugin->device && plugin_device_fetch(plugin->device, call, &outputs, why))
        return HOST_ERROR;
    memcpy(token, plugin->buffer + FENCE, (size_t)call->draws * sizeof *token);
    return buffer_check(plugin->buffer, 0, call->draws, why);
}

static void plugin_close(void *self)
{
    struct plugin *plugin = self;
    if (plugin->instance)
        plugin->table->close(plugin->instance);
    plugin_device_close(plugin->device);
    if (plugin->library)
        dlclose(plugin->library);
    free(plugin->buffer);
    free(plugin->row_zero);
    free(plugin->numbers);
    free(plugin->integers);
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

/* The host's own option; 1 if it is another. */
static int device_option(struct plugin *plugin, const char *option, struct host_text *why)
{
    if (strncmp(option, "device=", 7) != 0)
        return 1;
    if (strcmp(option, "device=cpu") == 0)
        return 0;
    if (strcmp(option, "device=cuda") != 0) {
        host_say(why, "%.128s is not known; known: device=cpu, device=cuda", option);
        return -1;
    }
    if (!plugin->device)
        plugin->device = plugin_device_open(why);
    return plugin->device ? 0 : -1;
}

static int plugin_start(struct plugin *plugin, const char *path, char **options, int count,
                        struct host_text *why)
{
    size_t bytes = 1;
    for (int i = 0; i < count; i++)
        bytes += strlen(options[i]) + 1;
    char *text = host_memory(calloc(bytes, 1)), *end = text;
    for (int i = 0, other; i < count; i++) {
        if ((other = device_option(plugin, options[i], why)) < 0) {
            free(text);
            return -1;
        }
        if (other)
            end = stpcpy(stpcpy(end, end > text ? "," : ""), options[i]);
    }
    char error[512] = "";
    int status = plugin->table->open(text, plugin->device ? SAMPLEGATE_CUDA : SAMPLEGATE_CPU,
                                     &plugin->instance, error, sizeof error);
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
    frame_set(&sut->hello, "device", plugin->device ? plugin_device_name(plugin->device) : "cpu");
    frame_set(&sut->hello, "dtype", "f32");
    frame_set(&sut->hello, "contract", table->contract ? table->contract : "{}");
    sut->capabilities = table->capabilities;
    host_hello_capabilities(sut, false);
    host_hello_build(sut);
    sut->self = plugin;
    sut->sample = plugin_sample;
    frame_set(&sut->hello, "times", "own");
    sut->timed = (struct host_timed){.begin = plugin_time_begin,
                                     .call = plugin_time_call,
                                     .wait = plugin->device ? plugin_time_wait : NULL,
                                     .end = plugin_time_end};
    sut->close = plugin_close;
    return 0;
}
