/* report_parameters.c: what parameters cost, as a plan about parameters measured it: cells side by side, what each switch adds
 * as N grows, time against the bytes of the softmax, and what each remedy saved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/bench/grid.h"
#include "suite/bench/report.h"
#include "suite/cost/stages.h"

#define EPSILON 1e-5 /* vLLM 0.5.0's: nearer to off than this is off */

/* A column of the plan's points: one sampler, one figure. */
struct view {
    const struct bench_report *report;
    size_t contestant;
    enum bench_figure figure;
};

static const struct bench_point *point_of(const struct bench *bench, const struct bench_cell *cell,
                                          uint32_t batch)
{
    for (size_t p = 0; p < bench->points; p++)
        if (bench->point[p].cell == cell && bench->point[p].batch == batch)
            return &bench->point[p];
    return NULL;
}

/* Median of a call, nanoseconds; 0 if it was not measured. */
static double median_of(const struct view *view, const struct bench_point *point)
{
    if (!point)
        return 0;
    return bench_summarize(view->report->bench, &point->series[view->contestant], view->figure)
        .quartiles.median;
}

static void title(const struct view *view, const char *what)
{
    const bool markdown = view->report->markdown;
    printf("\n%s[%zu] %s, %s%s\n\n", markdown ? "**" : "",
           view->report->bench->contestant[view->contestant].sut + 1, what, bench_figure_names[view->figure],
           markdown ? "**" : "");
}

/* All batch sizes of the plan's cells of one table, rising. Returns how many. */
static size_t batches_of(const struct bench *bench, const struct table *table, uint32_t batch[64])
{
    size_t count = 0;
    for (size_t p = 0; p < bench->points; p++) {
        const uint32_t size = bench->point[p].batch;
        size_t at = 0;
        if (bench->point[p].cell->table != table)
            continue;
        while (at < count && batch[at] < size)
            at++;
        if ((at < count && batch[at] == size) || count == 64)
            continue;
        memmove(batch + at + 1, batch + at, (count - at) * sizeof *batch);
        batch[at] = size;
        count++;
    }
    return count;
}

/* "1,234.5 (3) x1.42": median, spread, and times the cell it is over. */
static void add_time(const struct view *view, const struct bench_cell *cell, uint32_t batch,
                     struct grid *grid)
{
    const struct bench *bench = view->report->bench;
    const struct bench_point *point = point_of(bench, cell, batch);
    if (!point) {
        grid_add(grid, "-");
        return;
    }
    const struct bench_series *series = &point->series[view->contestant];
    const struct bench_summary summary = bench_summarize(bench, series, view->figure);
    const double over = cell->over ? median_of(view, point_of(bench, cell->over, batch)) : 0;
    if (!summary.calls)
        grid_add(grid, "%s", bench_state_names[series->state]);
    else if (over > 0)
        grid_add(grid, "%s (%.0f%s) x%.2f", bench_microseconds(summary.quartiles.median),
                 100 * summary.spread, summary.marked ? "!" : "", summary.quartiles.median / over);
    else
        grid_add(grid, "%s (%.0f%s)", bench_microseconds(summary.quartiles.median), 100 * summary.spread,
                 summary.marked ? "!" : "");
}

static void print_cells(const struct view *view)
{
    const struct bench *bench = view->report->bench;
    title(view, "microseconds a step (spread), and times the cell it is held over");
    for (size_t t = 0; t < bench->plan->tables; t++) {
        const struct table *table = &bench->plan->table[t];
        uint32_t batch[64];
        const size_t batches = batches_of(bench, table, batch);
        if (batches == 0)
            continue;
        struct grid grid = grid_new(2 + batches);
        grid_add(&grid, "V = %zu", table->vocab);
        grid_add(&grid, "over");
        for (size_t b = 0; b < batches; b++)
            grid_add(&grid, "N = %u", batch[b]);
        for (size_t i = 0; i < bench->plan->cells; i++) {
            const struct bench_cell *cell = &bench->plan->cell[i];
            if (cell->table != table || !point_of(bench, cell, cell->batch[0]))
                continue;
            grid_add(&grid, "%s", cell->name);
            grid_add(&grid, "%s", cell->over ? cell->over->name : "");
            for (size_t b = 0; b < batches; b++)
                add_time(view, cell, batch[b], &grid);
        }
        grid_print(&grid, 2, view->report->markdown);
        putchar('\n');
        grid_free(&grid);
    }
}

