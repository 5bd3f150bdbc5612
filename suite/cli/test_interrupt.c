/* test_interrupt.c: a run that is cut short, by a signal, by the death of a process or by a full disk, keeps
 * what it has and never shows half a file under its final name. */
#include "suite/cli/child.h"

#include <sys/stat.h>

/* Three cells of two chunks each, on one possible id: see test_faults.c. */
static const char plan[] = "{\"schema\":\"samplegate-plan-1\",\"name\":\"three\",\"seed\":\"1\","
                           "\"batches\":[{\"size\":1,\"share\":\"1/2\"},{\"size\":8,\"share\":\"1/2\"}],"
                           "\"tables\":[{\"name\":\"sure\",\"kind\":\"list\",\"logits\":[0]}],\"cells\":["
                           "{\"family\":\"equivalence\",\"name\":\"a\",\"table\":\"sure\",\"draws\":2000,"
                           "\"epsilon\":0.1,\"certify\":\"none\"},"
                           "{\"family\":\"equivalence\",\"name\":\"b\",\"table\":\"sure\",\"draws\":2000,"
                           "\"epsilon\":0.1,\"certify\":\"none\"},"
                           "{\"family\":\"equivalence\",\"name\":\"c\",\"table\":\"sure\",\"draws\":2000,"
                           "\"epsilon\":0.1,\"certify\":\"none\"}]}";

/* Shared noise: requests of some 30 MB each, 800 MB in all. */
static const char large_plan[] =
    "{\"schema\":\"samplegate-plan-1\",\"name\":\"large\",\"seed\":\"1\","
    "\"batches\":[{\"size\":8,\"share\":\"1\"}],"
    "\"tables\":[{\"name\":\"flat\",\"kind\":\"flat\",\"vocab\":1000}],\"cells\":["
    "{\"family\":\"agreement\",\"name\":\"noise\",\"table\":\"flat\",\"draws\":200000}]}";

/* The first worker dies on its fourth sample (cell b); the next one leaves its process id in `pid`, says
 * hello and then does what $1 says. */
static const char worker[] = "if [ -e second ]; then echo $$ > pid; exec \"$B\"/fault-worker $1; fi\n"
                             ": > second\nexec \"$B\"/fault-worker die-midway\n";

static void await(const char *path)
{
    for (int i = 0; i < 100 * CHILD_SECONDS; i++) {
        struct stat status;
        if (!stat(path, &status) && status.st_size > 0)
            return;
        siginfo_t ended = {0};
        if (waitid(P_PID, (id_t)child.pid, &ended, WEXITED | WNOHANG | WNOWAIT) || ended.si_pid)
            break;
        child_pause(10);
    }
    fail_msg("%s\nnever got to make %s", child.command, path);
}

/* From here to the end must not take long, whatever the worker does. */
static void child_hurry(int signal)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(kill(child.pid, signal), 0);
    while (waitid(P_PID, (id_t)child.pid, &(siginfo_t){0}, WEXITED | WNOWAIT))
        ;
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (end.tv_sec - start.tv_sec > 10)
        fail_msg("%s\ntook %ld s to stop", child.command, (long)(end.tv_sec - start.tv_sec));
}

static void start_three(const char *then)
{
    assert_int_equal(system("rm -rf out second pid"), 0);
    child_start("exec \"$B\"/samplegate run --sut 'exec:exec sh ./worker.sh %s' --plan ./three.json --jobs 1 "
                "--out out",
                then);
    await("pid");
    child_pause(300); /* it may be before hello or after: both are interruptions */
}

static void signals_keep_what_is_complete(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        start_three("hang");
        assert_int_not_equal(access("out/results.jsonl", F_OK), 0); /* not before its last line */
        child_hurry(signals[i]);
        child_judged(130, "verdict: interrupted: 1 cell complete and kept, 1 not");
        assert_string_equal(report_state("out", "interrupted", "a"), "ran");
        assert_string_equal(report_state("out", "interrupted", "b"), "error");
        assert_string_equal(report_state("out", "interrupted", "c"), "stopped");
        child_says(child.out, "stopped: interrupted");
        child_start("exec \"$B\"/samplegate judge out/recording --plan ./three.json --out judged");
        child_judged(1, "verdict: error: 1 cell could not be judged, first b: the worker died");
        assert_string_equal(report_state("judged", "error", "a"), "ran");
        assert_string_equal(report_state("judged", "error", "c"), "stopped");
    }
}

