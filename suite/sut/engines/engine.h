/* engine.h: what an inference engine does with a request before any token is drawn: parameters, checks, path,
 * running batch.
 *
 * Each engine is one table of functions (struct engine), found by name. The functions say what the engine's
 * own code does, its defects included; what they must answer is in golden/predicate/ and golden/defaults/. A
 * parameter is kept as the user gave it: absent, null, or a value of any JSON type, integers as int64 and
 * floats as double; rounding is the sampler's business. Functions that can refuse return 0, or -1 after
 * filling in *refusal. No function keeps a pointer it was given.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ENGINE_H
#define SAMPLEGATE_ENGINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum engine_kind {
    ENGINE_ABSENT,
    ENGINE_NULL,
    ENGINE_BOOLEAN,
    ENGINE_INTEGER,
    ENGINE_FLOAT,
    ENGINE_TEXT,
    ENGINE_ARRAY,
    ENGINE_OBJECT
};
struct engine_value {
    enum engine_kind kind;
    int64_t integer;  /* ENGINE_INTEGER; ENGINE_BOOLEAN as 0 or 1 */
    double number;    /* ENGINE_FLOAT, and the integer's nearest double */
    const char *text; /* ENGINE_TEXT, borrowed */
};

enum engine_parameter {
    ENGINE_TEMPERATURE,
    ENGINE_TOP_K,
    ENGINE_TOP_P,
    ENGINE_MIN_P,
    ENGINE_REPETITION_PENALTY,
    ENGINE_FREQUENCY_PENALTY,
    ENGINE_PRESENCE_PENALTY,
    ENGINE_SEED,
    ENGINE_N,
    ENGINE_BEST_OF,
    ENGINE_USE_BEAM_SEARCH,
    ENGINE_EARLY_STOPPING,
    ENGINE_LENGTH_PENALTY,
    ENGINE_MAX_TOKENS,
    ENGINE_MIN_TOKENS,
    ENGINE_LOGPROBS,
    ENGINE_PROMPT_LOGPROBS,
    ENGINE_TRUNCATE_PROMPT_TOKENS,
    ENGINE_STOP,
    ENGINE_DETOKENIZE,
    ENGINE_PARAMETERS
};
/* One dictionary of parameters: a request, a generation_config, preferred parameters. Zero: all absent. */
struct engine_values {
    struct engine_value at[ENGINE_PARAMETERS];
};

/* Where a parameter's value came from, the strongest first. NONE: this reading does not speak of the
 * parameter. */
enum engine_layer {
    ENGINE_LAYER_NONE,
    ENGINE_LAYER_REQUEST,
    ENGINE_LAYER_PREFERRED,
    ENGINE_LAYER_MODEL,
    ENGINE_LAYER_DEFAULT
};
struct engine_resolved {
    struct engine_values values;
    enum engine_layer layer[ENGINE_PARAMETERS];
};

enum engine_endpoint { ENGINE_CHAT, ENGINE_RESPONSES, ENGINE_COMPLETIONS, ENGINE_GENERATE, ENGINE_ENDPOINTS };
/* Where a published article's code, its sentences and the engine differ, the caller says which is asked. */
enum engine_reading { ENGINE_ARTICLE_PORT, ENGINE_ARTICLE_PROSE, ENGINE_UPSTREAM, ENGINE_READINGS };
enum engine_device { ENGINE_CUDA, ENGINE_CPU, ENGINE_XPU, ENGINE_DEVICES };
enum engine_backend {
    ENGINE_BACKEND_UNSET,
    ENGINE_FLASHINFER,
    ENGINE_PYTORCH,
    ENGINE_ASCEND,
    ENGINE_INTEL_XPU,
    ENGINE_BACKENDS
};
/* Type of the logits; parameters of a step are tensors of it where the engine makes them so. */
enum engine_dtype { ENGINE_F32, ENGINE_BF16, ENGINE_F16, ENGINE_DTYPES };
/* What becomes of a request when the KV cache is full: AUTO leaves the choice to the engine. */
enum engine_preemption { ENGINE_PREEMPTION_AUTO, ENGINE_SWAP, ENGINE_RECOMPUTE, ENGINE_PREEMPTIONS };
/* What a seeded draw's noise is made from beside seed and position: the token's id, or its rank in the sorted row,
 * which a neighbour can change. */
