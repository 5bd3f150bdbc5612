/* test_baseline.c: a run held against an earlier one: what that shows, too, does not fail it; and the recording that it is
 * held against is whole, or is told to be none. */
#include "suite/cli/child.h"

#include <sys/stat.h>

#define SEED "7"
static const char plan[] =
    "{\"schema\":\"samplegate-plan-1\",\"name\":\"held\",\"seed\":\"%s\","
    "\"batches\":[{\"size\":1,\"share\":\"1/4\"},{\"size\":8,\"share\":\"3/4\"}],"
    "\"tables\":[{\"name\":\"zipf\",\"kind\":\"zipf\",\"vocab\":100},"
    "{\"name\":\"masked\",\"kind\":\"zipf\",\"vocab\":100,\"masked\":{\"every\":3,\"first\":1}}],\"cells\":["
    "{\"family\":\"equivalence\",\"name\":\"plain\",\"table\":\"zipf\",\"draws\":400000,\"epsilon\":0.01,"
    "\"certify\":\"ids\"},"
    "{\"family\":\"equivalence\",\"name\":\"masked\",\"table\":\"masked\",\"draws\":20000,\"epsilon\":0.05,"
    "\"certify\":\"none\"},"
    "{\"family\":\"agreement\",\"name\":\"noise\",\"table\":\"zipf\",\"draws\":2000}]}";

/* `run` of a mutant, or of the reference for "". */
static void run(const char *mutant, const char *more)
{
    child_start("exec \"$B\"/samplegate run --plan ./held.json --sut %s%s %s",
                *mutant ? "\"$B\"/mutants.so,id=" : "reference", mutant, more);
}

static void run_before(const char *mutant, const char *more, int exit)
{
    run(mutant, more);
    child_wait();
    child_expect(exit);
}

static void what_the_baseline_shows_does_not_fail(void **state)
{
    (void)state;
    run_before("warm", "--out warm", 1);
    run("warm", "--baseline warm --out again");
    child_judged(0, "verdict: pass: 3 cells of plan held, ");
    child_says(child.out, "none newly rejected");
    child_says(child.out, "PRE-EXISTING equivalence.contrast on plain");
    char *events = read_text("again/results.jsonl"), *xml = read_text("again/junit.xml");
    child_says(events, "\"role\":\"baseline\"");
    child_says(events, "\"standing\":\"pre-existing\"");
    child_says(events, "\"check\":\"equivalence.contrast\",\"status\":\"pass\"");
    child_says(xml, "<skipped message=\"pre-existing: temperature/lower: ");
    child_says(xml, "failures=\"0\"");
    free(events);
    free(xml);
    run("warm", "--baseline warm/recording"); /* the file itself, too */
    child_judged(0, "verdict: pass");
    child_start(
        "cp -r again third; exec \"$B\"/samplegate run --plan ./held.json --sut recording:third/recording "
        "--baseline warm --out third");
    child_judged(0, "verdict: pass: 3 cells"); /* both from recordings, one replaced by its own copy */
    child_start("cmp again/recording third/recording || test $(wc -c < again/recording) = $(wc -c < "
                "third/recording)");
    child_judged(0, ""); /* several workers, another order */
}

static void another_defect_fails(void **state)
{
    (void)state;
    run("last-id", "--baseline warm --out worse");
    child_judged(1, "statistics newly rejected, first equivalence.rank on plain");
    child_says(child.out, "FAIL equivalence.token on plain");
    child_says(child.out, "fixed: equivalence.contrast temperature/lower on plain");
    char *xml = read_text("worse/junit.xml");
    child_says(xml, "<system-out>fixed: temperature/lower");
    free(xml);
    run("leak-masked", "--baseline warm");
    child_judged(1, "1 of "); /* an impossible id that the baseline never drew */
    run_before("", "--cell noise --out sound", 0);
    run("bf16-weights", "--baseline sound --cell noise");
    child_judged(1, "first agreement.near-tie on noise");
}

