/* test_route_fields.c: members of a body that choose no path and can refuse it: lengths, stops, grammars, biases, unknown
 * ones; and the status that an endpoint gives a refusal. */
#include "suite/cli/route_child.h"

#define CHAT_BODY "\"endpoint\": \"chat\", \"body\": "
#define OWN(fields)                                                                                          \
    "\"endpoint\": \"generate\", \"body\": {\"text\": \"\", \"typo\": 1, \"sampling_params\": {" fields "}}"

static void members_that_choose_no_path(void **state)
{
    (void)state;
    static const struct {
        const char *line, *older, *newer; /* 0.5.20 and 0.5.23 */
    } lines[] = {
        {CHAT_BODY "{\"max_tokens\": -1}", "HTTP 400: max_new_tokens must be at least 0, got -1.", ""},
        {CHAT_BODY "{\"max_tokens\": 5, \"min_tokens\": 6}",
         "HTTP 400: min_new_tokens must be in [0, max_new_tokens(5)], got 6.", ""},
        {"\"endpoint\": \"completions\", \"body\": {\"max_tokens\": 0}",
         "HTTP 400: max_tokens must be positive", ""},
        {"\"endpoint\": \"responses\", \"body\": {\"max_output_tokens\": 1}",
         "HTTP 400: max_new_tokens must be at least 0, got -1.", ""},
        {OWN("\"typo\": 1"), "HTTP 500: Unexpected keyword argument 'typo'",
         "HTTP 400: unknown field `typo`"},
        {OWN("\"seed\": 1"), "HTTP 500: Unexpected keyword argument 'seed'",
         "HTTP 400: unknown field `seed`"},
        {OWN("\"sampling_seed\": 1"), "gumbel", ""},
        {OWN("\"regex\": \"a\", \"ebnf\": \"b\""),
         "HTTP 400: Only one of json_schema, regex, ebnf, or structural_tag can be set.", ""},
        {OWN("\"regex\": \"a\", \"regex\": \"\", \"ebnf\": \"b\""), "gumbel", ""}, /* the last counts */
        {CHAT_BODY "{\"logit_bias\": {\"1000\": 1}}",
         "HTTP 400: logit_bias must has keys in [0, 999], got 1000.", ""},
        {CHAT_BODY "{\"logit_bias\": {\"999\": 1}}", "gumbel", ""},
        /* Not normalized, temperature 0 is no greed. */
        {OWN("\"is_normalized\": true, \"temperature\": 0"), "gumbel",
         "HTTP 400: unknown field `is_normalized`"},
        {OWN("\"is_normalized\": false, \"temperature\": 0"), "greedy",
         "HTTP 400: unknown field `is_normalized`"},
        {CHAT_BODY "{\"max_tokens\": 9, \"stop\": [\"a\"], \"top_k\": 5}", "filtered", ""},
        {CHAT_BODY "{\"typo\": 1}", "gumbel", ""},
    };
    char all[4096] = "";
    write_text("vocab.json", "{\"vocab\": 1000}");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "{\"id\": \"r%zu\", %s}\n", i, lines[i].line);
    for (int newer = 0; newer < 2; newer++) {
        route(newer ? "sglang-0.5.23" : "sglang-0.5.20", "--json --server vocab.json", all);
        answered(0);
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            const char *expected = newer && *lines[i].newer ? lines[i].newer : lines[i].older;
            char begin[32], words[300];
            int status = 0, end = 0;
            snprintf(begin, sizeof begin, "{\"id\":\"r%zu\",", i);
            const char *line = strstr(child.out, begin);
            assert_non_null(line);
            if (sscanf(expected, "HTTP %d: %n", &status, &end) == 1)
                snprintf(words, sizeof words, "\"path\":null,\"error\":\"%s\",\"status\":%d,", expected + end,
                         status);
            else
                snprintf(words, sizeof words, "\"path\":\"%s\",", expected);
            if (!strstr(line, words) || strstr(line, words) > strchr(line, '\n'))
                fail_msg("%s\nexpected %s in\n%.*s", lines[i].line, words, (int)strcspn(line, "\n"), line);
        }
    }
    /* Neither the article's code nor its sentences speak of them, nor does another engine's schema. */
    route("sglang-0.5.20", "--as article-port", "{" CHAT_BODY "{\"max_tokens\": -1}}\n");
    answered(0);
    child_says(child.out, "each alone (0 refused)\n");
    route("vllm-0.5.0", "--server vocab.json --vs sglang-0.5.20", "{" CHAT_BODY "{\"max_tokens\": -1}}\n");
    answered(0);
    child_says(
        child.out,
        "HTTP 400: max_tokens must be at least 1, got -1. -> HTTP 400: max_new_tokens must be at least 0");
}

/* Requests are told apart by these members, too: what one gets is not remembered for another. */
static void they_make_kinds_of_their_own(void **state)
{
    (void)state;
    route("sglang-0.5.20", "",
          CHAT("a", ", \"max_tokens\": 4") CHAT("b", ", \"max_tokens\": -4") CHAT("c", ", \"max_tokens\": 4")
              CHAT("d", "") CHAT("e", ", \"max_tokens\": -4"));
    answered(0);
    child_says(child.out, "          3  chat         gumbel: a, c, d\n");
    child_says(child.out,
               "          2  chat         HTTP 400: max_new_tokens must be at least 0, got -4.: b, e\n");
}

/* A comparison that fails is the server's fault at /generate and the client's at /v1/responses. */
static void statuses_depend_on_the_endpoint(void **state)
{
    (void)state;
    write_text("text.json", "{\"preferred\": {\"top_k\": \"x\"}}");
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 --server text.json");
    answered(0);
    child_says(child.out, "  plain-responses   responses   HTTP 400: top_k must be a number, is a string\n");
    child_says(child.out, "  plain-generate    generate    HTTP 500: top_k must be a number, is a string\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_that_choose_no_path),
        cmocka_unit_test(they_make_kinds_of_their_own),
        cmocka_unit_test(statuses_depend_on_the_endpoint),
    };
    return cmocka_run_group_tests_name("cli/route fields", tests, route_setup, child_sweep);
}
