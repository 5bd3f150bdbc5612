/* chunk.h: one chunk as a request, and its answer checked and counted. */
#ifndef SAMPLEGATE_CHUNK_H
#define SAMPLEGATE_CHUNK_H
#include "suite/judge/session.h"

/* Fill a request frame; its arrays borrow from the result and from `noise` ([draws, vocab], NULL if not
 * agreement). */
void chunk_request(const struct session *session, const struct plan_chunk *chunk, const float *noise,
                   struct frame *request);
/* The shared noise of an agreement chunk: [draws, vocab]; NULL for other families. It lies in *room, which grows as
 * needed from NULL and 0 values and serves the next chunk, too: fresh pages cost as much as the noise. Owned by the
 * caller (free). */
const float *chunk_noise(const struct session *session, const struct plan_chunk *chunk, float **room,
                         size_t *values);

/* Is this frame the answer to this chunk's request, and whole? Sets *tokens ([draws], each 0 <= token < vocab) or
 * returns the state the cell falls into, with `why`. */
enum cell_state chunk_tokens(const struct session *session, const struct plan_chunk *chunk,
                             const struct frame *answer, const int32_t **tokens, char *why, size_t why_bytes);
/* Add the tokens to the cell's counts (the caller holds the lock). `offset`: of the chunk's first draw within
 * its stage. */
void chunk_count(struct session *session, const struct plan_chunk *chunk, uint64_t offset,
                 const int32_t *tokens);
/* Compare with exact arithmetic on the same noise; adds into *counts (no lock needed: the caller's own). */
void chunk_agree(const struct session *session, const struct plan_chunk *chunk, uint64_t offset,
                 const int32_t *tokens, const float *noise, struct agreement_counts *counts);
/* Merge one chunk's agreement into the cell's. */
void agreement_merge(struct agreement_counts *into, const struct agreement_counts *from);
#endif
