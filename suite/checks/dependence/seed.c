/* seed.c: the draws of consecutive seeds: at one position, along the positions of two neighbours, and seeds against
 * positions.
 * Sees: seeds that do not matter, neighbours that share or avoid each other's tokens, a seed and a position that are
 * merely added. Cannot see: seeds further apart than 1,024 that are alike. */
#include <stdlib.h>

#include "suite/checks/dependence/lines.h"

static void add_between(const struct check *check, const struct check_input *input, const int32_t *a,
                        const int32_t *b, size_t steps, const char *name, const char *words,
                        struct evidence *evidence)
{
    const struct match match = match_between(a, b, steps, MATCH_LAGS_MAX, input->pmf, input->vocab);
    dependence_add(check, &match, name, words, evidence);
}

void check_seed(const struct check *check, const struct check_input *input, struct evidence *evidence)
{
    const struct script_line *seeds = dependence_line(check, input, "seeds", evidence);
    const struct script_line *positions = dependence_line(check, input, "positions", evidence);
    if (!seeds || !positions)
        return;
    const size_t steps = (size_t)seeds->draws / DEPENDENCE_LANES;
    const struct match match =
        match_lags(seeds->token, steps, DEPENDENCE_LANES, MATCH_LAGS_MAX, input->pmf, input->vocab);
    dependence_add(check, &match, "offsets", "seeds at one position", evidence);
    int32_t *one_seed = dependence_lane(positions, 0), *next_seed = dependence_lane(positions, 1);
    int32_t *one_position = dependence_lane(seeds, 0);
    add_between(check, input, one_seed, next_seed, steps, "neighbours", "positions of two seeds", evidence);
    add_between(check, input, one_seed, one_position, steps, "seed-position",
                "positions of one seed, and seeds at one position,", evidence);
    free(one_seed);
    free(next_seed);
    free(one_position);
}