static void what_only_the_baseline_shows_is_fixed(void **state)
{
    (void)state;
    run("", "--baseline warm --out fixed");
    child_judged(0, "none newly rejected");
    child_says(child.out, "against the baseline 0 pre-existing, ");
    child_says(child.out, "fixed: equivalence.contrast temperature/lower on plain");
    char *events = read_text("fixed/results.jsonl");
    child_says(events, "\"standing\":\"fixed\"");
    free(events);
}

static void violations_are_known_by_what_was_drawn(void **state)
{
    (void)state;
    run_before("leak-masked", "--cell masked --out leaks", 1);
    run("leak-masked", "--cell masked --baseline leaks");
    child_judged(0, "against the baseline 1 pre-existing, 0 fixed");
    run_before("bf16-weights", "--cell noise --out coarse", 1);
    run("bf16-weights", "--cell noise --baseline coarse");
    child_judged(0, "against the baseline 1 pre-existing, 0 fixed");
}

static void a_recording_gives_the_verdict_of_its_run(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "--sut \"$B\"/mutants.so,id=warm", "--sut \"$B\"/mutants.so,id=warm --seed 99",
        "--sut \"exec:exec $B/fault-worker unsupported\"", "--sut \"exec:exec $B/fault-worker crash\"",
        "--cell masked --check equivalence.support"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        child_start("\"$B\"/samplegate run --plan ./held.json --jobs 2 --json %s --out said > said.json; "
                    "\"$B\"/samplegate judge said/recording --plan ./held.json --json > judged.json; "
                    "for f in said judged; do sed '1d;s/\"seconds\":[^,]*//' $f.json > $f.events; done; "
                    "grep -c '\"verdict\"' said.events; exec cmp said.events judged.events",
                    runs[i]);
        child_judged(0, "1\n");
    }
}

/* Chunks are independent: however many workers draw them, the counts, the verdict and the report are the same. */
static void workers_do_not_change_the_verdict(void **state)
{
    (void)state;
    child_start(
        "for j in 1 2 5; do \"$B\"/samplegate run --plan ./held.json --sut \"$B\"/mutants.so,id=warm --json "
        "--jobs $j | sed '1d;s/\"seconds\":[^,]*//' > jobs$j; done; grep -c '\"verdict\":\"fail\"' jobs1; "
        "cmp jobs1 jobs2 && exec cmp jobs1 jobs5");
    child_judged(0, "1\n");
}

/* The lines of a script, as the chunks of a cell. */
static void a_script_is_recorded_and_held_against(void **state)
{
    (void)state;
    static const char run_lags[] =
        "exec \"$B\"/samplegate run --plan card --check dependence --cell lags-2 --sut "
        "reference:seeded%s --jobs 2 --json %s";
    child_start(run_lags, "-2025", "--out lags");
    child_judged(1, "\"verdict\":\"fail\"");
    char *events = read_text("lags/results.jsonl"), *end = strstr(events, "{\"event\":\"verdict\"");
    *end = '\0'; /* the verdict tells the seconds */
    child_start("exec \"$B\"/samplegate judge lags/recording --json");
    child_judged(1, strstr(events, "{\"event\":\"statistic\""));
    free(events);
    child_start(run_lags, "-2025", "--baseline lags");
    child_judged(0, "\"standing\":\"pre-existing\"");
    child_start(run_lags, "", "--baseline lags");
    child_judged(0, "\"standing\":\"fixed\"");
}

static void a_cell_without_a_verdict_excuses_nothing(void **state)
{
    (void)state;
    run_before("", "--cell masked --out part", 0);
    run("warm", "--baseline part --json");
    child_judged(1, "; 2 cells not judged in the baseline");
    run("warm", "--baseline part");
    child_judged(1, "verdict: fail");
    child_says(child.out,
               "plain: nothing there is pre-existing, for the baseline has no verdict on it: the recording "
               "lacks chunk ");
    child_start(
        "exec \"$B\"/samplegate run --plan ./held.json --sut \"exec:exec $B/fault-worker crash\" --out dead");
    child_wait();
    child_expect(1);
    run("warm", "--baseline dead --json");
    child_judged(1, "\"old_state\":\"error\",\"old_why\":\"the worker died");
}

