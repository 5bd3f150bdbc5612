/* probes.h: the kernels of probes.cu by name.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_SHIM_PROBES_H
#define SAMPLEGATE_SHIM_PROBES_H
#include <stdint.h>

enum probe {
    PROBE_SHUFFLES, /* out[4 threads]: xor 5; down 3 of 64 bits; lane 7 l mod 32; xor 1 or 2 in half warps */
    PROBE_ROUNDS,   /* out[blocks, threads]: the number of the thread five further round the block */
    PROBE_ATOMICS,  /* out[2 + blocks threads + 1]: a sum, a maximum, and each thread's turn */
    PROBE_FRESH_SHARED, /* out[blocks]: what a block finds in shared memory */
    PROBE_BARRIER_IN_A_BRANCH,
    PROBE_TWO_BARRIERS,
    PROBE_OWN_LANE_LEFT_OUT,
    PROBE_LANE_ENDED,
    PROBE_LANE_AT_BARRIER,
    PROBE_MASKS_DIFFER,
    PROBE_SOURCE_OUTSIDE_MASK,
    PROBE_LANE_NOT_THERE,
    PROBE_PAST_THE_END,
    PROBE_BEFORE_THE_START,
    PROBES
};

#ifdef __cplusplus
extern "C" {
#endif
/* NULL, or what the shim says of the launch. */
const char *shim_probe(enum probe probe, unsigned blocks, unsigned threads, uint32_t *out);
#ifdef __cplusplus
}
#endif
#endif
