/* test_bench.c: `samplegate bench` as a user meets it: figures, workers that lie about time, wrong arguments, interruption. */
#include "suite/cli/child.h"

#define BENCH "exec \"$B\"/samplegate bench --plan ./small.json "

static const char small[] =
    "{\"schema\": \"samplegate-bench-1\", \"name\": \"small\", \"notes\": \"n\", \"seed\": \"7\", \"about\": "
    "\"rule\",\n"
    "\"hands_over\": \"probabilities\", \"rules\": [\"gumbel\", \"race\"], \"warmup\": 2, \"calls\": 20, "
    "\"blocks\": 10,\n"
    "\"sessions\": 3, \"fill\": 3, \"tables\": [{\"name\": \"zipf\", \"kind\": \"zipf\", \"vocab\": 500},\n"
    "{\"name\": \"masked\", \"kind\": \"flat\", \"vocab\": 10, \"masked\": {\"every\": 2, \"first\": 0}}],\n"
    "\"cells\": [{\"name\": \"zipf\", \"table\": \"zipf\", \"batches\": [1, 4]},\n"
    "{\"name\": \"masked\", \"table\": \"masked\", \"batches\": [1]}]}";

/* Columns are as wide as what is in them: one space for any number. */
static void squeeze(void)
{
    char *to = child.out;
    for (const char *from = child.out; *from; from++)
        if (*from != ' ' || from == child.out || from[-1] != ' ')
            *to++ = *from;
    *to = '\0';
}

static int make_plan(void **state)
{
    if (child_scratch(state))
        return -1;
    write_text("small.json", small);
    return 0;
}

static void two_rules_side_by_side(void **state)
{
    (void)state;
    child_start(BENCH "--claimed 1.75");
    child_judged(0, "measured, ");
    child_says(child.out, "20 calls after 2, in 10 blocks, 3 sessions");
    child_says(child.out, "On a CPU a call returns when its tokens are there");
    child_says(child.out, "[1] gumbel");
    child_says(child.out, "saved per call");
    child_says(child.out, "zipf: V = 500");
    child_says(child.out, "claimed  1.75: zipf/batch:1, [1] gumbel -> [1] race: ");
    child_says(child.out, "machine  ");
    child_start(BENCH "--markdown --cell zipf --sessions 1 --sut reference --sut reference:categorical");
    child_judged(
        0, "| batch | figure | [1] gumbel | sessions | [1] race | sessions | saved per call | [2] gumbel |");
    child_says(child.out, "|---|---|---:|");
}

static const cJSON *member(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!found)
        fail_msg("%s\nhas no %s in its JSON:\n%s", child.command, key, child.out);
    return found;
}

/* The fields that Google Benchmark's own tools read. */
static void google_benchmark_json(void **state)
{
    (void)state;
    child_start(BENCH "--json --out out");
    child_judged(0, "\"context\"");
    cJSON *json = cJSON_Parse(child.out);
    assert_non_null(json);
    static const char *const context[] = {"date",     "host_name",          "executable",
                                          "num_cpus", "mhz_per_cpu",        "cpu_scaling_enabled",
                                          "load_avg", "library_build_type", "plan_sha256"};
    for (size_t i = 0; i < sizeof context / sizeof *context; i++)
        member(member(json, "context"), context[i]);
    size_t iterations = 0, medians = 0;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, member(json, "benchmarks"))
    {
        static const char *const fields[] = {"name",       "run_name",  "run_type", "repetitions", "threads",
                                             "iterations", "real_time", "cpu_time", "time_unit"};
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            member(entry, fields[i]);
        iterations += !strcmp(cJSON_GetStringValue(member(entry, "run_type")), "iteration");
        const cJSON *aggregate = cJSON_GetObjectItem(entry, "aggregate_name");
        medians += aggregate && !strcmp(cJSON_GetStringValue(aggregate), "median");
        assert_true(member(entry, "real_time")->valuedouble > 0);
    }
    assert_int_equal(iterations, 3 * 2 * 3); /* points, rules, sessions */
    assert_int_equal(medians, 3 * 2);
    char *written = read_text("out/bench.json");
    cJSON *file = cJSON_Parse(written);
    assert_true(file && cJSON_Compare(file, json, true));
    cJSON_Delete(file);
    cJSON_Delete(json);
    free(written);
    assert_int_not_equal(access("out/bench.json.partial", F_OK), 0);
}

