/* question.h: one question while it is being answered; internal to ask.c and ask_step.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ENGINE_QUESTION_H
#define SAMPLEGATE_ENGINE_QUESTION_H
#include "suite/sut/engines/ask.h"

struct question {
    const cJSON *at;
    const struct engine *engine;
    enum engine_reading reading;
    enum engine_endpoint endpoint;
    struct engine_server server;
    cJSON *answer; /* an object, filled in */
    struct engine_why *why;
};

/* 0, or -1: malformed, and why. */
int question_history(struct question *question);
int question_forks(struct question *question);
int question_draw(struct question *question);
int question_tensors(struct question *question);
int question_rows(struct question *question);
int question_candidates(struct question *question);

void question_put_text(cJSON *to, const char *key, const char *text);
void question_put_values(cJSON *to, const char *key, const struct engine_values *values);
void question_put_refusal(cJSON *to, const struct engine_refusal *refusal);
/* The path of `rows` requests under these flags, or why they have none; `whole`: with what its name hides. */
void question_put_path(const struct question *question, cJSON *to, const struct engine_flags *flags,
                       size_t rows, bool whole);
/* The flags of a request; -1 where it is refused, which is then the answer. */
int question_prepare(const struct question *question, const struct engine_values *request,
                     struct engine_flags *flags);
/* Parameters at the question's endpoint. */
int question_read_request(const struct question *question, const cJSON *at, const char *place,
                          struct engine_values *request);
/* A member that must be an array; NULL with why. */
const cJSON *question_array(const struct question *question, const cJSON *at, const char *place,
                            const char *key);
#endif
