/* draws.h: what the goldens of families determinism and replay hold: requests, and the tokens they must give.
 *
 * They are read to be recomputed (golden verify) and to be asked of a sampler whose contract names the rule. */
#ifndef SAMPLEGATE_GOLDEN_DRAWS_H
#define SAMPLEGATE_GOLDEN_DRAWS_H
#include "kernels/sampler.h"
#include "suite/json/json.h"
#include "suite/oracle/table.h"

#define DRAWS_TOKENS "determinism/tokens.json"
#define DRAWS_BATCHES "replay/batches.json"
#define DRAWS_TOO_NEAR (-2) /* a token that fp32 arithmetic may rightly draw otherwise: null in the golden */

/* Which rule, and whether its noise goes by rank: the head of a group. */
struct draws_rule {
    enum sampler_rule rule;
    bool by_rank;
};

/* What one request asks of its row; the reference's default filter and penalty rules. */
struct draws_request {
    size_t table;
    double temperature, top_p, min_p;
    int64_t top_k;
    double repetition_penalty, frequency_penalty, presence_penalty;
    int64_t *prompt, *output; /* ids below the vocabulary, owned */
    size_t prompt_tokens, output_tokens;
    int64_t seed, position;
};

/* Consecutive positions of one seed. */
struct draws_run {
    int64_t seed, position;
    size_t tokens;
    int32_t *token; /* [tokens] or DRAWS_TOO_NEAR */
};

/* A case of determinism/tokens.json: one row under one request, without penalties. */
struct draws_case {
    struct table table;
    struct draws_request request; /* its seed and position are not used */
    struct draws_run *run;
    size_t runs, left_out;
    const char *sha256; /* borrowed from the file */
};

/* What the batches of a group of replay/batches.json are made from. */
struct draws_requests {
    struct table *table; /* all of one vocabulary */
    size_t tables;
    struct draws_request *request;
    size_t requests, left_out;
};

/* A case of it: tokens[rows] of the requests in this order. */
struct draws_batch {
    size_t rows, *request;
    int32_t *token;
};

/* Each: 0, or -1 with trouble. Owned: the _free, after a failure too. */
int draws_read_rule(const struct json_cursor *group, struct draws_rule *rule, struct trouble *trouble);
int draws_read_case(const struct json_cursor *at, struct draws_case *draws, struct trouble *trouble);
void draws_case_free(struct draws_case *draws);
int draws_read_requests(const struct json_cursor *group, struct draws_requests *requests,
                        struct trouble *trouble);
void draws_requests_free(struct draws_requests *requests);
int draws_read_batch(const struct json_cursor *at, const struct draws_requests *requests,
                     struct draws_batch *batch, struct trouble *trouble);
void draws_batch_free(struct draws_batch *batch);

/* The row of a request with our own kernels. NULL with trouble if it cannot be made. Owned: sampler_row_free. */
struct sampler_row *draws_row(const struct json_cursor *at, const struct draws_rule *rule,
                              const struct table *table, const struct draws_request *request,
                              struct trouble *trouble);
#endif
