/* rounding.c: the gap within which two fp32 spellings of one rule may disagree. */
#include "suite/oracle/rounding.h"

#include <math.h>

static double magnitude(double p, double q)
{
    double log_p = log(p), log_q = log(q);
    return fabs(log_p) + fabs(log_q) + fabs(log_p - log_q) + 2;
}

double law_rounding_bound(double p_first, double q_first, double p_second, double q_second,
                          enum value_kind kind)
{
    double ulp = kind == VALUE_LOGITS ? 0x1p-21 : 0x1p-23;
    return ulp * (magnitude(p_first, q_first) + magnitude(p_second, q_second));
}

double law_rounding_between(const double *pmf, const float *q, int32_t first, int32_t second,
                            enum value_kind kind)
{
    return law_rounding_bound(pmf[first], (double)q[first], pmf[second], (double)q[second], kind);
}
