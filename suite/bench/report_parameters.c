/* report_parameters.c: what parameters cost, as a plan about parameters measured it. */
#include "suite/bench/report.h"

void bench_report_parameters(const struct bench_report *report)
{
    (void)report;
}
