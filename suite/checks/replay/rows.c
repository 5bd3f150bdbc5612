/* rows.c: each row of a mixed batch against itself alone: replay.batch, its token, and replay.kept, what its filters leave.
 * Sees: parameters, histories, masks and seeds that reach another row than their own, and paths that only a batch takes.
 * Cannot see: what is wrong alone, too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/checks/replay/lines.h"

static const struct script_line *answered(const struct check_input *input, const char *name)
{
    const struct script_line *line = script_find(input->script, name);
    return line && line->state == LINE_ANSWERED ? line : NULL;
}

/* What two lines say of one draw, or of all: how many differ, and the first. */
struct difference {
    const char *line;
    size_t differ, places, place, draw;
    int64_t alone, together; /* tokens; for kept sets the id, and 1 if it was kept */
};

/* The tokens that must repeat: all of a sampler whose draws stand alone, else those of top_k 1. */
static bool must_repeat(const struct check_input *input, const struct script_line *solo, size_t draw)
{
    const struct keying keying = keying_of(input->sut);
    const struct frame_array *top_k = frame_find(&solo->request, "top_k");
    return (keying.seeded && keying.alone) || (top_k && ((const int64_t *)top_k->data)[draw] == 1);
}

typedef bool (*compare_place)(const struct check_input *input, const struct replay_line *like,
                              const struct script_line *solo, const struct script_line *line, size_t place,
                              size_t draw, struct difference *found);

static bool same_token(const struct check_input *input, const struct replay_line *like,
                       const struct script_line *solo, const struct script_line *line, size_t place,
                       size_t draw, struct difference *found)
{
    (void)like;
    if (!must_repeat(input, solo, draw) || line->token[place] == solo->token[draw])
        return true;
    found->alone = solo->token[draw];
    found->together = line->token[place];
    return false;
}

static bool same_kept(const struct check_input *input, const struct replay_line *like,
                      const struct script_line *solo, const struct script_line *line, size_t place,
                      size_t draw, struct difference *found)
{
    (void)input;
    const size_t vocab = solo->columns;
    const uint8_t *alone = solo->kept + draw * vocab,
                  *together = line->kept + (like->moved ? place : draw) * vocab;
    for (size_t i = 0; i < vocab; i++)
        if (!alone[i] != !together[i]) {
            found->alone = (int64_t)i;
            found->together = together[i] != 0;
            return false;
        }
    return true;
}

static void line_compare(const struct check_input *input, const struct replay_line *like,
                         const struct script_line *solo, const struct script_line *line, compare_place same,
                         struct difference *worst)
{
    size_t *draw = malloc(((size_t)solo->draws + 1) * sizeof *draw);
    if (!draw)
        abort();
    struct difference found = {.line = line->name,
                               .places = replay_places(like->order, (size_t)solo->draws, draw)};
    for (size_t p = 0; p < found.places; p++) {
        struct difference here = found;
        if (same(input, like, solo, line, p, draw[p], &here))
            continue;
        if (found.differ == 0) {
            here.place = p;
            here.draw = draw[p];
            found = here;
        }
        found.differ++;
    }
    free(draw);
    if (found.differ > worst->differ)
        *worst = found;
}

/* Compare every mixed line with solo. NULL if none could be. */
static struct statistic *rows_add(const struct check *check, const struct check_input *input, bool kept,
                                  struct difference *worst, struct evidence *evidence)
{
    const struct script_line *solo = answered(input, "solo");
    size_t lines = 0;
    *worst = (struct difference){0};
    for (size_t i = 0; solo && i < replay_lines; i++) {
        const struct script_line *line = answered(input, replay_line[i].name);
        if (!line || (kept && (!solo->kept || !line->kept)))
            continue;
        lines++;
        line_compare(input, &replay_line[i], solo, line, kept ? same_kept : same_token, worst);
    }
    if (lines == 0)
        return NULL;
    struct statistic *statistic = evidence_add(evidence, check, kept ? "kept" : "tokens");
    statistic->tail = (struct tail){1, 1};
    statistic->value = (double)worst->differ;
    statistic->violation = worst->differ > 0;
    return statistic;
}

/* "draw 5 (row 12, seed 7, position 9)": the row within its call. */
static const char *whose(const struct check_input *input, const struct difference *worst, char *text,
                         size_t bytes)
{
    const struct script_line *solo = script_find(input->script, "solo"),
                             *line = script_find(input->script, worst->line);
    const struct frame_array *seeds = frame_find(&solo->request, "seeds"),
                             *positions = frame_find(&solo->request, "positions");
    const size_t row = worst->place % (size_t)line->batch;
    if (seeds)
        snprintf(text, bytes, "draw %zu (row %zu, seed %" PRId64 ", position %" PRId64 ")", worst->draw, row,
                 ((const int64_t *)seeds->data)[worst->draw],
                 ((const int64_t *)positions->data)[worst->draw]);
    else
        snprintf(text, bytes, "draw %zu (row %zu)", worst->draw, row);
    return text;
}

static bool any_must_repeat(const struct check_input *input)
{
    const struct script_line *solo = answered(input, "solo");
    for (size_t d = 0; solo && d < solo->draws; d++)
        if (must_repeat(input, solo, d))
            return true;
    return false;
}

void check_replay_batch(const struct check *check, const struct check_input *input, struct evidence *evidence)
{
    struct difference worst;
    char text[96];
    struct statistic *statistic =
        any_must_repeat(input) ? rows_add(check, input, false, &worst, evidence) : NULL;
    if (statistic && worst.differ)
        snprintf(statistic->text, sizeof statistic->text,
                 "%s: %zu of %zu tokens differ; %s is %" PRId64 ", alone %" PRId64, worst.line, worst.differ,
                 worst.places, whose(input, &worst, text, sizeof text), worst.together, worst.alone);
}

void check_replay_kept(const struct check *check, const struct check_input *input, struct evidence *evidence)
{
    struct difference worst;
    char text[96];
    struct statistic *statistic = rows_add(check, input, true, &worst, evidence);
    if (statistic && worst.differ)
        snprintf(statistic->text, sizeof statistic->text,
                 "%s: %zu of %zu kept sets differ; of %s id %" PRId64 " is %s, alone %s", worst.line,
                 worst.differ, worst.places, whose(input, &worst, text, sizeof text), worst.alone,
                 worst.together ? "kept" : "dropped", worst.together ? "dropped" : "kept");
}
