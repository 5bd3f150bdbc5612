/* test_mutants.c: every mutant opens and draws valid tokens, the clean one draws the reference's, and each of
 * the others shows its defect where a count can show it at once.
 * SPDX-License-Identifier: MIT */
#include "kernels/sampler.h"
#include "suite/sut/mutants/about.h"
#include "suite/sut/samplegate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct samplegate_plugin *plugin;

static int plugin_load(void **state)
{
    (void)state;
    plugin = samplegate_plugin();
    return 0;
}

static void *mutant_open(const char *id)
{
    char options[64], error[512] = "";
    void *instance = NULL;
    snprintf(options, sizeof options, "id=%s", id);
    if (plugin->open(options, SAMPLEGATE_CPU, &instance, error, sizeof error))
        fail_msg("%s: %s", options, error);
    return instance;
}

/* A job of `draws` from one row, in calls of `batch`. Zero-initialised members are off. */
struct job {
    const float *values;
    int64_t columns;
    int kind;
    double temperature;
    const float *noise;
    int64_t draws, batch;
    uint64_t seed;
};

static int job_run(void *instance, const struct job *job, int32_t *token)
{
    int32_t *row_index = calloc((size_t)job->batch, sizeof *row_index);
    double *temperature = calloc((size_t)job->batch, sizeof *temperature);
    for (int64_t i = 0; i < job->batch; i++)
        temperature[i] = job->temperature;
    int status = plugin->reset(instance, job->seed);
    for (int64_t first = 0; status == SAMPLEGATE_OK && first < job->draws; first += job->batch) {
        struct samplegate_call call = {.size = sizeof call};
        call.values = (struct samplegate_tensor){.size = sizeof call.values,
                                                 .data = job->values,
                                                 .rows = 1,
                                                 .columns = job->columns,
                                                 .row_stride = job->columns};
        call.values_kind = job->kind;
        call.options =
            job->kind == SAMPLEGATE_LOGITS ? SAMPLEGATE_TAKES_LOGITS : SAMPLEGATE_TAKES_PROBABILITIES;
        call.draws = job->draws - first < job->batch ? job->draws - first : job->batch;
        call.row_index = row_index;
        call.token = token + first;
        if (job->temperature > 0) {
            call.options |= SAMPLEGATE_TEMPERATURE;
            call.temperature = temperature;
        }
        if (job->noise) {
            call.options |= SAMPLEGATE_NOISE_IN;
            call.noise = job->noise + first * job->columns;
        }
        status = plugin->sample(instance, &call);
    }
    free(row_index);
    free(temperature);
    return status;
}

/* How often each id of 0 .. columns - 1 comes. Owned: free. */
static int64_t *job_counts(const char *id, const struct job *job)
{
    void *instance = mutant_open(id);
    int32_t *token = malloc((size_t)job->draws * sizeof *token);
    int64_t *count = calloc((size_t)job->columns, sizeof *count);
    assert_int_equal(job_run(instance, job, token), SAMPLEGATE_OK);
    for (int64_t d = 0; d < job->draws; d++) {
        assert_in_range(token[d], 0, job->columns - 1);
        count[token[d]]++;
    }
    free(token);
    plugin->close(instance);
    return count;
}

static void table(void **state)
{
    (void)state;
    void *instance;
    char error[512] = "";
    assert_int_equal(plugin->size, sizeof *plugin);
    assert_int_equal(plugin->abi_version, SAMPLEGATE_ABI_VERSION);
    assert_int_not_equal(plugin->open("id=no-such", SAMPLEGATE_CPU, &instance, error, sizeof error),
                         SAMPLEGATE_OK);
    assert_non_null(strstr(error, "known: id=clean and the "));
    assert_int_not_equal(plugin->open("", SAMPLEGATE_CPU, &instance, error, sizeof error), SAMPLEGATE_OK);
    assert_int_not_equal(plugin->open("id=", SAMPLEGATE_CPU, &instance, error, 8), SAMPLEGATE_OK);
    assert_int_equal(strlen(error), 7);
}

static void all_draw_valid_tokens(void **state)
{
    (void)state;
    float logits[40], probabilities[40];
    for (int i = 0; i < 40; i++) {
        logits[i] = (float)(i * 7 % 11) / 3;
        probabilities[i] = (float)(1 + i * 7 % 11) / 100;
    }
    for (size_t i = 0; mutant_about(i); i++)
        for (int kind = 0; kind < 2; kind++) {
            struct job job = {.values = kind ? probabilities : logits, .columns = 40, .kind = kind};
            job.draws = 1000;
            job.batch = 32;
            job.temperature = kind ? 0 : 0.7;
            free(job_counts(mutant_about(i)->id, &job));
        }
}

