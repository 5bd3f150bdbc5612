/* ask.h: questions to an engine and its answers, as JSON: how the judge asks any engine, and how ours answer.
 *
 * A question is one object:
 *   {"ask": "path", "server": S, "batch": [R, ...]}        -> P: the path of a batch
 *   {"ask": "history", "server": S, "events": [E, ...]}    -> {"events": [{"prefill": B, "running": B}, ...]}
 *   {"ask": "effective", "server": S, "request": R}        -> {"effective": {NAME: [value, layer], ...}} and P
 *   {"ask": "normalize", "params": R}                      -> {"normalized": {NAME: value, ...}}
 * and, of engines with several sequences a request:
 *   {"ask": "forks", "server": S, "batch": [R, ...]}       -> {"forks": [{"sequences", "drawn", "kept", "preempted",
 *                                                               "last_preempted"}, ...]}: prompts that share a step
 *   {"ask": "tensors", "server": S, "request": R}          -> {"tensors": {NAME: value, ...}}: as the step holds them
 *   {"ask": "draw", "request": R, "steps": ["read" | "clone" | R, ...]} -> {"draws": [NAME, ...]}, one a "read"
 *   {"ask": "rows", "server": S, "fixed": bool, "groups": [{"request": R, "prompt_rows": n, "sequences": [{"prompt":
 *      [id, ...], "output": [id, ...]}, ...]}, ...]}       -> {"rows": [{"prompt", "output"}, ...]}: the tokens that
 *                                                             each row's penalties count; null: they do not run
 *   {"ask": "candidates", "logprobs": [[x, ...], ...], "cumulative": [x, ...], "best_of": n}
 *                                                          -> {"parents": [i, ...], "tokens": [id, ...]}
 * with "engine" and "as" (a reading), and, where it is not /generate, the "endpoint" that requests are sent to.
 *   S: {"switch", "deterministic", "device", "backend", "sampling_defaults", "generation_config": R, "preferred": R,
 *       "transformers": "pinned" or "4" (which fills in defaults of its own), "draft": true (the question is about the
 *       draft sampler), "vocab": columns of the logits, "logits": "f32" | "bf16" | "f16", "preemption": "swap" |
 *       "recompute"}
 *   R: {KEY: value, ...}; a bare number is a float, an integer where an engine takes one (top_k, seed) and the number
 *      is integral; {"float": "0x1p-3"} (or "nan", "inf", "-inf") and {"integer": "9223372036854775807"} say it
 *      exactly; null, true, strings, arrays and {} are themselves
 *   E: {"do": "admit", "id": "a", "request": R}, {"do": "join"}, {"do": "finish", "id": "a"}, {"do": "filter"},
 *      {"do": "mix"} (of engines that mix prompts into the running batch)
 *   P: {"path": "greedy"}, upstream with "seeded" and "backend" too, "noise" where it is seeded ("token" or "rank") and
 *      "top_k_bound" where fewer tokens than the row has are sorted (of a staged engine instead, and always, with
 *      "stages" and "draws", names between spaces); or {"error": text, "status": HTTP status or 0}
 *   B: null without rows, else P and "flags": "Gkpm", the letters of the engine's flags, '-' for each that is not set
 * The request of "effective" may have further members of the body, which can refuse it (struct engine, fields).
 * Whatever refuses the whole question is answered by "error" and "status" alone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ENGINE_ASK_H
#define SAMPLEGATE_ENGINE_ASK_H
#include <cjson/cJSON.h>

#include "suite/sut/engines/engine.h"

enum engine_reply {
    ENGINE_ANSWERED,
    ENGINE_UNSUPPORTED, /* another engine's, or a kind of question not known here */
    ENGINE_MALFORMED    /* no question of the form above */
};
/* "events[2].request: unknown key ..." */
struct engine_why {
    char text[640];
};

/* Questions, the text of a JSON array, to the text of the array of their answers in the same order; owned: free.
 * Unless all are answered, none is, and why. Out of memory aborts. */
enum engine_reply engine_ask(const struct engine *engine, const char *questions, char **answers,
                             struct engine_why *why);

/* read.c: 0, or -1 with why. `place` names `at` in messages; "" is the question itself. */
int engine_read_value(const cJSON *at, const char *place, bool integer, struct engine_value *value,
                      struct engine_why *why);
/* An object of parameters under the keys of this endpoint; ENGINE_ENDPOINTS: under their own names. Keys of other endpoints are read and dropped, as
 * engines do. */
int engine_read_values(const cJSON *at, const char *place, const struct engine *engine,
                       enum engine_endpoint endpoint, struct engine_values *values, struct engine_why *why);
/* The body without the members that are no parameters, which struct engine's check_fields looks at. Owned. */
cJSON *engine_parameters_of(const struct engine *engine, const cJSON *body);
int engine_read_server(const cJSON *at, const char *place, const struct engine *engine,
                       struct engine_server *server, struct engine_why *why);
/* Refuse what is no object, or has a key that is not in the NULL-terminated list. */
int engine_read_keys(const cJSON *at, const char *place, const char *const *keys, struct engine_why *why);
/* The member as an index into names. */
int engine_read_name(const cJSON *at, const char *place, const char *key, const char *const *names,
                     int *index, struct engine_why *why);
/* A count from 1; `what` names it in a message. */
#define ENGINE_VOCAB_MAX ((size_t)1 << 30)
int engine_read_size(const cJSON *at, const char *place, const char *what, size_t most, size_t *size,
                     struct engine_why *why);
int engine_read_text(const cJSON *at, const char *place, const char *key, const char **text,
                     struct engine_why *why);
/* Write why. Returns -1. */
__attribute__((format(printf, 3, 4))) int engine_unreadable(struct engine_why *why, const char *place,
                                                            const char *format, ...);
bool engine_takes_integers(enum engine_parameter parameter);

/* write.c */
cJSON *engine_value_json(const struct engine_value *value);
/* "Gkpm": a letter of the engine's flag table for each flag, '-' where it is not set. */
const char *engine_flag_letters(const struct engine *engine, const struct engine_flags *flags,
                                char text[ENGINE_FLAGS_TEXT]);
bool engine_flags_of_letters(const struct engine *engine, const char *text, struct engine_flags *flags);
/* "temperature softmax sample" and "greedy random" of a staged engine's path. */
#define ENGINE_PATH_TEXT 128
const char *engine_stage_text(const struct engine_path *path, char text[ENGINE_PATH_TEXT]);
const char *engine_draw_text(const struct engine_path *path, char text[ENGINE_PATH_TEXT]);
/* cJSON's own functions return NULL out of memory: this aborts instead. */
void *engine_memory(void *memory);
#endif
