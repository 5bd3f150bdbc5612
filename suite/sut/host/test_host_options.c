/* test_host_options.c: filters, penalties, masks and token lists through the protocol to the reference: the
 * tokens and kept sets of the kernels, each draw as if it were alone.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/test_child.h"
#include "kernels/sampler.h"

#include <math.h>

#define VOCAB 20
#define ROWS 2
#define DRAWS 60
#define COUNT(a) (sizeof(a) / sizeof *(a))

static float logits[ROWS * VOCAB];
static char errors[4096];

static struct child reference(const char *word, const char *option)
{
    const char *const words[] = {word, option, NULL};
    return child_start("samplegate-host", words);
}

static void assert_ended(struct child *child)
{
    assert_int_equal(child_end(child, errors, sizeof errors), 0);
    assert_string_equal(errors, "");
}

/* A message over both rows; draw d is from row d % 2. */
static struct frame message_of_rows(void)
{
    static const uint64_t shape[] = {ROWS, VOCAB}, draws[] = {DRAWS};
    static int32_t row_index[DRAWS];
    struct frame message = sample_message(logits, VOCAB, DRAWS);
    message.arrays = 0;
    for (int d = 0; d < DRAWS; d++)
        row_index[d] = d % ROWS;
    frame_add(&message, "values", FRAME_F32, 2, shape, logits);
    frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
    return message;
}

/* The answer must be these tokens and, if `kept` is given, these sets. The message is freed. */
static void assert_answer(const char *word, const char *option, struct frame *message, const int32_t *token,
                          const uint8_t *kept)
{
    struct child child = reference(word, option);
    struct frame answer = {0};
    if (kept)
        frame_set(message, "kept", "1");
    child_ask(&child, message, &answer);
    if (frame_get(&answer, "text"))
        fail_msg("%s", frame_get(&answer, "text"));
    assert_memory_equal(frame_find(&answer, "token")->data, token, DRAWS * sizeof *token);
    assert_int_equal(frame_find(&answer, "kept") != NULL, kept != NULL);
    if (kept)
        assert_memory_equal(frame_find(&answer, "kept")->data, kept, ROWS * VOCAB);
    frame_free(message);
    frame_free(&answer);
    assert_ended(&child);
}

/* Draw d alone; the kept set of its row if it is the row's first. */
static void draw_alone(enum sampler_rule rule, int d, const struct sampler_parameters *parameters,
                       int32_t *token, uint8_t *kept)
{
    enum sampler_status status;
    const float *values = logits + d % ROWS * VOCAB;
    struct sampler_row *row = sampler_row_make(rule, SAMPLER_LOGITS, values, VOCAB, parameters, &status);
    assert_non_null(row);
    sampler_draw(row, 38117, (uint64_t)d, 1, &token[d]);
    if (kept && d < ROWS)
        sampler_row_kept(row, kept + d * VOCAB);
    sampler_row_free(row);
}

static void mixed_filters(void **state)
{
    (void)state;
    static const char *const rules[] = {"sglang-pytorch", "flashinfer-joint", "vllm-v1", "llama.cpp"};
    const uint64_t draws[] = {DRAWS}, one[] = {1};
    const double temperature[] = {0.8};
    int64_t top_k[DRAWS];
    double top_p[DRAWS], min_p[DRAWS];
    for (int d = 0; d < DRAWS; d++) {
        top_k[d] = d % 5 == 0 ? -1 : d % 5 * 3;
        top_p[d] = d % 7 == 0 ? 1 : 0.6 + 0.05 * (d % 7);
        min_p[d] = d % 3 == 0 ? 0.05 : 0;
    }
    for (size_t r = 0; r < COUNT(rules); r++) {
        char option[64];
        int32_t token[DRAWS];
        uint8_t kept[ROWS * VOCAB];
        for (int d = 0; d < DRAWS; d++) {
            struct sampler_parameters parameters = sampler_parameters_none();
            parameters.temperature = 0.8;
            parameters.filter = (struct filter_parameters){top_k[d], top_p[d], min_p[d]};
            parameters.filter_rule = filter_rule_of(rules[r]);
            draw_alone(RULE_RACE, d, &parameters, token, kept);
        }
        snprintf(option, sizeof option, "filters=%s", rules[r]);
        struct frame message = message_of_rows();
        frame_add(&message, "temperature", FRAME_F64, 1, one, temperature);
        frame_add(&message, "top_k", FRAME_I64, 1, draws, top_k);
        frame_add(&message, "top_p", FRAME_F64, 1, draws, top_p);
        frame_add(&message, "min_p", FRAME_F64, 1, draws, min_p);
        assert_answer("reference", option, &message, token, kept);
    }
}

