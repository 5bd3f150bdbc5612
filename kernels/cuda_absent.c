/* cuda_absent.c: cuda.h in a program built without nvcc: cuda_open says so, nothing else is ever reached.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda.h"

static const char *const not_built = "cuda: not built (no nvcc when this program was built)";

const char *cuda_open(struct cuda_device *device)
{
    (void)device;
    return not_built;
}

void cuda_close(struct cuda_device *device)
{
    (void)device;
}

int cuda_rule_known(int rule)
{
    (void)rule;
    return 1; /* let cuda_open give the reason */
}

int cuda_rule_takes_noise(int rule)
{
    (void)rule;
    return 0;
}

const char *cuda_draw(const struct cuda_draws *draws, void *stream)
{
    (void)draws;
    (void)stream;
    return not_built;
}

const char *cuda_workspace_new(struct cuda_workspace *workspace, int64_t draws, int64_t vocab)
{
    (void)draws;
    (void)vocab;
    *workspace = (struct cuda_workspace){0};
    return not_built;
}

void cuda_workspace_free(struct cuda_workspace *workspace)
{
    (void)workspace;
}

const char *cuda_memory_new(void **memory, size_t bytes)
{
    (void)bytes;
    *memory = NULL;
    return not_built;
}

void cuda_memory_free(void *memory)
{
    (void)memory;
}

const char *cuda_copy_in(void *device, const void *host, size_t bytes, void *stream)
{
    (void)device;
    (void)host;
    (void)bytes;
    (void)stream;
    return not_built;
}

const char *cuda_copy_out(void *host, const void *device, size_t bytes, void *stream)
{
    return cuda_copy_in(host, device, bytes, stream);
}

const char *cuda_wait(void *stream)
{
    (void)stream;
    return not_built;
}
