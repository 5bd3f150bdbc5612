/* test_clean.c: the clean sampler gives the reference's tokens and kept sets, whatever is asked of it.
 *
 * SPDX-License-Identifier: MIT */
#include "suite/sut/mutants/test_trial.h"

#include "kernels/sampler.h"

static const uint64_t asked[] = {SAMPLEGATE_TEMPERATURE, SAMPLEGATE_NOISE_IN,   SAMPLEGATE_SEEDED,
                                 SAMPLEGATE_TOP_K,       SAMPLEGATE_TOP_P,      SAMPLEGATE_MIN_P,
                                 SAMPLEGATE_PENALTIES,   SAMPLEGATE_LOGIT_BIAS, SAMPLEGATE_ALLOWED_MASK,
                                 SAMPLEGATE_MIN_TOKENS,  SAMPLEGATE_KEPT_OUT,   TRIAL_PADDED,
                                 TRIAL_BAD_ROWS};
#define ASKED (sizeof asked / sizeof *asked)

/* The reference's row of one draw; no part of it goes through the plug-in. */
static struct sampler_row *reference_row(const struct trial *trial, int d)
{
    const int64_t row = trial->row_index[d];
    const uint64_t edits =
        SAMPLEGATE_PENALTIES | SAMPLEGATE_MIN_TOKENS | SAMPLEGATE_LOGIT_BIAS | SAMPLEGATE_ALLOWED_MASK;
    struct sampler_parameters parameters = sampler_parameters_none();
    struct penalties penalties = penalties_none();
    enum sampler_status status;
    if (trial->options & SAMPLEGATE_TEMPERATURE)
        parameters.temperature = trial->temperature[d];
    if (trial->options & SAMPLEGATE_TOP_K)
        parameters.filter.top_k = trial->top_k[d];
    if (trial->options & SAMPLEGATE_TOP_P)
        parameters.filter.top_p = trial->top_p[d];
    if (trial->options & SAMPLEGATE_MIN_P)
        parameters.filter.min_p = trial->min_p[d];
    if (trial->options & SAMPLEGATE_PENALTIES) {
        penalties.repetition = trial->repetition[d];
        penalties.frequency = trial->frequency[d];
        penalties.presence = trial->presence[d];
    }
    penalties.prompt = trial->prompt + trial->prompt_offsets[d];
    penalties.prompt_tokens = (size_t)(trial->prompt_offsets[d + 1] - trial->prompt_offsets[d]);
    penalties.output = trial->output + trial->output_offsets[d];
    penalties.output_tokens = (size_t)(trial->output_offsets[d + 1] - trial->output_offsets[d]);
    if (trial->options & SAMPLEGATE_MIN_TOKENS) {
        penalties.min_tokens = trial->min_tokens[d];
        penalties.stop = trial->stop + trial->stop_offsets[d];
        penalties.stops = (size_t)(trial->stop_offsets[d + 1] - trial->stop_offsets[d]);
    }
    penalties.logit_bias = WHERE(SAMPLEGATE_LOGIT_BIAS, trial->bias + row * COLUMNS);
    penalties.allowed = WHERE(SAMPLEGATE_ALLOWED_MASK, trial->allowed + row * COLUMNS);
    parameters.penalties = WHERE(edits, &penalties);
    struct sampler_row *made = sampler_row_make(
        RULE_RACE, SAMPLER_LOGITS, trial->values + row * trial->stride, COLUMNS, &parameters, &status);
    assert_int_equal(status, SAMPLER_OK);
    return made;
}

static void reference_draw(const struct trial *trial, uint64_t seed, int32_t *token, uint8_t *kept)
{
    for (int d = 0; d < DRAWS; d++) {
        struct sampler_row *row = reference_row(trial, d);
        if (trial->options & SAMPLEGATE_NOISE_IN)
            token[d] = sampler_draw_with_noise(row, trial->noise + d * COLUMNS);
        else if (trial->options & SAMPLEGATE_SEEDED)
            sampler_draw_seeded(row, trial->seed + d, trial->position + d, 1, token + d);
        else
            sampler_draw(row, seed, (uint64_t)d, 1, token + d);
        sampler_row_kept(row, kept + d * COLUMNS);
        sampler_row_free(row);
    }
}