/* A frame that has begun to come, and one that nobody takes. */
static void half_an_exchange_can_be_interrupted(void **state)
{
    (void)state;
    static const struct {
        const char *command, *plan, *cell;
    } half[] = {
        {"$B/fault-worker none | { dd bs=1 count=2500 2>/dev/null; echo half > pid; sleep 99; }", "three",
         "a"},
        {"{ dd bs=1 count=2000 2>/dev/null; echo deaf > pid; sleep 99; } | $B/fault-worker none", "large",
         "noise"},
    };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(system("rm -rf out; rm -f pid"), 0);
        child_start("exec \"$B\"/samplegate run --sut \"exec:%s\" --plan ./%s.json --jobs 1 --out out",
                    half[i].command, half[i].plan);
        await("pid");
        child_hurry(SIGINT);
        child_judged(130, "verdict: interrupted: 0 cells complete");
        assert_string_equal(report_state("out", "interrupted", half[i].cell), "stopped");
    }
}

static void an_interrupt_before_hello_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(system("rm -rf out; rm -f pid"), 0);
    child_start("exec \"$B\"/samplegate run --sut \"exec:echo $$ > pid; exec $B/fault-worker no-hello\" "
                "--plan ./three.json --out out");
    await("pid");
    child_hurry(SIGINT);
    child_refused(130, "samplegate: interrupted");
    assert_string_equal(child.out, "");
    report_absent("out");
}

static void compare_keeps_the_old_side(void **state)
{
    (void)state;
    assert_int_equal(system("rm -rf out; rm -f pid"), 0);
    child_start(
        "exec \"$B\"/samplegate compare --old reference --new \"exec:echo $$ > pid; exec $B/fault-worker "
        "no-hello\" --plan ./three.json --out out");
    await("pid");
    child_hurry(SIGINT);
    child_judged(130, "verdict: interrupted: 3 cells complete and kept");
    assert_string_equal(report_state("out", "interrupted", "c"), "ran");
    assert_int_equal(system("rm -rf out; rm -f pid"), 0);
    child_start(
        "exec \"$B\"/samplegate compare --new reference --old \"exec:echo $$ > pid; exec $B/fault-worker "
        "hang\" --plan ./three.json --out out");
    await("pid");
    child_pause(300);
    child_hurry(SIGINT);
    child_wait();
    child_expect(130); /* before hello there is nothing to keep, after it a report */
}

static void a_killed_worker_costs_one_cell(void **state)
{
    (void)state;
    write_text("slow.py", "import os, time\n"
                          "class Worker:\n"
                          "    takes = 'probabilities'\n"
                          "    chunks = 0\n"
                          "    def __init__(self, options):\n        pass\n"
                          "    def reset(self, seed):\n        self.chunks += 1\n"
                          "    def sample(self, call):\n"
                          "        if self.chunks == 3 and not os.path.exists('pid'):\n"
                          "            open('pid', 'w').write(str(os.getpid()))\n            time.sleep(99)\n"
                          "        return [0] * call.draws\n");
    assert_int_equal(system("rm -rf out; rm -f pid"), 0);
    child_start("exec \"$B\"/samplegate run --sut python:./slow.py --plan ./three.json --jobs 1 --out out");
    await("pid");
    assert_int_equal(system("kill -9 $(cat pid)"), 0);
    child_judged(1,
                 "verdict: error: 1 cell could not be judged, first b: the worker died (killed by signal 9");
    assert_string_equal(report_state("out", "error", "a"), "ran");
    assert_string_equal(report_state("out", "error", "b"), "error");
    assert_string_equal(report_state("out", "error", "c"), "ran");
}

/* Nothing is claimed, no worker outlives its judge (child_wait looks), and what was answered can still be judged. */
static void a_killed_judge_takes_its_workers_along(void **state)
{
    (void)state;
    start_three("hang");
    child_hurry(SIGKILL);
    child_wait();
    child_expect(128 + SIGKILL);
    assert_int_not_equal(access("out/results.jsonl", F_OK), 0);
    assert_int_not_equal(access("out/recording", F_OK), 0);
    child_start("exec \"$B\"/samplegate judge out/recording.partial --plan ./three.json --out judged");
    child_wait();
    child_expect(1);
    child_says(child.err,
               "samplegate: the run that wrote out/recording.partial was killed: what is whole is judged");
    child_says(child.out,
               "c                         1      2000   error: the recording ends early (the run that wrote "
               "out/recording.partial was killed) and lacks chunk ");
    assert_string_equal(report_state("judged", "error", "a"), "ran");
}

