/* test_verify.c: a small golden folder of hand-known values verifies, and each kind of harm to the folder gets its own word
 * (to what is in a file: test_verify_edits.c). */
#include "suite/golden/test_folder.h"

static void good_folder(void **state)
{
    (void)state;
    verify_good();
    size_t length = strlen(root);
    memcpy(root + length, "//", 3); /* a trailing slash changes nothing */
    verify_good();
    root[length] = 0;
}

static void edited_value(void **state)
{
    (void)state;
    write_file(TABLES, changed(good_tables(), "8.92060942999510e-04", "8.92060942999511e-04"));
    verify_bad("damaged", TABLES ": its SHA-256 is ");
}

static void no_cases(void **state)
{
    (void)state;
    write_file(TOKENS, "{\"schema\":\"samplegate-golden-1\",\"family\":\"agreement\",\"check\":\"tokens\","
                       "\"notes\":{},\"groups\":[]}");
    write_sums(all_files);
    verify_bad("damaged", TOKENS ": groups: has no case");
}

static void truncated_file(void **state)
{
    (void)state;
    char text[sizeof tokens];
    snprintf(text, sizeof text, "%.*s", (int)(sizeof tokens / 2), tokens);
    write_file(TOKENS, text);
    verify_bad("damaged", TOKENS ": its SHA-256 is ");
    write_sums(all_files);
    verify_bad("damaged", TOKENS ":3:");
    write_file(TOKENS, "");
    write_sums(all_files);
    verify_bad("damaged", TOKENS ":1:1: empty; expected a JSON value");
}

static void files_against_list(void **state)
{
    (void)state;
    static const char *const twice[] = {TABLES, TABLES, NULL};
    static const char *const none[] = {NULL};
    write_file("kat/new.txt", "x");
    verify_bad("damaged", "kat/new.txt: is not listed in SHA256SUMS");
    remove(path_of("kat/new.txt"));
    verify_good();
    if (symlink("philox.txt", path_of("kat/link")))
        fail_msg("no link could be made");
    verify_bad("damaged", "kat/link: neither a plain file nor a folder");
    remove(path_of("kat/link"));
    remove(path_of("kat/philox.txt"));
    verify_bad("damaged", "kat/philox.txt: listed in SHA256SUMS, cannot be read: No such file or directory");
    write_file("kat/philox.txt", "words\n");
    verify_good();
    write_sums(twice);
    verify_bad("damaged", "SHA256SUMS: lists " TABLES " twice");
    write_sums(none);
    verify_bad("damaged", "SHA256SUMS: lists no file");
    write_sums(&all_files[1]);
    verify_bad("damaged", "PROVENANCE.json: is not listed in SHA256SUMS");
}

static void bad_sums(void **state)
{
    (void)state;
#define HEX "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc"
    static const char *const lines[] = {
        "x\n",
        HEX "\n",
        HEX " a\n",
        HEX "  \n",
        HEX "  /etc/passwd\n",
        HEX "  ../x\n",
        HEX "0  x\n",
        "\n",
        "AF5570F5A1810B7AF78CAF4BC70A660F0DF51E42BAF91D4DE5B2328DE0E83DFC  x\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_file("SHA256SUMS", lines[i]);
        verify_bad("damaged", "SHA256SUMS:1: expected a line of sha256sum");
    }
    write_file("SHA256SUMS", HEX " *kat/philox.txt\n"); /* the binary form is read, and its hash is wrong */
    verify_bad("damaged", "kat/philox.txt: its SHA-256 is ");
    remove(path_of("SHA256SUMS"));
    verify_bad("damaged", "SHA256SUMS: cannot be read: No such file or directory");
}

/* With hashes in order, a family that is not there at all is damage too: nothing would be compared. */
static void missing_family(void **state)
{
    (void)state;
    const char *rest[sizeof all_files / sizeof *all_files];
    size_t kept = 0;
    for (size_t i = 0; i < sizeof all_files / sizeof *all_files; i++) /* the NULL behind them too */
        if (!all_files[i] || strcmp(all_files[i], TOKENS) != 0)
            rest[kept++] = all_files[i];
    remove(path_of(TOKENS));
    write_sums(rest);
    verify_bad("damaged", TOKENS ": cannot be read: No such file or directory");
}

/* A record among the goldens is heard after everything else. */
static void witness(void **state)
{
    (void)state;
    const char *with[sizeof all_files / sizeof *all_files + 1] = {RECORD};
    struct reported reported = {""};
    struct trouble trouble = {0};
    memcpy(&with[1], all_files, sizeof all_files);
    write_file(RECORD, witness_text());
    write_sums(with);
    if (golden_verify(root, report, &reported, &trouble))
        fail_msg("%s", trouble.text);
    assert_non_null(strstr(reported.text, REPLAY " 1 0\n" RECORD " 4 0\n"));
    char text[2048];
    snprintf(text, sizeof text, "%s", witness_text());
    write_file(RECORD, changed(text, "\"gumbel\"", "\"multinomial\""));
    write_sums(with);
    assert_int_equal(golden_verify(root, report, &reported, &trouble), -1);
    assert_int_equal(trouble.exit, EXIT_DAMAGED);
    assert_int_equal(strncmp(trouble.text, "witness disagrees: ", 19), 0);
    assert_non_null(
        strstr(trouble.text, PATH "#plain: path: the golden has gumbel, the wheel s.whl answered "));
    trouble = (struct trouble){0};
    write_file(RECORD, changed(text, "\"plain\"", "\"plane\""));
    write_sums(with);
    assert_int_equal(golden_verify(root, report, &reported, &trouble), -1);
    assert_int_equal(strncmp(trouble.text, "golden damaged: ", 16), 0);
}

static void directories(void **state)
{
    (void)state;
    char path[256], tiny[4];
    struct trouble trouble = {0};
    assert_int_equal(golden_directory(root, path, sizeof path, &trouble), 0);
    assert_string_equal(path, root);
    assert_int_equal(golden_directory(NULL, path, sizeof path, &trouble), 0);
    assert_string_equal(path, SAMPLEGATE_SOURCE_DIR "/golden");
    assert_int_equal(golden_directory(root, tiny, sizeof tiny, &trouble), -1);
    trouble = (struct trouble){0};
    assert_int_equal(golden_directory("/nonexistent", path, sizeof path, &trouble), -1);
    assert_int_equal(trouble.exit, EXIT_USAGE);
    assert_string_equal(trouble.text, "/nonexistent: no such folder; --golden takes the folder of goldens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(good_folder),        IN_FOLDER(edited_value),
        IN_FOLDER(no_cases),           IN_FOLDER(truncated_file),
        IN_FOLDER(files_against_list), IN_FOLDER(bad_sums),
        IN_FOLDER(missing_family),     IN_FOLDER(witness),
        IN_FOLDER(directories),
    };
    return cmocka_run_group_tests_name("golden verify", tests, NULL, NULL);
}
