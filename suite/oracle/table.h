/* table.h: named rows of logits made from integer formulas, so that C, Python and the SUT hold the same fp32.
 *
 * Every logit is an integer multiple of 2^-10 (exact in fp32), or minus infinity where the table masks an id.
 * kind   | logit of id i, in units of 2^-10
 * list   | logits[i]
 * flat   | 0
 * zipf   | round to nearest of -1024 ln(i + 1) (no i below 2^20 comes near a half)
 * head   | gap for i == head, else 0
 * normal | floor(sigma * (S - 393210) / 64), S = sum of the twelve 16-bit halves of Philox4x32-10 words 0..3 of counter
 *        | (i, 2, 0, 0) and words 0, 1 of counter (i, 2, 1, 0), key (0, 0): about N(0, sigma^2) in nats (Irwin-Hall)
 * masked | on top of any kind: ids with i mod every == first are minus infinity */
#ifndef SAMPLEGATE_TABLE_H
#define SAMPLEGATE_TABLE_H
#include <stddef.h>
#include <stdint.h>
#include "suite/json/json.h"

#define TABLE_VOCAB_MAX ((int64_t)1 << 20)

struct table {
    char name[64];
    size_t vocab;
    float *logits; /* [vocab] */
};

/* Build one table from its JSON object {"name","kind",...}. Owned: table_free. */
int table_read(struct table *table, const struct json_cursor *at, struct trouble *trouble);
void table_free(struct table *table);
#endif
