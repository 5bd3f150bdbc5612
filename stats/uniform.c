/* uniform.c: whether a set of p-values is uniform, by Kolmogorov and Smirnov.
 *
 * Sees:     a smooth drift of many p-values. Cannot see: a handful of extreme ones.
 * False alarms: the level within 2 % of itself for 10 values or more (Stephens' finite-sample form).
 * Source:   Kolmogorov's series; M. A. Stephens, JRSS B 32 (1970) for sqrt(n) + 0.12 + 0.11 / sqrt(n).
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/tests.h"
#include <math.h>
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

double uniform_test(double *p, size_t count)
{
    double n = (double)count, root = sqrt(n), distance = 0;
    if (count == 0)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (!(p[i] >= 0 && p[i] <= 1))
            return NAN;
    }
    qsort(p, count, sizeof *p, ascending);
    for (size_t i = 0; i < count; i++) {
        double before = p[i] - (double)i / n, after = (double)(i + 1) / n - p[i];
        distance = fmax(distance, fmax(before, after));
    }
    return fmin(1, kolmogorov_tail((root + 0.12 + 0.11 / root) * distance));
}
