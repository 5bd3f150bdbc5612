/* found.c: what the checks of family boundary share. */
#include "suite/checks/boundary/found.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void boundary_found_open(struct boundary_asks *asks, const struct check_input *in, struct evidence *evidence)
{
    struct trouble trouble = {0};
    if (boundary_asks_open(asks, in->plan->golden_dir, in->cell->name, in->sut, in->stage, &trouble)) {
        evidence_damaged(evidence, trouble.text);
        boundary_asks_free(asks);
    }
}

const struct script_line *boundary_line(const struct check_input *in, const struct boundary_ask *ask)
{
    return script_find(in->script, ask->line);
}

bool boundary_keeps(const struct boundary_answer *expect, int32_t token)
{
    for (size_t i = 0; i < expect->kept; i++)
        if (expect->id[i] == token)
            return true;
    return false;
}

void boundary_note(struct boundary_violation *violation, const struct boundary_ask *ask, const char *format,
                   ...)
{
    if (violation->cases++)
        return;
    char text[112];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(violation->first, sizeof violation->first, "case %.40s: %s", ask->of.id, text);
}

void boundary_tell(struct evidence *evidence, const struct check *check, const char *name,
                   const struct boundary_violation *violation)
{
    struct statistic *statistic = evidence_add(evidence, check, name);
    statistic->tail = (struct tail){1, 1};
    statistic->value = (double)violation->cases;
    statistic->violation = violation->cases > 0;
    snprintf(statistic->text, sizeof statistic->text, "%s", violation->first);
}
