/* precision.c: mutants that round on the way from weights to a token, or meet the wrong noise there.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"
#include "kernels/elementary.h"

#include <math.h>
#include <string.h>

/* To the nearest value with `dropped` bits less, ties to even; what fp16 and bf16 do in their normal range. */
static float rounded(float value, int dropped)
{
    const uint32_t half = (UINT32_C(1) << (dropped - 1)) - 1;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + half + (bits >> dropped & 1)) & ~(2 * half + 1);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static float bf16(float value)
{
    return rounded(value, 16);
}

static float fp16(float value)
{
    return rounded(value, 13);
}

bool mutant_bf16_weights(float *weight, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        weight[i] = bf16(weight[i]);
    return true;
}

/* The race by logs, each score through `score`. */
static int32_t race_by_logs(const struct mutant_draw *draw, const float *q,
                            float (*score)(float log_weight, float log_noise))
{
    const float *weight = draw->row->weight;
    int32_t token = SAMPLER_INVALID_ROW;
    float best = -INFINITY;
    for (size_t i = 0; i < draw->row->vocab; i++) {
        if (!draw->row->kept[i])
            continue;
        const float own = score(elementary_log(weight[i]), elementary_log(q[i]));
        if (own > best) {
            best = own;
            token = (int32_t)i;
        }
    }
    return token;
}

static float score_fp16(float log_weight, float log_noise)
{
    return fp16(log_weight - log_noise);
}

int32_t mutant_fp16_scores(const struct mutant_draw *draw, const float *q)
{
    return race_by_logs(draw, q, score_fp16);
}

static float score_bf16_log(float log_weight, float log_noise)
{
    return log_weight - bf16(log_noise);
}

int32_t mutant_bf16_log(const struct mutant_draw *draw, const float *q)
{
    return race_by_logs(draw, q, score_bf16_log);
}

/* Each id meets the noise of the next. */
int32_t mutant_noise_shifted(const struct mutant_draw *draw, const float *q)
{
    const float *weight = draw->row->weight;
    const size_t vocab = draw->row->vocab;
    int32_t token = SAMPLER_INVALID_ROW;
    float best = -1;
    for (size_t i = 0; i < vocab; i++) {
        const float own = weight[i] / q[i + 1 < vocab ? i + 1 : 0];
        if (draw->row->kept[i] && own > best) {
            best = own;
            token = (int32_t)i;
        }
    }
    return token;
}

/* A reduction over lanes that keeps the later of two equals. */
int32_t mutant_tie_highest(const struct mutant_draw *draw, const float *q)
{
    const float *weight = draw->row->weight;
    int32_t token = SAMPLER_INVALID_ROW;
    float best = -1;
    for (size_t i = 0; i < draw->row->vocab; i++) {
        const float own = weight[i] / q[i];
        if (draw->row->kept[i] && own >= best) {
            best = own;
            token = (int32_t)i;
        }
    }
    return token;
}
