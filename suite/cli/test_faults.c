/* test_faults.c: every way a sampler can break, end to end: what the user is told, the exit, and what is left
 * behind.
 *
 * The plan's three cells have one possible id each, so a worker that answers token 0 passes, and each cell is
 * two chunks, so a worker lives through several. */
#include "suite/cli/child.h"

static const char plan[] = "{\"schema\":\"samplegate-plan-1\",\"name\":\"three\",\"seed\":\"1\","
                           "\"batches\":[{\"size\":1,\"share\":\"1/2\"},{\"size\":8,\"share\":\"1/2\"}],"
                           "\"tables\":[{\"name\":\"sure\",\"kind\":\"list\",\"logits\":[0]}],\"cells\":["
                           "{\"family\":\"equivalence\",\"name\":\"a\",\"table\":\"sure\",\"draws\":2000,"
                           "\"epsilon\":0.1,\"certify\":\"none\"},"
                           "{\"family\":\"equivalence\",\"name\":\"b\",\"table\":\"sure\",\"draws\":2000,"
                           "\"epsilon\":0.1,\"certify\":\"none\"},"
                           "{\"family\":\"equivalence\",\"name\":\"c\",\"table\":\"sure\",\"draws\":2000,"
                           "\"epsilon\":0.1,\"certify\":\"none\"}]}";

/* Two ids, equally likely, of which a worker that answers token 0 draws one: each cell is flagged. */
static const char tied_plan[] =
    "{\"schema\":\"samplegate-plan-1\",\"name\":\"tied\",\"seed\":\"1\","
    "\"batches\":[{\"size\":1,\"share\":\"1/2\"},{\"size\":8,\"share\":\"1/2\"}],"
    "\"tables\":[{\"name\":\"tie\",\"kind\":\"list\",\"logits\":[0,0]}],\"cells\":["
    "{\"family\":\"equivalence\",\"name\":\"a\",\"table\":\"tie\",\"draws\":1000,"
    "\"epsilon\":0.1,\"certify\":\"none\"},"
    "{\"family\":\"equivalence\",\"name\":\"b\",\"table\":\"tie\",\"draws\":1000,"
    "\"epsilon\":0.1,\"certify\":\"none\"},"
    "{\"family\":\"equivalence\",\"name\":\"c\",\"table\":\"tie\",\"draws\":1000,"
    "\"epsilon\":0.1,\"certify\":\"none\"}]}";

/* `run --sut SPEC` with one worker at a time; the report goes to a folder of its own. */
static void run(const char *spec, const char *options)
{
    child_start(
        "rm -rf out; exec \"$B\"/samplegate run --sut \"%s\" --plan ./three.json --jobs 1 --out out %s", spec,
        options);
}

static void run_mode(const char *mode, const char *options)
{
    char spec[128];
    snprintf(spec, sizeof spec, "exec:exec $B/fault-worker %s", mode);
    run(spec, options);
}

static void a_worker_that_behaves_passes(void **state)
{
    (void)state;
    run_mode("none", "");
    child_judged(0, "verdict: pass: 3 cells");
    assert_string_equal(report_state("out", "pass", "a"), "ran");
}

/* After hello: each cell is one red check with the reason, the run goes on, exit 1. */
static void a_worker_that_breaks_is_a_red_cell(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *words;
    } broken[] = {
        {"crash", "error: the worker died (killed by signal 6"},
        {"out-of-range", "error: token 1 of draw 999 is out of range: the row has ids 0 to 0"},
        {"negative", "error: token -7 of draw 999 is out of range"},
        {"short", "error: the answer lacks token I32 [1000]"},
        {"broken-frame", "error: the worker's answer is broken: a header of"},
        {"truncated", "error: the worker's answer is broken: the input ended after 24 of a frame's 64 bytes"},
        {"huge", "error: the worker's answer is broken: a frame of 1152921504606846976 bytes"},
        {"wrong-chunk", "error: the worker answered another request than chunk 0 of stage 1"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        run_mode(broken[i].mode, "");
        child_judged(1, broken[i].words);
        child_says(child.out, "verdict: error: 3 cells could not be judged, first a: ");
        assert_string_equal(report_state("out", "error", "c"), "error");
    }
}

