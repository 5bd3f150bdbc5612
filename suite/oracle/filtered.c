/* filtered.c: sort a row once, then find how much of its beginning each filter keeps. */
#include "suite/oracle/filtered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite/oracle/sum.h"

enum order {
    LOW_FIRST,
    HIGH_FIRST,
    TOGETHER
}; /* of ids of one weight: TOGETHER, none goes without the rest */
enum edge {
    BELOW,
    UP_TO,
    PARTIAL
};                                /* of top_p: mass above < p; <= p; < p, the last keeps what p leaves it */
enum chain { K_AND_P, K_THEN_P }; /* top_p looks at the whole row; at what top_k leaves */

struct law_filter {
    const char *name;
    enum order order;
    bool top_k_whole; /* top_k takes all of the weight it ends in, whatever the order */
    enum edge edge;
    enum chain chain;
    bool min_p_first, temperature_last;
};

static const struct law_filter filters[] = {
    {"sglang-pytorch", LOW_FIRST, false, UP_TO, K_AND_P, false, false},
    {"flashinfer-joint", TOGETHER, true, BELOW, K_AND_P, false, false},
    {"flashinfer-top-k-first", TOGETHER, true, BELOW, K_THEN_P, false, false},
    {"vllm-0.5.0", HIGH_FIRST, true, BELOW, K_THEN_P, false, false},
    {"vllm-v1", HIGH_FIRST, true, BELOW, K_THEN_P, true, false},
    {"hf-transformers", HIGH_FIRST, true, BELOW, K_THEN_P, false, false},
    {"llama.cpp", LOW_FIRST, false, BELOW, K_THEN_P, false, true},
    {"tensorrt-llm-torch", LOW_FIRST, true, UP_TO, K_THEN_P, false, false},
    {"tensorrt-llm-cpp", LOW_FIRST, false, PARTIAL, K_THEN_P, false, false},
};

const struct law_filter *law_filter_at(size_t index)
{
    return index < sizeof filters / sizeof *filters ? &filters[index] : NULL;
}

const struct law_filter *law_filter_of(const char *name)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (strcmp(filters[i].name, name) == 0)
            return &filters[i];
    return NULL;
}

const char *law_filter_name(const struct law_filter *filter)
{
    return filter->name;
}

bool law_filter_temperature_last(const struct law_filter *filter)
{
    return filter->temperature_last;
}

const char *law_limits_refused(const struct law_limits *limits)
{
    if (limits->top_k < -1 || limits->top_k == 0)
        return "top_k";
    if (isnan(limits->top_p) || limits->top_p <= 0)
        return "top_p";
    if (isnan(limits->min_p) || limits->min_p < 0 || limits->min_p > 1)
        return "min_p";
    return NULL;
}

struct entry {
    double weight;
    size_t id;
};

/* Heaviest first; of equal ones the lowest id, or the highest. */
static int low_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

static int high_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->id > y->id ? -1 : 1;
}

/* A sorted row; `kept` of its beginning are left. */
struct sorted {
    struct entry *entry;
    size_t live, kept;
    double mass_margin, weight_margin;
};

static void note_margin(double *least, double margin)
{
    if (margin < *least)
        *least = margin;
}

/* A cut after entry[cut - 1]: the weights next above and next below those that it parts, or ends at. */
static void note_neighbours(struct sorted *row, size_t cut)
{
    size_t above = cut - 1, below = cut;
    while (below < row->live && row->entry[below].weight == row->entry[cut - 1].weight)
        below++;
    while (above > 0 && row->entry[above].weight == row->entry[cut - 1].weight)
        above--;
    if (below < row->live)
        note_margin(&row->weight_margin, 1 - row->entry[below].weight / row->entry[cut - 1].weight);
    if (row->entry[above].weight != row->entry[cut - 1].weight)
        note_margin(&row->weight_margin, 1 - row->entry[cut - 1].weight / row->entry[above].weight);
}

static size_t top_k_cut(const struct law_filter *filter, struct sorted *row, int64_t top_k)
{
    if (top_k < 0 || (uint64_t)top_k >= row->kept)
        return row->kept;
    size_t cut = (size_t)top_k;
    note_neighbours(row, cut);
    if (filter->top_k_whole)
        while (cut < row->kept && row->entry[cut].weight == row->entry[cut - 1].weight)
            cut++;
    return cut;
}

