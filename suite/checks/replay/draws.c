/* draws.c: the requests of a replay cell: rows and parameters chosen by the hash of a draw's number. */
#include <math.h>
#include <stdio.h>

#include "suite/checks/replay/lines.h"

#define EDITED_VOCAB_MAX 4096 /* masks and biases are as wide as the rows */
#define EDITED_VOCAB_MIN 8    /* some ids are left when some are banned */
#define POSITION_BELOW ((uint64_t)1 << 16)
#define TOP_K_MIDDLE 5
#define TOP_K_LARGE 40

/* One byte after the other of a draw's hash. */
static uint64_t take(uint64_t *bits, uint64_t choices)
{
    const uint64_t byte = *bits & 0xff;
    *bits >>= 8;
    return byte % choices;
}

static uint64_t number(const struct script_input *input, const char *what, size_t draw)
{
    char text[48];
    snprintf(text, sizeof text, "%s-%zu", what, draw);
    return plan_seed(input->plan, input->cell, input->stage, text);
}

enum variant { AS_IT_IS, ROTATED, BACKWARDS, ROUNDED };

/* Rounded to whole nats, which gives ties at almost every cut. */
static void row_fill(const struct table *table, enum variant variant, size_t draw, float *logits)
{
    for (size_t i = 0; i < table->vocab; i++)
        switch (variant) {
        case ROTATED:
            logits[i] = table->logits[(i + draw + 1) % table->vocab];
            break;
        case BACKWARDS:
            logits[i] = table->logits[table->vocab - 1 - i];
            break;
        case ROUNDED:
            logits[i] = floorf(table->logits[i]);
            break;
        default:
            logits[i] = table->logits[i];
        }
}

static bool one_heaviest(const float *values, size_t vocab)
{
    float heaviest = -INFINITY;
    size_t ids = 0;
    for (size_t i = 0; i < vocab; i++)
        if (values[i] > heaviest) {
            heaviest = values[i];
            ids = 1;
        } else {
            ids += values[i] == heaviest;
        }
    return ids == 1;
}

static void limits_choose(const struct script_input *input, uint64_t bits, struct law_limits *limits)
{
    static const int64_t top_k[] = {-1, -1, 1, TOP_K_MIDDLE, TOP_K_LARGE};
    static const double top_p[] = {1, 1, 0.5, 0.9}, min_p[] = {0, 0, 0.05};
    const bool by_rank = keying_of(input->sut).by_rank;
    limits->top_k = top_k[take(&bits, 5)];
    limits->top_p = top_p[take(&bits, 4)];
    limits->min_p = min_p[take(&bits, 3)];
    if (by_rank &&
        limits->top_k == -1) /* noise may go by rank only where filters are on: so they always are */
        limits->top_k = TOP_K_LARGE;
    if (by_rank || !sut_can(input->sut, "min_p")) /* some refuse min_p together with seeds by rank */
        limits->min_p = 0;
    if (!sut_can(input->sut, "top_k"))
        limits->top_k = -1;
    if (!sut_can(input->sut, "top_p"))
        limits->top_p = 1;
}

/* One draw in so many, and the first. */
static bool chosen(uint64_t *bits, uint64_t choices, size_t draw)
{
    return take(bits, choices) == 0 || draw == 0;
}

static struct law_ids ids_choose(struct script *memory, size_t count, uint64_t first, uint64_t step,
                                 size_t vocab)
{
    struct law_ids ids = {.count = count};
    ids.id = script_memory(memory, count * sizeof *ids.id);
    for (size_t i = 0; i < count; i++)
        ids.id[i] = (int64_t)((first + i * step) % vocab);
    return ids;
}

/* The first draw has them all, so that whoever takes the first row's for every row is told by the line that begins with the
 * plain one: "joined". */
