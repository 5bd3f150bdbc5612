/* registry.c: the one list of checks; `list`, the README's table, `make mutants` and the tests are made from
 * it. */
#include "suite/checks/check.h"

#include <stdlib.h>
#include <string.h>

#define TABLES "equivalence/tables.json"
#define TOKENS "agreement/tokens.json"

const struct check check_registry[] = {
    {"equivalence.support", FAMILY_EQUIVALENCE, TABLES, "leak-masked", "masked-1000",
     "No id of probability zero is ever drawn.", check_support},
    {"equivalence.rank", FAMILY_EQUIVALENCE, TABLES, "grid24", "gap-18.5",
     "Heavy and light tokens come as often as they should (chi-square over ranks).", check_rank},
    {"equivalence.id", FAMILY_EQUIVALENCE, TABLES, "id-drift", "flat-151936",
     "No region of the vocabulary is favoured by its index (chi-square over id blocks).", check_id},
    {"equivalence.fine", FAMILY_EQUIVALENCE, TABLES, "ripple", "zipf-1000",
     "Every token that can be judged alone has its own probability (chi-square over single ids).",
     check_fine},
    {"equivalence.batch", FAMILY_EQUIVALENCE, TABLES, "stale-position", "zipf-257",
     "The rows of a batch are drawn independently, at every batch size (chi-square per batch size).",
     check_batch},
    {"equivalence.regularity", FAMILY_EQUIVALENCE, TABLES, "weyl", "uniform-20",
     "Draws scatter as much as chance does: counts closer to expectation than luck allows are a defect too.",
     check_regularity},
    {"equivalence.token", FAMILY_EQUIVALENCE, TABLES, "last-id", "zipf-1000",
     "No single token is lost, gained or swapped (exact tails of every id).", check_token},
    {"equivalence.contrast", FAMILY_EQUIVALENCE, TABLES, "warm", "zipf-1000",
     "The temperature is what was asked for, and nothing leaks to the uniform law (directed contrasts).",
     check_contrast},
    {"equivalence.tail", FAMILY_EQUIVALENCE, TABLES, "grid24", "gap-18.5",
     "Rare tokens keep their share, however far below the head they are (exact binomial tails).", check_tail},
    {"equivalence.edge", FAMILY_EQUIVALENCE, TABLES, "cdf32", "flat-128256",
     "The first and the last ids of the vocabulary are reachable (exact binomial tails).", check_edge},
    {"agreement.near-tie", FAMILY_AGREEMENT, TOKENS, "bf16-weights", "shared-noise-257",
     "On shared noise the token is the exact one, except where the two best are closer than fp32 can tell.",
     check_near_tie},
};
const size_t check_registry_count = sizeof check_registry / sizeof *check_registry;

bool check_selected(const struct check *check, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(check->key, prefix, length))
        return false;
    return length == 0 || prefix[length - 1] == '.' || check->key[length] == '\0' ||
           check->key[length] == '.';
}

struct statistic *evidence_add(struct evidence *evidence, const struct check *check, const char *name)
{
    struct statistic *grown = realloc(evidence->statistic, (evidence->count + 1) * sizeof *grown);
    if (!grown)
        abort();
    evidence->statistic = grown;
    struct statistic *statistic = &grown[evidence->count++];
    *statistic = (struct statistic){.check = check};
    strncpy(statistic->name, name, sizeof statistic->name - 1);
    return statistic;
}

void evidence_free(struct evidence *evidence)
{
    free(evidence->statistic);
    *evidence = (struct evidence){0};
}
