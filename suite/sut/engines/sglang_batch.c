/* sglang_batch.c: SGLang's running batch, whose flags remember requests that are gone.
 *
 * Flags are set when a prefill batch is built, joined when it is adopted, and untouched when rows go. They
 * start afresh only if the running batch has no rows at the moment a prefill batch is adopted; a request that
 * has finished still is a row until the next filter, which upstream comes before a decode step and not before
 * an adoption (0.5.23: in every round of the scheduler). In the article's words a request is dropped as it finishes; its code looks at one batch and
 * remembers nothing.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "suite/sut/engines/sglang.h"

struct engine_flags sglang_together(struct engine_flags a, struct engine_flags b)
{
    return (struct engine_flags){
        .all_greedy = a.all_greedy && b.all_greedy,
        .need_top_k = a.need_top_k || b.need_top_k,
        .need_top_p = a.need_top_p || b.need_top_p,
        .need_min_p = a.need_min_p || b.need_min_p,
        .bad_seed = a.bad_seed || b.bad_seed,
        .top_k_bound = !a.top_k_bound || !b.top_k_bound ? 0
                       : a.top_k_bound > b.top_k_bound  ? a.top_k_bound
                                                        : b.top_k_bound,
    };
}

int sglang_admit(struct engine_batch *prefill, int64_t id, const struct engine_flags *flags)
{
    if (engine_batch_reserve(prefill, prefill->rows + 1))
        return -1;
    prefill->flags = prefill->rows ? sglang_together(prefill->flags, *flags) : *flags;
    prefill->row[prefill->rows++] = (struct engine_row){.id = id, .flags = *flags};
    return 0;
}

size_t sglang_state(enum engine_reading reading, const struct engine_batch *batch, struct engine_flags *flags)
{
    *flags = batch->flags;
    if (reading == ENGINE_UPSTREAM)
        return batch->rows;
    size_t unfinished = 0;
    for (size_t i = 0; i < batch->rows; i++) {
        const struct engine_row *row = &batch->row[i];
        if (row->finished)
            continue;
        if (reading == ENGINE_ARTICLE_PORT)
            *flags = unfinished ? sglang_together(*flags, row->flags) : row->flags;
        unfinished++;
    }
    return unfinished;
}

/* The largest top_k is looked for in the rows that are there, where flags are what was. */
size_t sglang_state_of_rows(enum engine_reading reading, const struct engine_batch *batch,
                            struct engine_flags *flags)
{
    size_t rows = sglang_state(reading, batch, flags);
    struct engine_flags now = {0};
    for (size_t i = 0; i < batch->rows; i++)
        now = i ? sglang_together(now, batch->row[i].flags) : batch->row[i].flags;
    flags->top_k_bound = now.top_k_bound;
    return rows;
}

/* sglang_state says 0 rows. Asked at every join, so it stops at the first row there is. */
static bool is_empty(enum engine_reading reading, const struct engine_batch *batch)
{
    size_t i = 0;
    while (i < batch->rows && reading != ENGINE_UPSTREAM && batch->row[i].finished)
        i++;
    return i == batch->rows;
}

int sglang_join(enum engine_reading reading, struct engine_batch *running, struct engine_batch *prefill)
{
    if (engine_batch_reserve(running, running->rows + prefill->rows))
        return -1;
    engine_batch_filter(prefill);
    if (prefill->rows) {
        if (is_empty(reading, running)) {
            running->rows = 0;
            running->flags = prefill->flags;
        } else {
            running->flags = sglang_together(running->flags, prefill->flags);
        }
        memcpy(running->row + running->rows, prefill->row, prefill->rows * sizeof *prefill->row);
        running->rows += prefill->rows;
    }
    prefill->rows = 0;
    return 0;
}

/* A row that has ended is dropped on the way; flags are not. */
int sglang_mix(struct engine_batch *running, struct engine_batch *prefill)
{
    if (prefill->rows == 0)
        return 0;
    if (engine_batch_reserve(prefill, prefill->rows + running->rows))
        return -1;
    engine_batch_filter(running);
    if (running->rows) {
        memcpy(prefill->row + prefill->rows, running->row, running->rows * sizeof *running->row);
        prefill->rows += running->rows;
        prefill->flags = sglang_together(prefill->flags, running->flags);
    }
    running->rows = 0;
    return 0;
}

/* With n above 1 the tokenizer's process sends the prompt alone, for no token, waits for its answer, and then sends n
 * requests that share its cache and nothing else. There is no swapping: what loses its memory is computed anew. */
int sglang_forks(enum engine_reading reading, const struct engine_server *server,
                 const struct engine_values *requests, size_t count, struct engine_forks *forks,
                 struct engine_refusal *refusal)
{
    (void)reading;
    (void)server;
    for (size_t i = 0; i < count; i++) {
        const struct engine_value *n = &requests[i].at[ENGINE_N];
        const double sequences = engine_is_number(n) && n->number > 1 ? trunc(n->number) : 1;
        char text[32];
        if (!(sequences <= INT32_MAX))
            return engine_refuse(refusal, 0, "n %s is no number of sequences",
                                 engine_python_text(n, text, sizeof text));
        forks[i] = (struct engine_forks){.sequences = (int64_t)sequences,
                                         .drawn = 1,
                                         .kept = 1,
                                         .preempted = ENGINE_RECOMPUTE,
                                         .last_preempted = ENGINE_RECOMPUTE,
                                         .ahead = sequences > 1};
    }
    return 0;
}
