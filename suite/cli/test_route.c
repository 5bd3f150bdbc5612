/* test_route.c: `samplegate route` as a serving team would use it: the published article's examples, layers and
 * refusals, traces, advice, upgrades, readings. */
#include "suite/cli/route_child.h"

/* The line of a request, or the summary for "": owned, cJSON_Delete. */
static cJSON *json_of(const char *id)
{
    static char text[sizeof child.out];
    strcpy(text, child.out);
    for (char *save, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        cJSON *json = cJSON_Parse(line);
        const cJSON *name = cJSON_GetObjectItem(json, *id ? "id" : "summary");
        if (name && (!*id || strcmp(name->valuestring, id) == 0))
            return json;
        cJSON_Delete(json);
    }
    fail_msg("%s\nsays nothing of '%s':\n%s", child.command, id, child.out);
    return NULL;
}

static void expect_text(const char *id, const char *key, const char *expected)
{
    cJSON *json = json_of(id);
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(json, key));
    if (!text || strcmp(text, expected) != 0)
        fail_msg("%s\n%s of '%s' is %s, expected %s", child.command, key, id, text ? text : "no string",
                 expected);
    cJSON_Delete(json);
}

static void expect_number(const char *id, const char *key, double expected)
{
    cJSON *json = json_of(id);
    const cJSON *number = cJSON_GetObjectItem(json, key);
    if (!cJSON_IsNumber(number) || number->valuedouble != expected)
        fail_msg("%s\n%s of '%s' is not %g in\n%s", child.command, key, id, expected, child.out);
    cJSON_Delete(json);
}

static void the_articles_examples(void **state)
{
    (void)state;
    route("sglang-0.5.20", "--json" QWEN3, CHAT("plain", ""));
    answered(0);
    expect_text("plain", "path", "filtered");
    expect_text("", "batch", "filtered");
    route("sglang-0.5.20", "--json" QWEN3, CHAT("explicit", ", \"top_p\": 1.0, \"top_k\": -1"));
    answered(0);
    expect_text("explicit", "path", "gumbel");
    expect_text("", "batch", "gumbel");
    route("sglang-0.5.20", "--json",
          CHAT("a", "") CHAT("b", ", \"temperature\": 0.8") CHAT("greedy", ", \"temperature\": 0"));
    answered(0);
    expect_text("a", "path", "gumbel");
    expect_text("greedy", "path", "greedy");
    expect_text("", "batch", "filtered");
    expect_text("", "cause", "greedy");
    route("sglang-0.5.20", "--json", CHAT("a", ", \"temperature\": 0") CHAT("b", ", \"temperature\": 0"));
    answered(0);
    expect_text("", "batch", "greedy");
}

/* Its model has no file; its card has four settings, each with top_k 20. */
static void the_articles_other_model(void **state)
{
    (void)state;
    route("sglang-0.5.20", "--json",
          CHAT("plain", "") CHAT("1", ", \"temperature\": 1.0, \"top_p\": 1.0, \"top_k\": 20, \"min_p\": 0.0")
              CHAT("2", ", \"temperature\": 0.7, \"top_p\": 0.8, \"top_k\": 20, \"min_p\": 0.0")
                  CHAT("3", ", \"temperature\": 1.0, \"top_p\": 0.95, \"top_k\": 20, \"min_p\": 0.0")
                      CHAT("4", ", \"temperature\": 0.6, \"top_p\": 0.95, \"top_k\": 20, \"min_p\": 0.0"));
    answered(0);
    expect_text("plain", "path", "gumbel");
    for (int i = 1; i <= 4; i++)
        expect_text((char[]){(char)('0' + i), 0}, "path", "filtered");
}

static void the_articles_deterministic_server(void **state)
{
    (void)state;
    write_text("deterministic.json", "{\"deterministic\": true}");
    route("sglang-0.5.20", "--json --server deterministic.json", CHAT("a", "") CHAT("b", ", \"seed\": 7"));
    answered(0);
    expect_text("a", "path", "deterministic");
    expect_text("", "batch", "deterministic");
    route("sglang-0.5.20", "--server deterministic.json", CHAT("a", "") CHAT("b", ", \"top_k\": 5"));
    answered(0);
    child_says(child.out, "all 2 as one batch: filtered, seeded by rank, since b\n");
    child_says(child.out, "gumbel is out of reach here: deterministic inference");
    child_says(child.out, "as article-prose, of 2 requests 1 differs, and so does the batch\n");
    /* A seed beyond int64 is nobody's business elsewhere. */
    route("sglang-0.5.20", "--server deterministic.json", CHAT("a", ", \"seed\": 9223372036854775808"));
    answered(0);
    child_says(child.out, "fails: a seed does not fit the batch's int64 tensor");
    route("sglang-0.5.20", "", CHAT("a", ", \"seed\": 9223372036854775808, \"top_k\": 5"));
    answered(0);
    child_says(child.out, "filtered     top_k 5 (request): a\n");
}

