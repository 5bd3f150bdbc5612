/* elementary_host.cu: nvcc's host pass over the elementary maps: the hashes it computes against the pinned ones.
 *
 * Usage: elementary_host PINNED-FILE [STRIDE]   (stride 61 by default; 1 is every input)
 * Exit 0 if every hash agrees, 1 if one does not, 2 on bad usage. Runs on the host only: needs nvcc, no GPU.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "kernels/elementary_sweep.h"

static uint32_t output_bits(int function, uint32_t input)
{
    switch (function) {
    case SWEEP_EXPONENTIAL:
        return kernel_bits(exponential_of_word(input));
    case SWEEP_TORCH_EXPONENTIAL:
        return kernel_bits(torch_exponential_of_word(input));
    case SWEEP_LOG:
        return kernel_bits(elementary_log(kernel_float(input)));
    default:
        return kernel_bits(elementary_exp(kernel_float(input)));
    }
}

int main(int argc, char **argv)
{
    const uint64_t stride = argc > 2 ? strtoull(argv[2], NULL, 10) : 61;
    if (argc < 2 || argc > 3 || stride == 0) {
        fprintf(stderr, "usage: elementary_host PINNED-FILE [STRIDE]\n");
        return 2;
    }
    int wrong = 0;
    for (int function = 0; function < SWEEP_COUNT; function++) {
        struct sweep_pinned pinned;
        if (sweep_pinned_read(argv[1], function, stride, &pinned) != 0) {
            fprintf(stderr, "%s: no line for %s with stride %" PRIu64 "\n", argv[1], sweep_name(function), stride);
            return 2;
        }
        uint64_t hash = 0;
        for (uint64_t index = 0; index < sweep_inputs(function); index += stride) {
            const uint32_t input = sweep_input(function, index);
            hash += sweep_mix(input, output_bits(function, input));
        }
        const int agrees = hash == pinned.hash;
        printf("%s %" PRIu64 " %016" PRIx64 " (nvcc host pass) %s\n", sweep_name(function), stride, hash,
               agrees ? "agrees" : "DIFFERS");
        wrong |= !agrees;
    }
    return wrong;
}