/* One value for all draws, and the rule that keys its noise by rank. */
static void one_value_for_all(void **state)
{
    (void)state;
    const uint64_t one[] = {1};
    const int64_t top_k[] = {4};
    for (int by_rank = 0; by_rank < 2; by_rank++) {
        int32_t token[DRAWS];
        struct sampler_parameters parameters = sampler_parameters_none();
        parameters.filter.top_k = 4;
        parameters.seeded_by_rank = by_rank;
        for (int d = 0; d < DRAWS; d++)
            draw_alone(RULE_SEEDED, d, &parameters, token, NULL);
        struct frame message = message_of_rows();
        frame_add(&message, "top_k", FRAME_I64, 1, one, top_k);
        assert_answer("reference:seeded", by_rank ? "noise=rank" : "noise=id", &message, token, NULL);
    }
}

/* Kept without a filter: all that the softmax leaves. */
static void kept_of_plain_rows(void **state)
{
    (void)state;
    int32_t token[DRAWS];
    uint8_t kept[ROWS * VOCAB];
    const struct sampler_parameters none = sampler_parameters_none();
    for (int d = 0; d < DRAWS; d++)
        draw_alone(RULE_GUMBEL, d, &none, token, NULL);
    for (int i = 0; i < ROWS * VOCAB; i++)
        kept[i] = isfinite(logits[i]) ? 1 : 0;
    struct frame message = message_of_rows();
    assert_answer("reference:gumbel", NULL, &message, token, kept);
}

static void penalties_by_draw(void **state)
{
    (void)state;
    static const char *const rules[] = {"sglang", "vllm-0.5.0", "tensorrt-llm-cpp"};
    const uint64_t draws[] = {DRAWS}, offsets_shape[] = {DRAWS + 1}, rows[] = {ROWS, VOCAB}, one[] = {1};
    double repetition[DRAWS];
    const double frequency[] = {0.5}, presence[] = {-0.25}, temperature[] = {0.7};
    int64_t prompt_offsets[DRAWS + 1], output_offsets[DRAWS + 1], stop_offsets[DRAWS + 1], min_tokens[DRAWS];
    int64_t prompt[3 * DRAWS], output[2 * DRAWS], stop[DRAWS];
    float bias[ROWS * VOCAB];
    uint8_t allowed[ROWS * VOCAB];
    prompt_offsets[0] = output_offsets[0] = stop_offsets[0] = 0;
    for (int d = 0; d < DRAWS; d++) {
        repetition[d] = 1 + 0.5 * (d % 3);
        min_tokens[d] = d % 4;
        prompt_offsets[d + 1] = prompt_offsets[d] + d % 4;
        output_offsets[d + 1] = output_offsets[d] + d % 3;
        stop_offsets[d + 1] = stop_offsets[d] + d % 2;
    }
    for (int i = 0; i < 3 * DRAWS; i++)
        prompt[i] = i * 7 % VOCAB;
    for (int i = 0; i < 2 * DRAWS; i++)
        output[i] = i * 3 % 4;
    for (int i = 0; i < DRAWS; i++)
        stop[i] = 15 + i % 5;
    for (int i = 0; i < ROWS * VOCAB; i++) {
        bias[i] = (float)(i % 3);
        allowed[i] = i % 6 != 5;
    }
    for (size_t r = 0; r < COUNT(rules); r++) {
        char option[64];
        int32_t token[DRAWS];
        for (int d = 0; d < DRAWS; d++) {
            struct penalties penalties = {
                .repetition = repetition[d],
                .frequency = 0.5,
                .presence = -0.25,
                .prompt = prompt + prompt_offsets[d],
                .prompt_tokens = (size_t)(d % 4),
                .output = output + output_offsets[d],
                .output_tokens = (size_t)(d % 3),
                .stop = stop + stop_offsets[d],
                .stops = (size_t)(d % 2),
                .min_tokens = min_tokens[d],
                .logit_bias = bias + d % ROWS * VOCAB,
                .allowed = allowed + d % ROWS * VOCAB,
            };
            struct sampler_parameters parameters = sampler_parameters_none();
            parameters.temperature = 0.7;
            parameters.penalties = &penalties;
            parameters.penalty_rule = penalty_rule_of(rules[r]);
            draw_alone(RULE_CATEGORICAL, d, &parameters, token, NULL);
        }
        snprintf(option, sizeof option, "penalties=%s", rules[r]);
        struct frame message = message_of_rows();
        frame_add(&message, "temperature", FRAME_F64, 1, one, temperature);
        frame_add(&message, "repetition_penalty", FRAME_F64, 1, draws, repetition);
        frame_add(&message, "frequency_penalty", FRAME_F64, 1, one, frequency);
        frame_add(&message, "presence_penalty", FRAME_F64, 1, one, presence);
        frame_add(&message, "min_tokens", FRAME_I64, 1, draws, min_tokens);
        frame_add(&message, "prompt_tokens", FRAME_I64, 1, (uint64_t[]){COUNT(prompt)}, prompt);
        frame_add(&message, "prompt_offsets", FRAME_I64, 1, offsets_shape, prompt_offsets);
        frame_add(&message, "output_tokens", FRAME_I64, 1, (uint64_t[]){COUNT(output)}, output);
        frame_add(&message, "output_offsets", FRAME_I64, 1, offsets_shape, output_offsets);
        frame_add(&message, "stop_ids", FRAME_I64, 1, (uint64_t[]){COUNT(stop)}, stop);
        frame_add(&message, "stop_offsets", FRAME_I64, 1, offsets_shape, stop_offsets);
        frame_add(&message, "logit_bias", FRAME_F32, 2, rows, bias);
        frame_add(&message, "allowed", FRAME_U8, 2, rows, allowed);
        assert_answer("reference:categorical", option, &message, token, NULL);
    }
}

