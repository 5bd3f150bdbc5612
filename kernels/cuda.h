/* cuda.h: draw tokens on a CUDA device with the reference rules: token for token those of sampler.h.
 *
 * Three objects have these functions, a program is linked with one: cuda.cu and cuda_device.cu built by nvcc;
 * the same sources built for the host through kernels/shim/, for tests; cuda_absent.c where there is no nvcc.
 * A function that returns text returns NULL on success, else one line that says what went wrong (static, or
 * valid until the next call). SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_H
#define SAMPLEGATE_CUDA_H
#include <stddef.h>
#include <stdint.h>
#include "kernels/narrow.h"
#include "kernels/sampler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What launches share: device memory, made before the first of them and used by one stream at a time. With
 * one, a row is shared by several blocks where there are few draws. Zeroed: none. */
struct cuda_workspace {
    void *memory;
    uint32_t *counters; /* [draws] blocks that are done with a draw; 0 between launches */
    void *winners;      /* what each block found */
    float *rows;        /* [stages, 2, vocab] for filters and edits, or NULL */
    int64_t draws;      /* most of them in a launch */
    int64_t vocab;
    int32_t stages;  /* draws in work at a time under filters and edits */
    int32_t blocks;  /* as many as the device runs at a time, about */
    int32_t columns; /* the fewest that are worth a block */
};
/* For up to `draws` draws a launch; under filters and edits for rows of up to `vocab` values (0: not for these). Owned:
 * cuda_workspace_free. */
const char *cuda_workspace_new(struct cuda_workspace *workspace, int64_t draws, int64_t vocab);
void cuda_workspace_free(struct cuda_workspace *workspace);

/* Filters by a rule; each parameter [draws], NULL: off. */
struct cuda_filters {
    const int64_t *top_k;
    const double *top_p, *min_p;
    struct filter_rule rule;
};

/* Token ids: those of draw d are id[offset[d]] .. id[offset[d + 1] - 1]. offset NULL: all are empty. */
struct cuda_list {
    const int64_t *id, *offset;
};

/* Edits of logits (penalty.h), the temperature among them; each parameter [draws], NULL: off. */
struct cuda_edits {
    int32_t on; /* 0: none, nothing below matters */
    int32_t counts_prompt;
    int32_t step[8]; /* enum penalty_step: those of a penalty_rule */
    const float *repetition, *frequency, *presence;
    const int64_t *min_tokens;
    struct cuda_list prompt, output, stop;
    const float *logit_bias; /* [rows, vocab], dense, or NULL */
    const uint8_t *allowed;  /* [rows, vocab], dense, or NULL */
};

/* One launch. Every pointer is device memory and must stay valid until the stream has passed the launch. */
struct cuda_draws {
    int32_t rule;       /* enum sampler_rule */
    int32_t kind;       /* enum sampler_values */
    int32_t dtype;      /* enum narrow_dtype */
    const void *values; /* row r starts row_stride elements after row r - 1 */
    int64_t rows, vocab, row_stride;
    int64_t draws;
    struct cuda_workspace workspace;
    const int32_t *row_index; /* [draws]; NULL: every draw from row 0 */
    const float *temperature; /* [draws], for logits; NULL: 1 */
    const float *noise;       /* [draws, vocab], dense, Exp(1), for race, gumbel and torch-race; or NULL */
    const int64_t *seeds,
        *positions; /* [draws] or NULL, together: the noise of draw d is (seeds[d], positions[d]) */
    uint64_t seed, first_position; /* without them: (seed, first_position + d) */
    struct cuda_filters filters;
    struct cuda_edits edits;
    int32_t *token; /* out [draws]; SAMPLER_INVALID_ROW also where row_index or a parameter is no valid one */
    uint8_t *kept;  /* out [rows, vocab] or NULL: as sampler_row_kept has it, of the draws with ... */
    const uint8_t *kept_here; /* [draws] ... 1 here, one of a row at most; with kept only */
};

/* Start one kernel on `stream` (a cudaStream_t, NULL: the default one). Allocates nothing, waits for nothing, so
 * a CUDA graph can capture it. greedy, race, gumbel, torch-race and seeded read a row once, seeded-2025 does
 * with probabilities; categorical reads it twice and more, as do caller's noise and, with logits,
 * seeded-2025. Filters, edits and kept sets take a block a draw and several readings. */
const char *cuda_draw(const struct cuda_draws *draws, void *stream);
/* Whether the rule has a kernel, and whether cuda_draw takes noise for it. */
int cuda_rule_known(int rule);
int cuda_rule_takes_noise(int rule);

struct cuda_device {
    char name[300];      /* "NVIDIA H200, compute 9.0" */
    int runtime, driver; /* versions, 13000 for 13.0 */
    void *stream;        /* to draw on */
};

/* The first device that CUDA_VISIBLE_DEVICES leaves visible. Without one: "cuda: no device (...)"; in a
 * program linked with cuda_absent.c: "cuda: not built". Owned: cuda_close. */
const char *cuda_open(struct cuda_device *device);
void cuda_close(struct cuda_device *device);

/* Device memory; freeing waits for the device. */
const char *cuda_memory_new(void **memory, size_t bytes);
void cuda_memory_free(void *memory);
/* In stream order; the host's memory must stay valid until cuda_wait. */
const char *cuda_copy_in(void *device, const void *host, size_t bytes, void *stream);
const char *cuda_copy_out(void *host, const void *device, size_t bytes, void *stream);
const char *cuda_wait(void *stream);

#ifdef __cplusplus
}
#endif
#endif
