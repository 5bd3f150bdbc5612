/* outcome.c: what one reading of an engine makes of a request, and what another makes of it. */
#include "suite/cost/outcome.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "suite/json/utf8.h"
#include "suite/trouble.h"

const char *const cost_pass_flag[] = {"do_penalties", "do_top_p_top_k", "do_min_p"};

unsigned cost_mask(const struct engine_flags *flags)
{
    return (unsigned)flags->need_penalties << COST_PENALTIES |
           (unsigned)flags->need_top_p_top_k << COST_TOP_P_TOP_K | (unsigned)flags->need_min_p << COST_MIN_P;
}

void cost_outcome(const struct engine *engine, enum engine_reading reading,
                  const struct engine_server *server, enum engine_endpoint endpoint,
                  const struct engine_values *request, struct cost_outcome *outcome)
{
    struct engine_resolved resolved;
    struct engine_flags flags;
    outcome->refused = engine->resolve(reading, server, endpoint, request, &resolved, &outcome->refusal) != 0;
    if (outcome->refused)
        return;
    outcome->refused = engine_construct(engine, reading, &resolved.values, &outcome->refusal) ||
                       engine->flags(reading, server, &resolved.values, &flags, &outcome->refusal);
    if (outcome->refused) {
        outcome->refusal.status = engine_status(engine, endpoint, outcome->refusal.status);
        return;
    }
    if (engine->forks(reading, server, &resolved.values, 1, &outcome->forks, &outcome->refusal)) {
        outcome->refused = reading == ENGINE_UPSTREAM;
        outcome->forks =
            (struct engine_forks){.sequences = 1}; /* of a number that is none articles say nothing */
    }
    outcome->values = resolved.values;
    outcome->mask = cost_mask(&flags);
    outcome->draw = 0;
    while (outcome->draw + 1 < ENGINE_DRAWS && !flags.draws[outcome->draw])
        outcome->draw++;
}

const char *cost_refusal(const struct cost_outcome *outcome, char text[TALLY_TEXT])
{
    if (outcome->refusal.status)
        snprintf(text, TALLY_TEXT, "HTTP %d: %s", outcome->refusal.status, outcome->refusal.text);
    else
        snprintf(text, TALLY_TEXT, "fails in the step, for its whole batch: %s", outcome->refusal.text);
    utf8_force(text); /* it holds what was sent, and may be cut */
    trouble_flatten(text);
    return text;
}

__attribute__((format(printf, 2, 3))) static void append(char text[TALLY_TEXT], const char *format, ...)
{
    va_list list;
    size_t used = strlen(text);
    if (used && used + 3 < TALLY_TEXT)
        strcpy(text + used, "; ");
    used = strlen(text);
    va_start(list, format);
    vsnprintf(text + used, TALLY_TEXT - used, format, list);
    va_end(list);
}

const char *cost_difference(const struct cost_outcome *from, const struct cost_outcome *to,
                            char text[TALLY_TEXT])
{
    char why[TALLY_TEXT];
    text[0] = 0;
    if (from->refused && to->refused)
        return text;
    if (from->refused || to->refused) {
        snprintf(text, TALLY_TEXT, from->refused ? "taken, not %s" : "%s",
                 cost_refusal(from->refused ? from : to, why));
        return text;
    }
    for (unsigned pass = 0; pass < COST_PASSES; pass++)
        if ((from->mask ^ to->mask) >> pass & 1)
            append(text, "%s %s", cost_pass_flag[pass], to->mask >> pass & 1 ? "off -> on" : "on -> off");
    if (from->draw != to->draw)
        append(text, "%s -> %s", engine_draw_names[from->draw], engine_draw_names[to->draw]);
    if (from->forks.sequences != to->forks.sequences)
        append(text, "sequences %" PRId64 " -> %" PRId64, from->forks.sequences, to->forks.sequences);
    if (from->forks.last_preempted != to->forks.last_preempted)
        append(text, "out of memory with one sequence left: %s -> %s",
               engine_preemption_names[from->forks.last_preempted],
               engine_preemption_names[to->forks.last_preempted]);
    return text;
}
