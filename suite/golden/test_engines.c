/* test_engines.c: goldens of engines that are right are accepted; an edited value disagrees, and a broken
 * file is damaged. */
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

#include "suite/golden/outcome.h"
#include "suite/golden/test_engines.h"

static const struct golden_check *const checks[] = {
    &golden_predicate_path,       &golden_predicate_history,  &golden_predicate_products,
    &golden_defaults_effective,   &golden_defaults_normalize, &golden_defaults_products,
    &golden_predicate_forks,      &golden_predicate_draw,     &golden_predicate_rows,
    &golden_predicate_candidates, &golden_defaults_tensors};
#define CHECKS (sizeof checks / sizeof *checks)
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

static int make_folder(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/samplegate-engines-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    mkdir(path_of("predicate"), 0700);
    mkdir(path_of("defaults"), 0700);
    for (size_t i = 0; i < CHECKS; i++)
        write_file(engine_goldens[i].file, engine_golden_text(&engine_goldens[i]));
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHECKS; i++)
        remove(path_of(engine_goldens[i].file));
    rmdir(path_of("predicate"));
    rmdir(path_of("defaults"));
    return rmdir(root);
}

static void right_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHECKS; i++) {
        struct golden_outcome outcome;
        if (golden_recompute(root, checks[i], &outcome))
            fail_msg("%s%s", outcome.damaged.text, outcome.disagrees.text);
        assert_int_equal(outcome.cases, engine_goldens[i].cases);
    }
}