/* Of the first `most` entries, those that top_p keeps. *last: the weight that the last of them shrinks to. */
static size_t top_p_cut(const struct law_filter *filter, struct sorted *row, double top_p, size_t most,
                        double *last)
{
    if (!(top_p < 1))
        return most;
    struct sum total = {0, 0}, before = {0, 0};
    for (size_t r = 0; r < row->kept; r++)
        sum_add(&total, row->entry[r].weight);
    const struct sum share = sum_times(&total, top_p);
    struct sum above = before; /* of the entry in hand */
    size_t cut = 0;
    for (; cut < most; cut++) {
        bool tied = cut > 0 && row->entry[cut].weight == row->entry[cut - 1].weight;
        if (!tied || filter->order != TOGETHER)
            above = before;
        double excess = sum_difference(&above, &share);
        if (above.high > 0) { /* nothing lies above the first: it stays whatever p is */
            note_margin(&row->mass_margin, fabs(excess) / total.high);
            if (excess > 0 || (excess == 0 && filter->edge != UP_TO))
                break;
        }
        double left = -excess;
        *last = filter->edge == PARTIAL && left < row->entry[cut].weight ? left : row->entry[cut].weight;
        sum_add(&before, row->entry[cut].weight);
    }
    if (cut < most)
        note_neighbours(row, cut);
    return cut;
}

static size_t min_p_cut(struct sorted *row, double min_p)
{
    if (!(min_p > 0))
        return row->kept;
    const struct sum largest = {row->entry[0].weight, 0}, threshold = sum_times(&largest, min_p);
    size_t cut = 1;
    for (; cut < row->kept; cut++) {
        if (row->entry[cut].weight == row->entry[0].weight) /* min_p is at most 1 */
            continue;
        const struct sum weight = {row->entry[cut].weight, 0};
        double excess = sum_difference(&weight, &threshold);
        note_margin(&row->weight_margin, fabs(excess) / fmax(weight.high, threshold.high));
        if (excess < 0)
            break;
    }
    return cut;
}

/* *last: what top_p leaves to the last entry that it keeps, at index *at; 0 if top_p is off. */
static void cut_row(const struct law_filter *filter, const struct law_limits *limits, struct sorted *row,
                    size_t *at, double *last)
{
    if (filter->min_p_first)
        row->kept = min_p_cut(row, limits->min_p);
    size_t by_k = top_k_cut(filter, row, limits->top_k);
    if (filter->chain == K_THEN_P)
        row->kept = by_k;
    row->kept = top_p_cut(filter, row, limits->top_p, by_k, last);
    *at = row->kept - 1;
    if (!filter->min_p_first)
        row->kept = min_p_cut(row, limits->min_p);
}

struct law_filtered law_filtered(const struct law_filter *filter, const struct law_limits *limits,
                                 const double *weights, size_t vocab, double *pmf, uint8_t *kept)
{
    struct sorted row = {
        .entry = malloc(vocab * sizeof *row.entry), .mass_margin = INFINITY, .weight_margin = INFINITY};
    if (!row.entry)
        abort();
    for (size_t i = 0; i < vocab; i++)
        if (weights[i] > 0 && weights[i] < INFINITY)
            row.entry[row.live++] = (struct entry){weights[i], i};
    qsort(row.entry, row.live, sizeof *row.entry, filter->order == HIGH_FIRST ? high_first : low_first);
    row.kept = row.live;
    size_t at = 0;
    double last = 0;
    if (row.live > 0)
        cut_row(filter, limits, &row, &at, &last);
    if (last > 0 && at < row.kept)
        row.entry[at].weight = last;
    struct sum total = {0, 0};
    for (size_t r = 0; r < row.kept; r++)
        sum_add(&total, row.entry[r].weight);
    for (size_t i = 0; i < vocab; i++) {
        if (pmf)
            pmf[i] = 0;
        if (kept)
            kept[i] = 0;
    }
    for (size_t r = 0; r < row.kept; r++) {
        if (pmf)
            pmf[row.entry[r].id] = row.entry[r].weight / sum_total(&total);
        if (kept)
            kept[row.entry[r].id] = 1;
    }
    free(row.entry);
    return (struct law_filtered){row.kept, row.mass_margin, row.weight_margin};
}

bool law_decided(const struct law_filtered *filtered)
{
    return filtered->mass_margin >= LAW_MASS_MARGIN && filtered->weight_margin >= LAW_WEIGHT_MARGIN;
}
