/* test_boundary.c: the checks of family boundary on answers made by hand from the goldens: none rejects an honest sampler
 * under any rule, and each rejects those of defects of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/checks/boundary/cases.h"
#include "suite/checks/check.h"

#define GOLDEN SAMPLEGATE_SOURCE_DIR "/golden"

static const char everything[] =
    "temperature seeded top_k top_p min_p penalties logit_bias allowed_mask min_tokens kept_out";

struct scene {
    struct sut sut;
    struct plan plan;
    struct plan_cell cell;
    struct script script;
    struct boundary_asks asks; /* what is really answered; a test may spoil it */
    uint64_t random;
};

static void scene_open(struct scene *scene, const char *cell, const char *filters, const char *takes,
                       const char *can)
{
    struct trouble trouble = {0};
    char contract[256];
    *scene = (struct scene){
        .random = 1,
        .plan = {.name = "test", .batch = {{.size = 32, .numerator = 1, .denominator = 1}}, .batches = 1},
        .cell = {.family = FAMILY_BOUNDARY, .temperature = 1}};
    struct frame hello = {0};
    snprintf(
        contract, sizeof contract,
        "{%s%s%s\"penalties\": \"vllm-v1\", \"nan_policy\": \"never drawn\", \"weights\": \"any scale\"}",
        filters ? "\"filters\": \"" : "", filters ? filters : "", filters ? "\", " : "");
    static const char *const said[][2] = {{"message", "hello"}, {"protocol", "1"}, {"name", "n"},
                                          {"version", "1"},     {"device", "cpu"}, {"dtype", "f32"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        frame_set(&hello, said[i][0], said[i][1]);
    frame_set(&hello, "takes", takes);
    frame_set(&hello, "capabilities", can);
    frame_set(&hello, "contract", contract);
    assert_int_equal(sut_read(&scene->sut, &hello, "test", &trouble), 0);
    snprintf(scene->plan.golden_dir, sizeof scene->plan.golden_dir, "%s", GOLDEN);
    snprintf(scene->cell.name, sizeof scene->cell.name, "%s", cell);
    assert_int_equal(boundary_asks_open(&scene->asks, GOLDEN, cell, &scene->sut, 1, &trouble), 0);
    const struct script_input input = {
        .plan = &scene->plan, .cell = &scene->cell, .sut = &scene->sut, .stage = 1};
    char why[512];
    assert_int_equal(boundary_script(&input, &scene->script, why, sizeof why), SCRIPT_READY);
}

static void scene_close(struct scene *scene)
{
    boundary_asks_free(&scene->asks);
    script_free(&scene->script);
    sut_free(&scene->sut);
}

static struct boundary_ask *ask_of(struct scene *scene, const char *id)
{
    for (size_t i = 0; i < scene->asks.count; i++)
        if (strcmp(scene->asks.ask[i].of.id, id) == 0)
            return &scene->asks.ask[i];
    fail_msg("no case %s is asked", id);
    return NULL;
}

static double uniform(struct scene *scene)
{
    scene->random = scene->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(scene->random >> 11) * 0x1p-53;
}

static int32_t draw(struct scene *scene, const struct boundary_answer *answer)
{
    double u = uniform(scene);
    for (size_t i = 0; i < answer->kept; i++)
        if ((u -= answer->mass[i]) < 0)
            return answer->id[i];
    return answer->kept ? answer->id[answer->kept - 1] : -1;
}

/* Answer every line from the scene's asks, spoilt or not: what `refused` says, and the tokens of the rest. */
static void answer(struct scene *scene)
{
    for (size_t i = 0; i < scene->asks.count; i++) {
        const struct boundary_ask *ask = &scene->asks.ask[i];
        struct script_line *line = NULL;
        for (size_t l = 0; l < scene->script.lines; l++)
            if (strcmp(scene->script.line[l].name, ask->line) == 0)
                line = &scene->script.line[l];
        assert_non_null(line);
        if (!line->token) {
            line->token = script_memory(&scene->script, line->draws * sizeof(int32_t));
            line->kept = script_memory(&scene->script, line->rows * line->columns);
            line->state = LINE_ANSWERED;
        }
        line->text = "no";
        line->state = ask->expect.refused ? LINE_REFUSED : line->state;
        for (size_t d = ask->row; d < line->draws; d += ask->rows)
            ((int32_t *)line->token)[d] = draw(scene, &ask->expect);
        for (size_t k = 0; k < ask->expect.kept; k++)
            if ((size_t)ask->expect.id[k] < line->columns)
                ((uint8_t *)line->kept)[ask->row * line->columns + (size_t)ask->expect.id[k]] = 1;
    }
}

/* The least p of a check's statistics; 0 for a violation. */
static double judge(const struct scene *scene, const char *key, char *text, size_t bytes)
{
    const struct check_input input = {
        .plan = &scene->plan, .cell = &scene->cell, .stage = 1, .script = &scene->script, .sut = &scene->sut};
    double least = 1;
    struct evidence evidence = {0};
    for (size_t i = 0; i < check_registry_count; i++)
        if (strcmp(check_registry[i].key, key) == 0)
            check_registry[i].evaluate(&check_registry[i], &input, &evidence);
    assert_true(evidence.count > 0);
    for (size_t s = 0; s < evidence.count; s++) {
        const struct statistic *statistic = &evidence.statistic[s];
        double p = statistic->violation ? 0 : statistic->tail.p;
        if (p < least) {
            least = p;
            snprintf(text, bytes, "%s", statistic->text);
        }
    }
    evidence_free(&evidence);
    return least;
}

static const char *const cells[] = {"nucleus", "top-k", "min-p", "combined", "penalties", "degenerate"};
static const char *const keys[] = {"boundary.kept", "boundary.support", "boundary.mass", "boundary.refused"};

static void honest(void **state)
{
    (void)state;
    static const char *const takes[] = {"logits probabilities", "logits", "probabilities"};
    char text[400] = "";
    for (size_t f = 0; law_filter_at(f); f++)
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
            for (size_t t = 0; t < 3; t++) {
                if (t == 2 && c == 4) /* penalties are for logits */
                    continue;
                struct scene scene;
                scene_open(&scene, cells[c], law_filter_name(law_filter_at(f)), takes[t], everything);
                answer(&scene);
                for (size_t k = 0; k < 4; k++)
                    if (judge(&scene, keys[k], text, sizeof text) < BUDGET_STAGE_ONE)
                        fail_msg("%s, %s: %s: %s", law_filter_name(law_filter_at(f)), cells[c], keys[k],
                                 text);
                scene_close(&scene);
            }
}

static bool is_asked(const struct scene *scene, const char *id)
{
    for (size_t i = 0; i < scene->asks.count; i++)
        if (strcmp(scene->asks.ask[i].of.id, id) == 0)
            return true;
    return false;
}

/* Without a claim, only where all rules agree; nothing that is not announced; exact edges only of weights as they are. */
static void asked(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, "nucleus", NULL, "probabilities", everything);
    assert_false(is_asked(&scene, "half/1-2"));
    assert_true(is_asked(&scene, "rising/tiny"));
    scene_close(&scene);
    scene_open(&scene, "nucleus", "vllm-v1", "logits", everything);
    assert_false(is_asked(&scene, "half/1-2"));
    assert_true(is_asked(&scene, "two-fifths/1-2"));
    scene_close(&scene);
    scene_open(&scene, "combined", "vllm-v1", "logits probabilities", "top_k top_p");
    assert_true(is_asked(&scene, "joint-or-not"));
    assert_false(is_asked(&scene, "min-p-order"));
    assert_false(is_asked(&scene, "temperature-2"));
    scene_close(&scene);
    const struct plan plan = {.golden_dir = "/nonexistent"};
    const struct plan_cell cell = {.name = "nucleus"};
    const struct script_input input = {.plan = &plan, .cell = &cell, .sut = &scene.sut, .stage = 1};
    char why[512];
    assert_int_equal(boundary_script(&input, &scene.script, why, sizeof why), SCRIPT_TROUBLE);
    assert_non_null(strstr(why, "/nonexistent/boundary/nucleus.json"));
}

struct defect {
    const char *check, *cell, *id;
    void (*spoil)(struct boundary_ask *ask);
    const char *says;
};

static void drop_last(struct boundary_ask *ask)
{
    ask->expect.kept--;
}

static void keep_next(struct boundary_ask *ask)
{
    ask->expect.id[ask->expect.kept] = ask->expect.id[ask->expect.kept - 1] + 1;
    ask->expect.mass[0] -= 0.05;
    ask->expect.mass[ask->expect.kept++] = 0.05;
}

/* A stable sort the other way. */
static void mirror_ties(struct boundary_ask *ask)
{
    for (size_t i = 0; i < ask->expect.kept; i++)
        ask->expect.id[i] = (int32_t)ask->of.vocab - 1 - ask->expect.id[i];
}

/* The id's place among the heaviest first. */
static void ranks(struct boundary_ask *ask)
{
    for (size_t i = 0; i < ask->expect.kept; i++)
        ask->expect.id[i] = (int32_t)i;
}

static void keep_all(struct boundary_ask *ask)
{
    ask->expect.kept = ask->of.vocab;
    for (size_t i = 0; i < ask->of.vocab; i++) {
        ask->expect.id[i] = (int32_t)i;
        ask->expect.mass[i] = 1.0 / (double)ask->of.vocab;
    }
}

static void nothing(struct boundary_ask *ask)
{
    ask->expect.kept = 0;
}

static void beyond(struct boundary_ask *ask)
{
    ask->expect.id[0] = (int32_t)ask->of.vocab;
}

static void token_0(struct boundary_ask *ask)
{
    ask->expect.refused = NULL;
    ask->expect.kept = 1;
    ask->expect.id[0] = 0;
    ask->expect.mass[0] = 1;
}

static void lose_last(struct boundary_ask *ask)
{
    ask->expect.mass[ask->expect.kept - 2] += ask->expect.mass[ask->expect.kept - 1];
    ask->expect.mass[ask->expect.kept - 1] = 0;
}

static void flat(struct boundary_ask *ask)
{
    for (size_t i = 0; i < ask->expect.kept; i++)
        ask->expect.mass[i] = 1.0 / (double)ask->expect.kept;
}

/* What was dropped goes to the last that stays. */
static void not_renormalised(struct boundary_ask *ask)
{
    double total = 0;
    for (size_t i = 0; i + 1 < ask->expect.kept; i++)
        total += ask->expect.mass[i] *= 0.75;
    ask->expect.mass[ask->expect.kept - 1] = 1 - total;
}

static void swap(struct boundary_ask *ask)
{
    double mass = ask->expect.mass[0];
    ask->expect.mass[0] = ask->expect.mass[1];
    ask->expect.mass[1] = mass;
}

static void refuse(struct boundary_ask *ask)
{
    ask->expect.refused = "no";
}

static const struct defect defects[] = {
    {"boundary.kept", "nucleus", "crossing/9-10", drop_last,
     "case crossing/9-10: it keeps 0 1; the golden keeps 0 1 2"},
    {"boundary.kept", "nucleus", "halves/3-4", keep_next, "it keeps 0 1 2; the golden keeps 0 1"},
    {"boundary.kept", "nucleus", "four-ties/1-2", mirror_ties, "it keeps 0 1; the golden keeps 2 3"},
    {"boundary.kept", "top-k", "steps/off", drop_last, "case steps/off"},
    {"boundary.kept", "combined", "joint-or-not", keep_next, "case joint-or-not: it keeps 0 1 2 3;"},
    {"boundary.kept", "penalties", "banned", keep_all,
     "case banned: it keeps 0 1 2 3 4; the golden keeps 1 2 4"},
    {"boundary.support", "nucleus", "halves/5-8", keep_next,
     "case halves/5-8: id 2 was drawn, which the filters drop"},
    {"boundary.support", "nucleus", "rising/tiny", ranks, "case rising/tiny: id 0 was drawn"},
    {"boundary.support", "top-k", "tie-at-the-end/2", keep_all, "id 3 was drawn"},
    {"boundary.support", "penalties", "min-tokens-short", keep_all, "case min-tokens-short: id "},
    {"boundary.support", "min-p", "steps/1-4", nothing, "case steps/1-4: token -1 of a row with ids 0 to 4"},
    {"boundary.support", "min-p", "alone/1", beyond, "case alone/1: token 1 of a row with ids 0 to 0"},
    {"boundary.support", "degenerate", "all-zero", token_0,
     "case all-zero: token 0 of a row that leaves none"},
    {"boundary.mass", "nucleus", "long-tail/95-100", lose_last, "case long-tail/95-100: id "},
    {"boundary.mass", "nucleus", "halves/5-8", flat, "case halves/5-8: id "},
    {"boundary.mass", "top-k", "nearly-flat/12", not_renormalised, "case nearly-flat/12: id "},
    {"boundary.mass", "penalties", "sign", flat, "case sign: id "},
    {"boundary.mass", "penalties", "temperature-first-or-last", swap, "case temperature-first-or-last: id "},
    {"boundary.mass", "combined", "temperature-2", flat, "case temperature-2: id "},
    {"boundary.refused", "degenerate", "top-p/nan", token_0,
     "case top-p/nan: top_p must be refused; token 0 was drawn"},
    {"boundary.refused", "degenerate", "top-k/0", token_0, "case top-k/0: top_k must be refused"},
    {"boundary.refused", "degenerate", "temperature/nan", token_0, "temperature must be refused"},
    {"boundary.refused", "penalties", "output-outside", token_0,
     "case output-outside: output must be refused"},
    {"boundary.refused", "top-k", "steps/2^31", refuse, "refused, it or another of weights-of-6: no"},
    {"boundary.refused", "nucleus", "alone/tiny", refuse, "refused, it or another of weights-of-1: no"},
};

static void planted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        const struct defect *defect = &defects[i];
        struct scene scene;
        char text[400] = "";
        scene_open(&scene, defect->cell, "vllm-v1", "logits probabilities", everything);
        defect->spoil(ask_of(&scene, defect->id));
        answer(&scene);
        double p = judge(&scene, defect->check, text, sizeof text);
        if (p > BUDGET_STAGE_ONE || !strstr(text, defect->says))
            fail_msg("%s on %s of %s: p %g, %s", defect->check, defect->id, defect->cell, p, text);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(honest), cmocka_unit_test(asked),
                                       cmocka_unit_test(planted)};
    return cmocka_run_group_tests_name("boundary checks", tests, NULL, NULL);
}
