/* summary.h: a series of times as a few numbers. */
#ifndef SAMPLEGATE_BENCH_SUMMARY_H
#define SAMPLEGATE_BENCH_SUMMARY_H
#include "stats/median.h"
#include "suite/bench/bench.h"

#define BENCH_SPREAD_MAX                                                                                     \
    0.25 /* a cell whose interquartile spread is above this share of the median is marked */

struct bench_summary {
    size_t calls;               /* 0: nothing was measured; the rest is then 0 */
    struct quartiles quartiles; /* nanoseconds, over the calls of all whole sessions */
    double spread;              /* (third - first quartile) / median */
    double between;             /* (largest - smallest median of a session) / median */
    bool marked;                /* spread above BENCH_SPREAD_MAX */
};
struct bench_summary bench_summarize(const struct bench *bench, const struct bench_series *series,
                                     enum bench_figure figure);
/* The median of one session, nanoseconds. */
double bench_session_median(const struct bench *bench, const struct bench_series *series,
                            enum bench_figure figure, size_t session);
#endif
