/* rows.c: mutants that read the wrong part of memory, or lose the end of a row.
 *
 * All of them stay within the caller's buffers: what such a defect reads is there, and is another's.
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

#include <math.h>

void mutant_stride_ignored(struct mutant_batch *batch)
{
    const struct samplegate_tensor *values = &batch->call->values;
    for (size_t d = 0; d < batch->draws; d++)
        batch->request[d].values = (const float *)values->data + batch->request[d].row * values->columns;
}

void mutant_offset_short(struct mutant_batch *batch)
{
    const struct samplegate_tensor *values = &batch->call->values;
    for (size_t d = 0; d < batch->draws; d++)
        batch->request[d].values =
            (const float *)values->data + (batch->request[d].row * values->row_stride & 0xffff);
}

/* Where nothing else of the caller's is as wide as the vocabulary. */
void mutant_padding_drawn(struct mutant_batch *batch)
{
    const struct samplegate_call *call = batch->call;
    if (!call->logit_bias && !call->allowed && !call->noise)
        batch->vocab = (size_t)call->values.row_stride;
}

bool mutant_last_tile(float *weight, size_t vocab)
{
    for (size_t i = vocab - vocab % 4; i < vocab; i++)
        weight[i] = 0;
    return true;
}

/* Lanes of eight, the last ones filled up with a score of 0: among logs of probabilities that is high. */
int32_t mutant_padding_lane(const struct mutant_draw *draw, const float *q)
{
    const struct mutant_row *row = draw->row;
    const int32_t token = sampler_draw_with_noise(row->sampler, q);
    if (row->vocab % 8 == 0 || (token >= 0 && row->weight[token] >= q[token]))
        return token;
    return (int32_t)row->vocab;
}

/* A NaN spreads through the maximum and the sum to the whole row, which then falls back on id 0. */
int32_t mutant_nan_spreads(const struct mutant_draw *draw, int32_t token)
{
    for (size_t i = 0; i < draw->row->vocab; i++)
        if (isnan(draw->request->values[i]))
            return 0;
    return token;
}

int32_t mutant_invalid_zero(const struct mutant_draw *draw, int32_t token)
{
    (void)draw;
    return token < 0 ? 0 : token;
}
