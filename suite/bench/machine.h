/* machine.h: what a time depends on beside the code: processor, clocks, governor, throttling, what else runs, the GPU. */
#ifndef SAMPLEGATE_BENCH_MACHINE_H
#define SAMPLEGATE_BENCH_MACHINE_H
#include <cjson/cJSON.h>
#include <stddef.h>

struct machine_gpu {
    char name[128], clocks[128]; /* "1980 MHz of 1980, memory 3201 MHz" */
    char reasons[64];            /* why its clock is held down, as nvidia-smi has it, or "" */
};

/* At one moment. What this machine does not tell is 0, negative or "". */
struct machine {
    char model[128], governor[64];
    int cores;            /* this process may run on */
    double mhz, mhz_most; /* the fastest core's clock now; the most it may have; 0 */
    double load[3];
    double throttled;     /* times a core was throttled since the machine started; -1: not told */
    double ticks, stolen; /* of all cores since then, and what a hypervisor kept for itself; 0: not told */
    char caches[128];     /* "L1d 48K, L2 2048K, L3 36608K" */
    struct machine_gpu gpu[8];
    size_t gpus;
};
struct machine machine_look(void);
/* One line of text each: processor; load, throttling and steal between two looks; and the GPUs'. */
void machine_print(const struct machine *before, const struct machine *after);
/* The same as fields of an object, Google Benchmark's names where it has one. */
void machine_json(cJSON *context, const struct machine *before, const struct machine *after);
#endif
