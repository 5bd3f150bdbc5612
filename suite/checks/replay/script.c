/* script.c: the lines of a replay cell (lines.h). */
#include <stdio.h>
#include <string.h>

#include "suite/checks/replay/lines.h"
#include "suite/judge/request.h"

#define GOLDEN_BATCH 64

static void seeds_add(struct script *script, struct script_line *line, const struct replay_draws *draws,
                      const size_t *draw, uint64_t places)
{
    int64_t *seed = script_memory(script, places * sizeof *seed);
    int64_t *position = script_memory(script, places * sizeof *position);
    for (size_t p = 0; p < places; p++) {
        seed[p] = draws->draw[draw[p]].seed;
        position[p] = draws->draw[draw[p]].position;
    }
    frame_add(&line->request, "seeds", FRAME_I64, 1, &places, seed);
    frame_add(&line->request, "positions", FRAME_I64, 1, &places, position);
}

static void temperatures_add(struct script *script, struct script_line *line,
                             const struct replay_draws *draws, const size_t *draw, uint64_t places)
{
    double *temperature = script_memory(script, places * sizeof *temperature);
    for (size_t p = 0; p < places; p++)
        temperature[p] = draws->draw[draw[p]].temperature;
    frame_add(&line->request, "temperature", FRAME_F64, 1, &places, temperature);
}

/* draw[places] of the draws; rows as the line has them. */
static void line_add(const struct script_input *input, enum value_kind kind, struct script *script,
                     const struct replay_draws *draws, const char *name, uint64_t batch, const size_t *draw,
                     size_t places, bool moved)
{
    const struct sut *sut = input->sut;
    const size_t rows = moved ? places : draws->count, vocab = draws->vocab;
    struct script_line *line =
        script_sample(script, name, batch, places, plan_seed(input->plan, input->cell, input->stage, name));
    const struct law_parameters **of = script_memory(script, rows * sizeof *of);
    float *values = script_memory(script, rows * vocab * sizeof *values);
    int32_t *row_index = script_memory(script, places * sizeof *row_index);
    for (size_t r = 0; r < rows; r++) {
        const struct replay_draw *own = &draws->draw[moved ? draw[r] : r];
        of[r] = &own->parameters;
        memcpy(values + r * vocab, own->values, vocab * sizeof *values);
    }
    for (size_t p = 0; p < places; p++)
        row_index[p] = (int32_t)(moved ? p : draw[p]);
    script_values(script, line, kind, sut->dtype, values, rows, vocab);
    frame_add(&line->request, "row_index", FRAME_I32, 1, (uint64_t[]){places}, row_index);
    const struct request_parameters parameters =
        request_parameters_make(script, of, rows, vocab, row_index, places);
    request_parameters_add(&parameters, &line->request, places);
    if (kind == VALUE_LOGITS && sut->temperature)
        temperatures_add(script, line, draws, draw, places);
    if (sut_can(sut, "seeded"))
        seeds_add(script, line, draws, draw, places);
    if (sut_can(sut, "kept_out"))
        frame_set(&line->request, "kept", "1");
}

/* A golden's requests as draws; what they borrow is copied when a line is made of them. */
static struct replay_draws golden_draws(struct script *memory, const struct draws_requests *requests)
{
    struct replay_draws draws = {.count = requests->requests, .vocab = requests->table[0].vocab};
    draws.draw = script_memory(memory, draws.count * sizeof *draws.draw);
    for (size_t r = 0; r < draws.count; r++) {
        const struct draws_request *request = &requests->request[r];
        struct replay_draw *draw = &draws.draw[r];
        *draw = (struct replay_draw){.values = requests->table[request->table].logits,
                                     .parameters = law_parameters_none(),
                                     .temperature = request->temperature,
                                     .seed = request->seed,
                                     .position = request->position};
        draw->parameters.limits = (struct law_limits){request->top_k, request->top_p, request->min_p};
        draw->parameters.edits.repetition = request->repetition_penalty;
        draw->parameters.edits.frequency = request->frequency_penalty;
        draw->parameters.edits.presence = request->presence_penalty;
        draw->parameters.edits.prompt = (struct law_ids){request->prompt, request->prompt_tokens};
        draw->parameters.edits.output = (struct law_ids){request->output, request->output_tokens};
    }
    return draws;
}

static int golden_add(const struct script_input *input, struct script *script, char *why, size_t why_bytes)
{
    struct replay_golden golden;
    if (replay_golden_read(input->plan, input->cell, input->sut, &golden, why, why_bytes)) {
        replay_golden_free(&golden);
        return -1;
    }
    for (size_t b = 0; b < golden.batches; b++) {
        const struct replay_draws draws = golden_draws(script, &golden.requests);
        char name[32];
        snprintf(name, sizeof name, "golden-%zu", b);
        line_add(input, VALUE_LOGITS, script, &draws, name, GOLDEN_BATCH, golden.batch[b].request,
                 golden.batch[b].rows, true);
    }
    replay_golden_free(&golden);
    return 0;
}

enum script_start replay_script(const struct script_input *input, struct script *script, char *why,
                                size_t why_bytes)
{
    const struct sut *sut = input->sut;
    const struct keying keying = keying_of(sut);
    if (!(keying.seeded && keying.alone) && !sut_can(sut, "top_k") && !sut_can(sut, "kept_out")) {
        snprintf(why, why_bytes, "the sampler claims no seeded draw that stands alone, and takes no top_k");
        return SCRIPT_SKIP;
    }
    const struct replay_draws draws = replay_draws_choose(input, script);
    size_t *draw = script_memory(script, draws.count * sizeof *draw);
    const size_t all = replay_places(REPLAY_LISTED, draws.count, draw);
    line_add(input, input->kind, script, &draws, "solo", 1, draw, all, false);
    for (size_t i = 0; i < replay_lines; i++) {
        const size_t places = replay_places(replay_line[i].order, draws.count, draw);
        line_add(input, input->kind, script, &draws, replay_line[i].name, replay_line[i].batch, draw, places,
                 replay_line[i].moved);
    }
    return golden_add(input, script, why, why_bytes) ? SCRIPT_TROUBLE : SCRIPT_READY;
}
