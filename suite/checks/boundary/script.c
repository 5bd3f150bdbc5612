/* script.c: the cases of a golden as messages: one for all rows of a length, their draws in turn, so that every batch
 * mixes requests; one each for what must be refused. */
#include <stdio.h>
#include <string.h>

#include "suite/checks/boundary/cases.h"
#include "suite/judge/request.h"

/* The asks of one message, by row. */
static void add_line(const struct script_input *in, struct script *script, const struct boundary_asks *asks,
                     const struct boundary_ask *first)
{
    const size_t rows = first->rows, vocab = first->of.vocab, draws = rows * first->draws;
    const struct law_parameters **of = script_memory(script, rows * sizeof *of);
    float *values = script_memory(script, rows * vocab * sizeof *values);
    double *temperature = script_memory(script, draws * sizeof *temperature);
    int32_t *row_index = script_memory(script, draws * sizeof *row_index);
    bool warm = false;
    for (size_t i = 0; i < asks->count; i++) {
        const struct boundary_ask *ask = &asks->ask[i];
        if (strcmp(ask->line, first->line) != 0)
            continue;
        of[ask->row] = &ask->of.parameters;
        memcpy(values + ask->row * vocab, ask->of.values, vocab * sizeof *values);
        warm |= ask->of.temperature != 1;
        for (size_t d = ask->row; d < draws; d += rows) {
            row_index[d] = (int32_t)ask->row;
            temperature[d] = ask->of.temperature;
        }
    }
    const struct plan_batch *batch = &in->plan->batch[in->plan->batches - 1];
    struct script_line *line = script_sample(script, first->line, batch->size, draws,
                                             plan_seed(in->plan, in->cell, in->stage, first->line));
    line->may_refuse = true;
    script_values(script, line, first->of.kind, in->sut->dtype, values, rows, vocab);
    frame_add(&line->request, "row_index", FRAME_I32, 1, (uint64_t[]){draws}, row_index);
    if (warm)
        frame_add(&line->request, "temperature", FRAME_F64, 1, (uint64_t[]){draws}, temperature);
    if (sut_can(in->sut, "kept_out"))
        frame_set(&line->request, "kept", "1");
    struct request_parameters parameters = request_parameters_make(script, of, rows, vocab, row_index, draws);
    request_parameters_add(&parameters, &line->request, draws);
}

enum script_start boundary_script(const struct script_input *in, struct script *script, char *why,
                                  size_t why_bytes)
{
    struct boundary_asks asks;
    struct trouble trouble = {0};
    if (boundary_asks_open(&asks, in->plan->golden_dir, in->cell->name, in->sut, in->stage, &trouble)) {
        boundary_asks_free(&asks);
        snprintf(why, why_bytes, "%s", trouble.text);
        return SCRIPT_TROUBLE;
    }
    for (size_t i = 0; i < asks.count; i++)
        if (asks.ask[i].row == 0)
            add_line(in, script, &asks, &asks.ask[i]);
    enum script_start start = asks.count ? SCRIPT_READY : SCRIPT_SKIP;
    if (!asks.count)
        snprintf(why, why_bytes,
                 "no case for this sampler: its capabilities lack what the cases ask, or its contract names "
                 "no rule and "
                 "the rules disagree");
    boundary_asks_free(&asks);
    return start;
}
