/* cuda_fused.cuh: a token from one reading of its row: noise in registers, a row shared by several blocks
 * where there are few draws; for cuda.cu.
 *
 * Weights as they are: a score is the definition's, and the first of the largest wins. Logits: the token is
 * where y - log q is largest, which needs neither the largest logit nor the sum of the softmax. That is so
 * because the definition's score is that number plus a constant but for rounding, below 2^-15 + 2^-23 |y - log
 * q| for two ids together: no id can win that has less than (winner's 2^-13 + 2^-20 |..|) below the best. If
 * another comes so near (a few rows in ten thousand), or a value is odd (+inf, or NaN where that wins), one
 * block draws again by the definition. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_FUSED_CUH
#define SAMPLEGATE_CUDA_FUSED_CUH
#include "kernels/cuda_exact.cuh"

#define FUSED_WARPS 8u
#define FUSED_UNROLL 2
#define FUSED_BLOCKS 4u /* at a time on a multiprocessor */

/* A block's share of a row. */
struct share {
    const void *row;
    uint32_t vocab, begin, end; /* columns, begin a multiple of 4 */
    bool whole;                 /* as row_four wants it */
    float temperature;          /* of logits */
    struct noise_key key;
};

/* What rejects ids, and what their scores are. begin() once; may_win() from a word and a value, without noise;
 * found() after a score. */
template <class Rule> struct exact_scores {
    static const bool near = false;
    float bound;

    __device__ bool begin(const struct share &)
    {
        bound = minus_infinity();
        return true;
    }
    __device__ bool may_win([[maybe_unused]] float weight, [[maybe_unused]] uint32_t word) const
    {
        if constexpr (Rule::filtered)
            return !(kernel_multiply(Rule::scaled_noise(word), bound) > weight);
        return true;
    }
    __device__ void add(struct winner *best, float weight, uint32_t word, uint32_t id, const struct share &)
    {
        winner_add(best, Rule::score_of_word(weight, word), id);
    }
    __device__ void found([[maybe_unused]] uint64_t score)
    {
        if constexpr (Rule::filtered)
            bound = Rule::bound(score);
    }
};

/* How far below the best a near score is certain to lose, once both are known. */
__device__ static float near_margin(float score)
{
    return DEFECT(DEFECT_NEAR_TIES_TRUSTED) ? 0.0f : kernel_fma(fabsf(score), 0x1p-20f, 0x1p-13f);
}

#define LN2_23 0x1.62e43p-24f  /* 2^-23 log 2: of a step in the bits of a float, about */
#define LN2_159 0x1.b8d774p+6f /* 159 log 2: 127 is the exponent's bias, 32 the scale of the noise */

template <class Rule> struct near_scores {
    static const bool near = true;
    float reciprocal, least;

    /* Whether near scores are good for this temperature. */
    __device__ bool begin(const struct share &share)
    {
        reciprocal = kernel_divide(1.0f, share.temperature);
        least = minus_infinity();
        return reciprocal >= 0x1p-100f && reciprocal <= 0x1p100f;
    }
    /* -log v <= - log 2 (bits of v 2^-23 - 127), since log2 m >= m - 1 for m in [1, 2]. */
    __device__ bool may_win(float logit, uint32_t word) const
    {
        const float v = Rule::scaled_noise(word);
        const float most =
            kernel_fma((float)(int32_t)kernel_bits(v), -LN2_23, kernel_fma(logit, reciprocal, LN2_159));
        return Rule::takes_nan ? !(most < least) : most >= least;
    }
    __device__ void add(struct winner *best, float logit, uint32_t word, uint32_t id,
                        const struct share &share)
    {
        const float y = kernel_divide(logit, share.temperature);
        if (y > minus_infinity() && y < kernel_float(KERNEL_INFINITY_BITS))
            winner_add(best, ordered(kernel_add(y, Rule::minus_log(word))), id);
        else if (y != minus_infinity() && (y == y || Rule::takes_nan))
            best->second = SECOND_ODD;
    }
    /* Twice the margin and more: `most` is rounded, too. */
    __device__ void found(uint64_t score)
    {
        if (!score)
            return;
        const float best = ordered_inverse((uint32_t)score);
        const float slack =
            DEFECT(DEFECT_FILTER_NO_SLACK) ? -0.25f : kernel_fma(fabsf(best), 0x1p-17f, 0x1p-11f);
        least = kernel_subtract(best, slack);
    }
};

