/* draws.c: read the goldens of families determinism and replay. */
#include "suite/golden/draws.h"

#include <float.h>
#include <stdlib.h>

static int no_memory(const struct json_cursor *at, struct trouble *trouble)
{
    return json_trouble(at, trouble, "out of memory");
}

int draws_read_rule(const struct json_cursor *group, struct draws_rule *rule, struct trouble *trouble)
{
    static const char *const noises[] = {"id", "rank", NULL};
    const char *rules[RULE_COUNT + 1] = {NULL};
    for (int r = 0; r < RULE_COUNT; r++)
        rules[r] = sampler_rule_name((enum sampler_rule)r);
    int which, noise;
    if (json_one_of(group, "rule", rules, &which, trouble) ||
        json_one_of(group, "noise", noises, &noise, trouble))
        return -1;
    *rule = (struct draws_rule){(enum sampler_rule)which, noise == 1};
    return noise == 1 && which != RULE_SEEDED
               ? json_trouble(group, trouble, "noise \"rank\" is for the rule seeded only")
               : 0;
}

static int read_filters(const struct json_cursor *at, struct draws_request *request, struct trouble *trouble)
{
    return json_number(at, "temperature", DBL_MIN, DBL_MAX, &request->temperature, trouble) ||
                   json_integer(at, "top_k", -1, INT32_MAX, &request->top_k, trouble) ||
                   json_number(at, "top_p", DBL_MIN, 1, &request->top_p, trouble) ||
                   json_number(at, "min_p", 0, 1, &request->min_p, trouble)
               ? -1
               : 0;
}

/* `low` may stand for null. Owned. */
static int read_tokens(const struct json_cursor *at, const char *key, int64_t low, int64_t high,
                       int32_t **token, size_t *tokens, struct trouble *trouble)
{
    struct json_cursor array;
    if (json_array(at, key, &array, tokens, trouble))
        return -1;
    *token = malloc((*tokens + 1) * sizeof **token);
    if (!*token)
        return no_memory(at, trouble);
    struct json_cursor element = json_at(&array, 0);
    for (size_t i = 0; i < *tokens; i++, element = json_next(&element)) {
        int64_t value = DRAWS_TOO_NEAR;
        if (!(low == DRAWS_TOO_NEAR && cJSON_IsNull(element.node)) &&
            json_integer_here(&element, low < 0 ? 0 : low, high, &value, trouble))
            return -1;
        (*token)[i] = (int32_t)value;
    }
    return 0;
}

static int read_run(const struct json_cursor *at, size_t vocab, struct draws_run *run,
                    struct trouble *trouble)
{
    static const char *const keys[] = {"seed", "position", "tokens", NULL};
    if (json_known_keys(at, keys, trouble) || json_i64_string(at, "seed", &run->seed, trouble) ||
        json_i64_string(at, "position", &run->position, trouble) ||
        read_tokens(at, "tokens", DRAWS_TOO_NEAR, (int64_t)vocab - 1, &run->token, &run->tokens, trouble))
        return -1;
    return run->position > INT64_MAX - (int64_t)run->tokens
               ? json_trouble(at, trouble, "the positions of this run end above 2^63 - 1")
               : 0;
}

int draws_read_case(const struct json_cursor *at, struct draws_case *draws, struct trouble *trouble)
{
    *draws = (struct draws_case){.request = {.repetition_penalty = 1}};
    struct json_cursor table, runs;
    int64_t left_out;
    double bound;
    if (read_filters(at, &draws->request, trouble) || json_double_string(at, "bound", &bound, trouble) ||
        json_integer(at, "left_out", 0, INT32_MAX, &left_out, trouble) ||
        json_string(at, "sha256", &draws->sha256, trouble) || json_object(at, "table", &table, trouble) ||
        table_read(&draws->table, &table, trouble) || json_array(at, "runs", &runs, &draws->runs, trouble))
        return -1;
    draws->left_out = (size_t)left_out;
    draws->run = calloc(draws->runs + 1, sizeof *draws->run);
    if (!draws->run)
        return no_memory(at, trouble);
    struct json_cursor run = json_at(&runs, 0);
    for (size_t r = 0; r < draws->runs; r++, run = json_next(&run))
        if (read_run(&run, draws->table.vocab, &draws->run[r], trouble))
            return -1;
    return 0;
}

void draws_case_free(struct draws_case *draws)
{
    for (size_t r = 0; draws->run && r < draws->runs; r++)
        free(draws->run[r].token);
    free(draws->run);
    table_free(&draws->table);
    *draws = (struct draws_case){0};
}

static int read_ids(const struct json_cursor *at, const char *key, size_t vocab, int64_t **id, size_t *ids,
                    struct trouble *trouble)
{
    int32_t *token = NULL;
    int failed = read_tokens(at, key, 0, (int64_t)vocab - 1, &token, ids, trouble);
    if (!failed && !(*id = malloc((*ids + 1) * sizeof **id)))
        failed = no_memory(at, trouble);
    for (size_t i = 0; i < *ids && !failed; i++)
        (*id)[i] = token[i];
    free(token);
    return failed;
}