/* The other article's table: what each parameter adds to every step, and what a temperature below 1e-5 does. */
static void the_articles_seven_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *stages, *draws;
    } rows[] = {
        {"", "min_tokens temperature softmax sample logprobs", "random"},
        {", \"temperature\": 0.5", "min_tokens temperature softmax sample logprobs", "random"},
        {", \"temperature\": 0.000009", "min_tokens temperature softmax sample logprobs", "greedy"},
        {", \"temperature\": 0.00001", "min_tokens temperature softmax sample logprobs", "random"},
        {", \"top_p\": 0.9", "min_tokens temperature top_p_top_k softmax sample logprobs", "random"},
        {", \"top_k\": 50", "min_tokens temperature top_p_top_k softmax sample logprobs", "random"},
        {", \"min_p\": 0.1", "min_tokens temperature min_p softmax sample logprobs", "random"},
        {", \"presence_penalty\": 0.5", "min_tokens penalties temperature softmax sample logprobs", "random"},
        {", \"frequency_penalty\": 0.5", "min_tokens penalties temperature softmax sample logprobs",
         "random"},
        {", \"repetition_penalty\": 1.1", "min_tokens penalties temperature softmax sample logprobs",
         "random"},
        {", \"seed\": 7", "min_tokens temperature softmax sample logprobs", "random_seed"},
    };
    write_text("vocab.json", "{\"vocab\": 128000}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[200];
        snprintf(line, sizeof line, CHAT("plain", "") CHAT("it", "%s"), rows[i].fields);
        route("vllm-0.5.0", "--json --server vocab.json", line);
        answered(0);
        expect_text("it", "stages", rows[i].stages);
        expect_text("it", "draws", rows[i].draws);
        expect_text("plain", "stages", rows[0].stages);
        expect_text("", "stages", rows[i].stages); /* the batch bears it */
    }
}

/* By hand: a alone for 2 s, the batch filtered from 2 to 12 though noise is gone at 4, then d starts afresh. */
static const char trace[] =
    AT("a", 0, 10, "") AT("noise", 2, 4, ", \"top_p\": 0.9") AT("c", 8, 12, "") AT("d", 12, 14, "");

static void sticky_until_drained(void **state)
{
    (void)state;
    route("sglang-0.5.20", "", trace);
    answered(0);
    child_says(child.out, "over time: 14.000 s with requests, 0.000 s idle, at most 2 requests at a time\n");
    child_says(child.out, "  gumbel                     28.57 %   22.22 %    0.00 %                3\n");
    child_says(child.out, "  filtered                   71.43 %   77.78 %   57.14 %                1\n");
    child_says(child.out, "sticky: once a path outlived the requests that need it, 8.000 s in all\n");
    child_says(
        child.out,
        "longest, 8.000 s: filtered, brought by noise, from 4.000 s, when noise finished, to 12.000 s");
    child_says(child.out, "         2.000 s  gumbel -> filtered: noise joined\n");
    child_says(child.out, "        12.000 s  filtered -> idle: c finished\n");
    child_says(child.out, "        12.000 s  idle -> gumbel: d joined\n");
    /* Without noise 16 of 18 request-seconds are plain. */
    child_says(child.out, "gumbel 22.22 % -> 88.89 % of the tokens\n"
                          "      1 of 4 requests goes to the second instance, 11.11 % of the tokens\n");
    child_says(child.out, "as article-port, of 4 requests 0 differ, and so does the batch\n");
    child_says(child.out, "  gumbel                     85.71 %   77.78 %    0.00 %                3\n");
    child_says(child.out, "as article-prose: nothing changes\n");
    route("sglang-0.5.20", "--json --vs sglang-0.5.19", trace);
    answered(0);
    child_says(
        child.out,
        "{\"time\":2,\"from\":\"gumbel\",\"to\":\"filtered\",\"cause\":\"noise\",\"by\":\"joining\"}\n");
    expect_number("", "outlived_seconds", 8);
    expect_number("", "busy_seconds", 14);
}

static void a_request_without_a_finish_runs_to_the_end(void **state)
{
    (void)state;
    route("sglang-0.5.20", "",
          "{\"id\": \"endless\", \"endpoint\": \"completions\", \"body\": {}, \"arrival\": 1.5}\n" AT(
              "b", 2.5, 5.5, ""));
    answered(0);
    child_says(child.out, "over time: 4.000 s with requests, 0.000 s idle, at most 2 requests at a time\n");
}

