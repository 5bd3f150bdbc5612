/* test_determinism.c: samplers whose tokens hang on more, or less, than their row, seed and position, and which check
 * sees each; the lines' layout; who is asked what. */
#include "suite/checks/determinism/test_sampler.h"

#define CLAIMS "\"rng_keying\": \"seed, position, column\", \"bitwise\": \"any device\""

static double pmf[VOCAB];
static float values[VOCAB];
static struct table table = {.name = "uniform-20", .vocab = VOCAB, .logits = values};
static struct plan_cell cell = {
    .family = FAMILY_DETERMINISM, .name = "made", .table = &table, .temperature = 1, .draws = 512};
static struct plan plan = {
    .name = "made", .cell = &cell, .cells = 1, .golden_dir = SAMPLEGATE_SOURCE_DIR "/golden"};

static struct sut sut_of(const char *capabilities, const char *contract)
{
    struct sut sut = {.dtype = VALUE_F32, .kind = VALUE_LOGITS, .temperature = true};
    frame_set(&sut.hello, "capabilities", capabilities);
    frame_set(&sut.hello, "contract", contract);
    return sut;
}

static enum script_start build(struct script *script, const struct sut *sut, int stage)
{
    char why[128];
    for (size_t i = 0; i < VOCAB; i++)
        pmf[i] = 1.0 / VOCAB;
    const struct script_input input = {.plan = &plan,
                                       .cell = &cell,
                                       .sut = sut,
                                       .stage = stage,
                                       .kind = VALUE_LOGITS,
                                       .values = values,
                                       .pmf = pmf};
    return determinism_script(&input, script, why, sizeof why);
}

static const struct check checks[] = {
    {.key = "determinism.batch", .evaluate = check_determinism_batch},
    {.key = "determinism.process", .evaluate = check_determinism_process},
    {.key = "determinism.neighbour", .evaluate = check_determinism_neighbour},
    {.key = "determinism.seed", .evaluate = check_determinism_seed},
    {.key = "determinism.tokens", .evaluate = check_determinism_tokens},
};

static void evaluate_script(struct script *script, const struct sut *sut, struct evidence *evidence)
{
    const struct check_input input = {
        .plan = &plan, .cell = &cell, .pmf = pmf, .vocab = VOCAB, .stage = 1, .script = script, .sut = sut};
    for (size_t c = 0; c < sizeof checks / sizeof *checks; c++)
        checks[c].evaluate(&checks[c], &input, evidence);
}

static void evaluate(enum defect defect, const char *capabilities, const char *contract,
                     struct evidence *evidence)
{
    struct sut sut = sut_of(capabilities, contract);
    struct script script = {0};
    assert_int_equal(build(&script, &sut, 1), SCRIPT_READY);
    for (size_t i = 0; i < script.lines; i++)
        answer(&script, &script.line[i], defect);
    evaluate_script(&script, &sut, evidence);
    script_free(&script);
    sut_free(&sut);
}

/* "check/statistic" of all that reject, in order. */
static const char *rejected(const struct evidence *evidence)
{
    static char text[512];
    text[0] = '\0';
    for (size_t s = 0; s < evidence->count; s++) {
        const struct statistic *statistic = &evidence->statistic[s];
        const size_t used = strlen(text);
        if (statistic->violation || statistic->tail.p < 1e-9)
            snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "",
                     strchr(statistic->check->key, '.') + 1, statistic->name);
    }
    return text;
}

static void sound_draws_pass(void **state)
{
    (void)state;
    for (plan.seed = 0; plan.seed < 30; plan.seed++) {
        struct evidence evidence = {0};
        evaluate(NONE, "seeded top_k", "{" CLAIMS "}", &evidence);
        assert_int_equal(evidence.count, 3 + 10);
        assert_string_equal(rejected(&evidence), "");
        for (size_t s = 0; s < evidence.count; s++)
            assert_true(evidence.statistic[s].tail.p > 1e-5 &&
                        evidence.statistic[s].tail.p_beyond <= evidence.statistic[s].tail.p);
        evidence_free(&evidence);
    }
}

/* Each must be seen by these and by no others, except that whoever repeats a draw makes many pairs one, so that
 * the counts of equal pairs fall outside both tails (`pairs_too`). */
