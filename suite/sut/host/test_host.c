/* test_host.c: samplegate-host with the built-in reference: tokens of the kernels, and a clear word about bad
 * messages.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/test_child.h"
#include "kernels/sampler.h"

#include <math.h>

#define VOCAB 20
#define DRAWS 50

static float logits[2 * VOCAB];
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

static void assert_tokens(const struct frame *answer, const int32_t *expected)
{
    assert_entry(answer, "message", "tokens");
    assert_entry(answer, "cell", "c");
    assert_entry(answer, "stage", "1");
    assert_entry(answer, "chunk", "3");
    const struct frame_array *token = frame_find(answer, "token");
    assert_non_null(token);
    assert_int_equal(token->dtype, FRAME_I32);
    assert_int_equal(token->shape[0], DRAWS);
    assert_memory_equal(token->data, expected, DRAWS * sizeof *expected);
}

/* The frame asks, the tokens must be these. */
static void assert_answer(const char *word, struct frame *message, const int32_t *expected)
{
    struct child child = reference(word, NULL);
    struct frame answer = {0};
    child_ask(&child, message, &answer);
    assert_tokens(&answer, expected);
    frame_free(&answer);
    frame_free(message);
    assert_ended(&child);
}

static void hello(void **state)
{
    (void)state;
    struct child child = reference("reference:gumbel", "values=probabilities");
    struct frame message = {0}, answer = {0};
    frame_set(&message, "message", "hello");
    frame_set(&message, "protocol", FRAME_PROTOCOL);
    frame_set(&message, "plan", "quick");
    frame_set(&message, "plan_sha256", "abc");
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "message", "hello");
    assert_entry(&answer, "protocol", FRAME_PROTOCOL);
    assert_entry(&answer, "plan", "quick");
    assert_entry(&answer, "plan_sha256", "abc");
    assert_entry(&answer, "name", "reference:gumbel");
    assert_entry(&answer, "takes", "probabilities logits");
    assert_entry(&answer, "capabilities",
                 "temperature noise seeded top_k top_p min_p penalties logit_bias allowed_mask "
                 "min_tokens kept_out");
    assert_entry(&answer, "dtype", "f32");
    assert_contains(frame_get(&answer, "device"), "cpu ");
    /* The hash of the host itself, as another program computes it. */
    char key[4200], command[4200], hex[65] = "";
    snprintf(key, sizeof key, "file:%s", build_path("samplegate-host"));
    snprintf(command, sizeof command, "sha256sum '%s'", build_path("samplegate-host"));
    FILE *pipe = popen(command, "r");
    assert_int_equal(fread(hex, 1, 64, pipe), 64);
    pclose(pipe);
    assert_entry(&answer, key, hex);
    frame_free(&answer);
    frame_free(&message);
    assert_ended(&child);
}

static void unseeded(void **state)
{
    (void)state;
    int32_t expected[DRAWS];
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        struct sampler_row *row =
            sampler_row_new((enum sampler_rule)rule, SAMPLER_LOGITS, logits, VOCAB, 0.7);
        sampler_draw(row, 38117, 0, DRAWS, expected);
        sampler_row_free(row);
        for (uint64_t batch = 1; batch < 100; batch *= 7) {
            const double temperature[] = {0.7};
            const uint64_t one[] = {1};
            char word[64];
            snprintf(word, sizeof word, "reference:%s", sampler_rule_name((enum sampler_rule)rule));
            struct frame message = sample_message(logits, VOCAB, DRAWS);
            frame_set_u64(&message, "batch", batch);
            frame_add(&message, "temperature", FRAME_F64, 1, one, temperature);
            assert_answer(word, &message, expected);
        }
    }
}

