/* test_bad_input.c: goldens, plans, recordings and arguments that are wrong: each is refused by place and by
 * what is accepted, in one sentence, and nothing is judged by half. */
#include "suite/cli/child.h"

/* Filled in: what follows the schema, the temperature, what follows the plan. */
#define PLAN                                                                                                 \
    "{\"schema\": \"samplegate-plan-1\",%s\n\"name\": \"small\", \"seed\": \"1\",\n"                         \
    "\"batches\": [{\"size\": 8, \"share\": \"1\"}],\n"                                                      \
    "\"tables\": [{\"name\": \"sure\", \"kind\": \"list\", \"logits\": [0]}],\n"                             \
    "\"cells\": [{\"family\": \"equivalence\", \"name\": \"a\", \"table\": \"sure\", \"temperature\": %s,\n" \
    "  \"draws\": 1000, \"epsilon\": 0.1, \"certify\": \"none\"},\n"                                         \
    "  {\"family\": \"equivalence\", \"name\": \"b\", \"table\": \"sure\", \"draws\": 1000, \"epsilon\": "   \
    "0.1,\n"                                                                                                 \
    "  \"certify\": \"none\"}]}%s\n"

__attribute__((format(printf, 2, 3))) static void write_formatted(const char *path, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    write_text(path, text);
}

/* A fresh copy of the goldens in g/, harmed by a line of sh; rehashed: SHA256SUMS is made to agree again. */
static void verify_harmed(const char *harm, bool rehashed)
{
    char command[4096];
    snprintf(command, sizeof command,
             "rm -rf g && cp -r '" SAMPLEGATE_SOURCE_DIR
             "/golden' g && cd g && T=equivalence/tables.json && %s%s",
             harm, rehashed ? " && cut -c67- SHA256SUMS | xargs sha256sum > S && mv S SHA256SUMS" : "");
    if (system(command))
        fail_msg("could not be prepared: %s", command);
    if (strncmp(harm, "true", 4)) {
        snprintf(command, sizeof command, "! diff -qr '" SAMPLEGATE_SOURCE_DIR "/golden' g > diff.txt");
        assert_int_equal(system(command), 0); /* the harm was done */
    }
    child_start("exec \"$B\"/samplegate golden verify --golden g");
}

static void whole_goldens_agree(void **state)
{
    (void)state;
    verify_harmed("true", false);
    child_judged(0, "golden verify: all agree (g)");
    verify_harmed("true", true);
    child_judged(0, "golden verify: all agree (g)");
}

#define IN_TABLES(from, to) "sed -i '0,/" from "/s//" to "/' $T"

static void goldens_that_changed_are_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *harm, *words;
    } harmed[] = {
        {"truncate -s -100 $T", "g/equivalence/tables.json: its SHA-256 is "},
        {IN_TABLES("5.00000000000000e-01", "5.00000000000001e-01"),
         "g/equivalence/tables.json: its SHA-256 is "},
        {"rm $T", "g/equivalence/tables.json: listed in SHA256SUMS, cannot be read: No such file"},
        {"echo {} > agreement/new.json", "g/agreement/new.json: is not listed in SHA256SUMS"},
        {"rm SHA256SUMS", "g/SHA256SUMS: cannot be read"},
        {"echo nonsense > SHA256SUMS", "g/SHA256SUMS:1: expected a line of sha256sum"},
        {": > SHA256SUMS", "g/SHA256SUMS: lists no file"},
        {"head -1 SHA256SUMS >> SHA256SUMS", "twice"},
    };
    for (size_t i = 0; i < sizeof harmed / sizeof *harmed; i++) {
        verify_harmed(harmed[i].harm, false);
        child_refused(99, "samplegate: golden damaged: ");
        child_says(child.err, harmed[i].words);
    }
}

