/* test_host_cuda.c: cuda:RULE answers every message as reference:RULE does, with the kernels run through the
 * host shim (BUILD/tests/shim-host); and the host itself says what is missing where there is no GPU.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/test_child.h"
#include "kernels/sampler.h"

#include <math.h>

#define ROWS 3
#define VOCAB 140
#define DRAWS 50

static float logits[ROWS * VOCAB], probabilities[ROWS * VOCAB], noise[DRAWS * VOCAB];
static char errors[4096];

struct pair {
    struct child cuda, reference;
};

static struct pair pair_start(enum sampler_rule rule)
{
    char word[2][64];
    snprintf(word[0], sizeof word[0], "cuda:%s", sampler_rule_name(rule));
    snprintf(word[1], sizeof word[1], "reference:%s", sampler_rule_name(rule));
    const char *const words[2][2] = {{word[0], NULL}, {word[1], NULL}};
    return (struct pair){child_start("tests/shim-host", words[0]), child_start("samplegate-host", words[1])};
}

/* The one that was started last first: it holds an end of the other's pipe. */
static void pair_end(struct pair *pair)
{
    assert_int_equal(child_end(&pair->reference, errors, sizeof errors), 0);
    assert_int_equal(child_end(&pair->cuda, errors, sizeof errors), 0);
    assert_string_equal(errors, "");
}

/* The same kind of answer, the same tokens. Frees the message. */
static void pair_ask(const struct pair *pair, struct frame *message, const char *kind)
{
    struct frame answer[2] = {{0}, {0}};
    child_ask(&pair->cuda, message, &answer[0]);
    child_ask(&pair->reference, message, &answer[1]);
    for (int i = 0; i < 2; i++) {
        assert_entry(&answer[i], "message", kind);
        assert_entry(&answer[i], "chunk", "3");
    }
    if (strcmp(kind, "tokens") == 0) {
        const struct frame_array *token[] = {frame_find(&answer[0], "token"),
                                             frame_find(&answer[1], "token")};
        assert_true(token[0] && token[1] && token[0]->bytes == token[1]->bytes);
        assert_memory_equal(token[0]->data, token[1]->data, token[1]->bytes);
        const struct frame_array *kept[] = {frame_find(&answer[0], "kept"), frame_find(&answer[1], "kept")};
        assert_true(!kept[0] == !kept[1]);
        if (kept[0])
            assert_memory_equal(kept[0]->data, kept[1]->data, ROWS * VOCAB);
    }
    frame_free(&answer[0]);
    frame_free(&answer[1]);
    frame_free(message);
}

static struct frame message_of(const char *kind, const void *values, enum frame_dtype dtype, uint64_t batch)
{
    static const uint64_t shape[] = {ROWS, VOCAB};
    struct frame message = sample_message(logits, VOCAB, DRAWS);
    message.arrays = 0;
    frame_set(&message, "kind", kind);
    frame_set_u64(&message, "batch", batch);
    frame_add(&message, "values", dtype, 2, shape, values);
    return message;
}

static void hello(void **state)
{
    (void)state;
    const char *const words[] = {"cuda", "values=probabilities", NULL};
    struct child child = child_start("tests/shim-host", words);
    struct frame message = {0}, answer = {0};
    frame_set(&message, "message", "hello");
    frame_set(&message, "protocol", FRAME_PROTOCOL);
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "name", "cuda:race");
    assert_entry(&answer, "device", "cuda host shim, compute 0.0");
    assert_entry(&answer, "takes", "probabilities logits");
    assert_entry(&answer, "capabilities",
                 "temperature noise seeded top_k top_p min_p penalties logit_bias allowed_mask min_tokens kept_out");
    assert_entry(&answer, "version:cuda-runtime", "0.0");
    frame_free(&answer);
    frame_free(&message);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
}