/* Two rows and three temperatures, interleaved: each draw as if it were alone. */
static void mixed_rows(void **state)
{
    (void)state;
    int32_t expected[DRAWS], row_index[DRAWS];
    double temperature[DRAWS];
    const uint64_t draws[] = {DRAWS}, shape[] = {2, VOCAB};
    for (int d = 0; d < DRAWS; d++) {
        row_index[d] = d * 7 % 3 % 2;
        temperature[d] = 0.5 + d % 3;
        struct sampler_row *row =
            sampler_row_new(RULE_RACE, SAMPLER_LOGITS, logits + VOCAB * row_index[d], VOCAB, temperature[d]);
        sampler_draw(row, 38117, (uint64_t)d, 1, &expected[d]);
        sampler_row_free(row);
    }
    struct frame message = sample_message(logits, VOCAB, DRAWS);
    message.arrays = 0;
    frame_add(&message, "values", FRAME_F32, 2, shape, logits);
    frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
    frame_add(&message, "temperature", FRAME_F64, 1, draws, temperature);
    assert_answer("reference", &message, expected);
}

static void noise_and_seeds(void **state)
{
    (void)state;
    static float noise[DRAWS * VOCAB];
    int32_t expected[DRAWS];
    int64_t seeds[DRAWS], positions[DRAWS];
    const uint64_t draws[] = {DRAWS}, shape[] = {DRAWS, VOCAB};
    struct sampler_row *row = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, logits, VOCAB, 1);
    for (int d = 0; d < DRAWS; d++) {
        sampler_noise(7, (uint64_t)d, VOCAB, noise + d * VOCAB);
        expected[d] = sampler_draw_with_noise(row, noise + d * VOCAB);
        seeds[d] = -5 + d % 3;
        positions[d] = d * d;
    }
    struct frame message = sample_message(logits, VOCAB, DRAWS);
    frame_add(&message, "noise", FRAME_F32, 2, shape, noise);
    assert_answer("reference", &message, expected);

    sampler_draw_seeded(row, seeds, positions, DRAWS, expected);
    message = sample_message(logits, VOCAB, DRAWS);
    frame_add(&message, "seeds", FRAME_I64, 1, draws, seeds);
    frame_add(&message, "positions", FRAME_I64, 1, draws, positions);
    assert_answer("reference", &message, expected);
    sampler_row_free(row);
}

/* The same numbers in three formats; the bit patterns are from the definitions of binary16 and bfloat16. */
static void narrow_values(void **state)
{
    (void)state;
    const float wide[] = {0, -0.0f, 1, -1.5f, 0x1p-24f, 2048, -INFINITY, 1.25f};
    const uint16_t half[] = {0x0000, 0x8000, 0x3c00, 0xbe00, 0x0001, 0x6800, 0xfc00, 0x3d00};
    const uint16_t brain[] = {0x0000, 0x8000, 0x3f80, 0xbfc0, 0x3380, 0x4500, 0xff80, 0x3fa0};
    const uint64_t shape[] = {1, 8}, one[] = {1};
    const double temperature[] = {300};
    int32_t expected[DRAWS];
    struct sampler_row *row = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, wide, 8, 300);
    sampler_draw(row, 38117, 0, DRAWS, expected);
    sampler_row_free(row);
    for (int format = 0; format < 2; format++) {
        struct frame message = sample_message(logits, VOCAB, DRAWS);
        message.arrays = 0;
        frame_add(&message, "values", format ? FRAME_BF16 : FRAME_F16, 2, shape, format ? brain : half);
        frame_add(&message, "temperature", FRAME_F64, 1, one, temperature);
        assert_answer("reference", &message, expected);
    }
}

/* Each bad message gets its answer, and the host is as good as before. */
static void bad_messages(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *answer, *text;
    } bad[] = {
        {"message", "sampel", "error", "'sampel' is not known; hello, sample, ask and time"},
        {"draws", "0", "error", "draws is '0'"},
        {"draws", "-1", "error", "draws is '-1'"},
        {"draws", "1000000000000", "error", "1 to 268435456"},
        {"batch", "0", "error", "batch is '0'"},
        {"seed", "18446744073709551616", "error", "seed is"},
        {"kind", "probs", "error", "logits or probabilities"},
        {"columns", "0", "error", "columns is '0'; a whole number of 1 to 20"},
        {"columns", "21", "error", "columns is '21'; a whole number of 1 to 20"},
        {"columns", "", "error", "columns is ''"},
    };
    struct child child = reference("reference", NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct frame message = sample_message(logits, VOCAB, DRAWS), answer = {0};
        frame_set(&message, bad[i].key, bad[i].value);
        child_ask(&child, &message, &answer);
        assert_entry(&answer, "message", bad[i].answer);
        assert_contains(frame_get(&answer, "text"), bad[i].text);
        frame_free(&message);
        frame_free(&answer);
    }
    assert_ended(&child);
}

