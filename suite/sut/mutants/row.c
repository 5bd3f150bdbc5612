/* row.c: rows of the mutants: from the caller's values to weights and a prepared race, remembered between
 * calls.
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
    return philox_word(draw->seed, MUTANT_STREAM, draw->position, column);
}

void mutant_row_clear(struct mutant_row *row)
{
    sampler_row_free(row->sampler);
    free(row->values);
    free(row->weight);
    memset(row, 0, sizeof *row);
}

/* Same bits, not same numbers: a NaN is itself here. */
static bool row_holds(const struct mutant_row *row, int32_t kind, const float *values, size_t vocab,
                      double temperature)
{
    return row->used && row->kind == kind && row->vocab == vocab && row->temperature == temperature &&
           memcmp(row->values, values, vocab * sizeof *values) == 0;
}

static void row_weights(struct mutant_row *row, float temperature)
{
    if (row->kind == SAMPLEGATE_LOGITS)
        softmax(row->values, row->vocab, temperature, row->weight);
    else
        for (size_t i = 0; i < row->vocab; i++) /* only a temperature stage makes it other than 1 here */
            row->weight[i] = temperature == 1 ? row->values[i] : powf(row->values[i], 1 / temperature);
}

int mutant_row_prepare(struct mutant_row *row, const struct mutant *mutant, int32_t kind, const float *values,
                       size_t vocab, double temperature)
{
    if (row_holds(row, kind, values, vocab, temperature))
        return SAMPLEGATE_OK;
    mutant_row_clear(row);
    const float used = (float)(mutant->temperature ? mutant->temperature(temperature) : temperature);
    if (!(used > 0) || isinf(used) || vocab > (size_t)1 << 20)
        return SAMPLEGATE_INVALID;
    row->values = malloc(vocab * sizeof *row->values);
    row->weight = malloc(vocab * sizeof *row->weight);
    if (!row->values || !row->weight)
        return SAMPLEGATE_FAILED;
    memcpy(row->values, values, vocab * sizeof *values);
    row->kind = kind;
    row->vocab = vocab;
    row->temperature = temperature;
    row_weights(row, used);
    if (mutant->weights && !mutant->weights(row->weight, vocab))
        return SAMPLEGATE_FAILED;
    if (!mutant->choose) {
        row->sampler = sampler_row_new(mutant->coarse_noise ? RULE_TORCH_RACE : RULE_RACE,
                                       SAMPLER_PROBABILITIES, row->weight, vocab, 1);
        if (!row->sampler)
            return SAMPLEGATE_FAILED;
    }
    row->used = true;
    return SAMPLEGATE_OK;
}
