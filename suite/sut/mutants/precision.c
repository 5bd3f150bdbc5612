/* precision.c: mutants that round on the way from weights to a token.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/mutants.h"

#include <string.h>

/* To the nearest bf16, ties to even, on the bits. */
static float bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

bool mutant_bf16_weights(float *weight, size_t vocab)
{
    for (size_t i = 0; i < vocab; i++)
        weight[i] = bf16(weight[i]);
    return true;
}
