/* sum.h: a sum kept in two doubles: what rounding drops from `high` is gathered in `low`.
 *
 * Neumaier's sum: the error of n positive terms is about 2^-53 + n^2 2^-106 of sum_total, in any order. Internal to
 * suite/oracle/. */
#ifndef SAMPLEGATE_ORACLE_SUM_H
#define SAMPLEGATE_ORACLE_SUM_H
#include <math.h>

struct sum {
    double high, low;
};

static inline void sum_add(struct sum *sum, double term)
{
    double total = sum->high + term;
    sum->low += fabs(sum->high) >= fabs(term) ? (sum->high - total) + term : (term - total) + sum->high;
    sum->high = total;
}

static inline double sum_total(const struct sum *sum)
{
    return sum->high + sum->low;
}

/* sum * factor in two doubles. */
static inline struct sum sum_times(const struct sum *sum, double factor)
{
    double high = sum->high * factor;
    return (struct sum){high, fma(sum->high, factor, -high) + sum->low * factor};
}

/* a - b: exact where both are multiples of one power of two below 2^53 of it. */
static inline double sum_difference(const struct sum *a, const struct sum *b)
{
    return (a->high - b->high) + (a->low - b->low);
}
#endif
