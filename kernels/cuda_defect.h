/* cuda_defect.h: what can be planted in the kernels, one defect at a time, in a build of their own; for tests, C and
 * C++. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_CUDA_DEFECT_H
#define SAMPLEGATE_CUDA_DEFECT_H

enum cuda_defect {
    DEFECT_NONE,
    DEFECT_NO_BARRIER_AFTER_WRITE,
    DEFECT_NO_BARRIER_BEFORE_WRITE,
    DEFECT_SHORT_ARRAY,
    DEFECT_TIE_TO_LAST_BLOCK,  /* of equal scores the last block's wins */
    DEFECT_TAIL_SKIPPED,       /* the columns after the last whole vector of a row */
    DEFECT_FILTER_NO_SLACK,    /* candidates must beat the best so far by a quarter */
    DEFECT_NEAR_TIES_TRUSTED,  /* two scores too near to tell apart are told apart */
    DEFECT_COUNTER_LEFT,       /* the blocks of a draw are counted on from the launch before */
    DEFECT_ALLOCATES,          /* a launch that takes memory of its own */
    DEFECT_WAITS,              /* a launch that waits for the device */
    DEFECT_HISTOGRAM_NOT_ZERO, /* a digit's histogram begins with what the last one left */
    DEFECT_TIES_ALL,           /* a cut keeps all of equal weight */
    DEFECT_BOUNDARY,           /* top_p drops an id with exactly p of the mass above it */
    DEFECTS
};
/* Whether it is planted: never, but where CUDA_DEFECTS is defined. */
#ifdef CUDA_DEFECTS
#    ifdef __cplusplus
extern "C" int cuda_defect_planted;
#    endif
#    define DEFECT(which) (cuda_defect_planted == (which))
#else
#    define DEFECT(which) false
#endif
#endif
