/* position.c: the draws of one seed at consecutive positions.
 * Sees: noise that does not follow the position, comes back after a while, or walks over a lattice.
 * Cannot see: repetition further apart than 1,024 positions; whether the seed matters. */
#include "suite/checks/dependence/lines.h"

void check_position(const struct check *check, const struct check_input *input, struct evidence *evidence)
{
    const struct script_line *line = dependence_line(check, input, "positions", evidence);
    if (!line)
        return;
    const struct match match = match_lags(line->token, (size_t)line->draws / DEPENDENCE_LANES,
                                          DEPENDENCE_LANES, MATCH_LAGS_MAX, input->pmf, input->vocab);
    dependence_add(check, &match, "lags", "positions of one seed", evidence);
}
