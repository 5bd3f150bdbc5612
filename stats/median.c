/* median.c: medians, quartiles, and how well a median is known. */
#include "stats/median.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Owned: free. */
static double *sorted(const double *values, size_t count)
{
    double *copy = malloc(count * sizeof *copy);
    if (!copy)
        abort();
    memcpy(copy, values, count * sizeof *copy);
    gsl_sort(copy, 1, count);
    return copy;
}

struct quartiles quartiles_of(const double *values, size_t count)
{
    double *order = sorted(values, count);
    const struct quartiles made = {gsl_stats_quantile_from_sorted_data(order, 1, count, 0.25),
                                   gsl_stats_quantile_from_sorted_data(order, 1, count, 0.5),
                                   gsl_stats_quantile_from_sorted_data(order, 1, count, 0.75)};
    free(order);
    return made;
}

/* The median lies below the k-th smallest value (k from 1) only if fewer than k values fall below it: P(Bin(n, 1/2) <= k - 1)
 * a side. The largest k that leaves enough between the k-th smallest and the k-th largest. */
struct median_interval median_interval(const double *values, size_t count, double confidence)
{
    size_t k = 0;
    while (2 * (k + 1) <= count &&
           2 * gsl_cdf_binomial_P((unsigned)k, 0.5, (unsigned)count) <= 1 - confidence)
        k++;
    if (k == 0)
        return (struct median_interval){-INFINITY, INFINITY, 0};
    double *order = sorted(values, count);
    const struct median_interval made = {order[k - 1], order[count - k],
                                         1 - 2 * gsl_cdf_binomial_P((unsigned)k - 1, 0.5, (unsigned)count)};
    free(order);
    return made;
}

struct line line_fit(const double *x, const double *y, size_t count)
{
    struct line line = {0};
    double c00, c01, c11, chi2;
    double *weight = calloc(count, sizeof *weight);
    if (!weight)
        abort();
    for (size_t i = 0; i < count; i++)
        weight[i] = 1 / (y[i] * y[i]);
    gsl_fit_wlinear(x, 1, weight, 1, y, 1, count, &line.intercept, &line.slope, &c00, &c01, &c11, &chi2);
    free(weight);
    /* The weights are known up to a factor, which the residuals give. */
    line.slope_error = count > 2 ? sqrt(c11 * chi2 / (double)(count - 2)) : NAN;
    for (size_t i = 0; i < count; i++)
        line.worst = fmax(line.worst, fabs(y[i] - line.intercept - line.slope * x[i]) / y[i]);
    return line;
}
