/* test_cuda_defect.c: kernels with a planted defect are caught, by the same launches that the kernels without one
 * survive: by wrong tokens, by a shared array's guards or AddressSanitizer, or by what a launch asks of the runtime.
 * The build makes one library of the .cu files with all defects. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "kernels/cuda_defect.h"
#include "kernels/cuda_graph.h"
#include "kernels/test_cuda_staged.h"
#include "kernels/test_shim_library.h"

/* The library. */
static struct {
    const char *(*draw)(const struct cuda_draws *, void *);
    const char *(*workspace_new)(struct cuda_workspace *, int64_t, int64_t);
    void (*workspace_free)(struct cuda_workspace *);
    void (*schedule)(enum shim_order, uint64_t);
    unsigned long (*waits_made)(void);
    const char *(*graph_new)(void **, cuda_graph_call, const void *, int64_t, void *);
    const char *(*graph_launch)(void *, void *);
    void (*graph_free)(void *);
    int *planted;
} defects;

static int library_take(void **state)
{
    (void)state;
    void *library = shim_library("cuda-defects.so");
    *(void **)&defects.draw = shim_library_symbol(library, "cuda_draw");
    *(void **)&defects.workspace_new = shim_library_symbol(library, "cuda_workspace_new");
    *(void **)&defects.workspace_free = shim_library_symbol(library, "cuda_workspace_free");
    *(void **)&defects.schedule = shim_library_symbol(library, "shim_schedule");
    *(void **)&defects.waits_made = shim_library_symbol(library, "shim_waits_made");
    *(void **)&defects.graph_new = shim_library_symbol(library, "cuda_graph_new");
    *(void **)&defects.graph_launch = shim_library_symbol(library, "cuda_graph_launch");
    *(void **)&defects.graph_free = shim_library_symbol(library, "cuda_graph_free");
    defects.planted = shim_library_symbol(library, "cuda_defect_planted");
    return 0;
}

/* A launch and its tokens by the definition. */
struct scenario {
    struct cuda_draws call;
    int32_t expected[600];
    int32_t columns; /* worth a block; 0: no workspace */
    int launches;
};

/* The number of wrong tokens under one schedule: all that a launch does not write which the shim stops. */
static int wrong_tokens(const struct scenario *scenario, enum cuda_defect defect,
                        const struct schedule *schedule)
{
    struct cuda_draws call = scenario->call;
    const size_t bytes = (size_t)call.draws * sizeof *call.token;
    int wrong = 0;
    call.token = malloc(bytes);
    assert_non_null(call.token);
    *defects.planted = (int)defect;
    defects.schedule(schedule->order, schedule->seed);
    if (scenario->columns) {
        assert_null(defects.workspace_new(&call.workspace, call.draws, call.vocab));
        call.workspace.columns = scenario->columns;
    }
    for (int launch = 0; launch < scenario->launches; launch++) {
        memset(call.token, 0x55, bytes);
        const char *why = defects.draw(&call, NULL);
        if (why && defect == DEFECT_NONE)
            fail_msg("%s", why);
        for (int64_t d = 0; d < call.draws; d++)
            wrong += call.token[d] != scenario->expected[d];
    }
    defects.workspace_free(&call.workspace);
    free(call.token);
    return wrong;
}

/* Without the defect no schedule gives a wrong token, with it some schedule does. */
static void expect_caught(const struct scenario *scenario, enum cuda_defect defect, const char *what)
{
    int all = 0;
    for (size_t s = 0; s < COUNT(schedules); s++) {
        assert_int_equal(wrong_tokens(scenario, DEFECT_NONE, &schedules[s]), 0);
        const int wrong = wrong_tokens(scenario, defect, &schedules[s]);
        print_message("%s, %s: %d of %d tokens wrong\n", what, schedules[s].name, wrong,
                      (int)scenario->call.draws * scenario->launches);
        all += wrong;
    }
    assert_true(all > 0);
}

