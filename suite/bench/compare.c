/* compare.c: ratios of blocks, their median's interval, and the word for it. */
#include "suite/bench/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const bench_verdict_names[] = {"UNCLEAR", "SAME", "FASTER", "SLOWER"};

__attribute__((format(printf, 3, 4))) static struct bench_comparison
settled(struct bench_comparison made, enum bench_verdict verdict, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(made.why, sizeof made.why, format, list);
    va_end(list);
    made.verdict = verdict;
    return made;
}

static struct bench_comparison word_of(struct bench_comparison made, size_t sessions)
{
    const double low = made.interval.low, high = made.interval.high, up = 1 + BENCH_MARGIN, down = 1 / up;
    const bool slower = low > up, faster = high < down;
    if (made.interval.confidence == 0)
        return settled(made, BENCH_UNCLEAR,
                       "%zu pairs give no interval at this confidence: more blocks or sessions", made.pairs);
    if (low >= down && high <= up)
        return settled(made, BENCH_SAME, "the interval lies within %g %%", 100 * BENCH_MARGIN);
    if (!slower && !faster)
        return settled(made, BENCH_UNCLEAR,
                       low <= 1 && high >= 1
                           ? "the interval holds 1 and reaches beyond %g %%: more calls, or a quieter "
                             "machine"
                           : "the interval holds a difference of %g %%: more calls, or a quieter "
                             "machine",
                       100 * BENCH_MARGIN);
    if (sessions < BENCH_SESSIONS_NEEDED)
        return settled(made, BENCH_UNCLEAR, "%zu sessions: processes differ, %d are needed", sessions,
                       BENCH_SESSIONS_NEEDED);
    if (slower ? made.session_least <= up : made.session_most >= down)
        return settled(made, BENCH_UNCLEAR, "the sessions disagree: their medians go from %.3f to %.3f",
                       made.session_least, made.session_most);
    return settled(made, slower ? BENCH_SLOWER : BENCH_FASTER,
                   "every session agrees: medians from %.3f to %.3f", made.session_least, made.session_most);
}

struct bench_comparison bench_compare_ratios(const double *ratios, size_t sessions, size_t pairs,
                                             size_t cells, double limit)
{
    struct bench_comparison made = {
        .compared = true, .pairs = sessions * pairs, .session_least = INFINITY, .session_most = 0};
    made.ratio = quartiles_of(ratios, made.pairs).median;
    made.interval = median_interval(ratios, made.pairs, 1 - BENCH_ALPHA / (double)cells);
    for (size_t s = 0; s < sessions; s++) {
        const double median = quartiles_of(ratios + s * pairs, pairs).median;
        made.session_least = fmin(made.session_least, median);
        made.session_most = fmax(made.session_most, median);
    }
    /* A limit is for or against with the same evidence as a verdict. */
    made.past_limit = limit > 0 && made.interval.low > limit && made.session_least > limit &&
                      sessions >= BENCH_SESSIONS_NEEDED;
    made.within_limit = limit > 0 && made.interval.high <= limit;
    return word_of(made, sessions);
}

struct bench_comparison bench_compare(const struct bench *bench, const struct bench_point *point,
                                      size_t cells, double limit, bool cpu)
{
    const struct bench_series *a = &point->series[0], *b = &point->series[1];
    const size_t sessions = a->sessions < b->sessions ? a->sessions : b->sessions, calls = bench->plan->calls,
                 blocks = bench->plan->blocks;
    struct bench_comparison none = {.verdict = BENCH_UNCLEAR};
    const bool lost = a->state == BENCH_ERROR || a->state == BENCH_SKIPPED || b->state == BENCH_ERROR ||
                      b->state == BENCH_SKIPPED;
    if (lost || sessions == 0)
        return settled(none, BENCH_UNCLEAR, "not both were timed");
    if (!a->of[BENCH_SYNC] != !b->of[BENCH_SYNC])
        return settled(none, BENCH_UNCLEAR, "one queues its calls on a device, the other does not");
    const enum bench_figure figure = cpu ? BENCH_CPU : bench_step(a);
    double *ratios = calloc(sessions * blocks, sizeof *ratios);
    if (!ratios)
        abort();
    for (size_t s = 0; s < sessions; s++)
        for (size_t k = 0; k < blocks; k++) {
            const size_t first = k * calls / blocks, count = (k + 1) * calls / blocks - first;
            ratios[s * blocks + k] = quartiles_of(a->of[figure] + s * calls + first, count).median /
                                     quartiles_of(b->of[figure] + s * calls + first, count).median;
        }
    struct bench_comparison made = bench_compare_ratios(ratios, sessions, blocks, cells, limit);
    made.figure = figure;
    free(ratios);
    return made;
}
