/* stages.h: the bytes that each stage of a sampling step makes, reads and writes at least.
 *
 * Per logit (a row of logits times the vocabulary), with L bytes a logit: as vLLM 0.5.0's operations were logged one by
 * one, each reading its inputs once and writing its result once. No kernel can do with less, as nothing is fused; a sort
 * or a softmax does with more. Of half logits a CPU makes two fp32 copies more before the softmax, a GPU does not; counted is
 * the GPU's way. What only touches single ids (min_tokens, the counting of tokens) is left out. */
#ifndef SAMPLEGATE_COST_STAGES_H
#define SAMPLEGATE_COST_STAGES_H
#include "suite/sut/engines/engine.h"

enum cost_dtype { COST_FLOAT16, COST_BFLOAT16, COST_FLOAT32, COST_DTYPES };
extern const char *const cost_dtype_names[COST_DTYPES + 1];

struct cost_bytes {
    uint64_t tensors; /* made, at the logits' width or more */
    uint64_t reads, writes;
};
struct cost_step {
    int64_t vocab;
    enum cost_dtype dtype;      /* of the logits */
    int64_t rows[ENGINE_DRAWS]; /* of logits, by how their token is chosen */
    int64_t columns
        [ENGINE_DRAWS]; /* drawn from each row: 1; in the step of a prompt the largest best_of of its kind; of a
                                      beam, its candidates a row, 2 */
};

/* One row of each kind draws one token: what a step of decoding is. */
struct cost_step cost_step_of(int64_t vocab, enum cost_dtype dtype, const int64_t rows[ENGINE_DRAWS]);
int64_t cost_rows(const struct cost_step *step);
/* If the stage runs. Of a whole step the caller adds those that do. */
struct cost_bytes cost_stage(const struct cost_step *step, enum engine_stage stage);
/* The published estimate: the two fp32 tensors of the softmax stage, 8 N V. */
uint64_t cost_two_tensors(const struct cost_step *step);
#endif
