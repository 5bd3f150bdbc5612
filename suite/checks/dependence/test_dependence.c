/* test_dependence.c: samplers that draw each token from the right law and yet let draws know of each other, and which
 * statistic sees each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "suite/checks/dependence/lines.h"
#include "suite/judge/worker.h"

#define VOCAB 20
#define DRAWS 8192

enum defect {
    NONE,
    ROWS_PAIRED,
    LAST_ROW_FIRST,
    CALLS_REPEAT,
    NO_REPEATS,
    SEEDED_ALIKE,
    STREAM_SHARED,
    FROZEN,
    WINDOW,
    PERIOD,
    LATTICE,
    SEED_OF_THE_BATCH,
    SEED_OF_ODD_ROWS,
    SEED_IGNORED,
    SEED_CHILD,
    SEED_PLUS_POSITION,
    NO_ID
};

/* SplitMix64's finaliser (Steele, Lea and Flood 2014). */
static uint64_t mixed(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int32_t token_of(uint64_t seed, uint64_t position)
{
    return (int32_t)(mixed(mixed(seed) ^ position) % VOCAB);
}

static int32_t unseeded(enum defect defect, uint64_t seed, uint64_t draw, uint64_t rows,
                        const int32_t *before)
{
    const uint64_t row = draw % rows;
    if (defect == ROWS_PAIRED)
        draw -= row % 2;
    if (defect == LAST_ROW_FIRST && row == rows - 1)
        draw -= row;
    if (defect == CALLS_REPEAT)
        draw %= 3 * rows;
    if (defect == SEEDED_ALIKE)
        seed = 0;
    if (defect == STREAM_SHARED) { /* another place of the same stream */
        draw += seed % 500;
        seed = 0;
    }
    int32_t token = token_of(seed, draw);
    if (defect == NO_REPEATS && draw && token == *before)
        token = (token + 1 + token_of(~seed, draw) % (VOCAB - 1)) % VOCAB;
    return defect == NO_ID && draw == 77 ? VOCAB : token;
}

static int32_t seeded(enum defect defect, uint64_t seed, uint64_t position)
{
    if (defect == FROZEN)
        position = 0;
    if (defect == WINDOW)
        position &= ~UINT64_C(3);
    if (defect == PERIOD)
        position %= 300;
    if (defect == SEED_IGNORED)
        seed = 0;
    if (defect == SEED_CHILD)
        seed &= ~UINT64_C(1);
    if (defect == SEED_PLUS_POSITION)
        return token_of(0, seed + position);
    if (defect == LATTICE)
        return (int32_t)((mixed(seed) + 7 * position) % VOCAB);
    return token_of(seed, position);
}

static const int64_t *array_of(const struct script_line *line, const char *name)
{
    const struct frame_array *array = frame_find(&line->request, name);
    return array ? array->data : NULL;
}

/* The draw whose seed is taken. */
static uint64_t seed_taken(enum defect defect, uint64_t draw, uint64_t rows)
{
    const bool first = defect == SEED_OF_THE_BATCH || (defect == SEED_OF_ODD_ROWS && draw % 2);
    return first ? draw - draw % rows : draw;
}

static void answer(struct script *script, struct script_line *line, enum defect defect)
{
    int32_t *token = script_memory(script, line->draws * sizeof *token);
    const int64_t *seed = array_of(line, "seeds"), *position = array_of(line, "positions");
    uint64_t own;
    assert_true(frame_get_u64(&line->request, "seed", &own));
    for (uint64_t d = 0; d < line->draws; d++)
        if (seed)
            token[d] =
                seeded(defect, (uint64_t)seed[seed_taken(defect, d, line->batch)], (uint64_t)position[d]);
        else
            token[d] = unseeded(defect, own, d, line->batch, d ? &token[d - 1] : NULL);
    line->token = token;
    line->state = LINE_ANSWERED;
}

static double pmf[VOCAB];
static float values[VOCAB];
static struct table table = {.name = "flat", .vocab = VOCAB};
static struct plan_cell cell = {
    .family = FAMILY_DEPENDENCE, .name = "made", .table = &table, .temperature = 1, .draws = DRAWS};
static struct plan plan = {.name = "made", .cell = &cell, .cells = 1};

static struct sut sut_of(const char *capabilities)
{
    struct sut sut = {.dtype = VALUE_F32};
    frame_set(&sut.hello, "capabilities", capabilities);
    return sut;
}

static void build(struct script *script, const struct sut *sut, int stage)
{
    char why[64];
    for (size_t i = 0; i < VOCAB; i++)
        pmf[i] = 1.0 / VOCAB;
    const struct script_input input = {
        .plan = &plan, .cell = &cell, .sut = sut, .stage = stage, .values = values, .pmf = pmf};
    assert_int_equal(dependence_script(&input, script, why, sizeof why), SCRIPT_READY);
}

static const struct check checks[] = {{.key = "dependence.row", .evaluate = check_row},
                                      {.key = "dependence.position", .evaluate = check_position},
                                      {.key = "dependence.seed", .evaluate = check_seed}};

static void evaluate(enum defect defect, const char *capabilities, struct evidence *evidence)
{
    struct sut sut = sut_of(capabilities);
    struct script script = {0};
    build(&script, &sut, 1);
    for (size_t i = 0; i < script.lines; i++)
        answer(&script, &script.line[i], defect);
    const struct check_input input = {
        .plan = &plan, .cell = &cell, .pmf = pmf, .vocab = VOCAB, .stage = 1, .script = &script, .sut = &sut};
    for (size_t c = 0; c < sizeof checks / sizeof *checks; c++)
        checks[c].evaluate(&checks[c], &input, evidence);
    script_free(&script);
    sut_free(&sut);
}

static void independent_draws_pass(void **state)
{
    (void)state;
    for (plan.seed = 0; plan.seed < 30; plan.seed++) {
        struct evidence evidence = {0};
        evaluate(NONE, "temperature seeded", &evidence);
        assert_int_equal(evidence.count, 23);
        for (size_t s = 0; s < evidence.count; s++) {
            assert_false(evidence.statistic[s].violation);
            assert_true(evidence.statistic[s].tail.p > 1e-5);
            assert_true(evidence.statistic[s].tail.p_beyond <= evidence.statistic[s].tail.p);
        }
        evidence_free(&evidence);
    }
}

/* Each defect is seen by the statistics of these beginnings, "check statistic", and by no other. */
static const struct {
    enum defect defect;
    const char *seen_by[6];
} cases[] = {
    {ROWS_PAIRED, {"row draws-", "row rows-"}},
    {LAST_ROW_FIRST, {"row draws-", "row rows-"}},
    {CALLS_REPEAT, {"row draws-", "row requests", "row rows-"}},
    {NO_REPEATS, {"row draws-", "row rows-8/lower"}},
    {SEEDED_ALIKE, {"row requests/upper"}},
    {STREAM_SHARED, {"row requests/upper"}},
    {FROZEN, {"position lags/upper", "seed "}},
    {WINDOW, {"position lags/upper", "seed "}},
    {PERIOD, {"position lags/upper"}},
    {LATTICE, {"position lags/", "seed "}},
    {SEED_OF_THE_BATCH, {"seed "}},
    {SEED_OF_ODD_ROWS, {"seed "}},
    {SEED_IGNORED, {"seed "}},
    {SEED_CHILD, {"seed "}},
    {SEED_PLUS_POSITION,
     {"seed neighbours/upper", "seed seed-position/upper", "position lags/upper", "seed offsets/upper"}},
    {NO_ID, {"row calls-32/range", "row calls-8/range"}},
};

static bool allowed(const char *const *seen_by, const char *said)
{
    for (size_t i = 0; i < 6 && seen_by[i]; i++)
        if (!strncmp(said, seen_by[i], strlen(seen_by[i])))
            return true;
    return false;
}

static void dependent_draws_are_seen(void **state)
{
    (void)state;
    plan.seed = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct evidence evidence = {0};
        bool seen = false;
        evaluate(cases[i].defect, "seeded", &evidence);
        for (size_t s = 0; s < evidence.count; s++) {
            const struct statistic *statistic = &evidence.statistic[s];
            char said[80];
            snprintf(said, sizeof said, "%s %s", strchr(statistic->check->key, '.') + 1, statistic->name);
            const bool rejects = statistic->violation || statistic->tail.p < 1e-9;
            if (rejects && !allowed(cases[i].seen_by, said))
                fail_msg("defect %d is seen by %s too: %s", (int)cases[i].defect, said, statistic->text);
            seen |= rejects && !strncmp(said, cases[i].seen_by[0], strlen(cases[i].seen_by[0]));
        }
        if (!seen)
            fail_msg("defect %d is not seen by %s", (int)cases[i].defect, cases[i].seen_by[0]);
        evidence_free(&evidence);
    }
}

