/* engines.c: the list of mutants of SGLang, and the way to any engine mutant.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/engines.h"

#include <string.h>

static const struct engine_mutant mutants[] = {
    {.about = {"clean-engine", .sentence = "The unbroken engine: SGLang 0.5.20.", .published = "none"}},
    {.about = {"greedy-or", MUTANT_ROUTING, "predicate.path", "card/path",
               "Requests taken together are greedy if one of them is: sampled neighbours get the argmax.",
               "batch-param-leak: https://github.com/sgl-project/sglang/pull/6055", NULL},
     .replace.together = mutant_greedy_or},
    {.about = {"greedy-kept", MUTANT_ROUTING, "predicate.history", "card/history",
               "A running batch that was greedy stays so whoever joins it.",
               "batch-param-leak: https://github.com/sgl-project/sglang/pull/6055", NULL},
     .replace.join = mutant_greedy_kept},
    {.about = {"last-admitted", MUTANT_ROUTING, "predicate.history", "card/history",
               "A prefill batch takes the path of the request admitted last.",
               "batch-param-leak: https://github.com/EvolvingLMMs-Lab/lmms-eval/issues/1325", NULL},
     .replace.admit = mutant_last_admitted},
    {.about = {"one-side", MUTANT_ROUTING, "predicate.path", "card/path",
               "Of two requests joined, only the first one's filters count.",
               "mixed-batch: https://github.com/vllm-project/vllm/pull/14301", NULL},
     .replace.together = mutant_one_side},
    {.about = {"recomputed", MUTANT_ROUTING, "predicate.history", "card/history",
               "A batch forgets the filters of requests that left it, which the engine remembers.",
               "mixed-batch: https://github.com/sgl-project/sglang/pull/38117", NULL},
     .replace.state = mutant_recomputed},
    {.about = {"never-fresh", MUTANT_ROUTING, "predicate.history", "card/history",
               "A batch remembers filters from before it was empty: one filtered request, and no later one "
               "is fast.",
               "batch-param-leak: https://github.com/sgl-project/sglang/pull/29795", NULL},
     .replace.join = mutant_never_fresh},
    {.about = {"float-flags", MUTANT_ROUTING, "predicate.path", "card/path",
               "Whether anything filters is tested on parameters rounded to fp32.",
               "boundary: https://github.com/vllm-project/vllm/pull/890", NULL},
     .replace.flags = mutant_float_flags},
    {.about = {"top-k-one", MUTANT_ROUTING, "predicate.path", "card/path",
               "top_k = 1 is drawn through the filters, where ties survive, and not taken for greedy.",
               "ties: https://github.com/vllm-project/vllm/pull/41598", NULL},
     .replace.flags = mutant_top_k_one},
    {.about = {"greedy-no-need", MUTANT_ROUTING, "predicate.path", "card/path",
               "A greedy request asks nothing of its batch: among sampled neighbours it is sampled.",
               "sentinel-drift: https://github.com/vllm-project/vllm-ascend/pull/5417", NULL},
     .replace.flags = mutant_greedy_needs_nothing},
    {.about = {"switch-off", MUTANT_ROUTING, "predicate.path", "card/path",
               "The switch's text \"off\" turns it off, which the engine only warns of.",
               "switch-spelling: https://github.com/sgl-project/sglang/pull/38117", NULL},
     .replace.path = mutant_switch_off},
    {.about = {"seed-dropped", MUTANT_ROUTING, "predicate.path", "card/path",
               "A filtered batch of a deterministic server is drawn without seeds.",
               "param-ignored: https://github.com/sgl-project/sglang/pull/35697", NULL},
     .replace.path = mutant_seed_dropped_filtered},
    {.about = {"empty-batch", MUTANT_ROUTING, "predicate.path", "card/path",
               "A batch without requests has a path.", "degenerate batch: a step on nothing", NULL},
     .replace.path = mutant_empty_batch},
    {.about = {"epsilon-closed", MUTANT_ROUTING, "predicate.path", "card/path",
               "A temperature of exactly 1e-6 is greedy.",
               "boundary: https://github.com/vllm-project/vllm/pull/890", NULL},
     .replace.normalize = mutant_epsilon_closed},
    {.about = {"model-over-request", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "The model's file wins over what the request says.",
               "config-merge: https://github.com/vllm-project/vllm/issues/15241", NULL},
     .replace.resolve = mutant_model_over_request},
    {.about = {"falsy-zero", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "A parameter that is zero counts as not given.",
               "falsy-zero: https://github.com/vllm-project/vllm/pull/11164", NULL},
     .replace.resolve = mutant_falsy_zero},
    {.about = {"explicit-default", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "A parameter equal to the built-in default counts as not given.",
               "config-merge: https://github.com/huggingface/transformers/pull/36881", NULL},
     .replace.resolve = mutant_explicit_default},
    {.about = {"file-ignored", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "The model's file is not read.",
               "config-merge: https://github.com/Blaizzy/mlx-vlm/issues/1331", NULL},
     .replace.resolve = mutant_file_ignored},
    {.about = {"top-k-unset", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "top_k is 1 where nobody set it.",
               "param-sentinel: https://github.com/vllm-project/tpu-inference/issues/1386", NULL},
     .replace.resolve = mutant_top_k_unset},
    {.about = {"leaky-defaults", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "The defaults are handed out uncloned: a request finds in them what the one before it set.",
               "config-merge: https://github.com/EleutherAI/lm-evaluation-harness/pull/3160", NULL},
     .replace.resolve = mutant_leaky_defaults},
    {.about = {"repetition-lost", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "repetition_penalty is not among the keys read from the model's file.",
               "config-merge: https://github.com/EleutherAI/lm-evaluation-harness/pull/3160", NULL},
     .replace.resolve = mutant_repetition_lost},
    {.about = {"builtin-filters", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "The built-in defaults filter: top_k 40, top_p 0.95, repetition_penalty 1.05.",
               "config-merge: https://github.com/kekzl/imp/issues/1596", NULL},
     .replace.resolve = mutant_builtin_not_neutral},
    {.about = {"null-is-value", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "A null reaches the engine as a value.",
               "null: https://github.com/sgl-project/sglang/issues/39096", NULL},
     .replace.resolve = mutant_null_is_value},
    {.about = {"coerced", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "Numbers in strings are read on an endpoint that refuses them.",
               "wrong-type: https://github.com/sgl-project/sglang/issues/39096", NULL},
     .replace.resolve = mutant_coerced},
    {.about = {"file-everywhere", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "/v1/completions reads the model's file as chat does.",
               "config-merge: https://github.com/sgl-project/sglang/pull/11304", NULL},
     .replace.resolve = mutant_file_everywhere},
    {.about = {"preferred-first", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "The operator's preferred parameters win over the request's.",
               "config-merge: https://github.com/sgl-project/sglang/pull/39201", NULL},
     .replace.resolve = mutant_preferred_over_request},
    {.about = {"seed-lost", MUTANT_CONFIG, "defaults.effective", "card/effective",
               "/v1/completions drops the seed.",
               "seed-ignored: https://github.com/sgl-project/sglang/issues/15481", NULL},
     .replace.resolve = mutant_seed_lost},
    {.about = {"top-k-below-one", MUTANT_CONFIG, "defaults.normalize", "card/normalize",
               "A top_k of 0 or below becomes 1.",
               "param-sentinel: https://github.com/abetlen/llama-cpp-python/issues/220", NULL},
     .replace.normalize = mutant_top_k_below_one},
    {.about = {"epsilon-float", MUTANT_CONFIG, "defaults.normalize", "card/normalize",
               "The greedy threshold is compared in fp32: just below it is sampled.",
               "boundary: https://github.com/vllm-project/vllm/pull/890", NULL},
     .replace.normalize = mutant_epsilon_float},
    {.about = {"open-penalties", MUTANT_CONFIG, "defaults.normalize", "card/normalize",
               "Penalties of exactly -2 and 2 are refused.",
               "boundary: https://github.com/vllm-project/vllm/pull/890", NULL},
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
    PLANT(state);
    PLANT(forks);
    PLANT(tensors);
    PLANT(draw);
    PLANT(penalty_rows);
    PLANT(candidates);
#undef PLANT
    return &planted;
}
