/* seed.c: every seed is a seed: another one gives other tokens, and the ends of 64 bits and -1 and 0 are seeds too.
 * Sees: seeds ignored, constant, cut to 32 bits, taken for "none", without their sign; positions ignored or cut
 * to 16 bits.
 * Cannot see: tokens that are reproducibly not those of the rule (determinism.tokens does). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "suite/checks/determinism/lines.h"

#define POWER 0.999
#define SPECIAL_PAIRS (DETERMINISM_SPECIALS * (DETERMINISM_SPECIALS - 1) / 2)

static const struct script_line *answered(const struct check_input *input, const char *name)
{
    const struct script_line *line = script_find(input->script, name);
    return line && line->state == LINE_ANSWERED ? line : NULL;
}

/* `looks` places were looked at, and this is the worst. */
static void add_tail(const struct check *check, const struct check_input *input, const char *name,
                     struct tail tail, uint64_t equal, uint64_t pairs, size_t looks, const char *words,
                     struct evidence *evidence)
{
    struct statistic *statistic = evidence_add(evidence, check, name);
    const double chance = match_probability(input->pmf, input->vocab);
    const double seen = match_detectable_most(pairs, chance, BUDGET_STAGE_ONE / (double)looks, POWER);
    statistic->dependence = true;
    statistic->tail = (struct tail){fmin(1, tail.p * (double)looks), fmin(1, tail.p_beyond * (double)looks)};
    statistic->value = (double)equal;
    statistic->expected = (double)pairs * chance;
    if (isnan(seen))
        snprintf(statistic->smallest_effect, sizeof statistic->smallest_effect, "nothing: too few pairs");
    else
        snprintf(statistic->smallest_effect, sizeof statistic->smallest_effect,
                 "one draw in %.3g that is shared", (1 - chance) / (seen - chance));
    snprintf(statistic->text, sizeof statistic->text,
             "%s: %" PRIu64 " of %" PRIu64 " pairs equal, %.1f expected", words, equal, pairs,
             statistic->expected);
}

/* Both tails: seeds that share tokens, and seeds that avoid each other's. */
static void add_pairs(const struct check *check, const struct check_input *input, const char *name,
                      uint64_t equal, uint64_t pairs, const char *words, struct evidence *evidence)
{
    const struct pairs test = pairs_test(equal, pairs, input->pmf, input->vocab);
    char full[40];
    snprintf(full, sizeof full, "%s/upper", name);
    add_tail(check, input, full, test.tails.upper, equal, pairs, 1, words, evidence);
    snprintf(full, sizeof full, "%s/lower", name);
    add_tail(check, input, full, test.tails.lower, equal, pairs, 1, words, evidence);
}

static void add_shifted(const struct check *check, const struct check_input *input, const char *name,
                        const char *words, struct evidence *evidence)
{
    const struct script_line *base = answered(input, "base"), *line = answered(input, name);
    uint64_t equal = 0;
    if (!base || !line)
        return;
    for (uint64_t d = 0; d < base->draws; d++)
        equal += base->token[d] == line->token[d];
    add_pairs(check, input, name, equal, base->draws, words, evidence);
}

/* Steps 2t and 2t + 1 of a lane: no draw is in two pairs. */
static void add_positions(const struct check *check, const struct check_input *input,
                          struct evidence *evidence)
{
    const struct script_line *base = answered(input, "base");
    uint64_t equal = 0;
    if (!base)
        return;
    for (uint64_t d = 0; d < base->draws; d++)
        if (d / DETERMINISM_LANES % 2 == 0)
            equal += base->token[d] == base->token[d + DETERMINISM_LANES];
    add_pairs(check, input, "positions", equal, base->draws / 2, "a position and the next", evidence);
}

static void add_special(const struct check *check, const struct check_input *input, struct evidence *evidence)
{
    const struct script_line *line = answered(input, "special");
    uint64_t most = 0;
    size_t one = 0, other = 1;
    if (!line)
        return;
    const uint64_t pairs = line->draws / DETERMINISM_SPECIALS;
    for (size_t i = 0; i < DETERMINISM_SPECIALS; i++)
        for (size_t j = i + 1; j < DETERMINISM_SPECIALS; j++) {
            uint64_t equal = 0;
            for (uint64_t d = 0; d < line->draws; d += DETERMINISM_SPECIALS)
                equal += line->token[d + i] == line->token[d + j];
            if (equal > most) {
                most = equal;
                one = i;
                other = j;
            }
        }
    char words[96];
    snprintf(words, sizeof words, "seeds %" PRId64 " and %" PRId64, determinism_special[one],
             determinism_special[other]);
    const struct pairs test = pairs_test(most, pairs, input->pmf, input->vocab);
    add_tail(check, input, "special/upper", test.tails.upper, most, pairs, SPECIAL_PAIRS, words, evidence);
}

/* The same special seeds in another process. */
static void add_repeated(const struct check *check, const struct check_input *input,
                         struct evidence *evidence)
{
    const struct script_line *line = answered(input, "special"), *again = answered(input, "special-again");
    uint64_t differ = 0, first = 0;
    if (!line || !again || !keying_of(input->sut).reproducible)
        return;
    for (uint64_t d = 0; d < line->draws; d++)
        if (line->token[d] != again->token[d] && differ++ == 0)
            first = d;
    struct statistic *statistic = evidence_add(evidence, check, "special/tokens");
    statistic->tail = (struct tail){1, 1};
    statistic->value = (double)differ;
    statistic->violation = differ > 0;
    if (differ)
        snprintf(statistic->text, sizeof statistic->text,
                 "%" PRIu64 " of %" PRIu64 " tokens of special seeds differ the second time; draw %" PRIu64
                 " (seed %" PRId64 ") is %" PRId32 ", then %" PRId32,
                 differ, line->draws, first, determinism_special[first % DETERMINISM_SPECIALS],
                 line->token[first], again->token[first]);
}

/* A greedy sampler's seeds decide nothing; they must still all be taken, and the same way twice. */
void check_determinism_seed(const struct check *check, const struct check_input *input,
                            struct evidence *evidence)
{
    add_repeated(check, input, evidence);
    if (keying_of(input->sut).greedy)
        return;
    add_shifted(check, input, "plus-one", "a seed and the next", evidence);
    add_shifted(check, input, "plus-2^32", "a seed and itself plus 2^32", evidence);
    add_shifted(check, input, "position-2^16", "a position and itself plus 2^16", evidence);
    add_positions(check, input, evidence);
    add_special(check, input, evidence);
}
