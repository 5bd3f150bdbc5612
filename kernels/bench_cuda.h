/* bench_cuda.h: what the two halves of bench-cuda share. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_BENCH_CUDA_H
#define SAMPLEGATE_BENCH_CUDA_H
#include "kernels/cuda_graph.h"
#include "kernels/sampler.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

extern struct cuda_device bench_device;

/* NULL passes; anything else ends the process with status 1 and these words. */
void bench_must(const char *why);
/* Memory, or the end of the process. */
void *bench_memory(void *taken);
/* Device memory with a copy of from[bytes] (NULL: with anything). Owned: cuda_memory_free. */
void *bench_device_of(const void *from, size_t bytes);
/* A line, and a failure that the exit status counts. */
void bench_verdict(int good, const char *what);

/* Rows of logits (about normal, sigma 3), or of their exponentials, which need not sum to 1; on the device in a dtype,
 * and here as they are there. Owned: bench_rows_free. */
struct bench_rows {
    size_t rows, vocab;
    float *values;
    void *on_device;
};
struct bench_rows bench_rows_new(size_t rows, size_t vocab, int32_t dtype, int probabilities);
void bench_rows_free(struct bench_rows *rows);
/* Draws of the rows; without a workspace and a place for tokens. */
struct cuda_draws bench_call(const struct bench_rows *rows, enum sampler_rule rule, int probabilities,
                             int32_t dtype, size_t draws, const int32_t *row_index);

/* bench_cuda_check.c: `bench-cuda check`. */
void bench_check(void);
#endif