static void without_seeds(void **state)
{
    (void)state;
    struct evidence evidence = {0};
    evaluate(NONE, "temperature", &evidence);
    assert_int_equal(evidence.count, 12);
    for (size_t s = 0; s < evidence.count; s++)
        assert_string_equal(evidence.statistic[s].check->key, "dependence.row");
    evidence_free(&evidence);
}

/* The lines ask for whole calls, the second stage for other draws and twice as many, and no seed and position twice. */
static void lines_ask_for_fresh_draws(void **state)
{
    (void)state;
    struct sut sut = sut_of("seeded");
    struct script script[2] = {{0}, {0}};
    cell.draws = 640;
    for (int stage = 0; stage < 2; stage++)
        build(&script[stage], &sut, stage + 1);
    assert_int_equal(script_draws(&script[0]), 640);
    assert_int_equal(script_draws(&script[1]), 1280);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(script[0].line[i].draws % DEPENDENCE_ROWS, 0);
        assert_string_not_equal(frame_get(&script[0].line[i].request, "seed"),
                                frame_get(&script[1].line[i].request, "seed"));
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(script[0].line[i].fresh, i < 2);
    for (cell.draws = 1; cell.draws < 5; cell.draws++) { /* no line is empty, however few are asked for */
        struct script few = {0};
        build(&few, &sut, 1);
        assert_int_equal(script_draws(&few), 4 * DEPENDENCE_ROWS);
        script_free(&few);
    }
    for (int stage = 0; stage < 2; stage++) {
        const struct script_line *positions = script_find(&script[stage], "positions"),
                                 *seeds = script_find(&script[stage], "seeds");
        for (uint64_t a = 0; a < positions->draws; a++)
            for (uint64_t b = 0; b < seeds->draws; b++)
                assert_false(array_of(positions, "seeds")[a] == array_of(seeds, "seeds")[b] &&
                             array_of(positions, "positions")[a] == array_of(seeds, "positions")[b]);
    }
    assert_true(array_of(script_find(&script[0], "seeds"), "seeds")[0] !=
                array_of(script_find(&script[1], "seeds"), "seeds")[0]);
    for (int stage = 0; stage < 2; stage++)
        script_free(&script[stage]);
    sut_free(&sut);
    cell.draws = DRAWS;
}

/* Processes are started for the first cell of the family only. */
static void fresh_once(void **state)
{
    (void)state;
    struct sut sut = sut_of("");
    struct plan_cell three[3] = {cell, cell, cell};
    struct plan longer = {.name = "longer", .cell = three, .cells = 3};
    three[0].family = FAMILY_REPLAY;
    for (size_t i = 1; i < 3; i++) {
        struct script script = {0};
        char why[64];
        const struct script_input input = {
            .plan = &longer, .cell = &three[i], .sut = &sut, .stage = 2, .values = values, .pmf = pmf};
        assert_int_equal(dependence_script(&input, &script, why, sizeof why), SCRIPT_READY);
        assert_true(script.line[0].fresh == (i == 1) && script.line[1].fresh == (i == 1));
        script_free(&script);
    }
    sut_free(&sut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_draws_pass),
        cmocka_unit_test(dependent_draws_are_seen),
        cmocka_unit_test(without_seeds),
        cmocka_unit_test(lines_ask_for_fresh_draws),
        cmocka_unit_test(fresh_once),
    };
    return cmocka_run_group_tests_name("dependence", tests, NULL, NULL);
}
