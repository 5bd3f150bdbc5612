/* vllm.c: vLLM 0.5.0: the three flags of a step, its sampling types, and the stages they make run.
 *
 * There is one path, through PyTorch. Which passes over the logits it makes is decided for the whole step by
 * any of its sequence groups. Flags are taken on the parameters as given, in double: 1 + 1e-5 raises the
 * penalties and 1 - 1e-5 does not, because 0.99999 - 1 is just above -1e-5. The article's code is the engine's
 * without the rewriting of top_k above the vocabulary and of greedy requests; its sentences have no epsilons.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/engines/vllm.h"

#include <math.h>

enum engine_draw vllm_draw_of(const struct engine_values *values)
{
    if (engine_is_true(&values->at[ENGINE_USE_BEAM_SEARCH]))
        return ENGINE_DRAW_BEAM;
    if (values->at[ENGINE_TEMPERATURE].number < VLLM_EPSILON)
        return ENGINE_DRAW_GREEDY;
    return engine_is_set(&values->at[ENGINE_SEED]) ? ENGINE_DRAW_RANDOM_SEED : ENGINE_DRAW_RANDOM;
}

/* A cached property: once read it stays, whatever becomes of the values, and a clone takes it along. */
enum engine_draw vllm_draw(struct engine_object *object)
{
    if (!object->known)
        object->draw = vllm_draw_of(&object->values);
    object->known = true;
    return object->draw;
}

/* What a step dies of, in the order in which it comes to it: a generator takes no seed but an integer; top_k NaN
 * or between -1 and 1 is no index into the sorted row; the row is copied a whole number of times. */
static int fits_step(const struct engine_values *values, struct engine_refusal *refusal)
{
    const struct engine_value *top_k = &values->at[ENGINE_TOP_K], *seed = &values->at[ENGINE_SEED],
                              *best_of = &values->at[ENGINE_BEST_OF];
    const bool whole = best_of->kind == ENGINE_INTEGER || best_of->kind == ENGINE_BOOLEAN;
    char text[32];
    if (engine_is_set(seed) && seed->kind != ENGINE_INTEGER)
        return engine_refuse(refusal, 0, "manual_seed expected a long, but got %s", engine_python_type(seed));
    if (isnan(top_k->number) || fabs(top_k->number) < 1)
        return engine_refuse(refusal, 0, "top_k %s is no index into the sorted row",
                             engine_python_text(top_k, text, sizeof text));
    if (!whole && vllm_draw_of(values) != ENGINE_DRAW_GREEDY)
        return engine_refuse(refusal, 0, "best_of %s is no number of sequences",
                             engine_python_text(best_of, text, sizeof text));
    return 0;
}

/* Only the article's readings come here unverified. */
static int are_numbers(const struct engine_values *values, struct engine_refusal *refusal)
{
    for (enum engine_parameter p = 0; p < ENGINE_SEED; p++)
        if (!engine_is_number(&values->at[p]))
            return engine_refuse(refusal, 0, "%s must be a number, is %s", engine_parameter_names[p],
                                 engine_json_type(&values->at[p]));
    return 0;
}

static bool cuts(enum engine_reading reading, const struct engine_server *server, double top_p, double top_k)
{
    const double vocab = (double)server->vocab;
    if (reading == ENGINE_ARTICLE_PROSE)
        return top_p < 1 || top_k != -1;
    if (top_k == -1 || (reading == ENGINE_UPSTREAM && top_k > vocab))
        top_k = vocab;
    return top_p < 1 - VLLM_EPSILON || top_k != vocab;
}

static bool penalises(enum engine_reading reading, double presence, double frequency, double repetition)
{
    if (reading == ENGINE_ARTICLE_PROSE)
        return presence != 0 || frequency != 0 || repetition != 1;
    return fabs(presence) >= VLLM_EPSILON || fabs(frequency) >= VLLM_EPSILON ||
           fabs(repetition - 1) >= VLLM_EPSILON;
}