/* Rows with columns behind the vocabulary that would win if they were read: what the dense rows give. */
static void padded_rows(void **state)
{
    (void)state;
    static float padded[ROWS * (VOCAB + 7)], bias[ROWS * VOCAB];
    static uint16_t brain[ROWS * (VOCAB + 7)];
    const uint64_t shape[] = {ROWS, VOCAB + 7}, dense[] = {ROWS, VOCAB}, one[] = {1};
    const double top_p[] = {0.7};
    int32_t token[DRAWS];
    uint8_t kept[ROWS * VOCAB];
    for (int i = 0; i < ROWS * VOCAB; i++)
        bias[i] = (float)(i % 3);
    for (int i = 0; i < ROWS * (VOCAB + 7); i++) {
        uint32_t bits;
        const int row = i / (VOCAB + 7), id = i % (VOCAB + 7);
        padded[i] = id < VOCAB ? logits[row * VOCAB + id] : 1e9f;
        memcpy(&bits, &padded[i], sizeof bits);
        brain[i] = (uint16_t)(bits >> 16); /* multiples of 1/4 below 6: exact */
    }
    for (int d = 0; d < DRAWS; d++) {
        struct sampler_parameters parameters = sampler_parameters_none();
        struct penalties penalties = penalties_none();
        penalties.logit_bias = bias + d % ROWS * VOCAB;
        parameters.penalties = &penalties;
        parameters.filter.top_p = top_p[0];
        draw_alone(RULE_RACE, d, &parameters, token, kept);
    }
    for (int half = 0; half < 2; half++) {
        struct frame message = message_of_rows();
        message.array[0].dtype = half ? FRAME_BF16 : FRAME_F32;
        message.array[0].shape[1] = shape[1];
        message.array[0].data = half ? (const void *)brain : padded;
        message.array[0].bytes = shape[0] * shape[1] * (half ? sizeof *brain : sizeof *padded);
        frame_set_u64(&message, "columns", VOCAB);
        frame_add(&message, "top_p", FRAME_F64, 1, one, top_p);
        frame_add(&message, "logit_bias", FRAME_F32, 2, dense, bias);
        assert_answer("reference", NULL, &message, token, kept);
    }
}