enum engine_noise { ENGINE_NOISE_UNSEEDED, ENGINE_NOISE_TOKEN, ENGINE_NOISE_RANK, ENGINE_NOISES };

/* How the server was started. Zero: nothing given. */
struct engine_server {
    const char *gumbel_switch; /* the environment variable's text; NULL: unset */
    bool deterministic;
    bool neutral_defaults;      /* the model's generation_config is not read (--sampling-defaults openai) */
    bool has_generation_config; /* the model ships the file, be it empty */
    bool class_defaults;        /* the library that reads it is one that fills in defaults of its own */
    bool draft;                 /* asked is about the draft sampler of speculative decoding */
    enum engine_device device;
    enum engine_backend backend; /* asked for */
    enum engine_preemption preemption;
    enum engine_dtype logits;
    int64_t vocab; /* columns of the logits; 0: not given, which an engine whose flags depend on it refuses */
    struct engine_values generation_config, preferred;
};

enum engine_path_kind {
    ENGINE_GREEDY,
    ENGINE_GUMBEL,
    ENGINE_MULTINOMIAL,
    ENGINE_FILTERED,
    ENGINE_DETERMINISTIC,
    ENGINE_TORCH, /* the only one of an engine whose paths are told apart by their stages */
    ENGINE_PATHS
};
/* How the token of a sequence is chosen. */
enum engine_draw {
    ENGINE_DRAW_GREEDY,
    ENGINE_DRAW_RANDOM,
    ENGINE_DRAW_RANDOM_SEED,
    ENGINE_DRAW_BEAM,
    ENGINE_DRAWS
};
/* Passes over the logits of a step, in the order of the one engine that has them as stages. */
enum engine_stage {
    ENGINE_STAGE_MIN_TOKENS,
    ENGINE_STAGE_PENALTIES,
    ENGINE_STAGE_TEMPERATURE,
    ENGINE_STAGE_TOP_P_TOP_K,
    ENGINE_STAGE_MIN_P,
    ENGINE_STAGE_SOFTMAX, /* probabilities and their logarithms, both fp32 */
    ENGINE_STAGE_SAMPLE,
    ENGINE_STAGE_LOGPROBS, /* a top-k and a rank over the whole vocabulary */
    ENGINE_STAGES
};
struct engine_path {
    enum engine_path_kind kind;
    bool seeded; /* the noise comes from seed and position */
    enum engine_backend
        backend; /* in force, whether the path consults it or not; UNSET: this reading does not say */
    enum engine_noise noise;
    int32_t top_k_bound; /* at most so many tokens are sorted; 0: the row is */
    /* Of `staged` engines: what runs, and who takes part. */
    bool stages[ENGINE_STAGES], draws[ENGINE_DRAWS];
};

/* What a batch's path depends on; an engine's flag table says which of these are its own. */
struct engine_flags {
    bool all_greedy, need_top_k, need_top_p, need_min_p;
    bool need_top_p_top_k, need_penalties, draws[ENGINE_DRAWS];
    bool bad_seed;       /* a seed is no int64, which only a server that uses seeds finds out */
    int32_t top_k_bound; /* the largest top_k; 0: one of them is the whole vocabulary */
};
/* One flag: its letter in texts and where it is in struct engine_flags. */
struct engine_flag {
    char letter;
    size_t offset;
};
#define ENGINE_FLAGS_TEXT 12 /* bytes of the text of a batch's flags, at most */