/* The planted defect: a sampler that takes a tenth longer. */
static void a_slower_sampler(void **state)
{
    (void)state;
    child_start(BENCH "--cell zipf --calls 100 --sut \"$B\"/fault-plugin.so,id=spin-1100 "
                      "--vs \"$B\"/fault-plugin.so,id=spin-1000 --fail-slower 1.05");
    child_judged(1, "slower, ");
    squeeze();
    child_says(child.out, "zipf/batch:1 host SLOWER 1.");
    child_says(child.out, "every session agrees");
    child_start(BENCH "--cell zipf --calls 100 --sut \"$B\"/fault-plugin.so,id=spin-1000 "
                      "--vs \"$B\"/fault-plugin.so,id=spin-1100 --fail-slower 1.05");
    child_judged(0, "FASTER");
    squeeze();
    child_says(child.out, "zipf/batch:1 host FASTER 0.9");
}

/* By the cores' time it is the same, whoever else runs. */
static void by_cpu_time(void **state)
{
    (void)state;
    child_start(BENCH "--cell zipf --calls 100 --cpu --sut \"$B\"/fault-plugin.so,id=spin-1100 "
                      "--vs \"$B\"/fault-plugin.so,id=spin-1000");
    child_judged(0, "SLOWER");
    squeeze();
    child_says(child.out, "zipf/batch:4 cpu SLOWER 1.");
}

/* The same sampler twice, four times over: never slower, never faster. */
static void the_same_sampler(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        child_start(BENCH "--sut reference --vs reference --allow-inconclusive");
        child_wait();
        child_expect(0);
        if (strstr(child.out, "SLOWER") || strstr(child.out, "FASTER"))
            fail_msg("a sampler differs from itself:\n%s", child.out);
    }
}

static void too_few_sessions_are_unclear(void **state)
{
    (void)state;
    const char *const two = "--cell zipf --calls 100 --sessions 2 --sut \"$B\"/fault-plugin.so,id=spin-1100 "
                            "--vs \"$B\"/fault-plugin.so,id=spin-1000";
    child_start(BENCH "%s", two);
    child_judged(3, "2 sessions: processes differ, 3 are needed");
    child_start(BENCH "%s --allow-inconclusive", two);
    child_judged(0, "unclear, ");
}

static const char parameters[] =
    "{\"schema\": \"samplegate-bench-1\", \"name\": \"asks\", \"notes\": \"n\", \"seed\": \"7\", \"about\": "
    "\"parameters\",\n"
    "\"hands_over\": \"logits\", \"warmup\": 1, \"calls\": 4, \"blocks\": 2, \"sessions\": 2,\n"
    "\"tables\": [{\"name\": \"zipf\", \"kind\": \"zipf\", \"vocab\": 5000}],\n"
    "\"cells\": [{\"name\": \"plain\", \"table\": \"zipf\", \"batches\": [1, 4, 16], \"series\": "
    "\"plain\"},\n"
    "{\"name\": \"greedy\", \"table\": \"zipf\", \"batches\": [4], \"temperature\": 0, \"over\": "
    "\"plain\"},\n"
    "{\"name\": \"sorted\", \"table\": \"zipf\", \"batches\": [1, 4, 16], \"over\": \"plain\", "
    "\"parameters\": "
    "{\"top_p\": 0.9}},\n"
    "{\"name\": \"counted\", \"table\": \"zipf\", \"batches\": [4], \"history\": {\"prompt\": 9, \"output\": "
    "3}, "
    "\"parameters\": {\"presence_penalty\": 1}},\n"
    "{\"name\": \"forked\", \"table\": \"zipf\", \"batches\": [4], \"samples\": 3, \"copies\": 2},\n"
    "{\"name\": \"noisy\", \"table\": \"zipf\", \"batches\": [4], \"neighbour\": {\"rows\": 1, "
    "\"parameters\": "
    "{\"top_k\": 9}}}],\n"
    "\"remedies\": [{\"action\": \"no filter\", \"costs\": \"tails\", \"from\": \"sorted\", \"to\": "
    "\"plain\"}]}";

