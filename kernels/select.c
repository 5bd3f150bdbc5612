/* select.c: what the filters leave of a row, without a sort.
 *
 * One read finds the largest weight of each column of 64 ids. No more than 64 (r - 1) weights are above the
 * r-th largest of those: they are listed, and a cut that falls among them needs the rest of the row for its
 * total mass at most. A cut below them is found by histograms of keys, eleven bits at a time. All counts and
 * masses are integers, so that nothing depends on how the work is divided. SPDX-License-Identifier: MIT */
#include "kernels/select.h"
#include <string.h>
#include "kernels/filter_scalar.h"
#include "kernels/loops.h"

#define LIST_COLUMNS 128 /* the largest r */
#define LIST (64 * LIST_COLUMNS)
#define LIST_SPARE 8 /* r is so much above top_k, so that the k-th weight is in the list, and not its edge */
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

/* A row and its heaviest ids. About 100 KB, on the stack. */
struct selection {
    const struct weight_loops *loops;
    const float *weights;
    size_t vocab;
    int scale;      /* of the masses */
    uint32_t bound; /* all weights with keys above it are in the list; HIGHEST: none are, the list is empty */
    size_t listed;
    size_t columns;
    float column[TILES * WEIGHT_COLUMNS]; /* the largest weight of each */
    float list[LIST];
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

/* The r-th largest column becomes the bound. */
static void list_fill(struct selection *s, size_t r)
{
    uint32_t low = 0, high = HIGHEST; /* the least key with fewer than r columns above it */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (s->loops->find(s->column, s->columns, middle, HIGHEST, NULL, 0) < r)
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t heavy[LIST_COLUMNS];
    const size_t count = s->loops->find(s->column, s->columns, low, HIGHEST, heavy, LIST_COLUMNS);
    for (size_t h = 0; h < count; h++) {
        size_t i = heavy[h] / WEIGHT_COLUMNS * WEIGHT_TILE + heavy[h] % WEIGHT_COLUMNS;
        const size_t rest = s->vocab - heavy[h] / WEIGHT_COLUMNS * WEIGHT_TILE;
        const size_t end = i - i % WEIGHT_TILE + (rest < WEIGHT_TILE ? rest : WEIGHT_TILE);
        for (; i < end; i += WEIGHT_COLUMNS)
            if (kernel_weight_valid(s->weights[i]) && kernel_bits(s->weights[i]) > low)
                s->list[s->listed++] = s->weights[i];
    }
    s->bound = low;
}

/* The least key above which no more than `most` lies; above `low` there is more. In the list, by bisection. */
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

static uint32_t pivot_of(const struct selection *s, int in_mass, uint64_t most, uint32_t low)
{
    if (low >= s->bound)
        return pivot_in_list(s, in_mass, most, low);
    const uint64_t listed = measure_above(s, in_mass, s->bound);
    if (listed > most)
        return pivot_in_list(s, in_mass, most, s->bound);
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
    const uint32_t low = stays.pivot > s->bound ? stays.pivot : s->bound;
    struct filter_cut cut = {stays.pivot, 0, 0, ties};
    if (measure_above(s, 0, low) >= k)
        cut.pivot = pivot_in_list(s, 0, k - 1, low);
    else {
        const uint64_t above = measure_above(s, 0, stays.pivot);
        if (above + (stays.end - stays.first) <= k)
            return stays;
        if (above >= k)
            cut.pivot = pivot_of(s, 0, k - 1, stays.pivot);
    }
    cut.at_pivot = k - measure_above(s, 0, cut.pivot);
    return stays_cut(s, stays, &cut);
}

/* A cut below `least` does not matter. */
static struct filter_stays stays_top_p(const struct selection *s, struct filter_stays stays, double p,
                                       const struct filter_rule *rule, uint32_t least)
{
    const struct filter_view view = {s->weights, NULL, s->vocab, s->scale};
    const uint64_t at = fixed_point_of(kernel_float(stays.pivot), s->scale);
    uint64_t above = measure_above(s, 1, stays.pivot);
    const uint64_t most = filter_most(p, above + (stays.end - stays.first) * at, rule->boundary);
    uint32_t pivot = stays.pivot;
    if (least > stays.pivot && measure_above(s, 1, least - 1) <= most)
        return stays;
    if (above > most) {
        pivot = pivot_of(s, 1, most, stays.pivot);
        above = measure_above(s, 1, pivot);
    }
    const struct filter_cut cut =
        filter_top_p_at(&view, pivot, above, most, rule->top_p_ties, rule->boundary);
    return stays_cut(s, stays, &cut);
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

enum filter_status select_stays(const struct weight_loops *loops, const struct filter_rule *rule,
                                const struct filter_parameters *parameters, const float *weights,
                                size_t vocab, struct filter_stays *stays)
{
    struct selection s;
    float largest = 0;
    s.loops = loops;
    s.weights = weights;
    s.vocab = vocab;
    s.bound = HIGHEST;
    s.listed = 0;
    s.columns = (vocab + WEIGHT_TILE - 1) / WEIGHT_TILE * WEIGHT_COLUMNS;
    loops->largest(weights, vocab, s.column);
    for (size_t c = 0; c < s.columns; c++)
        if (s.column[c] > largest)
            largest = s.column[c];
    *stays = (struct filter_stays){.pivot = HIGHEST};
    if (!(largest > 0))
        return FILTER_NO_WEIGHT;
    s.scale = fixed_point_scale(largest, FIXED_POINT_CDF_BITS);
    const uint64_t k = parameters->top_k > 0 ? (uint64_t)parameters->top_k : vocab;
    if (k <= LIST_COLUMNS - LIST_SPARE)
        list_fill(&s, k + LIST_SPARE);
    else if (parameters->top_p < 1)
        list_fill(&s, LIST_COLUMNS);
    stays->pivot = 0;
    if (rule->min_p_first)
        *stays = stays_min_p(*stays, parameters->min_p, largest);
    *stays = stays_of(&s, rule, parameters, *stays);
    if (!rule->min_p_first)
        *stays = stays_min_p(*stays, parameters->min_p, largest);
    return FILTER_OK;
}

/* A tile at a time: the ids at the pivot are found before their weights go. */
void select_keep(const struct weight_loops *loops, const struct filter_stays *stays, float *weights,
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
    struct filter_stays stays;
    enum filter_status status = filter_parameters_check(parameters);
    if (status != FILTER_OK)
        return status;
    status = select_stays(loops, rule, parameters, weights, vocab, &stays);
    select_keep(loops, &stays, weights, vocab, kept);
    return status;
}

size_t select_ids(const struct weight_loops *loops, const struct filter_stays *stays, const float *weights,
                  size_t vocab, uint32_t *id, size_t capacity)
{
    uint32_t found[WEIGHT_TILE];
    size_t seen = 0, count = 0;
    for (size_t first = 0; first < vocab; first += WEIGHT_TILE) {
        const size_t n = vocab - first < WEIGHT_TILE ? vocab - first : WEIGHT_TILE;
        const uint32_t low = stays->end > stays->first ? stays->pivot - 1 : stays->pivot;
        const size_t within = loops->find(weights + first, n, low, HIGHEST, found, n);
        for (size_t f = 0; f < within; f++) {
            const size_t i = first + found[f];
            if (kernel_bits(weights[i]) == stays->pivot &&
                (seen++, seen <= stays->first || seen > stays->end))
                continue;
            if (count < capacity)
                id[count] = (uint32_t)i;
            count++;
        }
    }
    return count;
}