/* What one prompt of a request makes of a step and of the scheduler. */
struct engine_forks {
    /* That decode side by side, each with a row of logits, a forward pass and a KV cache. */
    int64_t sequences;
    int64_t drawn; /* tokens drawn from its row in the step of its prompt */
    int64_t kept;  /* of these */
    enum engine_preemption preempted, last_preempted; /* while all its sequences run; when one is left */
    bool
        ahead; /* the prompt runs once before, for its cache: a batch by itself, whose token is thrown away */
};

/* A request as the engine's own object, which people change after it was made. */
struct engine_object {
    struct engine_values values; /* normalized, verified */
    bool known;                  /* `draw` was asked for and stays */
    enum engine_draw draw;
};

/* One sequence group of a step, in the order of the step. Arrays are borrowed. */
struct engine_group {
    struct engine_flags flags;
    size_t prompt_rows; /* rows of logits of prompt tokens whose log-probabilities are wanted */
    size_t sequences;   /* that have a row each, after those */
};

/* When an engine looks at the members of a body that no path depends on. */
enum engine_stage_of_check {
    ENGINE_BEFORE_RESOLVE,
    ENGINE_BEFORE_NORMALIZE,
    ENGINE_BEFORE_VERIFY,
    ENGINE_AFTER_VERIFY
};
#define ENGINE_NO_ROW SIZE_MAX
struct cJSON;

/* Why a request gets no token. */
struct engine_refusal {
    int status; /* of the HTTP answer; 0: none, the step fails for the whole batch or the article's code
                   raises */
    char text[256];
};

struct engine_row {
    int64_t id; /* the caller's */
    struct engine_flags flags;
    bool finished;
};
/* A prefill batch or the running batch. Zero-initialise; engine_batch_free. */
struct engine_batch {
    struct engine_row *row;
    size_t rows, room;
    struct engine_flags flags; /* of the batch, as the engine remembers them */
};

struct engine {
    size_t size; /* sizeof(struct engine): tells a shared object's table from one of another build */
    const char *name;
    const struct engine_flag *flag; /* up to letter 0 */
    bool staged; /* a path is its stages and draws; else it may be seeded and has a backend */
    /* The member of a request body at this endpoint that feeds a parameter; NULL: it has none. */
    const char *(*key)(enum engine_endpoint endpoint, enum engine_parameter parameter);
    const char *nest; /* the member of /generate's body that these are members of; NULL: the body itself */
    /* The members of a body that hold its prompt, up to NULL. A list there is of prompts, each a request of its own to
     * the engine, unless it is of numbers: then it is one, in tokens. */
    const char *prompts[ENGINE_ENDPOINTS][3];
    /* The parameters as they reach the engine, each with its layer. */
    int (*resolve)(enum engine_reading reading, const struct engine_server *server,
                   enum engine_endpoint endpoint, const struct engine_values *request,
                   struct engine_resolved *resolved, struct engine_refusal *refusal);
    /* The engine's own rewriting of them: greedy, switched-off filters. */
    int (*normalize)(enum engine_reading reading, struct engine_values *values,
                     struct engine_refusal *refusal);
    /* Ranges, with the engine's own text. `values` are normalized. */
    int (*verify)(enum engine_reading reading, const struct engine_values *values,
                  struct engine_refusal *refusal);
    /* What one normalized, verified request makes of a batch. */
    int (*flags)(enum engine_reading reading, const struct engine_server *server,
                 const struct engine_values *values, struct engine_flags *flags,
                 struct engine_refusal *refusal);
    /* Two requests or batches together; order does not matter. */
    struct engine_flags (*together)(struct engine_flags a, struct engine_flags b);
    /* The path of a batch of `rows` requests. */
    int (*path)(enum engine_reading reading, const struct engine_server *server,
                const struct engine_flags *flags, size_t rows, struct engine_path *path,
                struct engine_refusal *refusal);

