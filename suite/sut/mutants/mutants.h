/* mutants.h: samplers with one planted defect each, to show which check sees which defect.
 *
 * All share one clean pipeline, which gives the reference's tokens:
 *   requests of a call -> edited logits -> weights -> filters -> noise -> race -> answer.
 * A mutant replaces exactly one stage by a short function of its own, so what it shows is that one defect. To
 * add one: write the function in the file of its theme (or a new file), declare it below, and add one row to
 * table.c. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_MUTANTS_H
#define SAMPLEGATE_MUTANTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/sampler.h"
#include "suite/sut/mutants/about.h"
#include "suite/sut/samplegate.h"

/* What one draw asks for. */
struct mutant_request {
    int64_t row;
    const float *values; /* [vocab] of the row */
    double temperature;
    struct filter_parameters filter;
    struct penalties penalties; /* bias, mask, lists: the caller's arrays */
    bool edited;                /* some of them were asked for */
    bool seeded;             /* by the caller; else the seed is the last reset's, the position counts draws */
    uint64_t seed, position; /* of the noise */
};

/* What an instance remembers. */
struct mutant_memory {
    uint64_t seed, draws, calls; /* the last reset's seed; draws and calls since */
    uint64_t calls_ever;
    uint64_t captured;            /* a seed */
    struct mutant_request *first; /* [first_draws] the first call since the reset, as `before` */
    size_t first_draws, first_room;
    struct mutant_request *before; /* [before_draws] the call before, as it came; its arrays are gone */
    size_t before_draws, before_room;
};

/* One call. */
struct mutant_batch {
    const struct samplegate_call *call;
    struct mutant_memory *memory;
    struct mutant_request *request; /* [draws] */
    size_t draws, vocab;
};

/* A row, prepared for a request: its weights after the mutant's stages. */
struct mutant_row {
    bool used;
    int32_t kind; /* enum samplegate_values */
    int64_t row;  /* of the call */
    size_t vocab;
    double temperature;
    struct filter_parameters filter;
    float *values; /* [vocab] copy of what the caller gave, to know it again */
    float *weight; /* [vocab] what the race is over */
    uint8_t *kept; /* [vocab] */
    uint64_t call; /* the call in which `values` was last compared */
    struct sampler_row *sampler;
};

/* One draw. */
struct mutant_draw {
    const struct mutant_batch *batch;
    const struct mutant_request *request;
    const struct mutant_row *row;
};

struct mutant {
    struct mutant_about about;
    /* The stages; NULL is the clean one. */
    void (*batch)(struct mutant_batch *batch); /* parameters, seeds, positions, rows, before any draw */
    double (*temperature)(double temperature);
    enum penalty_status (*edits)(const struct penalties *penalties, float temperature, float *logits,
                                 size_t vocab);   /* instead of penalty_row() */
    bool (*weights)(float *weight, size_t vocab); /* in place, before filters; false: out of memory */
    enum filter_status (*filter)(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                 uint8_t *kept); /* instead of filter_row(), where a filter is asked for */
    bool coarse_noise; /* the race on torch CUDA's Exp(1) grid, as the reference has it (fast: wide tables) */
    void (*noise)(const struct mutant_draw *draw, float *q); /* q[vocab], Exp(1); unless the caller gives q */
    int32_t (*race)(const struct mutant_draw *draw, const float *q);  /* on whatever noise */
    int32_t (*choose)(const struct mutant_draw *draw);                /* instead of noise and race */
    int32_t (*answer)(const struct mutant_draw *draw, int32_t token); /* has the last word */
};

extern const struct mutant mutant_table[];
extern const size_t mutant_count;

/* A 32-bit word that the race does not use, for what a mutant does by chance: `column` tells uses apart. */
uint32_t mutant_word(const struct mutant_draw *draw, uint32_t column);

/* Prepare *row for a request unless it holds just that. Edited rows are prepared each time. SAMPLEGATE_OK,
 * INVALID or FAILED (out of memory). */
int mutant_row_prepare(struct mutant_row *row, const struct mutant *mutant, int32_t kind, size_t vocab,
                       const struct mutant_request *request);
void mutant_row_clear(struct mutant_row *row);

/* request.c: the requests of a call. */
void mutant_request_fill(struct mutant_request *request, const struct samplegate_call *call, int64_t draw,
                         const struct mutant_memory *memory);

