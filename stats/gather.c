/* gather.c: the steps of every partition: order the ids, fill a cell, close it, merge what is too light.
 *
 * Sees:         the pmf only.
 * Cannot see:   observed counts.
 * False alarms: none of its own.
 * Source:       none needed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/gather.h"
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)

/* The digit of p, the heaviest first: positive doubles are ordered as their patterns are. */
static size_t digit_of(double p, int shift)
{
    uint64_t pattern;
    memcpy(&pattern, &p, sizeof pattern);
    return ~pattern >> shift & (DIGITS - 1);
}

/* One pass of a radix sort, which keeps the order of equals. 0: all have the same digit, nothing moved. */
static int sort_pass(const struct ranked *from, struct ranked *to, size_t count, int shift)
{
    size_t place[DIGITS] = {0}, start = 0;
    for (size_t i = 0; i < count; i++)
        place[digit_of(from[i].p, shift)]++;
    if (place[digit_of(from[0].p, shift)] == count)
        return 0;
    for (size_t d = 0; d < DIGITS; d++) {
        const size_t here = place[d];
        place[d] = start;
        start += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[digit_of(from[i].p, shift)]++] = from[i];
    return 1;
}

struct ranked *gather_ranking(const double *pmf, size_t vocab, size_t *live)
{
    struct ranked *ranked = malloc((vocab + 1) * sizeof *ranked),
                  *other = malloc((vocab + 1) * sizeof *other);
    *live = 0;
    for (size_t id = 0; ranked && other && id < vocab; id++)
        if (pmf[id] > 0)
            ranked[(*live)++] = (struct ranked){pmf[id], (uint32_t)id};
    for (int shift = 0; *live > 0 && shift < 64; shift += DIGIT_BITS)
        if (sort_pass(ranked, other, *live, shift)) {
            struct ranked *const sorted = other;
            other = ranked;
            ranked = sorted;
        }
    if (!other) {
        free(ranked);
        return NULL;
    }
    free(other);
    return ranked;
}

struct gather gather_begin(size_t vocab, double smallest)
{
    struct gather gather = {calloc(1, sizeof *gather.partition), 0, smallest};
    struct partition *partition = gather.partition;
    if (!partition)
        return gather;
    partition->vocab = vocab;
    partition->cell_of = malloc((vocab + 1) * sizeof *partition->cell_of);
    partition->mass = malloc((vocab + 1) * sizeof *partition->mass);
    if (!partition->cell_of || !partition->mass) {
        partition_free(partition);
        gather.partition = NULL;
        return gather;
    }
    for (size_t id = 0; id < vocab; id++)
        partition->cell_of[id] = PARTITION_NONE;
    return gather;
}

void gather_add(struct gather *gather, uint32_t id, double p)
{
    gather->partition->cell_of[id] = (uint32_t)gather->partition->cells;
    gather->open += p;
}

void gather_close(struct gather *gather)
{
    if (gather->open <= 0 || gather->open < gather->smallest)
        return;
    gather->partition->mass[gather->partition->cells++] = gather->open;
    gather->open = 0;
}

struct partition *gather_end(struct gather *gather)
{
    struct partition *partition = gather->partition;
    gather_close(gather);
    if (gather->open <= 0)
        return partition;
    if (partition->cells == 0) {
        partition->mass[partition->cells++] = gather->open;
        return partition;
    }
    uint32_t last = (uint32_t)partition->cells - 1;
    partition->mass[last] += gather->open;
    for (size_t id = 0; id < partition->vocab; id++) {
        if (partition->cell_of[id] == last + 1)
            partition->cell_of[id] = last;
    }
    return partition;
}
