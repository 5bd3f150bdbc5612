/* test_route_hidden.c: what a path's name hides (backend, noise, how much is sorted, what fails), and how many rows a request
 * becomes. */
#include "suite/cli/route_child.h"

static void server(const char *json, const char *engine, const char *options, const char *requests)
{
    char all[200];
    write_text("server.json", json);
    snprintf(all, sizeof all, "--server server.json %s", options);
    route(engine, all, requests);
    answered(0);
}

static void silent(const char *words)
{
    if (strstr(child.out, words))
        fail_msg("%s\nsays: %s\n%s", child.command, words, child.out);
}

/* Noise is keyed by the token's id on the plain path, by its rank on the filtered one; min_p is not seeded at all. */
static void a_deterministic_server_hides_what_noise_is_made_from(void **state)
{
    (void)state;
    server("{\"deterministic\": true}", "sglang-0.5.20", "",
           AT("a", 0, 9, "") AT("b", 3, 5, ", \"top_k\": 5") AT("c", 20, 22, ", \"min_p\": 0.1"));
    child_says(child.out, "takes deterministic; backend pytorch; deterministic inference\n"
                          "a batch with top_k 20 takes filtered, seeded by rank\n"
                          "a batch with min_p 0.1 fails: With sampling seed, multinomial_with_seed will");
    child_says(child.out, "(by rank: noise goes with the place in the sorted row");
    child_says(child.out, "         3.000 s  deterministic -> filtered, seeded by rank: b joined\n");
    child_says(child.out, "        20.000 s  idle -> fails: With sampling seed");
    server("{\"deterministic\": true}", "sglang-0.5.20", "--json",
           AT("a", 0, 9, "") AT("b", 3, 5, ", \"top_k\": 5"));
    child_says(child.out,
               "\"path\":\"deterministic\",\"backend\":\"pytorch\",\"seeded\":true,\"noise\":\"token\",");
    child_says(child.out,
               "\"path\":\"filtered\",\"backend\":\"pytorch\",\"seeded\":true,\"noise\":\"rank\",\"time\":");
    child_says(child.out, "\"from\":\"deterministic\",\"to\":\"filtered, seeded by rank\",\"cause\":\"b\"");
}

static void ascend_keys_by_id_up_to_1024(void **state)
{
    (void)state;
    server("{\"deterministic\": true, \"backend\": \"ascend\"}", "sglang-0.5.20", "",
           AT("a", 0, 9, ", \"top_k\": 1024") AT("b", 3, 9, ", \"top_k\": 1025")
               AT("c", 4, 9, ", \"top_k\": 7"));
    child_says(child.out, "a batch with top_k 20 takes filtered, seeded by id\n"
                          "a batch with top_k 2000 takes filtered, seeded by rank\n");
    child_says(child.out, "         3.000 s  filtered, seeded by id -> filtered, seeded by rank: b joined\n");
    silent("c joined");
    server("{\"backend\": \"ascend\"}", "sglang-0.5.20", "", CHAT("a", ""));
    child_says(child.out, "a request that asks for nothing takes multinomial; backend ascend\n");
}

/* 0.5.23 alone, on its pytorch backend, until a request with the whole vocabulary joins. */
static void a_bound_on_top_k_is_shown(void **state)
{
    (void)state;
    static const char *const pytorch = "{\"backend\": \"pytorch\"}";
    server(pytorch, "sglang-0.5.23", "", CHAT("a", ", \"top_k\": 30") CHAT("b", ", \"top_k\": 7"));
    child_says(child.out, "a batch with top_k 20 takes filtered, top 20 sorted\n");
    child_says(child.out, "  a                 chat        filtered, top 30 sorted\n");
    child_says(child.out, "all 2 as one batch: filtered, top 30 sorted, since a\n");
    server(pytorch, "sglang-0.5.23", "--json",
           AT("a", 0, 9, ", \"top_k\": 30") AT("b", 1, 9, ", \"top_k\": 40") AT("c", 3, 9, ""));
    child_says(child.out,
               "\"id\":\"b\",\"rows\":1,\"path\":\"filtered\",\"backend\":\"pytorch\",\"seeded\":false,"
               "\"top_k_bound\":40,");
    child_says(child.out,
               "{\"time\":3,\"from\":\"filtered, top_k sorted\",\"to\":\"filtered\",\"cause\":\"c\"");
    child_says(child.out, "\"changes\":3,");
    server(pytorch, "sglang-0.5.20", "--vs sglang-0.5.23", CHAT("a", ", \"top_k\": 30"));
    silent("takes filtered, top");
    child_says(child.out, "with sglang-0.5.23, of 1 request 1 differs, and so does the batch\n"
                          "          1  filtered -> filtered, top 30 sorted: a\n");
    server("{}", "sglang-0.5.20", "--vs sglang-0.5.23", CHAT("a", ", \"top_k\": 30"));
    child_says(child.out, "with sglang-0.5.23: nothing changes\n");
    server(pytorch, "sglang-0.5.23", "", CHAT("a", ", \"top_k\": 30"));
    child_says(child.out, "(sorted: as many as the batch's largest top_k");
}