    /* The running batch. A scheduler's round: join the prefill batch of the round before; then either admit
     * the waiting requests to a new one and run it, or filter the running batch and run that. Requests that
     * end are marked by finish. admit: -1 if out of memory. join: empties `prefill`; -1 if out of memory,
     * both as they were. filters_rounds: the running batch is filtered in every round, between the two, too: after
     * join, and by whoever admits the first request of a prefill batch (engine_round). */
    bool filters_rounds;
    int (*admit)(struct engine_batch *prefill, int64_t id, const struct engine_flags *flags);
    int (*join)(enum engine_reading reading, struct engine_batch *running, struct engine_batch *prefill);
    void (*filter)(struct engine_batch *batch);
    /* The rows of this batch, in this reading's sense, and the flags its next step runs under. */
    size_t (*state)(enum engine_reading reading, const struct engine_batch *batch,
                    struct engine_flags *flags);

    /* The rest is NULL in an engine that has no such thing. */

    /* `count` normalized, verified requests whose prompts share a step; forks[count]. */
    int (*forks)(enum engine_reading reading, const struct engine_server *server,
                 const struct engine_values *requests, size_t count, struct engine_forks *forks,
                 struct engine_refusal *refusal);
    /* Normalized, verified values as the step's tensors hold them; what has no tensor becomes absent. */
    void (*tensors)(const struct engine_server *server, struct engine_values *values);
    /* How the object's token is chosen; may be remembered in it. */
    enum engine_draw (*draw)(struct engine_object *object);
    /* The rows of a step and whose tokens its penalties use: used[rows], for each row of logits the index of
     * the sequence (counted over the whole step) whose prompt and output are counted there, or
     * ENGINE_NO_ROW. `fixed`: as later releases do it. Returns whether penalties run at all. */
    bool (*penalty_rows)(const struct engine_group *groups, size_t count, bool fixed, size_t *used);
    /* Beam search: logprobs[sequences, vocab] fp32 of one group and their cumulative log-probabilities (NULL:
     * its prompt) to 2 best_of candidates, best first, ties (which torch leaves open) by index. -1: there are not
     * so many. */
    int (*candidates)(const float *logprobs, const float *cumulative, size_t sequences, size_t vocab,
                      size_t best_of, int64_t *parent, int64_t *token);
    /* The body says "echo": what that makes of its parameters. `top_logprobs`: the body's member of that name. */
    void (*echo)(enum engine_endpoint endpoint, const struct engine_value *top_logprobs,
                 struct engine_values *request);
    /* Instead of a decode step of its own, the running batch goes into the prefill batch (a mixed chunk) and is
     * empty until that is joined. Nothing without a prefill batch. -1 if out of memory, both as they were. */
    int (*mix)(struct engine_batch *running, struct engine_batch *prefill);
    /* The members of a request body (a JSON object) that no path depends on and that can refuse it all the same;
     * `fields` lists those that are looked at, up to NULL. Returns 1 before normalization if the body keeps it from
     * happening. */
    int (*check_fields)(const struct engine_server *server, enum engine_endpoint endpoint,
                        const struct cJSON *body, enum engine_stage_of_check stage,
                        struct engine_refusal *refusal);
    const char *const *fields;
    /* The HTTP status that this endpoint makes of one in a refusal; NULL: the same. */
    int (*status)(enum engine_endpoint endpoint, int status);
};

/* NULL if there is no such engine; engine_table[engine_count] lists them. */
const struct engine *engine_find(const char *name);
extern const struct engine *const engine_table[];
extern const size_t engine_count;
/* What a shared object with engines of its own exports (`engine:PATH.so,id=ID`); NULL if it has none of that id. */
#define ENGINE_SYMBOL "samplegate_engine"
typedef const struct engine *(*engine_function)(const char *id);

/* engine->status, where the engine has it. */
int engine_status(const struct engine *engine, enum engine_endpoint endpoint, int status);
/* normalize and verify, which make of resolved parameters the engine's own object. */
int engine_construct(const struct engine *engine, enum engine_reading reading, struct engine_values *values,
                     struct engine_refusal *refusal);
