/* dependence.c: recompute golden/dependence/match.json: which counts of equal pairs are too many, which too few.
 *
 * Sees: a wrong law, a wrong chance of an equal pair, wrong binomial tails, a limit off by one. */
#include <stdio.h>
#include <stdlib.h>

#include "stats/tests.h"
#include "suite/golden/outcome.h"
#include "suite/oracle/law.h"
#include "suite/oracle/table.h"

#define PAIRS_MAX 1000000
#define LOOKS_MAX 1000000
#define TAIL_TOLERANCE                                                                                       \
    1e-11 /* a sum of some hundred terms, each of a few units of 2^-53 times its exponent */

static const char *const case_keys[] = {"table", "pairs", "looks", "level", "probability",
                                        "most",  "upper", "least", "lower", NULL};
static const char *const group_keys[] = {NULL};

static int same_limits(const struct golden_case *this, const struct table *table, uint64_t pairs,
                       double level)
{
    double *pmf = malloc(table->vocab * sizeof *pmf);
    if (!pmf)
        return json_trouble(&this->at, &this->outcome->damaged, "out of memory");
    law_of_logits(table->logits, table->vocab, 1, pmf);
    const double probability = match_probability(pmf, table->vocab);
    free(pmf);
    const struct match_critical ours = match_critical(pairs, probability, level);
    return golden_same_figure(this, &this->at, "probability", "probability", GOLDEN_TOLERANCE, probability) ||
                   golden_same_integer(this, &this->at, "most", "most", ours.most) ||
                   golden_same_figure(this, &this->at, "upper", "upper", TAIL_TOLERANCE, ours.upper) ||
                   golden_same_integer(this, &this->at, "least", "least", ours.least) ||
                   golden_same_figure(this, &this->at, "lower", "lower", TAIL_TOLERANCE, ours.lower)
               ? -1
               : 0;
}

static int recompute(const struct golden_case *this, const void *shared)
{
    (void)shared;
    struct trouble *damaged = &this->outcome->damaged;
    struct json_cursor at;
    struct table table;
    int64_t pairs, looks;
    double level;
    if (json_integer(&this->at, "pairs", 1, PAIRS_MAX, &pairs, damaged) ||
        json_integer(&this->at, "looks", 1, LOOKS_MAX, &looks, damaged) ||
        json_double_string(&this->at, "level", &level, damaged))
        return -1;
    if (!(level > 0 && level < 1))
        return json_trouble(&this->at, damaged, "\"level\" must be between 0 and 1");
    if (json_object(&this->at, "table", &at, damaged) || table_read(&table, &at, damaged))
        return -1;
    const int failed = same_limits(this, &table, (uint64_t)pairs, level / (double)looks);
    table_free(&table);
    return failed;
}

const struct golden_check golden_dependence = {
    .family = "dependence",
    .check = "match",
    .what = "counts of equal pairs that are too many or too few",
    .group_keys = group_keys,
    .case_keys = case_keys,
    .recompute = recompute,
};
