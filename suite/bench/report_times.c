/* report_times.c: samplers and machine, and every time as a table: what a person reads first. */
#include "suite/bench/grid.h"
#include "suite/bench/report.h"
#include "suite/plural.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *bench_microseconds(double nanoseconds)
{
    static char texts[8][32];
    static unsigned turn;
    char *text = texts[turn++ % 8], plain[32];
    const double us = nanoseconds / 1000;
    snprintf(plain, sizeof plain, fabs(us) < 1000 ? "%.1f" : "%.0f", us);
    const size_t whole = strcspn(plain, "."), sign = *plain == '-';
    size_t at = 0;
    for (size_t i = 0; plain[i]; i++) {
        if (i > sign && i < whole && (whole - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = plain[i];
    }
    text[at] = '\0';
    return text;
}

static const char *handed_over(const struct bench *bench, const struct sut *sut)
{
    const enum value_kind kind = bench->plan->kind;
    const bool other = !sut->takes[kind];
    return (kind == VALUE_LOGITS) != other ? "logits: softmax included" : "probabilities";
}

void bench_report_head(const struct bench_report *report)
{
    const struct bench *bench = report->bench;
    const struct bench_plan *plan = bench->plan;
    bool queues = false, returns = false;
    if (report->markdown)
        printf("```\n");
    printf("plan     %s (sha256 %.12s), seed %llu: %u calls after %u, in %u block%s, %u session%s\n",
           plan->name, plan->sha256, (unsigned long long)plan->seed, plan->calls, plan->warmup, plan->blocks,
           PLURAL(plan->blocks), plan->sessions, PLURAL(plan->sessions));
    for (size_t i = 0; i < bench->suts; i++) {
        const struct sut *sut = &bench->sut[i].sut;
        printf("[%zu]      %s: %s %s, %s, takes %s, %s\n", i + 1, bench->sut[i].spec.text, sut->name,
               sut->version, sut->device,
               sut->dtype == VALUE_F32   ? "f32"
               : sut->dtype == VALUE_F16 ? "f16"
                                         : "bf16",
               handed_over(bench, sut));
        const char *build = frame_get(&sut->hello, "version:build");
        if (build)
            printf("         %s\n", build);
        queues |= bench->sut[i].queues;
        returns |= !bench->sut[i].queues;
    }
    machine_print(report->before, report->after);
    printf("Microseconds a call: median (interquartile spread in %% of it; ! above %.0f), sessions: (largest "
           "- smallest "
           "median) in %%.\n",
           100 * BENCH_SPREAD_MAX);
    if (returns)
        puts("On a CPU a call returns when its tokens are there: the host-side figure is the synchronized "
             "one, too.");
    if (queues)
        puts("Of calls that queue: host is call to return behind an empty queue, then behind a full one; "
             "synchronized is "
             "until the device is done.");
    if (report->markdown)
        printf("```\n");
}

/* The first of the sampler's columns, which the others' savings are measured from. */
static size_t first_of_sut(const struct bench *bench, size_t contestant)
{
    size_t first = contestant;
    while (first > 0 && bench->contestant[first - 1].sut == bench->contestant[contestant].sut)
        first--;
    return first;
}

static void head(const struct bench *bench, struct grid *grid)
{
    grid_add(grid, "batch");
    grid_add(grid, "figure");
    for (size_t c = 0; c < bench->contestants; c++) {
        grid_add(grid, "[%zu] %s", bench->contestant[c].sut + 1, bench->contestant[c].label);
        grid_add(grid, "sessions");
        if (first_of_sut(bench, c) != c)
            grid_add(grid, "saved per call");
    }
}

static void row(const struct bench *bench, const struct bench_point *point, enum bench_figure figure,
                struct grid *grid)
{
    bool queues = false;
    for (size_t c = 0; c < bench->contestants; c++)
        queues |= point->series[c].of[BENCH_SYNC] != NULL;
    grid_add(grid, "%u", point->batch);
    grid_add(grid, "%s",
             figure == BENCH_HOST && !queues ? "host = synchronized" : bench_figure_names[figure]);
    for (size_t c = 0; c < bench->contestants; c++) {
        const struct bench_summary summary = bench_summarize(bench, &point->series[c], figure),
                                   first =
                                       bench_summarize(bench, &point->series[first_of_sut(bench, c)], figure);
        if (summary.calls) {
            grid_add(grid, "%s (%.0f%s)", bench_microseconds(summary.quartiles.median), 100 * summary.spread,
                     summary.marked ? "!" : "");
            grid_add(grid, "%.0f", 100 * summary.between);
        } else {
            grid_add(grid, "%s",
                     point->series[c].state == BENCH_RAN ? "-" : bench_state_names[point->series[c].state]);
            grid_add(grid, "-");
        }
        if (first_of_sut(bench, c) == c)
            continue;
        if (summary.calls && first.calls)
            grid_add(grid, "%s", bench_microseconds(first.quartiles.median - summary.quartiles.median));
        else
            grid_add(grid, "-");
    }
}

static size_t columns_of(const struct bench *bench)
{
    size_t columns = 2;
    for (size_t c = 0; c < bench->contestants; c++)
        columns += first_of_sut(bench, c) == c ? 2 : 3;
    return columns;
}

/* Does any sampler have this figure there? */
static bool measured(const struct bench *bench, const struct bench_point *point, enum bench_figure figure)
{
    for (size_t c = 0; c < bench->contestants; c++)
        if (bench_summarize(bench, &point->series[c], figure).calls)
            return true;
    return false;
}

void bench_report_times(const struct bench_report *report)
{
    static const enum bench_figure order[] = {BENCH_HOST, BENCH_FULL, BENCH_SYNC, BENCH_CPU};
    const struct bench *bench = report->bench;
    for (size_t p = 0; p < bench->points;) {
        const struct bench_cell *cell = bench->point[p].cell;
        struct grid grid = grid_new(columns_of(bench));
        head(bench, &grid);
        for (; p < bench->points && bench->point[p].cell == cell; p++)
            for (size_t f = 0; f < sizeof order / sizeof *order; f++)
                if (measured(bench, &bench->point[p], order[f]))
                    row(bench, &bench->point[p], order[f], &grid);
        printf("\n%s%s: V = %zu%s\n\n", report->markdown ? "**" : "", cell->name, cell->table->vocab,
               report->markdown ? "**" : "");
        grid_print(&grid, 2, report->markdown);
        grid_free(&grid);
    }
}

size_t bench_report_missing(const struct bench_report *report)
{
    const struct bench *bench = report->bench;
    size_t missing = 0;
    for (size_t i = 0; i < bench->suts; i++) {
        bool there = false;
        for (size_t c = 0; c < bench->contestants; c++)
            there |= bench->contestant[c].sut == i;
        if (!there && ++missing)
            printf("skipped  [%zu] %s: its worker answers no message time\n", i + 1, bench->sut[i].spec.text);
        for (size_t r = 0; r < bench->plan->rules && there && !bench->options.own_rules; r++) {
            bool timed = false;
            for (size_t c = 0; c < bench->contestants; c++)
                timed |=
                    bench->contestant[c].sut == i && !strcmp(bench->contestant[c].rule, bench->plan->rule[r]);
            if (!timed)
                printf("skipped  [%zu] rule %s: the sampler has %s\n", i + 1, bench->plan->rule[r],
                       frame_get(&bench->sut[i].sut.hello, "times"));
        }
    }
    size_t kept = 0;
    for (size_t p = 0; p < bench->points; p++)
        for (size_t c = 0; c < bench->contestants; c++) {
            const struct bench_series *series = &bench->point[p].series[c];
            if (series->state == BENCH_RAN)
                continue;
            if (series->state == BENCH_STOPPED &&
                series->sessions > 0) { /* there is something to read of it */
                kept++;
                continue;
            }
            printf("%-8s %s, [%zu] %s: %s\n", bench_state_names[series->state], bench->point[p].name,
                   bench->contestant[c].sut + 1, bench->contestant[c].label, series->why);
            missing++;
        }
    if (kept)
        printf("stopped  %zu series before their last session; the whole ones are kept\n", kept);
    return missing + kept;
}

/* "old -> new": what is saved, and what that would have to mean. */
static void claim(const struct bench_report *report, const struct bench_point *point, size_t old, size_t new)
{
    const struct bench *bench = report->bench;
    const double claimed = report->claimed;
    const enum bench_figure figure = bench_step(&point->series[new]);
    const struct bench_summary before = bench_summarize(bench, &point->series[old], figure),
                               after = bench_summarize(bench, &point->series[new], figure);
    if (!before.calls || !after.calls)
        return;
    const double saved = before.quartiles.median - after.quartiles.median,
                 step = saved * claimed / (claimed - 1);
    printf("claimed  %g: %s, [%zu] %s -> [%zu] %s: ", claimed, point->name, bench->contestant[old].sut + 1,
           bench->contestant[old].label, bench->contestant[new].sut + 1, bench->contestant[new].label);
    if (saved <= 0)
        printf("nothing is saved, so no step is short enough\n");
    else
        printf("saves %s us, which is that only if the old step took %s us (%.0f tokens a second)%s\n",
               bench_microseconds(saved), bench_microseconds(step), point->batch * 1e9 / step,
               before.marked || after.marked ? "; spread above the mark" : "");
}

void bench_report_claimed(const struct bench_report *report)
{
    const struct bench *bench = report->bench;
    for (size_t p = 0; p < bench->points; p++)
        for (size_t c = 0; c < bench->contestants; c++) {
            if (report->comparison && c == 0 && bench->contestants == 2)
                claim(report, &bench->point[p], 1, 0);
            else if (!report->comparison && first_of_sut(bench, c) != c)
                claim(report, &bench->point[p], first_of_sut(bench, c), c);
        }
}

void bench_report_comparison(const struct bench_report *report)
{
    const struct bench *bench = report->bench;
    struct grid grid = grid_new(7);
    static const char *const heads[] = {"cell",     "figure", "verdict", "ratio [1]/[2]",
                                        "interval", "pairs",  "because"};
    for (size_t i = 0; i < 7; i++)
        grid_add(&grid, "%s", heads[i]);
    for (size_t p = 0; p < bench->points; p++) {
        const struct bench_comparison *comparison = &report->comparison[p];
        grid_add(&grid, "%s", bench->point[p].name);
        grid_add(&grid, "%s", comparison->compared ? bench_figure_names[comparison->figure] : "-");
        grid_add(&grid, "%s", bench_verdict_names[comparison->verdict]);
        grid_add(&grid, comparison->compared ? "%.3f" : "-", comparison->ratio);
        grid_add(&grid, comparison->compared ? "%.3f to %.3f" : "-", comparison->interval.low,
                 comparison->interval.high);
        grid_add(&grid, "%zu", comparison->pairs);
        grid_add(&grid, "%s", comparison->why);
    }
    putchar('\n');
    grid_print(&grid, 7, report->markdown);
    grid_free(&grid);
}