/* The stages, by file. */
/* temperature.c */
double mutant_warm(double temperature);
/* weights.c */
bool mutant_last_id(float *weight, size_t vocab);
bool mutant_low_end(float *weight, size_t vocab);
bool mutant_ripple(float *weight, size_t vocab);
/* precision.c */
bool mutant_bf16_weights(float *weight, size_t vocab);
int32_t mutant_fp16_scores(const struct mutant_draw *draw, const float *q);
int32_t mutant_bf16_log(const struct mutant_draw *draw, const float *q);
int32_t mutant_noise_shifted(const struct mutant_draw *draw, const float *q);
int32_t mutant_tie_highest(const struct mutant_draw *draw, const float *q);
/* noise.c */
void mutant_stale_position(const struct mutant_draw *draw, float *q);
void mutant_short_noise(const struct mutant_draw *draw, float *q);
void mutant_weyl(const struct mutant_draw *draw, float *q);
void mutant_linear_hash(const struct mutant_draw *draw, float *q);
/* cdf.c */
bool mutant_cdf32_sums(float *weight, size_t vocab);
int32_t mutant_cdf32(const struct mutant_draw *draw);
/* answer.c */
int32_t mutant_leak_masked(const struct mutant_draw *draw, int32_t token);
int32_t mutant_id_drift(const struct mutant_draw *draw, int32_t token);
int32_t mutant_uniform_leak(const struct mutant_draw *draw, int32_t token);
int32_t mutant_greedy_highest(const struct mutant_draw *draw, int32_t token);
/* rows.c */
void mutant_stride_ignored(struct mutant_batch *batch);
void mutant_offset_short(struct mutant_batch *batch);
void mutant_padding_drawn(struct mutant_batch *batch);
bool mutant_last_tile(float *weight, size_t vocab);
int32_t mutant_padding_lane(const struct mutant_draw *draw, const float *q);
int32_t mutant_nan_spreads(const struct mutant_draw *draw, int32_t token);
int32_t mutant_invalid_zero(const struct mutant_draw *draw, int32_t token);
/* seeds.c */
void mutant_seed_first(struct mutant_batch *batch);
void mutant_seed_short(struct mutant_batch *batch);
void mutant_seed_magnitude(struct mutant_batch *batch);
void mutant_seed_sentinel(struct mutant_batch *batch);
void mutant_seed_ignored(struct mutant_batch *batch);
void mutant_seed_captured(struct mutant_batch *batch);
void mutant_seed_process(struct mutant_batch *batch);
void mutant_seed_place(struct mutant_batch *batch);
void mutant_seed_prefill(struct mutant_batch *batch);
void mutant_seed_padded(struct mutant_batch *batch);
void mutant_seed_block(struct mutant_batch *batch);
void mutant_seed_child(struct mutant_batch *batch);
void mutant_seed_default(struct mutant_batch *batch);
/* positions.c */
void mutant_position_ignored(struct mutant_batch *batch);
void mutant_position_short(struct mutant_batch *batch);
void mutant_position_16_bits(struct mutant_batch *batch);
void mutant_position_window(struct mutant_batch *batch);
void mutant_position_frozen(struct mutant_batch *batch);
void mutant_rows_paired(struct mutant_batch *batch);
void mutant_calls_paired(struct mutant_batch *batch);
/* routes.c */
void mutant_parameters_last(struct mutant_batch *batch);
void mutant_parameters_reversed(struct mutant_batch *batch);
void mutant_parameters_captured(struct mutant_batch *batch);
void mutant_batch_top_p(struct mutant_batch *batch);
void mutant_unset_top_k(struct mutant_batch *batch);
void mutant_penalties_compacted(struct mutant_batch *batch);
void mutant_seeds_stay(struct mutant_batch *batch);
void mutant_filtered_neighbour(struct mutant_batch *batch);
void mutant_greedy_sampled(struct mutant_batch *batch);
void mutant_history_shifted(struct mutant_batch *batch);
void mutant_mask_first(struct mutant_batch *batch);
int32_t mutant_sorted_first(const struct mutant_draw *draw, int32_t token);
int32_t mutant_rank_answered(const struct mutant_draw *draw, int32_t token);
/* parameters.c */
void mutant_nan_accepted(struct mutant_batch *batch);
void mutant_top_k_zero(struct mutant_batch *batch);
void mutant_top_p_zero(struct mutant_batch *batch);
void mutant_top_k_capped(struct mutant_batch *batch);
void mutant_cold_greedy(struct mutant_batch *batch);
void mutant_hot_clamped(struct mutant_batch *batch);
void mutant_top_p_approximate(struct mutant_batch *batch);
void mutant_min_p_cold(struct mutant_batch *batch);
void mutant_mask_ignored(struct mutant_batch *batch);
void mutant_bias_ignored(struct mutant_batch *batch);
void mutant_min_tokens_short(struct mutant_batch *batch);
void mutant_penalty_squared(struct mutant_batch *batch);
/* filters.c */
enum filter_status mutant_top_p_below(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                      uint8_t *kept);
enum filter_status mutant_ties_kept(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                    uint8_t *kept);
enum filter_status mutant_ties_highest(const struct filter_parameters *parameters, float *weight,
                                       size_t vocab, uint8_t *kept);
enum filter_status mutant_renormalised(const struct filter_parameters *parameters, float *weight,
                                       size_t vocab, uint8_t *kept);
enum filter_status mutant_min_p_first(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                      uint8_t *kept);
enum filter_status mutant_boundary_dropped(const struct filter_parameters *parameters, float *weight,
                                           size_t vocab, uint8_t *kept);
enum filter_status mutant_top_p_unsorted(const struct filter_parameters *parameters, float *weight,
                                         size_t vocab, uint8_t *kept);
enum filter_status mutant_nucleus_empty(const struct filter_parameters *parameters, float *weight,
                                        size_t vocab, uint8_t *kept);
enum filter_status mutant_top_k_wraps(const struct filter_parameters *parameters, float *weight, size_t vocab,
                                      uint8_t *kept);
enum filter_status mutant_min_p_absolute(const struct filter_parameters *parameters, float *weight,
                                         size_t vocab, uint8_t *kept);
/* penalties.c */
enum penalty_status mutant_prompt_counted(const struct penalties *penalties, float temperature, float *logits,
                                          size_t vocab);
enum penalty_status mutant_penalty_repeated(const struct penalties *penalties, float temperature,
                                            float *logits, size_t vocab);
enum penalty_status mutant_penalty_sign(const struct penalties *penalties, float temperature, float *logits,
                                        size_t vocab);
#endif
