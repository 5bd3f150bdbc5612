/* filters.c: mutants that keep the wrong ids.
 *
 * Most are the clean filter under a rule that it does not claim. SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"
#include "kernels/arithmetic.h"

#include <math.h>
#include <string.h>

static struct filter_rule rule_clean(void)
{
    return *filter_rule_at(0);
}

enum filter_status mutant_top_p_below(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                      uint8_t *kept)
{
    struct filter_rule rule = rule_clean();
    rule.boundary = FILTER_BELOW;
    return filter_row(&rule, parameters, weight, vocab, kept);
}

enum filter_status mutant_ties_kept(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                    uint8_t *kept)
{
    struct filter_rule rule = rule_clean();
    rule.top_k_ties = rule.top_p_ties = FILTER_TIES_ALL;
    return filter_row(&rule, parameters, weight, vocab, kept);
}

enum filter_status mutant_ties_highest(const struct filter_parameters *parameters, float *weight,
                                       size_t vocab, uint8_t *kept)
{
    struct filter_rule rule = rule_clean();
    rule.top_k_ties = rule.top_p_ties = FILTER_TIES_HIGHEST;
    return filter_row(&rule, parameters, weight, vocab, kept);
}

enum filter_status mutant_renormalised(const struct filter_parameters *parameters, float *weight,
                                       size_t vocab, uint8_t *kept)
{
    struct filter_rule rule = rule_clean();
    rule.order = FILTER_TOP_K_FIRST;
    return filter_row(&rule, parameters, weight, vocab, kept);
}

/* min_p first: its ids are gone from the mass that top_p shares out. */
enum filter_status mutant_min_p_first(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                      uint8_t *kept)
{
    struct filter_rule rule = rule_clean();
    rule.min_p_first = 1;
    return filter_row(&rule, parameters, weight, vocab, kept);
}

static void id_drop(float *weight, uint8_t *kept, size_t id)
{
    weight[id] = 0;
    kept[id] = 0;
}

/* The lightest id of the nucleus is lost, unless it is the only one. */
enum filter_status mutant_boundary_dropped(const struct filter_parameters *parameters, float *weight,
                                           size_t vocab, uint8_t *kept)
{
    const enum filter_status status = filter_row(filter_rule_at(0), parameters, weight, vocab, kept);
    size_t last = vocab, others = 0;
    for (size_t i = 0; i < vocab; i++)
        if (kept[i]) {
            others += last < vocab;
            if (last == vocab || weight[i] <= weight[last])
                last = i;
        }
    if (parameters->top_p < 1 && others > 0)
        id_drop(weight, kept, last);
    return status;
}

/* The cumulative mass is taken in the order of ids, not of weights. */
enum filter_status mutant_top_p_unsorted(const struct filter_parameters *parameters, float *weight,
                                         size_t vocab, uint8_t *kept)
{
    struct filter_parameters others = *parameters;
    double total = 0, above = 0;
    for (size_t i = 0; i < vocab; i++)
        total += kernel_weight_valid(weight[i]) ? (double)weight[i] : 0;
    for (size_t i = 0; i < vocab && parameters->top_p < 1; i++) {
        const double own = kernel_weight_valid(weight[i]) ? (double)weight[i] : 0;
        if (above > parameters->top_p * total)
            weight[i] = 0;
        above += own;
    }
    others.top_p = 1;
    return filter_row(filter_rule_at(0), &others, weight, vocab, kept);
}

/* An id stays if the mass up to and with it is at most p; if none does, a row of zeros is sampled as id 0. */
enum filter_status mutant_nucleus_empty(const struct filter_parameters *parameters, float *weight,
                                        size_t vocab, uint8_t *kept)
{
    float largest = 0;
    double total = 0;
    for (size_t i = 0; i < vocab; i++)
        if (kernel_weight_valid(weight[i])) {
            largest = fmaxf(largest, weight[i]);
            total += (double)weight[i];
        }
    if ((double)largest <= parameters->top_p * total)
        return filter_row(filter_rule_at(0), parameters, weight, vocab, kept);
    memset(kept, 0, vocab);
    memset(weight, 0, vocab * sizeof *weight);
    kept[0] = 1;
    weight[0] = 1;
    return FILTER_OK;
}

/* k above the vocabulary wraps around it. */
enum filter_status mutant_top_k_wraps(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                      uint8_t *kept)
{
    struct filter_parameters wrapped = *parameters;
    if (wrapped.top_k > (int64_t)vocab)
        wrapped.top_k = (wrapped.top_k - 1) % (int64_t)vocab + 1;
    return filter_row(filter_rule_at(0), &wrapped, weight, vocab, kept);
}

/* The threshold is compared with probabilities of what the other filters left, not relative to the largest. */
enum filter_status mutant_min_p_absolute(const struct filter_parameters *parameters, float *weight,
                                         size_t vocab, uint8_t *kept)
{
    struct filter_parameters others = *parameters;
    double total = 0;
    others.min_p = 0;
    const enum filter_status status = filter_row(filter_rule_at(0), &others, weight, vocab, kept);
    size_t heaviest = 0;
    for (size_t i = 0; i < vocab; i++) {
        total += (double)weight[i];
        if (weight[i] > weight[heaviest])
            heaviest = i;
    }
    for (size_t i = 0; i < vocab; i++)
        if (i != heaviest && (double)weight[i] < parameters->min_p * total)
            id_drop(weight, kept, i);
    return status;
}
