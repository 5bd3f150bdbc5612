/* cuda_parameters.h: what the draws of a message ask for, checked and on the device, for cuda.c.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_HOST_CUDA_PARAMETERS_H
#define SAMPLEGATE_HOST_CUDA_PARAMETERS_H
#include "suite/sut/host/builtin.h"
#include "suite/sut/host/room.h"

enum cuda_parameter {
    CUDA_TEMPERATURE,
    CUDA_TOP_K,
    CUDA_TOP_P,
    CUDA_MIN_P,
    CUDA_REPETITION,
    CUDA_FREQUENCY,
    CUDA_PRESENCE,
    CUDA_LEAST_TOKENS,
    CUDA_PROMPT,
    CUDA_PROMPT_OFFSET,
    CUDA_OUTPUT,
    CUDA_OUTPUT_OFFSET,
    CUDA_STOP,
    CUDA_STOP_OFFSET,
    CUDA_BIAS,
    CUDA_ALLOWED,
    CUDA_KEPT,
    CUDA_KEPT_HERE,
    CUDA_PARAMETERS
};

/* Zero-initialise; cuda_parameters_free. */
struct cuda_parameters {
    struct room room[CUDA_PARAMETERS];
    void *host[CUDA_PARAMETERS]; /* what is read until the stream has passed the copy; owned */
};

/* temperature, filters, edits, kept and kept_here of the chunk, for the draws of a request; what no draw asks for stays
 * NULL. host[CUDA_KEPT_HERE] is kept_here. -1 with why: also a parameter that the reference refuses. */
int cuda_parameters_take(struct cuda_parameters *parameters, const struct host_request *request,
                         const struct filter_rule *filters, const struct penalty_rule *penalties,
                         void *stream, struct cuda_draws *chunk, struct host_text *why);
/* Once the stream has passed the copies. */
void cuda_parameters_passed(struct cuda_parameters *parameters);
void cuda_parameters_free(struct cuda_parameters *parameters);
/* A launch of `draws` draws of the chunk from draw `first` on; draws and vocab of `chunk` are those of all. */
struct cuda_draws cuda_parameters_part(const struct cuda_parameters *parameters,
                                       const struct cuda_draws *chunk, int64_t first, int64_t draws);
#endif
