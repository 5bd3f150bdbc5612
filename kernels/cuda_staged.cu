/* cuda_staged.cu: draws under penalties, temperature, softmax and filters, one after the other in device memory, a block a
 * draw; kept sets out.
 *
 * A block has two rows of the workspace: edited logits (before that, the marks of their ids) and weights. Each id is
 * read and written by one thread from stage to stage, so barriers are needed only where a block adds up.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda_staged.h"
#include "kernels/shim/launch.h"
#include "kernels/cuda_edit.cuh"
#include "kernels/cuda_exact.cuh"
#include "kernels/cuda_select.cuh"

/* softmax.h of logit(id) into weights[vocab]. logit(id) may depend on weights[id]: it is asked before that is written. */
template <class Logit>
__device__ static void softmax_stage(const Logit &logit, uint32_t vocab, float *weights)
{
    uint64_t best = ordered(minus_infinity());
    for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x) {
        const float y = logit(id);
        if (y > minus_infinity())
            best = larger::of(best, ordered(y));
    }
    const float largest = ordered_inverse((uint32_t)block_combine<larger>(best));
    uint64_t total = 0;
    for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x) {
        weights[id] = elementary_exp(kernel_subtract(logit(id), largest));
        total += fixed_point_of(weights[id], FIXED_POINT_SUM_BITS);
    }
    total = block_combine<sum>(total);
    for (uint32_t id = threadIdx.x; id < vocab; id += blockDim.x)
        weights[id] = softmax_probability(weights[id], total);
    __syncthreads();
}

__device__ static struct filter_parameters parameters_of(const struct cuda_filters &filters, uint32_t draw)
{
    return {filters.top_k ? filters.top_k[draw] : -1, filters.top_p ? filters.top_p[draw] : 1,
            filters.min_p ? filters.min_p[draw] : 0};
}

__device__ static bool parameters_good(const struct filter_parameters &parameters)
{
    return (parameters.top_k == -1 || parameters.top_k > 0) && parameters.top_p > 0 &&
           parameters.min_p >= 0 && parameters.min_p <= 1;
}

__device__ static bool parameters_on(const struct filter_parameters &parameters, uint32_t vocab)
{
    return (parameters.top_k > 0 && (uint64_t)parameters.top_k < vocab) || parameters.top_p < 1 ||
           parameters.min_p > 0;
}

/* The row that a draw's rule sees. */
struct stage {
    struct staged_row row;
    bool empty; /* filters found no weight */
};

/* Every stage before the draw; greedy looks at logits before the temperature, and no filter drops the largest. False: a
 * parameter is no good. */
__device__ static bool stages_make(const struct cuda_draws &call, uint32_t draw, int64_t index, bool greedy,
                                   float temperature, struct stage *stage)
{
    const uint32_t vocab = (uint32_t)call.vocab;
    float *const weights = call.workspace.rows + (size_t)blockIdx.x * 2 * (size_t)call.workspace.vocab;
    uint32_t *const edited = (uint32_t *)(weights + call.workspace.vocab);
    const struct filter_parameters parameters = parameters_of(call.filters, draw);
    if (!parameters_good(parameters))
        return false;
    const bool logits = call.kind == SAMPLER_LOGITS, filtered = !greedy && parameters_on(parameters, vocab);
    const bool last = filtered && logits && call.filters.rule.temperature_last;
    float left = greedy ? 1.0f : temperature;
    *stage = {{row_start(call, index), call.dtype, vocab, 0, CUT_OFF, CUT_OFF, 0, 0, 0}, false};
    if (call.edits.on) {
        if (!row_edit(call, draw, index, last ? 1.0f : left, edited))
            return false;
        stage->row.values = edited;
        stage->row.dtype = NARROW_NOT;
        left = last ? left : 1.0f;
    }
    const void *const source = stage->row.values;
    const int32_t dtype = stage->row.dtype;
    if (logits && !greedy) {
        const float first = last ? 1.0f : left;
        softmax_stage([=](uint32_t id) { return kernel_divide(narrow_value(source, dtype, id), first); },
                      vocab, weights);
        stage->row.values = weights;
        stage->row.dtype = NARROW_NOT;
    }
    if (!filtered)
        return true;
    stage->empty = !filters_apply(&stage->row, call.filters.rule, parameters);
    if (last && !stage->empty) {
        const struct staged_row row = stage->row;
        softmax_stage(
            [=](uint32_t id) {
                return row.kept(id) > 0 ? kernel_divide(narrow_value(source, dtype, id), left)
                                        : minus_infinity();
            },
            vocab, weights);
        stage->row.filtered = 0;
    }
    return true;
}