static const struct {
    enum defect defect;
    const char *seen_by;
    bool pairs_too;
} cases[] = {
    {SEED_OF_FIRST_ROW, "batch tokens, neighbour tokens", true},
    {SEED_CAPTURED, "batch tokens, neighbour tokens", false},
    {SEED_IGNORED, "batch tokens, process tokens, neighbour tokens, seed special/tokens", false},
    {SEED_CONSTANT, "seed plus-one/upper, seed plus-2^32/upper", true},
    {SEED_CUT, "seed plus-2^32/upper, seed special/upper", false},
    {SEED_UNSIGNED, "seed special/upper", false},
    {SEED_SENTINEL, "seed special/tokens", false},
    {SEED_OF_NEXT_SLOT, "batch tokens, neighbour tokens", false},
    {PLACE_MIXED_IN, "batch tokens, neighbour tokens", false},
    {FIRST_ROW_ELSEWHERE, "batch tokens, neighbour tokens", false},
    {PROCESS_MIXED_IN, "process tokens, seed special/tokens", false},
    {POSITION_IGNORED, "seed position-2^16/upper, seed positions/upper", true},
    {POSITION_OF_16_BITS, "seed position-2^16/upper", false},
    {POSITION_OF_THE_CALL, "batch tokens, neighbour tokens", false},
    {BATCH_SIZE_MATTERS, "batch tokens, neighbour tokens", false},
    {FILTERED_CALL, "neighbour tokens", false},
    {TEMPERATURE_OF_LAST, "neighbour tokens", false},
    {ROW_OF_FIRST, "neighbour tokens", false},
};

static void defects_are_seen(void **state)
{
    (void)state;
    plan.seed = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct evidence evidence = {0};
        evaluate(cases[i].defect, "seeded top_k", "{" CLAIMS "}", &evidence);
        const size_t length = strlen(cases[i].seen_by);
        const char *seen = rejected(&evidence), *rest = seen + length;
        if (strncmp(seen, cases[i].seen_by, length) ||
            (cases[i].pairs_too ? strncmp(rest, ", seed ", 7) : *rest))
            fail_msg("defect %d is seen by '%s', not by '%s'", (int)cases[i].defect, seen, cases[i].seen_by);
        evidence_free(&evidence);
    }
}

/* A violation names line, draw, seed, position and both tokens. */
static void violations_are_told(void **state)
{
    (void)state;
    struct sut sut = sut_of("seeded", "{" CLAIMS "}");
    struct script script = {0};
    struct evidence evidence = {0};
    build(&script, &sut, 1);
    for (size_t i = 0; i < script.lines; i++)
        answer(&script, &script.line[i], NONE);
    const struct script_line *base = script_find(&script, "base"), *line = script_find(&script, "reversed");
    int32_t *token = script_memory(&script, line->draws * sizeof *token);
    memcpy(token, line->token, line->draws * sizeof *token);
    token[511 - 77] = 19 - base->token[77];
    ((struct script_line *)line)->token = token;
    evaluate_script(&script, &sut, &evidence);
    assert_string_equal(rejected(&evidence), "batch tokens");
    char expected[160];
    snprintf(expected, sizeof expected,
             "reversed: 1 of 512 tokens differ; draw 77 (seed %lld, position %lld) is %d, in base %d",
             (long long)((const int64_t *)array_of(base, "seeds"))[77],
             (long long)((const int64_t *)array_of(base, "positions"))[77], 19 - base->token[77],
             base->token[77]);
    assert_string_equal(evidence.statistic[0].text, expected);
    evidence_free(&evidence);
    script_free(&script);
    sut_free(&sut);
}

/* Which lines a contract lets be asked. */
static void claims_decide_what_is_asked(void **state)
{
    (void)state;
    static const struct {
        const char *capabilities, *contract;
        bool again, batch, neighbours, filtered;
    } asked[] = {
        {"seeded top_k", "{" CLAIMS "}", true, true, true, true},
        {"seeded", "{" CLAIMS "}", true, true, true, false},
        {"seeded top_k", "{}", true, false, false, false},
        {"seeded top_k", "{\"bitwise\": \"none\"}", false, false, false, false},
        {"seeded top_k", "{\"rng_keying\": \"seed, position, column\"}", true, false, false, false},
        {"seeded top_k", "{\"rng_keying\": \"seed, position, rank\", \"bitwise\": \"same device\"}", true,
         true, true, false},
        {"seeded top_k", "{\"rng_keying\": \"seed, position, column, batch\", \"bitwise\": \"same device\"}",
         true, false, false, false},
        {"seeded top_k", "{\"rng_keying\": \"seed, column\", \"bitwise\": \"same device\"}", true, false,
         false, false},
        {"seeded top_k", "{\"rng_keying\": \"seeds,position,column\", \"bitwise\": \"same device\"}", true,
         false, false, false},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct sut sut = sut_of(asked[i].capabilities, asked[i].contract);
        struct script script = {0};
        assert_int_equal(build(&script, &sut, 1), SCRIPT_READY);
        assert_int_equal(script_find(&script, "again") != NULL, asked[i].again);
        assert_int_equal(script_find(&script, "batch-64") != NULL, asked[i].batch);
        assert_int_equal(script_find(&script, "neighbours") != NULL, asked[i].neighbours);
        assert_int_equal(script_find(&script, "filtered") != NULL, asked[i].filtered);
        script_free(&script);
        sut_free(&sut);
    }
    struct sut sut = sut_of("top_k", "{" CLAIMS "}");
    struct script script = {0};
    assert_int_equal(build(&script, &sut, 1), SCRIPT_SKIP);
    sut_free(&sut);
}

