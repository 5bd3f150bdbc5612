/* determinism.c: recompute golden/determinism/tokens.json: tokens as a function of seed, position and request, and their hash.
 *
 * The golden's tokens were derived in high precision; null stands where the two best are nearer than fp32 can
 * tell. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/golden/draws.h"
#include "suite/golden/outcome.h"
#include "suite/json/text.h"

#define LINE_BYTES 64 /* two 64-bit integers, a token, spaces and the end */

static const char *const group_keys[] = {"rule", "noise", NULL};
static const char *const case_keys[] = {"table", "temperature", "top_k", "top_p",  "min_p",
                                        "bound", "left_out",    "runs",  "sha256", NULL};

static int begin(const struct json_cursor *group, void **shared, struct golden_outcome *outcome)
{
    struct draws_rule *rule = malloc(sizeof *rule);
    *shared = rule;
    if (!rule)
        return json_trouble(group, &outcome->damaged, "out of memory");
    if (draws_read_rule(group, rule, &outcome->damaged) == 0)
        return 0;
    free(rule);
    return -1;
}

/* Compare one run; append the lines of its tokens to `lines`. */
static int same_run(const struct golden_case *this, const struct sampler_row *row,
                    const struct draws_run *run, char *lines, size_t *used, size_t *too_near)
{
    for (size_t d = 0; d < run->tokens; d++) {
        const int64_t position = run->position + (int64_t)d;
        int32_t token;
        if (run->token[d] == DRAWS_TOO_NEAR) {
            ++*too_near;
            continue;
        }
        sampler_draw_seeded(row, &run->seed, &position, 1, &token);
        if (token != run->token[d]) {
            char field[96], golden[16], ours[16];
            snprintf(field, sizeof field, "token of seed %" PRId64 ", position %" PRId64, run->seed,
                     position);
            snprintf(golden, sizeof golden, "%" PRId32, run->token[d]);
            snprintf(ours, sizeof ours, "%" PRId32, token);
            return golden_disagrees(this, field, golden, ours);
        }
        *used += (size_t)snprintf(lines + *used, LINE_BYTES, "%" PRId64 " %" PRId64 " %" PRId32 "\n",
                                  run->seed, position, token);
    }
    return 0;
}

static int same_case(const struct golden_case *this, const struct draws_case *draws,
                     const struct draws_rule *rule)
{
    size_t tokens = 0, used = 0, too_near = 0;
    for (size_t r = 0; r < draws->runs; r++)
        tokens += draws->run[r].tokens;
    char *lines = malloc((tokens + 1) * LINE_BYTES);
    struct sampler_row *row =
        draws_row(&this->at, rule, &draws->table, &draws->request, &this->outcome->damaged);
    int failed = row ? 0 : -1;
    if (!lines)
        failed = json_trouble(&this->at, &this->outcome->damaged, "out of memory");
    for (size_t r = 0; r < draws->runs && !failed; r++)
        failed = same_run(this, row, &draws->run[r], lines, &used, &too_near);
    if (!failed && too_near != draws->left_out)
        failed = json_trouble(&this->at, &this->outcome->damaged,
                              "\"left_out\" is %zu, and %zu tokens are null", draws->left_out, too_near);
    if (!failed) {
        char hex[65];
        text_sha256(lines, used, hex);
        failed = strcmp(hex, draws->sha256) ? golden_disagrees(this, "sha256", draws->sha256, hex) : 0;
    }
    this->outcome->left_out += too_near;
    sampler_row_free(row);
    free(lines);
    return failed;
}

static int recompute(const struct golden_case *this, const void *shared)
{
    struct draws_case draws;
    int failed = draws_read_case(&this->at, &draws, &this->outcome->damaged);
    if (!failed)
        failed = same_case(this, &draws, shared);
    draws_case_free(&draws);
    return failed;
}

const struct golden_check golden_determinism = {
    .family = "determinism",
    .check = "tokens",
    .what = "tokens by seed, position and request",
    .group_keys = group_keys,
    .case_keys = case_keys,
    .begin = begin,
    .recompute = recompute,
    .end = free,
};
