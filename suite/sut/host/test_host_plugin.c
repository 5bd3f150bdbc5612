/* test_host_plugin.c: samplegate-host with plug-ins that misbehave, and with none at all: one clear word each
 * time.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/test_child.h"

static const float logits[4] = {0, 1, 2, 3};
static char errors[4096];

/* Starts the host with a plug-in of the build directory. */
static struct child plugin(const char *file, const char *option)
{
    const char *const words[] = {build_path(file), option, NULL};
    return child_start("samplegate-host", words);
}

/* Before any frame: exit 2, one line on stderr, nothing on stdout. */
static void assert_refused(struct child child, const char *reason)
{
    struct frame none = {0};
    assert_int_equal(child_read(&child, &none), FRAME_END);
    int status = child_end(&child, errors, sizeof errors);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    assert_contains(errors, "samplegate-host: ");
    assert_contains(errors, reason);
    assert_ptr_equal(strchr(errors, '\n'), errors + strlen(errors) - 1);
}

static void refused_at_start(void **state)
{
    (void)state;
    const char *const rule[] = {"reference:beam", NULL}, *const option[] = {"reference", "valeus=logits",
                                                                            NULL};
    assert_refused(child_start("samplegate-host", rule),
                   "known rules: greedy categorical race gumbel torch-race seeded seeded-2025");
    assert_refused(child_start("samplegate-host", option),
                   "'valeus=logits' is not known to the reference; known: values=");
    assert_refused(plugin("missing.so", NULL), "missing.so: No such file");
    assert_refused(plugin("samplegate-host", NULL), "cannot load");
    assert_refused(plugin("no-symbol.so", NULL), "exports no function samplegate_plugin");
    assert_refused(plugin("other-abi.so", NULL), "was built for plug-in ABI 1001; this host has 1");
    assert_refused(plugin("fault-plugin.so", NULL), "'' is not known; known: id=none");
    assert_refused(plugin("fault-plugin.so", "id=nonsense"), "'id=nonsense' is not known; known: id=none");
    assert_refused(plugin("fault-plugin.so", "device=0"),
                   "device=0 is not known; known: device=cpu, device=cuda");
}

static void usage(void **state)
{
    (void)state;
    const char *const words[] = {NULL};
    struct child child = child_start("samplegate-host", words);
    int status = child_end(&child, errors, sizeof errors);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    assert_contains(errors, "usage: samplegate-host reference");
}

static void hello(void **state)
{
    (void)state;
    struct child child = plugin("fault-plugin.so", "id=none");
    struct frame message = {0}, answer = {0};
    char key[4200];
    frame_set(&message, "message", "hello");
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "name", "fault-plugin");
    assert_entry(&answer, "takes", "logits probabilities");
    assert_entry(&answer, "capabilities",
                 "top_k top_p min_p penalties logit_bias allowed_mask min_tokens kept_out");
    snprintf(key, sizeof key, "file:%s", build_path("fault-plugin.so"));
    assert_non_null(frame_get(&answer, key));
    assert_int_equal(strlen(frame_get(&answer, key)), 64);
    frame_free(&message);
    frame_free(&answer);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
}

/* Ten draws in calls of four: the last call has two. */
static void misbehaving_calls(void **state)
{
    (void)state;
    static const struct {
        const char *option, *answer, *text;
    } fault[] = {
        {"id=overflow", "error", "wrote past the end of its token buffer in the call of draws 0 to 3"},
        {"id=unwritten", "error", "wrote no token for draw 3 of the chunk (draw 3 of a call of 4)"},
        {"id=status-failed", "error", "sample() answered FAILED"},
        {"id=unsupported", "unsupported", "sample() answered UNSUPPORTED"},
    };
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        struct child child = plugin("fault-plugin.so", fault[i].option);
        struct frame message = sample_message(logits, 4, 10), answer = {0};
        for (int twice = 0; twice < 2; twice++) {
            child_ask(&child, &message, &answer);
            assert_entry(&answer, "message", fault[i].answer);
            assert_contains(frame_get(&answer, "text"), fault[i].text);
            assert_entry(&answer, "chunk", "3");
            frame_free(&answer);
        }
        frame_free(&message);
        assert_int_equal(child_end(&child, errors, sizeof errors), 0);
    }
}

/* What a plug-in prints goes to stderr; the frames stay whole. */
static void chatter(void **state)
{
    (void)state;
    struct child child = plugin("fault-plugin.so", "id=chatter");
    struct frame message = sample_message(logits, 4, 10), answer = {0};
    const int32_t zeros[10] = {0};
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "message", "tokens");
    assert_memory_equal(frame_find(&answer, "token")->data, zeros, sizeof zeros);
    frame_free(&message);
    frame_free(&answer);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
    assert_string_equal(errors, "sampled 4 tokens\nsampled 4 tokens\nsampled 2 tokens\n");
}

static void not_announced(void **state)
{
    (void)state;
    const double warm[] = {0.7}, one[] = {1};
    const uint64_t shape[] = {1};
    struct child child = plugin("fault-plugin.so", "id=none");
    for (int i = 0; i < 2; i++) {
        struct frame message = sample_message(logits, 4, 10), answer = {0};
        frame_add(&message, "temperature", FRAME_F64, 1, shape, i ? one : warm);
        child_ask(&child, &message, &answer);
        assert_entry(&answer, "message",
                     i ? "tokens" : "unsupported"); /* a temperature of 1 asks for nothing */
        if (!i)
            assert_contains(frame_get(&answer, "text"), "temperature");
        frame_free(&message);
        frame_free(&answer);
    }
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
}

