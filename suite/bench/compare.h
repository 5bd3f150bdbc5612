/* compare.h: is one sampler slower than another? Paired, interleaved blocks; a verdict that starts from UNCLEAR and moves
 * only on evidence.
 *
 * A pair is a block of each, next to each other in time, AB then BA; its ratio is the first sampler's median over the
 * second's. The median of the ratios gets an exact interval (stats/median.h) at 1 - BENCH_ALPHA / cells, so that of a
 * whole run of equal samplers at most one in a hundred has a cell whose interval leaves the truth, if pairs are independent.
 * They are not quite: processes differ (where memory lies, for one), so FASTER and SLOWER also need every session to lie on
 * that side of the margin by its own median, and at least BENCH_SESSIONS_NEEDED sessions. Of simulated runs of equal samplers
 * (up to 30 % of noise a pair, 1 % of bias a process) fewer than one in 400 is told apart: test_bench_compare.c. */
#ifndef SAMPLEGATE_BENCH_COMPARE_H
#define SAMPLEGATE_BENCH_COMPARE_H
#include "stats/median.h"
#include "suite/bench/bench.h"

#define BENCH_ALPHA 0.01
#define BENCH_MARGIN 0.02 /* times within this share of each other are the same */
#define BENCH_SESSIONS_NEEDED 3

enum bench_verdict { BENCH_UNCLEAR, BENCH_SAME, BENCH_FASTER, BENCH_SLOWER };
extern const char *const bench_verdict_names[]; /* "UNCLEAR", ... */

struct bench_comparison {
    bool compared; /* both were timed */
    enum bench_verdict verdict;
    enum bench_figure figure;
    size_t pairs;
    double ratio; /* median over pairs, first sampler / second */
    struct median_interval interval;
    double session_least, session_most; /* medians of sessions */
    bool past_limit, within_limit;      /* of `limit`: the interval lies above it, below it */
    char why[256];
};

/* The first contestant against the second at one point, one of `cells`. limit: a ratio such as 1.05 that must not be
 * exceeded, or 0. cpu: by what the processes used of their cores, not by the time that passed. */
struct bench_comparison bench_compare(const struct bench *bench, const struct bench_point *point,
                                      size_t cells, double limit, bool cpu);
/* The same of ratios[sessions][pairs], for tests. */
struct bench_comparison bench_compare_ratios(const double *ratios, size_t sessions, size_t pairs,
                                             size_t cells, double limit);
#endif
