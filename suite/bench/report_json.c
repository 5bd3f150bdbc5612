/* report_json.c: the same as Google Benchmark's JSON. */
#include "suite/bench/report.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "suite/json/utf8.h"
#include "suite/version.h"

static const char *const figure_keys[BENCH_FIGURES] = {"host", "synchronized", "host_full", "cpu"};

static void add_text(cJSON *object, const char *key, const char *text)
{
    char *copy = strdup(text ? text : "");
    if (!copy)
        abort();
    utf8_force(copy);
    cJSON_AddStringToObject(object, key, copy);
    free(copy);
}

static cJSON *context_of(const struct bench_report *report)
{
    const struct bench *bench = report->bench;
    cJSON *context = cJSON_CreateObject();
    char date[64], host[HOST_NAME_MAX + 1] = "", program[PATH_MAX] = "";
    const time_t now = time(NULL);
    struct tm local;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S%z", localtime_r(&now, &local));
    gethostname(host, sizeof host - 1);
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = '\0';
    add_text(context, "date", date);
    add_text(context, "host_name", host);
    add_text(context, "executable", program);
    machine_json(context, report->before, report->after);
    add_text(context, "library_version", "samplegate " SAMPLEGATE_VERSION);
#ifdef __OPTIMIZE__
    add_text(context, "library_build_type", "release");
#else
    add_text(context, "library_build_type", "debug");
#endif
    cJSON_AddNumberToObject(context, "json_schema_version", 1);
    add_text(context, "plan", bench->plan->name);
    add_text(context, "plan_sha256", bench->plan->sha256);
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)bench->plan->seed);
    add_text(context, "seed", seed);
    cJSON *suts = cJSON_AddArrayToObject(context, "suts");
    for (size_t i = 0; i < bench->suts; i++) {
        const struct sut *sut = &bench->sut[i].sut;
        cJSON *object = cJSON_CreateObject();
        add_text(object, "spec", bench->sut[i].spec.text);
        for (size_t k = 0; k < sut->hello.entries; k++)
            add_text(object, sut->hello.entry[k].key, sut->hello.entry[k].value);
        cJSON_AddItemToArray(suts, object);
    }
    return context;
}

/* Microseconds with three digits: no clock tells more. */
static double us(double nanoseconds)
{
    return round(nanoseconds) / 1000;
}

static cJSON *entry_new(const struct bench_report *report, const char *name, const char *suffix,
                        const char *type, size_t family, size_t figure)
{
    cJSON *entry = cJSON_CreateObject();
    char whole[300];
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    add_text(entry, "name", whole);
    cJSON_AddNumberToObject(entry, "family_index", (double)family);
    cJSON_AddNumberToObject(entry, "per_family_instance_index", (double)figure);
    add_text(entry, "run_name", name);
    add_text(entry, "run_type", type);
    cJSON_AddNumberToObject(entry, "repetitions", report->bench->plan->sessions);
    return entry;
}

static void add_times(cJSON *entry, double real, double cpu, size_t iterations)
{
    cJSON_AddNumberToObject(entry, "threads", 1);
    cJSON_AddNumberToObject(entry, "iterations", (double)iterations);
    cJSON_AddNumberToObject(entry, "real_time", real);
    cJSON_AddNumberToObject(entry, "cpu_time", cpu);
    add_text(entry, "time_unit", "us");
}

static void add_aggregate(cJSON *list, cJSON *entry, const char *name, const char *unit, double real,
                          double cpu, size_t sessions)
{
    add_text(entry, "aggregate_name", name);
    add_text(entry, "aggregate_unit", unit);
    add_times(entry, real, cpu, sessions);
    cJSON_AddItemToArray(list, entry);
}

