/* engines.c: the list of mutants of SGLang, and the way to any engine mutant.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/engines.h"

#include <string.h>

static const struct engine_mutant mutants[] = {
    {.about.id = "clean-engine",
     .about.sentence = "The unbroken engine: SGLang 0.5.20.",
     .about.published = "none"},
    {MUTANT_ABOUT("greedy-or", ROUTING, "predicate.path", "card/path",
                  "Requests taken together are greedy if one of them is: sampled neighbours get the argmax.",
                  "batch-param-leak: https://github.com/sgl-project/sglang/pull/6055"),
     .replace.together = mutant_greedy_or},
    {MUTANT_ABOUT("greedy-kept", ROUTING, "predicate.history", "card/history",
                  "A running batch that was greedy stays so whoever joins it.",
                  "batch-param-leak: https://github.com/sgl-project/sglang/pull/6055"),
     .replace.join = mutant_greedy_kept},
    {MUTANT_ABOUT("last-admitted", ROUTING, "predicate.history", "card/history",
                  "A prefill batch takes the path of the request admitted last.",
                  "batch-param-leak: https://github.com/EvolvingLMMs-Lab/lmms-eval/issues/1325"),
     .replace.admit = mutant_last_admitted},
    {MUTANT_ABOUT("one-side", ROUTING, "predicate.path", "card/path",
                  "Of two requests joined, only the first one's filters count.",
                  "mixed-batch: https://github.com/vllm-project/vllm/pull/14301"),
     .replace.together = mutant_one_side},
    {MUTANT_ABOUT("recomputed", ROUTING, "predicate.history", "card/history",
                  "A batch forgets the filters of requests that left it, which the engine remembers.",
                  "mixed-batch: https://github.com/sgl-project/sglang/pull/38117"),
     .replace.state = mutant_recomputed},
    {MUTANT_ABOUT(
         "never-fresh", ROUTING, "predicate.history", "card/history",
         "A batch remembers filters from before it was empty: one filtered request, and no later one "
         "is fast.",
         "batch-param-leak: https://github.com/sgl-project/sglang/pull/29795"),
     .replace.join = mutant_never_fresh},
    {MUTANT_ABOUT("float-flags", ROUTING, "predicate.path", "card/path",
                  "Whether anything filters is tested on parameters rounded to fp32.",
                  "boundary: https://github.com/vllm-project/vllm/pull/890"),
     .replace.flags = mutant_float_flags},
    {MUTANT_ABOUT("top-k-one", ROUTING, "predicate.path", "card/path",
                  "top_k = 1 is drawn through the filters, where ties survive, and not taken for greedy.",
                  "ties: https://github.com/vllm-project/vllm/pull/41598"),
     .replace.flags = mutant_top_k_one},
    {MUTANT_ABOUT("greedy-no-need", ROUTING, "predicate.path", "card/path",
                  "A greedy request asks nothing of its batch: among sampled neighbours it is sampled.",
                  "sentinel-drift: https://github.com/vllm-project/vllm-ascend/pull/5417"),
     .replace.flags = mutant_greedy_needs_nothing},
    {MUTANT_ABOUT("switch-off", ROUTING, "predicate.path", "card/path",
                  "The switch's text \"off\" turns it off, which the engine only warns of.",
                  "switch-spelling: https://github.com/sgl-project/sglang/pull/38117"),
     .replace.path = mutant_switch_off},
    {MUTANT_ABOUT("seed-dropped", ROUTING, "predicate.path", "card/path",
                  "A filtered batch of a deterministic server is drawn without seeds.",
                  "param-ignored: https://github.com/sgl-project/sglang/pull/35697"),
     .replace.path = mutant_seed_dropped_filtered},
    {MUTANT_ABOUT("empty-batch", ROUTING, "predicate.path", "card/path",
                  "A batch without requests has a path.", "degenerate batch: a step on nothing"),
     .replace.path = mutant_empty_batch},
    {MUTANT_ABOUT("epsilon-closed", ROUTING, "predicate.path", "card/path",
                  "A temperature of exactly 1e-6 is greedy.",
                  "boundary: https://github.com/vllm-project/vllm/pull/890"),
     .replace.normalize = mutant_epsilon_closed},
    {MUTANT_ABOUT("mix-forgets", ROUTING, "predicate.history", "card/history",
                  "A mixed chunk forgets the filters of the batch that it takes along.",
                  "mixed-batch: https://github.com/sgl-project/sglang/pull/38117"),
     .replace.mix = mutant_mix_forgets},
    {MUTANT_ABOUT(
         "noise-by-id", ROUTING, "predicate.path", "card/path",
         "A filtered seeded draw makes its noise for the token's id, where the engine takes the rank.",
         "rank-vs-id: https://github.com/sgl-project/sglang/pull/35697"),
     .replace.path = mutant_noise_by_id},
    {MUTANT_ABOUT("ascend-race", ROUTING, "predicate.path", "card/path",
                  "The plain draw of the ascend backend is the race, which the engine left out there.",
                  "partial-rollout: https://github.com/sgl-project/sglang/pull/38117"),
     .replace.path = mutant_ascend_race},
    {MUTANT_ABOUT("ascend-min-p", ROUTING, "predicate.path", "card/path",
                  "min_p is drawn behind ascend's kernel, where the engine's step fails.",
                  "kernel-crash: a pair taken for a tensor, as seen in the released wheels"),
     .replace.path = mutant_ascend_min_p},
    {MUTANT_ABOUT(
         "every-round", ROUTING, "predicate.history", "card/history",
         "Requests that have ended leave before a prefill batch is adopted: it starts afresh too early.",
         "mixed-batch: https://github.com/sgl-project/sglang/pull/38117"),
     .replace.join = mutant_every_round},
    {MUTANT_ABOUT("draft-unswitched", ROUTING, "predicate.path", "card/path",
                  "The switch does not reach the draft sampler.",
                  "switch-scope: https://github.com/sgl-project/sglang/pull/38117"),
     .replace.path = mutant_draft_unswitched},
    {MUTANT_ABOUT("greedy-seed", ROUTING, "predicate.path", "card/path",
                  "A seed that int64 does not hold passes in a batch that is greedy.",
                  "seed-overflow: https://github.com/sgl-project/sglang/issues/15481"),
     .replace.path = mutant_greedy_seed},
    {MUTANT_ABOUT("pytorch-forced", ROUTING, "predicate.path", "card/path",
                  "Deterministic inference forces the pytorch backend on ascend too.",
                  "param-ignored: https://github.com/sgl-project/sglang/issues/33695"),
     .replace.path = mutant_pytorch_forced},
    {MUTANT_ABOUT("model-over-request", CONFIG, "defaults.effective", "card/effective",
                  "The model's file wins over what the request says.",
                  "config-merge: https://github.com/vllm-project/vllm/issues/15241"),
     .replace.resolve = mutant_model_over_request},
    {MUTANT_ABOUT("falsy-zero", CONFIG, "defaults.effective", "card/effective",
                  "A parameter that is zero counts as not given.",
                  "falsy-zero: https://github.com/vllm-project/vllm/pull/11164"),
     .replace.resolve = mutant_falsy_zero},
    {MUTANT_ABOUT("explicit-default", CONFIG, "defaults.effective", "card/effective",
                  "A parameter equal to the built-in default counts as not given.",
                  "config-merge: https://github.com/huggingface/transformers/pull/36881"),
     .replace.resolve = mutant_explicit_default},
    {MUTANT_ABOUT("file-ignored", CONFIG, "defaults.effective", "card/effective",
                  "The model's file is not read.",
                  "config-merge: https://github.com/Blaizzy/mlx-vlm/issues/1331"),
     .replace.resolve = mutant_file_ignored},
    {MUTANT_ABOUT("top-k-unset", CONFIG, "defaults.effective", "card/effective",
                  "top_k is 1 where nobody set it.",
                  "param-sentinel: https://github.com/vllm-project/tpu-inference/issues/1386"),
     .replace.resolve = mutant_top_k_unset},
    {MUTANT_ABOUT("leaky-defaults", CONFIG, "defaults.effective", "card/effective",
                  "The defaults are handed out uncloned: a request finds in them what the one before it set.",
                  "config-merge: https://github.com/EleutherAI/lm-evaluation-harness/pull/3160"),
     .replace.resolve = mutant_leaky_defaults},
    {MUTANT_ABOUT("repetition-lost", CONFIG, "defaults.effective", "card/effective",
                  "repetition_penalty is not among the keys read from the model's file.",
                  "config-merge: https://github.com/EleutherAI/lm-evaluation-harness/pull/3160"),
     .replace.resolve = mutant_repetition_lost},
    {MUTANT_ABOUT("builtin-filters", CONFIG, "defaults.effective", "card/effective",
                  "The built-in defaults filter: top_k 40, top_p 0.95, repetition_penalty 1.05.",
                  "config-merge: https://github.com/kekzl/imp/issues/1596"),
     .replace.resolve = mutant_builtin_not_neutral},
    {MUTANT_ABOUT("null-is-value", CONFIG, "defaults.effective", "card/effective",
                  "A null reaches the engine as a value.",
                  "null: https://github.com/sgl-project/sglang/issues/39096"),
     .replace.resolve = mutant_null_is_value},
    {MUTANT_ABOUT("coerced", CONFIG, "defaults.effective", "card/effective",
                  "Numbers in strings are read on an endpoint that refuses them.",
                  "wrong-type: https://github.com/sgl-project/sglang/issues/39096"),
     .replace.resolve = mutant_coerced},
    {MUTANT_ABOUT("file-everywhere", CONFIG, "defaults.effective", "card/effective",
                  "/v1/completions reads the model's file as chat does.",
                  "config-merge: https://github.com/sgl-project/sglang/pull/11304"),
     .replace.resolve = mutant_file_everywhere},
    {MUTANT_ABOUT("preferred-first", CONFIG, "defaults.effective", "card/effective",
                  "The operator's preferred parameters win over the request's.",
                  "config-merge: https://github.com/sgl-project/sglang/pull/39201"),
     .replace.resolve = mutant_preferred_over_request},
    {MUTANT_ABOUT("seed-lost", CONFIG, "defaults.effective", "card/effective",
                  "/v1/completions drops the seed.",
                  "seed-ignored: https://github.com/sgl-project/sglang/issues/15481"),
     .replace.resolve = mutant_seed_lost},
    {MUTANT_ABOUT("class-defaults", CONFIG, "defaults.effective", "card/effective",
                  "A file that does not name top_k comes out with the library's 50.",
                  "config-merge: https://github.com/sgl-project/sglang/issues/11574"),
     .replace.resolve = mutant_class_defaults},
    {MUTANT_ABOUT("unknown-dropped", CONFIG, "defaults.effective", "card/effective",
                  "/generate drops members that it does not know, where the engine refuses the request.",
                  "unknown-key: https://github.com/sgl-project/sglang/issues/39096"),
     .replace.check_fields = mutant_unknown_dropped},
    {MUTANT_ABOUT("stops-uncounted", CONFIG, "defaults.effective", "card/effective",
                  "/v1/responses takes any number of stop strings, where the engine takes 32.",
                  "boundary: a limit that only some endpoints pass on, as seen in the released wheels"),
     .replace.check_fields = mutant_stops_uncounted},
    {MUTANT_ABOUT("always-normalized", CONFIG, "defaults.effective", "card/effective",
                  "A client's is_normalized has no effect.",
                  "internal-field: a client sets what the engine sets"),
     .replace.check_fields = mutant_always_normalized},
    {MUTANT_ABOUT("lengths-first", CONFIG, "defaults.effective", "card/effective",
                  "Lengths and grammars are checked before the ranges: another error of two is told.",
                  "error-order: the first of several errors"),
     .replace.check_fields = mutant_lengths_first},
    {MUTANT_ABOUT("fields-unchecked", CONFIG, "defaults.effective", "card/effective",
                  "Lengths, biases and grammars go unchecked on the OpenAI endpoints.",
                  "unchecked: https://github.com/sgl-project/sglang/issues/39096"),
     .replace.check_fields = mutant_fields_unchecked},
    {MUTANT_ABOUT("one-status", CONFIG, "defaults.effective", "card/effective",
                  "A failed comparison is a server error on responses as on chat.",
                  "status: https://github.com/sgl-project/sglang/issues/39096"),
     .replace.status = mutant_one_status},
    {MUTANT_ABOUT("top-k-below-one", CONFIG, "defaults.normalize", "card/normalize",
                  "A top_k of 0 or below becomes 1.",
                  "param-sentinel: https://github.com/abetlen/llama-cpp-python/issues/220"),
     .replace.normalize = mutant_top_k_below_one},
    {MUTANT_ABOUT("epsilon-float", CONFIG, "defaults.normalize", "card/normalize",
                  "The greedy threshold is compared in fp32: just below it is sampled.",
                  "boundary: https://github.com/vllm-project/vllm/pull/890"),
     .replace.normalize = mutant_epsilon_float},
    {MUTANT_ABOUT("open-penalties", CONFIG, "defaults.normalize", "card/normalize",
                  "Penalties of exactly -2 and 2 are refused.",
                  "boundary: https://github.com/vllm-project/vllm/pull/890"),
     .replace.verify = mutant_open_penalties},
};
#define MUTANTS (sizeof mutants / sizeof *mutants)

const struct mutant_about *engine_mutant_about(size_t index)
{
    return index < MUTANTS ? &mutants[index].about : NULL;
}

/* The row of this id, in its table. */
static const struct engine_mutant *named(const struct engine_mutant *rows, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].about.id, id) == 0)
            return &rows[i];
    return NULL;
}

const struct engine *samplegate_engine(const char *id)
{
    static struct engine planted;
    const struct engine_mutant *mutant = named(mutants, MUTANTS, id);
    planted = sglang_0_5_20;
    if (!mutant) {
        mutant = named(vllm_mutants, vllm_mutant_count, id);
        planted = vllm_0_5_0;
    }
    if (!mutant)
        return NULL;
#define PLANT(function)                                                                                      \
    if (mutant->replace.function)                                                                            \
    planted.function = mutant->replace.function
    PLANT(resolve);
    PLANT(normalize);
    PLANT(verify);
    PLANT(flags);
    PLANT(together);
    PLANT(path);
    PLANT(admit);
    PLANT(join);
    PLANT(mix);
    PLANT(state);
    PLANT(forks);
    PLANT(tensors);
    PLANT(draw);
    PLANT(penalty_rows);
    PLANT(candidates);
    PLANT(check_fields);
    PLANT(status);
#undef PLANT
    return &planted;
}
