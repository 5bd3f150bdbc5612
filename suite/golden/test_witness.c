/* test_witness.c: a record that agrees is heard; a changed answer, a changed golden and a case without an answer are told. */
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

#include "suite/golden/test_witness.h"
#include "suite/golden/witness.h"

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

#define GOLDENS (sizeof engine_goldens / sizeof *engine_goldens)
static const char *const folders[] = {"predicate", "defaults", "witness"};

static int make_folder(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/samplegate-witness-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    for (size_t i = 0; i < 3; i++)
        mkdir(path_of(folders[i]), 0700);
    for (size_t i = 0; i < GOLDENS; i++)
        write_file(engine_goldens[i].file, engine_golden_text(&engine_goldens[i]));
    write_file(RECORD, witness_text());
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOLDENS; i++)
        remove(path_of(engine_goldens[i].file));
    remove(path_of(RECORD));
    for (size_t i = 0; i < 3; i++)
        rmdir(path_of(folders[i]));
    return rmdir(root);
}

static void agreeing_record(void **state)
{
    (void)state;
    struct golden_outcome outcome;
    if (golden_witness(root, "sglang-0.5.20", &outcome))
        fail_msg("%s%s", outcome.damaged.text, outcome.disagrees.text);
    assert_int_equal(outcome.cases, 4);
    assert_int_equal(outcome.left_out, 0);
}

struct edit {
    const char *file, *from, *to, *word, *what;
};
#define PLAIN "{\"path\":\"gumbel\",\"seeded\":false,\"backend\":\"flashinfer\"}"
static const struct edit edits[] = {
    /* The record changed. */
    {RECORD, "\"gumbel\"", "\"multinomial\"", "disagrees",
     "#plain: path: the golden has gumbel, the wheel s.whl answered multinomial"},
    {RECORD, "\"noise\":\"rank\"", "\"noise\":\"token\"", "disagrees", "#mixed: noise: the golden has rank"},
    {RECORD, "\"status\":0", "\"status\":400", "disagrees", "#empty: status: the golden has 0"},
    {RECORD, "needs at", "needs", "disagrees", "#empty: error"},
    {RECORD, "\"lines\":6", "\"lines\":7", "disagrees",
     "#lives: lines: the golden has 6, the wheel s.whl answered 7"},
    {RECORD, "\"sha256\":\"HASH", "\"sha256\":\"0", "disagrees", "#lives: sha256: the golden has "},
    /* The golden changed; its hash and this build's own answer are not looked at here. */
    {PATH, "\"gumbel\"", "\"multinomial\"", "disagrees",
     "#plain: path: the golden has multinomial, the wheel s.whl answered gumbel"},
    {PATH, "\"seeded\":true", "\"seeded\":false", "disagrees", "#mixed: seeded: the golden has false"},
    {PREDICATE_PRODUCTS, "\"lines\":6", "\"lines\":5", "disagrees", "#lives: lines: the golden has 5"},
    {PREDICATE_PRODUCTS, "\"sha256\":\"", "\"sha256\":\"0", "disagrees", "#lives: sha256: the golden has 0"},
    /* A case on one side only. */
    {RECORD, "\"plain\":" PLAIN ",", "", "damaged",
     "does not say what the wheel answered to predicate/path.json#plain, nor why it was not asked"},
    {RECORD, "\"plain\":" PLAIN, "\"plane\":" PLAIN, "damaged", "predicate/path.json#plain"},
    {RECORD, "\"plain\":", "\"more\":{\"not_asked\":\"x\"},\"plain\":", "damaged",
     "\"predicate/path.json\": has 4 cases, and the golden has 3 of sglang-0.5.20"},
    {PATH, "\"id\":\"plain\"", "\"id\":\"new\"", "damaged", "predicate/path.json#new"},
    {RECORD, PLAIN, "{\"not_asked\":\"\"}", "damaged", "\"not_asked\": must say why"},
    {RECORD, PLAIN, "{\"not_asked\":\"it is late\",\"path\":\"gumbel\"}", "damaged", "unknown key \"path\""},
    {RECORD, PLAIN, "{}", "disagrees", "#plain: path: the golden has gumbel, the wheel s.whl answered none"},
    {RECORD, PLAIN, "7", "damaged", "plain: must be an object"},
    /* A record that is none. */
    {RECORD, "witness-1", "witness-9", "damaged", "schema: \"samplegate-witness-9\" is unknown"},
    {RECORD, "\"engine\":\"sglang-0.5.20\"", "\"engine\":\"sglang-0.5.19\"", "damaged",
     "engine: \"sglang-0.5.19\" is unknown; accepted: sglang-0.5.20"},
    {RECORD, "af5570f5", "AF5570F5", "damaged", "\"sha256\": must be 64 lower-case hexadecimal digits"},
    {RECORD, "\"stand_ins\":[\"a device\"],", "", "damaged", "\"stand_ins\" is missing"},
    {RECORD, "\"found\"", "\"fond\"", "damaged", "unknown key \"fond\""},
    {RECORD, "\"" PATH "\"", "\"predicate/paths.json\"", "damaged", "unknown key \"predicate/paths.json\""},
    {RECORD, "}}}}\n", "}}}", "damaged", RECORD},
};

