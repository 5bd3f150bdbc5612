/* test_witness_rows.c: the record of an engine with a rule of its own in golden/boundary/: its steps and its rows are heard, and what
 * differs in either is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "suite/golden/test_boundary.h"
#include "suite/golden/test_engines.h"
#include "suite/golden/witness.h"

#define RECORD "witness/vllm-0.5.0.json"
static const char record[] =
    "{\"schema\":\"samplegate-witness-1\",\"engine\":\"vllm-0.5.0\",\"wheel\":{\"file\":\"v.whl\",\"sha256\":"
    "\"af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc\"},\"python\":\"3.11\",\"packages\":{"
    "},\"stand_ins\":[],\"found\":{},\"cases\":{\n"
    "\"" FORKS "\":{\"two\":{\"forks\":[{\"sequences\":3,\"drawn\":3,\"kept\":3,\"preempted\":\"swap\","
    "\"last_preempted\":\"recompute\"},{\"sequences\":1,\"drawn\":3,\"kept\":1,\"preempted\":\"recompute\","
    "\"last_preempted\":\"recompute\"}]}},\n"
    "\"" DRAW "\":{\"seeded\":{\"draws\":[\"random_seed\",\"random_seed\"]},\"cold\":{\"error\":"
    "\"temperature must be non-negative, got -1.0.\",\"status\":500}},\n"
    "\"" ROWS
    "\":{\"shifted\":{\"rows\":[{\"prompt\":[3],\"output\":[4,4]},{\"prompt\":[],\"output\":[]}]}},\n"
    "\"" CANDIDATES "\":{\"second\":{\"not_asked\":\"a secret\"}},\n"
    "\"" TENSORS "\":{\"vanishes\":{\"tensors\":{\"temperature\":{\"float\":\"0x1.cc00000000000p-1\"},"
    "\"top_k\":9,\"top_p\":1.0,\"min_p\":0.0,\"repetition_penalty\":1.0,\"frequency_penalty\":0.0,"
    "\"presence_penalty\":0.0}}},\n"
    "\"" NUCLEUS "\":{\"half\":{\"kept\":[0],\"mass\":[\"1.000000000e+00\"]}},\n"
    "\"" TOP_K "\":{\"one\":{\"kept\":[0],\"mass\":[\"1.000000000e+00\"]}},\n"
    "\"" MIN_P "\":{\"above\":{\"kept\":[0],\"mass\":[\"1.000000000e+00\"]}},\n"
    "\"" COMBINED "\":{\"k-and-p\":{\"kept\":[0],\"mass\":[\"1.000000000e+00\"]}},\n"
    "\"" PENALTIES "\":{\"presence\":{\"kept\":[0,1],\"mass\":[\"7.310586e-01\",\"2.689414e-01\"],\"logits\":"
    "[\"1.500000000e+00\",\"5.000000000e-01\"]}},\n"
    "\"" DEGENERATE "\":{\"k-0\":{\"refused\":\"top_k\",\"said\":\"top_k must be -1\"}}}}\n";

static char root[64];

static const char *path_of(const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", root, file);
    return path;
}

static void write_file(const char *file, const char *text)
{
    FILE *stream = fopen(path_of(file), "w");
    if (!stream)
        fail_msg("%s cannot be written", path_of(file));
    fputs(text, stream);
    fclose(stream);
}

#define ENGINES (sizeof engine_goldens / sizeof *engine_goldens)
#define BOUNDARIES (sizeof boundary_goldens / sizeof *boundary_goldens)
static const char *const folders[] = {"predicate", "defaults", "boundary", "witness"};

static int make_folder(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/samplegate-witness-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        mkdir(path_of(folders[i]), 0700);
    for (size_t i = 0; i < ENGINES; i++)
        write_file(engine_goldens[i].file, engine_golden_text(&engine_goldens[i]));
    for (size_t i = 0; i < BOUNDARIES; i++)
        write_file(boundary_goldens[i].file, boundary_goldens[i].text);
    write_file(RECORD, record);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENGINES; i++)
        remove(path_of(engine_goldens[i].file));
    for (size_t i = 0; i < BOUNDARIES; i++)
        remove(path_of(boundary_goldens[i].file));
    remove(path_of(RECORD));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        rmdir(path_of(folders[i]));
    return rmdir(root);
}

static void agreeing_record(void **state)
{
    (void)state;
    struct golden_outcome outcome;
    if (golden_witness(root, "vllm-0.5.0", &outcome))
        fail_msg("%s%s", outcome.damaged.text, outcome.disagrees.text);
    assert_int_equal(outcome.cases, 11);
    assert_int_equal(outcome.left_out, 1);
}

static const struct edit {
    const char *from, *to, *what;
    bool damaged;
} edits[] = {
    {"\"sequences\":3", "\"sequences\":1", "#two: forks: the golden has ", false},
    {"\"draws\":[\"random_seed\"", "\"draws\":[\"random\"", "#seeded: draws", false},
    {"\"status\":500", "\"status\":400", "#cold: status: the golden has 500", false},
    {"\"output\":[4,4]", "\"output\":[2]", "#shifted: rows", false},
    {"0x1.cc00000000000p-1", "0x1.ccccccccccccdp-1", "#vanishes: tensors.temperature", false},
    {"\"half\":{\"kept\":[0],\"mass\":[\"1.000000000e+00\"]}",
     "\"half\":{\"kept\":[0,1],\"mass\":[\"6.7e-01\",\"3.3e-01\"]}",
     "boundary/nucleus.json#half: kept: the golden has 0, the wheel v.whl answered 0 1", false},
    {"\"above\":{\"kept\":[0],\"mass\":[\"1.000000000e+00\"]}", "\"above\":{\"refused\":\"min_p\"}",
     "#above: refused: the golden has no refusal, the wheel v.whl answered min_p", false},
    {"\"refused\":\"top_k\"", "\"refused\":\"top_p\"", "#k-0: refused: the golden has top_k", false},
    {"7.310586e-01", "7.310686e-01", "#presence: mass of id 0", false},
    {"5.000000000e-01\"]", "5.001000000e-01\"]", "#presence: logit of id 1", false},
    {"\"kept\":[0,1]", "\"kept\":[1,0]", "kept[1]: must be an integer from 2 to 1", true},
    {"\"logits\":[\"1.500000000e+00\",", "\"logits\":[", "must have a figure for each of the 2 ids", true},
    {"\"k-0\":{", "\"k-0\":{\"rules\":[],", "unknown key \"rules\"", true},
    {"\"k-0\":{", "\"k-1\":{", "does not say what the wheel answered to boundary/degenerate.json#k-0", true},
    {"\"" TOP_K "\":{\"one\":{\"kept\":[0],\"mass\":[\"1.000000000e+00\"]}},", "",
     "does not say what the wheel answered to boundary/top-k.json#one", true},
};

static void changed_record(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof edits / sizeof *edits; e++) {
        struct golden_outcome outcome;
        char text[sizeof record + 200];
        const char *place = strstr(record, edits[e].from);
        if (!place)
            fail_msg("%s is not in the record", edits[e].from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(place - record), record, edits[e].to,
                 place + strlen(edits[e].from));
        write_file(RECORD, text);
        if (golden_witness(root, "vllm-0.5.0", &outcome) == 0)
            fail_msg("a record with %s was accepted", edits[e].to);
        const struct trouble *said = edits[e].damaged ? &outcome.damaged : &outcome.disagrees,
                             *other = edits[e].damaged ? &outcome.disagrees : &outcome.damaged;
        if (said->exit != EXIT_DAMAGED || !strstr(said->text, edits[e].what) || other->exit)
            fail_msg("%s: expected \"%s\", got damaged \"%s\", disagrees \"%s\"", edits[e].to, edits[e].what,
                     outcome.damaged.text, outcome.disagrees.text);
    }
}

/* An engine without a rule there cannot have rows in its record. */
static void rows_of_another_engine(void **state)
{
    (void)state;
    struct golden_outcome outcome;
    const char *place = strstr(record, "\"engine\":\"vllm-0.5.0\"");
    char other[sizeof record + 8];
    snprintf(other, sizeof other, "%.*s\"engine\":\"sglang-0.5.20\"%s", (int)(place - record), record,
             place + strlen("\"engine\":\"vllm-0.5.0\""));
    write_file("witness/sglang-0.5.20.json", other);
    int failed = golden_witness(root, "sglang-0.5.20", &outcome);
    remove(path_of("witness/sglang-0.5.20.json"));
    assert_int_equal(failed, -1);
    assert_non_null(strstr(outcome.damaged.text, "unknown key \"" NUCLEUS "\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(agreeing_record, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(changed_record, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(rows_of_another_engine, make_folder, drop_folder),
    };
    return cmocka_run_group_tests_name("golden witness: steps and rows", tests, NULL, NULL);
}
