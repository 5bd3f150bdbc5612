/* total_variation.h: the distance from counts to a known pmf, what an exact sampler would show, and a certified bound.
 *
 * A plug-in TV says little alone: 0.0023 at 200,000 draws is what an exact sampler shows on about eight live tokens. */
#ifndef SAMPLEGATE_TOTAL_VARIATION_H
#define SAMPLEGATE_TOTAL_VARIATION_H
#include <stddef.h>
#include <stdint.h>

/* Half the L1 distance of observed/draws from mass. */
double tv_observed(const uint64_t *observed, const double *mass, size_t cells);
/* Exact mean of tv_observed for an exact sampler (De Moivre's binomial mean deviation), and a bound on its deviation. */
double tv_expected(const double *mass, size_t cells, double draws);
double tv_deviation(const double *mass, size_t cells, double draws);

/* How many equally likely tokens an exact sampler needs to show this total variation at this many draws: what a
 * published figure says about the table it was taken on. From tv_expected ~ sqrt((K - 1) / (2 pi draws)). */
double tv_live_tokens(double total_variation, double draws);

struct tv_bound {
    double observed;        /* plug-in TV */
    double upper;           /* U: the true TV over these cells is at most this, with confidence 1 - alpha */
    double clopper_pearson; /* half the sum of the worst exact deviations, alpha/4K a side */
    double concentration;   /* observed + sqrt(ln(2/alpha) / 2n): McDiarmid */
};
/* Finite-sample: no asymptotics. observed[cells] over `mass`. `outside`: draws in no cell, which count as a distance of their own. */
struct tv_bound tv_upper_bound(const uint64_t *observed, uint64_t outside, const double *mass, size_t cells, double alpha);
/* The least number of draws at which an exact sampler is certified at epsilon with 99.9 % probability (normal
 * approximation of the plug-in TV; a plan, not a proof). 0 if beyond 1e12. */
double tv_draws_needed(const double *mass, size_t cells, double epsilon, double alpha);

/* Upper bound on the mismatch probability after `mismatches` in `rows`: exact (Clopper-Pearson), one-sided at alpha. */
double agreement_upper_bound(uint64_t mismatches, uint64_t rows, double alpha);
#endif