static void changed(const struct edit *edit)
{
    char text[2048], result[2300], from[128];
    const char *sha256 = strstr(edit->from, "HASH");
    snprintf(text, sizeof text, "%s", witness_text());
    for (size_t i = 0; i < GOLDENS; i++)
        if (strcmp(engine_goldens[i].file, edit->file) == 0)
            snprintf(text, sizeof text, "%s", engine_golden_text(&engine_goldens[i]));
    /* The product's hash is the last of the record. */
    const char *place = strstr(text, edit->from);
    if (sha256)
        place = strstr(strstr(text, "\"lives\""), "\"sha256\":\"");
    if (!place)
        fail_msg("%s is not in %s", edit->from, edit->file);
    snprintf(from, sizeof from, "%.*s", sha256 ? (int)(sha256 - edit->from) : 127, edit->from);
    snprintf(result, sizeof result, "%.*s%s%s", (int)(place - text), text, edit->to, place + strlen(from));
    write_file(edit->file, result);
}

static void changed_on_one_side(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof edits / sizeof *edits; e++) {
        struct golden_outcome outcome;
        changed(&edits[e]);
        if (golden_witness(root, "sglang-0.5.20", &outcome) == 0)
            fail_msg("%s with %s was accepted", edits[e].file, edits[e].to);
        bool disagrees = strcmp(edits[e].word, "disagrees") == 0;
        const struct trouble *said = disagrees ? &outcome.disagrees : &outcome.damaged,
                             *other = disagrees ? &outcome.damaged : &outcome.disagrees;
        if (said->exit != EXIT_DAMAGED || !strstr(said->text, edits[e].what) || other->exit)
            fail_msg("%s with %s: expected %s \"%s\", got damaged \"%s\", disagrees \"%s\"", edits[e].file,
                     edits[e].to, edits[e].word, edits[e].what, outcome.damaged.text, outcome.disagrees.text);
        drop_folder(state);
        make_folder(state);
    }
}

static void told_apart(void **state)
{
    (void)state;
    struct golden_outcome outcome;
    assert_int_equal(golden_witness(root, "sglang-9", &outcome), -1);
    assert_non_null(
        strstr(outcome.damaged.text, "witness/sglang-9.json: there is no engine \"sglang-9\" here"));
    assert_int_equal(golden_witness(root, "sglang-0.5.19", &outcome), -1);
    assert_non_null(strstr(outcome.damaged.text, "witness/sglang-0.5.19.json: cannot be read"));
    write_file(RECORD,
               RECORD_HEAD "\"" PATH "\":{\"plain\":{\"not_asked\":\"x\"},\"mixed\":{\"not_asked\":\"x\"},"
                           "\"empty\":{\"not_asked\":\"x\"}},\"" PREDICATE_PRODUCTS
                           "\":{\"lives\":{\"not_asked\":\"x\"}}}}");
    assert_int_equal(golden_witness(root, "sglang-0.5.20", &outcome), -1);
    assert_non_null(strstr(outcome.damaged.text, "has no answer: nothing would be compared"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(agreeing_record, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(changed_on_one_side, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(told_apart, make_folder, drop_folder),
    };
    return cmocka_run_group_tests_name("golden witness", tests, NULL, NULL);
}
