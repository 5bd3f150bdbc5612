/* test_cuda_shim.c: the CUDA kernels, run on the host through the shim, give the tokens of the scalar
 * definition under every order of threads and in any number of blocks. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "kernels/test_choices.h"
#include "kernels/test_cuda.h"

/* The tables of golden/plans/gate.json, by the formulas of its schema. */
enum table_kind { TABLE_LIST, TABLE_FLAT, TABLE_ZIPF, TABLE_HEAD, TABLE_NORMAL };
static const struct table {
    const char *name;
    enum table_kind kind;
    size_t vocab;
    int number; /* gap of id 77 (head), sigma (normal), 1: masked (zipf); units of 2^-10 */
    float temperature;
} tables[] = {
    {"tie-2", TABLE_FLAT, 2, 0, 1},
    {"peaked-3", TABLE_LIST, 3, 0, 1},
    {"uniform-20", TABLE_FLAT, 20, 0, 1},
    {"zipf-257", TABLE_ZIPF, 257, 0, 1},
    {"zipf-257-warm", TABLE_ZIPF, 257, 0, 0.7f},
    {"zipf-1000", TABLE_ZIPF, 1000, 0, 1},
    {"one-hot-1000", TABLE_HEAD, 1000, 14145, 1},
    {"masked-1000", TABLE_ZIPF, 1000, 1, 1},
    {"zipf-50257", TABLE_ZIPF, 50257, 0, 1},
    {"normal-151936", TABLE_NORMAL, 151936, 3, 1},
    {"flat-128256", TABLE_FLAT, 128256, 0, 1},
    {"flat-151936", TABLE_FLAT, 151936, 0, 1},
    {"gap-16", TABLE_HEAD, 151936, 16384, 1},
    {"gap-18.5", TABLE_HEAD, 151936, 18944, 1},
    {"gap-20", TABLE_HEAD, 151936, 20480, 1},
};

static float normal_logit(uint32_t id, int sigma)
{
    const struct philox_block low = philox_block(0, PHILOX_STREAM_TABLE, 0, id);
    const struct philox_block high = philox_block(0, PHILOX_STREAM_TABLE, 1, id);
    int64_t sum = 0;
    for (int w = 0; w < 6; w++) {
        const uint32_t word = w < 4 ? low.word[w] : high.word[w - 4];
        sum += (word & 0xffff) + (word >> 16);
    }
    return (float)floor(sigma * (double)(sum - 393210) / 64) * 0x1p-10f;
}

static void table_fill(const struct table *table)
{
    static const float peaked[] = {1993, 710, 0};
    for (size_t i = 0; i < table->vocab; i++) {
        values[i] = table->kind == TABLE_LIST     ? peaked[i] * 0x1p-10f
                    : table->kind == TABLE_ZIPF   ? (float)round(-1024 * log((double)i + 1)) * 0x1p-10f
                    : table->kind == TABLE_HEAD   ? (i == 77 ? (float)table->number * 0x1p-10f : 0)
                    : table->kind == TABLE_NORMAL ? normal_logit((uint32_t)i, table->number)
                                                  : 0;
        if (table->kind == TABLE_ZIPF && table->number && i % 3 == 1)
            values[i] = -INFINITY;
    }
}

static void plan_tables(void **state)
{
    (void)state;
    const char *exhaustive = getenv("SAMPLEGATE_EXHAUSTIVE");
    for (size_t t = 0; t < COUNT(tables); t++) {
        const struct table *table = &tables[t];
        if (exhaustive && strcmp(exhaustive, "0") == 0 && table->vocab > 100000)
            continue; /* under a sanitizer one wide table is enough */
        table_fill(table);
        row_check(SAMPLER_LOGITS, table->vocab, table->temperature, 38117, t,
                  table->vocab > 1000 ? 1
                  : table->vocab > 20 ? 10
                                      : 64,
                  table->name);
    }
}

