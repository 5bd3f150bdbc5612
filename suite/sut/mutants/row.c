/* row.c: rows of the mutants: from the caller's values and a request to weights and a prepared race,
 * remembered between calls.
 *
 * A stranger's buffer may change between two calls at the same address, so a remembered row is compared, not
 * trusted. SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"
#include "kernels/philox.h"
#include "kernels/softmax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Far from the streams of the race and of the reference's CDF. */
#define MUTANT_STREAM 1000

uint32_t mutant_word(const struct mutant_draw *draw, uint32_t column)
{
    return philox_word(draw->request->seed, MUTANT_STREAM, draw->request->position, column);
}

void mutant_row_clear(struct mutant_row *row)
{
    sampler_row_free(row->sampler);
    free(row->values);
    free(row->weight);
    free(row->kept);
    memset(row, 0, sizeof *row);
}

/* Same bits, not same numbers: a NaN is itself here. */
static bool row_holds(const struct mutant_row *row, int32_t kind, size_t vocab,
                      const struct mutant_request *request)
{
    return row->used && !request->edited && row->kind == kind && row->vocab == vocab &&
           memcmp(row->values, request->values, vocab * sizeof *row->values) == 0;
}

/* logits[vocab] may be edited. */
static enum penalty_status row_weights(struct mutant_row *row, const struct mutant *mutant, float temperature,
                                       const struct mutant_request *request, float *logits)
{
    enum penalty_status status = PENALTY_OK;
    if (row->kind == SAMPLEGATE_PROBABILITIES) {
        for (size_t i = 0; i < row->vocab; i++) /* only a temperature stage makes it other than 1 here */
            row->weight[i] = temperature == 1 ? row->values[i] : powf(row->values[i], 1 / temperature);
        return PENALTY_OK;
    }
    if (request->edited) {
        status = mutant->edits
                     ? mutant->edits(&request->penalties, temperature, logits, row->vocab)
                     : penalty_row(penalty_rule_at(0), &request->penalties, temperature, logits, row->vocab);
        temperature = 1; /* it is among the edits */
    }
    if (status == PENALTY_OK)
        softmax(logits, row->vocab, temperature, row->weight);
    return status;
}

static int row_fill(struct mutant_row *row, const struct mutant *mutant, float temperature,
                    const struct mutant_request *request)
{
    const struct filter_parameters *filter = &request->filter;
    float *logits = malloc(row->vocab * sizeof *logits);
    if (!logits)
        return SAMPLEGATE_FAILED;
    memcpy(logits, request->values, row->vocab * sizeof *logits);
    const enum penalty_status edited = row_weights(row, mutant, temperature, request, logits);
    free(logits);
    if (edited != PENALTY_OK)
        return edited == PENALTY_NO_MEMORY ? SAMPLEGATE_FAILED : SAMPLEGATE_INVALID;
    if (mutant->weights && !mutant->weights(row->weight, row->vocab))
        return SAMPLEGATE_FAILED;
    if (filter->top_k > 0 || filter->top_p < 1 || filter->min_p > 0) {
        if (mutant->filter)
            mutant->filter(filter, row->weight, row->vocab, row->kept);
        else
            filter_row(filter_rule_at(0), filter, row->weight, row->vocab, row->kept);
    }
    for (size_t i = 0; i < row->vocab; i++)
        row->kept[i] = row->weight[i] > 0 && isfinite(row->weight[i]);
    if (mutant->choose)
        return SAMPLEGATE_OK;
    row->sampler = sampler_row_new(mutant->coarse_noise ? RULE_TORCH_RACE : RULE_RACE, SAMPLER_PROBABILITIES,
                                   row->weight, row->vocab, 1);
    return row->sampler ? SAMPLEGATE_OK : SAMPLEGATE_FAILED;
}

int mutant_row_prepare(struct mutant_row *row, const struct mutant *mutant, int32_t kind, size_t vocab,
                       const struct mutant_request *request)
{
    if (row_holds(row, kind, vocab, request))
        return SAMPLEGATE_OK;
    mutant_row_clear(row);
    const double asked = request->temperature;
    const float temperature = (float)(mutant->temperature ? mutant->temperature(asked) : asked);
    if (!(temperature > 0) || isinf(temperature) || vocab > (size_t)1 << 20 ||
        filter_parameters_check(&request->filter) != FILTER_OK)
        return SAMPLEGATE_INVALID;
    row->values = malloc(vocab * sizeof *row->values);
    row->weight = malloc(vocab * sizeof *row->weight);
    row->kept = calloc(vocab, sizeof *row->kept);
    if (!row->values || !row->weight || !row->kept)
        return SAMPLEGATE_FAILED;
    memcpy(row->values, request->values, vocab * sizeof *row->values);
    row->kind = kind;
    row->row = request->row;
    row->vocab = vocab;
    row->temperature = request->temperature;
    row->filter = request->filter;
    const int status = row_fill(row, mutant, temperature, request);
    row->used = status == SAMPLEGATE_OK && !request->edited;
    return status;
}
