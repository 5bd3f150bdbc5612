/* evidence.c: the statistics of a cell, as its checks find them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/checks/check.h"

struct statistic *evidence_add(struct evidence *evidence, const struct check *check, const char *name)
{
    struct statistic *grown = realloc(evidence->statistic, (evidence->count + 1) * sizeof *grown);
    if (!grown)
        abort();
    evidence->statistic = grown;
    struct statistic *statistic = &grown[evidence->count++];
    *statistic = (struct statistic){.check = check};
    strncpy(statistic->name, name, sizeof statistic->name - 1);
    return statistic;
}

struct statistic *evidence_find(const struct evidence *evidence, const struct statistic *like)
{
    for (size_t s = 0; s < evidence->count; s++)
        if (evidence->statistic[s].check == like->check && !strcmp(evidence->statistic[s].name, like->name))
            return &evidence->statistic[s];
    return NULL;
}

void evidence_damaged(struct evidence *evidence, const char *why)
{
    snprintf(evidence->damaged, sizeof evidence->damaged, "%s", why);
}

void evidence_free(struct evidence *evidence)
{
    free(evidence->statistic);
    *evidence = (struct evidence){0};
}