/* The thread's winner in columns first .. first + 3. */
template <class Rule, class Scores>
__device__ static void four_add(struct winner *best, Scores *scores, const struct four &value, uint32_t first,
                                const struct share &share)
{
    const struct philox_block block = Rule::words(share.key, first);
    uint32_t open = 0;
    for (uint32_t j = 0; j < 4; j++) {
        open |= (uint32_t)scores->may_win(value.x[j], block.word[j]) << j;
        if (Scores::near && Rule::odd_word && block.word[j] == 0)
            best->second = SECOND_ODD;
    }
    if (!open)
        return;
    /* Rare: one copy of a long score, and no array that is indexed. */
    CUDA_UNROLL(1)
    for (uint32_t j = 0; j < 4; j++) {
        const float x = j < 2 ? (j == 0 ? value.x[0] : value.x[1]) : (j == 2 ? value.x[2] : value.x[3]);
        const uint32_t word =
            j < 2 ? (j == 0 ? block.word[0] : block.word[1]) : (j == 2 ? block.word[2] : block.word[3]);
        if (open >> j & 1 && first + j < share.end)
            scores->add(best, x, word, first + j, share);
    }
    scores->found(best->score);
}

/* The block's winner in its share; every thread makes the same number of rounds. After rounds 1, 4, 16, .. all
 * go on with the best score of the block, so about as many ids are scored in each of these spans. */
template <class Rule, class Scores, int DTYPE>
__device__ static struct winner share_noisy(const struct share &share)
{
    struct winner best = winner_none();
    Scores scores;
    if (!scores.begin(share)) {
        best.second = SECOND_ODD;
        return best;
    }
    const uint32_t columns = 4 * FUSED_UNROLL * blockDim.x;
    const uint32_t rounds = (share.end - share.begin + columns - 1) / columns;
    uint32_t meet = 1;
    for (uint32_t round = 0; round < rounds; round++) {
        struct four value[FUSED_UNROLL];
        uint32_t first[FUSED_UNROLL];
        CUDA_UNROLL(FUSED_UNROLL)
        for (uint32_t u = 0; u < FUSED_UNROLL; u++) {
            first[u] = share.begin + round * columns + 4 * (u * blockDim.x + threadIdx.x);
            value[u] = row_four<DTYPE>(share.row, first[u], share.vocab, share.whole);
        }
        CUDA_UNROLL(FUSED_UNROLL)
        for (uint32_t u = 0; u < FUSED_UNROLL; u++)
            if (first[u] < share.end)
                four_add<Rule>(&best, &scores, value[u], first[u], share);
        if (round + 1 == meet && meet < rounds) {
            meet *= 4;
            scores.found(block_combine<larger>(best.score));
        }
    }
    return best;
}

/* The same without noise. */
template <class Rule, int DTYPE> __device__ static struct winner share_heaviest(const struct share &share)
{
    struct winner best = winner_none();
    for (uint32_t first = share.begin + 4 * threadIdx.x; first < share.end; first += 4 * blockDim.x) {
        const struct four value = row_four<DTYPE>(share.row, first, share.vocab, share.whole);
        for (uint32_t j = 0; j < 4; j++)
            if (first + j < share.end)
                winner_add(&best, Rule::score(value.x[j]), first + j);
    }
    return best;
}

/* Whether this is the last block of its draw; if so, *best is the winner of all of them. A counter goes back to 0,
 * for the next launch. */