/* Rows of a kind under a rule, one draw each. */
static struct scenario scenario_of(enum sampler_rule rule, enum sampler_values kind, enum row_kind row,
                                   size_t vocab, size_t rows)
{
    enum { ROWS = 24, VALUES = 24 * 10000 };
    static float tensor[VALUES];
    static int32_t row_index[ROWS];
    struct scenario scenario = {.call = {.rule = (int32_t)rule,
                                         .kind = (int32_t)kind,
                                         .values = tensor,
                                         .rows = (int64_t)rows,
                                         .vocab = (int64_t)vocab,
                                         .row_stride = (int64_t)vocab,
                                         .draws = (int64_t)rows,
                                         .row_index = row_index},
                                .launches = 1};
    assert_true(rows <= ROWS && rows * vocab <= VALUES);
    for (size_t r = 0; r < rows; r++) {
        row_fill(row, kind, vocab, (uint32_t)r);
        memcpy(tensor + r * vocab, values, vocab * sizeof *values);
        row_index[r] = (int32_t)r;
        weights_fill(kind, vocab, 1);
        noise_fill(0, r, vocab);
        scenario.expected[r] = token_of_definition(rule, kind, vocab, 0, r);
    }
    return scenario;
}

static void missing_barriers(void **state)
{
    (void)state;
    struct scenario scenario = scenario_of(RULE_RACE, SAMPLER_LOGITS, ROW_ORDINARY, 1000, 24);
    expect_caught(&scenario, DEFECT_NO_BARRIER_AFTER_WRITE, "race, no barrier after the write");
    scenario = scenario_of(RULE_CATEGORICAL, SAMPLER_LOGITS, ROW_ORDINARY, 1000, 24);
    expect_caught(&scenario, DEFECT_NO_BARRIER_AFTER_WRITE, "categorical, no barrier after the write");
    expect_caught(&scenario, DEFECT_NO_BARRIER_BEFORE_WRITE, "categorical, no barrier before the write");
}

static void shared_rows(void **state)
{
    (void)state;
    struct scenario scenario = scenario_of(RULE_GREEDY, SAMPLER_PROBABILITIES, ROW_FEW_LEVELS, 257, 2);
    scenario.columns = 8;
    expect_caught(&scenario, DEFECT_TIE_TO_LAST_BLOCK, "equal scores in two blocks");
    scenario = scenario_of(RULE_RACE, SAMPLER_LOGITS, ROW_ORDINARY, 257, 2);
    scenario.columns = 8;
    scenario.launches = 3;
    expect_caught(&scenario, DEFECT_COUNTER_LEFT, "a counter that is not put back");
}

static void short_cuts(void **state)
{
    (void)state;
    struct scenario scenario = scenario_of(RULE_RACE, SAMPLER_PROBABILITIES, ROW_ORDINARY, 7, 24);
    expect_caught(&scenario, DEFECT_TAIL_SKIPPED, "the tail of a row skipped");
    for (int kind = 0; kind < 2; kind++) {
        scenario = scenario_of(RULE_RACE, (enum sampler_values)kind, ROW_ORDINARY, 10000, 24);
        expect_caught(&scenario, DEFECT_FILTER_NO_SLACK, "a filter without slack");
    }
    scenario.call = near_ties_make(RULE_GUMBEL, SAMPLER_LOGITS, 600, scenario.expected);
    expect_caught(&scenario, DEFECT_NEAR_TIES_TRUSTED, "near ties trusted");
}

