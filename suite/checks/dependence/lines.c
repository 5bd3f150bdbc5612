/* lines.c: from the answered lines of a dependence cell to statistics. */
#include "suite/checks/dependence/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POWER 0.999

/* Always there, so that a second stage can confirm what only it saw. */
static bool in_range(const struct check *check, const struct check_input *input,
                     const struct script_line *line, struct evidence *evidence)
{
    char name[64];
    uint64_t bad = 0;
    int32_t first = 0;
    for (uint64_t d = 0; d < line->draws; d++)
        if (line->token[d] < 0 || (size_t)line->token[d] >= input->vocab) {
            first = bad ? first : line->token[d];
            bad++;
        }
    snprintf(name, sizeof name, "%s/range", line->name);
    struct statistic *statistic = evidence_add(evidence, check, name);
    statistic->tail = (struct tail){1, 1};
    statistic->value = (double)bad;
    statistic->violation = bad > 0;
    if (bad)
        snprintf(statistic->text, sizeof statistic->text,
                 "%llu of %llu tokens are no ids of this row, the first is %d", (unsigned long long)bad,
                 (unsigned long long)line->draws, first);
    return bad == 0;
}

const struct script_line *dependence_line(const struct check *check, const struct check_input *input,
                                          const char *name, struct evidence *evidence)
{
    const struct script_line *line = script_find(input->script, name);
    if (!line || line->state != LINE_ANSWERED)
        return NULL;
    return in_range(check, input, line, evidence) ? line : NULL;
}

int32_t *dependence_lane(const struct script_line *line, size_t lane)
{
    const size_t steps = (size_t)line->draws / DEPENDENCE_LANES;
    int32_t *token = malloc((steps ? steps : 1) * sizeof *token);
    if (!token)
        abort();
    for (size_t t = 0; t < steps; t++)
        token[t] = line->token[t * DEPENDENCE_LANES + lane];
    return token;
}

static void effect(struct statistic *statistic, const struct match *match, const struct match_look *look,
                   bool upper)
{
    const double level = BUDGET_STAGE_ONE / (double)match->looks, chance = match->probability;
    const double seen = upper ? match_detectable_most(look->pairs, chance, level, POWER)
                              : match_detectable_least(look->pairs, chance, level, POWER);
    char *text = statistic->smallest_effect;
    const size_t bytes = sizeof statistic->smallest_effect;
    if (isnan(seen))
        snprintf(text, bytes, "nothing: too few pairs");
    else if (upper)
        snprintf(text, bytes, "one draw in %.2g that copies another", (1 - chance) / (seen - chance));
    else
        snprintf(text, bytes, "%.2g %% of the equal pairs avoided", 100 * (1 - seen / chance));
}

void dependence_add(const struct check *check, const struct match *match, const char *name, const char *words,
                    struct evidence *evidence)
{
    for (int side = 0; side < 2 && match->looks; side++) {
        const struct match_look *look = side ? &match->least : &match->most;
        char full[64], place[64];
        snprintf(full, sizeof full, "%s/%s", name, side ? "lower" : "upper");
        struct statistic *statistic = evidence_add(evidence, check, full);
        statistic->dependence = statistic->bound = true;
        statistic->tail = side ? match->lower : match->upper;
        statistic->value = (double)look->equal;
        statistic->expected = (double)look->pairs * match->probability;
        if (look->row < 0)
            snprintf(place, sizeof place, "%lld apart", (long long)look->lag);
        else
            snprintf(place, sizeof place, "%lld and %lld", (long long)look->row,
                     (long long)(look->row + look->lag));
        snprintf(statistic->text, sizeof statistic->text,
                 "%s %s: %.0f of %llu pairs equal, %.1f expected (worst of %zu)", words, place,
                 statistic->value, (unsigned long long)look->pairs, statistic->expected, match->looks);
        effect(statistic, match, look, side == 0);
    }
}
