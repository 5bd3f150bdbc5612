/* law.h: the exact pmf that draws must follow, of the values as handed over, in double; written apart from kernels/.
 *
 * "As handed over" means after conversion to the SUT's dtype: a bf16 sampler is held to the law of the bf16 values. */
#ifndef SAMPLEGATE_LAW_H
#define SAMPLEGATE_LAW_H
#include <stddef.h>
#include <stdint.h>

enum value_kind { VALUE_LOGITS, VALUE_PROBABILITIES };
enum value_dtype { VALUE_F32, VALUE_F16, VALUE_BF16 };

/* Round an fp32 to the dtype, nearest even, and back: the value a SUT of that dtype receives. */
float law_round(float value, enum value_dtype dtype);
/* The 16 bits of that value. VALUE_F16 or VALUE_BF16. */
uint16_t law_bits(float value, enum value_dtype dtype);

/* pmf[vocab] of softmax(logits / temperature), with compensated sums. Logits are finite or -inf, whose probability is 0;
 * with no finite logit all are 0. */
void law_of_logits(const float *logits, size_t vocab, double temperature, double *pmf);
/* The same of logits in double; pmf may be `logits`. A NaN counts as minus infinity, and plus infinity leaves no law: all are 0. */
void law_of_doubles(const double *logits, size_t vocab, double temperature, double *pmf);
/* pmf[vocab] of weights, normalised; what is not above 0 counts as 0. */
void law_of_probabilities(const float *weights, size_t vocab, double *pmf);

/* What is handed to a SUT for a table: values[vocab] fp32 holding exactly what the dtype can hold, and their law.
 * Probabilities are the fp32 rounding of the exact pmf at `temperature` (then of dtype); logits are handed over as they
 * are, with the temperature as a parameter. */
void law_hand_over(const float *logits, size_t vocab, double temperature, enum value_kind kind, enum value_dtype dtype,
                   float *values, double *pmf);

/* The token that exact arithmetic picks from shared noise: argmax pmf / q, lowest id on ties, and the gap in nats between
 * the best and the second best (infinity with one live id; token -1 with none). q[vocab] fp32 Exp(1) noise. The quotients
 * are doubles: a gap below 1e-14 nats does not say which of the two exact arithmetic would pick. */
struct exact_choice {
    int32_t token, second;
    double gap;
};
struct exact_choice law_choose(const double *pmf, const float *q, size_t vocab);
/* By how many nats `token` scores above `other` on that noise: infinity where `other` has probability 0. */
double law_gap(const double *pmf, const float *q, int32_t token, int32_t other);
/* The density at zero of the gap between best and second best, a nat: 1 - sum p^2. From P(gap > g) = sum p / (p + (1 - p) e^g),
 * each id winning a race in which the others run e^g times faster. */
double law_tie_density(const double *pmf, size_t vocab);
#endif
