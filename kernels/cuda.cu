/* cuda.cu: one kernel for every rule: a block draws one token, its threads share the row.
 *
 * Every sum is an integer and every argmax the largest of integers that hold (score, id), so the order in
 * which threads come cannot matter, and the token is that of rules.h on any device. Softmax weights are made
 * anew wherever they are needed, and noise never leaves registers: no workspace. A defect that the tests
 * plant is one of CUDA_DEFECT's values. SPDX-License-Identifier: MIT */
#include "kernels/cuda.h"
#include "kernels/shim/launch.h"
#include "kernels/cuda_rules.cuh"
#include "kernels/fixed_point.h"
#include "kernels/philox.h"
#include "kernels/softmax.h"

#define WARP 32u
#define WARPS_MAX 8u
#define COLUMNS_A_WARP 128u /* a row that needs fewer warps gets fewer */
#define ALL_LANES 0xffffffffu

#define DEFECT_NONE 0
#define DEFECT_NO_BARRIER_AFTER_WRITE 1
#define DEFECT_NO_BARRIER_BEFORE_WRITE 2
#define DEFECT_SHORT_ARRAY 3
#ifndef CUDA_DEFECT
#    define CUDA_DEFECT DEFECT_NONE
#endif
#define PARTIALS (CUDA_DEFECT == DEFECT_SHORT_ARRAY ? WARPS_MAX - 1 : WARPS_MAX)

struct larger {
    __device__ static uint64_t of(uint64_t a, uint64_t b)
    {
        return a > b ? a : b;
    }
};

struct sum {
    __device__ static uint64_t of(uint64_t a, uint64_t b)
    {
        return a + b;
    }
};

__device__ static uint32_t warps()
{
    return blockDim.x / WARP;
}

/* partial[warps()] of the warps' values, each one's lanes combined; every thread of the block may read it. */
template <class Combine> __device__ static void warps_combine(uint64_t value, uint64_t *partial)
{
    for (uint32_t bits = WARP / 2; bits > 0; bits /= 2)
        value = Combine::of(value, __shfl_xor_sync(ALL_LANES, value, bits));
#if CUDA_DEFECT != DEFECT_NO_BARRIER_BEFORE_WRITE
    __syncthreads(); /* all have read what was there before */
#endif
    if (threadIdx.x % WARP == 0)
        partial[threadIdx.x / WARP] = value;
#if CUDA_DEFECT != DEFECT_NO_BARRIER_AFTER_WRITE
    __syncthreads();
#endif
}

/* The values of all threads combined, in every thread. */
template <class Combine> __device__ static uint64_t block_combine(uint64_t value, uint64_t *partial)
{
    warps_combine<Combine>(value, partial);
    value = partial[0];
    for (uint32_t warp = 1; warp < warps(); warp++)
        value = Combine::of(value, partial[warp]);
    return value;
}

/* What a draw needs of its row. */
template <bool SOFTMAX> struct row_view {
    const float *values;
    uint32_t vocab;
    float temperature, largest; /* for softmax: the largest of values / temperature */
    uint64_t total;             /* for softmax: the sum of its exponentials */

    /* softmax.h's weight before it is divided by the sum. */
    __device__ float exponential(uint32_t id) const
    {
        return elementary_exp(kernel_subtract(kernel_divide(values[id], temperature), largest));
    }

    __device__ float weight(uint32_t id) const
    {
        return SOFTMAX ? softmax_probability(exponential(id), total) : values[id];
    }

    __device__ void prepare(uint64_t *partial)
    {
        uint64_t best = ordered(minus_infinity());
        for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x) {
            const float y = kernel_divide(values[id], temperature);
            if (y > minus_infinity())
                best = larger::of(best, ordered(y));
        }
        largest = ordered_inverse((uint32_t)block_combine<larger>(best, partial));
        total = 0;
        for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x)
            total += fixed_point_of(exponential(id), FIXED_POINT_SUM_BITS);
        total = block_combine<sum>(total, partial);
    }
};

/* The best candidate of a row without noise. */
template <class Rule, class Row> __device__ static uint64_t argmax(const Row &row, uint64_t *partial)
{
    uint64_t best = 0;
    for (uint32_t id = threadIdx.x; id < row.vocab; id += blockDim.x)
        best = larger::of(best, Rule::of(row.weight(id), 1.0f, id));
    return block_combine<larger>(best, partial);
}

