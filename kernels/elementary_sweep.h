/* elementary_sweep.h: every input of the elementary maps by number, and one hash of all outputs; for tests.
 *
 * A hash is the sum modulo 2^64 of a mix of (input bits, output bits), so it does not depend on order or
 * blocks. The pinned ones are in golden/kat/elementary.txt; the common subset of C11 and C++17, so that
 * nvcc's host pass can answer too. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_ELEMENTARY_SWEEP_H
#define SAMPLEGATE_ELEMENTARY_SWEEP_H
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "kernels/exponential.h"

enum sweep_function { SWEEP_EXPONENTIAL, SWEEP_TORCH_EXPONENTIAL, SWEEP_LOG, SWEEP_EXP, SWEEP_COUNT };

/* Name of a function in the pinned file. */
static inline const char *sweep_name(int function)
{
    static const char *const names[SWEEP_COUNT] = {"exponential", "torch_exponential", "log", "exp"};
    return names[function];
}

/* Number of inputs: all 2^32 words; all positive finite floats; all floats from -110 to 110, both zeros. */
static inline uint64_t sweep_inputs(int function)
{
    static const uint64_t inputs[SWEEP_COUNT] = {UINT64_C(1) << 32, UINT64_C(1) << 32, 0x7f7fffffu,
                                                 2 * (uint64_t)0x42dc0001u};
    return inputs[function];
}

/* Bits of input number `index`. */
static inline uint32_t sweep_input(int function, uint64_t index)
{
    const uint32_t low = (uint32_t)index;
    return function == SWEEP_LOG ? low + 1 : function == SWEEP_EXP ? (uint32_t)(index >> 1) | low << 31 : low;
}

static inline uint64_t sweep_mix(uint32_t input, uint32_t output)
{
    uint64_t mixed = ((uint64_t)input << 32 | output) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
    mixed *= UINT64_C(0xbf58476d1ce4e5b9);
    return mixed ^ mixed >> 29;
}

/* One pinned line: "function stride inputs hash misrounded ulp". */
struct sweep_pinned {
    uint64_t inputs, hash, misrounded;
    double ulp; /* bound on the error of any output, in units in the last place */
};

/* 0, or -1 if the file cannot be read or has no such line. */
static inline int sweep_pinned_read(const char *path, int function, uint64_t stride,
                                    struct sweep_pinned *pinned)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    char line[256], name[64];
    int found = -1;
    while (found != 0 && fgets(line, sizeof line, file)) {
        uint64_t line_stride;
        if (sscanf(line, "%63s %" SCNu64 " %" SCNu64 " %" SCNx64 " %" SCNu64 " %lf", name, &line_stride,
                   &pinned->inputs, &pinned->hash, &pinned->misrounded, &pinned->ulp) == 6 &&
            strcmp(name, sweep_name(function)) == 0 && line_stride == stride)
            found = 0;
    }
    fclose(file);
    return found;
}
#endif