static void a_baseline_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *baseline, *words;
    } wrong[] = {
        {"absent", "--baseline: absent: No such file or directory"},
        {"nothing", "--baseline: nothing/recording: No such file or directory"},
        {"empty", "--baseline: empty: frame 0: the file is empty"},
        {"held.json", "--baseline: held.json: frame 0: "},
        {"other", "--baseline: the recording was made for plan 'held' (sha256 "},
        {"seeded", "--baseline: the recording was made with --seed 99, not " SEED},
        {"odd", "--baseline: the recording was made with --seed x, not " SEED},
    };
    assert_int_equal(
        system("mkdir nothing; : > empty;"
               "\"$B\"/samplegate run --plan ./other.json --cell masked --out other > log &&"
               "\"$B\"/samplegate run --plan ./held.json --cell masked --seed 99 --out seeded > log &&"
               "sed 's/\"seed\":\"99\"/\"seed\":\"x\" /' seeded/recording > odd"),
        0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        child_start("exec \"$B\"/samplegate run --plan ./held.json --out never --baseline %s",
                    wrong[i].baseline);
        child_refused(2, wrong[i].words);
        assert_string_equal(child.out, "");
        report_absent("never");
    }
    child_start("exec \"$B\"/samplegate run --plan ./held.json --cell masked --seed 99 --baseline seeded");
    child_judged(0, "verdict: pass");
}

static void compare_leaves_the_next_baseline(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate compare --plan ./held.json --cell masked --old reference "
                "--new \"$B\"/mutants.so,id=leak-masked --out upgrade");
    child_judged(1, "verdict: different");
    run("leak-masked", "--cell masked --baseline upgrade");
    child_judged(0, "1 pre-existing");
    run("leak-masked", "--cell masked --baseline upgrade/recording.old");
    child_judged(1, "1 of ");
}

static void a_full_disk_leaves_no_recording(void **state)
{
    (void)state;
    child_start("ulimit -f 400; exec \"$B\"/samplegate run --plan ./held.json --cell plain --out full");
    child_refused(99, "full/recording.partial: the recording cannot be written: write: File too large");
    child_says(child.out, "verdict: pass"); /* what was found is still said */
    assert_string_equal(report_state("full", "pass", "plain"), "ran");
    assert_int_not_equal(access("full/recording", F_OK), 0);
    /* What it holds can still be looked at. */
    child_start("exec \"$B\"/samplegate judge full/recording.partial --plan ./held.json");
    child_wait();
    child_expect(1);
    child_says(child.out, "the recording ends early (full/recording.partial ends within frame ");
    child_says(child.err, "samplegate: full/recording.partial ends within frame ");
    child_start("mkdir -p taken/recording.partial; "
                "exec \"$B\"/samplegate run --plan ./held.json --cell masked --out taken");
    child_refused(99, "taken/recording.partial: the recording cannot be written: Is a directory");
}

static int setup(void **state)
{
    if (child_scratch(state))
        return -1;
    char text[sizeof plan + 8];
    snprintf(text, sizeof text, plan, SEED);
    write_text("held.json", text);
    snprintf(text, sizeof text, plan, "8");
    write_text("other.json", text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_baseline_shows_does_not_fail),
        cmocka_unit_test(another_defect_fails),
        cmocka_unit_test(what_only_the_baseline_shows_is_fixed),
        cmocka_unit_test(violations_are_known_by_what_was_drawn),
        cmocka_unit_test(a_recording_gives_the_verdict_of_its_run),
        cmocka_unit_test(workers_do_not_change_the_verdict),
        cmocka_unit_test(a_script_is_recorded_and_held_against),
        cmocka_unit_test(a_cell_without_a_verdict_excuses_nothing),
        cmocka_unit_test(a_baseline_that_does_not_fit_is_refused),
        cmocka_unit_test(compare_leaves_the_next_baseline),
        cmocka_unit_test(a_full_disk_leaves_no_recording),
    };
    return cmocka_run_group_tests_name("cli/baseline", tests, setup, child_sweep);
}