/* Every rule, batch size and dtype; buffers grow and are used again. */
static void tokens(void **state)
{
    (void)state;
    static uint16_t brain[ROWS * VOCAB], half[ROWS * VOCAB];
    int32_t row_index[DRAWS];
    double temperature[DRAWS];
    int64_t seeds[DRAWS], positions[DRAWS];
    const uint64_t draws[] = {DRAWS}, one[] = {1};
    const double warm[] = {0.7};
    for (int i = 0; i < ROWS * VOCAB; i++) {
        uint32_t bits;
        memcpy(&bits, &logits[i], sizeof bits);
        brain[i] = (uint16_t)(bits >> 16);
        half[i] = (uint16_t)(i * 97 % 0x4000); /* any positive binary16 below 2 */
    }
    for (int d = 0; d < DRAWS; d++) {
        row_index[d] = d * 7 % ROWS;
        temperature[d] = 0.5 + d % 3;
        seeds[d] = -5 + d % 3;
        positions[d] = d * d;
    }
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        struct pair pair = pair_start((enum sampler_rule)rule);
        for (uint64_t batch = 1; batch < 100; batch *= 7) {
            struct frame message = message_of("logits", logits, FRAME_F32, batch);
            pair_ask(&pair, &message, "tokens");
            message = message_of("logits", logits, FRAME_F32, batch);
            frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
            frame_add(&message, "temperature", FRAME_F64, 1, draws, temperature);
            pair_ask(&pair, &message, "tokens");
            message = message_of("probabilities", probabilities, FRAME_F32, batch);
            frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
            frame_add(&message, "seeds", FRAME_I64, 1, draws, seeds);
            frame_add(&message, "positions", FRAME_I64, 1, draws, positions);
            pair_ask(&pair, &message, "tokens");
            message = message_of("logits", brain, FRAME_BF16, batch);
            frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
            frame_add(&message, "temperature", FRAME_F64, 1, one, warm);
            pair_ask(&pair, &message, "tokens");
            message = message_of("probabilities", half, FRAME_F16, batch);
            frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
            pair_ask(&pair, &message, "tokens");
            /* The same rows with their last ids as padding; test_host_options.c holds the reference to it. */
            for (int narrow = 0; narrow < 2; narrow++) {
                message = message_of("logits", narrow ? (void *)brain : logits,
                                     narrow ? FRAME_BF16 : FRAME_F32, batch);
                frame_set_u64(&message, "columns", VOCAB - 9);
                frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
                pair_ask(&pair, &message, "tokens");
            }
        }
        pair_end(&pair);
    }
}

