/* script.c: the lines of a determinism cell (lines.h). */
#include <stdio.h>
#include <string.h>

#include "suite/checks/determinism/lines.h"

#define SMALL_SEEDS ((uint64_t)1 << 31) /* every other lane has a seed as users write them, */
#define LARGE_SEEDS ((uint64_t)1 << 62) /* the others one as clients draw them */
#define POSITION_BELOW ((uint64_t)1 << 16)
#define WARMER 0.5 /* a neighbour's temperature */
#define NEIGHBOUR_TOP_K 2
#define FAR ((int64_t)1 << 32)
#define FURTHER ((int64_t)1 << 16) /* within what long contexts reach */

/* What a cell draws at a stage. */
struct draws {
    const struct script_input *input;
    uint64_t count;
    int64_t first_position, lane[DETERMINISM_LANES];
};

static uint64_t number(const struct script_input *input, const char *what)
{
    return plan_seed(input->plan, input->cell, input->stage, what);
}

static void draws_choose(const struct script_input *input, struct draws *draws)
{
    *draws = (struct draws){.input = input, .count = determinism_draws(input->cell, input->stage)};
    draws->first_position = (int64_t)(number(input, "position") % POSITION_BELOW);
    for (int lane = 0; lane < DETERMINISM_LANES; lane++) {
        char what[32];
        snprintf(what, sizeof what, "lane-%d", lane);
        draws->lane[lane] = (int64_t)(number(input, what) % (lane % 2 ? LARGE_SEEDS : SMALL_SEEDS));
    }
}

static int64_t position_of(const struct draws *draws, uint64_t draw)
{
    return draws->first_position + (int64_t)(draw / DETERMINISM_LANES);
}

/* A line of so many draws whose arrays are still to be filled. */
static struct script_line *line_add(const struct draws *draws, struct script *script, const char *name,
                                    uint64_t batch, uint64_t count, int64_t **seed, int64_t **position)
{
    const struct script_input *input = draws->input;
    struct script_line *line = script_sample(script, name, batch, count, number(input, name));
    *seed = script_memory(script, count * sizeof **seed);
    *position = script_memory(script, count * sizeof **position);
    frame_add(&line->request, "seeds", FRAME_I64, 1, &count, *seed);
    frame_add(&line->request, "positions", FRAME_I64, 1, &count, *position);
    return line;
}

static bool has_temperature(const struct script_input *input)
{
    return input->kind == VALUE_LOGITS && input->sut->temperature;
}

/* The cell's own row and temperature. */
static void line_plain(const struct script_input *input, struct script *script, struct script_line *line)
{
    script_values(script, line, input->kind, input->sut->dtype, input->values, 1, input->cell->table->vocab);
    if (has_temperature(input))
        frame_add(&line->request, "temperature", FRAME_F64, 1, (uint64_t[]){1}, &input->cell->temperature);
}

/* The cell's row and, as the second, the same backwards: a neighbour at a lower temperature behind each draw. */
static void line_neighbours(const struct script_input *input, struct script *script, struct script_line *line)
{
    const size_t vocab = input->cell->table->vocab;
    float *values = script_memory(script, 2 * vocab * sizeof *values);
    int32_t *row = script_memory(script, line->draws * sizeof *row);
    double *temperature = script_memory(script, line->draws * sizeof *temperature);
    for (size_t i = 0; i < vocab; i++) {
        values[i] = input->values[i];
        values[vocab + i] = input->values[vocab - 1 - i];
    }
    for (uint64_t place = 0; place < line->draws; place++) {
        row[place] = place % 2;
        temperature[place] = place % 2 ? WARMER : input->cell->temperature;
    }
    script_values(script, line, input->kind, input->sut->dtype, values, 2, vocab);
    frame_add(&line->request, "row_index", FRAME_I32, 1, &line->draws, row);
    if (has_temperature(input))
        frame_add(&line->request, "temperature", FRAME_F64, 1, &line->draws, temperature);
}

/* Every place that no draw of the cell has: a neighbour of another seed, at its position. */
static void neighbours_fill(const struct draws *draws, const bool *own, uint64_t count, int64_t *seed,
                            int64_t *position, int64_t *top_k)
{
    for (uint64_t place = 0; place < count; place++) {
        if (own[place])
            continue;
        seed[place] = draws->lane[place % DETERMINISM_LANES] + 5;
        position[place] = draws->first_position + (int64_t)(place / DETERMINISM_LANES);
        top_k[place] = NEIGHBOUR_TOP_K;
    }
}

static void line_repeat(const struct draws *draws, struct script *script, const struct determinism_line *like)
{
    const uint64_t count = determinism_line_draws(like->order, draws->count);
    int64_t *seed, *position;
    struct script_line *line = line_add(draws, script, like->name, like->batch, count, &seed, &position);
    bool *own = script_memory(script, count * sizeof *own);
    int64_t *top_k = script_memory(script, count * sizeof *top_k);
    line->fresh = like->fresh;
    for (uint64_t d = 0; d < draws->count; d++) {
        const uint64_t place = determinism_place(like->order, d, draws->count);
        own[place] = true;
        seed[place] = draws->lane[d % DETERMINISM_LANES];
        position[place] = position_of(draws, d);
        top_k[place] = -1;
    }
    neighbours_fill(draws, own, count, seed, position, top_k);
    if (like->order == ORDER_FILTERED)
        frame_add(&line->request, "top_k", FRAME_I64, 1, &count, top_k);
    (like->order == ORDER_EVEN ? line_neighbours : line_plain)(draws->input, script, line);
}

