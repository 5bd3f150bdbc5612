/* timing.c: answer `time` messages: prepare one call once, make it again and again, and time it here, beside the sampler,
 * where no pipe is in the way.
 *
 * Every timed call begins with an empty queue; where calls queue on a device, a second run begins with a full one.
 * SPDX-License-Identifier: MIT */
#include "suite/sut/host/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS_MAX 1000000

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t *array_new(uint64_t calls)
{
    return host_memory(calloc(calls, sizeof(int64_t)));
}

/* A run of calls: how many come first untimed, and what of each later one is kept. */
struct run {
    const struct host_sut *sut;
    uint64_t index; /* of the message's next call */
    struct host_text *why;
};

static enum host_answer one(struct run *run)
{
    return run->sut->timed.call(run->sut->self, run->index++, run->why);
}

static enum host_answer wait_for(struct run *run)
{
    return run->sut->timed.wait ? run->sut->timed.wait(run->sut->self, run->why) : HOST_TOKENS;
}

static enum host_answer untimed(struct run *run, uint64_t calls)
{
    enum host_answer answer = HOST_TOKENS;
    for (uint64_t i = 0; i < calls && answer == HOST_TOKENS; i++)
        answer = one(run);
    return answer;
}

/* Each call alone: the queue is empty before it. */
static enum host_answer times_alone(struct run *run, struct host_times *times)
{
    enum host_answer answer = wait_for(run);
    for (uint64_t i = 0; i < times->calls && answer == HOST_TOKENS; i++) {
        const int64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
        const int64_t start = nanoseconds(CLOCK_MONOTONIC);
        answer = one(run);
        const int64_t returned = nanoseconds(CLOCK_MONOTONIC);
        if (answer == HOST_TOKENS)
            answer = wait_for(run);
        const int64_t done = nanoseconds(CLOCK_MONOTONIC);
        times->cpu[i] = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        times->host[i] = returned - start;
        if (times->sync)
            times->sync[i] = done - start;
    }
    return answer;
}

/* One call after the other without a wait, behind `fill` of them: what the queue cannot take, the caller waits for. */
static enum host_answer times_behind(struct run *run, struct host_times *times, uint64_t fill)
{
    enum host_answer answer = untimed(run, fill);
    for (uint64_t i = 0; i < times->calls && answer == HOST_TOKENS; i++) {
        const int64_t start = nanoseconds(CLOCK_MONOTONIC);
        answer = one(run);
        times->full[i] = nanoseconds(CLOCK_MONOTONIC) - start;
    }
    return answer == HOST_TOKENS ? wait_for(run) : answer;
}

/* Rows and parameters: this message's, or those of one before it. */
static enum host_answer take_rows(struct host_timer *timer, const struct host_sut *sut, struct frame *message,
                                  struct host_text *why)
{
    if (!frame_find(message, "values")) {
        if (timer->ready && message->arrays == 0)
            return HOST_TOKENS;
        host_say(why, message->arrays ? "time: arrays come with values, or not at all"
                                      : "time: no rows: this message has no values, and none came before it");
        return HOST_ERROR;
    }
    host_timer_free(timer);
    const char *unknown = host_request_unknown(message);
    if (unknown) {
        host_say(why, "this host knows no array %s", unknown);
        return HOST_UNSUPPORTED;
    }
    timer->message = *message; /* the frame's buffer does not move with it */
    *message = (struct frame){0};
    if (host_request_read(&timer->request, &timer->message, why))
        return HOST_ERROR;
    const uint64_t missing = timer->request.options & ~sut->capabilities;
    if (missing) {
        char needed[256];
        host_option_words(missing, needed, sizeof needed);
        host_say(why, "the sampler does not announce: %s", needed);
        return HOST_UNSUPPORTED;
    }
    if (timer->request.batch < timer->request.draws || timer->request.options & SAMPLEGATE_KEPT_OUT) {
        host_say(why, "time: one call is timed: batch must be draws, and kept is not asked for");
        return HOST_ERROR;
    }
    timer->ready = true;
    return HOST_TOKENS;
}

enum host_answer host_time(struct host_timer *timer, const struct host_sut *sut, struct frame *message,
                           struct host_times *times, struct host_text *why)
{
    uint64_t warmup, calls, fill;
    const char *given = frame_get(message, "rule");
    char rule[64] = "";
    if (!sut->timed.begin) {
        host_say(why, "this sampler cannot be timed");
        return HOST_UNSUPPORTED;
    }
    if (host_request_number(message, "warmup", 0, CALLS_MAX, &warmup, why) ||
        host_request_number(message, "calls", 1, CALLS_MAX, &calls, why) ||
        host_request_number(message, "fill", 0, CALLS_MAX, &fill, why))
        return HOST_ERROR;
    if (given)
        snprintf(rule, sizeof rule, "%s", given); /* the message may be taken over */
    enum host_answer answer = take_rows(timer, sut, message, why);
    if (answer != HOST_TOKENS) {
        timer->ready = false;
        return answer;
    }
    const bool queues = sut->timed.wait;
    *times = (struct host_times){.calls = calls, .draws = timer->request.draws};
    times->host = array_new(calls);
    times->cpu = array_new(calls);
    times->sync = queues ? array_new(calls) : NULL;
    times->full = queues ? array_new(calls) : NULL;
    times->token = host_memory(calloc((size_t)times->draws, sizeof *times->token));
    answer = sut->timed.begin(sut->self, &timer->request, given ? rule : NULL, why);
    if (answer != HOST_TOKENS)
        return answer;
    struct run run = {.sut = sut, .why = why};
    answer = untimed(&run, warmup);
    if (answer == HOST_TOKENS)
        answer = times_alone(&run, times);
    if (answer == HOST_TOKENS && queues)
        answer = times_behind(&run, times, fill);
    struct host_text late;
    const enum host_answer end = sut->timed.end(sut->self, times->token, &late);
    if (answer == HOST_TOKENS && end != HOST_TOKENS) {
        *why = late;
        answer = end;
    }
    return answer;
}

void host_times_free(struct host_times *times)
{
    int64_t *const arrays[] = {times->host, times->cpu, times->sync, times->full};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(times->token);
    *times = (struct host_times){0};
}

void host_timer_free(struct host_timer *timer)
{
    frame_free(&timer->message);
    *timer = (struct host_timer){0};
}
