/* launch.h: the one header a .cu file includes for CUDA itself: the real thing under nvcc, the host shim
 * under any other C++17 compiler.
 *
 * CUDA_LAUNCH(kernel, blocks, threads, stream, arguments...): kernel is a function pointer, so that a
 * template with commas has a name. CUDA_SHARED(type, name, count): an array in shared memory; under the shim
 * it has guards on both sides and starts each block filled with 0xa5.
 * CUDA_UNROLL(times): the loop that follows is unrolled so often. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_LAUNCH_H
#define SAMPLEGATE_SHIM_LAUNCH_H
#ifdef __CUDACC__
#    include <cuda_runtime.h>
#    define CUDA_LAUNCH(kernel, blocks, threads, stream, ...)                                                \
        kernel<<<(blocks), (threads), 0, (cudaStream_t)(stream)>>>(__VA_ARGS__)
#    define CUDA_SHARED(type, name, count) __shared__ type name[count]
#    define CUDA_PRAGMA(text) _Pragma(#    text)
#    define CUDA_UNROLL(times) CUDA_PRAGMA(unroll times)
#else
#    include "kernels/shim/shim.h"
#    define CUDA_LAUNCH(kernel, blocks, threads, stream, ...)                                                \
        ((void)(stream),                                                                                     \
         shim_submit((blocks), (threads), [function = kernel, values = std::make_tuple(__VA_ARGS__)]() {     \
             std::apply(function, values);                                                                   \
         }))
#    define CUDA_SHARED(type, name, count)                                                                   \
        static struct shim_shared<type, count> name##_guarded;                                               \
        type *const name = shim_shared_enter(name##_guarded, #name)
#    define CUDA_UNROLL(times)
#endif
#endif