/* The same with noise: a Philox block gives that of four neighbours. */
template <class Rule, class Row>
__device__ static uint64_t argmax(const Row &row, uint64_t seed, uint64_t position, uint64_t *partial)
{
    uint64_t best = 0;
    for (uint32_t first = 4 * threadIdx.x; first < row.vocab; first += 4 * blockDim.x) {
        const struct philox_block block = philox_block(seed, PHILOX_STREAM_RACE, position, first / 4);
        for (uint32_t j = 0; j < 4 && first + j < row.vocab; j++)
            best = larger::of(best, Rule::of(row.weight(first + j), Rule::noise(block.word[j]), first + j));
    }
    return block_combine<larger>(best, partial);
}

/* The same with the caller's noise. */
template <class Rule, class Row>
__device__ static uint64_t argmax(const Row &row, const float *q, uint64_t *partial)
{
    uint64_t best = 0;
    for (uint32_t id = threadIdx.x; id < row.vocab; id += blockDim.x)
        best = larger::of(best, Rule::of(row.weight(id), q[id], id));
    return block_combine<larger>(best, partial);
}

/* The same with a hash for noise. */
template <class Rule, class Row>
__device__ static uint64_t argmax_hashed(const Row &row, uint32_t start, uint64_t *partial)
{
    uint64_t best = 0;
    for (uint32_t id = threadIdx.x; id < row.vocab; id += blockDim.x)
        best = larger::of(best, Rule::of(row.weight(id), start, id));
    return block_combine<larger>(best, partial);
}

/* The same where a score takes 64 bits: first the best score, then the lowest id that has it. */
template <class Rule, class Row>
__device__ static uint64_t argmax_double(const Row &row, uint32_t start, uint64_t *partial)
{
    uint64_t best = 0;
    uint32_t best_id = 0;
    for (uint32_t id = threadIdx.x; id < row.vocab; id += blockDim.x) {
        const uint64_t score = Rule::of(row.weight(id), start, id);
        best_id = score > best ? id : best_id;
        best = larger::of(best, score);
    }
    const uint64_t top = block_combine<larger>(best, partial);
    return block_combine<larger>(top && best == top ? candidate(1, best_id) : 0, partial);
}

/* Sum of the masses of ids first, first + step, .. below end. */
template <class Row>
__device__ static uint64_t mass(const Row &row, uint32_t first, uint32_t end, uint32_t step, int scale)
{
    uint64_t units = 0;
    for (uint32_t id = first; id < end; id += step)
        units += fixed_point_of(row.weight(id), scale);
    return units;
}

/* The first id whose inclusive CDF exceeds the target: each round a warp sums one part of the ids that are
 * left, and all go on with the part that holds the target; what a warp's width of ids is left, each thread
 * walks alone. */
template <class Row>
__device__ static int32_t categorical(const Row &row, uint64_t uniform, uint64_t *partial)
{
    const uint64_t heaviest = argmax<greedy_weights>(row, partial);
    if (!heaviest)
        return SAMPLER_INVALID_ROW;
    const int scale = fixed_point_scale(ordered_inverse((uint32_t)(heaviest >> 32)), FIXED_POINT_CDF_BITS);
    const uint64_t total = block_combine<sum>(mass(row, threadIdx.x, row.vocab, blockDim.x, scale), partial);
    uint64_t target = fixed_point_multiply_high(uniform, total);
    uint32_t low = 0, width = row.vocab;
    while (width > WARP && warps() > 1) {
        const uint32_t part = (width + warps() - 1) / warps();
        const uint32_t start = threadIdx.x / WARP * part;
        const uint32_t end = start + part < width ? start + part : width;
        warps_combine<sum>(mass(row, low + start + threadIdx.x % WARP, low + end, WARP, scale), partial);
        uint32_t warp = 0;
        while (target >= partial[warp])
            target -= partial[warp++];
        low += warp * part;
        width = width - warp * part < part ? width - warp * part : part;
    }
    for (uint64_t units; (units = fixed_point_of(row.weight(low), scale)) <= target; low++)
        target -= units;
    return (int32_t)low;
}

