/* test_golden_files.c: goldens, plans and plug-ins that are no files, and goldens that go or change while a run is on: nothing hangs, nothing
 * crashes, and nothing that was promised is dropped without a word. */
#include "suite/cli/child.h"

#include <sys/stat.h>

static void copy_goldens(void)
{
    child_start("rm -rf g && cp -r " SAMPLEGATE_SOURCE_DIR "/golden g");
    child_wait();
    child_expect(0);
}

/* A pipe, a folder or a device in a golden's place: refused at once. */
static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *place, *why;
    } places[] = {{"mkfifo", "it is no regular file"},
                  {"mkdir", "Is a directory"},
                  {"ln -s /dev/zero", "it is no regular file"},
                  {"ln -s nowhere", "No such file or directory"}};
    copy_goldens();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char words[200];
        child_start("rm -rf g/boundary/nucleus.json && %s g/boundary/nucleus.json", places[i].place);
        child_wait();
        child_expect(0);
        child_start("exec \"$B\"/samplegate run --plan card --golden g --check boundary --cell nucleus");
        snprintf(words, sizeof words,
                 "golden damaged: cell nucleus: g/boundary/nucleus.json: cannot be read: %s", places[i].why);
        child_refused(99, words);
        child_start("exec \"$B\"/samplegate golden verify --golden g");
        child_wait();
        child_expect(99);
    }
    assert_int_equal(mkfifo("pipe", 0600), 0);
    static const char *const samplers[] = {"./pipe", "engine:./pipe,id=x", "/dev/zero",
                                           "engine:/dev/zero,id=x"};
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++) {
        child_start("exec \"$B\"/samplegate run --plan quick --cell uniform-20 --sut %s", samplers[i]);
        child_refused(2, ": it is no regular file");
    }
    child_start("exec \"$B\"/samplegate run --plan ./pipe");
    child_refused(2, "pipe: cannot be read: it is no regular file");
}

/* A worker whose first answer comes through, and whose others wait until CHANGE was done to the goldens. */
#define WORKER                                                                                               \
    "exec:exec 3>&1; \"$B\"/samplegate-host %s | { n=$(head -c 8 | tee /dev/fd/3 | od -A n -t u8); "         \
    "head -c $n >&3; sleep 1; %s; cat >&3; }"

static void what_changes_meanwhile_is_noticed(void **state)
{
    (void)state;
    static const struct {
        const char *cell, *host, *change, *words;
    } runs[] = {
        {"nucleus", "reference filters=vllm-v1", "rm g/boundary/nucleus.json",
         "golden damaged: cell nucleus: g/boundary/nucleus.json: cannot be read: No such file"},
        {"nucleus", "reference filters=vllm-v1", "cp g/boundary/top-k.json g/boundary/nucleus.json",
         "golden damaged: cell nucleus: it changed while the run was on"},
        {"again-20", "reference:seeded", "chmod 0 g/determinism/tokens.json; mv g/determinism g/gone",
         "golden damaged: cell again-20: g/determinism/tokens.json: cannot be read: "},
        {"mixed-257", "reference:seeded", "rm g/replay/batches.json",
         "golden damaged: cell mixed-257: g/replay/batches.json: cannot be read: "},
        {"path", "engine", "rm g/predicate/path.json",
         "golden damaged: cell path: g/predicate/path.json: cannot be read: "},
        {"path", "engine", "cp g/predicate/history.json g/predicate/path.json",
         "golden damaged: cell path: "},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char worker[600];
        snprintf(worker, sizeof worker, WORKER, runs[i].host, runs[i].change);
        copy_goldens();
        write_text("worker.sh", worker + strlen("exec:"));
        child_start("exec \"$B\"/samplegate run --plan card --golden g --jobs 1 --cell %s --sut 'exec:exec "
                    "sh worker.sh'",
                    runs[i].cell);
        child_refused(99, runs[i].words);
    }
    /* The same worker with goldens left alone passes: it is the change that is noticed. */
    char worker[600];
    snprintf(worker, sizeof worker, WORKER, "engine", ":");
    write_text("worker.sh", worker + strlen("exec:"));
    child_start("exec \"$B\"/samplegate run --plan card --jobs 1 --cell path --sut 'exec:exec sh worker.sh'");
    child_judged(0, "verdict: pass: 1 cell of plan card, ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(what_changes_meanwhile_is_noticed),
    };
    return cmocka_run_group_tests_name("cli/golden files", tests, child_scratch, child_sweep);
}
