/* test_verify.c: a small golden folder of hand-known values verifies, and each kind of harm to it gets its
 * own word. */
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

#include "suite/golden/golden.h"
#include "suite/golden/test_boundary.h"
#include "suite/golden/test_draws.h"
#include "suite/golden/test_engines.h"
#include "suite/golden/test_witness.h"
#include "suite/json/text.h"

#define TABLES "equivalence/tables.json"
#define TOKENS "agreement/tokens.json"
#define MATCH "dependence/match.json"

/* Two equal ids: p = 1/2 each; sum p^2 = 1/2; (2 (1/2)^(2/3))^(3/2) = sqrt 2; the plug-in distance of 200,000
 * draws has mean C(200000, 100000) 2^-200001 (Python integers). The hash is that of eight zero bytes. With
 * one live id everything is 0 or 1. */
static const char tables[] =
    "{\"schema\":\"samplegate-golden-1\",\"family\":\"equivalence\",\"check\":\"tables\",\n"
    "\"notes\":{\"tie\":{\"bug\":\"b\",\"effect\":\"e\",\"links\":[\"l\"]}},\n"
    "\"groups\":[{\"source\":\"by hand\",\"version\":\"1\",\"cases\":[\n"
    "{\"id\":\"tie-2\",\"flags\":[\"tie\"],\"table\":{\"name\":\"tie-2\",\"kind\":\"list\",\"logits\":[0,0]},"
    "\"temperature\":1,\n"
    "\"logits_sha256\":\"af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc\",\n"
    "\"named\":[{\"id\":0,\"probability\":\"5.00000000000000e-01\"},{\"id\":1,\"probability\":\"0.5\"}],\n"
    "\"octaves\":[{\"octave\":0,\"ids\":2,\"mass\":\"1.00000000000000e+00\"}],\n"
    "\"sum_of_squares\":\"5.00000000000000e-01\",\"two_thirds_norm\":\"1.41421356237310e+00\",\n"
    "\"expected_total_variation\":\"8.92060942999510e-04\"},\n"
    "{\"id\":\"masked\",\"flags\":[],\"table\":{\"name\":\"m\",\"kind\":\"list\",\"logits\":[5,0],\"masked\":"
    "{\"every\":2,\"first\":0}},"
    "\"temperature\":0.7,\n"
    "\"logits_sha256\":\"HASH\",\n"
    "\"named\":[{\"id\":0,\"probability\":\"0.00000000000000e+00\"},{\"id\":1,\"probability\":\"1."
    "00000000000000e+00\"}],\n"
    "\"octaves\":[{\"octave\":0,\"ids\":1,\"mass\":\"1.00000000000000e+00\"}],\n"
    "\"sum_of_squares\":\"1.00000000000000e+00\",\"two_thirds_norm\":\"1.00000000000000e+00\",\n"
    "\"expected_total_variation\":\"0.00000000000000e+00\"}]}]}\n";

/* Greedy takes the greatest logit whatever the noise, and a race with one live id has one winner. */
static const char tokens[] =
    "{\"schema\":\"samplegate-golden-1\",\"family\":\"agreement\",\"check\":\"tokens\",\"notes\":{},\n"
    "\"groups\":[{\"source\":\"by "
    "hand\",\"version\":\"1\",\"rule\":\"greedy\",\"table\":{\"name\":\"t\",\"kind\":\"list\",\"logits\":[0,"
    "7,3]},"
    "\"temperature\":1,\"bound\":\"0\",\"left_out\":0,\n"
    "\"cases\":[{\"id\":\"greedy/"
    "0\",\"seed\":\"18446744073709551615\",\"position\":\"4294967296\",\"token\":1}]},\n"
    "{\"source\":\"by "
    "hand\",\"version\":\"1\",\"rule\":\"race\",\"table\":{\"name\":\"t\",\"kind\":\"flat\",\"vocab\":2,"
    "\"masked\":{\"every\":2,\"first\":0}},\"temperature\":0.7,\"bound\":\"1e-06\",\"left_out\":3,\n"
    "\"cases\":[{\"id\":\"race/0\",\"seed\":\"0\",\"position\":\"0\",\"token\":1}]}]}\n";

