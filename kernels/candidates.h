/* candidates.h: which columns can win a draw: the exact filter that the vector executor looks through.
 *
 * An id's score grows with the ratio weight / q, q the Exp(1) noise of its word x. With n = 2^32 - 1 - x,
 * q = -ln(1 - v) >= v for v = (n + 1/2) 2^-32, so a ratio of `bound` or more needs n <= 2^32 weight / bound:
 * one comparison, no logarithm and no division. The few columns that pass are scored as rules.h defines. If
 * the best of them reaches the bound, no other column can win or tie; if not, the draw is looked through
 * again under a lower bound.
 *
 * CANDIDATES_WORDS makes up for rounding. torch's grid is 2^-24 = 256 words wide; n and the limit as fp32 lie
 * within 64 and 128 words of what they should be; and as q >= v + v^2 / 2, a relative error d of q, the
 * quotient, the logarithms (1.5e-5 at most in all, for scores of up to 128) and the ratio taken back from a
 * score costs at most max_v 2^32 (v d - v^2 / 2) = 2^31 d^2 words: 1. Bounds stay where no product or quotient
 * that matters overflows or is denormal; a draw that needs a lower one is scored whole.
 * SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CANDIDATES_H
#define SAMPLEGATE_CANDIDATES_H
#include <stddef.h>
#include <stdint.h>

#ifndef CANDIDATES_WORDS /* test_candidates_defect.c plants a filter without */
#    define CANDIDATES_WORDS 1024
#endif
#define CANDIDATES_BOUND_MIN 0x1p-60
#define CANDIDATES_BOUND_MAX 0x1p100

/* One draw. */
struct draw {
    uint64_t seed, position;
    const float *weights; /* [vocab] of its row, in column order */
    double bound;         /* of the ratio, CANDIDATES_BOUND_MIN to CANDIDATES_BOUND_MAX */
    /* The best so far: its score, and the column, the lowest on ties. */
    double best;
    int32_t token;
};

/* A row prepared for many draws: the blocks of four columns with a candidate under some noise, and the limit
 * of each of their columns. */
struct candidates {
    size_t vocab;
    size_t slots;    /* a multiple of CANDIDATES_STEP; the last ones repeat block 0, without limits */
    uint32_t *block; /* [slots] */
    /* [4 slots]: of n - 2^31. A hashed rule's in column order; else in units of LANES blocks (lanes.h), each
     * first the columns 1 and 0 of its blocks, then 3 and 2. */
    int32_t *limit;
};
#define CANDIDATES_STEP 64 /* what every instruction set's step divides */
#endif