static int flags_of(enum engine_reading reading, const struct engine_server *server,
                    const struct engine_values *values, struct engine_flags *flags,
                    struct engine_refusal *refusal)
{
    const struct engine_value *at = values->at;
    if (server->vocab == 0)
        return engine_refuse(refusal, 0, "the flags of a step depend on the vocabulary: say how large it is");
    if (are_numbers(values, refusal) || (reading == ENGINE_UPSTREAM && fits_step(values, refusal)))
        return -1;
    *flags = (struct engine_flags){
        .need_top_p_top_k = cuts(reading, server, at[ENGINE_TOP_P].number, at[ENGINE_TOP_K].number),
        .need_min_p = at[ENGINE_MIN_P].number > (reading == ENGINE_ARTICLE_PROSE ? 0 : VLLM_EPSILON),
        .need_penalties =
            penalises(reading, at[ENGINE_PRESENCE_PENALTY].number, at[ENGINE_FREQUENCY_PENALTY].number,
                      at[ENGINE_REPETITION_PENALTY].number),
    };
    flags->draws[vllm_draw_of(values)] = true;
    return 0;
}

static int path_of(enum engine_reading reading, const struct engine_server *server,
                   const struct engine_flags *flags, size_t rows, struct engine_path *path,
                   struct engine_refusal *refusal)
{
    (void)server;
    if (rows == 0)
        return engine_refuse(refusal, 0, "a batch needs at least one request");
    *path = (struct engine_path){
        .kind = ENGINE_TORCH,
        .stages = {[ENGINE_STAGE_MIN_TOKENS] = true,
                   [ENGINE_STAGE_PENALTIES] = flags->need_penalties,
                   [ENGINE_STAGE_TEMPERATURE] = true,
                   [ENGINE_STAGE_TOP_P_TOP_K] = flags->need_top_p_top_k,
                   [ENGINE_STAGE_MIN_P] = flags->need_min_p,
                   [ENGINE_STAGE_SOFTMAX] = true,
                   [ENGINE_STAGE_SAMPLE] = true,
                   /* The article's steps end with the sample; the engine ranks every row even so. */
                   [ENGINE_STAGE_LOGPROBS] = reading == ENGINE_UPSTREAM}};
    for (int d = 0; d < ENGINE_DRAWS; d++)
        path->draws[d] = flags->draws[d];
    return 0;
}

static const struct engine_flag flag_table[] = {
    {'P', offsetof(struct engine_flags, need_penalties)},
    {'k', offsetof(struct engine_flags, need_top_p_top_k)},
    {'m', offsetof(struct engine_flags, need_min_p)},
    {'G', offsetof(struct engine_flags, draws[ENGINE_DRAW_GREEDY])},
    {'R', offsetof(struct engine_flags, draws[ENGINE_DRAW_RANDOM])},
    {'S', offsetof(struct engine_flags, draws[ENGINE_DRAW_RANDOM_SEED])},
    {'B', offsetof(struct engine_flags, draws[ENGINE_DRAW_BEAM])},
    {0, 0}};

const struct engine vllm_0_5_0 = {
    .size = sizeof(struct engine),
    .name = "vllm-0.5.0",
    .flag = flag_table,
    .staged = true,
    .key = vllm_key,
    .prompts = {[ENGINE_COMPLETIONS] = {"prompt"}},
    .echo = vllm_echo,
    .resolve = vllm_resolve,
    .normalize = vllm_normalize,
    .verify = vllm_verify,
    .status = vllm_status,
    .flags = flags_of,
    .together = vllm_together,
    .path = path_of,
    .admit = vllm_admit,
    .join = vllm_join,
    .filter = engine_batch_filter,
    .state = vllm_state,
    .forks = vllm_forks,
    .tensors = vllm_tensors,
    .draw = vllm_draw,
    .penalty_rows = vllm_penalty_rows,
    .candidates = vllm_candidates,
};
