/* bins.c: the certificate's bins: few enough to bound each exactly, chosen where defects of wide rows lie.
 *
 * Sees:         the heaviest tokens, the tail by octave of probability, and id order within a heavy
 *               octave.
 * Cannot see:   what one token loses to another in its bin.
 * False alarms: none of its own; the bins do not depend on the counts.
 * Source:       octaves, because equal-mass bins are blind to tails; id blocks, because octaves are
 *               blind on flat rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/gather.h"
#include "stats/partition.h"
#include <math.h>
#include <stdlib.h>

#define HEAVIEST 4
#define BINS_MAX 64
#define BLOCKS_OF_ONE 16.0 /* a bin heavier than 1/16 is cut */
#define ROUNDING 1e-9

struct octave {
    size_t first, count; /* ranks */
    double mass;
};

static int by_id(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static double blocks_of(double mass)
{
    return fmax(1, ceil(mass * BLOCKS_OF_ONE - ROUNDING));
}

/* octave[count]: runs of ranks whose p share their power of two. */
static size_t octaves_of(const struct ranked *ranked, size_t live, struct octave *octave)
{
    size_t count = 0;
    int exponent, current = 0;
    for (size_t i = HEAVIEST; i < live; i++) {
        frexp(ranked[i].p, &exponent);
        if (count == 0 || exponent != current)
            octave[count++] = (struct octave){i, 0, 0};
        current = exponent;
        octave[count - 1].count++;
        octave[count - 1].mass += ranked[i].p;
    }
    return count;
}

/* Pools the lightest octaves until all bins fit; returns how many are left. */
static size_t octaves_pool(struct octave *octave, size_t count)
{
    for (;;) {
        double bins = HEAVIEST;
        for (size_t i = 0; i < count; i++)
            bins += blocks_of(octave[i].mass);
        if (bins <= BINS_MAX || count < 2)
            return count;
        octave[count - 2].count += octave[count - 1].count;
        octave[count - 2].mass += octave[count - 1].mass;
        count--;
    }
}

/* Cuts one octave into blocks of equal mass along id. */
static void octave_gather(struct gather *gather, struct ranked *ranked, const struct octave *octave)
{
    struct ranked *member = ranked + octave->first;
    double blocks = blocks_of(octave->mass), before = 0, end = 1;
    qsort(member, octave->count, sizeof *member, by_id);
    for (size_t i = 0; i < octave->count; i++) {
        gather_add(gather, member[i].id, member[i].p);
        before += member[i].p;
        double passed = before / octave->mass * blocks + ROUNDING;
        if (passed >= end && end < blocks) {
            gather_close(gather);
            end = floor(passed) + 1;
        }
    }
    gather_close(gather);
}

struct partition *partition_bins(const double *pmf, size_t vocab)
{
    size_t live = 0;
    struct ranked *ranked = gather_ranking(pmf, vocab, &live);
    struct octave *octave = malloc((live + 1) * sizeof *octave);
    struct gather gather = gather_begin(vocab, 0);
    if (!ranked || !octave || !gather.partition) {
        free(ranked);
        free(octave);
        partition_free(gather.partition);
        return NULL;
    }
    for (size_t i = 0; i < live && i < HEAVIEST; i++) {
        gather_add(&gather, ranked[i].id, ranked[i].p);
        gather_close(&gather);
    }
    size_t octaves = octaves_pool(octave, octaves_of(ranked, live, octave));
    for (size_t i = 0; i < octaves; i++)
        octave_gather(&gather, ranked, &octave[i]);
    free(ranked);
    free(octave);
    return gather_end(&gather);
}
