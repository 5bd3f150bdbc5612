/* cuda_graph.cu: capture, replay and timing, on the device or in the host shim. SPDX-License-Identifier: MIT */
#include "kernels/cuda_graph.h"
#include "kernels/shim/launch.h"

static const char *text_of(cudaError_t error)
{
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

const char *cuda_graph_new(void **graph, cuda_graph_call launch, const void *context, int64_t launches,
                           void *stream)
{
    const cudaStream_t on = (cudaStream_t)stream;
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t made = nullptr;
    cudaError_t error = cudaStreamBeginCapture(on, cudaStreamCaptureModeGlobal);
    if (error != cudaSuccess)
        return cudaGetErrorString(error);
    const char *why = nullptr;
    for (int64_t l = 0; l < launches && !why; l++)
        why = launch(context, l, stream);
    error = cudaStreamEndCapture(on, &captured);
    if (error == cudaSuccess && !why)
        error = cudaGraphInstantiate(&made, captured, 0);
    if (captured)
        cudaGraphDestroy(captured);
    if (!why)
        why = text_of(error);
    *graph = made;
    return why;
}

const char *cuda_graph_launch(void *graph, void *stream)
{
    return text_of(cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)stream));
}

void cuda_graph_free(void *graph)
{
    cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

__global__ static void empty_kernel(int) {}

const char *cuda_empty(void *stream)
{
    void (*const kernel)(int) = empty_kernel;
    CUDA_LAUNCH(kernel, 1u, 32u, stream, 0);
    return text_of(cudaGetLastError());
}

const char *cuda_copy_on(void *to, const void *from, size_t bytes, void *stream)
{
    return text_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t)stream));
}

const char *cuda_graph_seconds(void *graph, int repeats, void *stream, double *seconds)
{
    const cudaStream_t on = (cudaStream_t)stream;
    cudaEvent_t begin = nullptr, end = nullptr;
    float milliseconds = 0;
    cudaError_t error = cudaEventCreate(&begin);
    if (error == cudaSuccess)
        error = cudaEventCreate(&end);
    if (error == cudaSuccess)
        error = cudaEventRecord(begin, on);
    for (int r = 0; r < repeats && error == cudaSuccess; r++)
        error = cudaGraphLaunch((cudaGraphExec_t)graph, on);
    if (error == cudaSuccess)
        error = cudaEventRecord(end, on);
    if (error == cudaSuccess)
        error = cudaEventSynchronize(end);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&milliseconds, begin, end);
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    *seconds = (double)milliseconds / 1000;
    return text_of(error);
}

const char *cuda_memory_left(size_t *bytes)
{
    size_t all;
    return text_of(cudaMemGetInfo(bytes, &all));
}
