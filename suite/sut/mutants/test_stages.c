/* test_stages.c: each mutant differs from the clean sampler where its defect lies, and nowhere else.
 *
 * `all` names the options without any of which it gives the clean tokens, `any` a set of which one is needed,
 * `none` what hides it. With all, one of any and no other option it must differ. SPDX-License-Identifier: MIT
 */
#include "suite/sut/mutants/about.h"
#include "suite/sut/mutants/test_trial.h"

#include <stdbool.h>

#define FILTERS (SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P | SAMPLEGATE_MIN_P)
#define EVERY                                                                                                \
    (SAMPLEGATE_TEMPERATURE | SAMPLEGATE_NOISE_IN | SAMPLEGATE_SEEDED | FILTERS | SAMPLEGATE_PENALTIES |     \
     SAMPLEGATE_LOGIT_BIAS | SAMPLEGATE_ALLOWED_MASK | SAMPLEGATE_MIN_TOKENS | TRIAL_PADDED |                \
     TRIAL_BAD_ROWS)

static const struct where {
    const char *id;
    uint64_t all, any, none;
} mutants[] = {
    {.id = "grid24", .none = EVERY}, /* one token in millions: test_mutants.c */
    {.id = "short-noise", .none = SAMPLEGATE_NOISE_IN},
    {.id = "cdf32", .none = SAMPLEGATE_NOISE_IN},
    {.id = "low-end", .none = EVERY}, /* an id of less than 1/500: test_mutants.c */
    {.id = "warm"},
    {.id = "uniform-leak"},
    {.id = "last-id"},
    {.id = "last-tile"},
    {.id = "stale-position", .none = SAMPLEGATE_NOISE_IN},
    {.id = "rows-paired", .none = SAMPLEGATE_NOISE_IN},
    {.id = "calls-paired", .none = SAMPLEGATE_NOISE_IN | SAMPLEGATE_SEEDED},
    {.id = "weyl", .none = SAMPLEGATE_NOISE_IN},
    {.id = "leak-masked",
     .any = SAMPLEGATE_ALLOWED_MASK | SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P | SAMPLEGATE_MIN_P |
            SAMPLEGATE_MIN_TOKENS},
    {.id = "id-drift"},
    {.id = "ripple", .none = EVERY}, /* rows of more than 40 ids: test_mutants.c */
    {.id = "bf16-weights"},
    {.id = "fp16-scores"},
    {.id = "bf16-log"},
    {.id = "noise-shifted"},
    {.id = "seed-first", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-short", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-magnitude", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-sentinel", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-ignored", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-captured", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-process", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-place", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-prefill", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seeds-stay", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-child", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-default", .none = SAMPLEGATE_NOISE_IN | SAMPLEGATE_SEEDED},
    {.id = "position-ignored", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "position-short", .none = EVERY}, /* positions from 2^31: below */
    {.id = "position-16-bits",
     .none = EVERY}, /* positions from 2^16, and calls of sizes that no trial has: kill table */
    {.id = "seed-padded", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "seed-block", .none = EVERY},
    {.id = "top-k-capped", .none = EVERY}, /* vocabularies, and temperatures, that no trial has: kill table */
    {.id = "cold-greedy", .none = EVERY},
    {.id = "hot-clamped", .none = EVERY},
    {.id = "position-window", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "position-frozen", .all = SAMPLEGATE_SEEDED, .none = SAMPLEGATE_NOISE_IN},
    {.id = "linear-hash", .none = SAMPLEGATE_NOISE_IN},
    {.id = "filtered-neighbour", .any = FILTERS, .none = SAMPLEGATE_NOISE_IN},
    {.id = "tie-highest", .all = SAMPLEGATE_NOISE_IN},
    {.id = "greedy-highest", .all = SAMPLEGATE_TOP_K},
    {.id = "boundary-dropped", .all = SAMPLEGATE_TOP_P},
    {.id = "top-p-below", .all = SAMPLEGATE_TOP_P},
    {.id = "top-p-unsorted", .all = SAMPLEGATE_TOP_P},
    {.id = "top-p-approximate", .all = SAMPLEGATE_TOP_P},
    {.id = "ties-kept", .any = SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P},
    {.id = "ties-highest", .any = SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P},
    {.id = "rank-answered", .any = FILTERS},
    {.id = "min-p-absolute", .all = SAMPLEGATE_MIN_P},
    {.id = "renormalised", .all = SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P},
    {.id = "min-p-first", .all = SAMPLEGATE_TOP_P | SAMPLEGATE_MIN_P},
    {.id = "min-p-cold", .all = SAMPLEGATE_MIN_P | SAMPLEGATE_TEMPERATURE},
    {.id = "nucleus-empty", .any = SAMPLEGATE_TOP_P},
    {.id = "top-k-wraps", .all = SAMPLEGATE_TOP_K},
    {.id = "top-k-zero", .none = EVERY}, /* what is refused: below */
    {.id = "top-p-zero", .none = EVERY},
    {.id = "nan-accepted", .none = EVERY},
    {.id = "nan-spreads", .all = TRIAL_BAD_ROWS},
    {.id = "invalid-zero", .all = TRIAL_BAD_ROWS},
    {.id = "penalty-squared", .all = SAMPLEGATE_PENALTIES},
    {.id = "penalty-repeated", .all = SAMPLEGATE_PENALTIES},
    {.id = "prompt-counted", .all = SAMPLEGATE_PENALTIES},
    {.id = "penalty-sign", .all = SAMPLEGATE_PENALTIES},
    {.id = "bias-ignored", .all = SAMPLEGATE_LOGIT_BIAS},
    {.id = "mask-ignored", .all = SAMPLEGATE_ALLOWED_MASK},
    {.id = "mask-first", .all = SAMPLEGATE_ALLOWED_MASK},
    {.id = "min-tokens-short", .all = SAMPLEGATE_MIN_TOKENS},
    {.id = "parameters-last", .any = FILTERS | SAMPLEGATE_TEMPERATURE | SAMPLEGATE_PENALTIES},
    {.id = "parameters-reversed", .any = FILTERS | SAMPLEGATE_TEMPERATURE | SAMPLEGATE_PENALTIES},
    {.id = "parameters-captured", .any = FILTERS | SAMPLEGATE_TEMPERATURE | SAMPLEGATE_PENALTIES},
    {.id = "batch-top-p", .all = SAMPLEGATE_TOP_P},
    {.id = "unset-top-k", .all = SAMPLEGATE_TOP_K},
    {.id = "greedy-sampled", .all = SAMPLEGATE_TOP_K},
    {.id = "penalties-compacted", .all = SAMPLEGATE_PENALTIES},
    {.id = "history-shifted", .any = SAMPLEGATE_PENALTIES | SAMPLEGATE_MIN_TOKENS},
    {.id = "sorted-first", .any = FILTERS},
    {.id = "stride-ignored", .all = TRIAL_PADDED},
    {.id = "padding-drawn",
     .all = TRIAL_PADDED,
     .none = SAMPLEGATE_NOISE_IN | SAMPLEGATE_LOGIT_BIAS | SAMPLEGATE_ALLOWED_MASK},
    {.id = "padding-lane"},
    {.id = "offset-short", .none = EVERY}, /* below */
};
#define MUTANTS (sizeof mutants / sizeof *mutants)
#define ENOUGH 400 /* trials in which a defect must show ... */
#define SOME 30    /* ... and in which none must */

/* Does the mutant give other tokens than the clean one in any of so many trials? */
static bool differs(const char *id, uint64_t options, uint64_t trials)
{
    static struct trial trial;
    int32_t token[DRAWS], clean[DRAWS];
    void *broken = trial_open(id), *sound = trial_open("clean");
    bool different = false;
    for (uint64_t t = 0; t < trials && !different; t++) {
        trial_fill(&trial, options, t);
        assert_int_equal(trial_run(sound, &trial, t, 7, clean, NULL), SAMPLEGATE_OK);
        const int status = trial_run(broken, &trial, t, 7, token, NULL);
        if (status == SAMPLEGATE_UNSUPPORTED)
            break; /* no noise for a CDF */
        assert_int_equal(status, SAMPLEGATE_OK);
        different = memcmp(token, clean, sizeof clean) != 0;
    }
    samplegate_plugin()->close(broken);
    samplegate_plugin()->close(sound);
    return different;
}

static int failures;

static void must_differ(const struct where *where, uint64_t options)
{
    if (differs(where->id, options, ENOUGH))
        return;
    print_error("%s: clean with options 0x%llx\n", where->id, (unsigned long long)options);
    failures++;
}

static void must_not_differ(const struct where *where, uint64_t options)
{
    if (!differs(where->id, options, SOME))
        return;
    print_error("%s: not clean with options 0x%llx\n", where->id, (unsigned long long)options);
    failures++;
}

static void defects_lie_where_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < MUTANTS; i++) {
        const struct where *where = &mutants[i];
        const uint64_t all = where->all, rest = EVERY & ~where->none;
        if (where->none == EVERY) {
            must_not_differ(where, SAMPLEGATE_SEEDED | FILTERS);
            continue;
        }
        for (uint64_t bit = 1; bit <= TRIAL_BAD_ROWS; bit <<= 1) {
            if (all & bit)
                must_not_differ(where, rest & ~bit);
            if (where->any & bit)
                must_differ(where, all | bit);
            if (where->none & bit)
                must_not_differ(where, all | where->any | bit);
        }
        if (where->any)
            must_not_differ(where, rest & ~where->any);
        else
            must_differ(where, all);
    }
    assert_int_equal(failures, 0);
}