/* A message under filters and penalties, one value for all draws or one a draw. */
static struct frame filtered_message(const char *kind, uint64_t batch, int which)
{
    static int32_t row_index[DRAWS];
    static int64_t top_k[DRAWS], prompt[DRAWS * 3], prompt_offsets[DRAWS + 1];
    static double top_p[DRAWS], min_p[DRAWS], repetition[DRAWS], temperature[DRAWS];
    static float bias[ROWS * VOCAB];
    static uint8_t allowed[ROWS * VOCAB];
    static const int64_t output[] = {5, 5, 9, 139}, one_k[] = {6};
    static int64_t output_offsets[DRAWS + 1];
    const uint64_t draws[] = {DRAWS}, one[] = {1}, more[] = {DRAWS + 1}, cells[] = {ROWS, VOCAB};
    for (int d = 0; d < DRAWS; d++) {
        row_index[d] = d * 7 % ROWS;
        temperature[d] = 0.5 + d % 3;
        top_k[d] = d % 5 ? d % 40 + 1 : -1;
        top_p[d] = d % 4 ? 0.1 * (d % 9 + 1) : 1;
        min_p[d] = d % 3 ? 0 : 0.1;
        repetition[d] = 1 + 0.1 * (d % 6);
        prompt_offsets[d + 1] = prompt_offsets[d] + d % 4;
        output_offsets[d + 1] = d < 30 ? 0 : (d - 30) % 5 == 4 ? 4 : output_offsets[d];
        for (int64_t t = prompt_offsets[d]; t < prompt_offsets[d + 1]; t++)
            prompt[t] = (d * 31 + t * 7) % VOCAB;
    }
    for (int i = 0; i < ROWS * VOCAB; i++) {
        bias[i] = (float)(i % 5) / 2;
        allowed[i] = i % 3 != 0;
    }
    struct frame message = message_of(kind, strcmp(kind, "logits") == 0 ? logits : probabilities, FRAME_F32, batch);
    frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
    frame_set(&message, "kept", "1");
    if (which % 3 != 2) {
        if (which % 2)
            frame_add(&message, "top_k", FRAME_I64, 1, one, one_k);
        else
            frame_add(&message, "top_k", FRAME_I64, 1, draws, top_k);
        frame_add(&message, "top_p", FRAME_F64, 1, draws, top_p);
        frame_add(&message, "min_p", FRAME_F64, 1, draws, min_p);
    }
    if (strcmp(kind, "logits") != 0 || which % 3 == 0)
        return message;
    const uint64_t prompts[] = {(uint64_t)prompt_offsets[DRAWS]}, outputs[] = {(uint64_t)output_offsets[DRAWS]};
    frame_add(&message, "temperature", FRAME_F64, 1, draws, temperature);
    frame_add(&message, "repetition_penalty", FRAME_F64, 1, draws, repetition);
    frame_add(&message, "frequency_penalty", FRAME_F64, 1, draws, min_p);
    frame_add(&message, "prompt_tokens", FRAME_I64, 1, prompts, prompt);
    frame_add(&message, "prompt_offsets", FRAME_I64, 1, more, prompt_offsets);
    frame_add(&message, "output_tokens", FRAME_I64, 1, outputs, output);
    frame_add(&message, "output_offsets", FRAME_I64, 1, more, output_offsets);
    frame_add(&message, "logit_bias", FRAME_F32, 2, cells, bias);
    frame_add(&message, "allowed", FRAME_U8, 2, cells, allowed);
    return message;
}

/* Filters, penalties and kept sets, every rule and some filter rules; the reference's answer each time. */
static void filters(void **state)
{
    (void)state;
    const uint64_t draws[] = {DRAWS};
    static const char *const options[] = {"filters=sglang-pytorch", "filters=llama.cpp", "filters=vllm-v1"};
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        char word[2][64];
        snprintf(word[0], sizeof word[0], "cuda:%s", sampler_rule_name((enum sampler_rule)rule));
        snprintf(word[1], sizeof word[1], "reference:%s", sampler_rule_name((enum sampler_rule)rule));
        const char *const words[2][4] = {{word[0], options[rule % 3], "penalties=vllm-v1", NULL},
                                         {word[1], options[rule % 3], "penalties=vllm-v1", NULL}};
        struct pair pair = {child_start("tests/shim-host", words[0]), child_start("samplegate-host", words[1])};
        for (uint64_t batch = 1; batch < 100; batch *= 49)
            for (int which = 0; which < 3; which++) {
                struct frame message = filtered_message("logits", batch, which);
                pair_ask(&pair, &message, "tokens");
                message = filtered_message("probabilities", batch, which);
                pair_ask(&pair, &message, "tokens");
            }
        int64_t top_k[DRAWS];
        for (int d = 0; d < DRAWS; d++)
            top_k[d] = d == 20 ? 0 : 3;
        struct frame message = message_of("logits", logits, FRAME_F32, 4);
        frame_add(&message, "top_k", FRAME_I64, 1, draws, top_k);
        pair_ask(&pair, &message, "error");
        pair_end(&pair);
    }
}

