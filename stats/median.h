/* median.h: what times are summed up as: median, quartiles, an exact interval of the median, and a line through points.
 *
 * Times have outliers that have nothing to do with what is timed, so nothing here uses a mean. */
#ifndef SAMPLEGATE_MEDIAN_H
#define SAMPLEGATE_MEDIAN_H
#include <stdbool.h>
#include <stddef.h>

struct quartiles {
    double first, median, third; /* linear between order statistics (gsl_stats_quantile_from_sorted_data) */
};
/* values[count], at least one, in any order. */
struct quartiles quartiles_of(const double *values, size_t count);

struct median_interval {
    double low, high;
    double confidence; /* what it really has: at least what was asked for; 0 if no interval has that */
};
/* An interval that holds the median of the law that the values are independent draws of with at least this probability,
 * whatever the law: between two order statistics, by the binomial law of how many values fall below the median. With too
 * few values it is unbounded: low -INFINITY, high INFINITY, confidence 0. Draws must be independent, not of one form. */
struct median_interval median_interval(const double *values, size_t count, double confidence);

struct line {
    double intercept, slope, slope_error; /* standard error; NAN with two points */
    double worst;                         /* largest |point - line| / point */
};
/* Least squares of y against x, weighted by 1 / y^2: points a thousand times apart count alike. At least two different x,
 * every y above 0. */
struct line line_fit(const double *x, const double *y, size_t count);
#endif