template <class Rule> __device__ static int32_t staged_token(const struct cuda_draws &call, uint32_t draw)
{
    const int64_t index = call.row_index ? call.row_index[draw] : 0;
    const float temperature = call.temperature ? call.temperature[draw] : 1.0f;
    if (index < 0 || index >= call.rows || !kernel_weight_valid(temperature))
        return SAMPLER_INVALID_ROW;
    struct stage stage;
    const bool good = stages_make(call, draw, index, !Rule::noisy, temperature, &stage);
    struct draw_noise noise = {};
    noise.key.seed = call.seeds ? (uint64_t)call.seeds[draw] : call.seed;
    noise.key.position = call.positions ? (uint64_t)call.positions[draw] : call.first_position + draw;
    if constexpr (Rule::noisy && !Rule::cumulative)
        noise.key.start = Rule::start(noise.key.seed, noise.key.position);
    noise.given = call.noise ? call.noise + draw * call.vocab : nullptr;
    const int32_t token = good && !stage.empty ? token_exact<Rule>(stage.row, noise) : SAMPLER_INVALID_ROW;
    if (call.kept && call.kept_here[draw])
        for (uint32_t id = threadIdx.x; id < (uint32_t)call.vocab; id += blockDim.x)
            call.kept[index * call.vocab + id] =
                Rule::noisy ? good && kernel_weight_valid(stage.row.weight(id)) : (int32_t)id == token;
    return token;
}

template <class Rule>
__global__ static void __launch_bounds__(WARP *WARPS_MAX) staged_kernel(const struct cuda_draws call)
{
    for (uint32_t draw = blockIdx.x; draw < (uint32_t)call.draws; draw += gridDim.x) {
        const int32_t token = staged_token<Rule>(call, draw);
        if (threadIdx.x == 0)
            call.token[draw] = token;
        __syncthreads(); /* the next draw's stages write where this one's are read */
    }
}

typedef void (*staged_function)(struct cuda_draws);

/* By rule and kind. */
static const staged_function staged_kernels[RULE_COUNT][2] = {
    /* RULE_GREEDY */ {staged_kernel<greedy_logits>, staged_kernel<greedy_weights>},
    /* RULE_CATEGORICAL */ {staged_kernel<inverse_cdf>, staged_kernel<inverse_cdf>},
    /* RULE_RACE */ {staged_kernel<race>, staged_kernel<race>},
    /* RULE_GUMBEL */ {staged_kernel<gumbel>, staged_kernel<gumbel>},
    /* RULE_TORCH_RACE */ {staged_kernel<torch_race>, staged_kernel<torch_race>},
    /* RULE_SEEDED */ {staged_kernel<seeded>, staged_kernel<seeded>},
    /* RULE_SEEDED_2025 */ {staged_kernel<seeded_2025>, staged_kernel<seeded_2025>},
};

bool cuda_staged(const struct cuda_draws &draws)
{
    return draws.filters.top_k || draws.filters.top_p || draws.filters.min_p || draws.edits.on || draws.kept;
}

void cuda_staged_launch(const struct cuda_draws &draws, void *stream)
{
    const uint32_t blocks =
        (uint32_t)(draws.draws < draws.workspace.stages ? draws.draws : draws.workspace.stages);
    const staged_function kernel = staged_kernels[draws.rule][draws.kind == SAMPLER_PROBABILITIES];
    CUDA_LAUNCH(kernel, blocks, cuda_threads((uint32_t)draws.vocab, WARPS_MAX), stream, draws);
}