/* What a cell adds to the one it is over, and the slope of that in N. */
static void print_growth(const struct view *view)
{
    const struct bench *bench = view->report->bench;
    struct grid grid = grid_new(6);
    static const char *const heads[] = {
        "cell", "over", "V", "a request more adds", "of which over adds", "extra at each N, us"};
    for (size_t i = 0; i < 6; i++)
        grid_add(&grid, "%s", heads[i]);
    for (size_t i = 0; i < bench->plan->cells; i++) {
        const struct bench_cell *cell = &bench->plan->cell[i];
        double size[BENCH_BATCHES_MAX], time[BENCH_BATCHES_MAX], base[BENCH_BATCHES_MAX];
        char extra[256] = "";
        size_t count = 0;
        for (size_t b = 0; b < cell->batches && cell->over; b++) {
            const double own = median_of(view, point_of(bench, cell, cell->batch[b])),
                         over = median_of(view, point_of(bench, cell->over, cell->batch[b]));
            if (own <= 0 || over <= 0)
                continue;
            const size_t used = strlen(extra);
            snprintf(extra + used, sizeof extra - used, "%s%u: %s", used ? ", " : "", cell->batch[b],
                     bench_microseconds(own - over));
            size[count] = cell->batch[b];
            time[count] = own;
            base[count++] = over;
        }
        if (count < 2)
            continue;
        grid_add(&grid, "%s", cell->name);
        grid_add(&grid, "%s", cell->over->name);
        grid_add(&grid, "%zu", cell->table->vocab);
        grid_add(&grid, "%s us", bench_microseconds(line_fit(size, time, count).slope));
        grid_add(&grid, "%s us", bench_microseconds(line_fit(size, base, count).slope));
        grid_add(&grid, "%s", extra);
    }
    if (grid.texts > grid.columns) {
        title(view, "how the cost of each switch grows with N (slopes fitted)");
        grid_print(&grid, 3, view->report->markdown);
    }
    grid_free(&grid);
}

/* Does a row that asks this open a stage of vLLM 0.5.0 (suite/cost/stages.h)? */
static void opened(const struct bench_ask *ask, size_t vocab, bool open[ENGINE_STAGES])
{
    const struct law_limits *limits = &ask->parameters.limits;
    const struct law_edits *edits = &ask->parameters.edits;
    const bool greedy = ask->temperature < EPSILON;
    open[ENGINE_STAGE_TOP_P_TOP_K] |=
        !greedy && (limits->top_p < 1 - EPSILON || (limits->top_k != -1 && (size_t)limits->top_k < vocab));
    open[ENGINE_STAGE_MIN_P] |= !greedy && limits->min_p > EPSILON;
    open[ENGINE_STAGE_PENALTIES] |= fabs(edits->presence) >= EPSILON || fabs(edits->frequency) >= EPSILON ||
                                    fabs(edits->repetition - 1) >= EPSILON;
}

/* What the stages of vLLM 0.5.0 read and write at least in such a step. */
static double bytes_moved(const struct bench_cell *cell, uint32_t batch, enum value_dtype dtype)
{
    static const enum cost_dtype dtypes[] = {COST_FLOAT32, COST_FLOAT16, COST_BFLOAT16};
    bool open[ENGINE_STAGES] = {false};
    int64_t rows[ENGINE_DRAWS] = {0};
    const size_t all = bench_rows(cell, batch), neighbours = bench_neighbours(cell, batch);
    open[ENGINE_STAGE_TEMPERATURE] = open[ENGINE_STAGE_SOFTMAX] = open[ENGINE_STAGE_SAMPLE] =
        open[ENGINE_STAGE_LOGPROBS] = true;
    opened(&cell->ask, cell->table->vocab, open);
    if (neighbours)
        opened(&cell->neighbour, cell->table->vocab, open);
    rows[cell->ask.temperature < EPSILON ? ENGINE_DRAW_GREEDY : ENGINE_DRAW_RANDOM] =
        (int64_t)(all - neighbours);
    rows[neighbours && cell->neighbour.temperature < EPSILON ? ENGINE_DRAW_GREEDY : ENGINE_DRAW_RANDOM] +=
        (int64_t)neighbours;
    struct cost_step step = cost_step_of((int64_t)cell->table->vocab, dtypes[dtype], rows);
    for (int d = 0; d < ENGINE_DRAWS; d++)
        step.columns[d] = cell->samples;
    double sum = 0;
    for (enum engine_stage stage = 0; stage < ENGINE_STAGES; stage++) {
        const struct cost_bytes bytes = cost_stage(&step, stage);
        sum += open[stage] ? (double)bytes.reads + (double)bytes.writes : 0;
    }
    return sum;
}