static void a_worker_that_hangs_is_a_red_cell(void **state)
{
    (void)state;
    run_mode("hang", "--timeout 2 --cell b");
    child_judged(
        1, "verdict: error: 1 cell could not be judged, first b: the worker hangs: no answer within 2 s");
    assert_string_equal(report_state("out", "error", "b"), "error");
}

/* Before hello: it cannot be judged at all: one line, exit 2, no report. */
static void a_worker_that_cannot_start_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *words;
    } dead[] = {
        {"exec:exec $B/fault-worker exit-early",
         "no hello: the worker died (exit 3); its stderr ends: fault-worker: ImportError: no engine here"},
        {"exec:exec $B/fault-worker no-hello", "no hello: the worker hangs: no answer within 2 s"},
        {"exec:exec $B/fault-worker old-protocol", "the worker speaks protocol '0'; accepted: 1"},
        {"exec:exec $B/fault-worker chatter", "no hello: the worker's answer is broken: a frame of"},
        {"exec:exec $B/fault-worker no-such-mode",
         "no hello: the worker died (exit 2); its stderr ends: ..."},
        {"exec:true", "exec:true: no hello: the worker died (exit 0)"},
        {"exec:/no/such/command", "not found"},
        {"exec:echo hello; cat", "no hello: the worker's answer is broken"},
        {"exec: ", "exec: needs a command"},
        {"warp-drive",
         "'warp-drive' is not a sampler; accepted: reference[:RULE], cuda[:RULE], engine[:NAME], "
         "python:NAME"},
        {"", "'' is not a sampler; accepted: "},
        {"reference:warp", "rule 'warp' is not known; known rules: greedy categorical race"},
        {"reference,warp=1", "option 'warp=1' is not known to the reference; known: "},
        {"reference,warp", "option 'warp' is not key=value"},
        {"reference,env.=1", "option 'env.=1' is not env.NAME=VALUE"},
        {"./absent.so", "./absent.so: No such file or directory"},
        {"./three.json", "cannot load ./three.json"},
        {"$B/no-symbol.so", "exports no function samplegate_plugin: not a samplegate plug-in"},
        {"$B/other-abi.so", "was built for plug-in ABI 1001; this host has 1"},
        {"$B/mutants.so,id=no-such", "'id=no-such' is not known; known: id=clean"},
        {"$B/fault-plugin.so,colour=red", "'colour=red' is not known; known: id=none"},
        {"recording:absent", "absent: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof dead / sizeof *dead; i++) {
        bool silent = strstr(dead[i].spec, "no-hello");
        run(dead[i].spec, silent ? "--timeout 2" : "");
        child_refused(2, dead[i].words);
        assert_string_equal(child.out, "");
        report_absent("out");
    }
}

/* A check that has nothing to say has not passed. */
static void nothing_judged_is_no_pass(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate run --sut reference:greedy --plan card --check determinism.tokens "
                "--cell again-50257 --jobs 1");
    child_judged(77, "skipped: no selected check has anything to judge");
}

static void a_python_worker_that_cannot_start_is_refused(void **state)
{
    (void)state;
    write_text("engineless.py",
               "import no_such_engine\nINSTALL = 'pip install it'\nclass Worker:\n    pass\n");
    write_text("broken.py", "class Worker(:\n");
    run("python:./engineless.py", "");
    child_refused(2, "No module named 'no_such_engine'");
    run("python:./broken.py", "");
    child_refused(2, "SyntaxError");
    run("python:./absent.py", "");
    child_refused(2, "./absent.py: No such file or directory");
    run("python:warp", "");
    child_refused(2, "no engine 'warp': known are torch");
    run("python:", "");
    child_refused(2, "python: needs an engine's name or a FILE.py");
    run("python:torch@./no-venv", "");
    child_refused(2, "(@VENV names a virtual environment's folder)");
}

