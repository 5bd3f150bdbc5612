/* routes.c: mutants that serve a row with what belongs to another row, batch or path.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

/* What a user sets for a request, but for its seed. */
static void parameters_copy(struct mutant_request *to, const struct mutant_request *from)
{
    to->temperature = from->temperature;
    to->filter = from->filter;
    to->penalties.repetition = from->penalties.repetition;
    to->penalties.frequency = from->penalties.frequency;
    to->penalties.presence = from->penalties.presence;
}

void mutant_parameters_last(struct mutant_batch *batch)
{
    for (size_t d = 0; d + 1 < batch->draws; d++)
        parameters_copy(&batch->request[d], &batch->request[batch->draws - 1]);
}

void mutant_parameters_reversed(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws / 2; d++) {
        struct mutant_request *low = &batch->request[d], *high = &batch->request[batch->draws - 1 - d];
        const struct mutant_request kept = *low;
        parameters_copy(low, high);
        parameters_copy(high, &kept);
    }
}

/* From the second call of a message on, the first call's parameters serve place by place. */
void mutant_parameters_captured(struct mutant_batch *batch)
{
    const struct mutant_memory *memory = batch->memory;
    for (size_t d = 0; memory->calls > 0 && d < batch->draws && d < memory->first_draws; d++)
        parameters_copy(&batch->request[d], &memory->first[d]);
}

void mutant_batch_top_p(struct mutant_batch *batch)
{
    for (size_t d = 0; batch->draws > 1 && d < batch->draws; d++)
        batch->request[d].filter.top_p = 1;
}

/* A row without top_k takes that of the row before it. */
void mutant_unset_top_k(struct mutant_batch *batch)
{
    for (size_t d = 1; d < batch->draws; d++)
        if (batch->request[d].filter.top_k == -1)
            batch->request[d].filter.top_k = batch->request[d - 1].filter.top_k;
}

static bool penalised(const struct penalties *penalties)
{
    return penalties->repetition != 1 || penalties->frequency != 0 || penalties->presence != 0;
}

/* The list holds the penalised rows only, and is read by place in the batch. */
void mutant_penalties_compacted(struct mutant_batch *batch)
{
    size_t next = 0;
    for (size_t d = 0; d < batch->draws; d++) {
        struct penalties *here = &batch->request[d].penalties;
        while (next < batch->draws && !penalised(&batch->request[next].penalties))
            next++;
        const bool found = next < batch->draws;
        const struct penalties *from = &batch->request[found ? next : d].penalties;
        here->repetition = found ? from->repetition : 1;
        here->frequency = found ? from->frequency : 0;
        here->presence = found ? from->presence : 0;
        next += found;
    }
}

/* When a batch has shrunk, its rows moved up; the seeds stayed where they were. */
void mutant_seeds_stay(struct mutant_batch *batch)
{
    const struct mutant_memory *memory = batch->memory;
    for (size_t d = 0; batch->draws < memory->before_draws && memory->calls > 0 && d < batch->draws; d++)
        if (batch->request[d].seeded)
            batch->request[d].seed = memory->before[d].seed;
}

static bool filtered(const struct mutant_request *request)
{
    return request->filter.top_k > 0 || request->filter.top_p < 1 || request->filter.min_p > 0;
}

/* One filtered row sends the whole batch down a path with another noise. */
void mutant_filtered_neighbour(struct mutant_batch *batch)
{
    size_t rows = 0;
    for (size_t d = 0; d < batch->draws; d++)
        rows += filtered(&batch->request[d]);
    for (size_t d = 0; rows > 0 && rows < batch->draws && d < batch->draws; d++)
        batch->request[d].position ^= UINT64_C(1) << 63;
}

/* Beside rows that are sampled, a row with top_k 1 is sampled too, from its two heaviest. */
void mutant_greedy_sampled(struct mutant_batch *batch)
{
    size_t greedy = 0;
    for (size_t d = 0; d < batch->draws; d++)
        greedy += batch->request[d].filter.top_k == 1;
    for (size_t d = 0; greedy < batch->draws && d < batch->draws; d++)
        if (batch->request[d].filter.top_k == 1)
            batch->request[d].filter.top_k = 2;
}

void mutant_history_shifted(struct mutant_batch *batch)
{
    for (size_t d = batch->draws - 1; d > 0; d--) {
        batch->request[d].penalties.output = batch->request[d - 1].penalties.output;
        batch->request[d].penalties.output_tokens = batch->request[d - 1].penalties.output_tokens;
    }
}

void mutant_mask_first(struct mutant_batch *batch)
{
    for (size_t d = 1; d < batch->draws; d++)
        batch->request[d].penalties.allowed = batch->request[0].penalties.allowed;
}

/* Heaviest first, the lowest id among equals; what is not larger than nothing comes last. */
static size_t rank_of(const float *values, size_t vocab, size_t id)
{
    size_t rank = 0;
    for (size_t i = 0; i < vocab; i++)
        rank += values[i] > values[id] || (values[i] == values[id] && i < id);
    return rank;
}

/* The token's place in its own sorted row, looked up in the sorted ids of the batch's first row. */
int32_t mutant_sorted_first(const struct mutant_draw *draw, int32_t token)
{
    const size_t vocab = draw->row->vocab;
    const float *first = draw->batch->request[0].values;
    if (token < 0 || draw->request->values == first || !filtered(draw->request))
        return token;
    const size_t rank = rank_of(draw->request->values, vocab, (size_t)token);
    for (size_t i = 0; i < vocab; i++)
        if (rank_of(first, vocab, i) == rank)
            return (int32_t)i;
    return token;
}

int32_t mutant_rank_answered(const struct mutant_draw *draw, int32_t token)
{
    if (token < 0 || !filtered(draw->request))
        return token;
    return (int32_t)rank_of(draw->request->values, draw->row->vocab, (size_t)token);
}