static void the_reference_under_any_options(void **state)
{
    (void)state;
    static struct trial trial;
    static uint8_t kept[DRAWS * COLUMNS], expected_kept[DRAWS * COLUMNS];
    int32_t token[DRAWS], expected[DRAWS];
    void *instance = trial_open("clean");
    for (uint64_t t = 0; t < 600; t++) {
        uint64_t options = 0;
        trial_state = t + 1000;
        for (size_t i = 0; i < ASKED; i++)
            options |= trial_word() % 2 ? asked[i] : 0;
        trial_fill(&trial, options, t);
        reference_draw(&trial, t << 40, expected, expected_kept);
        const int64_t batch = 1 + (int64_t)(t % 13);
        assert_int_equal(trial_run(instance, &trial, t << 40, batch, token, kept), SAMPLEGATE_OK);
        assert_memory_equal(token, expected, sizeof expected);
        for (int d = 0; options & SAMPLEGATE_KEPT_OUT && d < DRAWS;
             d += (int)batch) /* each call's first draw */
            assert_memory_equal(kept + d * COLUMNS, expected_kept + d * COLUMNS, COLUMNS);
    }
    samplegate_plugin()->close(instance);
}

/* Probabilities go through filters alone. */
static void the_reference_on_probabilities(void **state)
{
    (void)state;
    static struct trial trial;
    int32_t token[DRAWS], expected;
    void *instance = trial_open("clean");
    trial_fill(&trial, SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P | SAMPLEGATE_SEEDED | TRIAL_PADDED, 3);
    for (int i = 0; i < ROWS * STRIDE; i++)
        trial.values[i] = expf(trial.values[i]);
    struct samplegate_call call = trial_call(&trial, 0, DRAWS);
    call.values_kind = SAMPLEGATE_PROBABILITIES;
    call.options ^= SAMPLEGATE_TAKES_LOGITS | SAMPLEGATE_TAKES_PROBABILITIES;
    call.token = token;
    assert_int_equal(samplegate_plugin()->sample(instance, &call), SAMPLEGATE_OK);
    for (int d = 0; d < DRAWS; d++) {
        struct sampler_parameters parameters = sampler_parameters_none();
        enum sampler_status status;
        parameters.filter.top_k = trial.top_k[d];
        parameters.filter.top_p = trial.top_p[d];
        struct sampler_row *row =
            sampler_row_make(RULE_RACE, SAMPLER_PROBABILITIES, trial.values + trial.row_index[d] * STRIDE,
                             COLUMNS, &parameters, &status);
        sampler_draw_seeded(row, trial.seed + d, trial.position + d, 1, &expected);
        assert_int_equal(token[d], expected);
        sampler_row_free(row);
    }
    call.options |= SAMPLEGATE_ALLOWED_MASK;
    assert_int_equal(samplegate_plugin()->sample(instance, &call), SAMPLEGATE_UNSUPPORTED);
    samplegate_plugin()->close(instance);
}

static void bad_parameters_are_refused(void **state)
{
    (void)state;
    static struct trial trial;
    int32_t token[DRAWS];
    void *instance = trial_open("clean");
    const double none = NAN;
    for (int which = 0; which < 8; which++) {
        trial_fill(&trial,
                   SAMPLEGATE_TEMPERATURE | SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P | SAMPLEGATE_MIN_P |
                       SAMPLEGATE_PENALTIES | SAMPLEGATE_MIN_TOKENS,
                   1);
        trial.top_k[5] = which == 0 ? 0 : trial.top_k[5];
        trial.top_p[5] = which == 1 ? none : which == 2 ? 0 : trial.top_p[5];
        trial.min_p[5] = which == 3 ? 1.5 : trial.min_p[5];
        trial.temperature[5] = which == 4 ? 0 : trial.temperature[5];
        trial.repetition[5] = which == 5 ? -1 : trial.repetition[5];
        trial.min_tokens[5] = which == 6 ? -1 : trial.min_tokens[5];
        trial.prompt[trial.prompt_offsets[DRAWS] - 1] = which == 7 ? COLUMNS : 0;
        assert_int_equal(trial_run(instance, &trial, 1, 8, token, NULL), SAMPLEGATE_INVALID);
    }
    samplegate_plugin()->close(instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_reference_under_any_options),
                                       cmocka_unit_test(the_reference_on_probabilities),
                                       cmocka_unit_test(bad_parameters_are_refused)};
    return cmocka_run_group_tests_name("mutants, clean", tests, NULL, NULL);
}
