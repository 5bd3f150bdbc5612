/* places.c: the same draws in other calls, processes and company: determinism.process, .batch and .neighbour.
 * Sees: whatever else than its own row, seed and position decides a draw's token.
 * Cannot see: seeds and positions that are all mapped wrong in the same way (determinism.seed and .tokens do). */
#include <inttypes.h>
#include <stdio.h>

#include "suite/checks/determinism/lines.h"

/* The first draw that differs, and how many do. */
struct difference {
    const char *line;
    uint64_t draw, differ, draws;
    int32_t base, other;
};

static int64_t array_at(const struct script_line *line, const char *name, uint64_t draw)
{
    const struct frame_array *array = frame_find(&line->request, name);
    return ((const int64_t *)array->data)[draw];
}

static void compare(const struct script_line *base, const struct determinism_line *like,
                    const struct script_line *line, struct difference *found)
{
    struct difference own = {.line = line->name, .draws = base->draws};
    for (uint64_t d = 0; d < base->draws; d++) {
        const int32_t other = line->token[determinism_place(like->order, d, base->draws)];
        if (other == base->token[d])
            continue;
        if (own.differ++ == 0) {
            own.draw = d;
            own.base = base->token[d];
            own.other = other;
        }
    }
    if (own.differ > found->differ)
        *found = own;
}

static void places_add(const struct check *check, const struct check_input *input,
                       enum determinism_promise first, enum determinism_promise last,
                       struct evidence *evidence)
{
    const struct script_line *base = script_find(input->script, "base");
    struct difference found = {0};
    size_t lines = 0;
    for (size_t i = 0; i < determinism_lines; i++) {
        const struct determinism_line *like = &determinism_line[i];
        const struct script_line *line = script_find(input->script, like->name);
        if (like->promise < first || like->promise > last || !line || line->state != LINE_ANSWERED ||
            base->state != LINE_ANSWERED)
            continue;
        lines++;
        compare(base, like, line, &found);
    }
    if (lines == 0)
        return;
    struct statistic *statistic = evidence_add(evidence, check, "tokens");
    statistic->tail = (struct tail){1, 1};
    statistic->value = (double)found.differ;
    statistic->violation = found.differ > 0;
    if (found.differ)
        snprintf(statistic->text, sizeof statistic->text,
                 "%s: %" PRIu64 " of %" PRIu64 " tokens differ; draw %" PRIu64 " (seed %" PRId64
                 ", position %" PRId64 ") is %" PRId32 ", in base %" PRId32,
                 found.line, found.differ, found.draws, found.draw, array_at(base, "seeds", found.draw),
                 array_at(base, "positions", found.draw), found.other, found.base);
}

void check_determinism_process(const struct check *check, const struct check_input *input,
                               struct evidence *evidence)
{
    places_add(check, input, PROMISE_PROCESS, PROMISE_PROCESS, evidence);
}

void check_determinism_batch(const struct check *check, const struct check_input *input,
                             struct evidence *evidence)
{
    places_add(check, input, PROMISE_BATCH, PROMISE_BATCH, evidence);
}

void check_determinism_neighbour(const struct check *check, const struct check_input *input,
                                 struct evidence *evidence)
{
    places_add(check, input, PROMISE_NEIGHBOUR, PROMISE_FILTERED, evidence);
}