static void all_are_named(void **state)
{
    (void)state;
    const struct mutant_about *about;
    for (size_t m = 1; (about = mutant_about(m)); m++) {
        size_t i = 0;
        while (i < MUTANTS && strcmp(mutants[i].id, about->id) != 0)
            i++;
        if (i == MUTANTS)
            fail_msg("%s is not in this test", about->id);
    }
}

/* Drawn from values that the clean one refuses. */
static void what_should_be_refused_is_drawn(void **state)
{
    (void)state;
    static const char *const ids[] = {"top-k-zero", "top-p-zero", "nan-accepted", "nan-accepted"};
    static struct trial trial;
    int32_t token[DRAWS];
    for (int which = 0; which < 4; which++) {
        void *broken = trial_open(ids[which]), *sound = trial_open("clean");
        trial_fill(&trial, SAMPLEGATE_TOP_K | SAMPLEGATE_TOP_P | SAMPLEGATE_MIN_P, 1);
        trial.top_k[5] = which == 0 ? 0 : trial.top_k[5];
        trial.top_p[5] = which == 1 ? 0 : which == 2 ? (double)NAN : trial.top_p[5];
        trial.min_p[5] = which == 3 ? (double)NAN : trial.min_p[5];
        assert_int_equal(trial_run(sound, &trial, 1, 8, token, NULL), SAMPLEGATE_INVALID);
        assert_int_equal(trial_run(broken, &trial, 1, 8, token, NULL), SAMPLEGATE_OK);
        assert_in_range(token[5], 0, COLUMNS - 1);
        samplegate_plugin()->close(broken);
        samplegate_plugin()->close(sound);
    }
}

