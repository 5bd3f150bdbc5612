/* test_verify_edits.c: what `golden verify` says of values and files that were edited and hashed again. */
#include "suite/golden/test_folder.h"

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
    {"PROVENANCE.json", "{\"files\": {", "{\"files\": {\"witness/gone.json\": {}, ", "damaged",
     "PROVENANCE.json: says where witness/gone.json comes from, which is not there"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(edited_with_corrected_hash),
    };
    return cmocka_run_group_tests_name("golden verify, edits", tests, NULL, NULL);
}