static void small_vocabularies(void **state)
{
    (void)state;
    for (size_t vocab = 1; vocab <= 70; vocab++)
        for (int kind = 0; kind < 2; kind++) {
            row_fill(ROW_ORDINARY, (enum sampler_values)kind, vocab, (uint32_t)vocab);
            row_check((enum sampler_values)kind, vocab, 1, vocab, 0, 8, "ordinary");
        }
}

/* Every number of warps, and a vocabulary on each side. */
static void warp_boundaries(void **state)
{
    (void)state;
    for (size_t warps = 1; warps <= 9; warps++)
        for (size_t vocab = 128 * warps - 1; vocab <= 128 * warps + 1; vocab++) {
            row_fill(ROW_FEW_LEVELS, SAMPLER_LOGITS, vocab, (uint32_t)vocab);
            row_check(SAMPLER_LOGITS, vocab, 1, vocab, 0, 2, "few levels");
        }
}

static void edge_rows(void **state)
{
    (void)state;
    const size_t vocabs[] = {1, 2, 3, 17, 63, 64, 65, 129, 257, 1000};
    char what[32];
    for (int row = 0; row < ROW_KINDS; row++)
        for (size_t v = 0; v < COUNT(vocabs); v++)
            for (int kind = 0; kind < 2; kind++) {
                row_fill((enum row_kind)row, (enum sampler_values)kind, vocabs[v], 7);
                snprintf(what, sizeof what, "kind of row %d", row);
                row_check((enum sampler_values)kind, vocabs[v], 1, UINT64_C(0x8000000000000001), UINT64_MAX,
                          2, what);
            }
}

/* Rows of the categorical cases of test_rules.c, and temperatures at which quotients overflow or vanish. */
static void edge_weights(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        size_t vocab;
        float weight[7];
    } rows[] = {
        {"holes", 7, {0, NAN, 2, 0, -1, 2, INFINITY}},
        {"masses that round away", 3, {0x1p-46f, 1, 0x1p-44f}},
        {"denormal", 3, {TINY, TINY, 2 * TINY}},
        {"large", 4, {3e38f, 3e38f, 3e38f, 3e38f}},
        {"none", 4, {0, NAN, -INFINITY, INFINITY}},
        {"minus zero and zero", 2, {-0.0f, 0}},
        {"one id", 1, {0.25f}},
    };
    for (size_t r = 0; r < COUNT(rows); r++)
        for (int kind = 0; kind < 2; kind++) {
            memcpy(values, rows[r].weight, sizeof rows[r].weight);
            row_check((enum sampler_values)kind, rows[r].vocab, 1, 3, 0, 32, rows[r].what);
        }
    const float temperatures[] = {0x1p-128f, 0x1p-149f, 1e-3f, 3e38f};
    const float rows_warm[] = {2, 1, -3e38f, 3e38f, -0.0f};
    for (size_t t = 0; t < COUNT(temperatures); t++) {
        memcpy(values, rows_warm, sizeof rows_warm);
        row_check(SAMPLER_LOGITS, COUNT(rows_warm), temperatures[t], 4, 0, 16, "temperature");
    }
}

static void noise_check(const float *q, size_t vocab, const int32_t expected[3], const char *what)
{
    const enum sampler_rule rules[] = {RULE_RACE, RULE_GUMBEL, RULE_TORCH_RACE};
    float *row = copy_of(values, vocab * sizeof *row), *noise = copy_of(q, vocab * sizeof *q);
    for (size_t r = 0; r < COUNT(rules); r++) {
        const struct cuda_draws call = {.rule = (int32_t)rules[r],
                                        .kind = SAMPLER_PROBABILITIES,
                                        .values = row,
                                        .rows = 1,
                                        .vocab = (int64_t)vocab,
                                        .row_stride = (int64_t)vocab,
                                        .draws = 1,
                                        .noise = noise};
        expect_tokens(call, &expected[r], what);
    }
    free(row);
    free(noise);
}

