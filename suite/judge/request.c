/* request.c: parameters as arrays: nothing is sent that no row asks for. */
#include "suite/judge/request.h"

#include <math.h>
#include <string.h>

/* One value where there is one row, else one a draw. */
struct shape {
    const struct law_parameters *const *of;
    size_t rows, values;
    const int32_t *row_index;
};

static const struct law_parameters *at_draw(const struct shape *shape, size_t draw)
{
    return shape->of[shape->row_index ? shape->row_index[draw] : 0];
}

static double *numbers(struct script *memory, const struct shape *shape, double off,
                       double (*get)(const struct law_parameters *))
{
    bool asked = false;
    for (size_t r = 0; r < shape->rows; r++)
        asked |= get(shape->of[r]) != off; /* a NaN is asked for, too */
    double *value = asked ? script_memory(memory, shape->values * sizeof *value) : NULL;
    for (size_t d = 0; value && d < shape->values; d++)
        value[d] = get(at_draw(shape, d));
    return value;
}

static int64_t *integers(struct script *memory, const struct shape *shape, int64_t off,
                         int64_t (*get)(const struct law_parameters *))
{
    bool asked = false;
    for (size_t r = 0; r < shape->rows; r++)
        asked |= get(shape->of[r]) != off;
    int64_t *value = asked ? script_memory(memory, shape->values * sizeof *value) : NULL;
    for (size_t d = 0; value && d < shape->values; d++)
        value[d] = get(at_draw(shape, d));
    return value;
}

static struct request_lists lists(struct script *memory, const struct shape *shape, size_t draws,
                                  const struct law_ids *(*get)(const struct law_parameters *))
{
    struct request_lists made = {NULL, NULL};
    size_t total = 0;
    for (size_t d = 0; d < draws; d++)
        total += get(at_draw(shape, d))->count;
    if (total == 0)
        return made;
    made.id = script_memory(memory, total * sizeof *made.id);
    made.offset = script_memory(memory, (draws + 1) * sizeof *made.offset);
    for (size_t d = 0; d < draws; d++) {
        const struct law_ids *ids = get(at_draw(shape, d));
        if (ids->count)
            memcpy(made.id + made.offset[d], ids->id, ids->count * sizeof *ids->id);
        made.offset[d + 1] = made.offset[d] + (int64_t)ids->count;
    }
    return made;
}

static void biases(struct script *memory, const struct shape *shape, struct request_parameters *made)
{
    for (size_t r = 0; r < shape->rows; r++) {
        const struct law_edits *edits = &shape->of[r]->edits;
        if (edits->biases && !made->bias)
            made->bias = script_memory(memory, shape->rows * made->vocab * sizeof *made->bias);
        for (size_t i = 0; i < edits->biases; i++)
            made->bias[r * made->vocab + (size_t)edits->bias[i].id] += (float)edits->bias[i].value;
    }
}

static void bans(struct script *memory, const struct shape *shape, struct request_parameters *made)
{
    for (size_t r = 0; r < shape->rows; r++) {
        const struct law_ids *banned = &shape->of[r]->edits.banned;
        if (banned->count && !made->allowed) {
            made->allowed = script_memory(memory, shape->rows * made->vocab);
            memset(made->allowed, 1, shape->rows * made->vocab);
        }
        for (size_t i = 0; i < banned->count; i++)
            made->allowed[r * made->vocab + (size_t)banned->id[i]] = 0;
    }
}

#define GETTER(name, type, member)                                                                           \
    static type name##_of(const struct law_parameters *p)                                                    \
    {                                                                                                        \
        return p->member;                                                                                    \
    }
#define LIST_GETTER(name)                                                                                    \
    static const struct law_ids *name##_of(const struct law_parameters *p)                                   \
    {                                                                                                        \
        return &p->edits.name;                                                                               \
    }
GETTER(top_k, int64_t, limits.top_k)
GETTER(top_p, double, limits.top_p)
GETTER(min_p, double, limits.min_p)
GETTER(repetition, double, edits.repetition)
GETTER(frequency, double, edits.frequency)
GETTER(presence, double, edits.presence)
GETTER(min_tokens, int64_t, edits.min_tokens)
LIST_GETTER(prompt)
LIST_GETTER(output)
LIST_GETTER(stop)

