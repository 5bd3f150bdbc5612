/* cuda_graph.h: launches as a CUDA graph, and the time they take on the device; for bench_cuda.c.
 *
 * As cuda.h has it: a function that returns text returns NULL on success. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_GRAPH_H
#define SAMPLEGATE_CUDA_GRAPH_H
#include "kernels/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A graph of `launches` calls of launch(context, index, stream). A call that takes memory or waits cannot be captured.
 * Owned: cuda_graph_free. */
typedef const char *(*cuda_graph_call)(const void *context, int64_t index, void *stream);
const char *cuda_graph_new(void **graph, cuda_graph_call launch, const void *context, int64_t launches,
                           void *stream);
const char *cuda_graph_launch(void *graph, void *stream);
void cuda_graph_free(void *graph);

/* A kernel that does nothing. */
const char *cuda_empty(void *stream);
/* Device memory to device memory. */
const char *cuda_copy_on(void *to, const void *from, size_t bytes, void *stream);
/* Seconds on the device of `repeats` launches of a graph, one after the other. Waits. */
const char *cuda_graph_seconds(void *graph, int repeats, void *stream, double *seconds);
/* Bytes of device memory that are free. */
const char *cuda_memory_left(size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
