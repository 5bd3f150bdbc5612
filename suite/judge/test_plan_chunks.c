/* test_plan_chunks.c: chunks cover every draw once, and their seeds are the documented hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/judge/plan.h"

#define GOLDEN SAMPLEGATE_SOURCE_DIR "/golden"

static int seed_order(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The properties that plan.h promises, of one cell and stage; appends the seeds. */
static void check_cell(const struct plan *plan, size_t cell, int stage, uint64_t *seed, size_t *seeds)
{
    const struct plan_cell *this = &plan->cell[cell];
    uint64_t total = this->draws * (stage == 2 ? 2 : 1), sum = 0, of_batch[PLAN_BATCHES_MAX] = {0};
    uint64_t limit = (this->family == FAMILY_AGREEMENT ? 1u << 23 : 1u << 28) / this->table->vocab;
    limit = limit < 64 ? 64 : limit < 65536 ? limit : 65536;
    size_t count;
    struct plan_chunk *chunk = plan_chunks(plan, cell, stage, &count);
    assert_non_null(chunk);
    for (size_t i = 0; i < count; i++) {
        const struct plan_chunk *c = &chunk[i];
        int first = i == 0 || chunk[i - 1].batch != c->batch,
            last = i + 1 == count || chunk[i + 1].batch != c->batch;
        assert_true(c->cell == cell && c->stage == stage && c->draws >= 1 && c->draws <= limit);
        assert_true(i == 0 || c->batch >= chunk[i - 1].batch);
        assert_int_equal(c->index, first ? 0 : chunk[i - 1].index + 1);
        assert_true(last ||
                    (c->draws % 64 == 0 && c->draws + 64 > limit)); /* as large as a multiple of 64 may be */
        assert_true(c->seed >> 63 == 0);
        of_batch[c->batch] += c->draws;
        sum += c->draws;
        seed[(*seeds)++] = c->seed;
    }
    assert_int_equal(sum, total);
    for (size_t b = 0; b + 1 < plan->batches; b++)
        assert_int_equal(of_batch[b], total * plan->batch[b].numerator / plan->batch[b].denominator);
    free(chunk);
}

static void every_draw_once(void **state)
{
    (void)state;
    static const char *const names[] = {"quick", "gate", "pair", "published-38117"};
    static uint64_t seed[4096];
    for (size_t p = 0; p < sizeof names / sizeof *names; p++) {
        struct plan plan;
        struct trouble trouble = {0};
        if (plan_load(&plan, names[p], GOLDEN, &trouble))
            fail_msg("%s", trouble.text);
        size_t seeds = 0;
        for (size_t cell = 0; cell < plan.cells; cell++)
            for (int stage = 1; stage <= 2; stage++)
                check_cell(&plan, cell, stage, seed, &seeds);
        qsort(seed, seeds, sizeof *seed, seed_order);
        for (size_t i = 1; i < seeds; i++)
            assert_true(seed[i - 1] != seed[i]); /* no two chunks of a plan share their noise */
        plan_free(&plan);
    }
}

/* A plan of one table and one cell, without a file. */
struct small {
    struct plan plan;
    struct table table;
    struct plan_cell cell;
};

static void small_init(struct small *small, const char *name, uint64_t draws, size_t vocab,
                       enum cell_family family)
{
    *small = (struct small){.table = {.name = "t", .vocab = vocab},
                            .cell = {.family = family, .table = &small->table, .draws = draws}};
    strncpy(small->cell.name, name, sizeof small->cell.name - 1);
    small->plan.table = &small->table;
    small->plan.cell = &small->cell;
    small->plan.tables = small->plan.cells = 1;
}