static void layers_and_refusals(void **state)
{
    (void)state;
    write_text("preferred.json", "{\"preferred\": {\"top_k\": 9, \"min_p\": 0.1}}");
    route(
        "sglang-0.5.20", "--server preferred.json" QWEN3,
        CHAT("chat",
             ", \"temperature\": 0.3, \"seed\": 9223372036854775807") "{\"id\": \"own\", \"endpoint\": "
                                                                      "\"generate\", \"body\": {\"text\": "
                                                                      "\"\", \"top_k\": 3, "
                                                                      "\"sampling_params\": "
                                                                      "{\"top_k\": 0, \"top_k\": 5}}}\n"
                                                                      "{\"id\": \"silent\", \"endpoint\": "
                                                                      "\"generate\", \"body\": {\"text\": "
                                                                      "\"\"}}\n"
                                                                      "{\"id\": \"answers\", \"endpoint\": "
                                                                      "\"responses\", \"body\": {\"top_p\": "
                                                                      "1}}\n"
                                                                      "{\"endpoint\": \"completions\", "
                                                                      "\"body\": {\"top_p\": null}}\n" CHAT(
                                                                          "zero",
                                                                          ", \"top_k\": 0") "{\"id\": "
                                                                                            "\"cold\", "
                                                                                            "\"endpoint\": "
                                                                                            "\"generate\", "
                                                                                            "\"body\": "
                                                                                            "{\"sampling_"
                                                                                            "params\": "
                                                                                            "{\"temperature\""
                                                                                            ": -1}}}\n"
                                                                                            "{\"id\": "
                                                                                            "\"nan\", "
                                                                                            "\"endpoint\": "
                                                                                            "\"generate\", "
                                                                                            "\"body\": "
                                                                                            "{\"sampling_"
                                                                                            "params\": "
                                                                                            "{\"top_p\": "
                                                                                            "NaN}}}\n"
                                                                                            "{\"id\": "
                                                                                            "\"many\", "
                                                                                            "\"endpoint\": "
                                                                                            "\"generate\", "
                                                                                            "\"body\": "
                                                                                            "{\"sampling_"
                                                                                            "params\": "
                                                                                            "{\"top_k\": "
                                                                                            "4294967296}}}\n"
                                                                                            "{\"id\": "
                                                                                            "\"text\", "
                                                                                            "\"endpoint\": "
                                                                                            "\"generate\", "
                                                                                            "\"body\": "
                                                                                            "{\"sampling_"
                                                                                            "params\": "
                                                                                            "{\"min_p\": "
                                                                                            "\"0.5\"}}}\n");
    answered(0);
    static const char *const said[] = {
        "qwen3.json: temperature 0.6, top_k 20, top_p 0.95, min_p 0.0\n",
        "preferred parameters: top_k 9, min_p 0.1\n",
        "  chat              chat        filtered\n"
        "      request: temperature 0.3, seed 9223372036854775807; model: top_k 20, top_p 0.95, min_p 0.0; "
        "default: ",
        "  own               generate    filtered\n      request: top_k 5; preferred: min_p 0.1; default: "
        "temperature 1.0",
        "  silent            generate    filtered\n      preferred: top_k 9, min_p 0.1; default: ",
        "  answers           responses   filtered\n"
        "      request: top_p 1.0; model: temperature 0.6, top_k 20, min_p 0.0; default: ",
        "  5                 completions HTTP 400: top_p must be a number, is null\n",
        "  zero              chat        HTTP 400: top_k must be -1 (disable) or at least 1, got 0.\n",
        "  cold              generate    HTTP 400: temperature must be a non-negative finite number, got "
        "-1.\n",
        "  nan               generate    HTTP 400: top_p must be in (0, 1], got nan.\n",
        "  many              generate    fails: top_k 4294967296 does not fit the batch's int32 tensor\n",
        "  text              generate    HTTP 500: min_p must be a number, is a string\n",
        "each alone (6 refused)\n",
        "          1  chat         filtered     top_k 20 (model), top_p 0.95 (model): chat\n",
        "          1  responses    filtered     top_k 20 (model): answers\n",
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        child_says(child.out, said[i]);
}

static void advice_counts_what_it_gives_up(void **state)
{
    (void)state;
    route("sglang-0.5.20", QWEN3,
          CHAT("a", "") CHAT("b", "") CHAT("explicit", ", \"top_p\": 1.0, \"top_k\": -1")
              CHAT("zero", ", \"temperature\": 0") CHAT("own", ", \"top_k\": 5, \"top_p\": 1"));
    answered(0);
    child_says(child.out, "all 5 as one batch: filtered, since a\n");
    child_says(child.out, "      gumbel alone: 1 -> 3 requests; as one batch: filtered -> filtered\n"
                          "      gives up: clients as they are, and of the server's settings\n"
                          "          2  top_k 20 (model), top_p 0.95 (model): a, b\n");
    child_says(child.out,
               "      gives up: the model author's settings\n"
               "          2  temperature 0.6 (model): explicit, own\n"
               "          2  temperature 0.6 (model), top_k 20 (model), top_p 0.95 (model): a, b\n");
    child_says(child.out, "      as one batch: filtered -> gumbel, and filtered on the second\n"
                          "      4 of 5 requests go to the second instance\n");
    child_says(child.out, "  the first and the third together\n"
                          "      as one batch: filtered -> gumbel, and filtered on the second\n"
                          "      2 of 5 requests go to the second instance\n");
    child_says(child.out, "          1  temperature 0.0 (request), top_p 0.95 (model): zero\n");
    route("sglang-0.5.20", "", CHAT("a", "") CHAT("b", ""));
    answered(0);
    child_says(child.out, "nothing to change: every request is plain\n");
}

static void an_upgrade_shows_what_changes(void **state)
{
    (void)state;
    route("sglang-0.5.19", "--vs sglang-0.5.20" QWEN3,
          CHAT("a", "") CHAT("e", ", \"top_p\": 1.0, \"top_k\": -1"));
    answered(0);
    child_says(child.out, "a request that asks for nothing takes multinomial; backend flashinfer\n");
    child_says(child.out, "with sglang-0.5.20, of 2 requests 1 differs; the batch does not\n"
                          "          1  multinomial -> gumbel: e\n");
    child_says(child.out, "gumbel is out of reach here: this release draws plain batches otherwise");
    route("sglang-0.5.19", "--vs sglang-0.5.20 --json", CHAT("e", ""));
    answered(0);
    cJSON *line = json_of("e");
    const cJSON *vs = cJSON_GetObjectItem(line, "vs");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(line, "path")), "multinomial");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(vs, "path")), "gumbel");
    const cJSON *top_k = cJSON_GetObjectItem(cJSON_GetObjectItem(line, "params"), "top_k");
    assert_true(cJSON_GetObjectItem(top_k, "value")->valuedouble == -1);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(top_k, "layer")), "default");
    cJSON_Delete(line);
    write_text("off.json", "{\"switch\": \"0\"}");
    route("sglang-0.5.20", "--vs sglang-0.5.19 --server off.json", CHAT("a", ""));
    answered(0);
    child_says(child.out, "with sglang-0.5.19: nothing changes\n");
}