static void noise_in(void **state)
{
    (void)state;
    const uint64_t shape[] = {DRAWS, VOCAB};
    for (int d = 0; d < DRAWS; d++)
        sampler_noise(7, (uint64_t)d, VOCAB, noise + d * VOCAB);
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        const int takes = rule == RULE_RACE || rule == RULE_GUMBEL || rule == RULE_TORCH_RACE;
        struct pair pair = pair_start((enum sampler_rule)rule);
        for (uint64_t batch = 1; batch < 100; batch *= 7) {
            struct frame message = message_of("probabilities", probabilities, FRAME_F32, batch);
            frame_add(&message, "noise", FRAME_F32, 2, shape, noise);
            pair_ask(&pair, &message, takes ? "tokens" : "unsupported");
        }
        pair_end(&pair);
    }
}

/* The same plug-in on either device; the last option is its own. */
static struct pair plugin_start(const char *option)
{
    const char *const cuda[] = {build_path("fault-plugin.so"), "device=cuda", option, NULL};
    struct child first = child_start("tests/shim-host", cuda);
    const char *const cpu[] = {build_path("fault-plugin.so"), "device=cpu", option, NULL};
    return (struct pair){first, child_start("samplegate-host", cpu)};
}

/* What a plug-in is given in device memory is what it is given on the CPU (test_host_plugin.c knows by hand what that is);
 * its tokens say which device they are of. */
static void plugin_on_device(void **state)
{
    (void)state;
    int32_t row_index[DRAWS];
    int64_t top_k[DRAWS];
    uint8_t allowed[ROWS * (VOCAB - 9)];
    static float bias[ROWS * (VOCAB - 9)];
    const uint64_t draws[] = {DRAWS}, dense[] = {ROWS, VOCAB - 9};
    for (int d = 0; d < DRAWS; d++) {
        row_index[d] = d * 7 % ROWS;
        top_k[d] = d % 4 - 1;
    }
    for (int i = 0; i < ROWS * (VOCAB - 9); i++) {
        bias[i] = (float)(i % 5);
        allowed[i] = i % 3 != 0;
    }
    struct pair pair = plugin_start("id=echo");
    struct frame question = {0}, told = {0};
    frame_set(&question, "message", "hello");
    child_ask(&pair.cuda, &question, &told);
    assert_entry(&told, "device", "cuda host shim, compute 0.0");
    frame_free(&question);
    frame_free(&told);
    for (uint64_t batch = 1; batch < 100; batch *= 7) {
        struct frame message = message_of("logits", logits, FRAME_F32, batch), answer[2] = {{0}, {0}};
        frame_set_u64(&message, "columns", VOCAB - 9);
        frame_set(&message, "kept", "1");
        frame_add(&message, "row_index", FRAME_I32, 1, draws, row_index);
        frame_add(&message, "top_k", FRAME_I64, 1, draws, top_k);
        frame_add(&message, "logit_bias", FRAME_F32, 2, dense, bias);
        frame_add(&message, "allowed", FRAME_U8, 2, dense, allowed);
        child_ask(&pair.cuda, &message, &answer[0]);
        child_ask(&pair.reference, &message, &answer[1]);
        const struct frame_array *token[2], *kept[2];
        for (int i = 0; i < 2; i++) {
            assert_entry(&answer[i], "message", "tokens");
            token[i] = frame_find(&answer[i], "token");
            kept[i] = frame_find(&answer[i], "kept");
        }
        for (int d = 0; d < DRAWS; d++)
            assert_int_equal(((const int32_t *)token[0]->data)[d],
                             ((const int32_t *)token[1]->data)[d] + 100000000);
        assert_memory_equal(kept[0]->data, kept[1]->data, sizeof allowed);
        frame_free(&answer[0]);
        frame_free(&answer[1]);
        frame_free(&message);
    }
    pair_end(&pair);
}

