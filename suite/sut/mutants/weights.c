/* weights.c: mutants that race over the wrong weights.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

#include <stdlib.h>

bool mutant_last_id(float *weight, size_t vocab)
{
    weight[vocab - 1] = 0;
    return true;
}

/* An inverse CDF whose uniforms start at 1/500: what lies wholly below is out of reach. */
bool mutant_low_end(float *weight, size_t vocab)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < vocab; i++)
        total += (double)weight[i];
    for (size_t i = 0; i < vocab && (sum += (double)weight[i]) < total / 500; i++)
        weight[i] = 0;
    return true;
}

struct ranked {
    float weight;
    uint32_t id;
};

static int heavier_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* The pairs keep their mass and alternate which of the two gains, so that bins by rank see next to nothing.
 */
bool mutant_ripple(float *weight, size_t vocab)
{
    struct ranked *ranked = malloc(vocab * sizeof *ranked);
    if (!ranked)
        return false;
    for (size_t i = 0; i < vocab; i++)
        ranked[i] = (struct ranked){weight[i], (uint32_t)i};
    qsort(ranked, vocab, sizeof *ranked, heavier_first);
    for (size_t pair = 40; pair + 1 < vocab; pair += 2) {
        float traded = 0.1f * ranked[pair + 1].weight;
        if (pair / 2 % 2)
            traded = -traded;
        weight[ranked[pair].id] += traded;
        weight[ranked[pair + 1].id] -= traded;
    }
    free(ranked);
    return true;
}
