/* test_ask.c: questions worked by hand get their answers, exact to the last digit, and what is no question is said to be
 * none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/sut/engines/ask.h"

#define HEAD(ask, as) "\"ask\":\"" ask "\",\"engine\":\"sglang-0.5.20\",\"as\":\"" as "\""
#define PATH(batch) "{" HEAD("path", "upstream") ",\"server\":{},\"batch\":" batch "}"
#define NORMALIZE(params) "{" HEAD("normalize", "article-port") ",\"params\":" params "}"

static const struct engine *engine(void)
{
    return engine_find("sglang-0.5.20");
}

static void answers(const char *questions, const char *expected)
{
    char *told = NULL;
    struct engine_why why = {""};
    if (engine_ask(engine(), questions, &told, &why) != ENGINE_ANSWERED)
        fail_msg("%s: %s", questions, why.text);
    assert_string_equal(told, expected);
    free(told);
}

/* The article's examples, and one of each outcome. */
static void worked_by_hand(void **state)
{
    (void)state;
    answers("[]", "[]");
    answers("[" PATH("[]") "," PATH("[{},{\"top_k\":20}]") "]",
            "[{\"error\":\"a batch needs at least one request\",\"status\":0},"
            "{\"path\":\"filtered\",\"seeded\":false,\"backend\":\"flashinfer\"}]");
    answers("[" PATH("[{\"top_p\":1.5}]") "]",
            "[{\"error\":\"top_p must be in (0, 1], got 1.5.\",\"status\":400}]");
    answers(
        "[{" HEAD("effective",
                  "article-prose") ",\"endpoint\":\"chat\",\"server\":{\"generation_config\":{\"top_k\":20},"
                                   "\"preferred\":{\"min_p\":0.25}},\"request\":{\"temperature\":0,\"top_p\":"
                                   "null}}]",
        "[{\"effective\":{\"temperature\":[0.0,\"request\"],\"top_k\":[20,\"model\"],\"top_p\":[1.0,"
        "\"default\"],"
        "\"min_p\":[0.25,\"preferred\"],\"repetition_penalty\":[1.0,\"default\"]},\"path\":\"greedy\"}]");
    answers("[{" HEAD("effective", "upstream") ",\"endpoint\":\"completions\",\"server\":{},\"request\":"
                                               "{\"top_k\":null}}]",
            "[{\"error\":\"top_k must be an integer, is null\",\"status\":400}]");
    answers(
        "[{" HEAD("history",
                  "article-port") ",\"server\":{},\"events\":[{\"do\":\"admit\",\"id\":\"a\",\"request\":"
                                  "{\"temperature\":0}},{\"do\":\"join\"},{\"do\":\"finish\",\"id\":\"a\"},"
                                  "{\"do\":\"filter\"}]}]",
        "[{\"events\":[{\"prefill\":{\"flags\":\"Gk--\",\"path\":\"greedy\"},\"running\":null},"
        "{\"prefill\":null,\"running\":{\"flags\":\"Gk--\",\"path\":\"greedy\"}},"
        "{\"prefill\":null,\"running\":null},{\"prefill\":null,\"running\":null}]}]");
    answers("[{" HEAD("history", "upstream") ",\"server\":{},\"events\":[{\"do\":\"admit\",\"id\":\"a\","
                                             "\"request\":{\"top_k\":0}}]}]",
            "[{\"error\":\"top_k must be -1 (disable) or at least 1, got 0.\",\"status\":400}]");
}

