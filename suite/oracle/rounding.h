/* rounding.h: how far apart two scores must be before fp32 arithmetic is bound to order them as exact arithmetic does. */
#ifndef SAMPLEGATE_ROUNDING_H
#define SAMPLEGATE_ROUNDING_H
#include "suite/oracle/law.h"

/* Nats of score below which the order of two candidates (probabilities p, noise q) may be lost, whether the sampler
 * compares p / q or log p - log q in fp32. Derivation: rounding p / q costs 2^-24 relative each. In logs, each of log p and
 * log q is off by at most one ulp (2^-23 of its size) and their difference is rounded once more; both candidates count.
 * From logits, p carries the error of the exponent's argument and of the sum besides: twice as much again. */
double law_rounding_bound(double p_first, double q_first, double p_second, double q_second, enum value_kind kind);
/* The bound for two ids of a row on shared noise: pmf[vocab], q[vocab]. */
double law_rounding_between(const double *pmf, const float *q, int32_t first, int32_t second, enum value_kind kind);
#endif
