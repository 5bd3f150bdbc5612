/* mutants.h: samplers with one planted defect each, to show which check sees which defect.
 *
 * All share one clean pipeline: temperature -> weights -> noise -> race -> answer. A mutant replaces exactly
 * one stage by a short function of its own, so what it shows is that one defect. To add one: write the
 * function in the file of its theme (or a new file), declare it below, and add one row to table.c.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_MUTANTS_H
#define SAMPLEGATE_MUTANTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/sampler.h"
#include "suite/sut/mutants/about.h"
#include "suite/sut/samplegate.h"

/* A row, prepared once: its weights after the mutant's stages. */
struct mutant_row {
    bool used;
    size_t vocab;
    float *values;      /* [vocab] copy of what the caller gave, to know it again */
    float *weight;      /* [vocab] probabilities, or what the mutant's `weights` stage made of them */
    int32_t kind;       /* enum samplegate_values */
    double temperature; /* as the caller gave it */
    uint64_t call;      /* the call in which `values` was last compared */
    struct sampler_row *sampler; /* race over weight */
};

/* One draw. Unseeded noise is keyed by (seed of the last reset, index of the draw since then). */
struct mutant_draw {
    const struct mutant_row *row;
    uint64_t seed, position;
    uint64_t call; /* index of the call since the reset */
};

struct mutant {
    struct mutant_about about;
    /* The stages; NULL is the clean one. */
    bool coarse_noise; /* the race on torch CUDA's Exp(1) grid, as the reference has it (fast: wide tables) */
    double (*temperature)(double temperature);
    bool (*weights)(float *weight, size_t vocab); /* in place; false: out of memory */
    void (*noise)(const struct mutant_draw *draw,
                  float *q); /* q[vocab], Exp(1); not used where the caller gives q */
    int32_t (*choose)(const struct mutant_draw *draw);                /* instead of noise and race */
    int32_t (*answer)(const struct mutant_draw *draw, int32_t token); /* has the last word on a valid token */
};

extern const struct mutant mutant_table[];
extern const size_t mutant_count;

/* A 32-bit word that the race does not use, for what a mutant does by chance: `column` tells uses apart. */
uint32_t mutant_word(const struct mutant_draw *draw, uint32_t column);

/* Prepare *row from values[vocab] unless it holds just that. SAMPLEGATE_OK, INVALID or FAILED (out of
 * memory). */
int mutant_row_prepare(struct mutant_row *row, const struct mutant *mutant, int32_t kind, const float *values,
                       size_t vocab, double temperature);
void mutant_row_clear(struct mutant_row *row);

/* temperature.c */
double mutant_warm(double temperature);
/* weights.c */
bool mutant_last_id(float *weight, size_t vocab);
bool mutant_ripple(float *weight, size_t vocab);
/* precision.c */
bool mutant_bf16_weights(float *weight, size_t vocab);
/* noise.c */
void mutant_stale_position(const struct mutant_draw *draw, float *q);
void mutant_short_noise(const struct mutant_draw *draw, float *q);
void mutant_weyl(const struct mutant_draw *draw, float *q);
/* cdf.c */
bool mutant_cdf32_sums(float *weight, size_t vocab);
int32_t mutant_cdf32(const struct mutant_draw *draw);
/* answer.c */
int32_t mutant_leak_masked(const struct mutant_draw *draw, int32_t token);
int32_t mutant_id_drift(const struct mutant_draw *draw, int32_t token);
#endif