static void plugin_misbehaves_on_device(void **state)
{
    (void)state;
    static const char *const fault[][3] = {{"id=overflow", "error", "wrote past the end of its token buffer"},
                                           {"id=unwritten", "error", "wrote no token for draw 3"},
                                           {"id=kept-unwritten", "error", "has nothing written at id 0"},
                                           {"id=unsupported", "unsupported", "answered UNSUPPORTED"}};
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        const char *const words[] = {build_path("fault-plugin.so"), "device=cuda", fault[i][0], NULL};
        struct child child = child_start("tests/shim-host", words);
        struct frame message = message_of("logits", logits, FRAME_F32, 4), answer = {0};
        frame_set(&message, "kept", "1");
        child_ask(&child, &message, &answer);
        assert_entry(&answer, "message", fault[i][1]);
        assert_contains(frame_get(&answer, "text"), fault[i][2]);
        frame_free(&answer);
        frame_free(&message);
        assert_int_equal(child_end(&child, errors, sizeof errors), 0);
    }
}

static void bad_messages(void **state)
{
    (void)state;
    const uint64_t one[] = {1}, draws[] = {DRAWS};
    const double cold[] = {0}, warm[] = {2};
    double one_bad[DRAWS];
    for (int d = 0; d < DRAWS; d++)
        one_bad[d] = d == 31 ? 1e-60 : 1;
    struct pair pair = pair_start(RULE_RACE);
    struct frame message = message_of("logits", logits, FRAME_F32, 4);
    frame_add(&message, "temperature", FRAME_F64, 1, one, cold);
    pair_ask(&pair, &message, "error");
    message = message_of("logits", logits, FRAME_F32, 4);
    frame_add(&message, "temperature", FRAME_F64, 1, draws, one_bad);
    pair_ask(&pair, &message, "error");
    message = message_of("probabilities", probabilities, FRAME_F32, 4);
    frame_add(&message, "temperature", FRAME_F64, 1, one, warm);
    pair_ask(&pair, &message, "unsupported");
    const uint64_t wide = (1 << 20) + 1, shape[] = {1, wide};
    float *row = calloc(wide, sizeof *row);
    assert_non_null(row);
    message = message_of("logits", logits, FRAME_F32, 4);
    message.arrays = 0;
    frame_add(&message, "values", FRAME_F32, 2, shape, row);
    pair_ask(&pair, &message, "error");
    free(row);
    message = message_of("logits", logits, FRAME_F32, 4);
    pair_ask(&pair, &message, "tokens"); /* as good as before */
    pair_end(&pair);
}

static void cannot_open(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"cuda:warp", "rule 'warp' is not known; known rules: greedy"},
                                         {"cuda:", "rule '' is not known"}};
    for (size_t i = 0; i < 2; i++) {
        const char *const words[] = {bad[i][0], NULL};
        struct child child = child_start("tests/shim-host", words);
        const int status = child_end(&child, errors, sizeof errors);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
        assert_contains(errors, bad[i][1]);
    }
    const char *const option[] = {"cuda", "device=3", NULL};
    struct child child = child_start("tests/shim-host", option);
    int status = child_end(&child, errors, sizeof errors);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    assert_contains(errors, "option 'device=3' is not known to cuda");
    /* The real host: a device, or one line that says which of the two is missing. */
    const char *const words[] = {"cuda:race", NULL};
    child = child_start("samplegate-host", words);
    status = child_end(&child, errors, sizeof errors);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0)
        return;
    assert_int_equal(WEXITSTATUS(status), 2);
    assert_true(strncmp(errors, "samplegate-host: cuda: no device (", 34) == 0 ||
                strncmp(errors, "samplegate-host: cuda: not built", 32) == 0);
    assert_ptr_equal(strchr(errors, '\n'), errors + strlen(errors) - 1);
}

int main(void)
{
    for (int i = 0; i < ROWS * VOCAB; i++) {
        logits[i] = (float)(i * 37 % 23) / 4;
        probabilities[i] = (float)(i * 41 % 29) / 64;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello),
        cmocka_unit_test(tokens),
        cmocka_unit_test(filters),
        cmocka_unit_test(noise_in),
        cmocka_unit_test(bad_messages),
        cmocka_unit_test(cannot_open),
        cmocka_unit_test(plugin_on_device),
        cmocka_unit_test(plugin_misbehaves_on_device),
    };
    return cmocka_run_group_tests_name("host, cuda", tests, NULL, NULL);
}