/* The hash agrees: what the file says must give it away. */
static void goldens_that_cannot_be_read_are_damaged(void **state)
{
    (void)state;
#define TEMPERATURE(to) IN_TABLES("\"temperature\": 1,", "\"temperature\": " to ",")
    static const struct {
        const char *harm, *words;
    } harmed[] = {
        {"truncate -s -100 $T", "equivalence/tables.json:"},
        {": > $T", "tables.json:1:1: empty; expected a JSON value"},
        {TEMPERATURE("1, \"surprise\": 2"),
         "unknown key \"surprise\"; accepted: id, flags, table, temperature"},
        {TEMPERATURE("1, \"temperature\": 1"), "key \"temperature\" is already in this object"},
        {IN_TABLES("\"temperature\": 1,", ""), "\"temperature\""},
        {TEMPERATURE("NaN"), "not NaN or Infinity"},
        {TEMPERATURE("01"), "a number may not begin with 0"},
        {TEMPERATURE("1e999"), "1e999 is larger than a double can hold"},
        {TEMPERATURE("9007199254740993"), "integer 9007199254740993 is beyond 2^53"},
        {TEMPERATURE("\"1\""), "temperature: must be a number, is a string"},
        {"echo x >> $T", "expected nothing after the value, found 'x'"},
    };
    for (size_t i = 0; i < sizeof harmed / sizeof *harmed; i++) {
        verify_harmed(harmed[i].harm, true);
        child_refused(99, "samplegate: golden damaged: ");
        child_says(child.err, harmed[i].words);
    }
}

/* Edited, hash and form correct: only computing it again can tell. */
static void goldens_that_are_wrong_disagree(void **state)
{
    (void)state;
    verify_harmed(IN_TABLES("5.00000000000000e-01", "5.00000000001000e-01"), true);
    child_refused(99, "samplegate: golden disagrees: ");
    child_says(child.err, "tables.json#");
    verify_harmed("sed -i '0,/\"token\": 0/s//\"token\": 1/' agreement/tokens.json", true);
    child_refused(99, "samplegate: golden disagrees: ");
    child_says(child.err, "tokens.json#");
}

static void plans_that_cannot_be_read_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *extra, *temperature, *after, *words;
    } wrong[] = {
        {" \"surprise\": 1,", "1", "", "unknown key \"surprise\"; accepted: schema, name"},
        {" \"schema\": \"samplegate-plan-1\",", "1", "", ":1:33: key \"schema\" is already in this object"},
        {"", "NaN", "", "bad.json:5:"},
        {"", "NaN", "", "not NaN or Infinity"},
        {"", "01", "", "a number may not begin with 0"},
        {"", "1e999", "", "1e999 is larger than a double can hold"},
        {"", "9007199254740993", "", "integer 9007199254740993 is beyond 2^53"},
        {"", "0", "", "\"temperature\" must be above 0"},
        {"", "\"1\"", "", "must be a number, is a string"},
        {"", "1", " x", "expected nothing after the value, found 'x'"},
        {"", "1", "{}", "expected nothing after the value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_formatted("bad.json", PLAN, wrong[i].extra, wrong[i].temperature, wrong[i].after);
        child_start("exec \"$B\"/samplegate run --plan ./bad.json --out out");
        child_refused(2, wrong[i].words);
        child_says(child.err, "samplegate: ./bad.json");
        report_absent("out");
    }
}

static void plans_that_are_no_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *plan, *words;
    } wrong[] = {
        {"./absent.json", "./absent.json: cannot be read: No such file or directory"},
        {"./", "./: cannot be read: Is a directory"},
        {"./zero.json", "./zero.json:1:1: empty; expected a JSON value"},
        {"/dev/zero", "/dev/zero: cannot be read: "},
        {"./cut.json", "./cut.json:"},
        {"./nul.json", "./nul.json:1:"},
        {"./latin.json", "./latin.json:1:"},
        {"./deep.json", "./deep.json:1:"},
        {"no-such", "no plan \"no-such\" in "},
        {"no-such", "there are: card, gate, pair, published-38117, quick"},
        {"''", "no plan \"\" in "},
        {"../plans/quick", "../plans/quick: cannot be read"},
    };
    assert_int_equal(
        system(": > zero.json; head -c 150 small.json > cut.json; printf '{\"a\\0b\":1}' > nul.json;"
               "printf '{\"\\351\":1}' > latin.json; head -c 100000 /dev/zero | tr '\\0' '[' > deep.json"),
        0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        child_start("exec \"$B\"/samplegate run --plan %s", wrong[i].plan);
        child_refused(2, wrong[i].words);
    }
}

