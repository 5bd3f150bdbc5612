/* answer.c: mutants that draw rightly and then answer something else.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

/* Word 0 decides whether, word 1 which of the impossible ids. */
int32_t mutant_leak_masked(const struct mutant_draw *draw, int32_t token)
{
    const struct mutant_row *row = draw->row;
    if (token < 0 || mutant_word(draw, 0) >= UINT32_MAX / 1000)
        return token;
    uint32_t impossible = 0;
    for (size_t i = 0; i < row->vocab; i++)
        impossible += row->weight[i] == 0;
    if (!impossible)
        return token;
    uint32_t left = mutant_word(draw, 1) % impossible;
    for (size_t i = 0; i < row->vocab; i++)
        if (row->weight[i] == 0 && left-- == 0)
            return (int32_t)i;
    return token;
}

/* Flat rows show it to blocks of ids, and to nothing that sorts by weight unless ties are sorted by id. */
int32_t mutant_id_drift(const struct mutant_draw *draw, int32_t token)
{
    const int32_t vocab = (int32_t)draw->row->vocab, lower = token - (vocab - vocab / 2);
    if (lower < 0 || draw->row->weight[lower] <= 0 || mutant_word(draw, 0) >= UINT32_MAX / 8)
        return token;
    return lower;
}

/* One draw in thirty is uniform over the ids that can come. */
int32_t mutant_uniform_leak(const struct mutant_draw *draw, int32_t token)
{
    const struct mutant_row *row = draw->row;
    uint32_t possible = 0;
    if (mutant_word(draw, 0) >= UINT32_MAX / 30)
        return token;
    for (size_t i = 0; i < row->vocab; i++)
        possible += row->kept[i];
    uint32_t left = possible ? mutant_word(draw, 1) % possible : 0;
    for (size_t i = 0; i < row->vocab; i++)
        if (row->kept[i] && left-- == 0)
            return (int32_t)i;
    return token;
}

/* A greedy request, said as top_k 1, goes through a reduction that keeps the later of two equals. */
int32_t mutant_greedy_highest(const struct mutant_draw *draw, int32_t token)
{
    if (token < 0 || draw->request->filter.top_k != 1)
        return token;
    int32_t highest = token;
    for (size_t i = (size_t)token; i < draw->row->vocab; i++)
        if (draw->request->values[i] == draw->request->values[token])
            highest = (int32_t)i;
    return highest;
}