/* The cell's draws with every seed and every position so much further. */
static void line_shifted(const struct draws *draws, struct script *script, const char *name, int64_t seeds,
                         int64_t positions)
{
    int64_t *seed, *position;
    struct script_line *line =
        line_add(draws, script, name, DETERMINISM_LANES, draws->count, &seed, &position);
    for (uint64_t d = 0; d < draws->count; d++) {
        seed[d] = draws->lane[d % DETERMINISM_LANES] + seeds;
        position[d] = position_of(draws, d) + positions;
    }
    line_plain(draws->input, script, line);
}

static void line_special(const struct draws *draws, struct script *script, const char *name, uint64_t batch,
                         bool fresh)
{
    int64_t *seed, *position;
    struct script_line *line = line_add(draws, script, name, batch, draws->count, &seed, &position);
    line->fresh = fresh;
    for (uint64_t d = 0; d < draws->count; d++) {
        seed[d] = determinism_special[d % DETERMINISM_SPECIALS];
        position[d] = draws->first_position + (int64_t)(d / DETERMINISM_SPECIALS);
    }
    line_plain(draws->input, script, line);
}

static void golden_parameters(const struct script_input *input, const struct draws_request *request,
                              struct script *script, struct script_line *line)
{
    double *numbers = script_memory(script, 3 * sizeof *numbers);
    int64_t *top_k = script_memory(script, sizeof *top_k);
    numbers[0] = request->temperature;
    numbers[1] = request->top_p;
    numbers[2] = request->min_p;
    *top_k = request->top_k;
    if (has_temperature(input))
        frame_add(&line->request, "temperature", FRAME_F64, 1, (uint64_t[]){1}, &numbers[0]);
    if (request->top_p != 1)
        frame_add(&line->request, "top_p", FRAME_F64, 1, (uint64_t[]){1}, &numbers[1]);
    if (request->min_p != 0)
        frame_add(&line->request, "min_p", FRAME_F64, 1, (uint64_t[]){1}, &numbers[2]);
    if (request->top_k != -1)
        frame_add(&line->request, "top_k", FRAME_I64, 1, (uint64_t[]){1}, top_k);
}

static void line_golden(const struct draws *draws, struct script *script, size_t index,
                        const struct draws_case *golden)
{
    const struct script_input *input = draws->input;
    const size_t vocab = golden->table.vocab;
    char name[32];
    uint64_t count = 0, d = 0;
    for (size_t r = 0; r < golden->runs; r++)
        count += golden->run[r].tokens;
    snprintf(name, sizeof name, "golden-%zu", index);
    int64_t *seed, *position;
    struct script_line *line = line_add(draws, script, name, DETERMINISM_LANES, count, &seed, &position);
    for (size_t r = 0; r < golden->runs; r++)
        for (size_t t = 0; t < golden->run[r].tokens; t++, d++) {
            seed[d] = golden->run[r].seed;
            position[d] = golden->run[r].position + (int64_t)t;
        }
    float *values = script_memory(script, vocab * sizeof *values);
    double *pmf = script_memory(script, vocab * sizeof *pmf);
    law_hand_over(golden->table.logits, vocab, golden->request.temperature, input->kind, VALUE_F32, values,
                  pmf);
    script_values(script, line, input->kind, VALUE_F32, values, 1, vocab);
    golden_parameters(input, &golden->request, script, line);
}

enum script_start determinism_script(const struct script_input *input, struct script *script, char *why,
                                     size_t why_bytes)
{
    const struct keying keying = keying_of(input->sut);
    struct draws draws;
    struct determinism_golden golden;
    if (!keying.seeded) {
        snprintf(why, why_bytes, "the sampler takes no seeds");
        return SCRIPT_SKIP;
    }
    if (determinism_golden_read(input->plan, input->cell, input->sut, &golden, why, why_bytes)) {
        determinism_golden_free(&golden);
        return SCRIPT_TROUBLE;
    }
    draws_choose(input, &draws);
    line_repeat(&draws, script, &(struct determinism_line){"base", 32, false, ORDER_SAME, PROMISE_PROCESS});
    for (size_t i = 0; i < determinism_lines; i++) {
        const enum determinism_promise promise = determinism_line[i].promise;
        if (promise == PROMISE_PROCESS ? keying.reproducible
                                       : keying.alone && (promise != PROMISE_FILTERED || !keying.by_rank))
            if (promise != PROMISE_FILTERED || sut_can(input->sut, "top_k"))
                line_repeat(&draws, script, &determinism_line[i]);
    }
    line_shifted(&draws, script, "plus-one", 1, 0);
    line_shifted(&draws, script, "plus-2^32", FAR, 0);
    line_shifted(&draws, script, "position-2^16", 0, FURTHER);
    line_special(&draws, script, "special", DETERMINISM_LANES, false);
    line_special(&draws, script, "special-again", DETERMINISM_LANES, true);
    for (size_t i = 0; i < golden.cases; i++)
        line_golden(&draws, script, i, &golden.draws[i]);
    determinism_golden_free(&golden);
    return SCRIPT_READY;
}
