/* test_route_input.c: what `samplegate route` reads: logs, lines and files that are wrong, a stream cut short. */
#include "suite/cli/route_child.h"

#include <sys/stat.h>

#define SAID "[2026-11-28 10:11:12] Using default chat sampling params from model generation config: "
static void logs_say_what_was_merged(void **state)
{
    (void)state;
    static const struct {
        const char *log, *said, *path;
    } logs[] = {
        {"starting\n" SAID "{'temperature': 0.6, 'top_k': 20, 'top_p': 0.95}\nready\n",
         "server.log says the server merged: temperature 0.6, top_k 20, top_p 0.95\n",
         "chat        filtered\n"},
        {SAID "{\"repetition_penalty\": 1.05, \"top_p\": null, 'x': 'it\\'s \"so\" {', 'y': False}\r\n",
         "server.log says the server merged: top_p None, repetition_penalty 1.05\n", "chat        gumbel\n"},
        {SAID "{'top_k': 20}\nrestarted\n" SAID "{'top_k': 40}\n", "merged: top_k 40\n",
         "chat        filtered\n"},
        {"starting\nready\n", "server.log says nothing of default sampling params: the server merged none\n",
         "chat        gumbel\n"},
    };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        write_text("server.log", logs[i].log);
        route("sglang-0.5.20", "--log server.log", CHAT("a", ""));
        answered(0);
        child_says(child.out, logs[i].said);
        child_says(child.out, logs[i].path);
    }
    write_text("server.log", "x\n" SAID "none\n");
    route("sglang-0.5.20", "--log server.log", CHAT("a", ""));
    child_refused(2,
                  "server.log:2: \"Using default chat sampling params from model generation config\" is not "
                  "followed by a dictionary");
    write_text("server.log", SAID "{'temperature': }\n");
    route("sglang-0.5.20", "--log server.log", CHAT("a", ""));
    child_refused(2, "server.log:1:");
}

static const struct {
    const char *line, *words;
} bad_lines[] = {
    {"{\"endpoint\": \"chat\"",
     "r.jsonl:2:20: expected ',' or '}' after a member, found the end of the text"},
    {"[]", "r.jsonl:2: must be an object with endpoint, body, id, arrival, finish, prompt_tokens"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"time\": 1}",
     "r.jsonl:2: unknown key \"time\"; accepted: endpoint, body, id, arrival, finish, prompt_tokens"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"body\": {}}", "r.jsonl:2: \"body\" is given twice"},
    {"{\"body\": {}}", "r.jsonl:2: \"endpoint\" is missing"},
    {"{\"endpoint\": \"chatt\", \"body\": {}}",
     "r.jsonl:2: endpoint: \"chatt\" is unknown; accepted: chat, responses, completions, generate"},
    {"{\"endpoint\": 1, \"body\": {}}", "r.jsonl:2: endpoint: 1 is unknown; accepted: chat"},
    {"{\"endpoint\": \"chat\"}", "r.jsonl:2: \"body\" is missing"},
    {"{\"endpoint\": \"chat\", \"body\": \"{}\"}",
     "r.jsonl:2: body: must be the request as it was sent, an object, is \"{}\""},
    {"{\"endpoint\": \"generate\", \"body\": {\"sampling_params\": [{}]}}",
     "r.jsonl:2: body: \"sampling_params\": must be an object, is [{}] (a list stands for several requests"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"id\": {}}",
     "r.jsonl:2: id: must be a string or a number, is {}"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"arrival\": 1}",
     "r.jsonl:2: arrival: given here and not before; accepted: on every line or on none"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"arrival\": -1}",
     "r.jsonl:2: arrival: must be a number of seconds from 0, is -1"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"arrival\": NaN}",
     "r.jsonl:2: arrival: must be a number of seconds from 0, is NaN"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"finish\": 1}",
     "r.jsonl:2: \"finish\" needs \"arrival\" beside it"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"arrival\": 2, \"finish\": 1}",
     "r.jsonl:2: finish: 1 is before the arrival, 2"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"prompt_tokens\": 1.5}",
     "r.jsonl:2: prompt_tokens: must be a whole number of tokens from 0, is 1.5"},
    {"{\"endpoint\": \"chat\", \"body\": {\"x\": \"\xff\"}}",
     "r.jsonl:2:37: byte 0xff is not valid UTF-8 here"},
};

