/* test_vllm_forward.c: the sampler of vLLM 0.5.0 on fp32 logits is the kernels under the presets of its name, in its
 * order: min_tokens, repetition, frequency, presence, temperature, top_k, top_p, min_p, softmax, draw.
 *
 * Each vector was worked by hand so that exchanging two neighbours of that order, or taking a bound the other way,
 * gives another set of ids or another token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/sampler.h"

#define VOCAB_MAX 8

/* A row of weights or logits under one request. */
struct vector {
    const char *what;
    bool weights; /* the values are weights, given as their logarithms */
    size_t vocab;
    float value[VOCAB_MAX];
    double temperature; /* 0: 1 */
    struct filter_parameters filter;
    double repetition, frequency, presence; /* repetition 0: 1 */
    int64_t output[4], prompt[4];
    size_t outputs, prompts;
    int64_t min_tokens, stop[2];
    size_t stops;
    unsigned kept; /* bit i: id i has weight */
    int32_t token; /* of the race on q, 0 where q is not given */
    float q[VOCAB_MAX];
};

static const struct vector vectors[] = {
    /* Banned first: the heaviest is gone before top_k looks, so the second is left and not nothing. */
    {.what = "min_tokens, then top_k",
     .vocab = 3,
     .value = {3, 2, 1},
     .filter = {1, 1, 0},
     .min_tokens = 2,
     .output = {2},
     .outputs = 1,
     .stop = {0},
     .stops = 1,
     .kept = 2},
    {.what = "min_tokens reached",
     .vocab = 3,
     .value = {3, 2, 1},
     .filter = {1, 1, 0},
     .min_tokens = 1,
     .output = {2},
     .outputs = 1,
     .stop = {0},
     .stops = 1,
     .kept = 1},
    /* 2/2 - 1.5 = -0.5 < 0 = l1; subtracting first gives (2 - 1.5)/2 = 0.25. */
    {.what = "repetition, then frequency",
     .vocab = 2,
     .value = {2, 0},
     .filter = {1, 1, 0},
     .repetition = 2,
     .frequency = 1.5,
     .output = {0},
     .outputs = 1,
     .kept = 2},
    {.what = "repetition, then presence",
     .vocab = 2,
     .value = {2, 0},
     .filter = {1, 1, 0},
     .repetition = 2,
     .presence = 1.5,
     .output = {0},
     .outputs = 1,
     .kept = 2},
    /* A logit of zero or below is multiplied: -1 becomes -2, below -1.5. */
    {.what = "the sign decides",
     .vocab = 2,
     .value = {-1, -1.5f},
     .filter = {1, 1, 0},
     .repetition = 2,
     .prompt = {0},
     .prompts = 1,
     .kept = 2},
    /* The prompt is repeated, but neither frequent nor present: 2/1 stays above 1. */
    {.what = "additive ones see the output alone",
     .vocab = 2,
     .value = {2, 1},
     .filter = {1, 1, 0},
     .frequency = 2,
     .presence = 2,
     .prompt = {0, 0},
     .prompts = 2,
     .kept = 1},
    /* (2 - 1)/(1/2) = 2 against 1/(1/2) = 2: a tie that top_k keeps. Tempered first: 4 - 1 = 3 > 2. */
    {.what = "presence, then temperature",
     .vocab = 2,
     .value = {2, 1},
     .temperature = 0.5,
     .filter = {1, 1, 0},
     .presence = 1,
     .output = {0},
     .outputs = 1,
     .kept = 3},
    /* 42.9 26.0 15.8 9.6 5.8 %: above the fourth 84.6. Untempered 63.6 23.4 8.6 3.2: above it 95.7. */
    {.what = "temperature, then top_p",
     .vocab = 5,
     .value = {3, 2, 1, 0, -1},
     .temperature = 2,
     .filter = {-1, 0.875, 0},
     .kept = 15},
    /* 4/6 > 0.625 lies above the second once top_k has cut; of the whole row 4/8 < 0.625. */
    {.what = "top_k, then top_p",
     .weights = true,
     .vocab = 4,
     .value = {4, 2, 1, 1},
     .filter = {2, 0.625, 0},
     .kept = 1},
    /* Above the third 12/16 < 0.8; with 1 and 1 gone for min_p first it is 12/14 > 0.8. */
    {.what = "top_p, then min_p",
     .weights = true,
     .vocab = 5,
     .value = {8, 4, 2, 1, 1},
     .filter = {-1, 0.8, 0.2},
     .kept = 7},
    {.what = "all ties of the k-th stay",
     .weights = true,
     .vocab = 4,
     .value = {2, 1, 1, 1},
     .filter = {2, 1, 0},
     .kept = 15},
    {.what = "the nucleus keeps the highest ids of a tie",
     .weights = true,
     .vocab = 4,
     .value = {1, 1, 1, 1},
     .filter = {-1, 0.5, 0},
     .kept = 12},
    {.what = "top_k of the vocabulary",
     .weights = true,
     .vocab = 3,
     .value = {1, 2, 4},
     .filter = {3, 1, 0},
     .kept = 7},
    {.what = "top_k above it",
     .weights = true,
     .vocab = 3,
     .value = {1, 2, 4},
     .filter = {9, 1, 0},
     .kept = 7},
    {.what = "min_p = 1", .weights = true, .vocab = 3, .value = {4, 2, 4}, .filter = {-1, 1, 1}, .kept = 5},
    /* 4/1 and 2/0.25; the third is gone though its 1/0.001 were the largest. */
    {.what = "the draw is a race among what is left",
     .weights = true,
     .vocab = 3,
     .value = {4, 2, 1},
     .filter = {2, 1, 0},
     .kept = 3,
     .q = {1, 0.25f, 0.001f},
     .token = 1},
};