static void clean_is_the_reference(void **state)
{
    (void)state;
    enum { VOCAB = 1000, DRAWS = 500 };
    static float values[VOCAB], noise[DRAWS * VOCAB];
    int32_t expected[DRAWS], token[DRAWS];
    for (int i = 0; i < VOCAB; i++)
        values[i] = i % 7 ? logf((float)(1 + i * 31 % 97)) : -INFINITY;
    void *instance = mutant_open("clean");
    for (int64_t batch = 1; batch < 600; batch *= 8)
        for (int noisy = 0; noisy < 2; noisy++) {
            struct job job = {
                .values = values, .columns = VOCAB, .temperature = 0.7, .draws = DRAWS, .batch = batch};
            job.seed = UINT64_C(9007199254740993);
            struct sampler_row *row = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, values, VOCAB, 0.7);
            sampler_draw(row, job.seed, 0, DRAWS, expected);
            for (int d = 0; noisy && d < DRAWS; d++) {
                sampler_noise(3, (uint64_t)d, VOCAB, noise + d * VOCAB);
                expected[d] = sampler_draw_with_noise(row, noise + d * VOCAB);
            }
            sampler_row_free(row);
            job.noise = noisy ? noise : NULL;
            assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_OK);
            assert_memory_equal(token, expected, sizeof expected);
            /* The same buffer with other contents is another row. */
            values[1] += 1;
        }
    plugin->close(instance);
}

static void warm_is_one_percent_up(void **state)
{
    (void)state;
    enum { VOCAB = 1000, DRAWS = 2000 };
    static float values[VOCAB];
    int32_t expected[DRAWS], clean[DRAWS], token[DRAWS];
    for (int i = 0; i < VOCAB; i++)
        values[i] = -logf((float)(i + 1));
    struct sampler_row *row = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, values, VOCAB, 0.7 * 1.01);
    sampler_draw(row, 5, 0, DRAWS, expected);
    sampler_row_free(row);
    row = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, values, VOCAB, 0.7);
    sampler_draw(row, 5, 0, DRAWS, clean);
    sampler_row_free(row);
    struct job job = {
        .values = values, .columns = VOCAB, .temperature = 0.7, .draws = DRAWS, .batch = 32, .seed = 5};
    void *instance = mutant_open("warm");
    assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_OK);
    plugin->close(instance);
    assert_memory_equal(token, expected, sizeof expected);
    assert_memory_not_equal(token, clean, sizeof clean);
}

static void unsupported(void **state)
{
    (void)state;
    const float values[2] = {0.5f, 0.5f};
    int32_t token[1];
    void *instance = mutant_open("cdf32");
    struct job job = {.values = values, .columns = 2, .draws = 1, .batch = 1, .noise = values};
    assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_UNSUPPORTED);
    job = (struct job){.values = values, .columns = 2, .draws = 1, .batch = 1, .temperature = 0.5};
    job.kind = SAMPLEGATE_PROBABILITIES;
    assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_UNSUPPORTED);
    job.kind = SAMPLEGATE_LOGITS;
    job.temperature = INFINITY;
    assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_INVALID);
    plugin->close(instance);
}

/* Expected 20,000 / V = 0.13 and 20,000 x 128 / V = 20; the figures are in cdf.c. */
static void cdf32_moves_the_end(void **state)
{
    (void)state;
    float *flat = calloc(151936, sizeof *flat);
    struct job job = {.values = flat, .columns = 151936, .draws = 20000, .batch = 1000};
    int64_t *count = job_counts("cdf32", &job);
    assert_in_range(count[151935], 15, 60); /* Poisson of mean 33.6: 3e-4 and 2e-5 */
    free(count);
    job.columns = 128256;
    count = job_counts("cdf32", &job);
    for (int64_t i = 128128; i < 128256; i++)
        assert_int_equal(count[i], 0);
    free(count);
    free(flat);
}