struct request_parameters request_parameters_make(struct script *memory,
                                                  const struct law_parameters *const *of, size_t rows,
                                                  size_t vocab, const int32_t *row_index, size_t draws)
{
    const struct shape shape = {of, rows, row_index ? draws : 1, row_index};
    struct request_parameters made = {.rows = rows, .vocab = vocab, .a_draw = row_index};
    made.top_k = integers(memory, &shape, -1, top_k_of);
    made.top_p = numbers(memory, &shape, 1, top_p_of);
    made.min_p = numbers(memory, &shape, 0, min_p_of);
    made.repetition = numbers(memory, &shape, 1, repetition_of);
    made.frequency = numbers(memory, &shape, 0, frequency_of);
    made.presence = numbers(memory, &shape, 0, presence_of);
    made.min_tokens = integers(memory, &shape, 0, min_tokens_of);
    made.prompt = lists(memory, &shape, draws, prompt_of);
    made.output = lists(memory, &shape, draws, output_of);
    made.stop = lists(memory, &shape, draws, stop_of);
    biases(memory, &shape, &made);
    bans(memory, &shape, &made);
    return made;
}

static void add_values(struct frame *request, const char *name, enum frame_dtype dtype, uint64_t values,
                       const void *data)
{
    if (data)
        frame_add(request, name, dtype, 1, &values, data);
}

static void add_lists(struct frame *request, const char *ids, const char *offsets,
                      const struct request_lists *lists, size_t draws)
{
    if (!lists->offset)
        return;
    frame_add(request, ids, FRAME_I64, 1, (uint64_t[]){(uint64_t)lists->offset[draws]}, lists->id);
    frame_add(request, offsets, FRAME_I64, 1, (uint64_t[]){draws + 1}, lists->offset);
}

void request_parameters_add(const struct request_parameters *parameters, struct frame *request, size_t draws)
{
    const uint64_t values = parameters->a_draw ? draws : 1;
    const uint64_t dense[] = {parameters->rows, parameters->vocab};
    add_values(request, "top_k", FRAME_I64, values, parameters->top_k);
    add_values(request, "top_p", FRAME_F64, values, parameters->top_p);
    add_values(request, "min_p", FRAME_F64, values, parameters->min_p);
    add_values(request, "repetition_penalty", FRAME_F64, values, parameters->repetition);
    add_values(request, "frequency_penalty", FRAME_F64, values, parameters->frequency);
    add_values(request, "presence_penalty", FRAME_F64, values, parameters->presence);
    add_values(request, "min_tokens", FRAME_I64, values, parameters->min_tokens);
    add_lists(request, "prompt_tokens", "prompt_offsets", &parameters->prompt, draws);
    add_lists(request, "output_tokens", "output_offsets", &parameters->output, draws);
    add_lists(request, "stop_ids", "stop_offsets", &parameters->stop, draws);
    if (parameters->bias)
        frame_add(request, "logit_bias", FRAME_F32, 2, dense, parameters->bias);
    if (parameters->allowed)
        frame_add(request, "allowed", FRAME_U8, 2, dense, parameters->allowed);
}

const char *request_lacks(const struct law_parameters *parameters, const struct sut *sut)
{
    const struct law_limits *limits = &parameters->limits;
    const struct law_edits *edits = &parameters->edits;
    const struct {
        const char *word;
        bool needed;
    } table[] = {
        {"top_k", limits->top_k != -1},
        {"top_p", limits->top_p != 1},
        {"min_p", limits->min_p != 0},
        {"penalties", edits->repetition != 1 || edits->frequency != 0 || edits->presence != 0},
        {"logit_bias", edits->biases > 0},
        {"allowed_mask", edits->banned.count > 0},
        {"min_tokens", edits->min_tokens != 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].needed && !sut_can(sut, table[i].word))
            return table[i].word;
    return NULL;
}
