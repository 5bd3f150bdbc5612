/* runtime.h: the calls of the CUDA runtime that the project makes, on host memory (part of shim.h).
 *
 * Device memory comes from malloc at its exact size, so AddressSanitizer sees a kernel leave it; it is filled
 * with 0xa5, so that what a kernel did not write shows. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_RUNTIME_H
#define SAMPLEGATE_SHIM_RUNTIME_H

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureInvalidated = 901
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
typedef void *cudaStream_t;

/* How often a call was made that takes or gives back memory, or waits: none belongs into a launch. */
SHIM_OWN unsigned long shim_waits;
extern "C" __attribute__((used)) inline unsigned long shim_waits_made()
{
    return shim_waits;
}
inline void shim_waited()
{
    shim_waits++;
    shim_capture.broken = true;
}

struct cudaDeviceProp {
    char name[256];
    int major, minor;
};

/* The failure of a launch, once. */
inline cudaError_t cudaGetLastError()
{
    const bool failed = shim.failed;
    shim.failed = false;
    return failed ? cudaErrorLaunchFailure : cudaSuccess;
}

inline const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess                         ? "no error"
           : error == cudaErrorMemoryAllocation         ? "out of memory"
           : error == cudaErrorStreamCaptureInvalidated ? "a call that cannot be captured"
                                                        : shim.trouble;
}

inline cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    *properties = {"host shim", 0, 0};
    return cudaSuccess;
}

inline cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

/* So many that one row is shared by 16 blocks, two by 8 each, and so on. */
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int)
{
    *value = 4;
    return cudaSuccess;
}

inline cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}

inline cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}

inline cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    *stream = nullptr;
    return cudaSuccess;
}

inline cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    shim_waited();
    return cudaSuccess;
}

inline cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    shim_waited();
    *memory = malloc(bytes);
    if (!*memory)
        return cudaErrorMemoryAllocation;
    memset(*memory, SHIM_FILL, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaFree(void *memory)
{
    shim_waited();
    free(memory);
    return cudaSuccess;
}

inline cudaError_t cudaMemset(void *memory, int byte, size_t bytes)
{
    shim_waited();
    memset(memory, byte, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    if (shim_capture.on)
        shim_capture.work.push_back([=]() { memcpy(to, from, bytes); });
    else
        memcpy(to, from, bytes);
    return cudaSuccess;
}
#endif
