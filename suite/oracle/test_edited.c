/* test_edited.c: penalties, biases and bans by hand in each engine's order, parameters read from JSON, and the law under
 * all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "suite/oracle/parameters.h"

static struct law_parameters parse(const char *text, size_t vocab)
{
    struct json_file file;
    struct trouble trouble = {0};
    struct law_parameters parameters;
    if (json_parse(&file, "parameters", text, strlen(text), EXIT_USAGE, &trouble))
        fail_msg("%s", trouble.text);
    struct json_cursor root = json_root(&file);
    if (law_parameters_read(&parameters, &root, vocab, &trouble))
        fail_msg("%s", trouble.text);
    json_close(&file);
    return parameters;
}

static void assert_edited(const char *editor, const char *text, double temperature, const float *logits,
                          size_t vocab, const double *expected)
{
    struct law_parameters parameters = parse(text, vocab);
    double edited[8];
    law_edited(law_editor_of(editor), &parameters.edits, temperature, logits, vocab, edited);
    for (size_t i = 0; i < vocab; i++)
        if (edited[i] != expected[i] && !(fabs(edited[i] - expected[i]) < 1e-15 * fabs(expected[i])))
            fail_msg("%s, %s: id %zu is %.17g, by hand %.17g", editor, text, i, edited[i], expected[i]);
    law_parameters_free(&parameters);
}

/* l = 2, T = 1/2, presence 1, repetition 1.2: 2/1.2 - 1 over 1/2 is 4/3; 4/1.2 - 1 is 7/3; (2 - 1)/1.2 over 1/2 is 5/3. */
static void order_by_hand(void **state)
{
    (void)state;
    static const char text[] = "{\"presence_penalty\": 1, \"repetition_penalty\": 1.2, \"output\": [0]}";
    const float logits[] = {2, 1};
    assert_edited("vllm-0.5.0", text, .5, logits, 2, (const double[]){4. / 3, 2});
    assert_edited("vllm-v1", text, .5, logits, 2, (const double[]){4. / 3, 2});
    assert_edited("tensorrt-llm-cpp", text, .5, logits, 2, (const double[]){7. / 3, 2});
    assert_edited("sglang", text, .5, logits, 2, (const double[]){5. / 3, 2});
}

static void counts_by_hand(void **state)
{
    (void)state;
    /* Prompt 0 0, output 1 2 2 2: repetition sees 0, 1 and 2 once each; negative logits grow away from 0. */
    static const char text[] =
        "{\"repetition_penalty\": 2, \"frequency_penalty\": 0.5, \"presence_penalty\": 0.25,"
        " \"prompt\": [0, 0], \"output\": [1, 2, 2, 2]}";
    const float logits[] = {4, -4, 4, 4, 0};
    assert_edited("vllm-v1", text, 1, logits, 5, (const double[]){2, -8.75, .25, 4, 0});
    assert_edited("sglang", text, 1, logits, 5, (const double[]){2, -9.5, 1.125, 4, 0});
    assert_edited("tensorrt-llm-cpp", text, 1, logits, 5, (const double[]){.75, -8.75, .25, 4, 0});
}

static void bans_by_hand(void **state)
{
    (void)state;
    static const char text[] =
        "{\"logit_bias\": [[0, 1.5], [2, -3], [0, 0.5]], \"banned\": [1], \"stop\": [3],"
        " \"min_tokens\": 2, \"output\": [4]}";
    static const char enough[] = "{\"stop\": [3], \"min_tokens\": 1, \"output\": [4]}";
    const float logits[] = {1, 1, 1, 1, 1};
    for (size_t e = 0; law_editor_at(e); e++) {
        const char *name = law_editor_name(law_editor_at(e));
        const double edited[] = {3, -INFINITY, -2, -INFINITY, 1};
        assert_edited(name, text, 1, logits, 5, edited);
        assert_edited(name, enough, 1, logits, 5, (const double[]){1, 1, 1, 1, 1});
    }
    /* A bias before the repetition penalty is divided with the rest: (1 + 3) / 2; after it, 1 / 2 + 3. */
    static const char both[] = "{\"logit_bias\": [[0, 3]], \"repetition_penalty\": 2, \"prompt\": [0]}";
    assert_edited("vllm-0.5.0", both, 1, logits, 1, (const double[]){2});
    assert_edited("sglang", both, 1, logits, 1, (const double[]){3.5});
}