static void an_exception_in_python_is_a_red_cell(void **state)
{
    (void)state;
    write_text("moody.py", "class Worker:\n"
                           "    takes = 'probabilities'\n"
                           "    chunks = 0\n"
                           "    def __init__(self, options):\n        pass\n"
                           "    def reset(self, seed):\n        self.chunks += 1\n"
                           "    def sample(self, call):\n"
                           "        if self.chunks == 3:\n"
                           "            raise RuntimeError('two\\nlines \\x1b[31m')\n"
                           "        return [0] * call.draws\n");
    run("python:./moody.py", "");
    child_judged(1, "error: the worker reports: ");
    child_says(child.out, "two lines  [31m"); /* as one line, and nothing a terminal would obey */
    child_says(child.out, "verdict: error: 1 cell could not be judged, first b");
    assert_string_equal(report_state("out", "error", "a"), "ran");
    assert_string_equal(report_state("out", "error", "b"), "error");
    assert_string_equal(report_state("out", "error", "c"), "ran");
}

static void a_plugin_that_breaks_is_a_red_cell(void **state)
{
    (void)state;
    static const struct {
        const char *id, *words;
    } broken[] = {
        {"crash", "error: the worker died (killed by signal 6"},
        {"overflow", "the plug-in wrote past the end of its token buffer in the call of draws 0 to 0"},
        {"unwritten", "wrote no token for draw 0 of the chunk"},
        {"status-failed", "the plug-in's sample() answered FAILED (3)"},
    };
    char spec[128];
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        snprintf(spec, sizeof spec, "$B/fault-plugin.so,id=%s", broken[i].id);
        run(spec, "");
        child_judged(1, broken[i].words);
        child_says(child.out, "verdict: error: 3 cells could not be judged");
        assert_string_equal(report_state("out", "error", "c"), "error");
    }
    run("$B/fault-plugin.so,id=chatter", ""); /* printing to stdout is no fault */
    child_judged(0, "verdict: pass: 3 cells");
}

static void what_is_unsupported_is_skipped_unless_required(void **state)
{
    (void)state;
    run_mode("unsupported", "");
    child_judged(77, "skipped: unsupported: this worker supports nothing");
    child_says(child.out, "verdict: nothing-ran: ");
    assert_string_equal(report_state("out", "nothing-ran", "a"), "skipped");
    run("$B/fault-plugin.so,id=unsupported", "");
    child_judged(77, "answered UNSUPPORTED (1)");
    run_mode("unsupported", "--require all");
    child_judged(1, "verdict: fail: --require all: not run");
    run_mode("none", "--require gpu");
    child_judged(1, "verdict: fail: --require gpu: not run (device cpu");
    run_mode("none", "--check agreement --require all"); /* the plan has no such cell: nothing ran */
    child_judged(1, "verdict: fail: --require all: not run");
}

/* Three answers, then death: the second cell is lost, the third is judged by another worker. */
static void one_crash_costs_one_cell(void **state)
{
    (void)state;
    run_mode("die-midway", "");
    child_judged(1,
                 "verdict: error: 1 cell could not be judged, first b: the worker died (killed by signal 9");
    assert_string_equal(report_state("out", "error", "a"), "ran");
    assert_string_equal(report_state("out", "error", "b"), "error");
    assert_string_equal(report_state("out", "error", "c"), "ran");
    run_mode("crash", "--jobs 4"); /* the last --jobs counts: six chunks at once */
    child_judged(1, "verdict: error: 3 cells could not be judged");
}