struct edit {
    const char *file, *from, *to, *word, *what;
};
static const struct edit edits[] = {
    {PATH, "\"gumbel\"", "\"multinomial\"", "disagrees",
     "#plain: path: the golden has multinomial, this build computes gumbel"},
    {PATH, "\"seeded\":true", "\"seeded\":false", "disagrees",
     "#mixed: seeded: the golden has false, this build computes true"},
    {PATH, "\"pytorch\"", "\"flashinfer\"", "disagrees", "#mixed: backend: the golden has flashinfer"},
    {PATH, "\"top_k\":-1", "\"min_p\":0.1", "disagrees",
     "#mixed: path: the golden has filtered, this build computes none"},
    {PATH, "\"top_k\":-1", "\"top_k\":0", "disagrees", "#mixed: path: the golden has filtered"},
    {PATH, "\"status\":0", "\"status\":400", "disagrees",
     "#empty: status: the golden has 400, this build computes 0"},
    {PATH, "needs at", "needs", "disagrees", "#empty: error: the golden has a batch needs least"},
    {PATH, "\"batch\":[],", "\"batch\":[{}],", "disagrees",
     "#empty: error: the golden has a batch needs at least one request, "
     "this build computes none"},
    {PATH, "\"seeded\":false,", "", "damaged", "groups[0].cases[0]: \"seeded\" is missing"},
    {PATH, "\"seeded\":false", "\"seeded\":0", "damaged", "\"seeded\": must be true or false"},
    {PATH, "\"path\":\"gumbel\"", "\"path\":1", "damaged", "path: must be a string"},
    {PATH, "sglang-0.5.20", "sglang-9", "damaged", "groups[0]: \"engine\": there is no engine \"sglang-9\""},
    {PATH, "\"upstream\"", "\"downstream\"", "damaged",
     "groups[0].as: \"downstream\" is unknown; accepted: article-port"},
    {PATH, "\"top_k\":-1", "\"top_q\":-1", "damaged", "unknown key \"top_q\"; accepted: temperature, top_k"},
    {PATH, "{\"deterministic\"", "{\"determined\"", "damaged", "server: unknown key \"determined\""},
    {HISTORY, "\"---m\"", "\"--p-\"", "disagrees",
     "#one: events[0].prefill.flags: the golden has --p-, this build computes ---m"},
    {HISTORY, "\"running\":null}]", "\"running\":{\"flags\":\"---m\",\"path\":\"filtered\"}}]", "disagrees",
     "#one: events[2].running: the golden has ---m, this build computes no rows"},
    {HISTORY, "\"prefill\":null", "\"prefill\":{\"flags\":\"---m\",\"path\":\"filtered\"}", "disagrees",
     "#one: events[1].prefill"},
    {HISTORY, "article-prose", "upstream", "damaged", "events[0].prefill: \"seeded\" is missing"},
    {HISTORY, "\"do\":\"join\"", "\"do\":\"jump\"", "damaged",
     "events[1].do: \"jump\" is unknown; accepted: admit, join"},
    {HISTORY, "\"finish\",\"id\":\"a\"", "\"finish\",\"id\":\"b\"", "damaged",
     "no request \"b\" is there to finish"},
    {HISTORY, "{\"min_p\":0.1}", "{\"min_p\":\"x\"}", "disagrees",
     "#one: events: the golden has as many answers as events"},
    {PATH, "\"noise\":\"rank\"", "\"noise\":\"token\"", "disagrees",
     "#mixed: noise: the golden has token, this build computes rank"},
    {PATH, "\"noise\":\"rank\"", "\"noise\":\"rank\",\"top_k_bound\":20", "disagrees",
     "#mixed: top_k_bound: the golden has 20, this build computes none"},
    {PATH, ",\"noise\":\"rank\"", "", "disagrees", "#mixed: noise: the golden has none"},
    {PATH, "\"noise\":\"rank\"", "\"noise\":\"rank\",\"top_k_bound\":0", "damaged", "top_k_bound"},
    {PREDICATE_PRODUCTS, "\"kinds\":", "\"mixes\":1,\"kinds\":", "damaged",
     "\"mixes\": must be true or false"},
    {PREDICATE_PRODUCTS, "\"lines\":6", "\"lines\":7", "disagrees",
     "#lives: lines: the golden has 7, this build computes 6"},
    {PREDICATE_PRODUCTS, "\"sha256\":\"", "\"sha256\":\"0", "disagrees", "#lives: sha256: the golden has 0"},
    {PREDICATE_PRODUCTS, "\"----\"", "\"G---\"", "disagrees", "#lives: sha256"},
    {PREDICATE_PRODUCTS, "\"----\"", "\"kG--\"", "damaged", "\"kG--\": must be flags as in \"Gk--\""},
    {PREDICATE_PRODUCTS, "[[\"----\"]]", "[[]]", "damaged", "must be an array of 1 to 8 kinds"},
    {EFFECTIVE, "[20,\"model\"]", "[20,\"preferred\"]", "disagrees",
     "#file: effective.top_k: the golden has preferred, this build computes model"},
    {EFFECTIVE, "[20,", "[21,", "disagrees",
     "#file: effective.top_k: the golden has 21, this build computes 20"},
    {EFFECTIVE, ",\"min_p\":[0,\"default\"]", "", "disagrees",
     "#file: effective.min_p: the golden has nothing"},
    {EFFECTIVE, "\"min_p\":[0", "\"seed\":[1,\"request\"],\"min_p\":[0", "disagrees",
     "#file: effective.seed: the golden has request, this build computes none"},
    {EFFECTIVE, "[1,\"default\"]", "[\"1\",\"default\"]", "disagrees", "#file: effective.top_p"},
    {EFFECTIVE, "\"path\":\"filtered\"", "\"path\":\"gumbel\"", "disagrees",
     "#file: path: the golden has gumbel"},
    {EFFECTIVE,
     "\"effective\":{\"temperature\":[0.5,\"request\"],\"top_k\":[20,\"model\"],\"top_p\":[1,\"default\"],"
     "\"min_p\":[0,\"default\"]},\"path\":\"filtered\"",
     "\"error\":\"no\",\"status\":400", "disagrees",
     "#file: effective: the golden has a refusal, this build computes parameters"},
    {EFFECTIVE, "[20,\"model\"]", "[20]", "damaged", "must be [value, layer]"},
    {EFFECTIVE, "\"chat\"", "\"chatter\"", "damaged",
     "groups[0].endpoint: \"chatter\" is unknown; accepted: chat"},
    {NORMALIZE, "\"top_k\":1,", "\"top_k\":5,", "disagrees",
     "#greedy: normalized.top_k: the golden has 5, this build computes 1"},
    {NORMALIZE, "\"temperature\":0,", "\"temperature\":null,", "disagrees",
     "#greedy: normalized: the golden has parameters"},
    {NORMALIZE, "'str'", "'int'", "disagrees", "#text: error: the golden has '<=' not supported"},
    {NORMALIZE, "\"0\"", "0.5", "disagrees",
     "#text: normalized: the golden has a refusal, this build computes parameters"},
    {NORMALIZE, "\"-1\"", "\"one\"", "damaged", "\"integer\": must be a whole number in a string"},
    {NORMALIZE, "0x1p+0", "one", "damaged", "must be a finite number in a string"},
    {FORKS, "\"sequences\":3", "\"sequences\":2", "disagrees",
     "#two: forks: the golden has [{\"sequences\":2"},
    {FORKS, "\"drawn\":3,\"kept\":1", "\"drawn\":1,\"kept\":1", "disagrees", "#two: forks"},
    {FORKS, "{\"best_of\":3}", "{\"best_off\":3}", "damaged", "batch[0]: unknown key \"best_off\""},
    {DRAW, "[\"random_seed\",\"random_seed\"]", "[\"random_seed\",\"random\"]", "disagrees",
     "#seeded: draws: the golden has [\"random_seed\",\"random\"]"},
    {DRAW, "\"clone\"", "\"copy\"", "damaged", "steps[2]: must be \"read\", \"clone\" or parameters"},
    {DRAW, "\"status\":500", "\"status\":400", "disagrees", "#cold: status: the golden has 400"},
    {DRAW, "\"draws\":[\"random_seed\",\"random_seed\"]", "\"error\":\"no\",\"status\":400", "disagrees",
     "#seeded: draws: the golden has none, this build computes [\"random_seed\""},
    {ROWS, "\"output\":[4,4]},{\"prompt\":[]", "\"output\":[4]},{\"prompt\":[]", "disagrees",
     "#shifted: rows"},
    {ROWS, "\"fixed\":false", "\"fixed\":true", "disagrees", "#shifted: rows"},
    {ROWS, "\"presence_penalty\":1", "\"presence_penalty\":0", "disagrees", "this build computes null"},
    {ROWS, "{\"vocab\":9}", "{\"vocab\":0}", "damaged", "\"vocab\": must be a whole number from 1"},
    {ROWS, "\"prompt\":[1]", "\"prompt\":1", "damaged", "groups[0]: \"prompt\": must be an array"},
    {TENSORS, "0.8984375", "0.9", "disagrees",
     "#vanishes: tensors.temperature: the golden has 0.9, this build computes 0.8984375"},
    {TENSORS, "\"bf16\"", "\"f16\"", "disagrees", "#vanishes: tensors.temperature"},
    {TENSORS, "\"bf16\"", "\"f8\"", "damaged", "server.logits: \"f8\" is unknown; accepted: f32, bf16, f16"},
    {CANDIDATES, "[1,0],\"tokens\"", "[0,1],\"tokens\"", "disagrees",
     "#second: parents: the golden has [0,1]"},
    {CANDIDATES, "-1.5", "-2.5", "disagrees", "#second: parents"},
    {CANDIDATES, "[-3,-4]", "[-3]", "damaged",
     "logprobs: must be an array of numbers, as long as its neighbours"},
    {CANDIDATES, "\"best_of\":1", "\"best_of\":3", "disagrees",
     "#second: parents: the golden has [1,0], this build computes none"},
    {DEFAULTS_PRODUCTS, "{\"top_k\":20}", "{\"top_k\":21}", "disagrees", "#pair: sha256"},
    {DEFAULTS_PRODUCTS, "[\"chat\"]", "[\"responses\"]", "damaged",
     "endpoints: must be chat, responses, completions, generate"},
    {DEFAULTS_PRODUCTS, "[[{},{\"top_k\":20}]]", "[[]]", "damaged", "must be an array with an entry"},
};

