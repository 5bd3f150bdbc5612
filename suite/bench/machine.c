/* machine.c: read what /proc, /sys and nvidia-smi tell. */
#include "suite/bench/machine.h"

#include <glob.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of a file, without its end; "" if it cannot be read. */
static void line_of(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "re");
    *text = '\0';
    if (!file)
        return;
    if (!fgets(text, (int)bytes, file))
        *text = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(file);
}

/* The sum (or with `most`, the largest) of the numbers in all files that match; -1 if there is none. */
static double numbers_of(const char *pattern, bool most)
{
    glob_t found;
    double total = -1;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char text[64], *end;
            line_of(found.gl_pathv[i], text, sizeof text);
            const double value = strtod(text, &end);
            if (end == text)
                continue;
            total = total < 0 ? value : most ? fmax(total, value) : total + value;
        }
        globfree(&found);
    }
    return total;
}

static void look_at_cpuinfo(struct machine *machine)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        colon += 1 + strspn(colon + 1, " ");
        colon[strcspn(colon, "\n")] = '\0';
        if (!strncmp(line, "model name", 10) && !*machine->model)
            snprintf(machine->model, sizeof machine->model, "%s", colon);
        if (!strncmp(line, "cpu MHz", 7))
            machine->mhz = fmax(machine->mhz, strtod(colon, NULL));
    }
    if (file)
        fclose(file);
}

static void look_at_ticks(struct machine *machine)
{
    char line[256], *at = line + 3;
    line_of("/proc/stat", line, sizeof line);
    if (strncmp(line, "cpu", 3))
        return;
    for (int column = 0; column < 8; column++) { /* user nice system idle iowait irq softirq steal */
        const double ticks = strtod(at, &at);
        machine->ticks += ticks;
        machine->stolen = ticks;
    }
}

static void look_at_caches(struct machine *machine)
{
    for (int i = 0; i < 8; i++) {
        char path[128], level[16], type[32], size[32];
        const char *const names[] = {"level", "type", "size"};
        char *const texts[] = {level, type, size};
        const size_t bytes[] = {sizeof level, sizeof type, sizeof size};
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, names[k]);
            line_of(path, texts[k], bytes[k]);
        }
        if (!*size || !strcmp(type, "Instruction"))
            continue;
        const size_t used = strlen(machine->caches);
        snprintf(machine->caches + used, sizeof machine->caches - used, "%sL%.2s%s %.12s", used ? ", " : "",
                 level, !strcmp(type, "Data") ? "d" : "", size);
    }
}

/* One line a GPU; nothing if the program is not there or fails. */
static void look_at_gpus(struct machine *machine)
{
    FILE *pipe =
        popen("nvidia-smi --query-gpu=name,clocks.sm,clocks.max.sm,clocks.mem,clocks_throttle_reasons.active "
              "--format=csv,noheader,nounits 2>/dev/null",
              "re");
    char line[512], *save, *field[5];
    while (pipe && machine->gpus < sizeof machine->gpu / sizeof *machine->gpu &&
           fgets(line, sizeof line, pipe)) {
        size_t fields = 0;
        for (char *word = strtok_r(line, ",\n", &save); word && fields < 5;
             word = strtok_r(NULL, ",\n", &save))
            field[fields++] = word + strspn(word, " ");
        if (fields < 5)
            continue;
        struct machine_gpu *gpu = &machine->gpu[machine->gpus++];
        snprintf(gpu->name, sizeof gpu->name, "%.100s", field[0]);
        snprintf(gpu->clocks, sizeof gpu->clocks, "%.20s MHz of %.20s, memory %.20s MHz", field[1], field[2],
                 field[3]);
        snprintf(gpu->reasons, sizeof gpu->reasons, "%.60s", field[4]);
    }
    if (pipe && pclose(pipe))
        machine->gpus = 0;
}