/* Who claims to be greedy is asked for no difference between seeds. */
static void greedy_seeds_decide_nothing(void **state)
{
    (void)state;
    struct evidence evidence = {0};
    evaluate(SEED_CONSTANT, "seeded", "{" CLAIMS ", \"rule\": \"greedy\"}", &evidence);
    for (size_t s = 0; s < evidence.count; s++)
        assert_null(strstr(evidence.statistic[s].name, "upper"));
    evidence_free(&evidence);
}

/* Our own kernels under the golden's draws: its tokens came from elsewhere. */
static void golden_tokens(void **state)
{
    (void)state;
    struct sut sut = sut_of("seeded", "{" CLAIMS ", \"rule\": \"race\"}");
    struct script script = {0};
    struct evidence evidence = {0};
    build(&script, &sut, 1);
    for (size_t i = 0; i < script.lines; i++)
        answer(&script, &script.line[i], NONE);
    struct script_line *line = (struct script_line *)script_find(&script, "golden-0");
    assert_non_null(line);
    assert_null(script_find(&script, "golden-1")); /* the other row of this table is filtered */
    struct sampler_row *row = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, values, VOCAB, 1);
    int32_t *token = script_memory(&script, line->draws * sizeof *token);
    sampler_draw_seeded(row, array_of(line, "seeds"), array_of(line, "positions"), line->draws, token);
    sampler_row_free(row);
    line->token = token;
    evaluate_script(&script, &sut, &evidence);
    assert_string_equal(rejected(&evidence), "");
    evidence_free(&evidence);
    token[17]++;
    evaluate_script(&script, &sut, &evidence);
    assert_string_equal(rejected(&evidence), "tokens tokens");
    assert_non_null(strstr(evidence.statistic[evidence.count - 1].text,
                           "1 of 384 tokens differ; golden-0, seed 0, position 2147483641: "));
    evidence_free(&evidence);
    script_free(&script);
    sut_free(&sut);
}

/* In every order each draw has its own place; filtered rows move on from call to call. */
static void places_are_their_own(void **state)
{
    (void)state;
    static bool taken[1024];
    for (uint64_t draws = 64; draws <= 448; draws += 64)
        for (int order = ORDER_SAME; order <= ORDER_FILTERED; order++) {
            const uint64_t places = determinism_line_draws((enum determinism_order)order, draws);
            memset(taken, 0, sizeof taken);
            for (uint64_t d = 0; d < draws; d++) {
                const uint64_t place = determinism_place((enum determinism_order)order, d, draws);
                assert_true(place < places && !taken[place]);
                taken[place] = true;
            }
            for (uint64_t call = 0; order == ORDER_FILTERED && call * 32 < places; call++) {
                size_t others = 0, where = 0;
                for (uint64_t p = call * 32; p < call * 32 + 32 && p < places; p++)
                    if (!taken[p]) {
                        others++;
                        where = p % 32;
                    }
                assert_int_equal(others, 1);
                if (call * 32 + 32 <= places)
                    assert_int_equal(where, call % 32);
            }
        }
}

/* The second stage asks for twice as many draws, under other seeds; no two messages share an unseeded seed. */
static void stages_are_fresh(void **state)
{
    (void)state;
    struct sut sut = sut_of("seeded", "{" CLAIMS "}");
    struct script script[2] = {{0}, {0}};
    for (int stage = 0; stage < 2; stage++)
        build(&script[stage], &sut, stage + 1);
    assert_int_equal(script_draws(&script[1]), 2 * script_draws(&script[0]));
    const int64_t *first = array_of(script_find(&script[0], "base"), "seeds"),
                  *second = array_of(script_find(&script[1], "base"), "seeds");
    for (size_t lane = 0; lane < DETERMINISM_LANES; lane++)
        assert_true(first[lane] != second[lane]);
    for (size_t i = 0; i < script[0].lines; i++)
        for (size_t j = 0; j < script[1].lines; j++) {
            const char *own = frame_get(&script[0].line[i].request, "seed");
            assert_string_not_equal(own, frame_get(&script[1].line[j].request, "seed"));
            if (i != j)
                assert_string_not_equal(own, frame_get(&script[0].line[j].request, "seed"));
        }
    for (int stage = 0; stage < 2; stage++)
        script_free(&script[stage]);
    sut_free(&sut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_draws_pass),
        cmocka_unit_test(defects_are_seen),
        cmocka_unit_test(violations_are_told),
        cmocka_unit_test(claims_decide_what_is_asked),
        cmocka_unit_test(greedy_seeds_decide_nothing),
        cmocka_unit_test(golden_tokens),
        cmocka_unit_test(places_are_their_own),
        cmocka_unit_test(stages_are_fresh),
    };
    return cmocka_run_group_tests_name("determinism", tests, NULL, NULL);
}
