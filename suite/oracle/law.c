/* law.c: the exact pmf that draws must follow, in double with compensated sums; written apart from kernels/.
 *
 * Accuracy: each probability within a few units of 2^-53, relative, down to 1e-300: the rounding errors of l
 * - max and of its quotient by the temperature are carried to first order, because exp multiplies them by an
 * exponent of up to 700. */
#include "suite/oracle/law.h"

#include <math.h>
#include <string.h>

#include "suite/oracle/sum.h"

/* exp((logit - most) / temperature). */
static double relative_weight(double logit, double most, double temperature)
{
    double difference = logit - most;
    double part = difference - logit; /* Knuth's two-sum: difference + lost is logit - most exactly */
    double lost = (logit - (difference - part)) + (-most - part);
    double quotient = difference / temperature;
    if (!(quotient > -746)) /* below the least double; also a logit of minus infinity */
        return 0;
    double remainder = fma(-quotient, temperature, difference) + lost;
    return exp(quotient) * (1 + remainder / temperature);
}

static void divide_all(double *pmf, size_t vocab, double total)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = total > 0 ? pmf[i] / total : 0;
}

void law_of_doubles(const double *logits, size_t vocab, double temperature, double *pmf)
{
    double most = -INFINITY;
    for (size_t i = 0; i < vocab; i++)
        most = fmax(most, logits[i]);
    struct sum sum = {0, 0};
    for (size_t i = 0; i < vocab; i++) {
        pmf[i] = relative_weight(logits[i], most, temperature);
        sum_add(&sum, pmf[i]);
    }
    divide_all(pmf, vocab, sum_total(&sum));
}

void law_of_logits(const float *logits, size_t vocab, double temperature, double *pmf)
{
    for (size_t i = 0; i < vocab; i++)
        pmf[i] = (double)logits[i];
    law_of_doubles(pmf, vocab, temperature, pmf);
}

void law_of_probabilities(const float *weights, size_t vocab, double *pmf)
{
    struct sum sum = {0, 0};
    for (size_t i = 0; i < vocab; i++) {
        pmf[i] = weights[i] > 0 ? (double)weights[i] : 0;
        sum_add(&sum, pmf[i]);
    }
    divide_all(pmf, vocab, sum_total(&sum));
}

/* A binary format by its stored fraction bits, its least normal exponent and its largest finite value. */
struct format {
    int fraction, least_exponent;
    double largest;
};
static const struct format half = {10, -14, 65504};
static const struct format brain = {7, -126, 0x1.fep127};

float law_round(float value, enum value_dtype dtype)
{
    if (dtype == VALUE_F32 || !isfinite(value) || value == 0)
        return value;
    const struct format *format = dtype == VALUE_F16 ? &half : &brain;
    int exponent = ilogbf(value) > format->least_exponent ? ilogbf(value) : format->least_exponent;
    double quantum = ldexp(1, exponent - format->fraction);
    /* The quotient is exact, and nearbyint rounds it to even under the default rounding mode. */
    double rounded = nearbyint((double)value / quantum) * quantum;
    return fabs(rounded) > format->largest ? copysignf(INFINITY, value) : (float)rounded;
}

uint16_t law_bits(float value, enum value_dtype dtype)
{
    const struct format *format = dtype == VALUE_F16 ? &half : &brain;
    unsigned sign = signbit(value) ? 0x8000 : 0, infinity = dtype == VALUE_F16 ? 0x7c00 : 0x7f80;
    if (isnan(value)) /* the quiet one */
        return (uint16_t)(sign | infinity | 1u << (format->fraction - 1));
    double magnitude = fabs((double)law_round(value, dtype));
    if (isinf(magnitude))
        return (uint16_t)(sign | infinity);
    int exponent = magnitude > 0 ? ilogb(magnitude) : format->least_exponent;
    if (exponent < format->least_exponent)
        exponent = format->least_exponent;
    /* In quanta of its binade the magnitude is below 2^(fraction+1); adding (not or-ing) the biased exponent,
     * one too low, lets a normal number's hidden bit carry into it and leaves a denormal's exponent 0. */
    unsigned quanta = (unsigned)ldexp(magnitude, format->fraction - exponent);
    return (uint16_t)(sign | (((unsigned)(exponent - format->least_exponent) << format->fraction) + quanta));
}

void law_hand_over(const float *logits, size_t vocab, double temperature, enum value_kind kind,
                   enum value_dtype dtype, float *values, double *pmf)
{
    if (kind == VALUE_LOGITS) {
        for (size_t i = 0; i < vocab; i++)
            values[i] = law_round(logits[i], dtype);
        law_of_logits(values, vocab, temperature, pmf);
        return;
    }
    law_of_logits(logits, vocab, temperature, pmf);
    for (size_t i = 0; i < vocab; i++)
        values[i] = law_round((float)pmf[i], dtype);
    law_of_probabilities(values, vocab, pmf);
}

static double gap_of(double ratio, double other)
{
    return ratio == other ? 0 : log(ratio) - log(other);
}

double law_gap(const double *pmf, const float *q, int32_t token, int32_t other)
{
    return pmf[other] > 0 ? gap_of(pmf[token] / (double)q[token], pmf[other] / (double)q[other]) : INFINITY;
}

double law_tie_density(const double *pmf, size_t vocab)
{
    double sum_of_squares = 0;
    for (size_t i = 0; i < vocab; i++)
        sum_of_squares += pmf[i] * pmf[i];
    return 1 - sum_of_squares;
}

struct exact_choice law_choose(const double *pmf, const float *q, size_t vocab)
{
    struct exact_choice choice = {-1, -1, INFINITY};
    double best = 0, second = 0;
    for (size_t i = 0; i < vocab; i++) {
        /* Two products round by less than 2^-50 of themselves: no ratio that reaches the second best is passed over. */
        if (!(pmf[i] > 0) || (choice.second >= 0 && pmf[i] * (1 + 0x1p-50) < second * (double)q[i]))
            continue;
        double ratio = pmf[i] / (double)q[i];
        if (choice.token < 0 || ratio > best) { /* strictly: of equal ratios the lowest id stays */
            second = best;
            choice.second = choice.token;
            best = ratio;
            choice.token = (int32_t)i;
        } else if (choice.second < 0 || ratio > second) {
            second = ratio;
            choice.second = (int32_t)i;
        }
    }
    if (choice.second >= 0)
        choice.gap = gap_of(best, second);
    return choice;
}