/* The same on a copy, and flags, as far as it gets. */
int engine_check(const struct engine *engine, enum engine_reading reading, const struct engine_server *server,
                 const struct engine_values *values, struct engine_flags *flags,
                 struct engine_refusal *refusal);
/* The same from the request on. */
int engine_prepare(const struct engine *engine, enum engine_reading reading,
                   const struct engine_server *server, enum engine_endpoint endpoint,
                   const struct engine_values *request, struct engine_flags *flags,
                   struct engine_refusal *refusal);

/* Member by member: the struct has padding. */
bool engine_flags_same(const struct engine_flags *a, const struct engine_flags *b);
/* Room for `rows` rows in all; -1: out of memory. */
int engine_batch_reserve(struct engine_batch *batch, size_t rows);
/* Before the first request of a prefill batch is admitted: what the round does to the running batch. */
void engine_round(const struct engine *engine, struct engine_batch *running);
/* Drop the rows that have ended. */
void engine_batch_filter(struct engine_batch *batch);
/* Mark a request as ended wherever it is; false if the batch has no unfinished row of that id. */
bool engine_batch_finish(struct engine_batch *batch, int64_t id);
void engine_batch_free(struct engine_batch *batch);

/* Values. */
struct engine_value engine_integer(int64_t integer);
struct engine_value engine_float(double number);
bool engine_is_number(const struct engine_value *value); /* integer, float or boolean */
bool engine_is_set(const struct engine_value *value);    /* neither absent nor null */
/* As Python takes it; arrays and objects are empty here. */
bool engine_is_true(const struct engine_value *value);
/* What the schema of a field takes. */
enum engine_type { ENGINE_TAKES_FLOAT, ENGINE_TAKES_INTEGER, ENGINE_TAKES_BOOLEAN, ENGINE_TAKES_TEXT };
enum engine_type engine_type_of(enum engine_parameter parameter);
/* The value behind the schema of an OpenAI endpoint (pydantic, lax: schema.c): strings that spell a number are
 * read. `key` names it in a refusal (HTTP 400). */
int engine_coerce(enum engine_parameter parameter, const char *key, struct engine_value *value,
                  struct engine_refusal *refusal);
/* The value as Python's str() writes it, which is what the engines' messages hold: shortest digits, 1e-05,
 * True, None. */
const char *engine_python_text(const struct engine_value *value, char *text, size_t bytes);
const char *engine_python_type(const struct engine_value *value); /* "int", "NoneType", ... */
const char *engine_json_type(const struct engine_value *value);   /* "a number", "null", ... */

/* Fill in a refusal; returns -1. */
__attribute__((format(printf, 3, 4))) int engine_refuse(struct engine_refusal *refusal, int status,
                                                        const char *format, ...);

/* Names as goldens and the command line write them. */
extern const char *const engine_parameter_names[ENGINE_PARAMETERS + 1];
extern const char *const engine_endpoint_names[ENGINE_ENDPOINTS + 1];
extern const char *const engine_reading_names[ENGINE_READINGS + 1];
extern const char *const engine_noise_names[ENGINE_NOISES + 1];
extern const char *const engine_device_names[ENGINE_DEVICES + 1];
extern const char *const engine_backend_names[ENGINE_BACKENDS + 1];
extern const char *const engine_preemption_names[ENGINE_PREEMPTIONS + 1];
extern const char *const engine_draw_names[ENGINE_DRAWS + 1];
extern const char *const engine_dtype_names[ENGINE_DTYPES + 1];
extern const char *const engine_stage_names[ENGINE_STAGES + 1];
extern const char *const engine_path_names[ENGINE_PATHS + 1];
extern const char *const engine_layer_names[ENGINE_LAYER_DEFAULT + 2];
#endif