static void add_series(const struct bench_report *report, cJSON *list, size_t p, size_t c)
{
    const struct bench *bench = report->bench;
    const struct bench_point *point = &bench->point[p];
    const struct bench_series *series = &point->series[c];
    const size_t family = p * bench->contestants + c;
    char base[200], name[250];
    snprintf(base, sizeof base, "%s/sut:%zu/%.60s", point->name, bench->contestant[c].sut + 1,
             bench->contestant[c].label);
    if (series->state == BENCH_ERROR || series->state == BENCH_SKIPPED || series->sessions == 0) {
        cJSON *entry = entry_new(report, base, "", "iteration", family, 0);
        cJSON_AddNumberToObject(entry, "repetition_index", 0);
        cJSON_AddBoolToObject(entry, "error_occurred", true);
        add_text(entry, "error_message", series->why);
        add_times(entry, 0, 0, 0);
        cJSON_AddItemToArray(list, entry);
        return;
    }
    const struct bench_summary cpu = bench_summarize(bench, series, BENCH_CPU);
    for (enum bench_figure figure = 0; figure < BENCH_CPU; figure++) {
        const struct bench_summary summary = bench_summarize(bench, series, figure);
        if (!summary.calls)
            continue;
        snprintf(name, sizeof name, "%s/%s", base, figure_keys[figure]);
        for (size_t s = 0; s < series->sessions; s++) {
            cJSON *entry = entry_new(report, name, "", "iteration", family, figure);
            cJSON_AddNumberToObject(entry, "repetition_index", (double)s);
            add_times(entry, us(bench_session_median(bench, series, figure, s)),
                      us(bench_session_median(bench, series, BENCH_CPU, s)), bench->plan->calls);
            cJSON_AddItemToArray(list, entry);
        }
        cJSON *median = entry_new(report, name, "_median", "aggregate", family, figure);
        cJSON_AddNumberToObject(median, "calls", (double)summary.calls);
        cJSON_AddNumberToObject(median, "first_quartile", us(summary.quartiles.first));
        cJSON_AddNumberToObject(median, "third_quartile", us(summary.quartiles.third));
        cJSON_AddNumberToObject(median, "between_sessions", summary.between);
        add_aggregate(list, median, "median", "time", us(summary.quartiles.median), us(cpu.quartiles.median),
                      series->sessions);
        add_aggregate(list, entry_new(report, name, "_cv", "aggregate", family, figure), "cv", "percentage",
                      summary.spread, cpu.spread, series->sessions);
    }
}

static void add_number(cJSON *object, const char *key, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(object, key, value);
    else
        cJSON_AddNullToObject(object, key);
}

cJSON *bench_report_json(const struct bench_report *report, const char *verdict, int exit)
{
    const struct bench *bench = report->bench;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToObject(json, "context", context_of(report));
    cJSON *list = cJSON_AddArrayToObject(json, "benchmarks");
    for (size_t p = 0; p < bench->points; p++)
        for (size_t c = 0; c < bench->contestants; c++)
            add_series(report, list, p, c);
    cJSON *comparisons = report->comparison ? cJSON_AddArrayToObject(json, "comparisons") : NULL;
    for (size_t p = 0; comparisons && p < bench->points; p++) {
        const struct bench_comparison *made = &report->comparison[p];
        cJSON *object = cJSON_CreateObject();
        add_text(object, "cell", bench->point[p].name);
        add_text(object, "verdict", bench_verdict_names[made->verdict]);
        add_text(object, "why", made->why);
        if (made->compared) {
            add_text(object, "figure", figure_keys[made->figure]);
            cJSON_AddNumberToObject(object, "pairs", (double)made->pairs);
            add_number(object, "ratio", made->ratio);
            add_number(object, "low", made->interval.low);
            add_number(object, "high", made->interval.high);
            add_number(object, "confidence", made->interval.confidence);
        }
        cJSON_AddItemToArray(comparisons, object);
    }
    cJSON *end = cJSON_AddObjectToObject(json, "samplegate");
    add_text(end, "verdict", verdict);
    cJSON_AddNumberToObject(end, "exit", exit);
    cJSON_AddNumberToObject(end, "seconds", bench->seconds);
    return json;
}
