/* test_cuda_defect.c: kernels with a planted defect are caught: a missing barrier by wrong tokens, an array
 * that is too short by its guards or by AddressSanitizer. The build makes one library of cuda.cu for each
 * defect. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernels/cuda.h"
#include "kernels/test_rows.h"
#include "kernels/test_schedules.h"
#include "kernels/test_shim_library.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *(*defect_draw)(const struct cuda_draws *, void *);
static int32_t defect_token[24];

/* The number of wrong tokens of 24 rows under one schedule, with the library's defect. */
static int defect_wrong(const char *library, const struct schedule *schedule)
{
    enum { ROWS = 24, VOCAB = 1000 };
    int32_t row_index[ROWS];
    float *tensor = malloc(ROWS * VOCAB * sizeof *tensor);
    int wrong = 0;
    assert_non_null(tensor);
    for (size_t r = 0; r < ROWS; r++) {
        row_fill(ROW_ORDINARY, SAMPLER_LOGITS, VOCAB, (uint32_t)r);
        memcpy(tensor + r * VOCAB, values, VOCAB * sizeof *values);
        row_index[r] = (int32_t)r;
    }
    const struct cuda_draws call = {.rule = RULE_RACE,
                                    .kind = SAMPLER_LOGITS,
                                    .values = tensor,
                                    .rows = ROWS,
                                    .vocab = VOCAB,
                                    .row_stride = VOCAB,
                                    .draws = ROWS,
                                    .row_index = row_index,
                                    .token = defect_token};
    void *loaded = shim_library(library);
    *(void **)&defect_draw = shim_library_symbol(loaded, "cuda_draw");
    void (*set_schedule)(enum shim_order, uint64_t);
    *(void **)&set_schedule = shim_library_symbol(loaded, "shim_schedule");
    set_schedule(schedule->order, schedule->seed);
    const char *why = defect_draw(&call, NULL);
    if (why)
        fail_msg("%s: %s", library, why);
    for (size_t r = 0; r < ROWS; r++) {
        int32_t token;
        struct sampler_row *row = sampler_row_new(RULE_RACE, SAMPLER_LOGITS, tensor + r * VOCAB, VOCAB, 1);
        assert_non_null(row);
        sampler_draw(row, 0, r, 1, &token);
        sampler_row_free(row);
        wrong += defect_token[r] != token;
    }
    free(tensor);
    return wrong;
}

/* Without either barrier of a reduction some schedule gives wrong tokens. */
static void missing_barriers(void **state)
{
    (void)state;
    static const char *const libraries[] = {"cuda-defect-1.so", "cuda-defect-2.so"};
    static const char *const names[] = {"after the write", "before the write"};
    for (size_t l = 0; l < COUNT(libraries); l++) {
        int wrong = 0;
        for (size_t s = 0; s < COUNT(schedules); s++) {
            const int rows = defect_wrong(libraries[l], &schedules[s]);
            print_message("no barrier %s, %s: %d of 24 rows wrong\n", names[l], schedules[s].name, rows);
            wrong += rows;
        }
        assert_true(wrong > 0);
    }
}

static void short_array_child(void)
{
    void *library = shim_library("cuda-defect-3.so");
    *(void **)&defect_draw = shim_library_symbol(library, "cuda_draw");
    row_fill(ROW_ORDINARY, SAMPLER_LOGITS, 1000, 1);
    const struct cuda_draws call = {.rule = RULE_RACE,
                                    .kind = SAMPLER_LOGITS,
                                    .values = values,
                                    .rows = 1,
                                    .vocab = 1000,
                                    .row_stride = 1000,
                                    .draws = 1,
                                    .token = defect_token};
    shim_child_says(defect_draw(&call, NULL));
}

static void short_array(void **state)
{
    (void)state;
    shim_overflow_expect(short_array_child, "shared array 'partial' was written past its end", "cuda.cu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_barriers),
        cmocka_unit_test(short_array),
    };
    return cmocka_run_group_tests_name("cuda, planted defects", tests, NULL, NULL);
}
