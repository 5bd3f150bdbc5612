/* tokens.c: recompute golden/agreement/tokens.json: the token of each (rule, table, seed, position).
 *
 * The golden's tokens were derived in high precision; cases nearer to a tie than `bound` (nats) were left out
 * and counted, because there fp32 arithmetic may rightly choose the other id. Every other token must be the
 * same. */
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/sampler.h"
#include "suite/golden/outcome.h"
#include "suite/oracle/table.h"

static const char *const group_keys[] = {"rule", "table", "temperature", "bound", "left_out", NULL};
static const char *const case_keys[] = {"seed", "position", "token", NULL};

static int begin(const struct json_cursor *group, void **shared, struct golden_outcome *outcome)
{
    const char *rules[RULE_COUNT + 1] = {NULL};
    for (int r = 0; r < RULE_COUNT; r++)
        rules[r] = sampler_rule_name((enum sampler_rule)r);
    struct trouble *damaged = &outcome->damaged;
    struct json_cursor at;
    struct table table;
    int rule;
    double temperature, bound;
    int64_t left_out;
    if (json_one_of(group, "rule", rules, &rule, damaged) ||
        json_number(group, "temperature", DBL_MIN, DBL_MAX, &temperature, damaged) ||
        json_double_string(group, "bound", &bound, damaged) ||
        json_integer(group, "left_out", 0, INT32_MAX, &left_out, damaged) ||
        json_object(group, "table", &at, damaged) || table_read(&table, &at, damaged))
        return -1;
    outcome->left_out += (size_t)left_out;
    *shared =
        sampler_row_new((enum sampler_rule)rule, SAMPLER_LOGITS, table.logits, table.vocab, temperature);
    table_free(&table);
    return *shared ? 0 : json_trouble(group, damaged, "no row can be made of this table at this temperature");
}

static int recompute(const struct golden_case *this, const void *shared)
{
    uint64_t seed, position;
    if (json_u64_string(&this->at, "seed", &seed, &this->outcome->damaged) ||
        json_u64_string(&this->at, "position", &position, &this->outcome->damaged))
        return -1;
    int32_t token;
    sampler_draw(shared, seed, position, 1, &token);
    return golden_same_integer(this, &this->at, "token", "token", token);
}

static void end(void *shared)
{
    sampler_row_free(shared);
}

const struct golden_check golden_tokens = {
    .family = "agreement",
    .check = "tokens",
    .what = "tokens of the reference rules",
    .group_keys = group_keys,
    .case_keys = case_keys,
    .begin = begin,
    .recompute = recompute,
    .end = end,
};
