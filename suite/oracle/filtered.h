/* filtered.h: the law of a row under top_k, top_p and min_p as each engine spells them; written apart from
 * kernels/.
 *
 * The row is sorted, and every filter keeps a beginning of it: so an engine is the order of equal weights,
 * how each filter ends within them, and what comes before what. Sums are compensated, p times the total is
 * taken in two doubles: on weights that are small multiples of one power of two every comparison is exact. */
#ifndef SAMPLEGATE_FILTERED_H
#define SAMPLEGATE_FILTERED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One engine's way, by the name that a contract's "filters" has; NULL if unknown, or past the last. */
struct law_filter;
const struct law_filter *law_filter_of(const char *name);
const struct law_filter *law_filter_at(size_t index);
const char *law_filter_name(const struct law_filter *filter);
/* It filters the row at temperature 1 and divides by the temperature what is left. */
bool law_filter_temperature_last(const struct law_filter *filter);

struct law_limits {
    int64_t top_k; /* -1 off; above the vocabulary: the vocabulary */
    double top_p;  /* 1 and more: off */
    double min_p;  /* 0 off */
};
/* The name of the first that no sampler may accept ("top_k": 0 or below -1; "top_p": not above 0, or NaN;
 * "min_p": negative, above 1, or NaN), else NULL. */
const char *law_limits_refused(const struct law_limits *limits);

struct law_filtered {
    size_t kept;
    /* How near the closest cut is. 0: a mass or a weight lies exactly on its threshold. Infinite: nothing was close to cut.
     * Of masses: a mass above an id from p, as a share of the mass that top_p shares out. Of weights, as a share of the
     * larger: a weight and the threshold of min_p, or two unequal weights that a cut parts. */
    double mass_margin, weight_margin;
};
/* weights[vocab] in any unit; what is not positive and finite is no token. Limits that are not refused.
 * pmf[vocab]: the law, kept[vocab]: 1 or 0; either may be NULL, and pmf may be `weights`. */
struct law_filtered law_filtered(const struct law_filter *filter, const struct law_limits *limits,
                                 const double *weights, size_t vocab, double *pmf, uint8_t *kept);

/* Are all cuts far enough for a sampler's fp32 softmax and sums? Sums over 150,000 ids were measured to be off by up to 7e-6;
 * masses get four times that. A weight is off by about 2^-19 at a logit of 32; weights get four times that. */
#define LAW_MASS_MARGIN 0x1p-15
#define LAW_WEIGHT_MARGIN 0x1p-17
bool law_decided(const struct law_filtered *filtered);
#endif
