/* refused.c: meaningless parameters are refused, and meaningful ones at the edge of their range are not.
 * Sees: range checks that let NaN or 0 through, or that refuse what they document. Cannot see: what an accepted value does. */
#include "suite/checks/boundary/found.h"

void check_boundary_refused(const struct check *check, const struct check_input *in,
                            struct evidence *evidence)
{
    struct boundary_asks asks;
    struct boundary_violation drawn = {0}, refused = {0};
    boundary_found_open(&asks, in, evidence);
    for (size_t i = 0; i < asks.count; i++) {
        const struct boundary_ask *ask = &asks.ask[i];
        const struct script_line *line = boundary_line(in, ask);
        if (ask->expect.refused && line->state == LINE_ANSWERED)
            boundary_note(&drawn, ask, "%s must be refused; token %d was drawn", ask->expect.refused,
                          line->token[0]);
        if (!ask->expect.refused && ask->expect.kept > 0 && line->state == LINE_REFUSED)
            boundary_note(&refused, ask, "refused, it or another of %s: %.60s", ask->line, line->text);
    }
    boundary_tell(evidence, check, "drawn", &drawn);
    boundary_tell(evidence, check, "refused", &refused);
    boundary_asks_free(&asks);
}
