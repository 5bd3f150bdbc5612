/* chunk.c: one chunk as a request, and its answer checked and counted. */
#include "suite/judge/chunk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sampler.h"
#include "suite/oracle/rounding.h"

const float *chunk_noise(const struct session *session, const struct plan_chunk *chunk, float **room,
                         size_t *values)
{
    const struct plan_cell *cell = &session->plan->cell[chunk->cell];
    if (cell->family != FAMILY_AGREEMENT)
        return NULL;
    const size_t vocab = cell->table->vocab;
    if (*values < chunk->draws * vocab) {
        free(*room);
        *values = chunk->draws * vocab;
        *room = malloc(*values * sizeof **room);
    }
    if (!*room)
        abort();
    for (uint64_t d = 0; d < chunk->draws; d++)
        sampler_noise(chunk->seed, d, vocab, *room + d * vocab);
    return *room;
}

void chunk_request(const struct session *session, const struct plan_chunk *chunk, const float *noise,
                   struct frame *request)
{
    static const enum frame_dtype dtypes[] = {FRAME_F32, FRAME_F16, FRAME_BF16};
    const struct cell_result *result = &session->cell[chunk->cell];
    const struct plan_cell *cell = result->cell;
    uint64_t vocab = cell->table->vocab;
    frame_set(request, "message", "sample");
    frame_set(request, "cell", cell->name);
    frame_set_u64(request, "stage", (uint64_t)chunk->stage);
    frame_set_u64(request, "batch", session->plan->batch[chunk->batch].size);
    frame_set_u64(request, "chunk", chunk->index);
    frame_set_u64(request, "draws", chunk->draws);
    frame_set_u64(request, "seed", chunk->seed);
    frame_set(request, "kind", result->kind == VALUE_LOGITS ? "logits" : "probabilities");
    frame_add(request, "values", dtypes[session->sut.dtype], 2, (uint64_t[]){result->rows, vocab + cell->pad},
              result->bits ? (const void *)result->bits : result->values);
    if (cell->pad)
        frame_set_u64(request, "columns", vocab);
    if (result->row_index)
        frame_add(request, "row_index", FRAME_I32, 1, (uint64_t[]){chunk->draws}, result->row_index);
    if (result->kind == VALUE_LOGITS && cell->temperature != 1)
        frame_add(request, "temperature", FRAME_F64, 1, (uint64_t[]){1}, &cell->temperature);
    request_parameters_add(&result->parameters, request, chunk->draws);
    if (noise)
        frame_add(request, "noise", FRAME_F32, 2, (uint64_t[]){chunk->draws, vocab}, noise);
}

enum cell_state chunk_tokens(const struct session *session, const struct plan_chunk *chunk,
                             const struct frame *answer, const int32_t **tokens, char *why, size_t why_bytes)
{
    const struct plan_cell *cell = &session->plan->cell[chunk->cell];
    const char *message = frame_get(answer, "message"), *text = frame_get(answer, "text");
    if (message && !strcmp(message, "unsupported")) {
        snprintf(why, why_bytes, "unsupported: %s", text ? text : "no reason given");
        return CELL_SKIPPED;
    }
    if (message && !strcmp(message, "error")) {
        snprintf(why, why_bytes, "the worker reports: %s", text ? text : "no reason given");
        return CELL_ERROR;
    }
    if (!message || strcmp(message, "tokens")) {
        snprintf(why, why_bytes, "the worker answered chunk %llu of stage %d by '%.32s', not by tokens",
                 (unsigned long long)chunk->index, chunk->stage, message ? message : "");
        return CELL_ERROR;
    }
    const struct frame_array *array = frame_find(answer, "token");
    if (!array || array->dtype != FRAME_I32 || array->rank != 1 || array->shape[0] != chunk->draws) {
        snprintf(why, why_bytes, "the answer lacks token I32 [%llu]", (unsigned long long)chunk->draws);
        return CELL_ERROR;
    }
    *tokens = array->data;
    for (uint64_t d = 0; d < chunk->draws; d++)
        if ((*tokens)[d] < 0 || (size_t)(*tokens)[d] >= cell->table->vocab) {
            snprintf(why, why_bytes, "token %d of draw %llu is out of range: the row has ids 0 to %zu",
                     (*tokens)[d], (unsigned long long)d, cell->table->vocab - 1);
            return CELL_ERROR;
        }
    return CELL_RAN;
}

