/* filter.h: top_k, top_p and min_p on one row, with every choice that engines make differently as an option.
 *
 * Masses are integers (fixed_point.h): units of 2^-44 of the power of two above the largest weight, so that
 * no comparison depends on the order of a sum; top_p is the double as given, and p times the total is exact.
 * min_p compares fp32 weights with fp32(min_p) times the largest, as engines do. SPDX-License-Identifier: MIT
 */
#ifndef SAMPLEGATE_FILTER_H
#define SAMPLEGATE_FILTER_H
#include <stddef.h>
#include <stdint.h>

/* Which of several ids of equal weight go first where a cut falls between them. */
enum filter_ties {
    FILTER_TIES_LOWEST,  /* the lowest ids */
    FILTER_TIES_HIGHEST, /* the highest ids: what a stable ascending sort keeps */
    FILTER_TIES_ALL      /* all stay: top_k may keep more than k, and the mass above an id is that of larger
                            weights only */
};

/* An id stays in the nucleus while the mass above it is ... */
enum filter_boundary {
    FILTER_BELOW,   /* < p */
    FILTER_AT_MOST, /* <= p */
    FILTER_SPLIT /* < p, and the last id keeps only the mass up to p; with FILTER_TIES_ALL, as FILTER_BELOW */
};

enum filter_order {
    FILTER_JOINT,       /* both masks from the same row */
    FILTER_TOP_K_FIRST, /* top_p sees the renormalised rest of top_k */
    FILTER_TOP_P_FIRST
};

/* One engine's way. */
struct filter_rule {
    const char *name;
    enum filter_ties top_k_ties, top_p_ties;
    enum filter_boundary boundary;
    enum filter_order order;
    int min_p_first;      /* else last. First, its ids are gone from the mass that top_p shares out */
    int temperature_last; /* filters see the row at temperature 1 */
};

/* By name, NULL if unknown; and the index-th, NULL past the last. The first is the reference's own default.
 */
const struct filter_rule *filter_rule_of(const char *name);
const struct filter_rule *filter_rule_at(size_t index);

struct filter_parameters {
    int64_t top_k; /* -1 off; above the vocabulary: the vocabulary */
    double top_p;  /* above 0; 1 and more: off */
    double min_p;  /* 0 (off) to 1 */
};

enum filter_status {
    FILTER_OK,
    FILTER_BAD_TOP_K, /* 0 or below -1 */
    FILTER_BAD_TOP_P, /* 0, negative or NaN */
    FILTER_BAD_MIN_P, /* negative, above 1 or NaN */
    FILTER_NO_WEIGHT  /* no positive finite weight: nothing is kept */
};

enum filter_status filter_parameters_check(const struct filter_parameters *parameters);

/* weights[vocab], vocab at most 2^20, normalised or not: what is not kept becomes 0, and with FILTER_SPLIT
 * the last id of the nucleus shrinks; the rest is untouched, not renormalised. kept[vocab]: 1 if kept, else
 * 0; weights that are not positive and finite never are. On FILTER_BAD_* nothing is written. */
enum filter_status filter_row(const struct filter_rule *rule, const struct filter_parameters *parameters,
                              float *weights, size_t vocab, uint8_t *kept);
#endif
