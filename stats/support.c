/* support.c: tokens that the law says can never come.
 *
 * Sees:     one draw of an id of probability 0. Cannot see: anything among the other ids.
 * False alarms: none; the check is deterministic. Source: definition.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"

struct support support_test(const uint64_t *counts, const double *pmf, size_t vocab)
{
    struct support found = {0, vocab};
    for (size_t id = 0; id < vocab; id++) {
        if (pmf[id] > 0 || counts[id] == 0)
            continue;
        if (found.id == vocab)
            found.id = id;
        found.draws += counts[id];
    }
    return found;
}
