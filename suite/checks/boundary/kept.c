/* kept.c: the kept set that a sampler reports is the golden's, id by id.
 * Sees: one id too many or too few at a cut, whatever its mass. Cannot see: what is drawn; samplers that report no set. */
#include <stdio.h>

#include "suite/checks/boundary/found.h"

static void words(const uint8_t *kept, size_t vocab, char *text, size_t bytes)
{
    size_t used = 0;
    snprintf(text, bytes, "none");
    for (size_t i = 0; i < vocab && used + 4 < bytes; i++)
        if (kept[i])
            used += (size_t)snprintf(text + used, bytes - used, used ? " %zu" : "%zu", i);
}

void check_boundary_kept(const struct check *check, const struct check_input *in, struct evidence *evidence)
{
    struct boundary_asks asks;
    struct boundary_violation differs = {0};
    boundary_found_open(&asks, in, evidence);
    for (size_t i = 0; i < asks.count; i++) {
        const struct boundary_ask *ask = &asks.ask[i];
        const struct script_line *line = boundary_line(in, ask);
        if (ask->expect.refused || line->state != LINE_ANSWERED || !line->kept)
            continue;
        const uint8_t *kept = line->kept + ask->row * ask->of.vocab;
        uint8_t expected[BOUNDARY_VOCAB_MAX] = {0};
        bool same = true;
        for (size_t k = 0; k < ask->expect.kept; k++)
            expected[ask->expect.id[k]] = 1;
        for (size_t id = 0; id < ask->of.vocab; id++)
            same &= (kept[id] != 0) == expected[id];
        if (same)
            continue;
        char ours[40], theirs[40];
        words(kept, ask->of.vocab, theirs, sizeof theirs);
        words(expected, ask->of.vocab, ours, sizeof ours);
        boundary_note(&differs, ask, "it keeps %s; the golden keeps %s", theirs, ours);
    }
    boundary_tell(evidence, check, "set", &differs);
    boundary_asks_free(&asks);
}
