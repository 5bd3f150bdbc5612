/* vllm_batch.c: the prompts of a step and the running requests of vLLM 0.5.0, which remember nothing.
 *
 * Prompts and decoding requests do not share a step (chunked prefill, which mixes them, is off by default). A
 * request that has finished is gone before the next step, in every reading.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "suite/sut/engines/vllm.h"

struct engine_flags vllm_together(struct engine_flags a, struct engine_flags b)
{
    a.need_penalties |= b.need_penalties;
    a.need_top_p_top_k |= b.need_top_p_top_k;
    a.need_min_p |= b.need_min_p;
    for (int d = 0; d < ENGINE_DRAWS; d++)
        a.draws[d] |= b.draws[d];
    return a;
}

int vllm_admit(struct engine_batch *prefill, int64_t id, const struct engine_flags *flags)
{
    if (engine_batch_reserve(prefill, prefill->rows + 1))
        return -1;
    prefill->row[prefill->rows++] = (struct engine_row){.id = id, .flags = *flags};
    return 0;
}

int vllm_join(enum engine_reading reading, struct engine_batch *running, struct engine_batch *prefill)
{
    (void)reading;
    if (engine_batch_reserve(running, running->rows + prefill->rows))
        return -1;
    engine_batch_filter(prefill);
    if (prefill->rows)
        memcpy(running->row + running->rows, prefill->row, prefill->rows * sizeof *prefill->row);
    running->rows += prefill->rows;
    prefill->rows = 0;
    return 0;
}

size_t vllm_state(enum engine_reading reading, const struct engine_batch *batch, struct engine_flags *flags)
{
    size_t rows = 0;
    (void)reading;
    *flags = (struct engine_flags){0};
    for (size_t i = 0; i < batch->rows; i++)
        if (!batch->row[i].finished) {
            *flags = vllm_together(*flags, batch->row[i].flags);
            rows++;
        }
    return rows;
}