/* SOFTMAX: the values are logits, and the rule wants probabilities. */
template <class Rule, bool SOFTMAX>
__global__ static void __launch_bounds__(WARP *WARPS_MAX) draw_kernel(const struct cuda_draws call)
{
    CUDA_SHARED(uint64_t, partial, PARTIALS);
    const int64_t index = call.row_index ? call.row_index[blockIdx.x] : 0;
    const float temperature = call.temperature ? call.temperature[blockIdx.x] : 1.0f;
    int32_t token = SAMPLER_INVALID_ROW;
    if (index >= 0 && index < call.rows && kernel_weight_valid(temperature)) { /* the same in all threads */
        const uint64_t seed = call.seeds ? (uint64_t)call.seeds[blockIdx.x] : call.seed;
        const uint64_t position =
            call.positions ? (uint64_t)call.positions[blockIdx.x] : call.first_position + blockIdx.x;
        row_view<SOFTMAX> row = {call.values + index * call.row_stride, (uint32_t)call.vocab, temperature, 0,
                                 0};
        if (SOFTMAX)
            row.prepare(partial);
        if constexpr (Rule::by == CDF) {
            const struct philox_block block = philox_block(seed, PHILOX_STREAM_CATEGORICAL, position, 0);
            token = categorical(row, block.word[0] | (uint64_t)block.word[1] << 32, partial);
        } else if constexpr (Rule::by == BEST_WEIGHT) {
            token = candidate_token(argmax<Rule>(row, partial));
        } else if constexpr (Rule::by == BEST_WITH_HASH) {
            token = candidate_token(argmax_hashed<Rule>(row, Rule::start(seed, position), partial));
        } else if constexpr (Rule::by == BEST_DOUBLE_WITH_HASH) {
            token = candidate_token(argmax_double<Rule>(row, Rule::start(seed, position), partial));
        } else if (call.noise) {
            token = candidate_token(argmax<Rule>(row, call.noise + blockIdx.x * call.vocab, partial));
        } else {
            token = candidate_token(argmax<Rule>(row, seed, position, partial));
        }
    }
    if (threadIdx.x == 0)
        call.token[blockIdx.x] = token;
}

typedef void (*draw_function)(struct cuda_draws);

/* The kernel of each rule, for logits and for probabilities. */
static const draw_function kernels[RULE_COUNT][2] = {
    /* RULE_GREEDY */ {draw_kernel<greedy_logits, false>, draw_kernel<greedy_weights, false>},
    /* RULE_CATEGORICAL */ {draw_kernel<inverse_cdf, true>, draw_kernel<inverse_cdf, false>},
    /* RULE_RACE */ {draw_kernel<race, true>, draw_kernel<race, false>},
    /* RULE_GUMBEL */ {draw_kernel<gumbel, true>, draw_kernel<gumbel, false>},
    /* RULE_TORCH_RACE */ {draw_kernel<torch_race, true>, draw_kernel<torch_race, false>},
    /* RULE_SEEDED */ {draw_kernel<seeded, true>, draw_kernel<seeded, false>},
    /* RULE_SEEDED_2025 */ {draw_kernel<seeded_2025, true>, draw_kernel<seeded_2025, false>},
};

int cuda_rule_known(int rule)
{
    return (unsigned)rule < RULE_COUNT && kernels[rule][0] != nullptr;
}

int cuda_rule_takes_noise(int rule)
{
    return rule == RULE_RACE || rule == RULE_GUMBEL || rule == RULE_TORCH_RACE;
}

/* NULL, or what is wrong with a call. */
static const char *refusal(const struct cuda_draws *draws)
{
    if (!cuda_rule_known(draws->rule))
        return "cuda: this rule has no kernel";
    if (draws->kind == SAMPLER_PROBABILITIES && draws->temperature)
        return "cuda: probabilities take no temperature";
    if (draws->noise && !cuda_rule_takes_noise(draws->rule))
        return "cuda: this rule takes no noise";
    if (!draws->seeds != !draws->positions)
        return "cuda: seeds and positions come together";
    if (draws->vocab < 1 || draws->vocab > (int64_t)FIXED_POINT_VOCAB_MAX)
        return "cuda: a row has 1 to 2^20 values";
    if (draws->row_stride < draws->vocab)
        return "cuda: the row stride is below the vocabulary";
    if (draws->draws < 0 || draws->draws > INT32_MAX)
        return "cuda: a launch makes 0 to 2^31 - 1 draws";
    return nullptr;
}

const char *cuda_draw(const struct cuda_draws *draws, void *stream)
{
    const char *why = refusal(draws);
    if (why || draws->draws == 0)
        return why;
    const uint32_t wanted = ((uint32_t)draws->vocab + COLUMNS_A_WARP - 1) / COLUMNS_A_WARP;
    const uint32_t threads = WARP * (wanted < WARPS_MAX ? wanted : WARPS_MAX);
    const draw_function kernel = kernels[draws->rule][draws->kind == SAMPLER_PROBABILITIES];
    CUDA_LAUNCH(kernel, (uint32_t)draws->draws, threads, stream, *draws);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
