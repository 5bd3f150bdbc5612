/* test_cost.c: `samplegate cost` as a user meets it: figures, bad lines, wrong arguments. */
#include "suite/cli/child.h"

#define COST "exec \"$B\"/samplegate cost --engine vllm-0.5.0 --vocab 128000 "

static void the_published_figure(void **state)
{
    (void)state;
    child_start(COST "--batch 64");
    child_judged(0, "8 N V = 65,536,000 bytes");
    /* 64 x 128,000 logits: 26 bytes made, 34 read, 30 written; if it ran. */
    child_says(child.out,
               "top_p_top_k         0%      212,992,000      278,528,000      245,760,000  if it ran");
    child_says(child.out, "temperature              1.0  nothing");
    child_says(child.out, "temperature              0.7  on chat, whose requests are held against that");
    child_says(child.out, "status     sampling visible: ");
}

static void the_record_alone(void **state)
{
    (void)state;
    child_start(COST "--batch 64 --record --model-name tiny --concurrency 64 --tpot-default-params 12.5");
    child_judged(0, "\"status\": \"sampling visible\"");
    cJSON *record = cJSON_Parse(child.out);
    assert_non_null(record);
    assert_string_equal(
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(record, "workload"), "model_name")),
        "tiny");
    assert_true(
        cJSON_GetObjectItem(cJSON_GetObjectItem(record, "perf"), "tpot_default_params")->valuedouble == 12.5);
    cJSON_Delete(record);
}

/* Every line is an object with an event; the last is the record. */
static void lines_of_json(void **state)
{
    (void)state;
    write_text("traffic.jsonl", "{\"endpoint\": \"chat\", \"body\": {\"top_p\": 0.9, \"n\": 2}}\n\n"
                                "{\"endpoint\": \"chat\", \"body\": {}}\n"
                                "{\"endpoint\": \"chat\", \"body\": {\"top_p\": 0}}\n");
    child_start(COST "--requests traffic.jsonl --json");
    child_judged(0, "\"event\":\"refused\",\"text\":\"HTTP 400: top_p must be in (0, 1], got 0.0.\"");
    child_says(child.out,
               "{\"event\":\"forks\",\"requests\":1,\"sequences\":2,\"widest\":2,\"rows_factor\":1.5,"
               "\"preempted\":\"swap\",\"last_preempted\":\"recompute\"}");
    child_says(child.out, "{\"event\":\"mixed\",\"flag\":\"do_top_p_top_k\",\"requests\":0.5,\"steps\":1}");
    cJSON *event = NULL;
    for (char *save, *line = strtok_r(child.out, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        cJSON_Delete(event);
        event = cJSON_Parse(line);
        assert_non_null(cJSON_GetObjectItem(event, "event"));
    }
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(event, "event")), "record");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(event, "status")), "amplified by forks");
    cJSON_Delete(event);
}

static void readings(void **state)
{
    (void)state;
    write_text("traffic.jsonl",
               "{\"endpoint\": \"chat\", \"body\": {\"top_p\": 0.999999}}\n"
               "{\"endpoint\": \"chat\", \"body\": {\"n\": 2, \"temperature\": 0}}\n"
               "{\"endpoint\": \"completions\", \"body\": {\"prompt\": [\"a\", \"b\"]}}\n"
               "{\"endpoint\": \"chat\", \"body\": {\"echo\": true}, \"prompt_tokens\": 65}\n");
    child_start(COST "--requests traffic.jsonl");
    child_judged(0, "vllm-0.5.0, vocabulary 128,000, float16 logits\n"
                    "requests   4, 4 sequences (sent as 3: each prompt of a list is one)\n");
    child_says(child.out,
               "known are 64 rows, of the longest 64: its step is N = 65, 8 N V = 66,560,000 bytes\n");
    child_says(child.out, "and 8 N V is 66560000 bytes");
    child_says(
        child.out,
        "as article-port, of 4 lines 1 costs otherwise; a step has no logprobs stage: 9,216,000 bytes less\n"
        "           1 taken, not HTTP 400: best_of must be 1 when using greedy sampling.Got 2. (2)\n");
    child_says(child.out, "           1 do_top_p_top_k off -> on (1)\n");
    child_start(COST "--requests traffic.jsonl --as article-prose");
    child_judged(0, "vllm-0.5.0 as article-prose, vocabulary");
    child_says(child.out, "logprobs            0%");
    child_says(child.out, "           1 do_top_p_top_k on -> off (1)\n");
    child_start(COST "--requests traffic.jsonl --json");
    child_judged(0, "{\"event\":\"prompts\",\"requests\":1,\"unknown\":0,\"rows\":64,\"widest\":64,\"two_"
                    "tensors\":66560000}");
    child_says(child.out, "{\"event\":\"reading\",\"as\":\"article-port\",\"lines\":1,\"stages\":[\"min_"
                          "tokens\",\"temperature\","
                          "\"softmax\",\"sample\"]}");
    child_start(COST "--as engine");
    child_usage("--as: 'engine' is unknown; accepted: article-port, article-prose, upstream");
}

