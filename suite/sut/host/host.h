/* host.h: what the files of samplegate-host share.
 *
 * main.c opens a sampler (reference.c, cuda.c, engine.c or plugin.c), serve.c reads messages, request.c checks one and
 * the sampler answers it; timing.c times it. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_HOST_H
#define SAMPLEGATE_HOST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "suite/sut/protocol/frame.h"
#include "suite/sut/samplegate.h"

#define HOST_VERSION "0.1.0"

/* One line about what went wrong. */
struct host_text {
    char text[1024];
};
__attribute__((format(printf, 2, 3))) void host_say(struct host_text *why, const char *format, ...);

/* A parameter as the message has it: no value (off everywhere), one for all draws, or one a draw. */
struct host_numbers {
    const double *value;
    int64_t count; /* 0, 1 or draws */
};
struct host_integers {
    const int64_t *value;
    int64_t count;
};
/* A list of token ids a draw: ids[offset[d] .. offset[d + 1]). */
struct host_lists {
    const int64_t *id, *offset; /* offset NULL: all are empty */
};

/* A sample message, checked. The arrays are the frame's. */
struct host_request {
    uint64_t options; /* enum samplegate_option: what the sampler must be able to do */
    enum samplegate_values kind;
    enum samplegate_dtype dtype;
    const void *values; /* row r starts row_stride elements after row r - 1 */
    int64_t rows, columns, row_stride, draws, batch;
    uint64_t seed;
    const int32_t *row_index;         /* [draws], or NULL: every draw from row 0 */
    const double *temperature;        /* [temperatures] */
    int64_t temperatures;             /* 0 (all are 1), 1 or draws */
    const float *noise;               /* [draws, columns] or NULL */
    const int64_t *seeds, *positions; /* [draws] or NULL, together */
    struct host_integers top_k, min_tokens;
    struct host_numbers top_p, min_p, repetition_penalty, frequency_penalty, presence_penalty;
    struct host_lists prompt, output, stop;
    const float *logit_bias; /* [rows, columns] or NULL */
    const uint8_t *allowed;  /* [rows, columns] or NULL */
    uint8_t *kept; /* [rows, columns] to be filled, or NULL: not asked for. A row's first draw decides. */
};

/* The first array that no version of this host knows, or NULL: it asks for what would be ignored. */
const char *host_request_unknown(const struct frame *message);
/* 0, or -1 with why. */
int host_request_read(struct host_request *request, const struct frame *message, struct host_text *why);
/* A whole number of the message, low to high. 0, or -1 with why. */
int host_request_number(const struct frame *message, const char *key, uint64_t low, uint64_t high,
                        uint64_t *value, struct host_text *why);
double host_request_temperature(const struct host_request *request, int64_t draw);
/* request_options.c: filters, penalties, masks and lists of a message; and the value for one draw. */
int host_request_options(struct host_request *request, const struct frame *message, struct host_text *why);
double host_number(const struct host_numbers *numbers, int64_t draw, double off);
int64_t host_integer(const struct host_integers *integers, int64_t draw, int64_t off);

/* groups.c: draws of one row under the same parameters. */
struct host_group {
    int64_t *draw; /* [draws], rising */
    int64_t draws, row;
    bool first_of_row; /* it holds the first draw of its row */
};
/* All groups of a message, in *group; their number, at least 1. Owned: host_groups_free. */
int64_t host_groups(const struct host_request *request, struct host_group **group);
void host_groups_free(struct host_group *group);

enum host_answer { HOST_TOKENS, HOST_ANSWERED = HOST_TOKENS, HOST_UNSUPPORTED, HOST_ERROR };

/* How a sampler is timed, message by message: begin, then calls, then end. `request` and its frame outlive them. Each
 * answers HOST_TOKENS, or something else with why. */
struct host_timed {
    /* Everything that a call needs and an engine would have: rows in place, buffers. rule: one of hello's `times`, or NULL
     * for the sampler's own. */
    enum host_answer (*begin)(void *self, const struct host_request *request, const char *rule,
                              struct host_text *why);
    /* One call of request->draws draws; `index` counts the calls of a message, and no two draw the same noise. */
    enum host_answer (*call)(void *self, uint64_t index, struct host_text *why);
    /* Until the device has done all calls. NULL: a call returns when its tokens are there. */
    enum host_answer (*wait)(void *self, struct host_text *why);
    /* token[draws] of the last call, checked as far as the host can. Always called after a begin that succeeded. */
    enum host_answer (*end)(void *self, int32_t *token, struct host_text *why);
};

/* A sampler that has been opened. */
struct host_sut {
    struct frame hello; /* all that the hello message says about it */
    uint64_t capabilities;
    void *self;
    /* token[draws]; why is set unless HOST_TOKENS. NULL: it draws none. */
    enum host_answer (*sample)(void *self, const struct host_request *request, int32_t *token,
                               struct host_text *why);
    /* A JSON array of questions (engines/ask.h) to one of answers, owned: free. NULL: it answers none. */
    enum host_answer (*ask)(void *self, const char *questions, char **answers, struct host_text *why);
    struct host_timed timed; /* begin NULL: it cannot be timed */
    void (*close)(void *self);
};

/* word: "reference" or "reference:RULE"; "cuda" or "cuda:RULE"; "engine" or "engine:NAME" or "engine:PATH.so"; or
 * the path of a plug-in. 0, or -1 with why.
 * Owned: host_sut_close.
 */
int host_reference_open(struct host_sut *sut, const char *word, char **options, int count,
                        struct host_text *why);
int host_cuda_open(struct host_sut *sut, const char *word, char **options, int count, struct host_text *why);
int host_engine_open(struct host_sut *sut, const char *word, char **options, int count,
                     struct host_text *why);
int host_plugin_open(struct host_sut *sut, const char *path, char **options, int count,
                     struct host_text *why);
void host_sut_close(struct host_sut *sut);

/* hello: takes and capabilities in words from the bits, and the versions every hello carries. */
void host_hello_capabilities(struct host_sut *sut, bool probabilities_first);
void host_hello_build(struct host_sut *sut);
/* hello: "file:PATH" = SHA-256 of what lies there. 0, or -1 with why. */
int host_hello_file(struct host_sut *sut, const char *path, struct host_text *why);
/* The words of the bits ("temperature noise"), for messages. */
void host_option_words(uint64_t options, char *text, size_t bytes);

/* timing.c: the rows and parameters that later `time` messages may use again. Zero-initialise; host_timer_free. */
struct host_timer {
    struct frame message;
    struct host_request request;
    bool ready;
};
/* What a `time` message measured. Zero-initialise; host_times_free. */
struct host_times {
    uint64_t calls;
    int64_t *host, *cpu, *sync, *full; /* [calls] nanoseconds; sync and full NULL where calls do not queue */
    int32_t *token;                    /* [draws] */
    int64_t draws;
};
/* Takes the arrays of `message` over if it brings rows. HOST_TOKENS: *times is filled. */
enum host_answer host_time(struct host_timer *timer, const struct host_sut *sut, struct frame *message,
                           struct host_times *times, struct host_text *why);
void host_times_free(struct host_times *times);
void host_timer_free(struct host_timer *timer);

/* Answer messages until the input ends. Exit code of the process. */
int host_serve(struct host_sut *sut, int input, int output);

/* Memory, or the end of the process with a line on stderr. */
void *host_memory(void *memory);
#endif
