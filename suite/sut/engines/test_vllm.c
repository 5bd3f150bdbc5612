/* test_vllm.c: the article's table of parameters gives the article's answers, and what a step does with several
 * sequences is what a hand calculation says.
 *
 * The broad comparison with the independent model is `golden verify`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/sampler.h"
#include "suite/sut/engines/vllm.h"

#define FLOAT(x)                                                                                             \
    {                                                                                                        \
        .kind = ENGINE_FLOAT, .number = (x)                                                                  \
    }
#define INTEGER(x)                                                                                           \
    {                                                                                                        \
        .kind = ENGINE_INTEGER, .integer = (x), .number = (x)                                                \
    }
#define VALUES(...) ((struct engine_values){.at = {__VA_ARGS__}})
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct engine_server server = {.vocab = 32000};

static struct engine_flags flags_of(enum engine_reading reading, const struct engine_values *request)
{
    struct engine_flags flags;
    struct engine_refusal refusal;
    if (engine_prepare(&vllm_0_5_0, reading, &server, ENGINE_COMPLETIONS, request, &flags, &refusal))
        fail_msg("%s", refusal.text);
    return flags;
}

/* Seven rows: which switch a value off its default opens, alone and beside a default request. */
static void article_table(void **state)
{
    (void)state;
    const struct {
        struct engine_values request;
        bool cuts, masks, penalises;
    } rows[] = {
        {VALUES([ENGINE_TEMPERATURE] = FLOAT(0.5)), false, false, false},
        {VALUES([ENGINE_TOP_P] = FLOAT(0.9)), true, false, false},
        {VALUES([ENGINE_TOP_K] = INTEGER(50)), true, false, false},
        {VALUES([ENGINE_MIN_P] = FLOAT(0.1)), false, true, false},
        {VALUES([ENGINE_PRESENCE_PENALTY] = FLOAT(0.5)), false, false, true},
        {VALUES([ENGINE_FREQUENCY_PENALTY] = FLOAT(0.5)), false, false, true},
        {VALUES([ENGINE_REPETITION_PENALTY] = FLOAT(1.1)), false, false, true},
        {VALUES([ENGINE_TEMPERATURE] = FLOAT(1), [ENGINE_TOP_P] = FLOAT(1), [ENGINE_TOP_K] = INTEGER(-1)),
         false, false, false},
    };
    for (int reading = 0; reading < ENGINE_READINGS; reading++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            const struct engine_flags alone = flags_of((enum engine_reading)reading, &rows[i].request);
            const struct engine_flags plain = flags_of((enum engine_reading)reading, &VALUES(FLOAT(1)));
            const struct engine_flags step = vllm_0_5_0.together(plain, alone);
            assert_int_equal(step.need_top_p_top_k, rows[i].cuts);
            assert_int_equal(step.need_min_p, rows[i].masks);
            assert_int_equal(step.need_penalties, rows[i].penalises);
            struct engine_path path;
            struct engine_refusal refusal;
            assert_int_equal(
                vllm_0_5_0.path((enum engine_reading)reading, &server, &step, 2, &path, &refusal), 0);
            assert_int_equal(path.kind, ENGINE_TORCH);
            assert_true(path.stages[ENGINE_STAGE_SOFTMAX] && path.stages[ENGINE_STAGE_TEMPERATURE]);
            assert_int_equal(path.stages[ENGINE_STAGE_TOP_P_TOP_K], rows[i].cuts);
        }
}

/* Where the article's code, its sentences and the engine part. */
static void readings_differ(void **state)
{
    (void)state;
    const struct engine_values wide = VALUES([ENGINE_TOP_K] = INTEGER(32001)),
                               whole = VALUES([ENGINE_TOP_K] = INTEGER(32000)),
                               near = VALUES([ENGINE_TOP_P] = FLOAT(0.999995)),
                               greedy = VALUES([ENGINE_TEMPERATURE] = FLOAT(0), [ENGINE_TOP_P] = FLOAT(0.5));
    const struct {
        const struct engine_values *request;
        bool cuts[ENGINE_READINGS];
    } differ[] = {{&wide, {true, true, false}},
                  {&whole, {false, true, false}},
                  {&near, {false, true, false}},
                  {&greedy, {true, true, false}}};
    for (size_t i = 0; i < COUNT(differ); i++)
        for (int reading = 0; reading < ENGINE_READINGS; reading++)
            assert_int_equal(flags_of((enum engine_reading)reading, differ[i].request).need_top_p_top_k,
                             differ[i].cuts[reading]);
}