/* Four pairs of a fair coin: all equal, or none, 1 in 16 each; three or more 5 in 16. One pair rejects nothing at 0.1. */
static const char match[] =
    "{\"schema\":\"samplegate-golden-1\",\"family\":\"dependence\",\"check\":\"match\",\"notes\":{},\n"
    "\"groups\":[{\"source\":\"by hand\",\"version\":\"1\",\"cases\":[\n"
    "{\"id\":\"four\",\"table\":{\"name\":\"t\",\"kind\":\"flat\",\"vocab\":2},\"pairs\":4,\"looks\":2,"
    "\"level\":\"0.2\","
    "\"probability\":\"0.5\",\"most\":4,\"upper\":\"0.0625\",\"least\":0,\"lower\":\"0.0625\"},\n"
    "{\"id\":\"one\",\"table\":{\"name\":\"t\",\"kind\":\"flat\",\"vocab\":2},\"pairs\":1,\"looks\":1,"
    "\"level\":\"0.1\","
    "\"probability\":\"0.5\",\"most\":2,\"upper\":\"0\",\"least\":-1,\"lower\":\"0\"}]}]}\n";

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

/* Write SHA256SUMS of these files as they are. */
static void write_sums(const char *const *files)
{
    char sums[4096] = "";
    for (; *files; files++) {
        size_t bytes, used = strlen(sums);
        const char *why;
        char *text = text_read(path_of(*files), &bytes, &why), hex[65];
        if (!text)
            fail_msg("%s: %s", *files, why);
        text_sha256(text, bytes, hex);
        free(text);
        snprintf(sums + used, sizeof sums - used, "%s  %s\n", hex, *files);
    }
    write_file("SHA256SUMS", sums);
}

static const char *const all_files[] = {"PROVENANCE.json",
                                        TOKENS,
                                        COMBINED,
                                        DEGENERATE,
                                        MIN_P,
                                        NUCLEUS,
                                        PENALTIES,
                                        TOP_K,
                                        DETERMINISM,
                                        REPLAY,
                                        "calibration/chi.json",
                                        FORKS,
                                        TENSORS,
                                        DRAW,
                                        ROWS,
                                        CANDIDATES,
                                        EFFECTIVE,
                                        NORMALIZE,
                                        DEFAULTS_PRODUCTS,
                                        TABLES,
                                        "kat/philox.txt",
                                        HISTORY,
                                        PATH,
                                        PREDICATE_PRODUCTS,
                                        MATCH,
                                        NULL};

