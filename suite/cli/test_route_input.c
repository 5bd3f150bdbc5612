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
     "r.jsonl:2: arrival: must be a number of seconds from 0 to 1e18, is -1"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"arrival\": NaN}",
     "r.jsonl:2: arrival: must be a number of seconds from 0 to 1e18, is NaN"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"finish\": 1}",
     "r.jsonl:2: \"finish\" needs \"arrival\" beside it"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"arrival\": 2, \"finish\": 1}",
     "r.jsonl:2: finish: 1 is before the arrival, 2"},
    {"{\"endpoint\": \"chat\", \"body\": {}, \"prompt_tokens\": 1.5}",
     "r.jsonl:2: prompt_tokens: must be a whole number of tokens from 0 to 999999999, is 1.5"},
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
        {"--generation-config pipe", "pipe: cannot be read: it is no regular file"},
        {"--server pipe", "pipe: cannot be read: it is no regular file"},
        {"--generation-config twice.json", "twice.json:1:15: key \"top_k\" is already in this object"},
    };
    assert_int_equal(mkfifo("pipe", 0600), 0);
    write_text("twice.json", "{\"top_k\": 20, \"top_k\": 30}");
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

/* Whatever the file holds there reaches the engine, which says what it makes of it. */
static void wrong_types_in_the_models_file(void **state)
{
    (void)state;
    static const struct {
        const char *config, *words;
    } wrong[] = {
        {"{\"top_k\": \"20\"}", "HTTP 500: top_k must be a number, is a string"},
        {"{\"top_k\": {\"float\": \"5\"}}", "HTTP 500: top_k must be a number, is an object"},
        {"{\"temperature\": [1]}", "HTTP 500: temperature must be a number, is an array"},
        {"{\"top_p\": -1}", "HTTP 400: top_p must be in (0, 1], got -1.0."},
        {"{\"min_p\": true}", "filtered\n"},
        {"{\"top_k\": null}", "gumbel\n"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_text("wrong.json", wrong[i].config);
        route("sglang-0.5.20", "--generation-config wrong.json", CHAT("a", ""));
        answered(0);
        child_says(child.out, wrong[i].words);
    }
    child_start("exec bash -c '\"$B\"/samplegate route --engine sglang-0.5.20 --generation-config <(echo "
                "\"{\\\"top_k\\\": "
                "5}\")'");
    answered(0);
    child_says(child.out, ": top_k 5\n");
}

/* Names and values come from clients: a terminal obeys none of them. */
static void nothing_is_printed_that_a_terminal_obeys(void **state)
{
    (void)state;
    write_text("switch.json", "{\"switch\": \"\\u001b[2J\\u009b\"}");
    write_text("keys.json", "{\"temperature\": \"\\u001b[31m\\n\"}");
    for (int i = 0; i < 2; i++) {
        route("sglang-0.5.20", i ? "--server switch.json" : "--generation-config keys.json",
              CHAT("a\\u001b[2J\\u0007\\n\\u009b\\u007f", ", \"top_p\": \"\\u001b[31m\\n\\u0085\"")
                  CHAT("b\\u001b", ", \"top_k\": \"\\u001b\""));
        answered(0);
        for (const char *c = child.out; *c; c++)
            if (((unsigned char)*c < ' ' && *c != '\n') || *c == '\x7f' ||
                (*c == '\xc2' && (unsigned char)c[1] < 0xa0))
                fail_msg("byte 0x%02x in\n%s", (unsigned char)*c, child.out);
        child_says(child.out, "a [2J");
    }
    child_start("exec \"$B\"/samplegate cost --engine vllm-0.5.0 --vocab 10 --requests r.jsonl");
    child_wait();
    if (strchr(child.err, '\x1b') || strchr(child.out, '\x1b'))
        fail_msg("an escape in\n%s%s", child.out, child.err);
}

/* Who does not read on is not waited for: the trace is not read to its end. */
static void a_closed_pipe_ends_it(void **state)
{
    (void)state;
    child_start("yes '"
                "{\"endpoint\": \"chat\", \"body\": {}}"
                "' | \"$B\"/samplegate route --engine sglang-0.5.20 "
                "--requests - --json 2>said | head -n 1; grep -q Broken.pipe said");
    answered(0);
    child_says(child.out, "{\"id\":\"1\",\"rows\":1,");
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 >/dev/full");
    child_refused(99, "standard output: the report cannot be written: No space left on device");
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 >&-");
    child_refused(99, "standard output: the report cannot be written");
}

static void extreme_lines(void **state)
{
    (void)state;
    child_start(
        "{ printf '{\"endpoint\":\"chat\",\"id\":\"'; head -c 10000000 /dev/zero | tr '\\0' x; printf "
        "'\",\"body\":{\"top_p\":0.5}}\\n'; } >long.jsonl; exec \"$B\"/samplegate route --engine "
        "sglang-0.5.20 "
        "--requests long.jsonl");
    answered(0);
    child_says(child.out, "xxx chat        filtered\n");
    child_start(
        "{ printf '{\"endpoint\":\"chat\",\"body\":{\"a\":'; head -c 100000 /dev/zero | tr '\\0' '['; } "
        ">deep.jsonl; exec \"$B\"/samplegate route --engine sglang-0.5.20 --requests deep.jsonl");
    child_refused(2, "deep.jsonl:1:94: nested deeper than 64");
    child_start("printf '{\"endpoint\":\"chat\",\"body\":{}}\\0\\n' >nul.jsonl; exec \"$B\"/samplegate route "
                "--engine "
                "sglang-0.5.20 --requests nul.jsonl");
    child_refused(2, "nul.jsonl:1:30: expected nothing after the value, found byte 0x00");
    route("sglang-0.5.20", "", AT("a", 1e18, 1e19, ""));
    child_refused(2, "r.jsonl:1: finish: must be a number of seconds from 0 to 1e18, is 1e19");
    route("sglang-0.5.20", "",
          CHAT("a", ", \"n\": 2147483647") CHAT("b", ", \"top_k\": 1e999, \"seed\": 1e999"));
    answered(0);
    child_says(child.out, "; 2147483647 rows: 2147483647 sequences\n");
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
    child_start("exec \"$B\"/samplegate route --engine sglang-0.5.20 --requests traffic"); /* nobody writes */
    child_pause(300);
    assert_int_equal(kill(child.pid, SIGINT), 0);
    answered(130);
    child_start("exec \"$B\"/samplegate judge traffic");
    child_pause(300);
    assert_int_equal(kill(child.pid, SIGINT), 0);
    child_refused(130, "traffic: interrupted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_say_what_was_merged),
        cmocka_unit_test(bad_lines_are_refused_by_place),
        cmocka_unit_test(files_and_options_that_are_wrong),
        cmocka_unit_test(wrong_types_in_the_models_file),
        cmocka_unit_test(nothing_is_printed_that_a_terminal_obeys),
        cmocka_unit_test(a_closed_pipe_ends_it),
        cmocka_unit_test(extreme_lines),
        cmocka_unit_test(an_interrupt_keeps_what_was_routed),
    };
    return cmocka_run_group_tests_name("cli/route input", tests, route_setup, child_sweep);
}
