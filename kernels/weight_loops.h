/* weight_loops.h: loops over the weights of one row, one table of functions for each instruction set, all with
 * the same results; internal to kernels/ and its tests.
 *
 * Keys: the bit pattern of a weight, positive finite weights being ordered as their patterns are; every other
 * weight is outside all ranges below. SPDX-License-Identifier: MIT */
#ifndef SAMPLEGATE_WEIGHT_LOOPS_H
#define SAMPLEGATE_WEIGHT_LOOPS_H
#include <stddef.h>
#include <stdint.h>

/* A tile is 64 rows of 64 columns; column c of a tile holds its ids c, c + 64, c + 128, ... */
#define WEIGHT_COLUMNS 64
#define WEIGHT_TILE (64 * WEIGHT_COLUMNS)

/* Summed in fp32 down the columns of each tile, 63 additions, each within 2^-24; then in double. */
#ifndef WEIGHT_SUM_ERROR
#    define WEIGHT_SUM_ERROR 0x1p-18
#endif
struct weight_summary {
    float largest; /* 0: no weight is positive and finite */
    double sum;    /* within WEIGHT_SUM_ERROR times itself; may be +inf */
};

struct weight_loops {
    const char *name;
    /* softmax() of softmax.h; not in place. */
    void (*softmax)(const float *logits, size_t vocab, float temperature, float *probability);
    /* largest[64 * tiles]: the largest weight of each column of each tile; 0 if it has none. */
    struct weight_summary (*columns)(const float *weights, size_t vocab, float *largest);
    /* Sum of fixed_point_of(weight, scale) over low < key. scale must put every weight below 2^44. */
    uint64_t (*mass)(const float *weights, size_t vocab, int scale, uint32_t low);
    /* Number of ids with low < key <= high; the first `capacity` of them, ascending, go to id[]. */
    size_t (*find)(const float *weights, size_t vocab, uint32_t low, uint32_t high, uint32_t *id,
                   size_t capacity);
    /* Adds 1, or the weight in units of 2^-scale if in_mass, to bin[(key - low - 1) >> shift] for each low <
     * key <= high. */
    void (*histogram)(const float *weights, size_t vocab, uint32_t low, uint32_t high, int shift, int in_mass,
                      int scale, uint64_t *bin);
    /* kept[vocab] = key > low, and the weights of the others become 0. */
    void (*keep)(float *weights, size_t vocab, uint32_t low, uint8_t *kept);
};

extern const struct weight_loops weight_loops_baseline, weight_loops_avx2, weight_loops_avx512;

/* Those that go with the loops of an instruction set (loops.h); the chosen ones, or baseline if SAMPLEGATE_ISA
 * names none that runs here. */
const struct weight_loops *weight_loops_of(const char *isa);
const struct weight_loops *weight_loops_chosen(void);
#endif