/* A worker started in the place of a lost one must not be mistaken for alive in the second stage. */
static void a_crash_leaves_the_second_stage_whole(void **state)
{
    (void)state;
    write_text("once.sh", "if [ -e died ]; then exec \"$B\"/fault-worker none; fi\n"
                          ": > died\nexec \"$B\"/fault-worker die-midway\n");
    child_start(
        "exec \"$B\"/samplegate run --sut 'exec:exec sh ./once.sh' --plan ./tied.json --jobs 1 --out tied");
    child_judged(1, "verdict: fail: ");
    assert_string_equal(report_state("tied", "fail", "a"), "ran");
    assert_string_equal(report_state("tied", "fail", "b"), "error");
    assert_string_equal(report_state("tied", "fail", "c"), "ran");
    child_says(child.out, "FAIL equivalence.rank on a");
    child_says(child.out, "FAIL equivalence.rank on c");
}

/* The first stage was answered and flagged; refusing the second must not turn that into a skip. */
static void a_flagged_cell_cannot_become_unsupported(void **state)
{
    (void)state;
    write_text("sly.py", "import os\n"
                         "class Worker:\n"
                         "    takes = 'probabilities'\n"
                         "    def __init__(self, options):\n        pass\n"
                         "    def reset(self, seed):\n        open('chunks', 'a').write('x')\n"
                         "    def sample(self, call):\n"
                         "        if os.path.getsize('chunks') > 6:\n"
                         "            raise NotImplementedError('not any more')\n"
                         "        return [0] * call.draws\n");
    child_start("exec \"$B\"/samplegate run --sut python:./sly.py --plan ./tied.json --jobs 1 --out sly");
    child_judged(1, "error: unsupported: not any more");
    assert_string_equal(report_state("sly", "error", "a"), "error");
}

/* Token 0 for the first 1,000 draws of a process, fair after that: the second look is at a fresh process, or
 * what was wrong at first would be right by then. */
static void a_cold_start_is_seen_twice(void **state)
{
    (void)state;
    write_text("cold.py", "import random\n"
                          "class Worker:\n"
                          "    takes = 'probabilities'\n"
                          "    draws = 0\n"
                          "    def __init__(self, options):\n        pass\n"
                          "    def reset(self, seed):\n        self.random = random.Random(seed)\n"
                          "    def sample(self, call):\n"
                          "        self.draws += call.draws\n"
                          "        return [0 if self.draws <= 1000 else self.random.getrandbits(1)\n"
                          "                for _ in range(call.draws)]\n");
    child_start("exec \"$B\"/samplegate run --sut python:./cold.py --plan ./tied.json --jobs 1 --out cold");
    child_judged(1, "FAIL equivalence.rank on a");
    assert_string_equal(report_state("cold", "fail", "a"), "ran");
}

static void a_sut_beyond_hope_is_given_up(void **state)
{
    (void)state;
    char text[4096] = "{\"schema\":\"samplegate-plan-1\",\"name\":\"many\",\"seed\":\"1\","
                      "\"batches\":[{\"size\":8,\"share\":\"1\"}],"
                      "\"tables\":[{\"name\":\"sure\",\"kind\":\"list\",\"logits\":[0]}],\"cells\":[";
    for (int i = 0; i < 12; i++)
        snprintf(
            text + strlen(text), sizeof text - strlen(text),
            "%s{\"family\":\"equivalence\",\"name\":\"c%d\",\"table\":\"sure\",\"draws\":10,\"epsilon\":0.1,"
            "\"certify\":\"none\"}",
            i ? "," : "", i);
    strcat(text, "]}");
    write_text("many.json", text);
    child_start(
        "exec \"$B\"/samplegate run --sut \"exec:exec $B/fault-worker crash\" --plan ./many.json --jobs 2");
    child_judged(1, "error: not run: too many workers were lost before");
    child_says(child.out, "verdict: error: 12 cells could not be judged");
}