__device__ static bool splits_meet(const struct cuda_workspace &workspace, uint32_t draw, uint32_t splits,
                                   uint32_t split, struct winner *best)
{
    CUDA_SHARED(uint32_t, last, 1);
    struct winner *const partial = (struct winner *)workspace.winners + (size_t)draw * splits;
    if (threadIdx.x == 0) {
        if (DEFECT(DEFECT_TIE_TO_LAST_BLOCK))
            best->id = ~best->id;
        partial[split] = *best;
        __threadfence(); /* the winner is there before the counter says so */
        last[0] = atomicAdd(&workspace.counters[draw], 1u) == splits - 1;
        __threadfence(); /* the others' winners are read after the counter */
    }
    __syncthreads();
    if (!last[0])
        return false;
    *best = winner_none();
    for (uint32_t s = threadIdx.x; s < splits; s += blockDim.x)
        *best = winner_of(*best, partial[s]);
    *best = block_winner(*best);
    if (DEFECT(DEFECT_TIE_TO_LAST_BLOCK))
        best->id = ~best->id;
    if (threadIdx.x == 0 && !DEFECT(DEFECT_COUNTER_LEFT))
        workspace.counters[draw] = 0;
    return true;
}

/* Whether near scores decide. */
__device__ static bool winner_certain(const struct winner &best)
{
    if (best.second == SECOND_ODD || !best.score)
        return false;
    const float score = ordered_inverse((uint32_t)best.score);
    if (!(fabsf(score) < 0x1p100f)) /* logits / temperature may overflow in one way and not in another */
        return false;
    return !best.second || ordered_inverse(best.second) < kernel_subtract(score, near_margin(score)) ||
           DEFECT(DEFECT_NEAR_TIES_TRUSTED);
}

/* The token by the definition, for a row that one reading did not decide: out of line, to keep its registers
 * out of the loop. */
template <class Rule>
__device__ __noinline__ static int32_t token_again(const struct cuda_draws &call, const void *row,
                                                   const struct share &share)
{
    row_view<true> view = {row, call.dtype, share.vocab, share.temperature, 0, 0};
    view.prepare();
    return token_exact<Rule>(view, {share.key, nullptr});
}

/* SOFTMAX: the values are logits, and the rule wants probabilities. */
template <class Rule, bool SOFTMAX, int DTYPE>
__global__ static void __launch_bounds__(WARP *FUSED_WARPS, FUSED_BLOCKS)
    fused_kernel(const struct cuda_draws call, const uint32_t splits)
{
    const uint32_t draw = blockIdx.x / splits, split = blockIdx.x % splits;
    const int64_t index = call.row_index ? call.row_index[draw] : 0;
    const float temperature = call.temperature ? call.temperature[draw] : 1.0f;
    const bool valid = index >= 0 && index < call.rows && kernel_weight_valid(temperature);
    struct winner best = winner_none();
    struct share share = {};
    if (valid) { /* the same in all threads of the draw */
        const uint32_t fours = ((uint32_t)call.vocab + 3) / 4, part = 4 * ((fours + splits - 1) / splits);
        share.row = row_start(call, index);
        share.vocab = (uint32_t)call.vocab;
        share.begin = split * part < share.vocab ? split * part : share.vocab;
        share.end = share.vocab - share.begin < part ? share.vocab : share.begin + part;
        share.whole = row_whole<DTYPE>(share.row);
        share.temperature = temperature;
        if constexpr (Rule::noisy) {
            share.key.seed = call.seeds ? (uint64_t)call.seeds[draw] : call.seed;
            share.key.position = call.positions ? (uint64_t)call.positions[draw] : call.first_position + draw;
            share.key.start = Rule::start(share.key.seed, share.key.position);
            if constexpr (SOFTMAX)
                best = share_noisy<Rule, near_scores<Rule>, DTYPE>(share);
            else
                best = share_noisy<Rule, exact_scores<Rule>, DTYPE>(share);
        } else {
            best = share_heaviest<Rule, DTYPE>(share);
        }
    }
    best = block_winner(best);
    if (splits > 1 && !splits_meet(call.workspace, draw, splits, split, &best))
        return;
    int32_t token = winner_token(best);
    if constexpr (SOFTMAX)
        if (valid && !winner_certain(best))
            token = token_again<Rule>(call, share.row, share);
    if (threadIdx.x == 0)
        call.token[draw] = token;
}
#endif
