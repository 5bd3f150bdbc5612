/* cuda.cu: which kernel draws for a call, and in how many blocks.
 *
 * The token is that of rules.h on any device and in any number of blocks. SPDX-License-Identifier: MIT */
#include "kernels/cuda.h"
#include "kernels/shim/launch.h"
#include "kernels/cuda_fused.cuh"
#include "kernels/cuda_staged.h"

#ifdef CUDA_DEFECTS
int cuda_defect_planted; /* enum cuda_defect */
#endif

#define COLUMNS_A_SPLIT 2048 /* the fewest that are worth another block */
#define STAGE_THREADS 2048u  /* of draws under filters that a multiprocessor has in work, at most */

/* A block draws one token by the definition. */
template <class Rule, bool SOFTMAX>
__global__ static void __launch_bounds__(WARP *WARPS_MAX) exact_kernel(const struct cuda_draws call)
{
    const uint32_t draw = blockIdx.x;
    const int64_t index = call.row_index ? call.row_index[draw] : 0;
    const float temperature = call.temperature ? call.temperature[draw] : 1.0f;
    int32_t token = SAMPLER_INVALID_ROW;
    if (index >= 0 && index < call.rows && kernel_weight_valid(temperature)) { /* the same in all threads */
        struct draw_noise noise = {};
        noise.key.seed = call.seeds ? (uint64_t)call.seeds[draw] : call.seed;
        noise.key.position = call.positions ? (uint64_t)call.positions[draw] : call.first_position + draw;
        if constexpr (!Rule::cumulative)
            noise.key.start = Rule::start(noise.key.seed, noise.key.position);
        noise.given = call.noise ? call.noise + draw * call.vocab : nullptr;
        row_view<SOFTMAX> row = {row_start(call, index), call.dtype, (uint32_t)call.vocab, temperature, 0, 0};
        row.prepare();
        token = token_exact<Rule>(row, noise);
    }
    if (threadIdx.x == 0)
        call.token[draw] = token;
}

typedef void (*exact_function)(struct cuda_draws);
typedef void (*fused_function)(struct cuda_draws, uint32_t);

/* By rule and kind. Others have none: what they do not need, fused_kernels has. */
static const exact_function exact_kernels[RULE_COUNT][2] = {
    /* RULE_GREEDY */ {nullptr, nullptr},
    /* RULE_CATEGORICAL */ {exact_kernel<inverse_cdf, true>, exact_kernel<inverse_cdf, false>},
    /* RULE_RACE */ {exact_kernel<race, true>, exact_kernel<race, false>},
    /* RULE_GUMBEL */ {exact_kernel<gumbel, true>, exact_kernel<gumbel, false>},
    /* RULE_TORCH_RACE */ {exact_kernel<torch_race, true>, exact_kernel<torch_race, false>},
    /* RULE_SEEDED */ {nullptr, nullptr},
    /* RULE_SEEDED_2025 */ {exact_kernel<seeded_2025, true>, nullptr},
};

#define FUSED(Rule, SOFTMAX)                                                                                 \
    {                                                                                                        \
        fused_kernel<Rule, SOFTMAX, NARROW_NOT>, fused_kernel<Rule, SOFTMAX, NARROW_F16>,                    \
            fused_kernel<Rule, SOFTMAX, NARROW_BF16>                                                         \
    }
#define FUSED_NONE                                                                                           \
    {                                                                                                        \
        nullptr, nullptr, nullptr                                                                            \
    }
/* By rule, kind and dtype. */
static const fused_function fused_kernels[RULE_COUNT][2][3] = {
    /* RULE_GREEDY */ {FUSED(greedy_logits, false), FUSED(greedy_weights, false)},
    /* RULE_CATEGORICAL */ {FUSED_NONE, FUSED_NONE},
    /* RULE_RACE */ {FUSED(race, true), FUSED(race, false)},
    /* RULE_GUMBEL */ {FUSED(gumbel, true), FUSED(gumbel, false)},
    /* RULE_TORCH_RACE */ {FUSED(torch_race, true), FUSED(torch_race, false)},
    /* RULE_SEEDED */ {FUSED(seeded, true), FUSED(seeded, false)},
    /* RULE_SEEDED_2025 */ {FUSED_NONE, FUSED(seeded_2025, false)},
};

