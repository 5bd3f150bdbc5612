/* cuda_edit.cuh: penalties, bias, allowed ids, min_tokens and temperature on a row of logits, by one block: the edits of
 * penalty.h in the order of a rule. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_EDIT_CUH
#define SAMPLEGATE_CUDA_EDIT_CUH
#include "kernels/cuda_row.cuh"
#include "kernels/penalty.h"

/* What is marked for an id: in the prompt or the output, a stop id; below these, its count. */
#define MARK_PRESENT 0x80000000u
#define MARK_STOP 0x40000000u
#define MARK_COUNT 0x3fffffffu

/* Marks each of the draw's ids. False: one is outside the vocabulary. */
__device__ static bool list_mark(uint32_t *marks, uint32_t vocab, const struct cuda_list &list, uint32_t draw,
                                 uint32_t mark, uint32_t count)
{
    if (!list.offset)
        return true;
    bool good = true;
    for (int64_t t = list.offset[draw] + threadIdx.x; t < list.offset[draw + 1]; t += blockDim.x) {
        const int64_t id = list.id[t];
        if (id < 0 || id >= (int64_t)vocab) {
            good = false;
            continue;
        }
        if (mark)
            atomicOr(&marks[id], mark);
        if (count)
            atomicAdd(&marks[id], 1u);
    }
    return good;
}

__device__ static bool finite_number(float x)
{
    return (kernel_bits(x) & KERNEL_INFINITY_BITS) != KERNEL_INFINITY_BITS;
}

/* One step on one logit. */
struct edit {
    float repetition, frequency, presence, temperature;
    bool stops; /* the output is still shorter than min_tokens */
    const float *bias;
    const uint8_t *allowed;

    __device__ float step(int32_t which, float logit, uint32_t id, uint32_t marks) const
    {
        const uint32_t count = marks & MARK_COUNT;
        switch (which) {
        case PENALTY_BIAS:
            return bias ? kernel_add(logit, bias[id]) : logit;
        case PENALTY_ALLOWED:
            return !allowed || allowed[id] ? logit : minus_infinity();
        case PENALTY_MIN_TOKENS:
            return stops && marks & MARK_STOP ? minus_infinity() : logit;
        case PENALTY_TEMPERATURE:
            return kernel_divide(logit, temperature);
        case PENALTY_REPETITION:
            return marks & MARK_PRESENT ? penalty_repetition(logit, repetition) : logit;
        case PENALTY_FREQUENCY:
            return count ? penalty_frequency(logit, frequency, count) : logit;
        case PENALTY_PRESENCE:
            return count ? penalty_presence(logit, presence) : logit;
        default:
            return logit;
        }
    }
};

/* The edited logits of a draw in out[vocab], which holds the marks until then. False: a parameter is no good. */
__device__ static bool row_edit(const struct cuda_draws &call, uint32_t draw, int64_t index,
                                float temperature, uint32_t *out)
{
    const struct cuda_edits &edits = call.edits;
    const uint32_t vocab = (uint32_t)call.vocab;
    const void *const row = row_start(call, index);
    for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x)
        out[id] = 0;
    __syncthreads();
    bool good = list_mark(out, vocab, edits.prompt, draw, MARK_PRESENT, (uint32_t)edits.counts_prompt);
    good &= list_mark(out, vocab, edits.output, draw, MARK_PRESENT, 1);
    good &= list_mark(out, vocab, edits.stop, draw, MARK_STOP, 0);
    const int64_t output =
        edits.output.offset ? edits.output.offset[draw + 1] - edits.output.offset[draw] : 0;
    const int64_t least = edits.min_tokens ? edits.min_tokens[draw] : 0;
    const struct edit edit = {edits.repetition ? edits.repetition[draw] : 1,
                              edits.frequency ? edits.frequency[draw] : 0,
                              edits.presence ? edits.presence[draw] : 0,
                              temperature,
                              output < least,
                              edits.logit_bias ? edits.logit_bias + index * call.vocab : nullptr,
                              edits.allowed ? edits.allowed + index * call.vocab : nullptr};
    good &= kernel_weight_valid(edit.repetition) && finite_number(edit.frequency) &&
            finite_number(edit.presence) && least >= 0;
    if (block_combine<sum>(!good)) /* also: every mark is made */
        return false;
    for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x) {
        const uint32_t marks = out[id];
        float logit = narrow_value(row, call.dtype, id);
        for (uint32_t s = 0; edits.step[s] != PENALTY_END; s++)
            logit = edit.step(edits.step[s], logit, id, marks);
        out[id] = kernel_bits(logit);
    }
    __syncthreads();
    return true;
}
#endif
