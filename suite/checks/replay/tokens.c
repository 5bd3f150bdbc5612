/* tokens.c: who claims a rule by name gives the golden's token in every row of a mixed batch.
 * Sees: what replay.batch sees, and what is wrong alone, too: penalties, filters and temperatures together, under seeds.
 * Cannot see: anything in who claims no rule, or cannot take all that the batches hold. */
#include <inttypes.h>
#include <stdio.h>

#include "suite/checks/replay/lines.h"

struct tally {
    uint64_t tokens, differ;
    size_t batch, row, request;
    int32_t ours, theirs;
};

static void compare(const struct draws_batch *batch, size_t index, const struct script_line *line,
                    struct tally *tally)
{
    for (size_t r = 0; r < batch->rows; r++) {
        tally->tokens++;
        if (line->token[r] == batch->token[r] || tally->differ++ > 0)
            continue;
        tally->batch = index;
        tally->row = r;
        tally->request = batch->request[r];
        tally->ours = batch->token[r];
        tally->theirs = line->token[r];
    }
}

void check_replay_tokens(const struct check *check, const struct check_input *input,
                         struct evidence *evidence)
{
    struct replay_golden golden;
    struct tally tally = {0};
    char why[256];
    if (replay_golden_read(input->plan, input->cell, input->sut, &golden, why, sizeof why))
        evidence_damaged(evidence, why);
    else
        for (size_t b = 0; b < golden.batches; b++) {
            char name[32];
            snprintf(name, sizeof name, "golden-%zu", b);
            const struct script_line *line = script_find(input->script, name);
            if (line && line->state == LINE_ANSWERED)
                compare(&golden.batch[b], b, line, &tally);
        }
    if (tally.tokens) {
        struct statistic *statistic = evidence_add(evidence, check, "tokens");
        const int64_t seed = golden.requests.request[tally.request].seed;
        statistic->tail = (struct tail){1, 1};
        statistic->value = (double)tally.differ;
        statistic->violation = tally.differ > 0;
        if (tally.differ)
            snprintf(statistic->text, sizeof statistic->text,
                     "%" PRIu64 " of %" PRIu64
                     " tokens differ; golden-%zu, row %zu (request %zu, seed %" PRId64 "): %" PRId32
                     ", the golden has %" PRId32,
                     tally.differ, tally.tokens, tally.batch, tally.row, tally.request, seed, tally.theirs,
                     tally.ours);
    }
    replay_golden_free(&golden);
}