int cuda_rule_known(int rule)
{
    return (unsigned)rule < RULE_COUNT;
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
    if (draws->dtype < NARROW_NOT || draws->dtype > NARROW_BF16)
        return "cuda: values are fp32, fp16 or bf16";
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
    if (draws->workspace.memory && draws->draws > draws->workspace.draws)
        return "cuda: the workspace is for fewer draws";
    if (cuda_staged(*draws) && (!draws->workspace.rows || draws->vocab > draws->workspace.vocab))
        return "cuda: filters, edits and kept sets need a workspace for rows as wide";
    if (draws->edits.on && draws->kind == SAMPLER_PROBABILITIES)
        return "cuda: edits are for logits";
    if (draws->filters.rule.temperature_last && draws->filters.rule.boundary == FILTER_SPLIT)
        return "cuda: a filter rule with the temperature last cannot split an id";
    if (!draws->kept != !draws->kept_here)
        return "cuda: kept and kept_here come together";
    return nullptr;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* How many blocks share a row: so many that the device is full, no more than the row is worth. */
static uint32_t splits_of(const struct cuda_draws *draws)
{
    if (!draws->workspace.memory)
        return 1;
    const uint64_t wanted =
        ((uint64_t)draws->workspace.blocks + (uint64_t)draws->draws - 1) / (uint64_t)draws->draws;
    const uint64_t columns = (uint64_t)draws->workspace.columns;
    return least(wanted, ((uint64_t)draws->vocab + columns - 1) / columns);
}

const char *cuda_draw(const struct cuda_draws *draws, void *stream)
{
    const char *why = refusal(draws);
    if (why || draws->draws == 0)
        return why;
    if (DEFECT(DEFECT_ALLOCATES)) {
        void *memory;
        cudaMalloc(&memory, 1);
        cudaFree(memory);
    }
    const int probabilities = draws->kind == SAMPLER_PROBABILITIES;
    const fused_function fused = fused_kernels[draws->rule][probabilities][draws->dtype];
    if (cuda_staged(*draws)) {
        cuda_staged_launch(*draws, stream);
    } else if (fused && !draws->noise) {
        const uint32_t splits = splits_of(draws), columns = ((uint32_t)draws->vocab + splits - 1) / splits;
        CUDA_LAUNCH(fused, (uint32_t)draws->draws * splits, cuda_threads(columns, FUSED_WARPS), stream,
                    *draws, splits);
    } else {
        const exact_function exact = exact_kernels[draws->rule][probabilities];
        CUDA_LAUNCH(exact, (uint32_t)draws->draws, cuda_threads((uint32_t)draws->vocab, WARPS_MAX), stream,
                    *draws);
    }
    if (DEFECT(DEFECT_WAITS))
        cudaStreamSynchronize((cudaStream_t)stream);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

const char *cuda_workspace_new(struct cuda_workspace *workspace, int64_t draws, int64_t vocab)
{
    *workspace = {};
    int device = 0, multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return cudaGetErrorString(error);
    const size_t blocks = FUSED_BLOCKS * (size_t)multiprocessors;
    const size_t stages =
        least((uint64_t)draws,
              (uint64_t)multiprocessors * (STAGE_THREADS / cuda_threads((uint32_t)vocab, WARPS_MAX)));
    const size_t rows = stages * 2 * (size_t)vocab * sizeof(float);
    const size_t winners = ((size_t)draws + blocks) * sizeof(struct winner); /* draws x splits is less */
    const size_t counters = (size_t)draws * sizeof *workspace->counters;
    char *memory;
    error = cudaMalloc((void **)&memory, rows + winners + counters);
    if (error != cudaSuccess)
        return cudaGetErrorString(error);
    workspace->memory = memory;
    workspace->counters = (uint32_t *)(memory + rows + winners);
    workspace->winners = memory + rows;
    workspace->rows = vocab > 0 ? (float *)memory : nullptr;
    workspace->draws = draws;
    workspace->vocab = vocab;
    workspace->stages = (int32_t)stages;
    workspace->blocks = (int32_t)blocks;
    workspace->columns = COLUMNS_A_SPLIT;
    error = cudaMemset(workspace->counters, 0, counters);
    if (error == cudaSuccess)
        return nullptr;
    cuda_workspace_free(workspace);
    return cudaGetErrorString(error);
}

void cuda_workspace_free(struct cuda_workspace *workspace)
{
    cudaFree(workspace->memory);
    *workspace = {};
}
