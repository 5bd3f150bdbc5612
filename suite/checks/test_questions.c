/* test_questions.c: families predicate and defaults without a process between: the clean engines pass with every case
 * counted, every engine mutant is rejected by its own check, and no answer, however odd, is taken for a right one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/checks/check.h"
#include "suite/checks/questions.h"
#include "suite/golden/questions.h"
#include "suite/judge/worker.h"
#include "suite/sut/mutants/engines.h"

static const char *const keys[] = {"predicate.path",     "predicate.history",  "predicate.forks",
                                   "predicate.draw",     "predicate.rows",     "predicate.candidates",
                                   "defaults.effective", "defaults.normalize", "defaults.tensors"};
static const struct golden_check *const goldens[] = {
    &golden_predicate_path,     &golden_predicate_history,  &golden_predicate_forks,
    &golden_predicate_draw,     &golden_predicate_rows,     &golden_predicate_candidates,
    &golden_defaults_effective, &golden_defaults_normalize, &golden_defaults_tensors};
#define KEYS (sizeof keys / sizeof *keys)
#define CLAIMS(engine) "{\"engine\": \"" engine "\", \"readings\": \"article-port article-prose upstream\"}"

/* One cell of a run. */
struct run {
    struct plan plan;
    struct plan_cell cell;
    struct sut sut;
    struct script script;
    struct evidence evidence;
    char why[1024];
};

static enum script_start start(struct run *run, const char *key, const char *capabilities,
                               const char *contract)
{
    *run = (struct run){.cell = {.family = !strncmp(key, "pre", 3) ? FAMILY_PREDICATE : FAMILY_DEFAULTS}};
    snprintf(run->plan.golden_dir, sizeof run->plan.golden_dir, SAMPLEGATE_SOURCE_DIR "/golden");
    snprintf(run->cell.name, sizeof run->cell.name, "%s", strchr(key, '.') + 1);
    frame_set(&run->sut.hello, "capabilities", capabilities);
    frame_set(&run->sut.hello, "contract", contract);
    const struct script_input input = {.plan = &run->plan, .cell = &run->cell, .sut = &run->sut, .stage = 1};
    return questions_script(&input, &run->script, run->why, sizeof run->why);
}

static void stop(struct run *run)
{
    evidence_free(&run->evidence);
    script_free(&run->script);
    frame_free(&run->sut.hello);
}

static void answer(struct run *run, size_t line, const char *message, const char *text)
{
    frame_set(&run->script.line[line].answer, "message", message);
    frame_set(&run->script.line[line].answer, "text", text);
    if (!script_take(&run->script.line[line], &run->script.line[line].answer, run->why, sizeof run->why))
        fail_msg("%s", run->why);
}

static void answer_all(struct run *run, const struct engine *engine)
{
    for (size_t i = 0; i < run->script.lines; i++) {
        char *told = NULL;
        struct engine_why why = {""};
        if (engine_ask(engine, frame_get(&run->script.line[i].request, "question"), &told, &why) !=
            ENGINE_ANSWERED)
            fail_msg("%s", why.text);
        answer(run, i, "answer", told);
        free(told);
    }
}

static void judge(struct run *run, const char *key)
{
    const struct check_input input = {
        .plan = &run->plan, .cell = &run->cell, .stage = 1, .script = &run->script, .sut = &run->sut};
    for (size_t i = 0; i < check_registry_count; i++)
        if (!strcmp(check_registry[i].key, key))
            check_registry[i].evaluate(&check_registry[i], &input, &run->evidence);
}

static size_t violations(const struct run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->evidence.count; i++)
        count += run->evidence.statistic[i].violation;
    return count;
}

/* The summary of a run: the last statistic. */
static const struct statistic *cases(const struct run *run)
{
    const struct statistic *last = &run->evidence.statistic[run->evidence.count - 1];
    assert_string_equal(last->name, "cases");
    return last;
}

static const char *claims_of(const struct engine *engine, char *text, size_t bytes)
{
    snprintf(text, bytes, "{\"engine\": \"%s\", \"readings\": \"article-port article-prose upstream\"}",
             engine->name);
    return text;
}

/* Between them the engines are asked every case of every golden. */
static void engines_pass(void **state)
{
    (void)state;
    for (size_t k = 0; k < KEYS; k++) {
        struct golden_outcome outcome;
        size_t asked = 0;
        for (size_t e = 0; e < engine_count; e++) {
            struct run run;
            char contract[160];
            enum script_start started =
                start(&run, keys[k], "route resolve", claims_of(engine_table[e], contract, sizeof contract));
            if (started == SCRIPT_READY) {
                answer_all(&run, engine_table[e]);
                judge(&run, keys[k]);
                assert_int_equal(run.evidence.count, 1);
                assert_int_equal(violations(&run), 0);
                assert_true(cases(&run)->value == cases(&run)->expected);
                asked += (size_t)cases(&run)->value;
            }
            stop(&run);
        }
        assert_int_equal(golden_recompute(SAMPLEGATE_SOURCE_DIR "/golden", goldens[k], &outcome), 0);
        assert_int_equal(asked, outcome.cases);
    }
}

