/* parameters.c: mutants that take a parameter for another value.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

#include <math.h>

/* A range test written "below the least or above the most" lets NaN pass; what it does is off. */
void mutant_nan_accepted(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++) {
        struct mutant_request *request = &batch->request[d];
        if (isnan(request->filter.top_p))
            request->filter.top_p = 1;
        if (isnan(request->filter.min_p))
            request->filter.min_p = 0;
        if (isnan(request->temperature))
            request->temperature = 1;
    }
}

void mutant_top_k_zero(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].filter.top_k == 0)
            batch->request[d].filter.top_k = 1;
}

void mutant_top_p_zero(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].filter.top_p == 0)
            batch->request[d].filter.top_p = 1;
}

/* Candidates are kept in a buffer of 1,024. */
void mutant_top_k_capped(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].filter.top_k > 1024)
            batch->request[d].filter.top_k = 1024;
}

/* A temperature near 0 is taken for 0. */
void mutant_cold_greedy(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].temperature < 0.1)
            batch->request[d].filter.top_k = 1;
}

/* A temperature has a range, and what is beyond is moved to its end. */
void mutant_hot_clamped(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].temperature > 2)
            batch->request[d].temperature = 2;
}

/* A cut "close enough" for speed. */
void mutant_top_p_approximate(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].filter.top_p < 1)
            batch->request[d].filter.top_p *= 0.97;
}

/* At temperature 1 an id has w^T of its weight w relative to the heaviest: the same threshold there is
 * min_p^(1/T) here. */
void mutant_min_p_cold(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        batch->request[d].filter.min_p =
            pow(batch->request[d].filter.min_p, 1 / batch->request[d].temperature);
}

void mutant_mask_ignored(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        batch->request[d].penalties.allowed = NULL;
}

void mutant_bias_ignored(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        batch->request[d].penalties.logit_bias = NULL;
}

void mutant_min_tokens_short(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        if (batch->request[d].penalties.min_tokens > 0)
            batch->request[d].penalties.min_tokens--;
}

void mutant_penalty_squared(struct mutant_batch *batch)
{
    for (size_t d = 0; d < batch->draws; d++)
        batch->request[d].penalties.repetition *= batch->request[d].penalties.repetition;
}
