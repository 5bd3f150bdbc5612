/* select.c: what the filters leave of a row, without a sort.
 *
 * One read finds the largest weight of each column of 64 ids. No more than 64 (r - 1) weights are above the
 * r-th largest of those: they are listed, and a cut that falls among them needs the rest of the row for its
 * total mass at most. A cut below them is found by histograms of keys, eleven bits at a time. All counts and
 * masses are integers, so that nothing depends on how the work is divided. SPDX-License-Identifier: MIT */
#include "kernels/select.h"
#include <stdlib.h>
#include <string.h>
#include "kernels/filter_scalar.h"
#include "kernels/loops.h"

#define LIST_COLUMNS 128 /* no more columns are listed */
#define LIST (64 * LIST_COLUMNS)
#define LIST_SPARE 8 /* columns more than top_k, so that the k-th weight is in the list, and not its edge */
#define TILES (FIXED_POINT_VOCAB_MAX / WEIGHT_TILE)
#define BINS_BITS 11
#define HIGHEST (KERNEL_INFINITY_BITS - 1)

const struct weight_loops *weight_loops_of(const char *isa)
{
    if (strcmp(isa, "avx512") == 0)
        return &weight_loops_avx512;
    return strcmp(isa, "avx2") == 0 ? &weight_loops_avx2 : &weight_loops_baseline;
}

const struct weight_loops *weight_loops_chosen(void)
{
    const struct loops *loops = loops_chosen();
    return loops ? weight_loops_of(loops->name) : &weight_loops_baseline;
}

/* What stays: every id whose key is above the pivot, and of those at the pivot, counted by id, number first to end
 * - 1. */
struct filter_stays {
    uint32_t pivot;
    size_t first, end;
    size_t split;       /* the number that FILTER_SPLIT shrinks, ... */
    float split_weight; /* ... to this; 0: none */
};

/* A row and its heaviest ids. About 130 KB, on the stack. */
struct selection {
    const struct weight_loops *loops;
    const float *weights;
    size_t vocab;
    int scale;      /* of the masses */
    double sum;     /* of all weights, within WEIGHT_SUM_ERROR */
    uint32_t bound; /* all weights with keys above it are in the list; HIGHEST: none are, the list is empty */
    size_t listed;  /* a multiple of 64: weights of 0 fill it */
    size_t columns;
    float column[TILES * WEIGHT_COLUMNS]; /* the largest weight of each */
    float list[LIST];
    uint32_t list_id[LIST];
};

/* Number, or mass, of the weights with low < key <= high; of a mass, high is HIGHEST. */
static uint64_t count_within(const struct selection *s, uint32_t low, uint32_t high)
{
    const int listed = low >= s->bound;
    return s->loops->find(listed ? s->list : s->weights, listed ? s->listed : s->vocab, low, high, NULL, 0);
}

static uint64_t measure_above(const struct selection *s, int in_mass, uint32_t low)
{
    if (!in_mass)
        return count_within(s, low, HIGHEST);
    if (low >= s->bound)
        return s->loops->mass(s->list, s->listed, s->scale, low);
    return s->loops->mass(s->weights, s->vocab, s->scale, low);
}

/* Lists what is above a bound that r columns exceed, and no more than twice as many, where ties allow. */
static void list_fill(struct selection *s, size_t r)
{
    const size_t most = 2 * r < LIST_COLUMNS ? 2 * r : LIST_COLUMNS;
    uint32_t low = 0, high = HIGHEST;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const size_t above = s->loops->find(s->column, s->columns, middle, HIGHEST, NULL, 0);
        if (above <= most)
            high = middle;
        else
            low = middle + 1;
        if (above >= r && above <= most)
            break;
    }
    uint32_t heavy[LIST_COLUMNS];
    const size_t count = s->loops->find(s->column, s->columns, high, HIGHEST, heavy, LIST_COLUMNS);
    for (size_t h = 0; h < count; h++) {
        const size_t tile = heavy[h] / WEIGHT_COLUMNS * WEIGHT_TILE;
        const size_t end = s->vocab - tile < WEIGHT_TILE ? s->vocab : tile + WEIGHT_TILE;
        for (size_t i = tile + heavy[h] % WEIGHT_COLUMNS; i < end; i += WEIGHT_COLUMNS)
            if (kernel_weight_valid(s->weights[i]) && kernel_bits(s->weights[i]) > high) {
                s->list[s->listed] = s->weights[i];
                s->list_id[s->listed++] = (uint32_t)i;
            }
    }
    while (s->listed % 64)
        s->list[s->listed++] = 0;
    s->bound = high;
}