static void bad_lines(void **state)
{
    (void)state;
    write_text("bad.jsonl", "{\"endpoint\": \"chat\", \"body\": {}}\n"
                            "{\"endpoint\": \"chats\", \"body\": {}}\n"
                            "{\"endpoint\": \"chat\", \"boddy\": {}}\n"
                            "{\"endpoint\": \"chat\", \"body\": {}, \"arrival\": 1}\n"
                            "not JSON\n");
    child_start(COST "--requests bad.jsonl");
    child_refused(
        2, "bad.jsonl:2: endpoint: \"chats\" is unknown; accepted: chat, responses, completions, generate");
    child_start("sed 2d bad.jsonl | \"$B\"/samplegate cost --engine vllm-0.5.0 --vocab 10 --requests -");
    child_refused(2, "standard input:2: unknown key \"boddy\"; accepted: endpoint, body, id, arrival, "
                     "finish, prompt_tokens");
    child_start(COST "--requests bad.jsonl --skip-bad --json");
    child_judged(0, "\"requests\":1,\"refused\":0,\"skipped\":4,");
    child_start(COST "--requests bad.jsonl --skip-bad --record");
    child_wait();
    child_expect(0);
    child_says(child.out, "\"status\"");
    child_says(child.err, "samplegate: 4 lines skipped, which the record leaves out");
    child_start(COST "--requests nowhere.jsonl");
    child_refused(2, "nowhere.jsonl: cannot be read: No such file or directory");
    write_text("none.jsonl", "\n");
    child_start(COST "--requests none.jsonl");
    child_refused(2, "none.jsonl: no request in it would get a token");
}

static void wrong_arguments(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate cost --engine vllm-0.5.0");
    child_usage("--engine and --vocab are needed");
    child_start("exec \"$B\"/samplegate cost --engine sglang-0.5.20 --vocab 10");
    child_usage("'sglang-0.5.20' has no stages that parameters switch on; accepted: vllm-0.5.0");
    child_start("exec \"$B\"/samplegate cost --engine vllm --vocab 10");
    child_usage("'vllm' is unknown; accepted: vllm-0.5.0");
    child_start(COST "--dtype fp8");
    child_usage("--dtype: 'fp8' is unknown; accepted: float16, bfloat16, float32");
    child_start(COST "--batch 0");
    child_usage("--batch: '0' is not a whole number from 1 to 1000000");
    child_start(COST "--tpot-min-p-on -1");
    child_usage("--tpot-min-p-on: '-1' is not a number of milliseconds above 0");
    child_start(COST "--json --record");
    child_usage("--record has no place beside it");
}

static void help_states_the_rule(void **state)
{
    (void)state;
    child_start(COST "--help");
    child_judged(0, "\"amplified by forks\": best_of and");
    child_says(child.out, "\"sampling negligible\":");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_figure),
        cmocka_unit_test(the_record_alone),
        cmocka_unit_test(lines_of_json),
        cmocka_unit_test(bad_lines),
        cmocka_unit_test(readings),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(help_states_the_rule),
    };
    return cmocka_run_group_tests(tests, child_scratch, child_sweep);
}
