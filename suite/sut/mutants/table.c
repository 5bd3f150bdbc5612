/* table.c: the one list of mutants.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

const struct mutant mutant_table[] = {
    {.about = {"clean", .sentence = "The unbroken race: the reference's tokens.", .published = "none"}},
    {.about = {"grid24", MUTANT_STATISTICS, "equivalence.tail", "gate/gap-18.5",
               "Exp(1) noise on a grid of 2^-24, never below it: rare tokens lose their share.",
               "tail-resolution: https://github.com/vllm-project/vllm/pull/43150"},
     .coarse_noise = true},
    {.about = {"short-noise", MUTANT_STATISTICS, "equivalence.rank", "quick/zipf-257",
               "The noise is made from uniforms of 8 bits: scores tie, and light ids lose.",
               "low-precision: https://github.com/jax-ml/jax/issues/30879"},
     .noise = mutant_short_noise},
    {.about = {"cdf32", MUTANT_STATISTICS, "equivalence.edge", "gate/flat-128256",
               "Inverse CDF on a sequential fp32 sum, u against 1, a miss goes to the last id.",
               "cdf-accumulation: https://github.com/pytorch/pytorch/issues/43115"},
     .weights = mutant_cdf32_sums,
     .choose = mutant_cdf32},
    {.about = {"warm", MUTANT_STATISTICS, "equivalence.contrast", "gate/zipf-1000",
               "The temperature is 1 % too high.",
               "low-precision: a parameter rounded on its way to the kernel"},
     .temperature = mutant_warm},
    {.about = {"last-id", MUTANT_ROBUSTNESS, "equivalence.token", "gate/zipf-1000",
               "The last id of a row is never drawn.", "tail-tile: a loop that ends one short"},
     .weights = mutant_last_id},
    {.about = {"stale-position", MUTANT_STATISTICS, "equivalence.batch", "gate/zipf-257",
               "The noise advances with the call, not with the draw: the rows of a batch share it.",
               "row-correlation: https://github.com/vllm-project/vllm/issues/50440"},
     .noise = mutant_stale_position},
    {.about = {"weyl", MUTANT_STATISTICS, "equivalence.regularity", "gate/uniform-20",
               "Noise as a linear map of (seed, position, column): counts are too regular.",
               "hash-quality: https://github.com/sgl-project/sglang/issues/10938"},
     .noise = mutant_weyl},
    {.about = {"leak-masked", MUTANT_STATISTICS, "equivalence.support", "quick/masked-1000",
               "One draw in a thousand gives an id of probability zero, where the row has one.",
               "zero-prob-endpoint: https://github.com/vllm-project/vllm-metal/pull/629"},
     .answer = mutant_leak_masked},
    {.about = {"id-drift", MUTANT_STATISTICS, "equivalence.id", "gate/flat-151936",
               "One token in eight of the upper half of the ids slips down by half the vocabulary.",
               "ties: lower indices favoured"},
     .answer = mutant_id_drift},
    {.about = {"ripple", MUTANT_STATISTICS, "equivalence.fine", "gate/zipf-1000",
               "Beyond the 40 heaviest, neighbours in weight trade a tenth of it in turn.",
               "cdf-accumulation: https://github.com/flashinfer-ai/flashinfer/pull/225"},
     .weights = mutant_ripple},
    {.about = {"bf16-weights", MUTANT_STATISTICS, "agreement.near-tie", "gate/shared-noise-257",
               "Weights are rounded to bf16 before the race.",
               "low-precision: https://github.com/InternLM/lmdeploy/pull/1239"},
     .weights = mutant_bf16_weights},
};
const size_t mutant_count = sizeof mutant_table / sizeof *mutant_table;

const struct mutant_about *mutant_about(size_t index)
{
    return index < mutant_count ? &mutant_table[index].about : NULL;
}