/* A pipe that stays open although the answer, or the worker, has ended. */
static void half_an_answer_is_not_waited_for_long(void **state)
{
    (void)state;
    run("exec:$B/fault-worker none | dd bs=1 count=2500 2>/dev/null; sleep 99", "--cell a --timeout 2");
    child_judged(1, "error: the worker hangs: no answer within 2 s");
    run("exec:sleep 99 & exec $B/fault-worker crash", "--cell a --timeout 2");
    child_judged(1, "error: the worker died (killed by signal 6");
}

static void what_a_dead_worker_leaves_is_ended(void **state)
{
    (void)state;
    run("exec:sleep 99 </dev/null >/dev/null 2>&1 & exec $B/fault-worker crash", "");
    child_judged(1, "error: the worker died (killed by signal 6"); /* the wait looks for orphans */
    run("exec:sleep 99 </dev/null >/dev/null 2>&1 & exec $B/fault-worker none", "");
    child_judged(0, "verdict: pass");
    run("exec:sleep 99 </dev/null >/dev/null 2>&1 & exec $B/fault-worker exit-early", "");
    child_refused(2, "the worker died (exit 3)");
}

/* Its stderr is any bytes: the report must still be JSON, and the terminal be left alone. */
static void a_workers_last_words_are_tamed(void **state)
{
    (void)state;
    run("exec:printf 'caf\\\\303\\\\251 \\\\377 \\\\033[31m\\\\nend' >&2; exec $B/fault-worker crash", "");
    child_judged(1, "its stderr ends: caf\xc3\xa9 \xff  [31m end");
    assert_string_equal(report_state("out", "error", "a"), "error");
    char *report = read_text("out/results.jsonl");
    child_says(report, "its stderr ends: caf\xc3\xa9 ?  [31m end");
    free(report);
}

static void compare_errs_with_either(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate compare --old reference --new \"exec:exec $B/fault-worker crash\" "
                "--plan ./three.json --jobs 1 --out both");
    child_judged(1, "verdict: error: new could not be judged on a: the worker died");
    report_state("both", "error", "a");
    child_start("exec \"$B\"/samplegate compare --new reference --old \"exec:exec $B/fault-worker short\" "
                "--plan ./three.json --jobs 1 --out both");
    child_judged(1, "verdict: error: old could not be judged on a: the answer lacks token");
    child_start(
        "exec \"$B\"/samplegate compare --old reference --new exec:true --plan ./three.json --out neither");
    child_refused(2, "exec:true: no hello: the worker died (exit 0)");
    report_absent("neither");
}

static int setup(void **state)
{
    if (child_scratch(state))
        return -1;
    write_text("three.json", plan);
    write_text("tied.json", tied_plan);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_that_behaves_passes),
        cmocka_unit_test(a_worker_that_breaks_is_a_red_cell),
        cmocka_unit_test(a_worker_that_hangs_is_a_red_cell),
        cmocka_unit_test(a_worker_that_cannot_start_is_refused),
        cmocka_unit_test(nothing_judged_is_no_pass),
        cmocka_unit_test(a_python_worker_that_cannot_start_is_refused),
        cmocka_unit_test(an_exception_in_python_is_a_red_cell),
        cmocka_unit_test(a_plugin_that_breaks_is_a_red_cell),
        cmocka_unit_test(what_is_unsupported_is_skipped_unless_required),
        cmocka_unit_test(one_crash_costs_one_cell),
        cmocka_unit_test(a_crash_leaves_the_second_stage_whole),
        cmocka_unit_test(a_flagged_cell_cannot_become_unsupported),
        cmocka_unit_test(a_cold_start_is_seen_twice),
        cmocka_unit_test(a_sut_beyond_hope_is_given_up),
        cmocka_unit_test(half_an_answer_is_not_waited_for_long),
        cmocka_unit_test(what_a_dead_worker_leaves_is_ended),
        cmocka_unit_test(a_workers_last_words_are_tamed),
        cmocka_unit_test(compare_errs_with_either),
    };
    return cmocka_run_group_tests_name("cli/faults", tests, setup, child_sweep);
}
