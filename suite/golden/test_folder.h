/* test_folder.h: a small golden folder of hand-known values, for the tests of `golden verify`: made before each, dropped after
 * it. */
#ifndef SAMPLEGATE_GOLDEN_TEST_FOLDER_H
#define SAMPLEGATE_GOLDEN_TEST_FOLDER_H
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

static inline const char *path_of(const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", root, file);
    return path;
}

static inline void write_file(const char *file, const char *text)
{
    FILE *stream = fopen(path_of(file), "w");
    if (!stream)
        fail_msg("%s cannot be written", path_of(file));
    fputs(text, stream);
    fclose(stream);
}

/* Write SHA256SUMS of these files as they are. */
static inline void write_sums(const char *const *files)
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
static inline const char *changed(const char *text, const char *from, const char *to)
{
    static char result[8192];
    const char *place = strstr(text, from);
    if (!place)
        fail_msg("%s is not in the text", from);
    snprintf(result, sizeof result, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
    return result;
}

/* The hash that the second case needs: minus infinity (ff800000), then 0, as little-endian bytes. */
static inline const char *good_tables(void)
{
    static char text[8192];
    char hex[65];
    text_sha256("\x00\x00\x80\xff\x00\x00\x00\x00", 8, hex);
    snprintf(text, sizeof text, "%s", changed(tables, "HASH", hex));
    return text;
}

static inline int make_good(void **state)
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

static inline int drop(void **state)
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

static inline void report(void *context, const char *file, const char *what, size_t cases, size_t left_out)
{
    struct reported *reported = context;
    size_t used = strlen(reported->text);
    assert_true(what[0] != 0);
    snprintf(reported->text + used, sizeof reported->text - used, "%s %zu %zu\n", file, cases, left_out);
}

static inline void verify_good(void)
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
static inline void verify_bad(const char *word, const char *what)
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

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_good, drop)
#endif
