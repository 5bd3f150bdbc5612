/* tokens.c: who claims a rule by name gives the golden's tokens, seed by seed and position by position.
 * Sees: any other hash, key, order of ties, width of a seed or a position, filter or temperature.
 * Cannot see: anything in who claims no rule. */
#include <inttypes.h>
#include <stdio.h>

#include "suite/checks/determinism/lines.h"

struct tally {
    uint64_t tokens, differ;
    size_t golden;
    int64_t seed, position;
    int32_t ours, theirs;
};

static void compare(const struct draws_case *draws, size_t index, const struct script_line *line,
                    struct tally *tally)
{
    uint64_t d = 0;
    for (size_t r = 0; r < draws->runs; r++)
        for (size_t t = 0; t < draws->run[r].tokens; t++, d++) {
            const int32_t golden = draws->run[r].token[t];
            if (golden == DRAWS_TOO_NEAR)
                continue;
            tally->tokens++;
            if (line->token[d] == golden || tally->differ++ > 0)
                continue;
            tally->golden = index;
            tally->seed = draws->run[r].seed;
            tally->position = draws->run[r].position + (int64_t)t;
            tally->ours = golden;
            tally->theirs = line->token[d];
        }
}

void check_determinism_tokens(const struct check *check, const struct check_input *input,
                              struct evidence *evidence)
{
    struct determinism_golden golden;
    struct tally tally = {0};
    char why[256];
    if (determinism_golden_read(input->plan, input->cell, input->sut, &golden, why, sizeof why))
        evidence_damaged(evidence, why);
    else
        for (size_t i = 0; i < golden.cases; i++) {
            char name[32];
            snprintf(name, sizeof name, "golden-%zu", i);
            const struct script_line *line = script_find(input->script, name);
            if (line && line->state == LINE_ANSWERED)
                compare(&golden.draws[i], i, line, &tally);
        }
    if (tally.tokens) {
        struct statistic *statistic = evidence_add(evidence, check, "tokens");
        statistic->tail = (struct tail){1, 1};
        statistic->value = (double)tally.differ;
        statistic->violation = tally.differ > 0;
        if (tally.differ)
            snprintf(statistic->text, sizeof statistic->text,
                     "%" PRIu64 " of %" PRIu64 " tokens differ; golden-%zu, seed %" PRId64
                     ", position %" PRId64 ": %" PRId32 ", the golden has %" PRId32,
                     tally.differ, tally.tokens, tally.golden, tally.seed, tally.position, tally.theirs,
                     tally.ours);
    }
    determinism_golden_free(&golden);
}