static void edits_choose(const struct script_input *input, struct script *memory, size_t draw, uint64_t bits,
                         struct law_edits *edits)
{
    const struct sut *sut = input->sut;
    const size_t vocab = input->cell->table->vocab;
    const bool narrow = vocab >= EDITED_VOCAB_MIN && vocab <= EDITED_VOCAB_MAX;
    if (chosen(&bits, 3, draw) && sut_can(sut, "penalties")) {
        edits->repetition = take(&bits, 2) ? 1 : 1.3;
        edits->frequency = take(&bits, 2) ? 0 : 0.4;
        edits->presence = take(&bits, 2) ? 0 : 0.6;
        edits->prompt = ids_choose(memory, 4, draw, 3, vocab);
        edits->output = ids_choose(memory, draw % 7, draw % 5, 2, vocab);
    }
    if (chosen(&bits, 4, draw) && sut_can(sut, "min_tokens")) {
        edits->min_tokens = 3;
        edits->stop = ids_choose(memory, 2, draw % 3, 1, vocab);
    }
    if (chosen(&bits, 4, draw) && narrow && sut_can(sut, "allowed_mask"))
        edits->banned = ids_choose(memory, 4, draw % 2, 1, vocab);
    if (chosen(&bits, 4, draw) && narrow && sut_can(sut, "logit_bias")) {
        edits->bias = script_memory(memory, 2 * sizeof *edits->bias);
        edits->biases = 2;
        edits->bias[0] = (struct law_bias){(int64_t)(5 * draw % vocab), 2};
        edits->bias[1] = (struct law_bias){(int64_t)((5 * draw + 1) % vocab), -1.5};
    }
}

static void draw_choose(const struct script_input *input, struct script *memory, size_t d, bool plain,
                        float *logits, double *pmf, struct replay_draw *draw)
{
    static const double temperature[] = {1, 0.5, 0.7, 1.3};
    const struct table *table = input->cell->table;
    const bool logits_handed = input->kind == VALUE_LOGITS;
    uint64_t bits = number(input, "draw", d);
    const double warmth = logits_handed && !input->sut->temperature ? 1 : temperature[take(&bits, 4)];
    const uint64_t seed = number(input, "seed", d);
    *draw = (struct replay_draw){.parameters = law_parameters_none()};
    draw->seed = d % 2 ? (int64_t)seed : -(int64_t)seed;
    draw->position = (int64_t)(number(input, "position", d) % POSITION_BELOW);
    draw->temperature = logits_handed ? warmth : 1;
    draw->values = script_memory(memory, table->vocab * sizeof *draw->values);
    row_fill(table, plain ? ROTATED : (enum variant)(d % 4), d, logits);
    law_hand_over(logits, table->vocab, warmth, input->kind, input->sut->dtype, draw->values, pmf);
    limits_choose(input, bits, &draw->parameters.limits);
    const bool alone = keying_of(input->sut).seeded && keying_of(input->sut).alone;
    if (!alone && draw->parameters.limits.top_k == 1) {
        if (!one_heaviest(draw->values, table->vocab))
            draw->parameters.limits.top_k = 2;
        return; /* what the row's one token is must be plain to see */
    }
    if (logits_handed && !plain)
        edits_choose(input, memory, d, number(input, "edits", d), &draw->parameters.edits);
}

struct replay_draws replay_draws_choose(const struct script_input *input, struct script *memory)
{
    const size_t vocab = input->cell->table->vocab;
    struct replay_draws draws = {
        .count = (size_t)input->cell->draws * (input->stage == 2 ? BUDGET_SECOND_DRAWS : 1), .vocab = vocab};
    draws.draw = script_memory(memory, draws.count * sizeof *draws.draw);
    float *logits = script_memory(memory, vocab * sizeof *logits);
    double *pmf = script_memory(memory, vocab * sizeof *pmf);
    for (size_t d = 0; d < draws.count; d++)
        draw_choose(input, memory, d, d == draws.count / 2, logits, pmf, &draws.draw[d]);
    return draws;
}