/* Row 3 of 30,000 columns starts at 90,000 = 65,536 + 24,464: it is read there, across the end of row 0. */
static void offset_of_sixteen_bits(void **state)
{
    (void)state;
    enum { WIDE = 30000 };
    static float values[4 * WIDE];
    const int32_t row_index[2] = {2, 3};
    int32_t token[2];
    values[2 * WIDE + 7] = values[3 * WIDE + 7] = values[24464 + 11] = 50;
    struct samplegate_call call = {.size = sizeof call, .options = SAMPLEGATE_TAKES_LOGITS, .draws = 2};
    call.values = (struct samplegate_tensor){
        .size = sizeof call.values, .data = values, .rows = 4, .columns = WIDE, .row_stride = WIDE};
    call.row_index = row_index;
    call.token = token;
    void *broken = trial_open("offset-short");
    assert_int_equal(samplegate_plugin()->sample(broken, &call), SAMPLEGATE_OK);
    assert_int_equal(token[0], 7);
    assert_int_equal(token[1], 11);
    samplegate_plugin()->close(broken);
}

static void position_of_31_bits(void **state)
{
    (void)state;
    static struct trial trial;
    int32_t token[DRAWS], clean[DRAWS];
    void *broken = trial_open("position-short"), *sound = trial_open("clean");
    trial_fill(&trial, SAMPLEGATE_SEEDED, 1);
    for (int64_t far = 0; far < 2; far++) {
        for (int d = 0; d < DRAWS; d++)
            trial.position[d] += far << 31;
        assert_int_equal(trial_run(broken, &trial, 1, 8, token, NULL), SAMPLEGATE_OK);
        assert_int_equal(memcmp(token, clean, far ? sizeof clean : 0), 0); /* those of the near positions */
        assert_int_equal(trial_run(sound, &trial, 1, 8, clean, NULL), SAMPLEGATE_OK);
        assert_int_equal(far, memcmp(token, clean, sizeof clean) != 0);
    }
    samplegate_plugin()->close(broken);
    samplegate_plugin()->close(sound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_named), cmocka_unit_test(defects_lie_where_they_should),
        cmocka_unit_test(what_should_be_refused_is_drawn), cmocka_unit_test(offset_of_sixteen_bits),
        cmocka_unit_test(position_of_31_bits)};
    return cmocka_run_group_tests_name("mutants, stages", tests, NULL, NULL);
}