static void bad_arrays(void **state)
{
    (void)state;
    const int32_t rows[DRAWS] = {0, 0, 1};
    const double temperature[DRAWS] = {0}, warm[] = {2};
    const int64_t seeds[DRAWS] = {0};
    const uint64_t draws[] = {DRAWS}, one[] = {1}, flat[] = {VOCAB};
    const struct {
        const char *name, *kind, *answer, *text;
        enum frame_dtype dtype;
        const uint64_t *shape;
        const void *data;
    } bad[] = {
        {"row_index", "logits", "error", "row_index[2] is 1 of 1 rows", FRAME_I32, draws, rows},
        {"row_index", "logits", "error", "[draws] of I32", FRAME_I32, one, rows},
        {"row_index", "logits", "error", "[draws] of I32", FRAME_I64, draws, seeds},
        {"noise", "logits", "error", "[draws, vocab] of F32", FRAME_F32, flat, logits},
        {"temperature", "logits", "error", "[1] or [draws] of F64", FRAME_F32, one, logits},
        {"temperature", "logits", "error", "draw 0: the reference: temperature must be positive and finite",
         FRAME_F64, draws, temperature},
        {"temperature", "probabilities", "unsupported",
         "the reference takes no temperature with probabilities", FRAME_F64, one, warm},
        {"seeds", "logits", "error", "seeds and positions come together", FRAME_I64, draws, seeds},
        {"typical_p", "logits", "unsupported", "knows no array typical_p", FRAME_I64, draws, seeds},
    };
    struct child child = reference("reference", NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct frame message = sample_message(logits, VOCAB, DRAWS), answer = {0};
        frame_set(&message, "kind", bad[i].kind);
        frame_add(&message, bad[i].name, bad[i].dtype, 1, bad[i].shape, bad[i].data);
        child_ask(&child, &message, &answer);
        assert_entry(&answer, "message", bad[i].answer);
        assert_contains(frame_get(&answer, "text"), bad[i].text);
        assert_entry(&answer, "chunk", "3");
        frame_free(&message);
        frame_free(&answer);
    }
    struct frame message = sample_message(logits, VOCAB, DRAWS), answer = {0};
    message.arrays = 0;
    child_ask(&child, &message, &answer);
    assert_contains(frame_get(&answer, "text"), "values must be an array");
    frame_free(&message);
    frame_free(&answer);
    assert_ended(&child);
}

static void noise_where_no_rule_takes_it(void **state)
{
    (void)state;
    static float noise[DRAWS * VOCAB];
    const uint64_t shape[] = {DRAWS, VOCAB};
    struct child child = reference("reference:categorical", NULL);
    struct frame message = sample_message(logits, VOCAB, DRAWS), answer = {0};
    frame_add(&message, "noise", FRAME_F32, 2, shape, noise);
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "message", "unsupported");
    assert_contains(frame_get(&answer, "text"), "noise");
    frame_free(&message);
    frame_free(&answer);
    assert_ended(&child);
}

static void broken_input(void **state)
{
    (void)state;
    struct child child = reference("reference", NULL);
    assert_int_equal(write(child.to, "\xff\xff\xff\xff\xff\xff\xff\xff", 8), 8);
    int status = child_end(&child, errors, sizeof errors);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_contains(errors, "samplegate-host: a frame of");
}

int main(void)
{
    for (int i = 0; i < 2 * VOCAB; i++)
        logits[i] = (float)(i * 37 % 23) / 4;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello),         cmocka_unit_test(unseeded),
        cmocka_unit_test(mixed_rows),    cmocka_unit_test(noise_and_seeds),
        cmocka_unit_test(narrow_values), cmocka_unit_test(bad_messages),
        cmocka_unit_test(bad_arrays),    cmocka_unit_test(noise_where_no_rule_takes_it),
        cmocka_unit_test(broken_input),
    };
    return cmocka_run_group_tests_name("host, reference", tests, NULL, NULL);
}