/* Two rows with two columns of padding, five draws in calls of two: each call gets its own slice of every
 * parameter, and single values are spread. */
static void parameters_arrive(void **state)
{
    (void)state;
    const float rows[12] = {0, 1, 2, 3, 9, 9, 3, 2, 1, 0, 9, 9}, bias[8] = {1, 9, 9, 9, 2, 9, 9, 9};
    const uint8_t allowed[8] = {1, 9, 9, 9, 0, 9, 9, 9};
    const int32_t row_index[5] = {0, 1, 0, 1, 0};
    const int64_t top_k[5] = {1, 2, 3, 1, 2}, min_tokens[1] = {1}, offsets[6] = {0, 1, 1, 3, 3, 4};
    const int64_t ids[4] = {1, 2, 3, 4}, stop[6] = {0, 0, 0, 0, 1, 2}, stop_ids[2] = {5, 6};
    const double top_p[1] = {0.5}, min_p[5] = {0, 0.125, 0.25, 0.375, 0.5}, one[1] = {1},
                 two[5] = {2, 1, 2, 1, 2};
    const uint64_t five[] = {5}, six[] = {6}, four[] = {4}, single[] = {1}, pair[] = {2}, shape[] = {2, 4},
                   padded[] = {2, 6};
    struct child child = plugin("fault-plugin.so", "id=echo");
    struct frame message = sample_message(rows, 4, 5), answer = {0};
    message.arrays = 0;
    frame_set(&message, "batch", "2");
    frame_set(&message, "kept", "1");
    frame_set(&message, "columns", "4");
    frame_add(&message, "values", FRAME_F32, 2, padded, rows);
    frame_add(&message, "row_index", FRAME_I32, 1, five, row_index);
    frame_add(&message, "top_k", FRAME_I64, 1, five, top_k);
    frame_add(&message, "top_p", FRAME_F64, 1, single, top_p);
    frame_add(&message, "min_p", FRAME_F64, 1, five, min_p);
    frame_add(&message, "repetition_penalty", FRAME_F64, 1, five, two);
    frame_add(&message, "frequency_penalty", FRAME_F64, 1, single, one);
    frame_add(&message, "presence_penalty", FRAME_F64, 1, five, two);
    frame_add(&message, "min_tokens", FRAME_I64, 1, single, min_tokens);
    frame_add(&message, "prompt_tokens", FRAME_I64, 1, four, ids);
    frame_add(&message, "prompt_offsets", FRAME_I64, 1, six, offsets);
    frame_add(&message, "output_tokens", FRAME_I64, 1, four, ids);
    frame_add(&message, "output_offsets", FRAME_I64, 1, six, offsets);
    frame_add(&message, "stop_ids", FRAME_I64, 1, pair, stop_ids);
    frame_add(&message, "stop_offsets", FRAME_I64, 1, six, stop);
    frame_add(&message, "logit_bias", FRAME_F32, 2, shape, bias);
    frame_add(&message, "allowed", FRAME_U8, 2, shape, allowed);
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "message", "tokens");
    const int32_t *token = frame_find(&answer, "token")->data;
    for (int d = 0; d < 5; d++) {
        const int row = row_index[d] * 4, lists[] = {1, 0, 5, 0, 4}, stops[] = {0, 0, 0, 5, 6};
        const double expected = (double)top_k[d] + 4 * 0.5 + 8 * min_p[d] + 16 * two[d] + 64 + 256 * two[d] +
                                1024 + 4096 * (double)bias[row] + 8192 * allowed[row] + 110000.0 * lists[d] +
                                1000000.0 * stops[d] + 10000000.0 * (double)rows[row_index[d] * 6];
        assert_int_equal(token[d], (int32_t)expected);
    }
    const struct frame_array *kept = frame_find(&answer, "kept");
    assert_non_null(kept);
    assert_true(kept->dtype == FRAME_U8 && kept->shape[0] == 2 && kept->shape[1] == 4);
    assert_memory_equal(kept->data, ((const uint8_t[]){1, 0, 0, 1, 0, 0, 1, 0}), 8);
    frame_free(&message);
    frame_free(&answer);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
}

static void kept_unwritten(void **state)
{
    (void)state;
    struct child child = plugin("fault-plugin.so", "id=kept-unwritten");
    struct frame message = sample_message(logits, 4, 10), answer = {0};
    frame_set(&message, "kept", "1");
    child_ask(&child, &message, &answer);
    assert_entry(&answer, "message", "error");
    assert_contains(frame_get(&answer, "text"), "kept of row 0 has nothing written at id 0");
    frame_free(&message);
    frame_free(&answer);
    assert_int_equal(child_end(&child, errors, sizeof errors), 0);
}

static void crash(void **state)
{
    (void)state;
    struct child child = plugin("fault-plugin.so", "id=crash");
    struct frame message = sample_message(logits, 4, 10), answer = {0};
    char why[256];
    assert_int_equal(frame_write(child.to, &message, -1, why, sizeof why), FRAME_OK);
    assert_int_equal(child_read(&child, &answer), FRAME_END);
    frame_free(&message);
    int status = child_end(&child, errors, sizeof errors);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_at_start),
        cmocka_unit_test(usage),
        cmocka_unit_test(hello),
        cmocka_unit_test(misbehaving_calls),
        cmocka_unit_test(chatter),
        cmocka_unit_test(not_announced),
        cmocka_unit_test(parameters_arrive),
        cmocka_unit_test(kept_unwritten),
        cmocka_unit_test(crash),
    };
    return cmocka_run_group_tests_name("host, plug-ins", tests, NULL, NULL);
}