static const struct mutant_about *any_mutant(size_t index)
{
    size_t first = 0;
    while (engine_mutant_about(first))
        first++;
    return index < first ? engine_mutant_about(index) : vllm_mutant_about(index - first);
}

static void mutants_are_rejected(void **state)
{
    (void)state;
    const struct mutant_about *about;
    size_t killed[KEYS] = {0};
    for (size_t i = 0; (about = any_mutant(i)); i++)
        for (size_t k = 0; k < KEYS; k++) {
            struct run run;
            if (about->check && strcmp(about->check, keys[k]) != 0)
                continue;
            const struct engine *engine = samplegate_engine(about->id);
            char contract[160];
            enum script_start started =
                start(&run, keys[k], "route resolve", claims_of(engine, contract, sizeof contract));
            if (!about->check && started == SCRIPT_SKIP) {
                stop(&run); /* a clean engine without such a thing */
                continue;
            }
            assert_int_equal(started, SCRIPT_READY);
            answer_all(&run, engine);
            judge(&run, keys[k]);
            if (!about->check != !violations(&run))
                fail_msg("%s: %zu violations of %s", about->id, violations(&run), keys[k]);
            if (about->check && !strstr(run.evidence.statistic[0].text, " should be "))
                fail_msg("%s", run.evidence.statistic[0].text);
            killed[k] += about->check != NULL;
            stop(&run);
        }
    for (size_t k = 0; k < KEYS; k++)
        assert_true(killed[k] >= 1);
    assert_null(samplegate_engine("no such mutant"));
}

/* An engine with an error planted in its code, in the place of the build's own. */
static const struct engine *planted;

static int begin_planted(const struct json_cursor *group, void **shared, struct golden_outcome *outcome)
{
    if (golden_group_begin(group, shared, outcome))
        return -1;
    struct golden_group *read = *shared;
    if (read->engine == engine_find("sglang-0.5.20"))
        read->engine = planted;
    return 0;
}

/* Golden verify catches every one of them, and the cases worked by hand say that it is not the model. */
static void an_error_in_the_code_is_told(void **state)
{
    (void)state;
    const struct mutant_about *about;
    const char *exhaustive =
        getenv("SAMPLEGATE_EXHAUSTIVE"); /* 0: every sixth error, for instrumented builds */
    const size_t step = exhaustive && !strcmp(exhaustive, "0") ? 6 : 1;
    size_t caught = 0;
    for (size_t i = 1; (about = engine_mutant_about(i)); i++)
        for (size_t k = 0; k < KEYS; k++) {
            if (strcmp(about->check, keys[k]) != 0 || i % step)
                continue;
            struct golden_check check = *goldens[k];
            struct golden_outcome outcome;
            check.begin = begin_planted;
            planted = samplegate_engine(about->id);
            assert_int_equal(golden_recompute(SAMPLEGATE_SOURCE_DIR "/golden", &check, &outcome), -1);
            assert_int_equal(outcome.damaged.exit, 0);
            if (!strstr(outcome.disagrees.text, "disagree with this build, too: suspect this build"))
                fail_msg("%s: %s", about->id, outcome.disagrees.text);
            caught++;
        }
    assert_true(caught >= 36 / step);
}

/* What a failure says. */
static void difference_in_words(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(start(&run, "predicate.path", "route", CLAIMS("sglang-0.5.20")), SCRIPT_READY);
    answer_all(&run, samplegate_engine("switch-off"));
    judge(&run, "predicate.path");
    const struct statistic *first = &run.evidence.statistic[0];
    assert_non_null(strstr(first->name, "/path"));
    assert_non_null(strstr(first->text, "switch/'off': path should be gumbel, the answer is multinomial. "));
    assert_non_null(
        strstr(first->text, "An A/B run with SGLANG_OPT_USE_GUMBEL_SAMPLE=off measures the new code twice."));
    stop(&run);
}

static void nothing_to_ask(void **state)
{
    (void)state;
    static const struct {
        const char *key, *capabilities, *contract, *why;
        enum script_start start;
    } starts[] = {
        {"predicate.path", "resolve top_k", CLAIMS("sglang-0.5.20"), "does not announce route", SCRIPT_SKIP},
        {"defaults.effective", "route", CLAIMS("sglang-0.5.20"), "does not announce resolve", SCRIPT_SKIP},
        {"predicate.path", "route", "{\"engine\": \"sglang-0.5.20\"}",
         "does not claim an engine and readings", SCRIPT_SKIP},
        {"predicate.path", "route", "[", "does not claim an engine and readings", SCRIPT_SKIP},
        {"predicate.path", "route", CLAIMS("vllm-9"), "path.json has no case of vllm-9 as article-port",
         SCRIPT_SKIP},
        {"predicate.path", "route", "{\"engine\": \"sglang-0.5.20\", \"readings\": \"up article\"}",
         "has no case of sglang-0.5.20 as up article", SCRIPT_SKIP},
        {"predicate.products", "route", CLAIMS("sglang-0.5.20"), "there is no golden predicate/products.json",
         SCRIPT_TROUBLE},
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct run run;
        assert_int_equal(start(&run, starts[i].key, starts[i].capabilities, starts[i].contract),
                         starts[i].start);
        if (!strstr(run.why, starts[i].why))
            fail_msg("'%s' has no '%s'", run.why, starts[i].why);
        assert_int_equal(run.script.lines, 0);
        stop(&run);
    }
}