/* Every cell runs, is held over the one it names, and is fitted; a sampler without penalties skips their cell by name. */
static void what_parameters_cost(void **state)
{
    (void)state;
    write_text("asks.json", parameters);
    child_start("exec \"$B\"/samplegate bench --plan ./asks.json");
    child_judged(0, "measured, ");
    squeeze();
    child_says(child.out, "V = 5000 over N = 1 N = 4 N = 16");
    child_says(child.out, "\ngreedy plain - ");
    child_says(child.out, "a request more adds");
    child_says(child.out, "8 N V, bytes");
    child_says(child.out, "\nplain 5000 4 160000 1400000 "); /* 70 bytes a logit: fp32 stages */
    child_says(child.out, "a byte of 8 N V; the worst point is");
    child_says(child.out, "no filter tails 16 ");
    if (strstr(child.out, "skipped") || strstr(child.out, "error"))
        fail_msg("a cell did not run:\n%s", child.out);
    child_start("exec \"$B\"/samplegate bench --plan ./asks.json --sut python:" SAMPLEGATE_SOURCE_DIR
                "/suite/sut/examples/sampler.py --sessions 1");
    child_wait();
    child_expect(77);
    child_says(child.out, "skipped  counted/batch:4, [1] sampler: the sampler has no penalties");
    child_start("exec \"$B\"/samplegate bench --plan ./asks.json --claimed 1.75");
    child_refused(2, "--claimed: plan asks is about parameters");
}

static void workers_that_lie(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        int exit;
        const char *said;
    } lies[] = {
        {"times", 0, "measured, "},
        {"none", 77, "its worker answers no message time"},
        {"times-short", 1, "no array host_ns of 2 I64"},
        {"times-negative", 1, "no clock of use"},
        {"times-inflated", 1, "its times are no nanoseconds"},
        {"times-cpu", 1, "its times are no nanoseconds"},
        {"times-device", 1, "its times are no nanoseconds"},
        {"times-sync", 1, "call 0 was done, by sync_ns, before it returned, by host_ns"},
        {"times-flip", 1, "the worker's queue is 'device', and was not in an earlier block"},
        {"times-escape", 1, " [31mred and more"},
        {"times-outside", 1, "which is no id of the row"},
        {"times-wrong-chunk", 1, "answered another request"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        child_start(BENCH "--cell zipf --sut \"exec:$B/fault-worker %s\"", lies[i].mode);
        child_judged(lies[i].exit, lies[i].said);
        assert_null(strchr(child.out, '\033'));
    }
    child_start(BENCH "--cell masked --sut \"exec:$B/fault-worker times\"");
    child_judged(1, "token of draw 0 is 0, whose probability is zero");
    child_start(BENCH "--cell zipf --timeout 0.5 --sut \"exec:$B/fault-worker times-hang\"");
    child_judged(1, "the worker hangs: no answer within 0.5 s");
}