/* Filters: rows of few levels, so that cuts fall between equal weights. */
static void filters(void **state)
{
    (void)state;
    static const struct {
        enum cuda_defect defect;
        enum row_kind row;
        const char *what;
    } planted[] = {{DEFECT_HISTOGRAM_NOT_ZERO, ROW_ORDINARY, "a histogram not zeroed"},
                   {DEFECT_TIES_ALL, ROW_FEW_LEVELS, "ties at a cut all kept"},
                   {DEFECT_BOUNDARY, ROW_FLAT, "a boundary that moved"},
                   {DEFECT_NO_BARRIER_BEFORE_WRITE, ROW_ORDINARY, "filters, no barrier before the write"}};
    static struct filter_parameters parameters[STAGED_DRAWS];
    const struct cuda_functions loaded = {defects.draw, defects.workspace_new, defects.workspace_free};
    for (size_t p = 0; p < COUNT(planted); p++) {
        struct staged_case at = staged_case_of(RULE_RACE, SAMPLER_PROBABILITIES, 896);
        at.filter_rule = filter_rule_at(0);
        at.parameters = parameters;
        at.draws = COUNT(parameters);
        row_fill(planted[p].row, at.kind, at.vocab, 5);
        for (size_t d = 0; d < at.draws; d++)
            parameters[d] =
                (struct filter_parameters){d % 2 ? -1 : 3 + (int64_t)d, d % 2 ? (double)d / 64 : 1, 0};
        size_t all = 0;
        for (size_t s = 0; s < COUNT(schedules); s++) {
            char text[200];
            defects.schedule(schedules[s].order, schedules[s].seed);
            *defects.planted = DEFECT_NONE;
            assert_int_equal(staged_wrong(&at, &loaded, text), 0);
            *defects.planted = (int)planted[p].defect;
            const size_t wrong = staged_wrong(&at, &loaded, text);
            print_message("%s, %s: %zu wrong; %s\n", planted[p].what, schedules[s].name, wrong,
                          wrong ? text : "");
            all += wrong;
        }
        assert_true(all > 0);
    }
}

static const char *graph_draw(const void *call, int64_t index, void *stream)
{
    (void)index;
    return defects.draw(call, stream);
}

/* What a launch asks of the runtime besides a kernel: it is counted, and cannot be captured. */
static void waiting(void **state)
{
    (void)state;
    const struct scenario scenario = scenario_of(RULE_RACE, SAMPLER_LOGITS, ROW_ORDINARY, 20, 1);
    const enum cuda_defect defect[] = {DEFECT_NONE, DEFECT_ALLOCATES, DEFECT_WAITS};
    int32_t token[1];
    struct cuda_draws call = scenario.call;
    call.token = token;
    for (size_t i = 0; i < COUNT(defect); i++) {
        *defects.planted = (int)defect[i];
        const unsigned long before = defects.waits_made();
        assert_null(defects.draw(&call, NULL));
        assert_int_equal(defects.waits_made() > before, defect[i] != DEFECT_NONE);
        void *graph = NULL;
        token[0] = 77;
        const char *why = defects.graph_new(&graph, graph_draw, &call, 1, NULL);
        assert_int_equal(!why, defect[i] == DEFECT_NONE);
        assert_int_equal(token[0], 77);
        if (why)
            continue;
        assert_null(defects.graph_launch(graph, NULL));
        assert_int_equal(token[0], scenario.expected[0]);
        defects.graph_free(graph);
    }
}

static void short_array_child(void)
{
    const struct scenario scenario = scenario_of(RULE_CATEGORICAL, SAMPLER_LOGITS, ROW_ORDINARY, 1000, 1);
    int32_t token[1];
    struct cuda_draws call = scenario.call;
    call.token = token;
    *defects.planted = DEFECT_SHORT_ARRAY;
    shim_child_says(defects.draw(&call, NULL));
}

static void short_array(void **state)
{
    (void)state;
    shim_overflow_expect(short_array_child, "shared array 'partial' was written past its end",
                         "cuda_block.cuh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_barriers), cmocka_unit_test(shared_rows), cmocka_unit_test(short_cuts),
        cmocka_unit_test(filters),          cmocka_unit_test(waiting),     cmocka_unit_test(short_array),
    };
    return cmocka_run_group_tests_name("cuda, planted defects", tests, library_take, NULL);
}