static void bad_lines_are_refused_by_place(void **state)
{
    (void)state;
    char text[4096], all[8192] = CHAT("a", "");
    for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++) {
        snprintf(text, sizeof text, CHAT("a", "") "%s\n", bad_lines[i].line);
        route("sglang-0.5.20", "", text);
        child_refused(2, bad_lines[i].words);
        assert_string_equal(child.out, "");
        strcat(strcat(all, bad_lines[i].line), "\n\n");
    }
    route("sglang-0.5.20", "--skip-bad", all);
    answered(0);
    child_says(
        child.out,
        "sglang-0.5.20 as upstream: 1 request\nskipped bad lines: 18 (behind the colons, their numbers)\n");
    child_says(child.out, "          2  an arrival that is no time: 26, 28\n");
    child_says(child.out, "          2  not JSON: 2, 36\n");
    route("sglang-0.5.20", "", AT("a", 5, 6, "") AT("b", 4, 6, ""));
    child_refused(
        2, "r.jsonl:2: arrival: 4 is before the line above's, 5; accepted: lines in the order of arrival");
    route("sglang-0.5.20", "", AT("a", 5, 6, "") CHAT("b", ""));
    child_refused(2, "r.jsonl:2: arrival: is missing; accepted: on every line or on none");
    route("sglang-0.5.20", "", "\n");
    child_refused(2, "r.jsonl: no request could be read from it");
    route("sglang-0.5.20", "--skip-bad", "{}\n");
    child_refused(2, "r.jsonl: no request could be read from it, all lines are bad");
}

static void files_and_options_that_are_wrong(void **state)
{
    (void)state;
    write_text("r.jsonl", CHAT("a", ""));
    static const struct {
        const char *options, *words;
    } wrong[] = {
        {"--requests none.jsonl", "none.jsonl: cannot be read: No such file"},
        {"--requests .", ".: cannot be read: Is a directory"},
        {"--generation-config none.json", "none.json: cannot be read"},
        {"--generation-config list.json",
         "list.json: must be an object, as a model's generation_config.json is"},
        {"--server list.json", "list.json: must be an object"},
        {"--server word.json",
         "word.json: unknown key \"sampling\"; accepted: switch, deterministic, device"},
        {"--server told.json --log qwen3.json", "the model's defaults are given twice"},
        {"--generation-config qwen3.json --log qwen3.json", "the model's defaults are given twice"},
        {"--log none.log", "none.log: cannot be read"},
    };
    write_text("list.json", "[]");
    write_text("word.json", "{\"sampling\": \"openai\"}");
    write_text("told.json", "{\"generation_config\": {\"top_k\": 20}}");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 %s", wrong[i].options);
        child_refused(2, wrong[i].words);
    }
    child_start("exec \"$B\"/samplegate route");
    child_usage("--engine is needed");
    child_start("exec \"$B\"/samplegate route --engine sglang");
    child_usage("--engine: 'sglang' is unknown; accepted: sglang-0.5.19, sglang-0.5.20");
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 --as article");
    child_usage("--as: 'article' is unknown; accepted: article-port, article-prose, upstream");
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 r.jsonl");
    child_usage("unexpected argument 'r.jsonl'");
}

/* What was routed so far is said. */
static void an_interrupt_keeps_what_was_routed(void **state)
{
    (void)state;
    static const char traffic[] = AT("a", 0, 10, "") AT("b", 12, 14, "");
    assert_int_equal(mkfifo("traffic", 0600), 0);
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 --requests traffic");
    int fd = open("traffic", O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, traffic, sizeof traffic - 1), (ssize_t)sizeof traffic - 1);
    child_pause(300);
    assert_int_equal(kill(child.pid, SIGINT), 0);
    answered(130);
    close(fd);
    child_says(child.out, "sglang-0.5.20 as upstream: 2 requests until it was interrupted\n");
    child_says(child.out, "over time: 10.000 s with requests, 2.000 s idle");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_say_what_was_merged),
        cmocka_unit_test(bad_lines_are_refused_by_place),
        cmocka_unit_test(files_and_options_that_are_wrong),
        cmocka_unit_test(an_interrupt_keeps_what_was_routed),
    };
    return cmocka_run_group_tests_name("cli/route input", tests, route_setup, child_sweep);
}