static void wrong_arguments(void **state)
{
    (void)state;
    static const char *const usage[][2] = {
        {"--calls 0", "--calls: '0' is not a whole number from 1"},
        {"--fail-slower 1.05", "--fail-slower needs --vs SPEC"},
        {"--claimed 1", "--claimed: '1' is not a ratio such as 1.75, above 1"},
        {"--sut reference --sut reference --vs reference",
         "--vs holds one --sut against another; 2 were given"},
        {"--cpu", "--cpu needs --vs SPEC"},
        {"--json --markdown", "exclude each other"},
        {"fast", "unexpected argument 'fast'"},
    };
    for (size_t i = 0; i < sizeof usage / sizeof *usage; i++) {
        child_start(BENCH "%s", usage[i][0]);
        child_usage(usage[i][1]);
    }
    static const char *const refused[][2] = {
        {"--cell nosuch", "--cell: nothing is called 'nosuch'; there are zipf, masked"},
        {"--sut recording:small.json", "a recording holds tokens, not a sampler to time"},
        {"--sut nosuch", "'nosuch' is not a sampler"},
        {"--plan quick",
         "quick.json: schema: \"samplegate-plan-1\" is unknown; accepted: samplegate-bench-1"},
        {"--plan nosuch", "there are: bench-38117"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        child_start(BENCH "%s", refused[i][0]);
        child_refused(2, refused[i][1]);
    }
}

/* Temperature 0 is no evidence about the rule, whoever asks. */
static void greedy_is_no_evidence(void **state)
{
    (void)state;
    char *greedy = strdup(small), *place = strstr(greedy, "[1, 4]}");
    write_text("greedy.json", "");
    FILE *file = fopen("greedy.json", "w");
    fprintf(file, "%.*s[1, 4], \"temperature\": 0}%s", (int)(place - greedy), greedy, place + 7);
    fclose(file);
    free(greedy);
    child_start("exec \"$B\"/samplegate bench --plan ./greedy.json");
    child_refused(
        2, "greedy.json: cells[0]: temperature 0 is greedy: an argmax, which never calls the drawing rule");
}

/* It is told before anything is measured, and the disk's end after it. */
static void reports_that_cannot_be_written(void **state)
{
    (void)state;
    write_text("file", "");
    child_start(BENCH "--out file/below --sut \"exec:touch started; $B/fault-worker times\"");
    child_refused(99, "--out: file/below: Not a directory");
    assert_int_not_equal(access("started", F_OK), 0);
    child_start("ulimit -f 0; " BENCH "--cell masked --sessions 1 --out full >/dev/null");
    child_wait();
    child_expect(99); /* what it says meets the same limit */
    assert_int_not_equal(access("full/bench.json", F_OK), 0);
    assert_int_not_equal(access("full/bench.json.partial", F_OK), 0);
}

/* Through the host shim: calls queue, and three figures are told. */
static void calls_that_queue(void **state)
{
    (void)state;
    char shim[PATH_MAX];
    snprintf(shim, sizeof shim, "%s/tests/shim-host", getenv("B"));
    if (access(shim, X_OK))
        skip();
    child_start(BENCH "--cell zipf --sessions 1 --sut \"exec:$B/tests/shim-host cuda:race\"");
    child_judged(0, "Of calls that queue: host is call to return behind an empty queue");
    squeeze();
    child_says(child.out, "\n1 host ");
    child_says(child.out, "\n1 host, queue full ");
    child_says(child.out, "\n1 synchronized ");
    if (strstr(child.out, "On a CPU a call returns"))
        fail_msg("%s", child.out);
    child_start(BENCH "--cell zipf --sut reference --vs \"exec:$B/tests/shim-host cuda:race\"");
    child_judged(3, "one queues its calls on a device, the other does not");
}

/* What was whole when the signal came is kept, in the text and in the file. */
static void interrupted(void **state)
{
    (void)state;
    child_start(
        BENCH "--calls 100 --sessions 100 --cell zipf --out kept --sut \"$B\"/fault-plugin.so,id=spin-1000");
    child_pause(4000); /* a session takes 0.2 s where it is not disturbed */
    kill(-child.pid, SIGINT);
    child_judged(130, "interrupted, ");
    child_says(child.out, "stopped  2 series before their last session; the whole ones are kept");
    char *written = read_text("kept/bench.json");
    assert_non_null(strstr(written, "\"aggregate_name\":\t\"median\""));
    free(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_rules_side_by_side),
        cmocka_unit_test(google_benchmark_json),
        cmocka_unit_test(a_slower_sampler),
        cmocka_unit_test(the_same_sampler),
        cmocka_unit_test(too_few_sessions_are_unclear),
        cmocka_unit_test(by_cpu_time),
        cmocka_unit_test(what_parameters_cost),
        cmocka_unit_test(workers_that_lie),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(greedy_is_no_evidence),
        cmocka_unit_test(reports_that_cannot_be_written),
        cmocka_unit_test(calls_that_queue),
        cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests(tests, make_plan, child_sweep);
}