static void noise_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(choices); i++) {
        const int32_t expected[] = {choices[i].race, choices[i].gumbel, choices[i].torch};
        memcpy(values, choices[i].weight, sizeof choices[i].weight);
        noise_check(choices[i].q, choices[i].vocab, expected, choices[i].what);
    }
}

/* The caller's noise may hold anything. */
static void noise_from_outside(void **state)
{
    (void)state;
    const float odd[] = {0, -0.0f, NAN, INFINITY, -INFINITY, -1, TINY, 0x1p-127f, 3e38f};
    const size_t vocab = 131;
    for (int kind = 0; kind < ROW_KINDS; kind++)
        for (size_t o = 0; o <= COUNT(odd); o++) {
            row_fill((enum row_kind)kind, SAMPLER_PROBABILITIES, vocab, 1);
            noise_fill(o, 5, vocab);
            for (size_t i = o % 7; i < vocab && o < COUNT(odd); i += 13)
                race_q[i] = odd[o];
            const int32_t expected[] = {rule_race(values, race_q, vocab), rule_gumbel(values, race_q, vocab),
                                        rule_torch_race(values, race_q, vocab)};
            noise_check(race_q, vocab, expected, "noise from outside");
        }
}

/* A batch of every size: rows of a padded tensor in any order, each draw with its own temperature, seed and
 * position; then the same draws from the seed of the launch. The padding is NaN and +inf. */
static void batches(void **state)
{
    (void)state;
    enum { ROWS = 5, VOCAB = 150, STRIDE = 163 };
    float *tensor = malloc(((ROWS - 1) * STRIDE + VOCAB) * sizeof *tensor);
    assert_non_null(tensor);
    for (size_t i = 0; i < (ROWS - 1) * STRIDE + VOCAB; i++)
        tensor[i] = i % 2 ? NAN : INFINITY;
    for (size_t r = 0; r < ROWS; r++) {
        row_fill(r == 2 ? ROW_MINUS_INFINITY : ROW_ORDINARY, SAMPLER_LOGITS, VOCAB, (uint32_t)r);
        memcpy(tensor + r * STRIDE, values, VOCAB * sizeof *values);
    }
    for (size_t draws = 1; draws <= 67; draws++) {
        int32_t row_index[67], expected[67], unseeded[67];
        float temperature[67];
        int64_t seeds[67], positions[67];
        const enum sampler_rule rule = (enum sampler_rule)(draws % RULE_COUNT);
        for (size_t d = 0; d < draws; d++) {
            row_index[d] = (int32_t)((d * 3 + draws) % ROWS);
            temperature[d] = 0.5f + (float)(d % 4);
            seeds[d] = d % 2 ? -(int64_t)d : INT64_MAX - (int64_t)d;
            positions[d] = (int64_t)(d * d) - 7;
            struct sampler_row *row = sampler_row_new(rule, SAMPLER_LOGITS, tensor + row_index[d] * STRIDE,
                                                      VOCAB, (double)temperature[d]);
            assert_non_null(row);
            sampler_draw_seeded(row, &seeds[d], &positions[d], 1, &expected[d]);
            sampler_draw(row, 9, 1000 + d, 1, &unseeded[d]);
            sampler_row_free(row);
        }
        struct cuda_draws call = {.rule = (int32_t)rule,
                                  .kind = SAMPLER_LOGITS,
                                  .values = tensor,
                                  .rows = ROWS,
                                  .vocab = VOCAB,
                                  .row_stride = STRIDE,
                                  .draws = (int64_t)draws,
                                  .row_index = copy_of(row_index, draws * sizeof *row_index),
                                  .temperature = copy_of(temperature, draws * sizeof *temperature),
                                  .seeds = copy_of(seeds, draws * sizeof *seeds),
                                  .positions = copy_of(positions, draws * sizeof *positions)};
        expect_tokens(call, expected, "batch, seeded");
        free((void *)(uintptr_t)call.seeds);
        free((void *)(uintptr_t)call.positions);
        call.seeds = call.positions = NULL;
        call.seed = 9;
        call.first_position = 1000;
        if (draws % 3 == 1)
            expect_tokens(call, unseeded, "batch, unseeded");
        free((void *)(uintptr_t)call.row_index);
        free((void *)(uintptr_t)call.temperature);
    }
    free(tensor);
}

