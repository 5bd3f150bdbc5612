/* suspect.c: a golden and this build disagree: which of them is wrong?
 *
 * Files of families predicate and defaults have cases that were worked by hand, one at least for each flag. Those that
 * share a flag with the case that disagrees are asked, and what they say is a third opinion. */
#include <stdio.h>
#include <string.h>

#include "suite/golden/outcome.h"

#define BY_HAND "by hand"

struct opinion {
    const struct golden_check *check;
    const struct golden_outcome *first;
    size_t cases, different;
};

/* Both without a flag, or with one in common. */
static bool is_like(const struct golden_outcome *first, const cJSON *flags)
{
    if (cJSON_GetArraySize(flags) == 0)
        return first->flags[0] == 0;
    for (const cJSON *flag = flags->child; flag; flag = flag->next) {
        char listed[80];
        snprintf(listed, sizeof listed, " %.70s ", flag->valuestring);
        if (strstr(first->flags, listed))
            return true;
    }
    return false;
}

static int ask(const struct golden_case *this, const void *shared)
{
    struct opinion *opinion = this->context;
    struct golden_outcome own = {0};
    struct golden_case again = *this;
    if (strncmp(this->source, BY_HAND, strlen(BY_HAND)) != 0 ||
        !is_like(opinion->first, cJSON_GetObjectItemCaseSensitive(this->at.node, "flags")))
        return 0;
    again.check = opinion->check;
    again.outcome = &own;
    opinion->check->recompute(&again, shared);
    opinion->cases++;
    opinion->different += own.disagrees.exit != 0;
    return 0;
}

void golden_suspect(const char *directory, const struct golden_check *check, struct golden_outcome *outcome)
{
    struct opinion opinion = {.check = check, .first = outcome};
    struct golden_check asking = *check;
    struct golden_outcome walked;
    asking.recompute = ask;
    golden_walk(directory, &asking, &opinion, &walked);
    size_t used = strlen(outcome->disagrees.text), room = sizeof outcome->disagrees.text - used;
    char *end = outcome->disagrees.text + used;
    if (opinion.cases == 0)
        snprintf(end, room, "; no case like it was worked by hand");
    else if (opinion.different)
        snprintf(end, room,
                 "; of %zu cases like it that were worked by hand, %zu disagree with this build, too: "
                 "suspect this build",
                 opinion.cases, opinion.different);
    else
        snprintf(end, room,
                 "; all %zu cases like it that were worked by hand agree with this build: suspect the "
                 "golden's model",
                 opinion.cases);
}