static void edited_values(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof edits / sizeof *edits; e++) {
        const struct edit *edit = &edits[e];
        size_t i = 0;
        while (strcmp(engine_goldens[i].file, edit->file) != 0)
            i++;
        char text[2048], changed[2200];
        snprintf(text, sizeof text, "%s", engine_golden_text(&engine_goldens[i]));
        const char *place = strstr(text, edit->from);
        if (!place)
            fail_msg("%s is not in %s", edit->from, edit->file);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(place - text), text, edit->to,
                 place + strlen(edit->from));
        write_file(edit->file, changed);
        struct golden_outcome outcome;
        if (golden_recompute(root, checks[i], &outcome) == 0)
            fail_msg("%s with %s was accepted", edit->file, edit->to);
        bool disagrees = strcmp(edit->word, "disagrees") == 0;
        const struct trouble *said = disagrees ? &outcome.disagrees : &outcome.damaged,
                             *other = disagrees ? &outcome.damaged : &outcome.disagrees;
        if (!strstr(said->text, edit->what) || other->exit)
            fail_msg("%s with %s: expected %s \"%s\", got damaged \"%s\", disagrees \"%s\"", edit->file,
                     edit->to, edit->word, edit->what, outcome.damaged.text, outcome.disagrees.text);
        write_file(edit->file, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(right_values, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(edited_values, make_folder, drop_folder),
    };
    return cmocka_run_group_tests_name("golden engines", tests, NULL, NULL);
}