static void defects_show(void **state)
{
    (void)state;
    const float two[2] = {0, 0};
    struct job tie = {.values = two, .columns = 2, .draws = 4000, .batch = 8};
    int64_t *count = job_counts("last-id", &tie);
    assert_int_equal(count[1], 0);
    free(count);
    count = job_counts("id-drift", &tie);
    assert_in_range(count[0], 2250 - 150, 2250 + 150); /* five deviations; the clean 2000 is eight away */
    free(count);

    /* Ids of 1/1000: the first of them whose sum stays below 1/500 is never drawn. */
    float thousand[1000] = {0};
    struct job flat = {.values = thousand, .columns = 1000, .draws = 40000, .batch = 8};
    count = job_counts("low-end", &flat);
    assert_int_equal(count[0], 0);
    assert_in_range(count[2], 10, 90); /* 40 expected */
    free(count);

    /* Every third id masked: 20,000 draws, 20 hits expected. */
    float masked[300];
    for (int i = 0; i < 300; i++)
        masked[i] = i % 3 == 1 ? -INFINITY : 0;
    struct job rows = {.values = masked, .columns = 300, .draws = 20000, .batch = 64};
    for (int broken = 0; broken < 2; broken++) {
        int64_t hits = 0;
        count = job_counts(broken ? "leak-masked" : "clean", &rows);
        for (int i = 1; i < 300; i += 3)
            hits += count[i];
        assert_in_range(hits, broken ? 5 : 0, broken ? 45 : 0);
        free(count);
    }
}

/* Pearson's sum over 20 equal cells: below 0.1 has a chance of 1e-20 from real noise (19 degrees of freedom).
 */
static void weyl_is_too_regular(void **state)
{
    (void)state;
    const float flat[20] = {0};
    double sum = 0, total[20] = {0};
    for (uint64_t chunk = 0; chunk < 3; chunk++) {
        struct job job = {.values = flat,
                          .columns = 20,
                          .draws = 16384,
                          .batch = 64,
                          .seed = chunk * UINT64_C(0x123456789abcd)};
        int64_t *count = job_counts("weyl", &job);
        for (int i = 0; i < 20; i++)
            total[i] += (double)count[i];
        free(count);
    }
    const double expected = 3 * 16384 / 20.0;
    for (int i = 0; i < 20; i++)
        sum += (total[i] - expected) * (total[i] - expected) / expected;
    assert_true(sum < 0.1);
}

static void stale_position_shares_noise(void **state)
{
    (void)state;
    float values[100] = {0};
    int32_t token[6400];
    void *instance = mutant_open("stale-position");
    struct job job = {.values = values, .columns = 100, .draws = 6400, .batch = 64};
    assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_OK);
    bool changed = false;
    for (int d = 0; d < 6400; d++) {
        assert_int_equal(token[d], token[d / 64 * 64]);
        changed |= token[d] != token[0];
    }
    assert_true(changed);
    plugin->close(instance);
}

/* Who wins on given noise shows the weights: with q = p but for one entry, only the changed weight can lose.
 */
static void weights_are_changed(void **state)
{
    (void)state;
    /* 0.74903 rounds up to 0.75 in bf16, 0.25097 down to 0.2509765625: near q = (0.7495, 0.251) the order
     * flips. */
    const float pair[2] = {0.74903f, 0.25097f}, q[2] = {0.7495f, 0.25097f};
    int32_t token[1];
    for (int broken = 0; broken < 2; broken++) {
        void *instance = mutant_open(broken ? "bf16-weights" : "clean");
        struct job job = {.values = pair,
                          .columns = 2,
                          .kind = SAMPLEGATE_PROBABILITIES,
                          .noise = q,
                          .draws = 1,
                          .batch = 1};
        assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_OK);
        assert_int_equal(token[0], broken ? 0 : 1);
        plugin->close(instance);
    }
    /* 44 equal weights: the pairs (40, 41) and (42, 43) trade a tenth, in opposite directions; 39 keeps its
     * own. */
    float equal[44], noise[44];
    for (int i = 0; i < 44; i++)
        equal[i] = noise[i] = 1;
    void *instance = mutant_open("ripple");
    struct job job = {.values = equal,
                      .columns = 44,
                      .kind = SAMPLEGATE_PROBABILITIES,
                      .noise = noise,
                      .draws = 1,
                      .batch = 1};
    assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_OK);
    const int32_t winner = token[0];
    assert_in_range(winner, 40, 41);
    noise[winner] = 1.2f; /* 1.1 / 1.2 < 1: now the other pair's gainer */
    assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_OK);
    assert_int_equal(token[0], 83 - winner);
    noise[token[0]] = 1.2f;
    noise[39] = 0.999f;
    assert_int_equal(job_run(instance, &job, token), SAMPLEGATE_OK);
    assert_int_equal(token[0], 39);
    plugin->close(instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(all_draw_valid_tokens),
        cmocka_unit_test(clean_is_the_reference),
        cmocka_unit_test(warm_is_one_percent_up),
        cmocka_unit_test(unsupported),
        cmocka_unit_test(cdf32_moves_the_end),
        cmocka_unit_test(defects_show),
        cmocka_unit_test(weyl_is_too_regular),
        cmocka_unit_test(stale_position_shares_noise),
        cmocka_unit_test(weights_are_changed),
    };
    return cmocka_run_group_tests_name("mutants", tests, plugin_load, NULL);
}