static void selections_of_nothing_list_what_there_is(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } wrong[] = {
        {"run --plan ./small.json --check warp",
         "--check: nothing is called 'warp'; there are equivalence.support, "},
        {"run --plan ./small.json --cell warp", "--cell: nothing is called 'warp'; there are a, b"},
        {"explain nosuch", "CHECK: nothing is called 'nosuch'; there are equivalence.support, "},
        {"repro ./small.json/warp", "PLAN/CELL: nothing is called 'warp'; there are a, b"},
        {"repro warp/a", "no plan \"warp\" in "},
        {"requests ./small.json -o r --cell warp", "--cell: nothing is called 'warp'; there are a, b"},
        {"requests warp -o r", "no plan \"warp\" in "},
        {"compare --old reference --new warp --plan ./small.json", "'warp' is not a sampler; accepted: "},
        {"run --golden absent", "absent: no such folder; --golden takes the folder of goldens"},
        {"list --golden absent", "absent: no such folder"},
        {"golden verify --golden absent", "absent: no such folder"},
        {"warp", "unknown command 'warp'; accepted: run, compare, "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        child_start("exec \"$B\"/samplegate %s", wrong[i].arguments);
        child_refused(2, wrong[i].words);
        assert_string_equal(child.out, "");
    }
    assert_int_not_equal(access("r", F_OK), 0);
    assert_int_not_equal(access("r.partial", F_OK), 0);
}

static void wrong_arguments_are_usage(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } wrong[] = {
        {"run --jobs 0", "--jobs: '0' is not a whole number from 1 to 1024"},
        {"run --jobs 1x", "--jobs: '1x' is not a whole number"},
        {"run --jobs 99999999999999999999", "--jobs: '99999999999999999999' is not a whole number"},
        {"run --timeout -1", "--timeout: '-1' is not a number of seconds above 0"},
        {"run --timeout nan", "--timeout: 'nan' is not a number of seconds above 0"},
        {"run --budget ''", "--budget: '' is not a number of seconds above 0"},
        {"run --seed 0x10", "--seed: '0x10' is not a whole number"},
        {"run --require luck",
         "--require: 'luck' is unknown; accepted: gpu, all, temperature, noise, seeded"},
        {"run --warp", "unrecognized option '--warp'"},
        {"run word", "unexpected argument 'word'"},
        {"run --sut", "option '--sut' requires an argument"},
        {"compare --old reference", "both --old SPEC and --new SPEC are needed"},
        {"compare --new reference", "both --old SPEC and --new SPEC are needed"},
        {"repro", "the cell to run again is needed, as a failure prints it: PLAN/CELL"},
        {"repro a", "the cell to run again is needed, as a failure prints it: PLAN/CELL"},
        {"repro ./small.json/", "the cell to run again is needed, as a failure prints it: PLAN/CELL"},
        {"repro ./small.json/a --plan quick", "--plan and --cell have no place here"},
        {"requests", "a plan and -o FILE are needed"},
        {"requests ./small.json", "a plan and -o FILE are needed"},
        {"requests ./small.json -o r --dtype f8", "--dtype: 'f8' is unknown; accepted: f32, f16, bf16"},
        {"requests ./small.json -o r --like ./x --noise", "--like says it all"},
        {"requests ./small.json -o r --takes bets",
         "--takes: 'bets' is unknown; accepted: logits, probabilities"},
        {"judge", "a recording is needed"},
        {"golden", "what to do is needed; accepted: verify"},
        {"golden polish", "unexpected argument 'polish'; accepted: verify"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        child_start("exec \"$B\"/samplegate %s", wrong[i].arguments);
        child_usage(wrong[i].words);
    }
}

static void a_name_longer_than_any_buffer_is_refused(void **state)
{
    (void)state;
    child_start("long=$(head -c 6000 /dev/zero | tr '\\0' x); exec \"$B\"/samplegate repro \"$long/a\"");
    child_refused(2, "the plan's path is longer than 4095 bytes");
    child_start("long=$(head -c 6000 /dev/zero | tr '\\0' x); exec \"$B\"/samplegate run --golden \"$long\"");
    child_refused(2, "samplegate: xxx"); /* the name fills the message */
    child_start(
        "long=$(head -c 6000 /dev/zero | tr '\\0' x); exec \"$B\"/samplegate run --sut \"./$long\" --plan "
        "./small.json");
    child_refused(2, "samplegate: ./xxx");
    child_start("long=$(head -c 6000 /dev/zero | tr '\\0' x); exec \"$B\"/samplegate requests ./small.json "
                "-o \"$long\"");
    child_refused(2, "-o: the path is longer than ");
}