static void law_by_hand(void **state)
{
    (void)state;
    /* [3 2 1 0 -1], T = 2, p = .9: at T = 2 four ids are needed, at T = 1 three. */
    struct law_parameters parameters = parse("{\"top_p\": 0.9}", 5);
    const float logits[] = {3, 2, 1, 0, -1};
    double pmf[5];
    uint8_t kept[5];
    law_under(law_filter_of("vllm-v1"), law_editor_at(0), &parameters, VALUE_LOGITS, logits, 5, 2, pmf, kept);
    assert_true(kept[3] && !kept[4]);
    law_under(law_filter_of("llama.cpp"), law_editor_at(0), &parameters, VALUE_LOGITS, logits, 5, 2, pmf,
              kept);
    assert_true(kept[2] && !kept[3] && pmf[3] == 0);
    double sum = 1 + exp(-.5) + exp(-1); /* what is left, at T = 2 */
    for (int i = 0; i < 3; i++)
        assert_true(fabs(pmf[i] - exp(-.5 * i) / sum) < 1e-15);
    /* As probabilities the temperature is not the filters' business. */
    const float masses[] = {5, 3, 2, 1, 0};
    law_under(law_filter_of("llama.cpp"), law_editor_at(0), &parameters, VALUE_PROBABILITIES, masses, 5, 1,
              pmf, kept);
    assert_true(pmf[0] == .5 && kept[2] && !kept[3]);
    law_parameters_free(&parameters);
}

/* 3 - 1 = 2: two ids tie by the penalty alone, where top_k ends. */
static void ties_of_edits(void **state)
{
    (void)state;
    static const struct {
        const char *parameters;
        bool decided;
    } cases[] = {{"{\"top_k\": 2, \"presence_penalty\": 1, \"output\": [1]}", false},
                 {"{\"top_k\": 1, \"presence_penalty\": 1, \"output\": [1]}", true},
                 {"{\"presence_penalty\": 1, \"output\": [1]}", true},
                 {"{\"top_k\": 2, \"presence_penalty\": 1.5, \"output\": [1]}", true},
                 {"{\"top_k\": 2, \"presence_penalty\": 1, \"output\": [3]}", true}};
    const float logits[] = {4, 3, 2, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct law_parameters parameters = parse(cases[i].parameters, 4);
        double pmf[4];
        uint8_t kept[4];
        struct law_filtered left =
            law_under(law_filter_at(0), law_editor_at(0), &parameters, VALUE_LOGITS, logits, 4, 1, pmf, kept);
        if (law_decided(&left) != cases[i].decided)
            fail_msg("%s", cases[i].parameters);
        law_parameters_free(&parameters);
    }
}

static void refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"top_k\": 0}", "top_k"},
        {"{\"top_p\": \"nan\"}", "top_p"},
        {"{\"min_p\": \"inf\"}", "min_p"},
        {"{\"repetition_penalty\": 0}", "repetition_penalty"},
        {"{\"repetition_penalty\": \"nan\"}", "repetition_penalty"},
        {"{\"frequency_penalty\": \"inf\"}", "frequency_penalty"},
        {"{\"presence_penalty\": \"-inf\"}", "presence_penalty"},
        {"{\"min_tokens\": -1}", "min_tokens"},
        {"{\"prompt\": [5]}", "prompt"},
        {"{\"output\": [-1]}", "output"},
        {"{\"stop\": [5]}", "stop"},
        {"{\"top_k\": -1, \"top_p\": \"0x1p-1\", \"min_p\": 1, \"output\": [4], \"frequency_penalty\": -2}",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct law_parameters parameters = parse(cases[i][0], 5);
        const char *name = law_parameters_refused(&parameters, 1, 5);
        if (!cases[i][1])
            assert_null(name);
        else
            assert_string_equal(name, cases[i][1]);
        law_parameters_free(&parameters);
    }
    struct law_parameters none = law_parameters_none();
    assert_null(law_parameters_refused(&none, 0x1p-1074, 5));
    assert_string_equal(law_parameters_refused(&none, NAN, 5), "temperature");
    assert_string_equal(law_parameters_refused(&none, 0, 5), "temperature");
    assert_null(law_editor_of("hf-transformers"));
    assert_false(law_edits_any(&(struct law_edits){.repetition = 1}));
}

static void unreadable(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"topk\": 1}", "unknown key \"topk\"; accepted: top_k, top_p"},
        {"{\"top_k\": 1.5}", "top_k"},
        {"{\"top_p\": \"half\"}", "top_p: must be a finite number in a string"},
        {"{\"banned\": [5]}", "banned[0]: must be an integer from 0 to 4, is 5"},
        {"{\"logit_bias\": [[1]]}", "logit_bias[0]: must be [id, value]"},
        {"{\"logit_bias\": [[5, 1]]}", "from 0 to 4"},
        {"{\"logit_bias\": [[1, 0.1]]}", "a float holds exactly"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_file file;
        struct trouble trouble = {0};
        struct law_parameters parameters;
        assert_int_equal(json_parse(&file, "p", cases[i][0], strlen(cases[i][0]), EXIT_USAGE, &trouble), 0);
        struct json_cursor root = json_root(&file);
        assert_int_equal(law_parameters_read(&parameters, &root, 5, &trouble), -1);
        if (trouble.exit != EXIT_USAGE || !strstr(trouble.text, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], trouble.text);
        law_parameters_free(&parameters);
        json_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_by_hand), cmocka_unit_test(counts_by_hand), cmocka_unit_test(bans_by_hand),
        cmocka_unit_test(law_by_hand),   cmocka_unit_test(refused),        cmocka_unit_test(ties_of_edits),
        cmocka_unit_test(unreadable),
    };
    return cmocka_run_group_tests_name("law under parameters", tests, NULL, NULL);
}