struct machine machine_look(void)
{
    struct machine machine = {0};
    cpu_set_t allowed;
    const char *const frequency = "/sys/devices/system/cpu/cpu*/cpufreq/";
    char pattern[128];
    look_at_cpuinfo(&machine);
    look_at_ticks(&machine);
    look_at_caches(&machine);
    look_at_gpus(&machine);
    machine.cores = sched_getaffinity(0, sizeof allowed, &allowed) ? 0 : CPU_COUNT(&allowed);
    if (getloadavg(machine.load, 3) != 3)
        memset(machine.load, 0, sizeof machine.load);
    snprintf(pattern, sizeof pattern, "%sscaling_cur_freq", frequency);
    const double now = numbers_of(pattern, true);
    snprintf(pattern, sizeof pattern, "%scpuinfo_max_freq", frequency);
    machine.mhz_most = fmax(numbers_of(pattern, true), 0) / 1000;
    if (now > 0)
        machine.mhz = now / 1000;
    line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", machine.governor,
            sizeof machine.governor);
    machine.throttled =
        numbers_of("/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count", false);
    return machine;
}

/* Percent of all cores' time that the hypervisor gave to others; -1: not told. */
static double stolen(const struct machine *before, const struct machine *after)
{
    const double ticks = after->ticks - before->ticks;
    return before->ticks > 0 && ticks > 0 ? 100 * (after->stolen - before->stolen) / ticks : -1;
}

void machine_print(const struct machine *before, const struct machine *after)
{
    printf("machine  %s, %d cores, %.0f MHz before, %.0f after",
           *before->model ? before->model : "unknown processor", before->cores, before->mhz, after->mhz);
    if (before->mhz_most > 0)
        printf(", at most %.0f", before->mhz_most);
    printf("; governor: %s; %s\n", *before->governor ? before->governor : "not told", before->caches);
    printf("         load %.2f before, %.2f after; ", before->load[0], after->load[0]);
    if (before->throttled < 0)
        printf("throttling: not told; ");
    else
        printf("throttled %.0f times meanwhile; ", after->throttled - before->throttled);
    if (stolen(before, after) < 0)
        printf("steal: not told\n");
    else
        printf("steal %.1f %%\n", stolen(before, after));
    for (size_t i = 0; i < after->gpus; i++)
        printf("gpu      %s, %s, held down by %s\n", after->gpu[i].name, after->gpu[i].clocks,
               after->gpu[i].reasons);
}

void machine_json(cJSON *context, const struct machine *before, const struct machine *after)
{
    cJSON_AddNumberToObject(context, "num_cpus", before->cores);
    cJSON_AddNumberToObject(context, "mhz_per_cpu", round(before->mhz));
    cJSON_AddBoolToObject(context, "cpu_scaling_enabled",
                          *before->governor && strcmp(before->governor, "performance") != 0);
    cJSON_AddItemToObject(context, "load_avg", cJSON_CreateDoubleArray(before->load, 3));
    cJSON_AddStringToObject(context, "cpu_model", before->model);
    cJSON_AddStringToObject(context, "cpu_governor", *before->governor ? before->governor : "not told");
    cJSON_AddStringToObject(context, "cpu_caches", before->caches);
    cJSON_AddNumberToObject(context, "mhz_per_cpu_after", round(after->mhz));
    cJSON_AddItemToObject(context, "load_avg_after", cJSON_CreateDoubleArray(after->load, 3));
    if (before->throttled >= 0)
        cJSON_AddNumberToObject(context, "cpu_throttled", after->throttled - before->throttled);
    if (stolen(before, after) >= 0)
        cJSON_AddNumberToObject(context, "cpu_steal_percent", stolen(before, after));
    cJSON *gpus = cJSON_AddArrayToObject(context, "gpus");
    for (size_t i = 0; i < after->gpus; i++) {
        cJSON *gpu = cJSON_CreateObject();
        cJSON_AddStringToObject(gpu, "name", after->gpu[i].name);
        cJSON_AddStringToObject(gpu, "clocks_before", i < before->gpus ? before->gpu[i].clocks : "");
        cJSON_AddStringToObject(gpu, "clocks_after", after->gpu[i].clocks);
        cJSON_AddStringToObject(gpu, "held_down_by", after->gpu[i].reasons);
        cJSON_AddItemToArray(gpus, gpu);
    }
}
