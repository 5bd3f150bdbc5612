/* test_bench.c: `samplegate bench` as a user meets it: figures, workers that lie about time, wrong arguments, interruption. */
#include "suite/cli/child.h"

#define BENCH "exec \"$B\"/samplegate bench --plan ./small.json "

static const char small[] =
    "{\"schema\": \"samplegate-bench-1\", \"name\": \"small\", \"notes\": \"n\", \"seed\": \"7\", \"about\": \"rule\",\n"
    "\"hands_over\": \"probabilities\", \"rules\": [\"gumbel\", \"race\"], \"warmup\": 2, \"calls\": 20, \"blocks\": 10,\n"
    "\"sessions\": 3, \"fill\": 3, \"tables\": [{\"name\": \"zipf\", \"kind\": \"zipf\", \"vocab\": 500},\n"
    "{\"name\": \"masked\", \"kind\": \"flat\", \"vocab\": 10, \"masked\": {\"every\": 2, \"first\": 0}}],\n"
    "\"cells\": [{\"name\": \"zipf\", \"table\": \"zipf\", \"batches\": [1, 4]},\n"
    "{\"name\": \"masked\", \"table\": \"masked\", \"batches\": [1]}]}";

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
    child_judged(0, "| batch | figure | [1] gumbel | sessions | [1] race | sessions | saved per call | [2] gumbel |");
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
    static const char *const context[] = {"date", "host_name", "executable", "num_cpus", "mhz_per_cpu",
                                          "cpu_scaling_enabled", "load_avg", "library_build_type", "plan_sha256"};
    for (size_t i = 0; i < sizeof context / sizeof *context; i++)
        member(member(json, "context"), context[i]);
    size_t iterations = 0, medians = 0;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, member(json, "benchmarks"))
    {
        static const char *const fields[] = {"name", "run_name", "run_type", "repetitions", "threads",
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
    child_says(child.out, "zipf/batch:1  SLOWER   1.");
    child_says(child.out, "every session agrees");
    child_start(BENCH "--cell zipf --calls 100 --sut \"$B\"/fault-plugin.so,id=spin-1000 "
                      "--vs \"$B\"/fault-plugin.so,id=spin-1100 --fail-slower 1.05");
    child_judged(0, "zipf/batch:1  FASTER   0.9");
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
        {"times-outside", 1, "which is no id of the row"},
        {"times-wrong-chunk", 1, "answered another request"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        child_start(BENCH "--cell zipf --sut \"exec:$B/fault-worker %s\"", lies[i].mode);
        child_judged(lies[i].exit, lies[i].said);
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
        {"--sut reference --sut reference --vs reference", "--vs holds one --sut against another; 2 were given"},
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
        {"--plan quick", "quick.json: schema: \"samplegate-plan-1\" is unknown; accepted: samplegate-bench-1"},
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
    child_refused(2, "greedy.json: cells[0]: temperature 0 is greedy: an argmax, which never calls the drawing rule");
}

/* What was whole when the signal came is kept, in the text and in the file. */
static void interrupted(void **state)
{
    (void)state;
    child_start(BENCH "--calls 300 --sessions 50 --cell zipf --out kept --sut \"$B\"/fault-plugin.so,id=spin-1000");
    child_pause(4000); /* a session takes 0.7 s */
    kill(-child.pid, SIGINT);
    child_judged(130, "interrupted, ");
    child_says(child.out, "stopped  zipf/batch:1, [1] fault-plugin: interrupted");
    char *written = read_text("kept/bench.json");
    assert_non_null(strstr(written, "\"aggregate_name\":\t\"median\""));
    free(written);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_rules_side_by_side), cmocka_unit_test(google_benchmark_json),
        cmocka_unit_test(a_slower_sampler),       cmocka_unit_test(the_same_sampler),
        cmocka_unit_test(too_few_sessions_are_unclear),
        cmocka_unit_test(workers_that_lie),       cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(greedy_is_no_evidence),  cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests(tests, make_plan, child_sweep);
}