static void penalise(const struct vector *vector, struct penalties *penalties)
{
    *penalties = penalties_none();
    penalties->repetition = vector->repetition != 0 ? vector->repetition : 1;
    penalties->frequency = vector->frequency;
    penalties->presence = vector->presence;
    penalties->output = vector->output;
    penalties->output_tokens = vector->outputs;
    penalties->prompt = vector->prompt;
    penalties->prompt_tokens = vector->prompts;
    penalties->min_tokens = vector->min_tokens;
    penalties->stop = vector->stop;
    penalties->stops = vector->stops;
}

static struct sampler_row *row_of(const struct vector *vector, enum sampler_rule rule,
                                  struct penalties *penalties)
{
    struct sampler_parameters parameters = sampler_parameters_none();
    enum sampler_status status;
    float logits[VOCAB_MAX];
    for (size_t i = 0; i < vector->vocab; i++)
        logits[i] = vector->weights ? logf(vector->value[i]) : vector->value[i];
    penalise(vector, penalties);
    parameters.temperature = vector->temperature != 0 ? vector->temperature : 1;
    parameters.filter = vector->filter.top_k ? vector->filter : parameters.filter;
    parameters.filter_rule = filter_rule_of("vllm-0.5.0");
    parameters.penalty_rule = penalty_rule_of("vllm-0.5.0");
    parameters.penalties = penalties;
    struct sampler_row *row =
        sampler_row_make(rule, SAMPLER_LOGITS, logits, vector->vocab, &parameters, &status);
    if (!row)
        fail_msg("%s: %s", vector->what, sampler_status_text(status));
    return row;
}

static void order_of_steps(void **state)
{
    (void)state;
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
        const struct vector *vector = &vectors[v];
        struct penalties penalties;
        uint8_t kept[VOCAB_MAX];
        unsigned bits = 0;
        struct sampler_row *row = row_of(vector, RULE_RACE, &penalties);
        sampler_row_kept(row, kept);
        for (size_t i = 0; i < vector->vocab; i++)
            bits |= (unsigned)(kept[i] != 0) << i;
        if (bits != vector->kept)
            fail_msg("%s: keeps %x and not %x", vector->what, bits, vector->kept);
        if (vector->q[0] > 0)
            assert_int_equal(sampler_draw_with_noise(row, vector->q), vector->token);
        sampler_row_free(row);
    }
}

/* The argmax after penalties, untouched by temperature and filters; of a tie the lowest id. */
static void greedy_is_penalised(void **state)
{
    (void)state;
    static const struct vector greedy[] = {
        {.what = "penalised",
         .vocab = 3,
         .value = {3, 2, 1},
         .repetition = 2,
         .output = {0},
         .outputs = 1,
         .token = 1},
        {.what = "tied", .vocab = 3, .value = {1, 2, 2}, .token = 1},
    };
    for (size_t v = 0; v < sizeof greedy / sizeof *greedy; v++) {
        struct penalties penalties;
        int32_t token;
        struct sampler_row *row = row_of(&greedy[v], RULE_GREEDY, &penalties);
        sampler_draw(row, 1, 1, 1, &token);
        assert_int_equal(token, greedy[v].token);
        sampler_row_free(row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_of_steps),
                                       cmocka_unit_test(greedy_is_penalised)};
    return cmocka_run_group_tests_name("vllm forward", tests, NULL, NULL);
}
