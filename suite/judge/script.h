/* script.h: what a cell asks a sampler where counts would not do: a list of messages, and each one's whole answer.
 *
 * Families equivalence and agreement count draws; every other family builds a script for each stage (family.h) and its
 * checks read the answers. Lines may be sent to any of a run's workers, in any order. */
#ifndef SAMPLEGATE_SCRIPT_H
#define SAMPLEGATE_SCRIPT_H
#include <stdbool.h>
#include "suite/oracle/law.h"
#include "suite/sut/protocol/frame.h"

enum line_state {
    LINE_PENDING,
    LINE_ANSWERED,
    LINE_UNSUPPORTED, /* the sampler does not do this: `text` */
    LINE_REFUSED      /* answered by an error, where may_refuse allows it: `text` */
};

struct script_line {
    char name[48];         /* unique in its script */
    bool fresh;            /* for a process that has answered nothing before */
    bool may_refuse;       /* an error is an answer; else it makes the cell an error */
    uint64_t batch, draws; /* draws 0: a question, no tokens */
    size_t rows, columns;  /* of its values */
    size_t questions;      /* that it asks, for the report */
    struct frame request;  /* its arrays are the script's memory, or outlive it */
    enum line_state state;
    struct frame answer;  /* owns what follows, unless a recording does */
    const int32_t *token; /* [draws] as they came: not checked for range */
    const uint8_t *kept;  /* [rows, columns], NULL if not asked for */
    const char *text;     /* the answer to a question; or why it is unsupported or refused */
};

/* Zero-initialise; script_free. */
struct script {
    struct script_line *line;
    size_t lines;
    void **memory;
    size_t memories;
};
void script_free(struct script *script);

/* Zeroed; freed with the script. */
void *script_memory(struct script *script, size_t bytes);
/* A sample message: `draws` tokens, `batch` a call. Keys and arrays of frame.h's table may be added to its request;
 * where it sets "kept", the answer must have it. The pointer is valid until the next line. */
struct script_line *script_sample(struct script *script, const char *name, uint64_t batch, uint64_t draws,
                                  uint64_t seed);
/* values[rows, columns], each exactly representable in dtype; copied. */
void script_values(struct script *script, struct script_line *line, enum value_kind kind,
                   enum value_dtype dtype, const float *values, size_t rows, size_t columns);
/* A question: JSON text, answered by JSON text. */
struct script_line *script_ask(struct script *script, const char *name, const char *question);
/* NULL if there is no such line. */
const struct script_line *script_find(const struct script *script, const char *name);
/* All draws of its lines. */
uint64_t script_draws(const struct script *script);
/* How many of its lines were answered "unsupported". */
size_t script_unsupported(const struct script *script);

/* Both ask for as much, under the same names. */
bool script_alike(const struct script *a, const struct script *b);
/* Name the cell, stage and place of every line in its request. */
void script_address(struct script *script, const char *cell, int stage);
/* Read the answer to a line: false, with why, if it is none. It borrows from `answer`. */
bool script_take(struct script_line *line, const struct frame *answer, char *why, size_t why_bytes);
#endif