/* Each bad option gets its word, and the host is as good as before. */
static void bad_options(void **state)
{
    (void)state;
    static const int64_t zero[DRAWS + 1] = {0}, rising[DRAWS + 1] = {0, 2, 1}, outside[DRAWS] = {VOCAB};
    static const double low[] = {0}, high[] = {1.5}, nan_[] = {NAN}, two[] = {2};
    const uint64_t one[] = {1}, draws[] = {DRAWS}, offsets[] = {DRAWS + 1};
    const struct {
        const char *name, *with, *kind, *answer, *text;
        enum frame_dtype dtype;
        const uint64_t *shape;
        const void *data, *with_data;
    } bad[] = {
        {"top_k", NULL, "logits", "error", "draw 0: the reference: top_k must be -1", FRAME_I64, one, zero,
         NULL},
        {"top_p", NULL, "logits", "error", "top_p must be above 0", FRAME_F64, one, low, NULL},
        {"top_p", NULL, "logits", "error", "top_p must be above 0", FRAME_F64, one, nan_, NULL},
        {"min_p", NULL, "logits", "error", "min_p must be 0 (off) to 1", FRAME_F64, one, high, NULL},
        {"repetition_penalty", NULL, "logits", "error", "repetition_penalty must be", FRAME_F64, one, low,
         NULL},
        {"top_k", NULL, "logits", "error", "[1] or [draws] of I64", FRAME_F64, one, low, NULL},
        {"top_p", NULL, "logits", "error", "[1] or [draws] of F64", FRAME_F64, offsets, zero, NULL},
        {"typical_p", NULL, "logits", "unsupported", "knows no array typical_p", FRAME_F64, one, low, NULL},
        {"prompt_tokens", NULL, "logits", "error", "come with prompt_offsets", FRAME_I64, draws, zero, NULL},
        {"prompt_tokens", "prompt_offsets", "logits", "error", "prompt_offsets[1] and the next are 2 and 1",
         FRAME_I64, draws, zero, rising},
        {"logit_bias", NULL, "logits", "error", "[rows, vocab] of F32", FRAME_F32, one, low, NULL},
        {"allowed", NULL, "logits", "error", "[rows, vocab] of U8", FRAME_U8, one, low, NULL},
        {"repetition_penalty", NULL, "probabilities", "unsupported", "takes no penalties with probabilities",
         FRAME_F64, one, two, NULL},
    };
    struct child child = reference("reference", NULL);
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct frame message = sample_message(logits, VOCAB, DRAWS), answer = {0};
        frame_set(&message, "kind", bad[i].kind);
        frame_add(&message, bad[i].name, bad[i].dtype, 1, bad[i].shape, bad[i].data);
        if (bad[i].with)
            frame_add(&message, bad[i].with, FRAME_I64, 1, offsets, bad[i].with_data);
        child_ask(&child, &message, &answer);
        assert_entry(&answer, "message", bad[i].answer);
        assert_contains(frame_get(&answer, "text"), bad[i].text);
        frame_free(&message);
        frame_free(&answer);
    }
    /* A stop id outside the row, where min_tokens makes it matter; and a bad word for kept. */
    int64_t ends[DRAWS + 1];
    for (int d = 0; d <= DRAWS; d++)
        ends[d] = d;
    struct frame message = sample_message(logits, VOCAB, DRAWS), answer = {0};
    const int64_t five[] = {5};
    frame_add(&message, "min_tokens", FRAME_I64, 1, one, five);
    frame_add(&message, "stop_ids", FRAME_I64, 1, draws, outside);
    frame_add(&message, "stop_offsets", FRAME_I64, 1, offsets, ends);
    child_ask(&child, &message, &answer);
    assert_contains(frame_get(&answer, "text"),
                    "draw 0: the reference: prompt, output and stop ids must be ids");
    frame_free(&message);
    frame_free(&answer);
    message = sample_message(logits, VOCAB, DRAWS);
    frame_set(&message, "kept", "yes");
    child_ask(&child, &message, &answer);
    assert_contains(frame_get(&answer, "text"), "kept is 'yes'");
    frame_free(&message);
    frame_free(&answer);
    assert_ended(&child);
}

int main(void)
{
    for (int i = 0; i < ROWS * VOCAB; i++)
        logits[i] = i % 11 == 3 ? -INFINITY : (float)(i * 37 % 23) / 4;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_filters),      cmocka_unit_test(one_value_for_all),
        cmocka_unit_test(kept_of_plain_rows), cmocka_unit_test(penalties_by_draw),
        cmocka_unit_test(padded_rows),        cmocka_unit_test(bad_options),
    };
    return cmocka_run_group_tests_name("host, options", tests, NULL, NULL);
}