static void folders_that_cannot_be_made_are_told_before_work(void **state)
{
    (void)state;
    static const struct {
        const char *out, *words;
    } wrong[] = {
        {"small.json/out", "--out: small.json/out: Not a directory"},
        {"small.json", "--out: small.json/results.jsonl.partial: Not a directory"},
        {"no/such/folder", "--out: no/such/folder: No such file or directory"},
        {"''", "--out: : No such file or directory"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        child_start("exec \"$B\"/samplegate run --plan ./small.json --out %s", wrong[i].out);
        child_refused(99, wrong[i].words);
        assert_string_equal(child.out, "");
    }
}

static void recordings_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *words;
    } wrong[] = {
        {"absent", "absent: No such file or directory"},
        {".", ".: frame 0: read: Is a directory (a recording is a worker's whole output)"},
        {"empty", "empty: frame 0: the file is empty (a recording is a worker's whole output)"},
        {"half --plan ./small.json", "half: frame 0: the input ended after "},
        {"small.json", "small.json: frame 0: a frame of "},
        {"headless --plan ./small.json", "headless: frame 0: "},
        {"recording", "no plan \"small\" in "},
        {"recording --plan quick", "the recording was made for plan 'small' (sha256 "},
        {"recording --plan ./small.json --seed 2", "--seed: a recording was made with its plan's own seed"},
        {"recording other --plan ./small.json", "other: name is 'reference:greedy', but 'reference:race' in"},
    };
    assert_int_equal(system("\"$B\"/samplegate requests ./small.json -o requests &&"
                            "\"$B\"/samplegate-host reference < requests > recording &&"
                            "\"$B\"/samplegate-host reference:greedy < requests > other &&"
                            "head -c 100 recording > half && tail -c 3000 recording > headless && : > empty"),
                     0);
    child_start("exec \"$B\"/samplegate judge recording --plan ./small.json");
    child_judged(0, "verdict: pass: 2 cells");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        child_start("exec \"$B\"/samplegate judge %s", wrong[i].arguments);
        child_refused(2, wrong[i].words);
        assert_string_equal(child.out, "");
    }
    child_start("exec \"$B\"/samplegate run --sut recording:half --plan ./small.json");
    child_refused(2, "half: frame 0: the input ended after ");
}

/* One cell was not recorded: it errs, the other is judged. */
static void a_recording_that_lacks_a_cell_is_judged_without(void **state)
{
    (void)state;
    child_start("exec \"$B\"/samplegate requests ./small.json -o r --like ./absent");
    child_refused(2, "./absent: No such file or directory");
    assert_int_equal(system("\"$B\"/samplegate requests ./small.json --cell a -o some &&"
                            "\"$B\"/samplegate-host reference < some > part"),
                     0);
    child_start("exec \"$B\"/samplegate judge part --plan ./small.json --out judged");
    child_judged(1, "error: the recording lacks chunk 0 of stage 1 at batch 8");
    assert_string_equal(report_state("judged", "error", "a"), "ran");
    assert_string_equal(report_state("judged", "error", "b"), "error");
    /* So is one that was cut, which is told as such: here within the first answer of b. */
    child_start(
        "head -c 15500 recording > cut; exec \"$B\"/samplegate judge cut --plan ./small.json --out judged");
    child_wait();
    child_expect(1);
    child_says(child.err, "samplegate: cut ends within frame ");
    child_says(child.out, "error: the recording ends early (cut ends within frame ");
    assert_string_equal(report_state("judged", "error", "a"), "ran");
}

static int setup(void **state)
{
    if (child_scratch(state))
        return -1;
    write_formatted("small.json", PLAN, "", "1", "");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_goldens_agree),
        cmocka_unit_test(goldens_that_changed_are_damaged),
        cmocka_unit_test(goldens_that_cannot_be_read_are_damaged),
        cmocka_unit_test(goldens_that_are_wrong_disagree),
        cmocka_unit_test(plans_that_cannot_be_read_are_refused),
        cmocka_unit_test(plans_that_are_no_files_are_refused),
        cmocka_unit_test(selections_of_nothing_list_what_there_is),
        cmocka_unit_test(wrong_arguments_are_usage),
        cmocka_unit_test(a_name_longer_than_any_buffer_is_refused),
        cmocka_unit_test(folders_that_cannot_be_made_are_told_before_work),
        cmocka_unit_test(recordings_that_do_not_fit_are_refused),
        cmocka_unit_test(a_recording_that_lacks_a_cell_is_judged_without),
    };
    return cmocka_run_group_tests_name("cli/bad input", tests, setup, child_sweep);
}