/* 0.99999 - 1 is -9.99999999995e-06 in double, 1.00001 - 1 is 1.00000000006e-05. */
static void epsilon_is_one_sided(void **state)
{
    (void)state;
    const struct engine_values more = VALUES([ENGINE_REPETITION_PENALTY] = FLOAT(1.00001)),
                               less = VALUES([ENGINE_REPETITION_PENALTY] = FLOAT(0.99999));
    assert_true(flags_of(ENGINE_UPSTREAM, &more).need_penalties);
    assert_false(flags_of(ENGINE_UPSTREAM, &less).need_penalties);
}

static void type_is_remembered(void **state)
{
    (void)state;
    struct engine_object object = {.values =
                                       VALUES([ENGINE_TEMPERATURE] = FLOAT(1), [ENGINE_SEED] = INTEGER(3))};
    struct engine_object untouched = object;
    assert_int_equal(vllm_draw(&object), ENGINE_DRAW_RANDOM_SEED);
    object.values.at[ENGINE_TEMPERATURE] = untouched.values.at[ENGINE_TEMPERATURE] = engine_float(0);
    struct engine_object clone = object;
    assert_int_equal(vllm_draw(&object), ENGINE_DRAW_RANDOM_SEED);
    assert_int_equal(vllm_draw(&clone), ENGINE_DRAW_RANDOM_SEED);
    assert_int_equal(vllm_draw(&untouched), ENGINE_DRAW_GREEDY);
}

#define GROUPS 3

/* The mechanism itself: lists are appended from the first group that wants penalties on, and scattered from row 0. */
static void rows_by_scattering(const struct engine_group *groups, size_t *used)
{
    size_t appended[32], length = 0, rows = 0, sequence = 0;
    bool wanted = false;
    for (size_t g = 0; g < GROUPS; g++) {
        wanted = wanted || groups[g].flags.need_penalties;
        for (size_t i = 0; i < groups[g].prompt_rows; i++, rows++)
            if (wanted)
                appended[length++] = ENGINE_NO_ROW;
        for (size_t i = 0; i < groups[g].sequences; i++, rows++, sequence++)
            if (wanted)
                appended[length++] = sequence;
    }
    for (size_t r = 0; r < rows; r++)
        used[r] = r < length ? appended[r] : ENGINE_NO_ROW;
}

static void rows_of_every_step(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (unsigned shape = 0; shape < 8 * 27 * 8; shape++) {
        struct engine_group groups[GROUPS];
        size_t want[32], have[32], fixed[32], rows = 0;
        for (unsigned g = 0, left = shape / 8; g < GROUPS; g++, left /= 6) {
            groups[g] = (struct engine_group){
                .flags.need_penalties = shape >> g & 1, .sequences = left % 3, .prompt_rows = left / 3 % 2};
            rows += groups[g].sequences + groups[g].prompt_rows;
        }
        rows_by_scattering(groups, want);
        const bool runs = vllm_penalty_rows(groups, GROUPS, false, have);
        assert_int_equal(runs, (shape & 7) != 0);
        assert_int_equal(vllm_penalty_rows(groups, GROUPS, true, fixed), runs);
        if (rows)
            assert_memory_equal(have, want, rows * sizeof *have);
        wrong += runs && rows && memcmp(have, fixed, rows * sizeof *have) != 0;
    }
    assert_true(wrong > 100);
    /* Of one row each, the masks 001, 010 and 011 are wrong: the first group raises nothing. */
    for (unsigned mask = 1; mask < 8; mask++) {
        struct engine_group groups[GROUPS] = {{.sequences = 1}, {.sequences = 1}, {.sequences = 1}};
        size_t have[GROUPS];
        for (unsigned g = 0; g < GROUPS; g++)
            groups[g].flags.need_penalties = mask >> g & 1;
        vllm_penalty_rows(groups, GROUPS, false, have);
        assert_int_equal(have[0] == 0 && have[1] == 1 && have[2] == 2, mask & 1);
    }
}