static void readings_are_asked_alone(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(start(&run, "predicate.history", "route",
                           "{\"engine\": \"sglang-0.5.20\", \"readings\": \"upstream\"}"),
                     SCRIPT_READY);
    assert_int_equal(run.script.lines, 1);
    assert_null(strstr(frame_get(&run.script.line[0].request, "question"), "article-port"));
    assert_null(strstr(frame_get(&run.script.line[0].request, "question"), "\"path\""));
    answer_all(&run, engine_find("sglang-0.5.20"));
    judge(&run, "predicate.history");
    assert_int_equal(violations(&run), 0);
    stop(&run);
}

static void unsupported_is_counted(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(start(&run, "predicate.path", "route", CLAIMS("sglang-0.5.20")), SCRIPT_READY);
    answer_all(&run, engine_find("sglang-0.5.20"));
    answer(&run, 1, "unsupported", "not these");
    judge(&run, "predicate.path");
    assert_int_equal(violations(&run), 0);
    assert_true(cases(&run)->value == cases(&run)->expected - 64);
    assert_non_null(strstr(cases(&run)->text, "64 unsupported"));
    stop(&run);
}

/* The first line's answers are replaced; the others are right. */
static void odd_answers_are_wrong(void **state)
{
    (void)state;
    static const char *const odd[] = {"",    "null",   "{}",    "[",           "[]",
                                      "[1]", "[{}] x", "[NaN]", "\"\\ud800\"", "[[[["};
    static const char *const members[] = {"null",
                                          "1",
                                          "\"filtered\"",
                                          "[]",
                                          "{}",
                                          "{\"path\":5}",
                                          "{\"path\":null}",
                                          "{\"path\":[\"gumbel\"]}",
                                          "{\"events\":{}}",
                                          "{\"events\":[null]}",
                                          "{\"effective\":[]}",
                                          "{\"effective\":{\"temperature\":{}}}",
                                          "{\"effective\":{\"temperature\":[]},\"path\":\"filtered\"}",
                                          "{\"effective\":{\"top_k\":[{\"integer\":\"x\"},\"default\"]}}",
                                          "{\"normalized\":3}",
                                          "{\"normalized\":{\"top_k\":[[]]}}",
                                          "{\"error\":\"a\\nb\",\"status\":\"400\"}"};
    for (size_t k = 0; k < KEYS; k++)
        for (size_t i = 0; i < sizeof odd / sizeof *odd + sizeof members / sizeof *members; i++) {
            struct run run;
            char text[8192] = "[", name[] = "questions-0";
            bool whole = i < sizeof odd / sizeof *odd;
            const struct engine *engine =
                engine_find((k >= 2 && k <= 5) || k == 8 ? "vllm-0.5.0" : "sglang-0.5.20");
            char contract[160];
            claims_of(engine, contract, sizeof contract);
            assert_int_equal(start(&run, keys[k], "route resolve", contract), SCRIPT_READY);
            answer_all(&run, engine);
            for (size_t n = 0; !whole && n < run.script.line[0].questions; n++) {
                size_t used = strlen(text);
                snprintf(text + used, sizeof text - used, "%s%s", n ? "," : "",
                         members[i - sizeof odd / sizeof *odd]);
            }
            strcat(text, "]");
            answer(&run, 0, "answer", whole ? odd[i] : text);
            judge(&run, keys[k]);
            if (!violations(&run) || cases(&run)->value > cases(&run)->expected - 1)
                fail_msg("%s: %s was taken for an answer", keys[k], whole ? odd[i] : text);
            if (whole)
                assert_string_equal(run.evidence.statistic[0].name, name);
            for (size_t s = 0; s < run.evidence.count; s++)
                assert_null(strchr(run.evidence.statistic[s].text, '\n'));
            stop(&run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_pass),
        cmocka_unit_test(mutants_are_rejected),
        cmocka_unit_test(an_error_in_the_code_is_told),
        cmocka_unit_test(difference_in_words),
        cmocka_unit_test(nothing_to_ask),
        cmocka_unit_test(readings_are_asked_alone),
        cmocka_unit_test(unsupported_is_counted),
        cmocka_unit_test(odd_answers_are_wrong),
    };
    return cmocka_run_group_tests_name("questions", tests, NULL, NULL);
}
