/* test_parametered.c: cells under parameters: the shipped ones can be judged under every rule, the law is that of the claimed
 * rule, and what cannot be decided or asked is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "suite/judge/chunk.h"
#include "suite/judge/session.h"

#define GOLDEN SAMPLEGATE_SOURCE_DIR "/golden"

static const char everything[] = "temperature top_k top_p min_p penalties logit_bias allowed_mask min_tokens";

/* A session of one cell with a sampler that says this of itself; 0, or the exit code of what went wrong. */
static int prepare(struct session *session, const struct plan *plan, const char *cell, const char *contract,
                   const char *takes, const char *can, const char *dtype, struct trouble *trouble)
{
    struct frame hello = {0};
    static const char *const said[][2] = {
        {"message", "hello"}, {"protocol", "1"}, {"name", "n"}, {"version", "1"}, {"device", "cpu"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        frame_set(&hello, said[i][0], said[i][1]);
    frame_set(&hello, "dtype", dtype);
    frame_set(&hello, "takes", takes);
    frame_set(&hello, "capabilities", can);
    frame_set(&hello, "contract", contract);
    *session = (struct session){.plan = plan, .options = {.checks = "equivalence", .cells = cell}};
    assert_int_equal(sut_read(&session->sut, &hello, "test", trouble), 0);
    return session_prepare(session, trouble) ? trouble->exit : 0;
}

static const struct cell_result *cell_of(const struct session *session, const char *name)
{
    for (size_t i = 0; i < session->plan->cells; i++)
        if (strcmp(session->plan->cell[i].name, name) == 0)
            return &session->cell[i];
    fail_msg("no cell %s", name);
    return NULL;
}

/* Whatever rule a sampler claims, and whatever it takes, no cut of a shipped cell is too near. Wide rows: one of each. */
static void shipped(void **state)
{
    (void)state;
    static const char *const takes[] = {"logits", "probabilities"};
    struct plan plan;
    struct trouble trouble = {0};
    assert_int_equal(plan_load(&plan, "card", GOLDEN, &trouble), 0);
    size_t parametered = 0;
    for (size_t c = 0; c < plan.cells; c++) {
        parametered += plan.cell[c].parametered;
        for (size_t f = 0; plan.cell[c].parametered && law_filter_at(f); f++)
            for (size_t t = 0; t < 2; t++) {
                char contract[128];
                struct session session;
                if (plan.cell[c].table->vocab > 100000 && (f > 0 || t > 0))
                    continue;
                snprintf(contract, sizeof contract, "{\"filters\": \"%s\", \"penalties\": \"%s\"}",
                         law_filter_name(law_filter_at(f)), law_editor_name(law_editor_at(f % 4)));
                trouble = (struct trouble){0};
                if (prepare(&session, &plan, plan.cell[c].name, contract, takes[t], everything, "f32",
                            &trouble))
                    fail_msg("%s, handed %s: %s", contract, takes[t], trouble.text);
                const struct cell_result *result = cell_of(&session, plan.cell[c].name);
                assert_int_equal(result->state, t && law_edits_any(&plan.cell[c].parameters.edits)
                                                    ? CELL_SKIPPED
                                                    : CELL_PENDING);
                session_free(&session);
            }
    }
    assert_true(parametered >= 6);
    plan_free(&plan);
}

/* Four equal ids and a fifth, lighter: 8 8 8 8 1 of 33 nearly (logits 0 and -2129/1024: e^-2.079 = 1/7.998). */
static const char plan_text[] =
    "{\"schema\": \"samplegate-plan-1\", \"name\": \"mine\", \"seed\": \"1\", \"batches\": [{\"size\": 1, "
    "\"share\": \"1\"}],\n"
    "\"tables\": [{\"name\": \"t\", \"kind\": \"list\", \"logits\": [0, 0, 0, 0, -2129]}],\n"
    "\"cells\": [{\"family\": \"equivalence\", \"name\": \"a\", \"table\": \"t\", \"draws\": 100, "
    "\"epsilon\": 0.1, "
    "\"certify\": \"none\", \"parameters\": {%s}}]}";

static char path[] = "/tmp/samplegate-parametered-XXXXXX.json";

static int load(struct plan *plan, const char *parameters, struct trouble *trouble)
{
    char name[sizeof path];
    memcpy(name, path, sizeof path);
    FILE *file = fdopen(mkstemps(name, 5), "w");
    if (!file)
        fail_msg("%s cannot be written", name);
    fprintf(file, plan_text, parameters);
    fclose(file);
    *trouble = (struct trouble){0};
    int failed = plan_load(plan, name, GOLDEN, trouble);
    unlink(name);
    return failed;
}

static void law_of_the_claim(void **state)
{
    (void)state;
    static const struct {
        const char *filters;
        double pmf[5];
    } cases[] = {{"vllm-v1", {0, 0, .5, .5, 0}},
                 {"llama.cpp", {.5, .5, 0, 0, 0}},
                 {"flashinfer-joint", {.25, .25, .25, .25, 0}},
                 {"tensorrt-llm-cpp", {2. / 3, 1. / 3, 0, 0, 0}}};
    struct plan plan;
    struct trouble trouble;
    assert_int_equal(load(&plan, "\"top_p\": 0.363637", &trouble),
                     0); /* 12 of 33: one and a half of the four */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session session;
        char contract[64];
        snprintf(contract, sizeof contract, "{\"filters\": \"%s\"}", cases[i].filters);
        assert_int_equal(prepare(&session, &plan, "a", contract, "logits", everything, "f32", &trouble), 0);
        for (size_t id = 0; id < 5; id++)
            if (fabs(session.cell->pmf[id] - cases[i].pmf[id]) > 1e-4)
                fail_msg("%s: id %zu has %g", cases[i].filters, id, session.cell->pmf[id]);
        const struct plan_chunk chunk = {.stage = 1, .draws = 7};
        struct frame request = {0};
        chunk_request(&session, &chunk, NULL, &request);
        const struct frame_array *top_p = frame_find(&request, "top_p");
        assert_true(top_p && top_p->shape[0] == 1 && *(const double *)top_p->data == 0.363637);
        assert_null(frame_find(&request, "top_k"));
        frame_free(&request);
        session_free(&session);
    }
    plan_free(&plan);
}

static void skipped(void **state)
{
    (void)state;
    static const struct {
        const char *parameters, *contract, *takes, *can, *why;
    } cases[] = {
        {"\"top_p\": 0.363637", "{}", "logits", everything, "names no rule of filters"},
        {"\"top_p\": 0.98", "{}", "logits", "top_k", "has no top_p"},
        {"\"banned\": [1]", "{}", "probabilities", everything, "takes no logits to edit"},
        {"\"repetition_penalty\": 2, \"output\": [4], \"presence_penalty\": 1", "{\"filters\": \"vllm-v1\"}",
         "logits", everything, "names no rule of penalties"},
        {"\"min_p\": 0.5", "{}", "logits", everything, ""}, /* all rules agree */
        {"\"banned\": [1]", "{}", "logits", everything, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan;
        struct session session;
        struct trouble trouble;
        assert_int_equal(load(&plan, cases[i].parameters, &trouble), 0);
        int failed =
            prepare(&session, &plan, "a", cases[i].contract, cases[i].takes, cases[i].can, "f32", &trouble);
        if (failed)
            fail_msg("%s: %s", cases[i].parameters, trouble.text);
        assert_int_equal(session.cell->state, *cases[i].why ? CELL_SKIPPED : CELL_PENDING);
        if (!strstr(session.cell->why, cases[i].why))
            fail_msg("%s: %s", cases[i].parameters, session.cell->why);
        session_free(&session);
        plan_free(&plan);
    }
}

/* Two of the four equal ids hold 0.484843, or in bf16, which rounds the fifth logit, 0.484829: too near to p then, by no fault
 * of the plan's. */
static void undecided_by_rounding(void **state)
{
    (void)state;
    struct plan plan;
    struct session session;
    struct trouble trouble;
    static const char *const claim = "{\"filters\": \"llama.cpp\"}";
    assert_int_equal(load(&plan, "\"top_p\": 0.484805", &trouble), 0);
    assert_int_equal(prepare(&session, &plan, "a", claim, "logits", everything, "f32", &trouble), 0);
    assert_int_equal(session.cell->state, CELL_PENDING);
    session_free(&session);
    assert_int_equal(prepare(&session, &plan, "a", claim, "logits", everything, "bf16", &trouble), 0);
    assert_int_equal(session.cell->state, CELL_SKIPPED);
    assert_non_null(strstr(session.cell->why, "rounded to 16 bits"));
    session_free(&session);
    plan_free(&plan);
}

/* p = 16/33 nearly is where the second of the four ends. */
static void undecided(void **state)
{
    (void)state;
    struct plan plan;
    struct session session;
    struct trouble trouble;
    static const char *const claim = "{\"filters\": \"llama.cpp\"}";
    assert_int_equal(load(&plan, "\"top_p\": 0.484848", &trouble), 0);
    assert_int_equal(prepare(&session, &plan, "a", claim, "logits", everything, "f32", &trouble), EXIT_USAGE);
    assert_non_null(strstr(trouble.text, "cell a: by the rule llama.cpp a cut lies"));
    session_free(&session);
    plan_free(&plan);
    assert_int_equal(load(&plan, "\"banned\": [0, 1, 2, 3, 4]", &trouble), 0);
    assert_int_equal(prepare(&session, &plan, "a", claim, "logits", everything, "f32", &trouble), EXIT_USAGE);
    assert_non_null(strstr(trouble.text, "cell a: its parameters leave no id"));
    session_free(&session);
    plan_free(&plan);
}

static void bad_plans(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "parameters: asks for nothing"},
        {"\"prompt\": [1]", "parameters: asks for nothing"},
        {"\"top_k\": 0", "\"top_k\" has a value that no sampler may accept"},
        {"\"output\": [5], \"presence_penalty\": 1", "\"output\" has a value that no sampler may accept"},
        {"\"banned\": [5]", "parameters.banned[0]: must be an integer from 0 to 4, is 5"},
        {"\"topp\": 1", "parameters: unknown key \"topp\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan;
        struct trouble trouble;
        assert_int_equal(load(&plan, cases[i][0], &trouble), -1);
        if (trouble.exit != EXIT_USAGE || !strstr(trouble.text, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], trouble.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped),   cmocka_unit_test(law_of_the_claim),      cmocka_unit_test(skipped),
        cmocka_unit_test(undecided), cmocka_unit_test(undecided_by_rounding), cmocka_unit_test(bad_plans),
    };
    return cmocka_run_group_tests_name("cells under parameters", tests, NULL, NULL);
}
