/* stages.c: the bytes that each stage of a sampling step makes, reads and writes at least. */
#include "suite/cost/stages.h"

const char *const cost_dtype_names[] = {"float16", "bfloat16", "float32", NULL};

struct cost_step cost_step_of(int64_t vocab, enum cost_dtype dtype, const int64_t rows[ENGINE_DRAWS])
{
    struct cost_step step = {.vocab = vocab, .dtype = dtype};
    for (int d = 0; d < ENGINE_DRAWS; d++) {
        step.rows[d] = rows[d];
        step.columns[d] = d == ENGINE_DRAW_BEAM ? 2 : 1;
    }
    return step;
}

int64_t cost_rows(const struct cost_step *step)
{
    int64_t rows = 0;
    for (int d = 0; d < ENGINE_DRAWS; d++)
        rows += step->rows[d];
    return rows;
}

static struct cost_bytes scaled(struct cost_bytes logit, uint64_t logits)
{
    return (struct cost_bytes){logit.tensors * logits, logit.reads * logits, logit.writes * logits};
}

/* How one row's token is chosen. All begin with a copy of the rows of their kind, 4 bytes a logit. */
static struct cost_bytes choice(enum engine_draw draw, uint64_t columns)
{
    switch (draw) {
    case ENGINE_DRAW_GREEDY: /* argmax of the copy */
        return (struct cost_bytes){4, 4 + 4, 4};
    case ENGINE_DRAW_BEAM: /* the sums with what came before, and their top k */
        return (struct cost_bytes){4 + 4, 4 + 4 + 4, 4 + 4};
    default: { /* more than one column: the copy is copied; noise, division in place, argmax */
        const uint64_t copies = columns > 1 ? 4 * columns : 0;
        return (struct cost_bytes){4 + copies + 4 * columns,
                                   4 + 4 * (uint64_t)(columns > 1) + 8 * columns + 4 * columns,
                                   4 + copies + 4 * columns + 4 * columns};
    }
    }
}

/* One top k of all rows; of each token drawn, a copy of its row and which ids are above it. */
static struct cost_bytes ranks(uint64_t columns)
{
    return (struct cost_bytes){5 * columns, 4 + 4 + 4 * columns + columns, 4 * columns + columns};
}

static struct cost_bytes by_draw(const struct cost_step *step, enum engine_stage stage)
{
    struct cost_bytes sum = {0};
    for (enum engine_draw d = 0; d < ENGINE_DRAWS; d++) {
        const uint64_t columns = (uint64_t)step->columns[d], logits = (uint64_t)(step->rows[d] * step->vocab);
        const struct cost_bytes bytes =
            scaled(stage == ENGINE_STAGE_SAMPLE ? choice(d, columns) : ranks(columns), logits);
        sum.tensors += bytes.tensors;
        sum.reads += bytes.reads;
        sum.writes += bytes.writes;
    }
    return sum;
}

struct cost_bytes cost_stage(const struct cost_step *step, enum engine_stage stage)
{
    const uint64_t logits = (uint64_t)(cost_rows(step) * step->vocab),
                   l = step->dtype == COST_FLOAT32 ? 4 : 2;
    switch (stage) {
    case ENGINE_STAGE_PENALTIES:
        /* Twice a zeroed int64 matrix of counts (8) and where it is above 0 (1); of the two masks one, its negation; the
         * repetition penalty repeated to the row's width (L) and reset to 1 outside the mask; the logits' sign, quotient,
         * product and the choice of them; counts times frequency, taken off; mask times presence, taken off. */
        return scaled((struct cost_bytes){2 * 8 + 2 + 1 + 1 + 1 + 6 * l,
                                          2 * 8 + 2 + 1 + (l + 1) + l + 2 * l + 2 * l + (1 + 2 * l) + 8 +
                                              2 * l + 1 + 2 * l,
                                          2 * 8 + 2 + 1 + 1 + l + l + 1 + l + l + l + l + l + l + l},
                      logits);
    case ENGINE_STAGE_TEMPERATURE: /* in place */
        return scaled((struct cost_bytes){0, l, l}, logits);
    case ENGINE_STAGE_TOP_P_TOP_K:
        /* Sort to values (L) and int64 indices (8); which are below the k-th (1), masked in place; softmax (L), running
         * sum (L), which are at most 1 - p (1), masked in place; the inverse of the indices (8); gather (L). */
        return scaled((struct cost_bytes){4 * l + 2 * 8 + 2,
                                          l + l + (l + 1) + l + l + l + (l + 1) + 8 + (8 + l),
                                          (l + 8) + 1 + l + l + l + 1 + l + 8 + l},
                      logits);
    case ENGINE_STAGE_MIN_P: /* softmax, its maximum, which are below, masked in place */
        return scaled((struct cost_bytes){l + 1, l + l + l + (l + 1), l + 1 + l}, logits);
    case ENGINE_STAGE_SOFTMAX: /* both read the logits and write fp32 */
        return scaled((struct cost_bytes){4 + 4, 2 * l, 4 + 4}, logits);
    case ENGINE_STAGE_SAMPLE:
    case ENGINE_STAGE_LOGPROBS:
        return by_draw(step, stage);
    default:
        return (struct cost_bytes){0};
    }
}

uint64_t cost_two_tensors(const struct cost_step *step)
{
    return 8 * (uint64_t)(cost_rows(step) * step->vocab);
}