/* Greedy, frequency_penalty 2 after 5, 5, 5: alone or first in the batch it turns to 6, behind another it stays at 5. */
static void misalignment_in_tokens(void **state)
{
    (void)state;
    static const int64_t fives[] = {5, 5, 5};
    for (size_t place = 0; place < 2; place++)
        for (int fixed = 0; fixed < 2; fixed++) {
            struct engine_group groups[2] = {{.sequences = 1}, {.sequences = 1}};
            size_t used[2];
            float logits[8] = {0, 0, 0, 0, 0, 3, 2, 1};
            struct penalties penalties = penalties_none();
            groups[place].flags.need_penalties = true;
            assert_true(vllm_penalty_rows(groups, 2, fixed, used));
            penalties.frequency = 2;
            if (used[place] == place) {
                penalties.output = fives;
                penalties.output_tokens = 3;
            }
            assert_int_equal(penalty_row(penalty_rule_of("vllm-0.5.0"), &penalties, 1, logits, 8),
                             PENALTY_OK);
            struct sampler_row *row = sampler_row_new(RULE_GREEDY, SAMPLER_LOGITS, logits, 8, 1);
            int32_t token;
            sampler_draw(row, 0, 0, 1, &token);
            sampler_row_free(row);
            assert_int_equal(token, place == 1 && !fixed ? 5 : 6);
        }
}

static void beams(void **state)
{
    (void)state;
    const float logprobs[] = {-1, -3, -2, -1.5f, -1.25f, -9}, sums[] = {-2, -1.5f};
    int64_t parent[6], token[6];
    /* Sums -3 -5 -4 | -3 -2.75 -10.5: of equal ones the lower index. */
    assert_int_equal(vllm_candidates(logprobs, sums, 2, 3, 2, parent, token), 0);
    const int64_t parents[] = {1, 0, 1, 0}, tokens[] = {1, 0, 0, 2};
    assert_memory_equal(parent, parents, sizeof parents);
    assert_memory_equal(token, tokens, sizeof tokens);
    assert_int_equal(vllm_candidates(logprobs, NULL, 1, 3, 1, parent, token), 0);
    assert_true(parent[0] == 0 && token[0] == 0 && parent[1] == 0 && token[1] == 2);
    assert_int_equal(vllm_candidates(logprobs, sums, 2, 3, 3, parent, token), 0);
    assert_true(parent[5] == 1 && token[5] == 2);
    assert_int_equal(vllm_candidates(logprobs, sums, 2, 3, 4, parent, token), -1);
}

static void history_forgets(void **state)
{
    (void)state;
    struct engine_batch prefill = {0}, running = {0};
    const struct engine_flags sorts = {.need_top_p_top_k = true, .draws[ENGINE_DRAW_RANDOM] = true},
                              greedy = {.draws[ENGINE_DRAW_GREEDY] = true};
    struct engine_flags flags;
    assert_int_equal(vllm_admit(&prefill, 1, &sorts), 0);
    assert_int_equal(vllm_admit(&prefill, 2, &greedy), 0);
    assert_int_equal(vllm_state(ENGINE_UPSTREAM, &prefill, &flags), 2);
    assert_true(flags.need_top_p_top_k && flags.draws[ENGINE_DRAW_GREEDY] && flags.draws[ENGINE_DRAW_RANDOM]);
    assert_int_equal(vllm_join(ENGINE_UPSTREAM, &running, &prefill), 0);
    assert_int_equal(vllm_state(ENGINE_UPSTREAM, &prefill, &flags), 0);
    assert_true(engine_batch_finish(&running, 1));
    assert_int_equal(vllm_state(ENGINE_UPSTREAM, &running, &flags), 1);
    assert_false(flags.need_top_p_top_k || flags.draws[ENGINE_DRAW_RANDOM]);
    engine_batch_free(&prefill);
    engine_batch_free(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(article_table),
        cmocka_unit_test(readings_differ),
        cmocka_unit_test(epsilon_is_one_sided),
        cmocka_unit_test(type_is_remembered),
        cmocka_unit_test(rows_of_every_step),
        cmocka_unit_test(misalignment_in_tokens),
        cmocka_unit_test(beams),
        cmocka_unit_test(history_forgets),
    };
    return cmocka_run_group_tests_name("vllm", tests, NULL, NULL);
}
