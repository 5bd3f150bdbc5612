/* summary.c: medians and spreads of series. */
#include "suite/bench/summary.h"

#include <math.h>

double bench_session_median(const struct bench *bench, const struct bench_series *series,
                            enum bench_figure figure, size_t session)
{
    return quartiles_of(series->of[figure] + session * bench->plan->calls, bench->plan->calls).median;
}

struct bench_summary bench_summarize(const struct bench *bench, const struct bench_series *series,
                                     enum bench_figure figure)
{
    struct bench_summary summary = {.calls = series->of[figure] ? bench_calls(bench, series) : 0};
    if (series->state == BENCH_ERROR || series->state == BENCH_SKIPPED)
        summary.calls = 0;
    if (summary.calls == 0)
        return summary;
    double least = INFINITY, most = 0;
    for (size_t s = 0; s < series->sessions; s++) {
        const double median = bench_session_median(bench, series, figure, s);
        least = fmin(least, median);
        most = fmax(most, median);
    }
    summary.quartiles = quartiles_of(series->of[figure], summary.calls);
    const double median = fmax(summary.quartiles.median, 1);
    summary.spread = (summary.quartiles.third - summary.quartiles.first) / median;
    summary.between = (most - least) / median;
    summary.marked = summary.spread > BENCH_SPREAD_MAX;
    return summary;
}