/* What the name of a path hides, mixed chunks, the draft sampler, and members that are no parameters. */
static void more_by_hand(void **state)
{
    (void)state;
    answers(
        "[{" HEAD("path", "upstream") ",\"server\":{\"deterministic\":true},\"batch\":[{},{\"top_p\":0.5}]}]",
        "[{\"path\":\"filtered\",\"seeded\":true,\"backend\":\"pytorch\",\"noise\":\"rank\"}]");
    answers(
        "[{" HEAD("path", "upstream") ",\"server\":{\"deterministic\":true},\"batch\":[{\"sampling_seed\":"
                                      "{\"integer\":\"9223372036854775808\"}}]}]",
        "[{\"error\":\"a seed does not fit the batch's int64 tensor\",\"status\":0}]");
    answers("[{" HEAD("path", "upstream") ",\"server\":{\"draft\":true,\"switch\":\"no\"},\"batch\":[{}]}]",
            "[{\"path\":\"multinomial\",\"seeded\":false,\"backend\":\"flashinfer\"}]");
    answers("[{" HEAD("history",
                      "article-prose") ",\"server\":{},\"events\":["
                                       "{\"do\":\"admit\",\"id\":\"a\",\"request\":{\"top_p\":0.5}},{\"do\":"
                                       "\"join\"},{\"do\":\"mix\"},"
                                       "{\"do\":\"admit\",\"id\":\"b\",\"request\":{}},{\"do\":\"mix\"}]}]",
            "[{\"events\":[{\"prefill\":{\"flags\":\"--p-\",\"path\":\"filtered\"},\"running\":null},"
            "{\"prefill\":null,\"running\":{\"flags\":\"--p-\",\"path\":\"filtered\"}},"
            "{\"prefill\":null,\"running\":{\"flags\":\"--p-\",\"path\":\"filtered\"}},"
            "{\"prefill\":{\"flags\":\"----\",\"path\":\"gumbel\"},\"running\":{\"flags\":\"--p-\",\"path\":"
            "\"filtered\"}},"
            "{\"prefill\":{\"flags\":\"--p-\",\"path\":\"filtered\"},\"running\":null}]}]");
    answers(
        "[{" HEAD("effective", "upstream") ",\"endpoint\":\"completions\",\"server\":{},\"request\":"
                                           "{\"max_tokens\":0}},"
                                           "{" HEAD("effective",
                                                    "upstream") ",\"server\":{\"vocab\":10},\"request\":"
                                                                "{\"n\":null,\"logit_bias\":{\"10\":1}}}]",
        "[{\"error\":\"max_tokens must be positive\",\"status\":400},"
        "{\"error\":\"'>' not supported between instances of 'NoneType' and 'int'\",\"status\":500}]");
}

/* No digit is lost on the way in or out, and every kind of value comes back as it went in. */
static void values_survive(void **state)
{
    (void)state;
    answers("[" NORMALIZE("{\"temperature\":0.1,\"top_k\":{\"integer\":\"4611686018427387905\"},\"top_p\":"
                          "{\"float\":\"0x1.fffffffffffffp-1\"},\"min_p\":5e-324}") "]",
            "[{\"normalized\":{\"temperature\":0.1,\"top_k\":{\"integer\":\"4611686018427387905\"},"
            "\"top_p\":0.9999999999999999,\"min_p\":5e-324}}]");
    answers(
        "[" NORMALIZE("{\"temperature\":{\"float\":\"inf\"},\"top_k\":\"\\u00e9\",\"top_p\":[1],\"min_p\":{},"
                      "\"repetition_penalty\":true,\"seed\":null,\"frequency_penalty\":-0.0,"
                      "\"presence_penalty\":{\"float\":\"nan\"}}") "]",
        "[{\"normalized\":{\"temperature\":{\"float\":\"inf\"},\"top_k\":\"\xc3\xa9\",\"top_p\":[],\"min_p\":"
        "{},"
        "\"repetition_penalty\":true,\"frequency_penalty\":-0.0,\"presence_penalty\":{\"float\":\"nan\"},"
        "\"seed\":null}}]");
    answers("[" NORMALIZE("{\"temperature\":1,\"top_k\":20.0,\"top_p\":1,\"min_p\":{\"integer\":\"0\"}}") "]",
            "[{\"normalized\":{\"temperature\":1.0,\"top_k\":20,\"top_p\":1.0,\"min_p\":0}}]");
}