static int read_request(const struct json_cursor *at, const struct draws_requests *all,
                        struct draws_request *request, struct trouble *trouble)
{
    static const char *const keys[] = {"table",
                                       "temperature",
                                       "top_k",
                                       "top_p",
                                       "min_p",
                                       "repetition_penalty",
                                       "frequency_penalty",
                                       "presence_penalty",
                                       "prompt",
                                       "output",
                                       "seed",
                                       "position",
                                       NULL};
    int64_t table;
    if (json_known_keys(at, keys, trouble) ||
        json_integer(at, "table", 0, (int64_t)all->tables - 1, &table, trouble))
        return -1;
    request->table = (size_t)table;
    const size_t vocab = all->table[table].vocab;
    return read_filters(at, request, trouble) ||
                   json_number(at, "repetition_penalty", DBL_MIN, DBL_MAX, &request->repetition_penalty,
                               trouble) ||
                   json_number(at, "frequency_penalty", -DBL_MAX, DBL_MAX, &request->frequency_penalty,
                               trouble) ||
                   json_number(at, "presence_penalty", -DBL_MAX, DBL_MAX, &request->presence_penalty,
                               trouble) ||
                   read_ids(at, "prompt", vocab, &request->prompt, &request->prompt_tokens, trouble) ||
                   read_ids(at, "output", vocab, &request->output, &request->output_tokens, trouble) ||
                   json_i64_string(at, "seed", &request->seed, trouble) ||
                   json_i64_string(at, "position", &request->position, trouble)
               ? -1
               : 0;
}

static int read_tables(const struct json_cursor *group, struct draws_requests *requests,
                       struct trouble *trouble)
{
    struct json_cursor tables;
    size_t length;
    if (json_array(group, "tables", &tables, &length, trouble))
        return -1;
    requests->table = calloc(length + 1, sizeof *requests->table);
    if (!requests->table)
        return no_memory(group, trouble);
    struct json_cursor at = json_at(&tables, 0);
    for (; requests->tables < length; at = json_next(&at)) {
        struct table *table = &requests->table[requests->tables];
        if (table_read(table, &at, trouble))
            return -1;
        requests->tables++;
        if (table->vocab != requests->table[0].vocab)
            return json_trouble(&at, trouble, "must have the %zu ids of the other tables, has %zu",
                                requests->table[0].vocab, table->vocab);
    }
    return 0;
}

int draws_read_requests(const struct json_cursor *group, struct draws_requests *requests,
                        struct trouble *trouble)
{
    *requests = (struct draws_requests){0};
    struct json_cursor array;
    int64_t left_out;
    double bound;
    if (json_double_string(group, "bound", &bound, trouble) ||
        json_integer(group, "left_out", 0, INT32_MAX, &left_out, trouble) ||
        read_tables(group, requests, trouble) ||
        json_array(group, "requests", &array, &requests->requests, trouble))
        return -1;
    requests->left_out = (size_t)left_out;
    requests->request = calloc(requests->requests + 1, sizeof *requests->request);
    if (!requests->request)
        return no_memory(group, trouble);
    struct json_cursor at = json_at(&array, 0);
    for (size_t r = 0; r < requests->requests; r++, at = json_next(&at))
        if (read_request(&at, requests, &requests->request[r], trouble))
            return -1;
    return 0;
}

void draws_requests_free(struct draws_requests *requests)
{
    for (size_t r = 0; requests->request && r < requests->requests; r++) {
        free(requests->request[r].prompt);
        free(requests->request[r].output);
    }
    free(requests->request);
    for (size_t t = 0; t < requests->tables; t++)
        table_free(&requests->table[t]);
    free(requests->table);
    *requests = (struct draws_requests){0};
}

int draws_read_batch(const struct json_cursor *at, const struct draws_requests *requests,
                     struct draws_batch *batch, struct trouble *trouble)
{
    *batch = (struct draws_batch){0};
    int64_t *order = NULL;
    size_t tokens;
    const size_t vocab = requests->tables ? requests->table[0].vocab : 0;
    int failed = read_ids(at, "requests", requests->requests, &order, &batch->rows, trouble) ||
                 read_tokens(at, "tokens", 0, (int64_t)vocab - 1, &batch->token, &tokens, trouble);
    if (!failed && tokens != batch->rows)
        failed = json_trouble(at, trouble, "has %zu requests and %zu tokens", batch->rows, tokens);
    if (!failed && !(batch->request = calloc(batch->rows + 1, sizeof *batch->request)))
        failed = no_memory(at, trouble);
    for (size_t r = 0; r < batch->rows && !failed; r++)
        batch->request[r] = (size_t)order[r];
    free(order);
    return failed ? -1 : 0;
}

void draws_batch_free(struct draws_batch *batch)
{
    free(batch->request);
    free(batch->token);
    *batch = (struct draws_batch){0};
}

struct sampler_row *draws_row(const struct json_cursor *at, const struct draws_rule *rule,
                              const struct table *table, const struct draws_request *request,
                              struct trouble *trouble)
{
    struct penalties penalties = penalties_none();
    penalties.repetition = request->repetition_penalty;
    penalties.frequency = request->frequency_penalty;
    penalties.presence = request->presence_penalty;
    penalties.prompt = request->prompt;
    penalties.prompt_tokens = request->prompt_tokens;
    penalties.output = request->output;
    penalties.output_tokens = request->output_tokens;
    struct sampler_parameters parameters = sampler_parameters_none();
    parameters.temperature = request->temperature;
    parameters.filter =
        (struct filter_parameters){.top_k = request->top_k, .top_p = request->top_p, .min_p = request->min_p};
    parameters.penalties = &penalties;
    parameters.seeded_by_rank = rule->by_rank;
    enum sampler_status status;
    struct sampler_row *row =
        sampler_row_make(rule->rule, SAMPLER_LOGITS, table->logits, table->vocab, &parameters, &status);
    if (!row)
        json_trouble(at, trouble, "no row can be made of this: %s", sampler_status_text(status));
    return row;
}
