/* uniform.c: whether a set of p-values is uniform, by Kolmogorov and Smirnov.
 *
 * Sees:     a smooth drift of many p-values. Cannot see: a handful of extreme ones.
 * False alarms: the level within 2 % of itself for 10 values or more (Stephens' finite-sample form).
 * Source:   Kolmogorov's series; M. A. Stephens, JRSS B 32 (1970) for sqrt(n) + 0.12 + 0.11 / sqrt(n); one side by
 *           P. Massart, Annals of Probability 18 (1990).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* P(K >= x) of Kolmogorov's law; two series, each used where it converges in a few terms. */
static double kolmogorov_tail(double x)
{
    double sum = 0;
    if (x <= 0)
        return 1;
    if (x < 1) {
        for (int j = 1; j <= 7; j += 2)
            sum += exp(-j * j * M_PI * M_PI / (8 * x * x));
        return 1 - sqrt(2 * M_PI) / x * sum;
    }
    for (int j = 1; j <= 6; j++)
        sum += (j % 2 ? 2 : -2) * exp(-2.0 * j * j * x * x);
    return sum;
}

/* The largest excess of the empirical law over the uniform, and of the uniform over it; false where a p is none. */
static bool distances(double *p, size_t count, double *over, double *under)
{
    double n = (double)count;
    *over = *under = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(p[i] >= 0 && p[i] <= 1))
            return false;
    }
    qsort(p, count, sizeof *p, ascending);
    for (size_t i = 0; i < count; i++) {
        *under = fmax(*under, p[i] - (double)i / n);
        *over = fmax(*over, (double)(i + 1) / n - p[i]);
    }
    return true;
}

double uniform_test(double *p, size_t count)
{
    double root = sqrt((double)count), over, under;
    if (count == 0)
        return 1;
    if (!distances(p, count, &over, &under))
        return NAN;
    return fmin(1, kolmogorov_tail((root + 0.12 + 0.11 / root) * fmax(over, under)));
}

double uniform_test_small(double *p, size_t count)
{
    double over, under;
    if (count == 0)
        return 1;
    return distances(p, count, &over, &under) ? exp(-2 * (double)count * over * over) : NAN;
}
