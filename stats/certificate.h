/* certificate.h: an upper bound on the total variation over all ids of a wide law, at draws that a bound by cells could
 * not do with.
 *
 * Asymptotic: normal quantiles of one statistic. golden/calibration/certificate.json holds how often it fell short in
 * simulation, of laws at the very distance that it excludes. The finite-sample bound is tv_upper_bound(). */
#ifndef SAMPLEGATE_CERTIFICATE_H
#define SAMPLEGATE_CERTIFICATE_H
#include <stddef.h>
#include <stdint.h>

/* U: the total variation of the law behind counts[vocab] from pmf[vocab] is at most this, with confidence 1 - alpha.
 * epsilon: what it is wanted for; the lightest ids, together a tenth of it, are bounded as one (exactly). 1 without
 * draws; NaN if out of memory. */
double tv_certificate(const uint64_t *counts, const double *pmf, size_t vocab, double epsilon, double alpha);
/* The least number of draws at which an exact sampler is certified at epsilon with 99.9 % probability (a plan, not a
 * proof); 0 if beyond 1e12, NaN if out of memory. */
double tv_certificate_draws_needed(const double *pmf, size_t vocab, double epsilon, double alpha);
#endif
