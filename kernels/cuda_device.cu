/* cuda_device.cu: the device and its memory, for programs in C that draw on it.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "kernels/cuda.h"
#include "kernels/shim/launch.h"

static const char *text_of(cudaError_t error)
{
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

const char *cuda_open(struct cuda_device *device)
{
    static char why[320];
    *device = {};
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        snprintf(why, sizeof why, "cuda: no device (%s)",
                 error == cudaSuccess ? "none is visible" : cudaGetErrorString(error));
        return why;
    }
    cudaDeviceProp properties;
    error = cudaGetDeviceProperties(&properties, 0);
    if (error == cudaSuccess)
        error = cudaRuntimeGetVersion(&device->runtime);
    if (error == cudaSuccess)
        error = cudaDriverGetVersion(&device->driver);
    cudaStream_t stream;
    if (error == cudaSuccess)
        error = cudaStreamCreate(&stream);
    if (error != cudaSuccess) {
        snprintf(why, sizeof why, "cuda: the device cannot be used (%s)", cudaGetErrorString(error));
        return why;
    }
    device->stream = stream;
    snprintf(device->name, sizeof device->name, "%s, compute %d.%d", properties.name, properties.major,
             properties.minor);
    return nullptr;
}

void cuda_close(struct cuda_device *device)
{
    cudaStreamDestroy((cudaStream_t)device->stream);
}

const char *cuda_memory_new(void **memory, size_t bytes)
{
    return text_of(cudaMalloc(memory, bytes));
}

void cuda_memory_free(void *memory)
{
    cudaFree(memory);
}

const char *cuda_copy_in(void *device, const void *host, size_t bytes, void *stream)
{
    return text_of(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, (cudaStream_t)stream));
}

const char *cuda_copy_out(void *host, const void *device, size_t bytes, void *stream)
{
    return text_of(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, (cudaStream_t)stream));
}

const char *cuda_wait(void *stream)
{
    return text_of(cudaStreamSynchronize((cudaStream_t)stream));
}