static void no_question(void **state)
{
    (void)state;
    static const struct {
        const char *questions, *why;
        enum engine_reply reply;
    } bad[] = {
        {"", "questions must be a JSON array", ENGINE_MALFORMED},
        {"{}", "questions must be a JSON array", ENGINE_MALFORMED},
        {"[] []", "questions must be a JSON array", ENGINE_MALFORMED},
        {"[1]", "must be an object", ENGINE_MALFORMED},
        {"[{}]", "\"ask\" is missing", ENGINE_MALFORMED},
        {"[{\"ask\":1}]", "\"ask\": must be a string", ENGINE_MALFORMED},
        {"[{" HEAD("weather", "upstream") "}]", "question \"weather\" is not known here", ENGINE_UNSUPPORTED},
        {"[{" HEAD("path", "hearsay") "}]", "reading \"hearsay\" is not known here", ENGINE_UNSUPPORTED},
        {"[{\"ask\":\"path\",\"engine\":\"sglang-0.5.19\",\"as\":\"upstream\"}]",
         "engine \"sglang-0.5.19\" is not known here", ENGINE_UNSUPPORTED},
        {"[{" HEAD("path", "upstream") ",\"server\":{}}]", "\"batch\": must be an array", ENGINE_MALFORMED},
        {"[{" HEAD("path", "upstream") ",\"batch\":[]}]", "server: must be an object", ENGINE_MALFORMED},
        {"[{" HEAD("path", "upstream") ",\"server\":{},\"batch\":[],\"bath\":1}]",
         "unknown key \"bath\"; accepted: ask, engine, as, server, batch, endpoint", ENGINE_MALFORMED},
        {"[" PATH("[{},7]") "]", "batch[1]: must be an object", ENGINE_MALFORMED},
        {"[" PATH("[{\"top_q\":1}]") "]", "batch[0]: unknown key \"top_q\"; accepted: temperature",
         ENGINE_MALFORMED},
        {"[" PATH("[{\"top_p\":{\"float\":1}}]") "]", "batch[0].top_p: \"float\": must be a string",
         ENGINE_MALFORMED},
        {"[" PATH("[{\"top_p\":{\"float\":\"1e999\"}}]") "]", "must be a finite number in a string",
         ENGINE_MALFORMED},
        {"[" PATH("[{\"top_p\":{\"float\":\" 1\"}}]") "]", "must be a finite number", ENGINE_MALFORMED},
        {"[" PATH("[{\"top_p\":{\"float\":\"1\",\"integer\":\"1\"}}]") "]",
         "batch[0].top_p: must have one key", ENGINE_MALFORMED},
        {"[" PATH("[{\"top_k\":{\"integer\":\"9x\"}}]") "]", "must be a whole number", ENGINE_MALFORMED},
        {"[" PATH("[]") "," PATH("0") "]", "question 1: \"batch\": must be an array", ENGINE_MALFORMED},
        {"[{" HEAD("path", "upstream") ",\"server\":{\"deterministic\":1},\"batch\":[]}]",
         "server: \"deterministic\": must be true or false", ENGINE_MALFORMED},
        {"[{" HEAD("path", "upstream") ",\"server\":{\"device\":\"abacus\"},\"batch\":[]}]",
         "server.device: \"abacus\" is unknown; accepted: cuda, cpu", ENGINE_MALFORMED},
        {"[{" HEAD("path", "upstream") ",\"endpoint\":\"chatter\",\"server\":{},\"batch\":[]}]",
         "endpoint: \"chatter\" is unknown; accepted: chat, responses", ENGINE_MALFORMED},
        {"[{" HEAD("normalize", "upstream") ",\"endpoint\":\"chat\",\"params\":{}}]",
         "unknown key \"endpoint\"; accepted: ask, engine, as, params", ENGINE_MALFORMED},
        {"[{" HEAD("normalize", "upstream") "}]", "params: is missing", ENGINE_MALFORMED},
        {"[{" HEAD("history", "upstream") ",\"server\":{},\"events\":[{\"do\":\"admit\",\"id\":\"a\"}]}]",
         "events[0].request: is missing", ENGINE_MALFORMED},
        {"[{" HEAD("history",
                   "upstream") ",\"server\":{},\"events\":[{\"do\":\"join\"},{\"do\":\"finish\"}]}]",
         "events[1]: \"id\" is missing", ENGINE_MALFORMED},
        {"[{" HEAD("history", "upstream") ",\"server\":{},\"events\":[{\"do\":\"finish\",\"id\":\"z\"}]}]",
         "events[0]: \"id\": no request \"z\" is there to finish", ENGINE_MALFORMED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *told = NULL;
        struct engine_why why = {""};
        assert_int_equal(engine_ask(engine(), bad[i].questions, &told, &why), bad[i].reply);
        assert_null(told);
        if (!strstr(why.text, bad[i].why))
            fail_msg("%s: '%s' has no '%s'", bad[i].questions, why.text, bad[i].why);
    }
}

#define VLLM(ask, more) "[{\"ask\":\"" ask "\",\"engine\":\"vllm-0.5.0\",\"as\":\"upstream\"," more "}]"

/* Of one step: worked by hand. */
static void steps_by_hand(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {VLLM("path", "\"server\":{\"vocab\":9},\"batch\":[{\"top_k\":9},{\"temperature\":0,\"top_p\":0.5}]"),
         "[{\"path\":\"torch\",\"stages\":\"min_tokens temperature softmax sample "
         "logprobs\",\"draws\":\"greedy random\"}]"},
        {VLLM("path", "\"server\":{\"vocab\":9},\"batch\":[{},{\"top_k\":8}]"),
         "[{\"path\":\"torch\",\"stages\":\"min_tokens temperature top_p_top_k softmax sample "
         "logprobs\",\"draws\":\"random\"}]"},
        {VLLM("forks", "\"server\":{\"preemption\":\"swap\"},\"batch\":[{\"n\":2}]"),
         "[{\"forks\":[{\"sequences\":2,\"drawn\":2,\"kept\":2,\"preempted\":\"swap\",\"last_preempted\":"
         "\"swap\"}]}]"},
        {VLLM("draw", "\"request\":{},\"steps\":[\"read\",{\"temperature\":0},\"read\"]"),
         "[{\"draws\":[\"random\",\"random\"]}]"},
        {VLLM("tensors", "\"server\":{\"vocab\":9,\"logits\":\"bf16\"},\"request\":{\"top_p\":0.999}"),
         "[{\"tensors\":{\"temperature\":1.0,\"top_k\":9,\"top_p\":1.0,\"min_p\":0.0,\"repetition_penalty\":"
         "1.0,"
         "\"frequency_penalty\":0.0,\"presence_penalty\":0.0}}]"},
        {VLLM("candidates", "\"logprobs\":[[-1,-2]],\"best_of\":1"),
         "[{\"parents\":[0,0],\"tokens\":[0,1]}]"},
        {VLLM("rows", "\"server\":{\"vocab\":9},\"groups\":[{\"request\":{},\"sequences\":[]}]"),
         "[{\"rows\":null}]"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *told = NULL;
        struct engine_why why = {""};
        if (engine_ask(engine_find("vllm-0.5.0"), pairs[i][0], &told, &why) != ENGINE_ANSWERED)
            fail_msg("%s: %s", pairs[i][0], why.text);
        assert_string_equal(told, pairs[i][1]);
        free(told);
    }
}

static void no_question_of_steps(void **state)
{
    (void)state;
    static const struct {
        const char *question, *why;
    } bad[] = {
        {VLLM("forks", "\"server\":{},\"batch\":{}"), "\"batch\": must be an array"},
        {VLLM("forks", "\"server\":{\"preemption\":\"never\"},\"batch\":[]"),
         "\"never\" is unknown; accepted: auto, swap"},
        {VLLM("path", "\"server\":{\"vocab\":1.5},\"batch\":[]"), "\"vocab\": must be a whole number from 1"},
        {VLLM("draw", "\"request\":{},\"steps\":[7]"), "steps[0]: must be \"read\", \"clone\" or parameters"},
        {VLLM("draw", "\"steps\":[]"), "request: is missing"},
        {VLLM("rows", "\"server\":{},\"fixed\":1,\"groups\":[]"), "\"fixed\": must be true or false"},
        {VLLM("rows", "\"server\":{},\"groups\":[{\"request\":{}}]"),
         "groups[0]: \"sequences\": must be an array"},
        {VLLM("rows", "\"server\":{},\"groups\":[{\"request\":{},\"sequences\":[{\"prompt\":[]}]}]"),
         "groups[0]: \"output\": must be an array"},
        {VLLM("rows", "\"server\":{},\"groups\":[{\"request\":{},\"sequences\":[],\"prompt_rows\":-1}]"),
         "\"prompt_rows\": must be a whole number"},
        {VLLM("candidates", "\"logprobs\":[],\"best_of\":1"),
         "logprobs: must be an array of numbers for each sequence"},
        {VLLM("candidates", "\"logprobs\":[[1],[1,2]],\"best_of\":1"), "as long as its neighbours"},
        {VLLM("candidates", "\"logprobs\":[[\"x\"]],\"best_of\":1"), "must be an array of numbers"},
        {VLLM("candidates", "\"logprobs\":[[1]],\"cumulative\":[1,2],\"best_of\":1"),
         "cumulative: must be an array"},
        {VLLM("candidates", "\"logprobs\":[[1]]"), "\"best_of\": must be a whole number"},
        {VLLM("history", "\"server\":{},\"events\":[{\"do\":\"mix\"}]"),
         "events[0]: \"do\": vllm-0.5.0 has no mixed chunks"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *told = NULL;
        struct engine_why why = {""};
        assert_int_equal(engine_ask(engine_find("vllm-0.5.0"), bad[i].question, &told, &why),
                         ENGINE_MALFORMED);
        if (!strstr(why.text, bad[i].why))
            fail_msg("%s: '%s' has no '%s'", bad[i].question, why.text, bad[i].why);
    }
    char *told = NULL;
    struct engine_why why = {""};
    const char *other = "[{\"ask\":\"rows\",\"engine\":\"sglang-0.5.20\",\"as\":\"upstream\"}]";
    assert_int_equal(engine_ask(engine(), other, &told, &why), ENGINE_UNSUPPORTED);
    assert_string_equal(why.text, "of this engine, question \"rows\" is not known here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_by_hand), cmocka_unit_test(more_by_hand),
        cmocka_unit_test(values_survive), cmocka_unit_test(no_question),
        cmocka_unit_test(steps_by_hand),  cmocka_unit_test(no_question_of_steps)};
    return cmocka_run_group_tests_name("questions and answers", tests, NULL, NULL);
}