static void sizes_by_hand(void **state)
{
    (void)state;
    static const struct {
        uint64_t draws;
        size_t vocab;
        enum cell_family family;
        size_t chunks;
        uint64_t first, last;
    } cases[] = {
        {65536, 2, FAMILY_EQUIVALENCE, 1, 65536, 65536},
        {65537, 2, FAMILY_EQUIVALENCE, 2, 65536, 1},
        {10000, 151936, FAMILY_EQUIVALENCE, 6, 1728, 1360}, /* 2^28 / 151936 = 1766.8 -> 27 * 64 */
        {1000, 1 << 20, FAMILY_EQUIVALENCE, 4, 256, 232},   /* 2^28 / 2^20 = 256 */
        {1000, 50257, FAMILY_AGREEMENT, 8, 128, 104},       /* 2^23 / 50257 = 166.9 -> 2 * 64 */
        {65, 1 << 20, FAMILY_AGREEMENT, 2, 64, 1},          /* 2^23 / 2^20 = 8 -> 64 at least */
        {1, 7, FAMILY_AGREEMENT, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct small small;
        small_init(&small, "c", cases[i].draws, cases[i].vocab, cases[i].family);
        small.plan.batches = 1;
        small.plan.batch[0] = (struct plan_batch){32, 1, 1};
        size_t count;
        struct plan_chunk *chunk = plan_chunks(&small.plan, 0, 1, &count);
        assert_non_null(chunk);
        assert_int_equal(count, cases[i].chunks);
        assert_int_equal(chunk[0].draws, cases[i].first);
        assert_int_equal(chunk[count - 1].draws, cases[i].last);
        free(chunk);
    }
}

/* Three draws over shares of 1/2, 1/4 and 1/4: 1, 0 and the remainder, 2. A batch without draws has no chunk.
 */
static void remainder_to_last(void **state)
{
    (void)state;
    struct small small;
    small_init(&small, "c", 3, 10, FAMILY_EQUIVALENCE);
    small.plan.batches = 3;
    small.plan.batch[0] = (struct plan_batch){1, 1, 2};
    small.plan.batch[1] = (struct plan_batch){8, 1, 4};
    small.plan.batch[2] = (struct plan_batch){64, 1, 4};
    size_t count;
    struct plan_chunk *chunk = plan_chunks(&small.plan, 0, 1, &count);
    assert_non_null(chunk);
    assert_int_equal(count, 2);
    assert_true(chunk[0].batch == 0 && chunk[0].draws == 1);
    assert_true(chunk[1].batch == 2 && chunk[1].draws == 2 && chunk[1].index == 0);
    free(chunk);
}

/* Two seeds computed with another library: int.from_bytes(hashlib.sha256(b"...").digest()[:8], "big") >> 1 in
 * Python, of
 * "<64 zeros>/38117/cell.a/1/8/3" and "<32 times ab>/18446744073709551615/zipf-257/2/65536/0". */
static void seeds_by_hash(void **state)
{
    (void)state;
    struct small small;
    size_t count;
    small_init(&small, "cell.a", 4 * 65536, 10, FAMILY_EQUIVALENCE);
    small.plan.batches = 1;
    small.plan.batch[0] = (struct plan_batch){8, 1, 1};
    small.plan.seed = 38117;
    memset(small.plan.sha256, '0', 64);
    struct plan_chunk *chunk = plan_chunks(&small.plan, 0, 1, &count);
    assert_non_null(chunk);
    assert_int_equal(count, 4);
    assert_true(chunk[3].seed == UINT64_C(3410959254388550341));
    free(chunk);
    small_init(&small, "zipf-257", 1, 257, FAMILY_EQUIVALENCE);
    small.plan.batches = 1;
    small.plan.batch[0] = (struct plan_batch){65536, 1, 1};
    small.plan.seed = UINT64_MAX;
    for (size_t i = 0; i < 64; i++)
        small.plan.sha256[i] = "ab"[i % 2];
    chunk = plan_chunks(&small.plan, 0, 2, &count);
    assert_non_null(chunk);
    assert_true(chunk[0].seed == UINT64_C(123584223399006149));
    free(chunk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_draw_once),
        cmocka_unit_test(sizes_by_hand),
        cmocka_unit_test(remainder_to_last),
        cmocka_unit_test(seeds_by_hash),
    };
    return cmocka_run_group_tests_name("plan chunks", tests, NULL, NULL);
}
