/* token.c: exact binomial tails of every id, the most extreme one after Bonferroni.
 * Sees: one token lost, gained or swapped, the last id unreachable.   Cannot see: small errors spread over
 * many ids. */
#include <stdio.h>

#include "suite/checks/equivalence/share.h"

static void add(struct evidence *evidence, const struct check *check, const struct check_input *in,
                const char *name, struct tail tail, size_t id)
{
    struct statistic *statistic = evidence_add(evidence, check, name);
    statistic->tail = tail;
    statistic->bound = true;
    if (id == in->vocab)
        return; /* nothing was drawn */
    statistic->value = (double)in->counts->pooled[id];
    statistic->expected = (double)in->counts->draws * in->pmf[id];
    share_effect(statistic, name[0] == 'u', (double)in->vocab);
    snprintf(statistic->text, sizeof statistic->text, "id %zu drawn %.0f times, %.1f expected", id,
             statistic->value, statistic->expected);
}

void check_token(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    struct token_tails worst = token_test(in->counts->pooled, in->pmf, in->vocab);
    add(evidence, check, in, "upper", worst.upper, worst.upper_id);
    add(evidence, check, in, "lower", worst.lower, worst.lower_id);
}
