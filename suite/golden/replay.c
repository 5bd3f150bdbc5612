/* replay.c: recompute golden/replay/batches.json: each row of a mixed batch, drawn alone.
 *
 * The kernels know no batch, so this proves the tokens; that a batch changes none of them is asked of
 * samplers by the checks of family replay, which send these batches to whoever claims the rule. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "suite/golden/draws.h"
#include "suite/golden/outcome.h"

static const char *const group_keys[] = {"rule", "noise", "bound", "left_out", "tables", "requests", NULL};
static const char *const case_keys[] = {"requests", "tokens", NULL};

struct group {
    struct draws_requests requests;
    int32_t *token; /* [requests] solo */
};

static void end(void *shared)
{
    struct group *group = shared;
    draws_requests_free(&group->requests);
    free(group->token);
    free(group);
}

static int draw_alone(const struct json_cursor *at, const struct draws_rule *rule, struct group *group,
                      struct trouble *damaged)
{
    group->token = malloc((group->requests.requests + 1) * sizeof *group->token);
    if (!group->token)
        return json_trouble(at, damaged, "out of memory");
    for (size_t r = 0; r < group->requests.requests; r++) {
        const struct draws_request *request = &group->requests.request[r];
        struct sampler_row *row =
            draws_row(at, rule, &group->requests.table[request->table], request, damaged);
        if (!row)
            return -1;
        sampler_draw_seeded(row, &request->seed, &request->position, 1, &group->token[r]);
        sampler_row_free(row);
    }
    return 0;
}

static int begin(const struct json_cursor *at, void **shared, struct golden_outcome *outcome)
{
    struct draws_rule rule;
    struct group *group = calloc(1, sizeof *group);
    if (!group)
        return json_trouble(at, &outcome->damaged, "out of memory");
    if (draws_read_rule(at, &rule, &outcome->damaged) ||
        draws_read_requests(at, &group->requests, &outcome->damaged) ||
        draw_alone(at, &rule, group, &outcome->damaged)) {
        end(group);
        return -1;
    }
    outcome->left_out += group->requests.left_out;
    *shared = group;
    return 0;
}

static int recompute(const struct golden_case *this, const void *shared)
{
    const struct group *group = shared;
    struct draws_batch batch;
    int failed = draws_read_batch(&this->at, &group->requests, &batch, &this->outcome->damaged);
    for (size_t r = 0; r < batch.rows && !failed; r++)
        if (batch.token[r] != group->token[batch.request[r]]) {
            char field[64], golden[16], ours[16];
            snprintf(field, sizeof field, "token of row %zu, request %zu", r, batch.request[r]);
            snprintf(golden, sizeof golden, "%" PRId32, batch.token[r]);
            snprintf(ours, sizeof ours, "%" PRId32, group->token[batch.request[r]]);
            failed = golden_disagrees(this, field, golden, ours);
        }
    draws_batch_free(&batch);
    return failed;
}

const struct golden_check golden_replay = {
    .family = "replay",
    .check = "batches",
    .what = "tokens of mixed batches, row by row",
    .group_keys = group_keys,
    .case_keys = case_keys,
    .begin = begin,
    .recompute = recompute,
    .end = end,
};