/* Every other pair of neighbours in a call, beginning with the other row in every other call; and every other
 * pair of calls, beginning with the other call in every other row: no draw is in two pairs of a kind. */
static void count_pairs(struct cell_counts *counts, const int32_t *tokens, uint64_t draws, uint64_t batch)
{
    for (uint64_t d = 0; d < draws; d++) {
        uint64_t call = d / batch, row = d % batch;
        if ((call + row) % 2)
            continue;
        if (row + 1 < batch && d + 1 < draws) {
            counts->rows.pairs++;
            counts->rows.equal += tokens[d] == tokens[d + 1];
        }
        if (d + batch < draws) {
            counts->calls.pairs++;
            counts->calls.equal += tokens[d] == tokens[d + batch];
        }
    }
}

void chunk_count(struct session *session, const struct plan_chunk *chunk, uint64_t offset,
                 const int32_t *tokens)
{
    struct cell_result *result = &session->cell[chunk->cell];
    struct cell_counts *counts = &result->counts[chunk->stage - 1];
    for (uint64_t d = 0; d < chunk->draws; d++) {
        counts->batch[chunk->batch][tokens[d]]++;
        counts->pooled[tokens[d]]++;
    }
    counts->batch_draws[chunk->batch] += chunk->draws;
    counts->draws += chunk->draws;
    count_pairs(counts, tokens, chunk->draws, session->plan->batch[chunk->batch].size);
    if (result->token && chunk->stage == 1)
        memcpy(result->token + offset, tokens, chunk->draws * sizeof *tokens);
}

void chunk_agree(const struct session *session, const struct plan_chunk *chunk, uint64_t offset,
                 const int32_t *tokens, const float *noise, struct agreement_counts *counts)
{
    const struct cell_result *result = &session->cell[chunk->cell];
    const double *pmf = result->pmf;
    size_t vocab = result->cell->table->vocab;
    counts->rows += chunk->draws;
    double tie_density = law_tie_density(pmf, vocab);
    for (uint64_t d = 0; d < chunk->draws; d++) {
        const float *q = noise + d * vocab;
        struct exact_choice exact = law_choose(pmf, q, vocab);
        int32_t best = exact.token, token = tokens[d];
        if (isfinite(exact.gap)) {
            double bound = law_rounding_between(pmf, q, best, exact.second, result->kind);
            counts->near_ties += exact.gap <= bound;
            counts->expected_e12 += (uint64_t)(1e12 * bound * tie_density);
        }
        if (token == best)
            continue;
        counts->mismatches++;
        double gap = law_gap(pmf, q, best, token);
        if (isfinite(gap) && gap <= law_rounding_between(pmf, q, best, token, result->kind))
            continue;
        counts->unexplained++;
        if (counts->unexplained == 1 || gap > counts->worst_gap) {
            counts->worst_gap = gap;
            counts->worst_row = offset + d;
            counts->worst_token = token;
            counts->worst_exact = best;
        }
    }
}

void agreement_merge(struct agreement_counts *into, const struct agreement_counts *from)
{
    bool worse =
        from->unexplained && (!into->unexplained || from->worst_gap > into->worst_gap ||
                              (from->worst_gap == into->worst_gap && from->worst_row < into->worst_row));
    if (worse) {
        into->worst_gap = from->worst_gap;
        into->worst_row = from->worst_row;
        into->worst_token = from->worst_token;
        into->worst_exact = from->worst_exact;
    }
    into->rows += from->rows;
    into->mismatches += from->mismatches;
    into->near_ties += from->near_ties;
    into->expected_e12 += from->expected_e12;
    into->unexplained += from->unexplained;
}
