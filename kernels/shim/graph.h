/* graph.h: CUDA graphs and events of the host shim (part of shim.h): a captured launch is a function to be called later.
 *
 * A call that takes memory or waits ends a capture with an error, as it does in CUDA.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_GRAPH_H
#define SAMPLEGATE_SHIM_GRAPH_H
#include <time.h>

struct shim_graph {
    std::vector<std::function<void()>> work;
};
typedef struct shim_graph *cudaGraph_t, *cudaGraphExec_t;
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0 };

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode)
{
    shim_capture.on = true;
    shim_capture.broken = false;
    shim_capture.work.clear();
    return cudaSuccess;
}

inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    shim_capture.on = false;
    *graph = nullptr;
    if (shim_capture.broken)
        return cudaErrorStreamCaptureInvalidated;
    *graph = new shim_graph{shim_capture.work};
    return cudaSuccess;
}

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long)
{
    *made = new shim_graph(*graph);
    return cudaSuccess;
}

inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t)
{
    for (const auto &work : graph->work)
        work();
    return cudaGetLastError();
}

inline cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return cudaSuccess;
}

typedef struct timespec *cudaEvent_t;

inline cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new struct timespec();
    return cudaSuccess;
}

inline cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    clock_gettime(CLOCK_MONOTONIC, event);
    return cudaSuccess;
}

inline cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    shim_waited();
    return cudaSuccess;
}

inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    *milliseconds = (float)((double)(end->tv_sec - begin->tv_sec) * 1e3 + (double)(end->tv_nsec - begin->tv_nsec) / 1e6);
    return cudaSuccess;
}

inline cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    *left = *all = (size_t)1 << 30;
    return cudaSuccess;
}
#endif