/* The least key, from `low` up, above which no more than `most` lies: in the list, by bisection. */
static uint32_t pivot_in_list(const struct selection *s, int in_mass, uint64_t most, uint32_t low)
{
    uint32_t high = HIGHEST;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (measure_above(s, in_mass, middle) <= most)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The same in the row, where low < the pivot <= high and `above` lies above high. */
static uint32_t pivot_in_row(const struct selection *s, int in_mass, uint64_t most, uint32_t low,
                             uint32_t high, uint64_t above)
{
    for (;;) {
        uint64_t bin[1 << BINS_BITS] = {0};
        int shift = 0;
        while ((high - low - 1) >> shift >> BINS_BITS)
            shift++;
        s->loops->histogram(s->weights, s->vocab, low, high, shift, in_mass, s->scale, bin);
        uint32_t b = (high - low - 1) >> shift;
        for (; b > 0 && above + bin[b] <= most; b--)
            above += bin[b];
        const uint32_t first = low + (b << shift), width = 1u << shift;
        if (shift == 0)
            return first + 1;
        high = high - first < width ? high : first + width;
        low = first;
    }
}

/* The same wherever it is, but no lower than `low`. */
static uint32_t pivot_of(const struct selection *s, int in_mass, uint64_t most, uint32_t low)
{
    const uint32_t edge = low > s->bound ? low : s->bound;
    const uint64_t listed = measure_above(s, in_mass, edge);
    if (listed > most || low >= s->bound)
        return pivot_in_list(s, in_mass, most, edge);
    /* `most` is less than the whole row's mass. */
    if (!(in_mass && low == 0) && measure_above(s, in_mass, low) <= most)
        return low;
    return pivot_in_row(s, in_mass, most, low, s->bound, listed);
}

/* `stays`, cut at a pivot of which `at_pivot` ids stay. */
static struct filter_stays stays_cut(const struct selection *s, struct filter_stays stays,
                                     const struct filter_cut *cut)
{
    if (cut->pivot > stays.pivot) {
        stays = (struct filter_stays){.pivot = cut->pivot};
        stays.end = count_within(s, cut->pivot - 1, cut->pivot);
    }
    if (cut->ties == FILTER_TIES_LOWEST && cut->at_pivot < stays.end - stays.first)
        stays.end = stays.first + cut->at_pivot;
    if (cut->ties == FILTER_TIES_HIGHEST && cut->at_pivot < stays.end - stays.first)
        stays.first = stays.end - cut->at_pivot;
    if (cut->last_units) {
        stays.split = cut->ties == FILTER_TIES_LOWEST ? stays.end - 1 : stays.first;
        stays.split_weight = filter_weight_of(cut->last_units, s->scale);
    }
    return stays;
}

static struct filter_stays stays_top_k(const struct selection *s, struct filter_stays stays, uint64_t k,
                                       enum filter_ties ties)
{
    const uint32_t pivot = pivot_of(s, 0, k - 1, stays.pivot);
    const struct filter_cut cut = {pivot, k - measure_above(s, 0, pivot), 0, ties};
    return stays_cut(s, stays, &cut);
}

/* top_p when no more than `most` may lie above what stays. A cut below `least` does not matter. */
static struct filter_stays stays_of_most(const struct selection *s, struct filter_stays stays, uint64_t most,
                                         const struct filter_rule *rule, uint32_t least)
{
    const struct filter_view view = {s->weights, NULL, s->vocab, s->scale};
    if (least > stays.pivot && measure_above(s, 1, least - 1) <= most)
        return stays;
    const uint32_t pivot = pivot_of(s, 1, most, stays.pivot);
    const uint64_t above = measure_above(s, 1, pivot);
    const struct filter_cut cut =
        filter_top_p_at(&view, pivot, above, most, rule->top_p_ties, rule->boundary);
    return stays_cut(s, stays, &cut);
}

/* 1 if bounds of the row's sum decide the cut, within the list: no exact total is needed. */
static int stays_by_bounds(const struct selection *s, struct filter_stays *stays, double p,
                           const struct filter_rule *rule, uint32_t least)
{
    const double units = s->sum * kernel_double_of((uint64_t)(1023 + s->scale) << 52);
    if (stays->pivot > 0 || !(units < 0x1p63))
        return 0;
    /* Half a unit for the rounding of each weight, and more. */
    const uint64_t total_low = (uint64_t)(units * (1 - WEIGHT_SUM_ERROR)) - s->vocab;
    const uint64_t total_high = (uint64_t)(units * (1 + WEIGHT_SUM_ERROR)) + s->vocab;
    const uint64_t most_high = filter_most(p, total_high, rule->boundary);
    if (least <= s->bound && measure_above(s, 1, s->bound) <= most_high)
        return 0;
    const uint64_t most_low = filter_most(p, total_low, rule->boundary);
    const struct filter_stays low = stays_of_most(s, *stays, most_low, rule, least);
    const struct filter_stays high = stays_of_most(s, *stays, most_high, rule, least);
    if (low.pivot != high.pivot || low.first != high.first || low.end != high.end ||
        low.split_weight != high.split_weight)
        return 0;
    *stays = low;
    return 1;
}

static struct filter_stays stays_top_p(const struct selection *s, struct filter_stays stays, double p,
                                       const struct filter_rule *rule, uint32_t least)
{
    if (stays_by_bounds(s, &stays, p, rule, least))
        return stays;
    const uint64_t at = fixed_point_of(kernel_float(stays.pivot), s->scale);
    const uint64_t total = measure_above(s, 1, stays.pivot) + (stays.end - stays.first) * at;
    return stays_of_most(s, stays, filter_most(p, total, rule->boundary), rule, least);
}

static struct filter_stays stays_both(struct filter_stays a, struct filter_stays b)
{
    if (a.pivot != b.pivot)
        return a.pivot > b.pivot ? a : b;
    const struct filter_stays *const split = a.split_weight > 0 ? &a : &b;
    struct filter_stays both = {a.pivot, a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end,
                                split->split, split->split_weight};
    if (both.end < both.first)
        both.end = both.first;
    return both;
}

/* min_p: nothing below the threshold. */
static struct filter_stays stays_min_p(struct filter_stays stays, double min_p, float largest)
{
    const float threshold = kernel_multiply((float)min_p, largest);
    if (threshold > 0 && kernel_bits(threshold) > stays.pivot)
        return (struct filter_stays){.pivot = kernel_bits(threshold) - 1};
    return stays;
}

static struct filter_stays stays_of(const struct selection *s, const struct filter_rule *rule,
                                    const struct filter_parameters *parameters, struct filter_stays stays)
{
    const int with_k = parameters->top_k > 0 && (uint64_t)parameters->top_k < s->vocab;
    const int with_p = parameters->top_p < 1;
    const struct filter_stays all = stays;
    if (with_p && rule->order == FILTER_TOP_P_FIRST)
        stays = stays_top_p(s, stays, parameters->top_p, rule, 0);
    if (with_k)
        stays = stays_top_k(s, stays, (uint64_t)parameters->top_k, rule->top_k_ties);
    if (with_p && rule->order == FILTER_JOINT)
        stays = stays_both(stays, stays_top_p(s, all, parameters->top_p, rule, stays.pivot));
    if (with_p && rule->order == FILTER_TOP_K_FIRST)
        stays = stays_top_p(s, stays, parameters->top_p, rule, 0);
    return stays;
}

static enum filter_status selection_make(struct selection *s, const struct weight_loops *loops,
                                         const struct filter_rule *rule,
                                         const struct filter_parameters *parameters, const float *weights,
                                         size_t vocab, struct filter_stays *stays)
{
    s->loops = loops;
    s->weights = weights;
    s->vocab = vocab;
    s->bound = HIGHEST;
    s->listed = 0;
    s->columns = (vocab + WEIGHT_TILE - 1) / WEIGHT_TILE * WEIGHT_COLUMNS;
    const struct weight_summary summary = loops->columns(weights, vocab, s->column);
    const float largest = summary.largest;
    s->sum = summary.sum;
    *stays = (struct filter_stays){.pivot = HIGHEST};
    if (!(largest > 0))
        return FILTER_NO_WEIGHT;
    s->scale = fixed_point_scale(largest, FIXED_POINT_CDF_BITS);
    const uint64_t k = parameters->top_k > 0 ? (uint64_t)parameters->top_k : vocab;
    if (k <= LIST_COLUMNS - LIST_SPARE)
        list_fill(s, k + LIST_SPARE);
    else if (parameters->top_p < 1)
        list_fill(s, LIST_COLUMNS / 2);
    stays->pivot = 0;
    if (rule->min_p_first)
        *stays = stays_min_p(*stays, parameters->min_p, largest);
    *stays = stays_of(s, rule, parameters, *stays);
    if (!rule->min_p_first)
        *stays = stays_min_p(*stays, parameters->min_p, largest);
    return FILTER_OK;
}

/* A tile at a time: the ids at the pivot are found before their weights go. */
static void stays_keep(const struct weight_loops *loops, const struct filter_stays *stays, float *weights,
                       size_t vocab, uint8_t *kept)
{
    uint32_t at_pivot[WEIGHT_TILE];
    size_t seen = 0;
    for (size_t first = 0; first < vocab; first += WEIGHT_TILE) {
        const size_t n = vocab - first < WEIGHT_TILE ? vocab - first : WEIGHT_TILE;
        size_t found = 0;
        if (seen < stays->end)
            found = loops->find(weights + first, n, stays->pivot - 1, stays->pivot, at_pivot, n);
        loops->keep(weights + first, n, stays->pivot, kept + first);
        for (size_t f = 0; f < found; f++, seen++) {
            if (seen < stays->first || seen >= stays->end)
                continue;
            const int split = stays->split_weight > 0 && seen == stays->split;
            weights[first + at_pivot[f]] = split ? stays->split_weight : kernel_float(stays->pivot);
            kept[first + at_pivot[f]] = 1;
        }
    }
}

enum filter_status select_row(const struct weight_loops *loops, const struct filter_rule *rule,
                              const struct filter_parameters *parameters, float *weights, size_t vocab,
                              uint8_t *kept)
{
    struct selection s;
    struct filter_stays stays;
    enum filter_status status = filter_parameters_check(parameters);
    if (status != FILTER_OK)
        return status;
    status = selection_make(&s, loops, rule, parameters, weights, vocab, &stays);
    stays_keep(loops, &stays, weights, vocab, kept);
    return status;
}

static int id_compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static size_t ids_of_list(const struct selection *s, uint32_t low, uint32_t *id)
{
    size_t n = 0;
    for (size_t l = 0; l < s->listed; l++)
        if (kernel_bits(s->list[l]) > low)
            id[n++] = s->list_id[l];
    qsort(id, n, sizeof *id, id_compare);
    return n;
}

/* The ids that stay, of those at the pivot or above it, ascending; and from the list where that holds them. */
static size_t ids_of(const struct selection *s, const struct filter_stays *stays, uint32_t *id)
{
    const uint32_t low = stays->end > stays->first ? stays->pivot - 1 : stays->pivot;
    const size_t n = low >= s->bound ? ids_of_list(s, low, id)
                                     : s->loops->find(s->weights, s->vocab, low, HIGHEST, id, s->vocab);
    size_t seen = 0, count = 0;
    for (size_t l = 0; l < n; l++) {
        const int at_pivot = kernel_bits(s->weights[id[l]]) == stays->pivot;
        seen += (size_t)at_pivot;
        if (!at_pivot || (seen > stays->first && seen <= stays->end))
            id[count++] = id[l];
    }
    return count;
}

size_t select_ids(const struct weight_loops *loops, const struct filter_rule *rule,
                  const struct filter_parameters *parameters, const float *weights, size_t vocab,
                  uint32_t *id)
{
    struct selection s;
    struct filter_stays stays;
    if (selection_make(&s, loops, rule, parameters, weights, vocab, &stays) != FILTER_OK)
        return 0;
    return ids_of(&s, &stays, id);
}