static void readings_can_be_chosen(void **state)
{
    (void)state;
    route("sglang-0.5.20", "--json --as article-port", CHAT("zero", ", \"top_k\": 0"));
    answered(0);
    expect_text("zero", "path", "greedy");
    route("sglang-0.5.20", "", CHAT("zero", ", \"top_k\": 0") CHAT("plain", ""));
    answered(0);
    child_says(child.out,
               "as article-port, of 2 requests 1 differs, and so does the batch\n"
               "          1  HTTP 400: top_k must be -1 (disable) or at least 1, got 0. -> greedy: zero\n"
               "  all as one batch: gumbel -> filtered\n");
    route("sglang-0.5.20", QWEN3, CHAT("plain", ""));
    answered(0);
    child_says(child.out, "as article-port: nothing changes\nas article-prose: nothing changes\n");
}

static void without_requests_each_endpoint_is_asked(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 --json" QWEN3);
    answered(0);
    expect_text("plain-chat", "path", "filtered");
    expect_text("plain-responses", "path", "filtered");
    expect_text("plain-completions", "path", "gumbel");
    expect_text("plain-generate", "path", "gumbel");
    write_text("openai.json", "{\"sampling_defaults\": \"openai\"}");
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 --json --server openai.json" QWEN3);
    answered(0);
    expect_text("plain-chat", "path", "gumbel");
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20");
    answered(0);
    child_says(child.out, "  plain-chat        chat        gumbel\n"); /* its own names fit their column */
    child_says(child.out, "  plain-completions completions gumbel\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_articles_examples),
        cmocka_unit_test(the_articles_other_model),
        cmocka_unit_test(the_articles_deterministic_server),
        cmocka_unit_test(the_articles_seven_parameters),
        cmocka_unit_test(sticky_until_drained),
        cmocka_unit_test(a_request_without_a_finish_runs_to_the_end),
        cmocka_unit_test(layers_and_refusals),
        cmocka_unit_test(advice_counts_what_it_gives_up),
        cmocka_unit_test(an_upgrade_shows_what_changes),
        cmocka_unit_test(readings_can_be_chosen),
        cmocka_unit_test(without_requests_each_endpoint_is_asked),
    };
    return cmocka_run_group_tests_name("cli/route", tests, route_setup, child_sweep);
}