static void a_full_disk_is_told_once(void **state)
{
    (void)state;
    child_start("rm -rf out; ulimit -f 3; exec \"$B\"/samplegate run --plan ./three.json --out out");
    child_refused(99,
                  "out/results.jsonl: the report cannot be written: File too large (what was written is in ");
    child_says(child.out, "verdict: pass"); /* what was found is still said */
    assert_int_not_equal(access("out/results.jsonl", F_OK), 0);
    child_start("exec \"$B\"/samplegate run --plan ./three.json --json > /dev/full");
    child_refused(99, "standard output: the report cannot be written: No space left on device");
    child_start("rm -rf out; exec \"$B\"/samplegate run --plan ./three.json --json --out out > /dev/full");
    child_refused(99, "standard output: the report cannot be written: No space left on device");
    assert_string_equal(report_state("out", "pass", "a"), "ran"); /* the file is not to blame */
    child_start("exec \"$B\"/samplegate run --plan ./three.json > /dev/full");
    child_refused(99, "standard output: the report cannot be written: ");
    child_start("exec \"$B\"/samplegate list > /dev/full");
    child_refused(99, "standard output: the report cannot be written: ");
    child_start("exec \"$B\"/samplegate golden verify > /dev/full");
    child_wait();
    child_expect(99);
    child_start("exec \"$B\"/samplegate compare --old reference --new reference --plan ./three.json --json > "
                "/dev/full");
    child_refused(99, "standard output: the report cannot be written: ");
    child_start("{ \"$B\"/samplegate run --plan ./three.json --json; echo $? > status; } | true");
    child_wait();
    char *status = read_text("status");
    assert_string_equal(status, "99\n"); /* a reader that has gone */
    free(status);
}

/* An earlier report is replaced by a whole one or not at all. */
static void a_full_disk_spares_the_report_before(void **state)
{
    (void)state;
    child_start("rm -rf out; exec \"$B\"/samplegate run --plan ./three.json --cell a --out out");
    child_judged(0, "verdict: pass: 1 cell");
    child_start("ulimit -f 3; exec \"$B\"/samplegate run --plan ./three.json --out out");
    child_refused(99, "the report cannot be written: File too large");
    assert_int_equal(remove("out/results.jsonl.partial"), 0);
    assert_string_equal(report_state("out", "pass", "a"), "ran");
    assert_string_equal(report_state("out", "pass", "b"), "");
}

static void requests_appear_whole_or_not_at_all(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate requests ./large.json --noise -o made");
    await("made.partial");
    assert_int_not_equal(access("made", F_OK), 0);
    child_hurry(SIGINT);
    child_refused(130, "made: interrupted, not written");
    assert_int_not_equal(access("made", F_OK), 0);
    assert_int_not_equal(access("made.partial", F_OK), 0);
    write_text("made", "as it was");
    child_start("ulimit -f 100; exec \"$B\"/samplegate requests ./large.json --noise -o made");
    child_refused(99, "made: write: File too large");
    char *text = read_text("made");
    assert_string_equal(text, "as it was");
    free(text);
    assert_int_not_equal(access("made.partial", F_OK), 0);
    child_start("exec \"$B\"/samplegate requests ./three.json -o no/such/folder");
    child_refused(99, "no/such/folder.partial: No such file or directory");
}

/* A pipe or device is written to; were it replaced by a file, its other users would lose it. */
static void requests_leave_pipes_and_devices_in_place(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    child_start("\"$B\"/samplegate-host reference < pipe > recording & "
                "\"$B\"/samplegate requests ./three.json -o pipe && wait && "
                "exec \"$B\"/samplegate judge recording --plan ./three.json");
    child_judged(0, "verdict: pass: 3 cells");
    assert_int_equal(stat("pipe", &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(symlink("/dev/full", "full"), 0);
    child_start("exec \"$B\"/samplegate requests ./three.json -o full");
    child_refused(99, "full: write: No space left on device");
    assert_int_equal(lstat("full", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void closed_standard_streams_do_no_harm(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate run --plan ./three.json --jobs 2 <&-");
    child_judged(0, "verdict: pass: 3 cells");
    child_start("exec \"$B\"/samplegate run --plan ./three.json --jobs 2 2>&-");
    child_judged(0, "verdict: pass: 3 cells");
    child_start("exec \"$B\"/samplegate run --plan ./three.json --jobs 2 >&-");
    child_refused(99, "standard output: the report cannot be written: ");
    child_start("exec \"$B\"/samplegate run --plan ./three.json --jobs 2 <&- >&- 2>&-");
    child_wait();
    child_expect(99);
}

static int setup(void **state)
{
    if (child_scratch(state))
        return -1;
    write_text("three.json", plan);
    write_text("large.json", large_plan);
    write_text("worker.sh", worker);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_keep_what_is_complete),
        cmocka_unit_test(half_an_exchange_can_be_interrupted),
        cmocka_unit_test(an_interrupt_before_hello_leaves_nothing),
        cmocka_unit_test(compare_keeps_the_old_side),
        cmocka_unit_test(a_killed_worker_costs_one_cell),
        cmocka_unit_test(a_killed_judge_takes_its_workers_along),
        cmocka_unit_test(a_full_disk_is_told_once),
        cmocka_unit_test(a_full_disk_spares_the_report_before),
        cmocka_unit_test(requests_appear_whole_or_not_at_all),
        cmocka_unit_test(requests_leave_pipes_and_devices_in_place),
        cmocka_unit_test(closed_standard_streams_do_no_harm),
    };
    return cmocka_run_group_tests_name("cli/interrupt", tests, setup, child_sweep);
}
