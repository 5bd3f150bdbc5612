/* vllm_step.c: what becomes of several sequences in vLLM 0.5.0: forks, the rows that penalties count in, and beam
 * search's candidates.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "suite/sut/engines/vllm.h"

static enum engine_preemption preempted(const struct engine_server *server, bool many)
{
    return server->preemption != ENGINE_PREEMPTION_AUTO ? server->preemption
           : many                                       ? ENGINE_SWAP
                                                        : ENGINE_RECOMPUTE;
}

/* Rows are drawn as often as the largest best_of among the step's prompts of the same type, and each group
 * keeps its first; a beam's prompt gives twice its width. The article says that a request with several
 * sequences is swapped; the engine recomputes it once one sequence is left, but for beam search. */
int vllm_forks(enum engine_reading reading, const struct engine_server *server,
               const struct engine_values *requests, size_t count, struct engine_forks *forks,
               struct engine_refusal *refusal)
{
    double most[ENGINE_DRAWS] = {1, 1, 1, 1};
    for (size_t i = 0; i < count; i++) {
        const struct engine_value *best_of = &requests[i].at[ENGINE_BEST_OF];
        char text[32];
        if (!(best_of->kind == ENGINE_INTEGER && best_of->integer >= 1 && best_of->integer <= INT32_MAX))
            return engine_refuse(refusal, 0, "best_of %s is no number of sequences",
                                 engine_python_text(best_of, text, sizeof text));
        double *so_far = &most[vllm_draw_of(&requests[i])];
        *so_far = best_of->number > *so_far ? best_of->number : *so_far;
    }
    for (size_t i = 0; i < count; i++) {
        const enum engine_draw draw = vllm_draw_of(&requests[i]);
        const int64_t best_of = requests[i].at[ENGINE_BEST_OF].integer;
        const bool beam = draw == ENGINE_DRAW_BEAM;
        forks[i] = (struct engine_forks){
            .sequences = best_of,
            .drawn = beam ? 2 * best_of : (int64_t)most[draw],
            .kept = beam ? 2 * best_of : best_of,
            .preempted = preempted(server, best_of > 1),
            .last_preempted = preempted(server, best_of > 1 && (beam || reading != ENGINE_UPSTREAM)),
        };
    }
    return 0;
}

/* `digits` significant bits, exponents from `least`; nearest, ties to even. */
static double rounded(double number, int digits, int least, double most)
{
    const float single = (float)number; /* torch goes by way of float */
    int exponent;
    if (!isfinite(single) || single == 0)
        return single;
    frexp(single, &exponent);
    const int unit = (exponent > least ? exponent : least) - digits;
    const double found = ldexp(nearbyint(ldexp(single, -unit)), unit);
    return fabs(found) > most ? copysign(INFINITY, found) : found;
}

/* Every parameter is a tensor of the logits' type, but top_k, which is int32. In bfloat16 a top_p of 0.999 is 1,
 * and a filter that the flag has opened masks nothing. */
void vllm_tensors(const struct engine_server *server, struct engine_values *values)
{
    struct engine_value *at = values->at;
    if (at[ENGINE_TEMPERATURE].number < VLLM_EPSILON)
        at[ENGINE_TEMPERATURE] = engine_float(1);
    const double top_k = at[ENGINE_TOP_K].number;
    const bool whole = top_k == -1 || top_k > (double)server->vocab;
    at[ENGINE_TOP_K] = engine_integer(whole ? server->vocab : (int64_t)top_k);
    for (enum engine_parameter p = 0; p < ENGINE_PARAMETERS; p++)
        if (p >= ENGINE_SEED)
            at[p].kind = ENGINE_ABSENT;
        else if (p != ENGINE_TOP_K)
            at[p] = engine_float(server->logits == ENGINE_BF16  ? rounded(at[p].number, 8, -125, 0x1.fep127)
                                 : server->logits == ENGINE_F16 ? rounded(at[p].number, 11, -13, 65504)
                                                                : (float)at[p].number);
}

/* Token lists are gathered in the loop that finds out whether any group wants penalties, and only once one
 * does: the groups before it have rows of logits and no rows of tokens, so every list lies that many rows too
 * early, and the last rows have none. Later releases gather them afterwards. */
bool vllm_penalty_rows(const struct engine_group *groups, size_t count, bool fixed, size_t *used)
{
    size_t rows = 0, sequence = 0, lists = 0;
    bool penalties = false;
    for (size_t g = 0; g < count; g++)
        penalties |= groups[g].flags.need_penalties;
    bool gathers = fixed && penalties;
    for (size_t g = 0; g < count; g++) {
        gathers |= groups[g].flags.need_penalties;
        for (size_t i = 0; i < groups[g].prompt_rows + groups[g].sequences; i++, rows++) {
            const bool own = i >= groups[g].prompt_rows;
            if (gathers)
                used[lists++] = own ? sequence : ENGINE_NO_ROW;
            sequence += own;
        }
    }
    while (lists < rows)
        used[lists++] = ENGINE_NO_ROW;
    return penalties;
}

int vllm_candidates(const float *logprobs, const float *cumulative, size_t sequences, size_t vocab,
                    size_t best_of, int64_t *parent, int64_t *token)
{
    const size_t wanted = 2 * best_of;
    if (wanted > sequences * vocab)
        return -1;
    /* The lists are short and the rows wide: insertion from the end. Score and index of the candidate found
     * are read back from `parent` and `token`. */
    for (size_t found = 0, i = 0; i < sequences * vocab; i++) {
        const float score = logprobs[i] + (cumulative ? cumulative[i / vocab] : 0);
        size_t place = found;
        for (; place > 0; place--) {
            const size_t other = (size_t)parent[place - 1] * vocab + (size_t)token[place - 1];
            const float its = logprobs[other] + (cumulative ? cumulative[other / vocab] : 0);
            if (!(score > its))
                break;
            if (place < wanted) {
                parent[place] = parent[place - 1];
                token[place] = token[place - 1];
            }
        }
        if (place < wanted) {
            parent[place] = (int64_t)(i / vocab);
            token[place] = (int64_t)(i % vocab);
            found += found < wanted;
        }
    }
    return 0;
}