/* SGLang sends n requests a prompt and, before them, the prompt alone; vLLM forks one. */
static void rows_are_counted(void **state)
{
    (void)state;
    static const char traffic[] = AT("n", 0, 4, ", \"n\": 3")
        AT("one", 0, 8, ", \"n\": 1") "{\"id\": \"list\", \"endpoint\": \"completions\", \"arrival\": 4, "
                                      "\"finish\": 8, \"body\": "
                                      "{\"prompt\": [\"a, \\\"]\", \"b\"], \"n\": 2}}\n"
                                      "{\"id\": \"ids\", \"endpoint\": \"completions\", \"arrival\": 4, "
                                      "\"finish\": 8, \"body\": {\"prompt\": "
                                      "[1, 2, 3]}}\n"
                                      "{\"id\": \"none\", \"endpoint\": \"completions\", \"arrival\": 4, "
                                      "\"finish\": 8, \"body\": {\"prompt\": "
                                      "[ ]}}\n";
    route("sglang-0.5.20", "", traffic);
    answered(0);
    child_says(child.out, "  n                 chat        gumbel; 3 rows: 3 sequences\n");
    child_says(child.out, "  one               chat        gumbel\n");
    child_says(child.out, "  list              completions gumbel; 4 rows: 2 prompts, 2 sequences of each\n");
    child_says(child.out, "  ids               completions gumbel\n");
    child_says(child.out, "  none              completions gumbel\n");
    child_says(child.out, "at most 4 requests, 7 rows, at a time\n");
    /* Two groups of prompts; of n one alone before, of list two. */
    child_says(child.out, "  gumbel                    100.00 %  100.00 %    0.00 %                5\n");
    route("sglang-0.5.20", "--json", traffic);
    answered(0);
    child_says(child.out, "{\"id\":\"list\",\"rows\":4,");
    child_says(child.out, "\"peak_requests\":4,\"peak_rows\":7,");
    write_text("vocab.json", "{\"vocab\": 1000}");
    route("vllm-0.5.0", "--server vocab.json",
          CHAT("best", ", \"best_of\": 4") "{\"id\": \"list\", \"endpoint\": \"completions\", \"body\": "
                                           "{\"prompt\": [[1], [2, 3]], \"n\": 2}}\n"
                                           "{\"id\": \"echo\", \"endpoint\": \"completions\", \"body\": "
                                           "{\"max_tokens\": 0, \"echo\": true}}\n"
                                           "{\"id\": \"no echo\", \"endpoint\": \"completions\", \"body\": "
                                           "{\"max_tokens\": 0, \"echo\": false}}\n");
    answered(0);
    child_says(child.out, "(random); 4 rows: 4 sequences\n");
    child_says(child.out, "(random); 4 rows: 2 prompts, 2 sequences of each\n");
    child_says(child.out, "  echo              completions torch: ");
    child_says(child.out,
               "  no echo           completions HTTP 400: max_tokens must be at least 1, got 0.\n");
    child_says(child.out, "all 3, 9 rows, as one batch: ");
}

/* Tokens go by rows: 3 of 4 in the filtered second. */
static void tokens_are_weighed_by_rows(void **state)
{
    (void)state;
    route("sglang-0.5.20", "", AT("a", 0, 1, ", \"top_p\": 0.9, \"n\": 3") AT("b", 1, 2, ""));
    answered(0);
    child_says(child.out, "  filtered                   50.00 %   75.00 %    0.00 %                2\n");
}

static void n_is_refused_as_the_engine_does(void **state)
{
    (void)state;
    static const struct {
        const char *engine, *line, *words;
    } refused[] = {
        {"sglang-0.5.20", "\"endpoint\": \"generate\", \"body\": {\"sampling_params\": {\"n\": null}}",
         "HTTP 500: '>' not supported between instances of 'NoneType' and 'int'\n"},
        {"sglang-0.5.23", "\"endpoint\": \"generate\", \"body\": {\"sampling_params\": {\"n\": 2.5}}",
         "HTTP 400: invalid type: floating point `2.5`, expected i64\n"},
        {"sglang-0.5.20", "\"endpoint\": \"chat\", \"body\": {\"n\": null}", "HTTP 400: n must be a"},
        {"sglang-0.5.20", "\"endpoint\": \"chat\", \"body\": {\"n\": 1e300}", "HTTP 400: n must be a"},
        {"sglang-0.5.20", "\"endpoint\": \"generate\", \"body\": {\"sampling_params\": {\"n\": 1e300}}",
         "fails: n 1e+300 is no number of sequences\n"},
        {"vllm-0.5.0", "\"endpoint\": \"chat\", \"body\": {\"n\": 0}",
         "HTTP 400: n must be at least 1, got 0.\n"},
        {"vllm-0.5.0", "\"endpoint\": \"generate\", \"body\": {\"n\": 0}",
         "HTTP 500: n must be at least 1, got 0.\n"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char line[300];
        snprintf(line, sizeof line, "{%s}\n", refused[i].line);
        route(refused[i].engine, "", line);
        answered(0);
        child_says(child.out, refused[i].words);
    }
    route("sglang-0.5.20", "",
          CHAT("text", ", \"n\": \"2\"") "{\"endpoint\": \"responses\", \"body\": {\"n\": null}}\n");
    answered(0);
    child_says(child.out, "gumbel; 2 rows: 2 sequences\n");
    child_says(child.out, "each alone (0 refused)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deterministic_server_hides_what_noise_is_made_from),
        cmocka_unit_test(ascend_keys_by_id_up_to_1024),
        cmocka_unit_test(a_bound_on_top_k_is_shown),
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(tokens_are_weighed_by_rows),
        cmocka_unit_test(n_is_refused_as_the_engine_does),
    };
    return cmocka_run_group_tests_name("cli/route hidden", tests, route_setup, child_sweep);
}
