/* quiet.h: keeps GSL from ending the process. Internal to stats/. */
#ifndef SAMPLEGATE_QUIET_H
#define SAMPLEGATE_QUIET_H

/* Turns GSL's error handler off, once a process: its default is abort(). After this a GSL function that fails
 * returns NaN, and so does ours. Call it before any function of GSL that can fail. Thread-safe. */
void stats_quiet(void);
#endif
