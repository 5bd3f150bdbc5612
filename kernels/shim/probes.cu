/* probes.cu: small kernels that the shim must run right, or refuse with the right words; for test_shim.c.
 * SPDX-License-Identifier: MIT */
#include "kernels/shim/launch.h"
#include "kernels/shim/probes.h"

#define ALL 0xffffffffu

__global__ static void shuffles(uint32_t *out)
{
    const uint32_t t = threadIdx.x, lane = t % 32;
    const uint64_t wide = (uint64_t)t << 33 | t;
    out[4 * t] = __shfl_xor_sync(ALL, t, 5);
    out[4 * t + 1] = (uint32_t)(__shfl_down_sync(ALL, wide, 3u) >> 33);
    out[4 * t + 2] = __shfl_sync(ALL, t, (lane * 7) % 32);
    /* Two halves of a warp shuffle apart. */
    if (lane < 16)
        out[4 * t + 3] = __shfl_xor_sync(0x0000ffffu, t, 1);
    else
        out[4 * t + 3] = __shfl_xor_sync(0xffff0000u, t, 2);
}

/* Each thread hands its number to the next, round the block, through shared memory. */
__global__ static void rounds(uint32_t *out)
{
    CUDA_SHARED(uint32_t, slot, 1024);
    uint32_t mine = threadIdx.x;
    for (uint32_t round = 0; round < 5; round++) {
        slot[threadIdx.x] = mine;
        __syncthreads();
        mine = slot[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

__global__ static void atomics(uint32_t *out)
{
    atomicAdd(&out[0], threadIdx.x + 1);
    atomicMax(&out[1], threadIdx.x * blockIdx.x);
    out[2 + blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(&out[2 + gridDim.x * blockDim.x], 1u);
}

__global__ static void fresh_shared(uint32_t *out)
{
    CUDA_SHARED(uint32_t, slot, 33);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = slot[32];
        slot[32] = 1;
    }
}

__global__ static void barrier_in_a_branch(uint32_t *)
{
    if (threadIdx.x != 7)
        __syncthreads();
}

__global__ static void two_barriers(uint32_t *)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncthreads();
}

__global__ static void own_lane_left_out(uint32_t *out)
{
    out[threadIdx.x] = __shfl_xor_sync(threadIdx.x == 0 ? 0xfffffffeu : ALL, threadIdx.x, 1);
}

__global__ static void lane_ended(uint32_t *out)
{
    if (threadIdx.x == 9)
        return;
    out[threadIdx.x] = __shfl_xor_sync(ALL, threadIdx.x, 1);
}

__global__ static void lane_at_barrier(uint32_t *out)
{
    if (threadIdx.x != 9)
        out[threadIdx.x] = __shfl_xor_sync(ALL, threadIdx.x, 1);
    __syncthreads();
}

__global__ static void masks_differ(uint32_t *out)
{
    out[threadIdx.x] = __shfl_xor_sync(threadIdx.x < 4 ? ALL : 0xfffffff1u, threadIdx.x, 1);
}

__global__ static void source_outside_mask(uint32_t *out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_down_sync(0x0000ffffu, threadIdx.x, 1u);
}

__global__ static void lane_not_there(uint32_t *out)
{
    out[threadIdx.x] = __shfl_xor_sync(ALL, threadIdx.x, 1);
}

__global__ static void past_the_end(uint32_t *out)
{
    CUDA_SHARED(uint32_t, slot, 33);
    slot[threadIdx.x + 2] = out[0];
}

__global__ static void before_the_start(uint32_t *out)
{
    CUDA_SHARED(uint32_t, slot, 33);
    uint32_t *const volatile start = slot;
    start[(int)threadIdx.x - 1] = out[0];
}

const char *shim_probe(enum probe probe, unsigned blocks, unsigned threads, uint32_t *out)
{
    static void (*const kernels[PROBES])(uint32_t *) = {
        shuffles,
        rounds,
        atomics,
        fresh_shared,
        barrier_in_a_branch,
        two_barriers,
        own_lane_left_out,
        lane_ended,
        lane_at_barrier,
        masks_differ,
        source_outside_mask,
        lane_not_there,
        past_the_end,
        before_the_start,
    };
    void (*const kernel)(uint32_t *) = kernels[probe];
    CUDA_LAUNCH(kernel, blocks, threads, nullptr, out);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
