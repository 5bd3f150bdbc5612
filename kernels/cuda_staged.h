/* cuda_staged.h: draws under filters and edits, for cuda.cu; internal. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_STAGED_H
#define SAMPLEGATE_CUDA_STAGED_H
#include "kernels/cuda.h"

/* Whether a call asks for more than a rule on its rows: filters, edits or kept sets. */
bool cuda_staged(const struct cuda_draws &draws);
/* Start its kernel; the call has been checked. */
void cuda_staged_launch(const struct cuda_draws &draws, void *stream);
#endif
