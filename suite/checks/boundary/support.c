/* support.c: no token that the filters drop, none outside the row, and a token wherever there is one.
 * Sees: an id too many in a kept set, another row's or another request's filter, ranks for ids. Cannot see: an id too few. */
#include "suite/checks/boundary/found.h"

void check_boundary_support(const struct check *check, const struct check_input *in,
                            struct evidence *evidence)
{
    struct boundary_asks asks;
    struct boundary_violation outside = {0};
    boundary_found_open(&asks, in, evidence);
    for (size_t i = 0; i < asks.count; i++) {
        const struct boundary_ask *ask = &asks.ask[i];
        const struct script_line *line = boundary_line(in, ask);
        if (ask->expect.refused || line->state != LINE_ANSWERED)
            continue;
        for (size_t d = ask->row; d < line->draws; d += ask->rows) {
            const int32_t token = line->token[d];
            if (ask->expect.kept == 0 ? token == -1 : boundary_keeps(&ask->expect, token))
                continue;
            if (ask->expect.kept == 0)
                boundary_note(&outside, ask,
                              "token %d of a row that leaves none: -1, or a refusal, is the answer", token);
            else if (token < 0 || (size_t)token >= ask->of.vocab)
                boundary_note(&outside, ask, "token %d of a row with ids 0 to %zu", token, ask->of.vocab - 1);
            else
                boundary_note(&outside, ask, "id %d was drawn, which the filters drop (%zu of %zu are kept)",
                              token, ask->expect.kept, ask->of.vocab);
            break;
        }
    }
    boundary_tell(evidence, check, "outside", &outside);
    boundary_asks_free(&asks);
}
