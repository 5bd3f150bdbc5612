/* test_sampler.h: a sampler whose tokens hang on just its row, seed and position, or has one defect. */
#ifndef SAMPLEGATE_DETERMINISM_TEST_SAMPLER_H
#define SAMPLEGATE_DETERMINISM_TEST_SAMPLER_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "suite/checks/determinism/lines.h"

#define VOCAB 20

enum defect {
    NONE,
    SEED_OF_FIRST_ROW,
    SEED_CAPTURED, /* of a message's first call */
    SEED_IGNORED,  /* the unseeded stream instead */
    SEED_CONSTANT,
    SEED_CUT,
    SEED_UNSIGNED,
    SEED_SENTINEL, /* 0 and -1 are none */
    SEED_OF_NEXT_SLOT,
    PLACE_MIXED_IN,
    FIRST_ROW_ELSEWHERE,
    PROCESS_MIXED_IN,
    POSITION_IGNORED,
    POSITION_OF_16_BITS,
    POSITION_OF_THE_CALL,
    BATCH_SIZE_MATTERS,
    FILTERED_CALL,       /* a filtered row sends the whole call another way */
    TEMPERATURE_OF_LAST, /* of the call */
    ROW_OF_FIRST,
};

/* SplitMix64's finaliser (Steele, Lea and Flood 2014). */
static inline uint64_t mixed(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform over VOCAB, whatever the row: which row and temperature it was only changes which token. */
static inline int32_t token_of(uint64_t seed, uint64_t position, uint64_t row, double temperature,
                               uint64_t salt)
{
    uint64_t bits;
    memcpy(&bits, &temperature, sizeof bits);
    return (int32_t)(mixed(mixed(mixed(mixed(seed) ^ position) ^ row) ^ mixed(bits) ^ salt) % VOCAB);
}

static inline const void *array_of(const struct script_line *line, const char *name)
{
    const struct frame_array *array = frame_find(&line->request, name);
    return array ? array->data : NULL;
}

/* One message as the sampler sees it. */
struct message {
    const struct script_line *line;
    const int64_t *seed, *position, *top_k;
    const int32_t *row;
    const double *temperature;
    uint64_t temperatures, own;
};

static inline double temperature_at(const struct message *message, uint64_t draw)
{
    return message->temperatures ? message->temperature[message->temperatures == 1 ? 0 : draw] : 1;
}

static inline int32_t draw_token(enum defect defect, const struct message *message, uint64_t first,
                                 uint64_t end, uint64_t d)
{
    uint64_t seed = (uint64_t)message->seed[d], position = (uint64_t)message->position[d], salt = 0;
    uint64_t row = message->row ? (uint64_t)message->row[d] : 0;
    double temperature = temperature_at(message, d);
    if (defect == SEED_OF_FIRST_ROW)
        seed = (uint64_t)message->seed[first];
    if (defect == SEED_CAPTURED)
        seed = (uint64_t)message->seed[d % message->line->batch];
    if (defect == SEED_OF_NEXT_SLOT)
        seed = (uint64_t)message->seed[d + 1 < end ? d + 1 : first];
    if (defect == SEED_IGNORED || (defect == SEED_SENTINEL && (seed == 0 || seed == UINT64_MAX)))
        seed = message->own + 1000 * d;
    if (defect == SEED_CONSTANT)
        seed = 42;
    if (defect == SEED_CUT)
        seed &= UINT32_MAX;
    if (defect == SEED_UNSIGNED && message->seed[d] < 0)
        seed = -seed - (seed == UINT64_C(1) << 63); /* the least becomes the greatest */
    if (defect == PLACE_MIXED_IN)
        salt = d - first;
    if (defect == FIRST_ROW_ELSEWHERE)
        salt = d == first;
    if (defect == PROCESS_MIXED_IN)
        salt = message->line->fresh;
    if (defect == POSITION_IGNORED)
        position = 0;
    if (defect == POSITION_OF_16_BITS)
        position &= UINT16_MAX;
    if (defect == POSITION_OF_THE_CALL)
        position = (uint64_t)message->position[first];
    if (defect == BATCH_SIZE_MATTERS)
        salt = end - first >= 64;
    for (uint64_t mate = first; defect == FILTERED_CALL && mate < end; mate++)
        salt |= message->top_k && message->top_k[mate] != -1;
    if (defect == TEMPERATURE_OF_LAST)
        temperature = temperature_at(message, end - 1);
    if (defect == ROW_OF_FIRST)
        row = message->row && first != d ? (uint64_t)message->row[end - 1] : row;
    return token_of(seed, position, row, temperature, salt);
}

static inline void answer(struct script *script, struct script_line *line, enum defect defect)
{
    int32_t *token = script_memory(script, line->draws * sizeof *token);
    const struct frame_array *temperature = frame_find(&line->request, "temperature");
    struct message message = {.line = line,
                              .seed = array_of(line, "seeds"),
                              .position = array_of(line, "positions"),
                              .top_k = array_of(line, "top_k"),
                              .row = array_of(line, "row_index"),
                              .temperature = temperature ? temperature->data : NULL,
                              .temperatures = temperature ? temperature->shape[0] : 0};
    assert_true(frame_get_u64(&line->request, "seed", &message.own));
    for (uint64_t first = 0; first < line->draws; first += line->batch) {
        const uint64_t end = first + line->batch < line->draws ? first + line->batch : line->draws;
        for (uint64_t d = first; d < end; d++)
            token[d] = draw_token(defect, &message, first, end, d);
    }
    line->token = token;
    line->state = LINE_ANSWERED;
}
#endif