/* The points of one series in the order of the plan; its cells are all that share its name. */
static void print_series(const struct view *view, const char *series)
{
    const struct bench *bench = view->report->bench;
    const enum value_dtype dtype = bench->sut[bench->contestant[view->contestant].sut].sut.dtype;
    double *bytes = calloc(bench->points, sizeof *bytes), *time = calloc(bench->points, sizeof *time);
    if (!bytes || !time)
        abort();
    size_t count = 0;
    struct grid grid = grid_new(7);
    static const char *const heads[] = {
        "series", "V", "N", "8 N V, bytes", "moved at least, bytes", "us", "ns a byte of 8 N V"};
    for (size_t i = 0; i < 7; i++)
        grid_add(&grid, "%s", heads[i]);
    for (size_t p = 0; p < bench->points; p++) {
        const struct bench_point *point = &bench->point[p];
        const double median = median_of(view, point);
        if (strcmp(point->cell->series, series) || median <= 0)
            continue;
        bytes[count] = 8 * (double)bench_rows(point->cell, point->batch) * (double)point->cell->table->vocab;
        time[count] = median;
        grid_add(&grid, "%s", series);
        grid_add(&grid, "%zu", point->cell->table->vocab);
        grid_add(&grid, "%u", point->batch);
        grid_add(&grid, "%.0f", bytes[count]);
        grid_add(&grid, "%.0f", bytes_moved(point->cell, point->batch, dtype));
        grid_add(&grid, "%s", bench_microseconds(median));
        grid_add(&grid, "%.3f", median / bytes[count]);
        count++;
    }
    if (count >= 3) {
        const struct line line = line_fit(bytes, time, count);
        grid_print(&grid, 1, view->report->markdown);
        printf("\n%s: %s us + %.3f ns (+-%.3f) a byte of 8 N V; the worst point is %.0f %% off the line\n\n",
               series, bench_microseconds(line.intercept), line.slope, line.slope_error, 100 * line.worst);
    }
    grid_free(&grid);
    free(bytes);
    free(time);
}

static void print_all_series(const struct view *view)
{
    const struct bench_plan *plan = view->report->bench->plan;
    bool any = false;
    for (size_t i = 0; i < plan->cells; i++) {
        bool first = *plan->cell[i].series;
        for (size_t k = 0; k < i; k++)
            first &= strcmp(plan->cell[k].series, plan->cell[i].series) != 0;
        if (!first)
            continue;
        if (!any)
            title(view, "time against the softmax's two fp32 tensors (moved at least: what vLLM 0.5.0's "
                        "stages would)");
        any = true;
        print_series(view, plan->cell[i].series);
    }
}

static void add_remedy(const struct view *view, const struct bench_remedy *remedy, uint32_t from, uint32_t to,
                       struct grid *grid)
{
    const struct bench *bench = view->report->bench;
    const double before = median_of(view, point_of(bench, remedy->from, from)),
                 after = median_of(view, point_of(bench, remedy->to, to));
    if (before <= 0 || after <= 0)
        return;
    grid_add(grid, "%s", remedy->action);
    grid_add(grid, "%s", remedy->costs);
    if (from == to)
        grid_add(grid, "%u", from);
    else
        grid_add(grid, "%u to %u", from, to);
    grid_add(grid, "%s", bench_microseconds(before));
    grid_add(grid, "%s", bench_microseconds(after));
    grid_add(grid, "%.0f %%", 100 * (1 - after / before));
}

static void print_remedies(const struct view *view)
{
    const struct bench_plan *plan = view->report->bench->plan;
    struct grid grid = grid_new(6);
    static const char *const heads[] = {"remedy", "gives up", "N", "before, us", "after, us", "saved"};
    for (size_t i = 0; i < 6; i++)
        grid_add(&grid, "%s", heads[i]);
    for (size_t i = 0; i < plan->remedies; i++) {
        const struct bench_remedy *remedy = &plan->remedy[i];
        for (size_t b = 0; b < remedy->from->batches && !remedy->from_batch; b++)
            add_remedy(view, remedy, remedy->from->batch[b], remedy->from->batch[b], &grid);
        if (remedy->from_batch)
            add_remedy(view, remedy, remedy->from_batch, remedy->to_batch, &grid);
    }
    if (grid.texts > grid.columns) {
        title(view, "the remedies, measured");
        grid_print(&grid, 2, view->report->markdown);
    }
    grid_free(&grid);
}

void bench_report_parameters(const struct bench_report *report)
{
    const struct bench *bench = report->bench;
    for (size_t c = 0; c < bench->contestants; c++) {
        const bool queues = bench->sut[bench->contestant[c].sut].queues;
        struct view view = {report, c, queues ? BENCH_SYNC : BENCH_HOST};
        print_cells(&view);
        if (!queues) { /* where other programs run, this is the steadier of the two */
            view.figure = BENCH_CPU;
            print_cells(&view);
        }
        print_growth(&view);
        print_all_series(&view);
        print_remedies(&view);
    }
}