/* `text` with `from` replaced by `to`, in a static buffer. */
static const char *changed(const char *text, const char *from, const char *to)
{
    static char result[8192];
    const char *place = strstr(text, from);
    if (!place)
        fail_msg("%s is not in the text", from);
    snprintf(result, sizeof result, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
    return result;
}

/* The hash that the second case needs: minus infinity (ff800000), then 0, as little-endian bytes. */
static const char *good_tables(void)
{
    static char text[8192];
    char hex[65];
    text_sha256("\x00\x00\x80\xff\x00\x00\x00\x00", 8, hex);
    snprintf(text, sizeof text, "%s", changed(tables, "HASH", hex));
    return text;
}

static int make_good(void **state)
{
    (void)state;
    static const char *const folders[] = {
        "",          "equivalence", "agreement", "calibration", "kat",         "model",  "model/__pycache__",
        "predicate", "defaults",    "boundary",  "dependence",  "determinism", "replay", "witness"};
    snprintf(root, sizeof root, "/tmp/samplegate-golden-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    for (size_t i = 1; i < sizeof folders / sizeof *folders; i++)
        mkdir(path_of(folders[i]), 0700);
    write_file("README.md", "not hashed\n");
    write_file(".gitignore", "not hashed\n");
    write_file("model/law.py", "not hashed\n");
    write_file("model/__pycache__/law.pyc", "not hashed\n");
    write_file("kat/philox.txt", "words\n");
    write_file("calibration/chi.json", "{\"any\": 1}\n");
    write_file("PROVENANCE.json",
               "{\"files\": {\"" TABLES "\": {\"by\": \"hand\"}}, \"more\": [\"" TOKENS
               "\", \"calibration/chi.json\", \"" PATH "\", \"" HISTORY "\", \"" PREDICATE_PRODUCTS
               "\", \"" EFFECTIVE "\", \"" NORMALIZE "\", \"" DEFAULTS_PRODUCTS "\", \"" COMBINED
               "\", \"" DEGENERATE "\", \"" MIN_P "\", \"" NUCLEUS "\", \"" PENALTIES "\", \"" TOP_K
               "\", \"" FORKS "\", \"" TENSORS "\", \"" DRAW "\", \"" ROWS "\", \"" CANDIDATES "\", \"" MATCH
               "\", \"" DETERMINISM "\", \"" REPLAY "\"]}\n");
    for (size_t i = 0; i < sizeof boundary_goldens / sizeof *boundary_goldens; i++)
        write_file(boundary_goldens[i].file, boundary_goldens[i].text);
    for (size_t i = 0; i < sizeof engine_goldens / sizeof *engine_goldens; i++)
        write_file(engine_goldens[i].file, engine_golden_text(&engine_goldens[i]));
    write_file(TABLES, good_tables());
    write_file(TOKENS, tokens);
    write_file(MATCH, match);
    char hex[65];
    text_sha256(DETERMINISM_LINES, strlen(DETERMINISM_LINES), hex);
    write_file(DETERMINISM, changed(determinism, "HASH", hex));
    write_file(REPLAY, replay);
    write_sums(all_files);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    static const char *const things[] = {"README.md",
                                         ".gitignore",
                                         "model/law.py",
                                         "model/__pycache__/law.pyc",
                                         "kat/philox.txt",
                                         "kat/new.txt",
                                         "kat/link",
                                         "calibration/chi.json",
                                         "PROVENANCE.json",
                                         TABLES,
                                         TOKENS,
                                         "SHA256SUMS",
                                         PATH,
                                         HISTORY,
                                         EFFECTIVE,
                                         NORMALIZE,
                                         PREDICATE_PRODUCTS,
                                         DEFAULTS_PRODUCTS,
                                         FORKS,
                                         TENSORS,
                                         DRAW,
                                         ROWS,
                                         CANDIDATES,
                                         MATCH,
                                         "dependence",
                                         COMBINED,
                                         DEGENERATE,
                                         MIN_P,
                                         NUCLEUS,
                                         PENALTIES,
                                         TOP_K,
                                         "boundary",
                                         DETERMINISM,
                                         REPLAY,
                                         "determinism",
                                         "replay",
                                         RECORD,
                                         "witness",
                                         "predicate",
                                         "defaults",
                                         "model/__pycache__",
                                         "model",
                                         "kat",
                                         "calibration",
                                         "equivalence",
                                         "agreement"};
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        remove(path_of(things[i]));
    return rmdir(root);
}

struct reported {
    char text[1024];
};

static void report(void *context, const char *file, const char *what, size_t cases, size_t left_out)
{
    struct reported *reported = context;
    size_t used = strlen(reported->text);
    assert_true(what[0] != 0);
    snprintf(reported->text + used, sizeof reported->text - used, "%s %zu %zu\n", file, cases, left_out);
}

static void verify_good(void)
{
    struct reported reported = {""};
    struct trouble trouble = {0};
    if (golden_verify(root, report, &reported, &trouble))
        fail_msg("%s", trouble.text);
    assert_string_equal(reported.text,
                        "SHA256SUMS 25 0\nPROVENANCE.json 23 0\n" TABLES " 2 0\n" TOKENS " 2 3\n" PATH
                        " 3 0\n" HISTORY " 1 0\n" PREDICATE_PRODUCTS " 1 0\n" FORKS " 1 0\n" DRAW
                        " 2 0\n" ROWS " 1 0\n" CANDIDATES " 1 0\n" EFFECTIVE " 1 0\n" NORMALIZE
                        " 2 0\n" TENSORS " 1 0\n" DEFAULTS_PRODUCTS " 1 0\n" NUCLEUS " 1 0\n" TOP_K
                        " 1 0\n" MIN_P " 1 0\n" COMBINED " 1 0\n" PENALTIES " 1 0\n" DEGENERATE " 1 0\n" MATCH
                        " 2 0\n" DETERMINISM " 1 1\n" REPLAY " 1 0\n");
}

/* Verification fails with exit 99 and a message that begins "golden WORD: ROOT/" and contains `what`. */
static void verify_bad(const char *word, const char *what)
{
    struct reported reported = {""};
    struct trouble trouble = {0};
    char begin[128];
    snprintf(begin, sizeof begin, "golden %s: %s/", word, root);
    if (golden_verify(root, report, &reported, &trouble) != -1)
        fail_msg("verified, but should say \"%s\"", what);
    assert_int_equal(trouble.exit, EXIT_DAMAGED);
    if (strncmp(trouble.text, begin, strlen(begin)) != 0 || !strstr(trouble.text, what))
        fail_msg("expected \"%s... %s\", got \"%s\"", begin, what, trouble.text);
}

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

struct edit {
    const char *file, *from, *to, *word, *what;
};

/* Edits whose hash was corrected: a wrong value disagrees, a broken file is damaged. */
static const struct edit edits[] = {
    {TABLES, "8.92060942999510e-04", "8.92060943099510e-04", "disagrees",
     TABLES "#tie-2: expected_total_variation: the golden has 8.92060943099510e-04, this build computes "
            "8.920609429995"},
    {TABLES, "1.41421356237310e+00", "1.41421356237510e+00", "disagrees",
     "#tie-2: two_thirds_norm: the golden has"},
    {TABLES, "\"sum_of_squares\":\"5.0", "\"sum_of_squares\":\"5.1", "disagrees",
     "#tie-2: sum_of_squares: the golden has 5.1"},
    {TABLES, "\"probability\":\"0.5\"", "\"probability\":\"0.50001\"", "disagrees",
     "#tie-2: probability of id 1: the golden has 0.50001, this build computes 5.00000000000000e-01"},
    {TABLES, "\"probability\":\"0.00000000000000e+00\"", "\"probability\":\"1e-300\"", "disagrees",
     "#masked: probability of id 0: the golden has 1e-300, this build computes 0"},
    {TABLES, "\"ids\":2", "\"ids\":3", "disagrees",
     "#tie-2: ids of octave 0: the golden has 3, this build computes 2"},
    {TABLES, "\"octave\":0,\"ids\":2", "\"octave\":1,\"ids\":2", "disagrees",
     "#tie-2: octave 0: the golden has no such octave, this build computes 2 ids"},
    {TABLES, "\"mass\":\"1.00000000000000e+00\"}",
     "\"mass\":\"1\"},{\"octave\":5,\"ids\":1,\"mass\":\"0.1\"}", "disagrees",
     "#tie-2: ids of octave 5: the golden has 1, this build computes 0"},
    {TABLES, "\"octaves\":[{\"octave\":0,\"ids\":2,\"mass\":\"1.00000000000000e+00\"}]", "\"octaves\":[]",
     "disagrees", "#tie-2: octave 0: the golden has no such octave"},
    {TABLES, "\"logits\":[0,0]", "\"logits\":[0,1]", "disagrees",
     "#tie-2: logits_sha256: the golden has af5570f5"},
    {TABLES, "\"logits\":[0,0]", "\"logits\":[0,0,0]", "disagrees", "#tie-2: logits_sha256"},
    {TOKENS, "\"token\":1}]}", "\"token\":2}]}", "disagrees",
     TOKENS "#greedy/0: token: the golden has 2, this build computes 1"},
    {TOKENS, "\"position\":\"0\",\"token\":1", "\"position\":\"0\",\"token\":0", "disagrees",
     TOKENS "#race/0: token: the golden has 0"},
    {TABLES, "\"version\":\"1\",", "\"version\":\"1\",\"version\":\"1\",", "damaged",
     TABLES ":3:45: key \"version\" is already"},
    {TABLES, "\"temperature\":1,", "\"temperature\":01,", "damaged", "drop the leading 0"},
    {TABLES, "\"temperature\":1,", "", "damaged", "groups[0].cases[0]: \"temperature\" is missing"},
    {TABLES, "\"temperature\":1,", "\"temperature\":0,", "damaged",
     "groups[0].cases[0].temperature: must be from"},
    {TABLES, "\"temperature\":1,", "\"temperature\":1,\"x\":1,", "damaged",
     "groups[0].cases[0]: unknown key \"x\"; accepted: id, flags, table,"},
    {TABLES, "\"flags\":[\"tie\"]", "\"flags\":[\"tye\"]", "damaged",
     "flag \"tye\" is not explained in \"notes\""},
    {TABLES, "\"effect\":\"e\",", "", "damaged", "notes.tie: \"effect\" is missing"},
    {TABLES, "samplegate-golden-1", "samplegate-golden-9", "damaged",
     "schema: \"samplegate-golden-9\" is unknown"},
    {TABLES, "\"id\":\"masked\"", "\"id\":\"tie-2\"", "damaged", "two cases have the id \"tie-2\""},
    {TABLES, "\"id\":1,\"prob", "\"id\":2,\"prob", "damaged",
     "named[1].id: must be an integer from 0 to 1, is 2"},
    {TABLES, "\"0.5\"", "\"half\"", "damaged", "named[1].probability: must be a finite number in a string"},
    {TABLES, "tie-2\",\"kind\":\"list\"", "tie-2\",\"kind\":\"lost\"", "damaged",
     "table.kind: \"lost\" is unknown"},
    {TOKENS, "\"rule\":\"race\"", "\"rule\":\"rice\"", "damaged",
     "groups[1].rule: \"rice\" is unknown; accepted: greedy, categorical, race"},
    {TOKENS, "\"left_out\":3,", "", "damaged", "groups[1]: \"left_out\" is missing"},
    {TOKENS, "\"18446744073709551615\"", "18446744073709551615", "damaged",
     "64-bit integers are written as strings"},
    {TOKENS, "\"family\":\"agreement\"", "\"family\":\"equivalence\"", "damaged",
     "family: \"equivalence\" is unknown; accepted: agreement"},
    {MATCH, "\"most\":4", "\"most\":3", "disagrees",
     MATCH "#four: most: the golden has 3, this build computes 4"},
    {MATCH, "\"least\":-1", "\"least\":0", "disagrees",
     "#one: least: the golden has 0, this build computes -1"},
    {MATCH, "\"lower\":\"0.0625", "\"lower\":\"0.0626", "disagrees", "#four: lower: the golden has 0.0626"},
    {MATCH, "\"probability\":\"0.5\",\"most\":2", "\"probability\":\"0.4\",\"most\":2", "disagrees",
     "#one: probability"},
    {MATCH, "\"0.2\"", "\"2\"", "damaged", "\"level\" must be between 0 and 1"},
    {NUCLEUS, "\"top_p\":0.5", "\"top_p\":0.75", "disagrees",
     NUCLEUS
     "#half: sglang-pytorch: kept: the golden has 0 1, this build computes 0 1 2: by the kernels and by the "
     "oracle, written apart: suspect the golden's model"},
    {NUCLEUS, "\"1/3\"", "\"3/9\",\"0\"", "damaged",
     "mass: must have a figure for each of the 2 ids of \"kept\""},
    {NUCLEUS, "\"1/3\"", "\"2/7\"", "disagrees", "#half: sglang-pytorch: mass of id 1: the golden has 2.857"},
    /* A figure in which only the oracle, in double, differs. */
    {NUCLEUS, "\"1/3\"", "\"0.33333333333\"", "disagrees",
     "by the oracle; the kernels agree with the golden"},
    {NUCLEUS, "],\"kept\":[0],\"mass\":[\"1\"],\"exact\":true}", "],\"kept\":[0],\"mass\":[\"1\"]}",
     "disagrees",
     "#half: flashinfer-joint: exact: the golden has false, this build computes true, by the oracle"},
    {NUCLEUS, "\"sglang-pytorch\",", "", "damaged", "\"expect\" lacks the rule sglang-pytorch"},
    {TOP_K, "\"values\":[2,1,1]", "\"values\":[2,2,1]", "disagrees",
     "#one: flashinfer-joint: kept: the golden has 0, this"},
    {TOP_K, "\"denominator\":4", "\"denominator\":3", "damaged",
     "values[0]: over the denominator is nothing that a float"},
    {TOP_K, "\"parameters\":{", "\"parameters\":{\"top-k\":1,", "damaged",
     "parameters: unknown key \"top-k\""},
    {MIN_P, "0x1.8p-1", "nan", "disagrees",
     "#above: sglang-pytorch: refused: the golden has no refusal, this build computes min_p"},
    {COMBINED, "0.25}", "0.25,\"min_tokens\":1}", "damaged",
     "probabilities take no temperature and no edits"},
    {PENALTIES, "\"0.5\"", "\"0.25\"", "disagrees", "#presence: sglang: logit of id 1: the golden has 2.5"},
    {PENALTIES, "7.31058578630005e-01", "7.31058579630005e-01", "disagrees",
     "by the oracle; the kernels agree"},
    {DEGENERATE, "\"top_k\":0", "\"top_k\":1", "disagrees",
     "#k-0: sglang-pytorch: refused: the golden has top_k"},
    {"PROVENANCE.json", "\"" TOKENS "\", ", "", "damaged",
     "PROVENANCE.json: does not say where " TOKENS " comes from"},
    DRAWS_EDITS,
    {"PROVENANCE.json", "}", "", "damaged", "PROVENANCE.json:2:1: expected"},
};

static void edited_with_corrected_hash(void **state)
{
    (void)state;
    static char original[8192];
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const struct edit *edit = &edits[i];
        size_t bytes;
        const char *why;
        char *text = text_read(path_of(edit->file), &bytes, &why);
        if (!text)
            fail_msg("%s", why);
        snprintf(original, sizeof original, "%s", text);
        free(text);
        write_file(edit->file, changed(original, edit->from, edit->to));
        write_sums(all_files);
        verify_bad(edit->word, edit->what);
        write_file(edit->file, original);
    }
    write_sums(all_files);
    verify_good();
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

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_good, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(good_folder), IN_FOLDER(edited_value),   IN_FOLDER(edited_with_corrected_hash),
        IN_FOLDER(no_cases),    IN_FOLDER(truncated_file), IN_FOLDER(files_against_list),
        IN_FOLDER(bad_sums),    IN_FOLDER(missing_family), IN_FOLDER(witness),
        IN_FOLDER(directories),
    };
    return cmocka_run_group_tests_name("golden verify", tests, NULL, NULL);
}
