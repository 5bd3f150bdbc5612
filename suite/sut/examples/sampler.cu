/* sampler.cu: a plug-in that samples on the GPU: Gumbel-max over fp32 probabilities, a block a draw.
 *
 *     nvcc -std=c++17 -shared -Xcompiler -fPIC -I . -I suite/sut suite/sut/examples/sampler.cu -o sampler-cuda.so
 *     samplegate run --sut ./sampler-cuda.so,device=cuda
 *
 * With device=cuda the call's tensors lie on the device and it has a stream: start the kernel there and return, the host
 * waits. CUDA_LAUNCH and CUDA_SHARED stand for <<<>>> and __shared__, so that CI can run this file without a GPU:
 *     g++ -x c++ -std=c++17 -shared -fPIC -I . -I suite/sut suite/sut/examples/sampler.cu -o sampler-shim.so
 *     make build/tests/shim-host
 *     samplegate run --sut 'exec:build/tests/shim-host ./sampler-shim.so device=cuda' --plan quick
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "kernels/shim/launch.h"
#include "samplegate.h"

#define THREADS 128

struct sampler {
    uint64_t seed, draws; /* draws since reset */
};

/* Gumbel noise of one (seed, draw, id), by SplitMix64's mixing (Steele, Lea, Flood 2014): u is in (0, 1). */
static __device__ double sampler_gumbel(uint64_t seed, uint64_t draw, uint64_t id)
{
    const uint64_t word[] = {draw, id};
    uint64_t z = seed;
    for (int i = 0; i < 2; i++) {
        z = (z ^ word[i]) + 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
    }
    return -log(-log(((double)(z >> 12) + 0.5) * 0x1p-52));
}

static __global__ void sampler_kernel(const float *values, int64_t vocab, int64_t row_stride,
                                      const int32_t *row_index, uint64_t seed, uint64_t first_draw,
                                      int32_t *token)
{
    CUDA_SHARED(double, best, THREADS);
    CUDA_SHARED(int32_t, winner, THREADS);
    const unsigned draw = blockIdx.x, me = threadIdx.x;
    const float *const row = values + row_index[draw] * row_stride;
    double my_best = 0;
    int32_t my_winner = -1; /* where no id has a positive weight */
    for (int64_t id = me; id < vocab; id += THREADS)
        if (row[id] > 0) {
            const double score = log((double)row[id]) + sampler_gumbel(seed, first_draw + draw, (uint64_t)id);
            if (my_winner < 0 || score > my_best) {
                my_best = score;
                my_winner = (int32_t)id;
            }
        }
    best[me] = my_best;
    winner[me] = my_winner;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half && winner[me + half] >= 0 && (winner[me] < 0 || best[me + half] > best[me])) {
            best[me] = best[me + half];
            winner[me] = winner[me + half];
        }
    }
    if (me == 0)
        token[draw] = winner[0];
}

static int sampler_open(const char *options, int32_t device, void **instance, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "it needs the option device=cuda and has no other");
    if (*options || device != SAMPLEGATE_CUDA)
        return SAMPLEGATE_INVALID;
    *instance = calloc(1, sizeof(struct sampler));
    return *instance ? SAMPLEGATE_OK : SAMPLEGATE_FAILED;
}

static int sampler_reset(void *instance, uint64_t seed)
{
    *(struct sampler *)instance = {seed, 0};
    return SAMPLEGATE_OK;
}

static int sampler_sample(void *instance, const struct samplegate_call *call)
{
    struct sampler *const sampler = (struct sampler *)instance;
    const struct samplegate_tensor *const values = &call->values;
    if (call->options & ~(uint64_t)SAMPLEGATE_TAKES_PROBABILITIES || values->dtype != SAMPLEGATE_F32)
        return SAMPLEGATE_UNSUPPORTED; /* honest; ignoring what a call asks for is a defect */
    CUDA_LAUNCH(sampler_kernel, (unsigned)call->draws, THREADS, call->stream, (const float *)values->data,
                values->columns, values->row_stride, call->row_index, sampler->seed, sampler->draws,
                call->token);
    sampler->draws += (uint64_t)call->draws;
    const cudaError_t failed = cudaGetLastError();
    if (failed != cudaSuccess)
        fprintf(stderr, "sampler.cu: %s\n", cudaGetErrorString(failed));
    return failed == cudaSuccess ? SAMPLEGATE_OK : SAMPLEGATE_FAILED;
}

extern "C" const struct samplegate_plugin *samplegate_plugin(void)
{
    static struct samplegate_plugin plugin = {};
    plugin.size = sizeof plugin;
    plugin.abi_version = SAMPLEGATE_ABI_VERSION;
    plugin.name = "example-cuda";
    plugin.version = "1";
    plugin.capabilities = SAMPLEGATE_TAKES_PROBABILITIES;
    plugin.open = sampler_open;
    plugin.sample = sampler_sample;
    plugin.reset = sampler_reset;
    plugin.close = free;
    return &plugin;
}
