/* request.c: a call of the plug-in's ABI as one request a draw.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

#define EDITS (SAMPLEGATE_PENALTIES | SAMPLEGATE_LOGIT_BIAS | SAMPLEGATE_ALLOWED_MASK | SAMPLEGATE_MIN_TOKENS)

static void list_fill(const int64_t *ids, const int64_t *offsets, int64_t draw, const int64_t **list,
                      size_t *count)
{
    *list = offsets ? ids + offsets[draw] : NULL;
    *count = offsets ? (size_t)(offsets[draw + 1] - offsets[draw]) : 0;
}

static void penalties_fill(struct penalties *penalties, const struct samplegate_call *call, int64_t draw)
{
    const int64_t start = call->row_index[draw] * call->values.columns;
    if (call->repetition_penalty)
        penalties->repetition = call->repetition_penalty[draw];
    if (call->frequency_penalty)
        penalties->frequency = call->frequency_penalty[draw];
    if (call->presence_penalty)
        penalties->presence = call->presence_penalty[draw];
    if (call->min_tokens)
        penalties->min_tokens = call->min_tokens[draw];
    list_fill(call->prompt_tokens, call->prompt_offsets, draw, &penalties->prompt, &penalties->prompt_tokens);
    list_fill(call->output_tokens, call->output_offsets, draw, &penalties->output, &penalties->output_tokens);
    list_fill(call->stop_ids, call->stop_offsets, draw, &penalties->stop, &penalties->stops);
    penalties->logit_bias = call->logit_bias ? call->logit_bias + start : NULL;
    penalties->allowed = call->allowed ? call->allowed + start : NULL;
}

void mutant_request_fill(struct mutant_request *request, const struct samplegate_call *call, int64_t draw,
                         const struct mutant_memory *memory)
{
    const int64_t row = call->row_index[draw];
    *request = (struct mutant_request){
        .row = row,
        .values = (const float *)call->values.data + row * call->values.row_stride,
        .temperature = call->temperature ? call->temperature[draw] : 1,
        .filter = {.top_k = call->top_k ? call->top_k[draw] : -1,
                   .top_p = call->top_p ? call->top_p[draw] : 1,
                   .min_p = call->min_p ? call->min_p[draw] : 0},
        .penalties = penalties_none(),
        .edited = call->options & EDITS,
        .seeded = call->seed,
        .seed = call->seed ? (uint64_t)call->seed[draw] : memory->seed,
        .position = call->seed ? (uint64_t)call->position[draw] : memory->draws + (uint64_t)draw};
    penalties_fill(&request->penalties, call, draw);
}