/* Draws that are no valid ones do not harm their neighbours. */
static void invalid_draws(void **state)
{
    (void)state;
    enum { DRAWS = 10 };
    const float row[] = {-INFINITY, 1, -INFINITY};
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        const int32_t row_index[DRAWS] = {0, 1, -1, 0, INT32_MAX, 0, 0, 0, 0, 0};
        const float temperature[DRAWS] = {1, 1, 1, 1, 1, 0, -1, NAN, INFINITY, 2};
        const int32_t expected[DRAWS] = {1, -1, -1, 1, -1, -1, -1, -1, -1, 1};
        const struct cuda_draws call = {.rule = rule,
                                        .kind = SAMPLER_LOGITS,
                                        .values = row,
                                        .rows = 1,
                                        .vocab = 3,
                                        .row_stride = 3,
                                        .draws = DRAWS,
                                        .row_index = row_index,
                                        .temperature = temperature};
        expect_tokens(call, expected, "invalid draws");
    }
}

static void refusals(void **state)
{
    (void)state;
    const float row[] = {1, 2}, temperature[] = {1};
    const int64_t seeds[] = {1};
    int32_t token[1] = {77};
    const struct cuda_draws good = {.rule = RULE_RACE,
                                    .kind = SAMPLER_LOGITS,
                                    .values = row,
                                    .rows = 1,
                                    .vocab = 2,
                                    .row_stride = 2,
                                    .draws = 1,
                                    .token = token};
    struct cuda_draws bad[10];
    const char *const says[] = {"rule has no kernel", "rule has no kernel", "no temperature",
                                "takes no noise",     "come together",      "1 to 2^20 values",
                                "row stride",         "0 to 2^31 - 1",      "fp32, fp16 or bf16",
                                "for fewer draws"};
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].rule = RULE_COUNT;
    bad[1].rule = -1;
    bad[2].kind = SAMPLER_PROBABILITIES;
    bad[2].temperature = temperature;
    bad[3].rule = RULE_CATEGORICAL;
    bad[3].noise = row;
    bad[4].seeds = seeds;
    bad[5].vocab = bad[5].row_stride = (1 << 20) + 1;
    bad[6].row_stride = 1;
    bad[7].draws = -1;
    bad[8].dtype = NARROW_BF16 + 1;
    assert_null(cuda_workspace_new(&bad[9].workspace, 1, 0));
    bad[9].draws = 2;
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *why = cuda_draw(&bad[i], NULL);
        assert_non_null(why);
        if (!strstr(why, says[i]))
            fail_msg("'%s', without '%s'", why, says[i]);
    }
    cuda_workspace_free(&bad[9].workspace);
    bad[7].draws = 0; /* is nothing to do */
    assert_null(cuda_draw(&bad[7], NULL));
    assert_int_equal(token[0], 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_vocabularies),
        cmocka_unit_test(warp_boundaries),
        cmocka_unit_test(edge_rows),
        cmocka_unit_test(edge_weights),
        cmocka_unit_test(noise_by_hand),
        cmocka_unit_test(noise_from_outside),
        cmocka_unit_test(batches),
        cmocka_unit_test(invalid_draws),
        cmocka_unit_test(refusals),
        cmocka_unit_test(plan_tables),
    };
    return cmocka_run_group_tests_name("cuda through the shim", tests, NULL, NULL);
}
