/* boundary_answer.c: hold what was made of a row, by this build or by an engine's wheel, against a golden's expectation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "suite/golden/boundary_case.h"

static void ids_in_words(const struct boundary_answer *answer, char *text, size_t bytes)
{
    size_t used = 0;
    snprintf(text, bytes, answer->kept ? "" : "none");
    for (size_t i = 0; i < answer->kept && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%d", i ? " " : "", answer->id[i]);
}

static bool figures_differ(const char *what, const struct boundary_answer *golden, const double *expected,
                           const double *computed, double tolerance, double floor,
                           struct boundary_difference *difference)
{
    for (size_t i = 0; i < golden->kept; i++)
        if (!(fabs(expected[i] - computed[i]) <= tolerance * (fabs(expected[i]) + floor)) &&
            !isnan(expected[i])) {
            snprintf(difference->field, sizeof difference->field, "%s of id %d", what, golden->id[i]);
            snprintf(difference->golden, sizeof difference->golden, "%.14e", expected[i]);
            snprintf(difference->ours, sizeof difference->ours, "%.14e", computed[i]);
            return true;
        }
    return false;
}

bool boundary_differs(const struct boundary_answer *golden, const struct boundary_answer *ours,
                      double tolerance, struct boundary_difference *difference)
{
    const char *expected = golden->refused ? golden->refused : "no refusal";
    const char *computed = ours->refused ? ours->refused : "no refusal";
    if (strcmp(expected, computed) != 0) {
        snprintf(difference->field, sizeof difference->field, "refused");
        snprintf(difference->golden, sizeof difference->golden, "%s", expected);
        snprintf(difference->ours, sizeof difference->ours, "%s", computed);
        return true;
    }
    if (golden->kept != ours->kept || memcmp(golden->id, ours->id, golden->kept * sizeof *golden->id) != 0) {
        snprintf(difference->field, sizeof difference->field, "kept");
        ids_in_words(golden, difference->golden, sizeof difference->golden);
        ids_in_words(ours, difference->ours, sizeof difference->ours);
        return true;
    }
    return figures_differ("mass", golden, golden->mass, ours->mass, tolerance, 0, difference) ||
           figures_differ("logit", golden, golden->logit, ours->logit, tolerance, 1, difference);
}
